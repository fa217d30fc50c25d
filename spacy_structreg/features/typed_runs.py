"""Typed runs: pieces of text that can be told by their form, such as URLs, versions and emoji.

One table says what each kind looks like, how it is cut into words by the conventions of the Penn
Chinese Treebank and ours (`treebank/README.md`), and which kinds look alike to a model. The
patterns are our own: libraries that find links take Chinese characters behind a link for a part
of it, and know nothing of versions, units or names of files. None looks further than `MAX_LENGTH`
characters, so that time is linear in the length of a text.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import cache
from typing import Final, Literal, NamedTuple, TypeAlias

from spacy_structreg.corpora.spacing import IDEOGRAPHS
from spacy_structreg.features import numerals
from spacy_structreg.features.character_classes import RUNS
from spacy_structreg.features.run_begins import RunBegins

MAX_LENGTH: Final = 2_000
"""Longest run, in characters."""

NEAR: Final = 100
"""A bracket that a face could close is looked for in so many characters."""

RunKind: TypeAlias = Literal[
    "url",
    "email",
    "mention",
    "topic",
    "path",
    "identifier",
    "version",
    "time",
    "price",
    "measure",
    "ordinal",
    "fraction",
    "date",
    "numeral",
    "number",
    "emoticon",
    "emoji",
    "laughter",
    "word",
    "punctuation",
    "bullet",
    "mark",
]
"""Kinds of runs that are known by their form."""

CutKind: TypeAlias = Literal["price", "measure", "topic"]
"""Kinds that the conventions cut into words."""

_LETTER: Final = "A-Za-zÀ-ÖØ-öø-ɏḀ-ỿ"
_COMBINING: Final = "\u0300-\u036f"
_ALNUM: Final = f"0-9{_LETTER}"
_NO_WORD_BEFORE: Final = f"(?<![{_ALNUM}_])"
_NO_WORD_AFTER: Final = f"(?![{_ALNUM}_])"

# Endings of bare names of hosts; those that are endings of files as well (md, py, sh) are left out.
_TOP: Final = (
    "ac|ai|au|biz|ca|cc|cn|co|com|de|edu|eu|fm|fr|gov|hk|jp|kr|mil|mo|mobi|net|nl|org|ru|sg|tk|tv|"
    "tw|uk|wang|xyz"
)
# Those that are words too, as in 1.vip会员 and user.name.
_TOP_WORD: Final = (
    "app|asia|club|dev|example|info|int|io|it|la|live|me|name|online|pro|shop|site|store|tech|top|"
    "us|vip|wiki|work"
)
_LABEL: Final = r"[A-Za-z0-9][A-Za-z0-9-]{0,62}\."
_HOST: Final = (
    rf"(?!\d\.|(?:\d{{1,63}}\.){{1,9}}(?:{_TOP_WORD})|(?:self|this|cls)\.)"
    r"(?!(?i:ado|asp|ml|vb)\.net(?![A-Za-z0-9.]))"
    rf"(?:(?:{_LABEL}){{1,9}}(?:{_TOP})|(?:{_LABEL}){{2,9}}(?:{_TOP_WORD})|"
    rf"{_LABEL}(?:{_TOP_WORD})(?=/|:\d))"
)
# Behind a comma the next link may begin.
_URL_PART: Final = (
    r"[A-Za-z0-9\-._~:/?#@!$&*+=%]|[,;](?![,;]{0,9}[\"']?(?:[A-Za-z]{2,9}://|www\.))|"
    r"\([A-Za-z0-9\-._~:/?#@!$&*+,;=%]{0,200}\)"
)
_URL_END: Final = r"[A-Za-z0-9/_~=&#%+$@\-]|\([A-Za-z0-9\-._~:/?#@!$&*+,;=%]{0,200}\)"
_URL_TAIL: Final = rf"(?:{_URL_PART}){{0,{MAX_LENGTH}}}(?:{_URL_END})"
# No calls: user.info(x), Math.log(x).
_NO_CALL: Final = r"(?!\([!-~])"
_FILE: Final = (
    "7z|apk|avi|bak|bat|bin|bmp|bz2|cfg|conf|cpp|css|csv|dat|db|deb|dll|dmg|docx?|epub|"
    "exe|flac|gif|gz|hpp|html?|ico|ini|ipa|ipynb|iso|jar|java|jpe?g|js|json|jsonl|jsx|"
    "kt|lua|m4a|md|mdx|mkv|mov|mp3|mp4|mpg|msi|parquet|pdf|pem|php|pkl|png|pptx?|pt|py|"
    "pyx|rar|rb|rpm|rs|rst|rtf|scss|sh|spacy|sql|sqlite|srt|svg|swift|tar|tex|tgz|tmp|toml|ts|"
    "tsv|tsx|ttf|txt|vue|wav|webm|webp|whl|wmv|xlsx?|xml|xz|yaml|yml|zip|zst"
)
# Those that are words too, as in process.env: known by a folder or an underscore before them.
_FILE_WORD: Final = "class|env|go|h|key|lock|log|so|war"
_ROOT: Final = (
    "Applications|Library|Users|admin|api|bin|boot|data|dev|etc|home|lib|media|mnt|opt|proc|root|"
    "run|sbin|srv|static|sys|tmp|usr|var"
)
# What may stand before a path or an option, unlike Han characters: 微信/QQ/MSN, 卡拉-OK.
_BEGINS: Final = r"(?<![^\s\"'“‘「『《（(\[【<`=|/：:，,、。；;])"
_HAN_BEFORE: Final = f"(?<=[{IDEOGRAPHS}])"
# English words behind dashes.
_JOINING: Final = (
    "a|an|and|as|at|but|he|i|if|in|it|no|not|of|oh|or|she|so|that|the|then|they|this|to|we|well|"
    "what|with|yes|you"
)
_SCRIPT: Final = (
    r"(?:[A-Z][a-z]{1,30}|angular|backbone|chart|d3|ember|express|jquery|moment|next|node|nuxt|p5|"
    r"react|three|vue)\.js"
)
# A mark behind a number and what it counts is that of a range: 9月-11月, 10%-20%.
_COUNT: Final = "[0-9零〇一二两三四五六七八九十百千万亿]"
_SIGN: Final = (
    rf"(?<![{_ALNUM}.)）])(?<!\d[%％‰℃℉°€])"
    rf"(?<!{_COUNT}[{IDEOGRAPHS}])(?<!{_COUNT}[{IDEOGRAPHS}]{{2}})(?<!{_COUNT}平方米|{_COUNT}立方米)"
    rf"(?:[-−]|(?<![{IDEOGRAPHS}])\+)(?!\d{{1,8}}[-:])"
)
_NUMBER: Final = r"(?:\d{1,3}(?:,\d{3}){1,9}(?!\d)|\d{1,400})(?:\.\d{1,40})?"
# 2300余万, 3.5万, 600多.
_MYRIADS: Final = "(?:[多余餘]?[万萬亿億]{1,2}(?:\\d{1,4}[万萬])?|[多余餘](?![谢謝少半]))?"
_SIGNS: Final = "￥¥€£￡₩₽₹฿₫₴＄"
_CURRENCY: Final = f"[{_SIGNS}]|(?:US|HK|NT|AU|CA|SG|NZ|MOP|[ARCS])?\\$"
_UNIT: Final = (
    r"(?:mmol|[μu]mol|mol|mIU|IU|U|[mμukMG]?g|mL|ml|dL|10[⁶⁹]|10¹²)/(?:[mdμ]?[Ll]|min(?:/1\.73m²)?|h|d|kg|m[²³2])|"
    r"[KMGTk]B/s|km/h|m/s|m³/(?:min|h|s|d)|W/\(m·K\)|[kcdmμn]?m[²³]?|mg|kg|μg|g|t|m?[Ll]|[KMGTP]i?B|[kMG]?bps|[kKmMgGtT]?[hH][zZ]|rpm|"
    r"[mkM]?W|kWh|Wh|m?Ah|m?A|[mk]?V|[kKM]?Pa|MPa|mmHg|kcal|cal|k?J|kN|dB|dpi|ppi|fps|px|pt|nits|"
    r"ms|μs|s|min|hrs?|℃|°[CF]?|℉|Ω|㎡|㎏|㎝|㎜|㎞|mol|(?<=[0-9.][0-9])G|(?<=[0-9.][0-9] )G"
)
# Neither cut nor kept whole: 5A级景区, 3m胶带, 10W+.
_NO_MEASURE: Final = rf"(?:\d[gmtlLJV]|\d{{1,3}}W|\d{{4,9}}W(?=\+)|\d{{1,9}}A)(?![{_ALNUM}_/²³])"
_RANKED: Final = r"(?:[-.]?(?:alpha|beta|rc|dev|post|preview|[ab])\.?\d{0,6})?"
_BRACKETED: Final = (
    "微笑|撇嘴|色|发呆|得意|流泪|害羞|闭嘴|睡|大哭|尴尬|发怒|调皮|呲牙|惊讶|难过|囧|抓狂|吐|偷笑|"
    "愉快|白眼|傲慢|困|惊恐|憨笑|悠闲|咒骂|疑问|嘘|晕|衰|骷髅|敲打|再见|擦汗|抠鼻|鼓掌|坏笑|鄙视|"
    "委屈|快哭了|阴险|亲亲|可怜|笑脸|生病|脸红|破涕为笑|恐惧|失望|无语|嘿哈|捂脸|奸笑|机智|皱眉|耶|"
    "吃瓜|加油|汗|天啊|社会社会|旺柴|好的|打脸|哇|翻白眼|裂开|苦涩|叹气|让我看看|玫瑰|凋谢|嘴唇|"
    "爱心|心碎|拥抱|强|弱|握手|胜利|抱拳|勾引|拳头|OK|合十|啤酒|咖啡|蛋糕|月亮|太阳|炸弹|便便|庆祝|"
    "礼物|红包|發|发|福|烟花|爆竹|猪头|跳跳|发抖|转圈|doge|二哈|允悲|笑哭|笑cry|狗头|心|赞|good|"
    "哈哈|嘻嘻|泪|怒|哼|酷|思考|费解|黑线|挖鼻|可爱|太开心|并不简单|悲伤|感冒|拜拜|哆啦A梦.{0,4}|"
    "米奇.{0,4}|围观|威武|给力|鲜花|钟|浮云|话筒|蜡烛|喵喵|坏笑|舔屏|污|中国赞|滑稽|抱抱|摊手|跪了|酸|吃惊"
)
_SKIN: Final = "\ufe0f\U0001f3fb-\U0001f3ff"
_PICTURE: Final = (
    "[\u231a\u231b\u23e9-\u23fa\u2600-\u2604\u2607-\u2775\u2794-\u27bf\u2b50\u2b55\U0001f000-\U0001f1e5"
    "\U0001f200-\U0001faff]"
)
_ONE_PICTURE: Final = f"{_PICTURE}[{_SKIN}]{{0,3}}"
_EMOJI: Final = (
    "[\U0001f1e6-\U0001f1ff]{2}|[0-9#*]\ufe0f?\u20e3|\U0001f3f4[\U000e0020-\U000e007f]{1,9}|"
    f"{_ONE_PICTURE}(?:\u200d{_ONE_PICTURE}){{0,9}}"
)
_FACE: Final = r"[^()（）\s一-鿿0-9А-ге-яЁё]"
_FACE_SIGN: Final = "[▽ﾟ｡ㅂﾉ╯╰◕‿ᴗ﹏⌒]"
# In formulas and blanks as well, (x≦5), (□□): two that differ, and no Latin letter.
_FACE_OR_FORMULA: Final = "[°□ωд≧≦´｀●¬･]"
_LAUGHS: Final = "哈呵嘿嘻嗬吼呜嗚嗷啊嗯呃额哦噢喔唉诶欸哎呀哇嘎咯哼汪喵呐嘛"
_MARKS: Final = r"…⋯/—!！?？。、,，;；:.·*=+_\-★☆◆●■▲×|`#<>\\^&"
_BULLETS: Final = "①-⒛⓪⓫-⓿❶-➓㈠-㈩㊀-㊉"
_ZHUYIN: Final = "ㄅ-ㄯㆠ-ㆿ"
# Each is a word, whatever stands beside it, unless it is a part of another run; and these are if no
# Latin letter or digit stands on one side, or on both.
_SINGLE: Final = '\\[\\]{}"`#;|=★☆◆◇●■▲△▼▽※§†‡►▶◀▪→←↑↓⇒‣◦⁃´«»‹›'
_HALF_FREE: Final = "'"
_FREE: Final = "+^_&%~$"
_BETWEEN: Final = "-–—~～−×"
_DAY: Final = r"(?:0?[1-9]|[12]\d|3[01])"
_MONTH: Final = r"(?:0?[1-9]|1[0-2])"
_HOUR: Final = r"(?:[01]?\d|2[0-4])[:：][0-5]\d(?:[:：][0-5]\d)?"

# Of several kinds that could begin at a character, the first one does.
_PATTERNS: Final[dict[RunKind, str]] = {
    "url": (
        rf"(?i:https?|ftps?|file|git|ssh|wss?)://{_URL_TAIL}|(?i:www)\.{_URL_TAIL}|"
        rf"{_NO_WORD_BEFORE}{_HOST}(?![A-Za-z0-9_.@-][A-Za-z0-9])(?::\d{{1,5}})?"
        rf"(?![A-Za-z0-9@]){_NO_CALL}(?:[/?#](?:{_URL_TAIL})?)?"
    ),
    "email": rf"[A-Za-z0-9][A-Za-z0-9._%+\-]{{0,63}}@(?:{_LABEL}){{1,9}}[A-Za-z]{{2,24}}",
    "mention": (
        rf"(?<![{_ALNUM}_.+-])@(?:所有人|全体成员|"
        # In Han characters as far as a colon or white space in the line, without a verb of saying.
        rf"[{_ALNUM}_·-]{{0,20}}(?:[{IDEOGRAPHS}][{_ALNUM}_·-]{{0,20}}){{1,8}}"
        r"(?<![说称问道])(?<!留言|调侃|表示|评论|回复|吐槽|提问|爆料|发文|发帖)"
        r"(?=[ \t\xa0\u3000:：])|"
        rf"(?!\d{{1,64}}[{IDEOGRAPHS}])[A-Za-z0-9_][A-Za-z0-9_-]{{0,63}})"
    ),
    "emoticon": (
        rf"\^[_.oO-]{{0,3}}\^|(?:[TQ]_{{1,3}}[TQ]|QAQ|QwQ|TAT|[oO0]_[oO0]){_NO_WORD_AFTER}|"
        r">[_.﹏]{1,3}<|"
        rf"(?<![{_ALNUM}=-])[=-]_[=-]|[→←]_[→←]|¯\\_\(ツ\)_/¯|"
        # Behind colons of text many a letter or bracket follows: 答案:D, 如下:(一).
        rf"(?<![{_ALNUM}:|-])[:;](?:['-]?\)|['-][DP]|['-]?[(|](?=[\s。！？!?，,、…~～.;；)）]|\Z))"
        rf"{_NO_WORD_AFTER}|(?<!\S)[:;](?:-?p|[DP3])(?!\S)|"
        rf"{_NO_WORD_BEFORE}(?:[oO]rz|OTZ|ORZ){_NO_WORD_AFTER}|"
        rf"\[(?:{_BRACKETED})\]|"
        rf"[(（](?:(?={_FACE}{{0,16}}{_FACE_SIGN})|(?![^()（）]{{0,20}}[{_LETTER}])"
        rf"(?={_FACE}{{0,16}}(?P<eye>{_FACE_OR_FORMULA}){_FACE}{{0,16}}(?!(?P=eye)){_FACE_OR_FORMULA}))"
        rf"{_FACE}{{1,20}}[)）]"
        r"[づノﾉﾉ╯✧━┻~]{0,8}"
    ),
    "emoji": f"(?P<picture>{_EMOJI})(?P=picture){{0,99}}",
    # One mark; the other one is found when it comes.
    "topic": r"#(?=(?P<inner>[^#\n]{1,40})#)|(?<![\w#])#(?=[A-Za-z])",
    "path": (
        r"[A-Za-z]:\\[A-Za-z0-9_\\.+\-]{0,400}[A-Za-z0-9_\\]|"
        rf"(?<![{_ALNUM}_/])(?:(?:~|\.{{1,2}})/|(?:{_BEGINS}|(?=/(?:{_ROOT})/)|"
        rf"(?=/[A-Za-z0-9_+\-]{{1,40}}/[A-Za-z0-9_.+@\-/]{{1,99}}\.(?=[A-Za-z0-9]{{1,8}}(?![{_ALNUM}_./]))"
        rf"(?i:{_FILE}|{_FILE_WORD})))/)"
        rf"(?:[A-Za-z0-9_.+@\-]{{1,99}}/){{1,999}}[A-Za-z0-9_.+\-]{{0,99}}(?<!\.)"
        rf"(?![A-Za-z0-9_+\-/])(?:(?<!/)|(?![{IDEOGRAPHS}]))|"
        rf"(?<![{_ALNUM}_./])(?:~|\.{{1,2}})/[A-Za-z0-9_.+@\-]{{1,99}}(?<!\.)|"
        rf"{_NO_WORD_BEFORE}(?!{_SCRIPT}{_NO_WORD_AFTER})(?:[A-Za-z0-9_.\-]{{1,99}}/){{0,20}}"
        rf"[A-Za-z0-9_\-]{{1,99}}(?:\.[A-Za-z0-9_\-]{{1,40}}){{0,9}}\.(?i:{_FILE})"
        rf"{_NO_WORD_AFTER}{_NO_CALL}|"
        rf"{_NO_WORD_BEFORE}(?=[A-Za-z0-9.\-]{{1,99}}[/_][A-Za-z0-9])"
        rf"(?:[A-Za-z0-9_.\-]{{1,99}}/){{0,20}}[A-Za-z0-9_\-]{{1,99}}"
        rf"(?:\.[A-Za-z0-9_\-]{{1,40}}){{0,9}}\.(?:{_FILE_WORD}){_NO_WORD_AFTER}{_NO_CALL}|"
        rf"(?:{_BEGINS}\.[a-z][a-z0-9_\-]{{2,30}}|{_HAN_BEFORE}\.(?:git[a-z]{{0,12}}|env|ssh|cache|"
        rf"config|profile|[a-z]{{1,20}}rc|[a-z]{{1,20}}ignore|{_FILE})){_NO_WORD_AFTER}"
    ),
    "identifier": (
        rf"{_NO_WORD_BEFORE}[A-Za-z_][A-Za-z0-9_.]{{0,99}}\(\)|"
        rf"{_NO_WORD_BEFORE}(?=[A-Za-z0-9]{{0,99}}_)[A-Za-z_][A-Za-z0-9_]{{1,99}}|"
        # Options, but not 卡拉-OK or 今天--but.
        rf"(?:{_BEGINS}--[A-Za-z][A-Za-z0-9]{{1,60}}|{_HAN_BEFORE}--(?!(?:{_JOINING})(?![{_ALNUM}_-]))"
        rf"[a-z][a-z0-9]{{1,60}})(?:-[A-Za-z0-9]{{1,60}}){{0,9}}(?![{_ALNUM}_-])|"
        rf"(?:{_BEGINS}-(?:[a-z]{{1,4}}|[A-Z])|{_HAN_BEFORE}-[a-z]{{1,4}})"
        rf"(?![{_ALNUM}_-]|[:=][{_ALNUM}])"
    ),
    "version": (
        rf"{_NO_WORD_BEFORE}[vV]\d{{1,8}}(?:\.\d{{1,8}}){{0,5}}{_RANKED}{_NO_WORD_AFTER}|"
        rf"(?<![\d.])\d{{1,5}}(?:\.\d{{1,5}}){{2,5}}{_RANKED}(?![\d{_LETTER}])|"
        rf"(?<![\d.])\d{{1,5}}\.\d{{1,5}}[-.]?(?i:alpha|beta|rc|dev|post|preview)\.?\d{{0,6}}"
        rf"{_NO_WORD_AFTER}"
    ),
    "time": (
        rf"(?<!\d)\d{{4}}(?P<between>[-/.]){_MONTH}(?P=between){_DAY}(?:T{_HOUR}(?:\.\d{{1,9}})?(?:Z|[+-]\d\d:?\d\d)?)?"
        rf"(?!\d)|(?<!\d)(?<!\d[:：]){_HOUR}(?:(?<=:\d\d:\d\d)[.,]\d{{1,9}})?(?![\d:：])"
    ),
    "price": (
        rf"(?P<sign>{_CURRENCY}) ?(?P<sum>{_NUMBER}|{numerals.NUMERAL}|"
        rf"[一二两兩三四五六七八九十百千])|"
        rf"(?<=\d)(?:{_CURRENCY})(?![\d{_LETTER}])"
    ),
    "measure": (
        rf"(?<![\d{_LETTER}.])(?!{_NO_MEASURE})"
        rf"(?P<amount>(?:{_SIGN})?{_NUMBER}(?:/{_NUMBER})?) ?(?P<unit>{_UNIT})(?!/[a-z])"
        rf"{_NO_WORD_AFTER}"
    ),
    "ordinal": numerals.ORDINAL,
    "fraction": numerals.FRACTION,
    "date": f"{numerals.YEAR}|{numerals.DATE_NAME}",
    "numeral": f"{numerals.NUMERAL}|{numerals.DIGITS}",
    "number": (
        # Of 24x7.
        rf"(?:(?<![{_ALNUM}_.])|(?<=\d[xX]))[1-9]\d{{0,4}}(?:\.\d{{1,3}})?"
        rf"(?=[xX][1-9]\d{{0,4}}(?:\.\d{{1,3}})?(?:[xX]\d|(?:{_UNIT})?{_NO_WORD_AFTER}))|"
        rf"{_SIGN}{_NUMBER}(?!\d)(?:[%％‰])?{_MYRIADS}|"
        rf"\d{{1,20}}(?:\.\d{{1,20}})?[eE][-+]?\d{{1,4}}{_NO_WORD_AFTER}|"
        # Telephones, numbers of books, months; with one mark, others are ranges.
        rf"(?<!\d)\d{{3,4}}-\d{{6,8}}(?!\d)|(?<![\d-])\d{{1,9}}(?:-\d{{1,9}}){{2,9}}(?![\d-])|"
        rf"(?<![\d-])\d{{4}}-0\d(?![\d-])|"
        rf"(?<!\d)(?<!\d[/:]){_NUMBER}[:：/]{_NUMBER}(?![\d/:%{_LETTER}])|"
        rf"{_NUMBER}{_MYRIADS}(?:[%％‰])?(?![\d{_LETTER}]|\.\d|-[{_LETTER}])"
    ),
    "laughter": (rf"(?P<laugh>[{_LAUGHS}])(?P=laugh){{2,99}}|[hH]{{3,99}}{_NO_WORD_AFTER}"),
    "word": (
        rf"10[⁰¹²³⁴-⁹]{{1,3}}/[LdK]|(?<!\d)(?!{_NUMBER}(?:{_UNIT})(?![{_ALNUM}_]|[.\-'’&+_][{_ALNUM}]))"
        rf"(?=[{_ALNUM}.+\-]{{0,99}}[{_LETTER}])[{_ALNUM}][{_ALNUM}{_COMBINING}]{{0,199}}"
        # Two with a slash are one word, TCP/IP, unless they are part of a list.
        rf"(?:(?:[.\-'’+_]|&(?![a-z]{{2,8}};)|#(?=\d)|(?<=[A-Z])(?<!/[A-Z])(?<!/[A-Z]{{2}})(?<!/[A-Z]{{3}})/"
        rf"(?=[A-Z]{{1,3}}(?![{_ALNUM}/+#])))[{_ALNUM}][{_ALNUM}{_COMBINING}]{{0,199}}){{0,20}}"
        rf"(?:\+\+|\+(?![{_ALNUM}])|(?<=[CF])#)?|"
        rf"[{_ZHUYIN}ˊˇˋ˙]{{1,99}}"
    ),
    "punctuation": (
        rf"[!！?？]{{2,999}}|[~～]{{2,999}}|(?P<repeated>[{_MARKS}])(?P=repeated){{1,999}}"
    ),
    "bullet": f"[{_BULLETS}]",
    "mark": (
        rf"[{_SINGLE}<]|(?<![ACGT])>|>(?![ACGT])|(?<!/)\*(?!\.[a-z])|(?<![{_ALNUM}])[{_HALF_FREE}]|[{_HALF_FREE}](?![{_ALNUM}])|(?<=<)/|/(?=>)|"
        rf"\\(?![{_LETTER}])|(?<![{_ALNUM}])[{_FREE}](?![{_ALNUM}])|&(?=[a-z]{{2,8}};|#\d{{1,6}};)|"
        rf"(?<![{_ALNUM}])@(?![{_ALNUM}{IDEOGRAPHS}])|(?<![{_ALNUM}{IDEOGRAPHS}])-(?![{_ALNUM}])|"
        rf"(?<![{_ALNUM}])-(?![{_ALNUM}{IDEOGRAPHS}])|(?<=[{IDEOGRAPHS}])\.(?=[{IDEOGRAPHS}\s]|\Z)|±(?=\d)|"
        rf"(?<=\d)[xX](?=\d)|(?<![{IDEOGRAPHS}])•|•(?![{IDEOGRAPHS}])|"
        # Two around a word; the other one is found when it comes.
        rf"(?<![{_ALNUM}])(?P<around>[%$^&])(?=(?P<within>[{_ALNUM}]{{1,40}})(?P=around)(?![{_ALNUM}]))|"
        rf"(?<=[\d%％‰℃℉°元年月日号號时時点點岁歲])(?P<to>[{_BETWEEN}])(?=\d)"
    ),
}

KINDS: Final[tuple[RunKind, ...]] = tuple(_PATTERNS)
"""The kinds of runs, those first that come before others."""


@cache
def _pattern() -> re.Pattern[str]:
    """All kinds; compiled for the first run, as that takes as long as loading a model."""
    return re.compile("|".join(f"(?P<{kind}>{form})" for kind, form in _PATTERNS.items()))


_DIGITS: Final = re.compile(_NUMBER)
_BRACKETS: Final = re.compile("(?<![:;'-])[(（]|[)）]")
_LAST_NUMBER: Final = re.compile(rf"(?<!\d)({_NUMBER})[%％‰]?\Z")
_LETTERS: Final = re.compile(f"[{_LETTER}]{{1,200}}")
_TWO_NUMERALS: Final = re.compile(
    f"[{numerals.CHARACTERS}0-9](?!百[货貨])[{numerals.CHARACTERS}0-9半多余餘]"
)
# Where one may begin. Of the marks of ranges, those of numbers are told by the patterns.
_BEGIN: Final = RunBegins(
    f'"-(*+\\--9;->@-~¯•{_LETTER}{_SIGNS}→←（−±{_PICTURE[1:-1]}\U0001f1e6-\U0001f1ff{_BULLETS}{_ZHUYIN}{_SINGLE}'
    f"{_BETWEEN[1:]}{numerals.LONE}",
    f"{_MARKS}{_LAUGHS}",
    (("！？!?", "！？!?"), (":", "'\\-)(|pDP3"), ("～", "~～"), *numerals.PAIRS),
)

# Full-width letters, digits, and what stands within numbers and addresses, as half-width ones.
_FULL_WIDTH: Final = re.compile("[０-９Ａ-Ｚａ-ｚ＠．％＋－／]")
_HALF_WIDTH: Final = {
    code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F) if _FULL_WIDTH.match(chr(code))
}

FIRST_STAND_IN: Final = 0xE000
"""The first of the characters, for private use, that stand for those of runs to a model."""

_ALIKE: Final = ("url", "email", "mention", "path", "emoticon", "emoji")
STAND_INS: Final[dict[str, tuple[int, int]]] = {
    kind: (2 * i + 1, 2 * i + 2) for i, kind in enumerate(_ALIKE)
}
"""Kinds whose runs look alike to a model: the numbers, from 1 on, of what stands for their first
character and for the others. What it sees is `FIRST_STAND_IN` + number - 1."""

# Of these, nothing is said about where they begin and end: they may be parts of longer words, such
# as 3.5万 or T恤. But nothing goes on behind C++ and GPT-4, nor digits with numerals.
_OPEN: Final = ("number", "numeral", "word")
_CLOSES: Final = re.compile("(?<=[+#])|(?<=[0-9])(?=[一二两三四五六七八九])|(?<=[A-Za-z]-[0-9])")
# Nor of these if their numerals go on, as those of 第二十 in 第二十一起.
_BESIDE_NUMERALS: Final = ("ordinal", "fraction", "date")

_TAGS: Final[dict[RunKind, tuple[str, ...]]] = {
    "version": ("CD",),
    "ordinal": ("OD",),
    "fraction": ("CD",),
    "date": ("NT",),
    "price": ("M",),
    "measure": ("CD", "M"),
    "bullet": ("CD",),
    "punctuation": ("PU",),
    "mark": ("PU",),
}

# The groups of the words of a run.
_CUT: Final[dict[RunKind, tuple[str, ...]]] = {
    "price": ("sign", "sum"),
    "measure": ("amount", "unit"),
    "date": ("era", "reign"),
}


class Run(NamedTuple):
    """A run, `text[start:end]`, the words in it, and whether its words may be longer than it.

    pieces: begins and ends of the words. White space between pieces belongs to none. tags: of
    the words by the conventions of the Chinese Treebank; none where the model is to decide.
    """

    start: int
    end: int
    kind: RunKind
    pieces: tuple[tuple[int, int], ...]
    is_open: bool
    tags: tuple[str, ...] = ()


_LATIN: Final = re.compile(
    "|".join(
        f"(?P<{kind}>[{''.join(f'{chr(first)}-{chr(last)}' for first, last in ranges)}]+)"
        for kind, ranges in RUNS.items()
    )
)


class LatinRuns:
    """Finds runs of Latin letters, and of Arabic digits, of either width.

    They may be parts of longer words: a word has all of a run in it, or nothing (Zhang & Clark
    2011, section 4.4.3, where nothing is said of 1998年 or T恤).
    """

    def find(self, text: str) -> Iterator[Run]:
        """Yield the runs of a text, which do not overlap, in their order."""
        for found in _LATIN.finditer(text):
            yield Run(*found.span(), found.lastgroup, (found.span(),), True)  # type: ignore[arg-type]


class TypedRuns:
    """Finds typed runs.

    whole: kinds that are one word where the conventions cut them: price (￥|35), measure (35|kg)
        and topic (#|…|#).
    """

    def __init__(self, whole: Collection[CutKind] = ()) -> None:
        self._whole = frozenset(whole)

    def find(self, text: str) -> Iterator[Run]:
        """Yield the runs of a text, which do not overlap, in their order.

        The mark that closes a topic, or stands behind a word as before it, is a run of its own,
        behind what is found within.
        """
        seen = text
        if _FULL_WIDTH.search(text):
            seen = text.translate(_HALF_WIDTH)
        end = 0
        closing: set[int] = set()
        kind: RunKind
        while (start := _BEGIN.next(seen, end)) >= 0:
            if start in closing:
                end = start + 1
                kind = "topic" if seen[start] == "#" else "mark"
                yield Run(start, end, kind, ((start, end),), False, _TAGS.get(kind, ()))
                continue
            found = _pattern().match(seen, start, start + MAX_LENGTH)
            if found is None or _closes_bracket(found) or _is_no_range(found):
                # Of 2.0T, number and letters are kept: no run begins inside a row of digits.
                digits = _DIGITS.match(seen, start)
                end = digits.end() if digits else start + 1
                if digits:
                    yield Run(start, end, "number", ((start, end),), True)
                    if letters := _LETTERS.match(seen, end):
                        end = letters.end()
                        yield Run(*letters.span(), "word", (letters.span(),), True)
                continue
            kind = found.lastgroup  # type: ignore[assignment]
            closing.update((found.end("inner"), found.end("within")))
            run = self._run(kind, found)
            end = run.end
            yield run

    def _run(self, kind: RunKind, found: re.Match[str]) -> Run:
        start, end = found.span()
        text = found.string
        # No word has white space in it: where there is some, even those that are whole are cut.
        whole = kind in self._whole and not re.search(r"\s", found["inner"] or found[0])
        if kind == "topic" and whole and found["inner"]:
            end = found.end("inner") + 1
        pieces: tuple[tuple[int, int], ...] = ((start, end),)
        if kind in _CUT and not whole:
            # A sign behind its number stands alone.
            pieces = tuple(found.span(name) for name in _CUT[kind] if found[name]) or pieces
            if kind == "price":
                # Its number may be a part of a longer one, as in ￥3.5万: it is found for itself.
                pieces = pieces[:1]
                end = pieces[0][1]
        is_open = kind in _OPEN and _CLOSES.match(text, end) is None
        if kind in _BESIDE_NUMERALS:
            is_open = any(_TWO_NUMERALS.match(text, at - 1) for at in (start, end) if at)
        # V8 may be a name.
        is_known = not (is_open or whole or (kind == "version" and "." not in found[0]))
        tags = (_TAGS.get(kind, ()) * len(pieces))[: len(pieces)] if is_known else ()
        return Run(start, end, kind, pieces, is_open, tags)


def _closes_bracket(found: re.Match[str]) -> bool:
    """True if a face is none, but a colon and the bracket that closes a text: (如下:).

    In （好:)） another one closes it.
    """
    if found.lastgroup != "emoticon" or not found[0].endswith(")") or found[0][0] not in ":;":
        return False
    if found.string[found.end() : found.end() + 1] in (")", "）"):
        return False
    before = found.string[max(0, found.start() - NEAR) : found.start()]
    brackets = _BRACKETS.findall(before)
    return bool(brackets) and brackets[-1] in "(（"


def _is_no_range(found: re.Match[str]) -> bool:
    """True if a mark stands between two numbers that are no range, as in 6-2, 18-3号, 6443-2217."""
    if found["to"] in (None, "×"):
        return False
    text, start, end = found.string, found.start(), found.end()
    before = _LAST_NUMBER.search(text[max(0, start - NEAR) : start])
    after = _DIGITS.match(text, end)
    return before is not None and after is not None and _value(before[1]) >= _value(after[0])


def _value(number: str) -> float:
    return float(number.replace(",", ""))
