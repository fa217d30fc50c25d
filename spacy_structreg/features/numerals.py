"""A grammar of numbers in Chinese digits, as patterns of both scripts: 一千零五十, 第二百零三.

They match what is certain: two numerals or more that follow each other as those of one number do.
Characters of numbers are in many words (一起, 十分, 千万别, 一二年级): one alone is none here, and
where the last one could begin such a word, as in 二十一起, a number ends before it. Repetitions are
bounded, so that time is linear in the length of a text.
"""

from __future__ import annotations

from typing import Final

from spacy_structreg.corpora.spacing import IDEOGRAPHS

_DIGIT: Final = "一二三四五六七八九两兩"
_ZERO: Final = "零〇○"
_UNITS: Final = "十百千"
_TEN_THOUSANDS: Final = "万萬亿億"
CHARACTERS: Final = f"{_DIGIT}{_ZERO}{_UNITS}{_TEN_THOUSANDS}几幾廿卅"
"""The characters of numbers."""
_FORMAL: Final = "壹贰貳叁參肆伍陆陸柒捌玖"
_FORMAL_TENS: Final = "拾佰仟"

# Digits, or two that are about as much: 七八十, 三四百.
_SOME: Final = f"(?:一二|二三|三四|四五|五六|六七|七八|八九|[两兩三]三|三五|[{_DIGIT}几幾])"
# Behind these, one that could begin a word is left aside.
_NO_WORD: Final = (
    "(?!一[起样樣直般旦定切共生边邊面种種律度致再向时時旁方半带帶并併些会會同齐齊家路早晚心]|"
    "二[手胡]|三[明亚亞星角]|四[川周季]|五[金官]|六[安合]|七[夕]|八[卦]|九[龙龍江寨])"
)
# 一百货公司 and 五千克 may be something else.
_HUNDREDS: Final = "百(?![货貨姓合科叶葉家花度灵靈搭])"
_THOUSANDS: Final = "千(?![克米瓦赫帕伏卡焦秋古岛島])"
# It may belong to the word before: 统一百货, 周五百人, 高三百日.
_HEAD: Final = (
    "(?<![周週期拜第])(?!(?<=[高初大])[一二三四]百[日天])"
    "(?<![统統唯同专專之归歸如若惟单單逐](?=一))"
)
# What is counted, behind 两万五: else its last digit may begin a word.
_COUNTED: Final = (
    "[的多余餘左上以之元块塊钱錢个個公米里人位名只隻条條张張本台臺辆輛件套平斤吨噸"
    "岁歲年天月日次户戶]"
)
_MORE: Final = "[多余餘](?![谢謝少半])"

# Below ten thousand, as far as ten: 三千五百, 一千零五十, 一百十.
_TENS: Final = (
    f"(?:{_SOME}(?:{_THOUSANDS}|千(?=[{_DIGIT}零〇]))"
    f"(?:[零〇]?{_SOME}{_HUNDREDS})?(?:[零〇]?{_SOME}?十)?|"
    f"{_SOME}(?:{_HUNDREDS}|百(?=[{_DIGIT}零〇]))(?:[零〇]?{_SOME}?十)?|{_SOME}?十|[廿卅])"
)
# Of 二十三万, what stands before 万.
_MYRIADS: Final = (
    f"(?:(?:{_TENS}[零〇]?[{_DIGIT}几幾]?|{_SOME}[百千]?|[百千])[多余餘]?[{_TEN_THOUSANDS}]{{1,2}})"
)
_LAST: Final = (
    f"(?:(?<=[十廿卅])|(?<=[百千{_TEN_THOUSANDS}])[零〇])"
    f"(?:{_NO_WORD}(?:{_SOME}(?![{CHARACTERS}])|[{_DIGIT}](?![{CHARACTERS}]))|[几幾])|"
    f"(?<=[百千{_TEN_THOUSANDS}])[二三四五六七八九](?={_COUNTED}|[^{IDEOGRAPHS}]|\\Z)"
)
_NUMBER: Final = (
    f"(?:{_MYRIADS}(?:[零〇]?{_MYRIADS}){{0,3}}(?:[零〇]?{_TENS})?(?:{_LAST})?(?:{_MORE})?|"
    f"{_TENS}(?:{_LAST})?(?:{_MORE})?|[百千][余餘]|"
    f"[{_FORMAL}][{_FORMAL_TENS}{_TEN_THOUSANDS}]"
    f"[零{_FORMAL}{_FORMAL_TENS}{_TEN_THOUSANDS}]{{0,30}})"
)
# Behind 第 and 分之 no word begins within a number.
_WHOLE: Final = _NUMBER.replace(_NO_WORD, "")
_POINT: Final = f"[点點][{_DIGIT}{_ZERO}]{{1,20}}"
_ARABIC: Final = r"\d{1,9}(?:\.\d{1,9})?"

