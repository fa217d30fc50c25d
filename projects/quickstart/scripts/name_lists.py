"""Lists of names and of common words, from a word list in jieba's format and from parts of names.

`python scripts/name_lists.py WORDS FOLDER` writes lists for gazetteers, as the word list has them
(`places.txt`, `institutions.txt`, `persons.txt`, `others.txt`), and lists of names that stand in
for others in training (`swap_PERSON.txt`, `swap_GPE.txt`, `swap_LOC.txt`): names of persons are put
together of surnames and given names, and transliterated names and places are those of the word list
that look like names. `common.txt` has the most frequent words, with their frequencies and tags, for
models that are to be small.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from spacy_structreg.corpora.files import replace_text
from spacy_structreg.corpora.word_lists import ListedWord, read_word_list

GAZETTEERS = {
    "places": {"ns"},
    "institutions": {"nt"},
    "persons": {"nr", "nrfg", "nrt"},
    "others": {"nz"},
}
"""The lists, and the tags of the names that are in them."""

LEAST = 2
"""Fewest characters of a name: of one, most are other words as well."""

# The ten commonest first.
SURNAMES = (
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘蒋蔡余杜叶"
    "程苏魏吕丁任沈姚卢姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺"
    "顾毛郝龚邵万钱严覃武戴莫孔向汤温康施文牛樊葛邢安齐易乔伍庞颜倪庄聂章鲁岳翟殷詹申欧耿"
    "关兰焦俞左柳甘祝包宁尚符舒阮柯纪梅童凌毕单季裴霍涂成苗谷盛曲翁冉骆蓝路游辛靳管柴蒙鲍"
    "华喻祁蒲房滕屈饶解牟艾尤阳时穆农司卓古吉缪简车项连芦麦褚娄窦戚岑景党宫费卜冷晏席卫米"
    "柏宗瞿桂全佟应臧闵苟邬边卞姬师和仇栾隋商刁沙荣巫寇桑郎甄丛仲虞敖巩明佘池查麻苑迟邝官"
    "封谈匡鞠惠荆乐冀郁胥南班储原栗燕楚鄢劳谌奚皮粟冼蔺楼盘满闻位厉伊仝区郜海阚花权强帅屠"
    "豆"
)
COMPOUND = (
    "欧阳 司马 上官 诸葛 东方 皇甫 尉迟 公孙 慕容 司徒 令狐 独孤 南宫 "
    "夏侯 宇文 端木 闻人 轩辕 长孙 鲜于 西门 拓跋 呼延 百里 赫连 澹台 "
    "公冶 宗政 濮阳 淳于 太叔 申屠 公羊 钟离 第五 完颜 纳兰 叶赫 段干 "
    "万俟 "
)
GIVEN = (
    "伟强磊军洋勇杰涛超明刚平辉鹏华飞鑫波斌宇浩凯健俊帆帅旭宁龙林欢阳建国庆志文海峰东亮成"
    "康兴良山仁宽福生元全胜学祥才发武新利清彬富顺信子栋维启克伦翔德河哲江功松善厚裕朋广义"
    "邦固之轮翰朗伯宏言若鸣博涵晨睿轩芳娜秀娟英慧巧美静淑惠珠翠雅芝玉萍红娥玲芬燕彩春菊兰"
    "凤洁梅琳素云莲真环雪荣爱妹霞香月莺媛艳瑞凡佳嘉琼勤珍贞莉桂娣叶璧璐娅琦晶妍茜秋珊莎锦"
    "黛青倩婷姣婉娴瑾颖露瑶怡婵雁蓓纨仪荷丹蓉眉君琴蕊薇菁梦岚苑婕馨一心安诗语思梓晓念舒逸"
    "沐知景远书墨承泽怀谦毅恒卓尔楚衡昭允执望舟砚彦筠禾野棠枫溪岩岳川远舒行之"
)
# Characters of transliterated names.
FOREIGN = frozenset(
    "阿埃艾爱安昂奥澳巴白拜班邦保鲍贝本比彼毕宾波勃博伯布采查察达戴丹当道德登邓狄迪蒂丁杜"
    "顿多厄尔法范菲费芬丰冯佛弗伏福富盖甘冈高戈哥格葛根贡古瓜哈海汉杭豪赫黑亨洪侯胡华怀惠"
    "霍基吉加贾简姜杰金久卡凯坎康考科柯可克肯孔库夸奎坤拉莱兰朗劳勒雷里理利莉丽连廉列林琳"
    "刘龙娄卢鲁路伦罗洛马玛迈麦曼芒毛梅门蒙米密明莫默姆墨穆拿娜纳乃奈南内尼涅宁纽诺欧帕派"
    "潘庞佩彭皮平珀普奇齐恰乔切琴丘让热日荣茹瑞若萨塞赛桑瑟森沙莎山尚绍舍申圣什施史士舒斯"
    "司丝苏孙索塔泰坦汤唐陶特腾提蒂廷图托瓦万旺威韦维温文沃乌武西希锡夏谢辛欣休雪逊雅亚扬"
    "耶叶伊因英尤约泽扎詹章朱兹佐丝黛蕾薇妮茜珍芙莲"
)
FULL_PLACES = "省市县区州"
SHORTENED = "市县"
WATERS_AND_MOUNTAINS = "山河湖江岛湾海"
PERSONS = 6_000
COMMON_WORDS = 80_000
COMMON_LENGTHS = range(2, 5)
COMMON = SURNAMES[:10]


def persons(listed: Iterable[ListedWord], rng: random.Random) -> Iterator[str]:
    """Names of persons: Chinese ones put together, and transliterated ones."""
    for i in range(PERSONS):
        surname = rng.choice(COMPOUND.split() if i % 12 == 0 else COMMON if i % 3 else SURNAMES)
        yield surname + "".join(rng.choice(GIVEN) for _ in range(rng.choice((1, 2, 2, 2))))
    foreign = [each.word for each in listed if "nrt" in each.tags and FOREIGN.issuperset(each.word)]
    rng.shuffle(foreign)
    middle = len(foreign) // 2
    yield from foreign
    yield from (
        f"{given}·{name}"
        for given, name in zip(foreign[:middle], foreign[len(foreign) - middle :], strict=True)
    )


def places(listed: Iterable[ListedWord]) -> Iterator[str]:
    """Names of provinces, cities and counties, in full and in short."""
    for each in listed:
        if "ns" not in each.tags or each.word.endswith("地区"):
            continue
        if 3 <= len(each.word) <= 5 and each.word[-1] in FULL_PLACES:
            yield each.word
            if each.word[-1] in SHORTENED:
                yield each.word[:-1]


def landscape(listed: Iterable[ListedWord]) -> Iterator[str]:
    """Names of mountains and waters."""
    for each in listed:
        if "ns" in each.tags and 3 <= len(each.word) <= 5 and each.word[-1] in WATERS_AND_MOUNTAINS:
            yield each.word


def common_words(listed: Iterable[ListedWord]) -> Iterator[str]:
    """The lines of the most frequent words, in the format of the word list."""
    short = [each for each in listed if len(each.word) in COMMON_LENGTHS]
    for each in sorted(short, key=lambda each: (-each.frequency, each.word))[:COMMON_WORDS]:
        yield " ".join((each.word, str(each.frequency), *each.tags))


def main(arguments: list[str] | None = None) -> int:
    """0 if the lists were written, else 1."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("words", type=Path)
    parser.add_argument("folder", type=Path)
    given = parser.parse_args(arguments)
    try:
        listed = [each for each in read_word_list(given.words) if len(each.word) >= LEAST]
        lists: dict[str, Iterable[str]] = {
            name: [each.word for each in listed if not tags.isdisjoint(each.tags)]
            for name, tags in GAZETTEERS.items()
        }
        lists |= {
            "swap_PERSON": persons(listed, random.Random(0)),
            "swap_GPE": places(listed),
            "swap_LOC": landscape(listed),
            "common": common_words(listed),
        }
        given.folder.mkdir(parents=True, exist_ok=True)
        for name, names in lists.items():
            with replace_text(given.folder / f"{name}.txt") as stream:
                stream.writelines(f"{each}\n" for each in dict.fromkeys(names))
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