_ERA: Final = (
    "民国|民國|顺治|順治|康熙|雍正|乾隆|嘉庆|嘉慶|道光|咸丰|咸豐|同治|光绪|光緒|宣统|宣統|洪武|永乐|永樂|嘉靖|万历|萬曆|"
    "崇祯|崇禎|贞观|貞觀|开元|開元|明治|大正|昭和|平成|令和"
)

PAIRS: Final = (
    (f"{_DIGIT}几幾{_ZERO}", f"{_DIGIT}{_ZERO}{_UNITS}{_TEN_THOUSANDS}点點分又"),
    (_UNITS, f"{_DIGIT}几幾多余餘{_TEN_THOUSANDS}分"),
    ("万萬", "分"),
    (f"{_DIGIT}元", "年"),
    (_FORMAL, f"{_FORMAL_TENS}{_TEN_THOUSANDS}"),
    ("第", f"{CHARACTERS}0-9０-９"),
    ("".join(era[0] for era in _ERA.split("|")), "".join(era[1] for era in _ERA.split("|"))),
)
"""Characters with which one of the others may begin, and those of which one must follow."""

LONE: Final = "廿卅"
"""Those that nothing need follow."""

NUMERAL: Final = (
    f"{_HEAD}(?:(?:{_NUMBER}|[{_DIGIT}零〇])[点點](?:[{_DIGIT}{_ZERO}]{{2,20}}(?![十分刻])|"
    f"[{_DIGIT}](?=[{_TEN_THOUSANDS}倍]))[{_TEN_THOUSANDS}]{{0,2}}|"
    f"[零〇][点點][{_DIGIT}](?![{_DIGIT}{_UNITS}分刻])|{_NUMBER})"
)
"""Number, possibly inside a longer word, as in 二十日."""

DIGITS: Final = (
    f"(?=[{_ZERO}]{{0,9}}[{_DIGIT}])[{_DIGIT}零]{{0,20}}[〇○][{_DIGIT}{_ZERO}]{{0,20}}|"
    f"[{_DIGIT}零]{{5,40}}(?![{_UNITS}])|"
    f"(?:一[六七八九]|二零)[{_DIGIT}零]{{2}}(?![{_UNITS}{_TEN_THOUSANDS}{_DIGIT}零])"
)
"""Digits one by one, as of years and telephones."""

FRACTION: Final = (
    f"(?:[{_DIGIT}]又)?(?:{_WHOLE}|[百千万萬]|[{_DIGIT}几幾十]|{_ARABIC})分之"
    f"(?:(?:{_WHOLE}|[{_DIGIT}{_ZERO}几幾十百])(?:{_POINT})?|{_ARABIC})"
)
"""三分之二, 百分之三十五点六, 百分之5."""

ORDINAL: Final = f"第(?:一(?=百[货貨])|{_WHOLE}|[{_DIGIT}零〇]{{2,9}}|\\d{{1,9}}(?![\\d.,]))"
"""第二百零三, 第203."""

YEAR: Final = (
    f"(?<![{_DIGIT}{_ZERO}])[{_DIGIT}{_ZERO}]{{4}}年(?![代度级級])|"
    f"(?:(?<!中[华華])(?P<era>{_ERA})|(?<=中华民国|中華民國))"
    f"(?P<reign>(?:{_WHOLE}|[{_DIGIT}十元]|\\d{{1,2}})年)"
)
"""二〇二四年, and years of reigns, which are words of their own: 民国 三十八年."""

DATE_NAME: Final = (
    "(?:五一|六一|七一|八一|十一|三八|五四|七七|九一八|一二八|一二九|五卅|二七)"
    "(?=国际|國際|劳动节|勞動節|儿童节|兒童節|妇女节|婦女節|青年节|青年節|建军节|建軍節|国庆|國慶|运动|運動|"
    "事变|事變|惨案|慘案|黄金周|黃金週|假期|长假|長假|小长假|小長假|期间|期間|快乐|快樂)"
)
"""六一 before 儿童节, and other days that are named so."""
