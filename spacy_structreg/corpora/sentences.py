r"""The one sentence splitter: by punctuation, line breaks, and what stands around them.

A sentence ends, together with all white space that follows, so that the next one begins with a
visible character,

- after a line break (\n, \r\n, \r, U+2028, U+2029), always;
- after marks such as 。！？!?… and the closing quotes and brackets, further marks, emoji and
  footnote numbers ([1]) that follow directly: 他说：“走吧！”|
- after the full stop of Latin script if white space follows, and then, behind opening quotes and
  brackets, a capital, a digit or a letter of a script without capitals: He left. She stayed.
- after one between Han characters, unless foreign names stand around it: 他来了.|她走了.

It does not end there if

- the marks stand in brackets within a sentence, or in a quotation that no colon or the like
  introduces: 他（真的！）来了。 听到“开始！”的口令
- a quotation begins the sentence, so that the text behind it belongs to it: “不行。”她说。 (Behind
  white space, only such a verb does. Behind a colon, one ends it: 他说：“不行。”|她走了。 Within
  both, sentences end: “不行。|我不去。”她说。)
- a comma, colon or the like follows directly: “走！”，他说
- the marks stand in a title, or alone in quotes or brackets: 《怎么办？》 (?) “……”
- the mark is part of an address (…/p?a=1), a name (Yahoo!), a number or a word (P!nk, a != b);
- a small letter follows a closing quote, dots or … : "Stop!" he cried. Well... maybe.
- the full stop is that of an abbreviation (Mr., e.g.), an initial or a number of a list. Those that
  may end a sentence as well (U.S., Inc., J.) do so before words that begin many (The, He, In, …).

In doubt there is no end: two sentences in one cost a model less than one in two. But what goes on
for more than `LONGEST` characters is cut at the best place of the second half of them: behind a
semicolon, another mark, white space, or between words of Latin letters.
"""

from __future__ import annotations

import operator
import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spacy_structreg.corpora.lazy_pattern import lazy_pattern
from spacy_structreg.corpora.sentence_marks import SentenceMarks
from spacy_structreg.corpora.spacing import IDEOGRAPHS

LONGEST: Final = 10_000
"""Longest sentence, in characters: memory of models grows with it."""

# Marks that end sentences wherever they stand, those of Latin script that need a closer look, and
# what stands for words left out.
FULL: Final = "。！？｡‼⁇⁈⁉؟۔।॥"
HALF: Final = "!?"
ELLIPSIS: Final = "…"
STOPS: Final = ".．"
TERMINATORS: Final = FULL + HALF + ELLIPSIS
OPENERS: Final = "“‘「『（《〈【〔［｛〖〘〚﹁﹃｢〝([{\"'«‹＂＇¿¡"
CLOSERS: Final = "”’」』）》〉】〕］｝〗〙〛﹂﹄｣〞〟)]}\"'»›＂＇"
STRAIGHT: Final = frozenset(OPENERS) & frozenset(CLOSERS)
QUOTED: Final = frozenset(OPENERS) - STRAIGHT
TITLE_CLOSERS: Final = "》〉"
MIDDLE: Final = "，、；：,;:·"
# What follows a mark, if it is not simply the next sentence; nothing does at the end of the text.
UNUSUAL: Final = ("", "[", *MIDDLE)
BREAKS: Final = "\n\r\u2028\u2029"

# What writers keep apart by spaces: words that are not of Han script, and @names.
_LATIN_END: Final = lazy_pattern(r"[0-9A-Za-zÀ-ɏ]\Z")
_LATIN_START: Final = lazy_pattern(r"(?:@|--?(?=[A-Za-z]))?[0-9A-Za-zÀ-ɏ]")
# Between such words these have a space behind them.
_SPACED_MARKS: Final = frozenset(".,;:!?)")
# Numbers have none before units.
_AMOUNT: Final = re.compile(r"[-+]?[0-9][0-9.,]*")

# Combining marks, variation selectors, emoji modifiers, joiners, characters of no width.
EXTENDERS: Final = (
    "\xad\u0300-\u036f\u0483-\u0489\u061c\u180e\u1ab0-\u1aff\u1dc0-\u1dff\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u20d0-\u20ff\u302a-\u302f\u3099\u309a\ufe00-\ufe0f\ufe20-\ufe2f\ufeff"
    "\U0001f3fb-\U0001f3ff\U000e0020-\U000e01ef"
)
# What belongs to the marks before it: the tilde that softens an end in chats, and emoji, without
# hands that point at what follows.
FOLLOWERS: Final = (
    "~～\u2639\u263a\u2640\u2642\u2764\U0001f1e6-\U0001f446\U0001f448\U0001f44a-\U0001faff"
)

# Linear on any input: the first class finds a place to look at, every other one takes a run of
# characters once, and the search goes on behind them. No group is repeated, so that nothing is kept
# for each character of a long run.
CANDIDATE: Final = lazy_pattern(
    "[{t}{b}{d}:](?:(?<=:)//[!-~]+|(?<=[{b}])(\\s*)|(?<=[{t}])[{r}]*{j}(\\s*)"
    "|(?<=[{d}])(?:[{d}][{r}]*{j}(\\s*)|[{c}]*(\\s+|(?=\\[[0-9]{{1,3}}\\]))"
    "|(?<=[{h}].)(?=[{h}])()))".format(
        t=re.escape(TERMINATORS),
        b=BREAKS,
        d=re.escape(STOPS),
        h=IDEOGRAPHS,
        c=re.escape(CLOSERS),
        r=re.escape(TERMINATORS + STOPS + CLOSERS) + EXTENDERS + FOLLOWERS,
        # What a joiner joins.
        j=f"(?:(?<=\u200d)[^{BREAKS}])?",
    )
)


def _members(ranges: str) -> str:
    """The characters of ranges, as brackets of patterns have them, but unescaped."""
    return "".join(
        "".join(map(chr, range(ord(first), ord(last or first) + 1)))
        for first, last in re.findall("(.)(?:-(.))?", ranges, re.DOTALL)
    )


# `CANDIDATE` needs to be tried at few characters only.
_SPACES: Final = _members("\t-\r\x1c- \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000")
_FOLLOWERS: Final = TERMINATORS + STOPS + CLOSERS + _members(EXTENDERS) + _members(FOLLOWERS)
# Brackets and quotes, by what closes them; brackets of either width.
_PAIRS: Final = {
    **dict(
        zip("“‘「『《〈【〔［｛〖〘〚﹁﹃｢[{«‹", "”’」』》〉】〕］｝〗〙〛﹂﹄｣]}»›", strict=True)
    ),
    "〝": "〞〟",
    "（": ")）",
    "(": ")）",
}
_CLOSING: Final = "".join(_PAIRS.values())
_QUOTES: Final = '“‘「『﹁﹃｢〝«‹"'
_PAIRED: Final = lazy_pattern(
    f"(?<![:;])(?<![:;][-'])[(（]|[{re.escape(''.join(_PAIRS)[:-2] + _CLOSING)}\"{BREAKS}]"
)
_ENDING: Final = re.escape(TERMINATORS + STOPS)
_ENDS_AGAIN: Final = lazy_pattern(f'[{re.escape(_CLOSING)}"][^{_ENDING}]*[{_ENDING}]')
# What closes is looked for in so many characters, and so many may be open at a time.
_INSIDE: Final = 200
# A quotation and this are one sentence, even with white space between them.
_SAYS: Final = lazy_pattern(f"[{IDEOGRAPHS}]{{1,3}}(?:[说說问問喊答]|(?<!知)道)")
_DEPTH: Final = 16
# Behind these, a quotation has no introduction: 讯（记者）“立正！”随着口令
_NO_INTRODUCTION: Final = frozenset(")）]］】〕》〉%％")

# Characters of foreign names: a full stop between such parts ends nothing, 乔治.布什.
_NAME_CHARACTERS: Final = (
    "阿埃艾安昂奥奧巴白班邦保鲍鮑贝貝本比彼毕畢别別宾賓波伯勃博卜布查达達戴丹道德登迪蒂丁东東杜顿頓多"
    "厄恩尔爾法凡范方菲费費芬弗福富盖蓋甘冈岡高戈哥格古哈海汉漢豪赫亨胡华華霍基吉加贾賈杰傑金喀卡凯凱"
    "坎康考科柯克肯库庫奎拉莱萊赖賴兰蘭朗劳勞勒雷累蕾黎里理利莉丽麗连連林琳龙龍卢盧鲁魯路罗羅洛吕呂伦"
    "倫马馬玛瑪迈邁麦麥曼芒毛梅门門蒙米密敏明摩莫默姆木穆拿纳納娜南内內尼妮宁寧纽紐努诺諾欧歐帕潘佩彭"
    "皮平珀普奇恰乔喬切琼瓊丘热熱仁日茹儒瑞萨薩塞赛賽三桑森沙莎珊圣聖施什史斯思丝絲司松苏蘇索塔泰坦汤"
    "湯唐特腾騰提图圖托陀瓦万萬汪威韦韋维維魏温溫文翁沃乌烏吾伍武西希锡錫席夏香肖谢謝辛欣休许許逊遜雅"
    "亚亞延扬揚耶叶葉伊易因英尤雨约約赞贊泽澤扎詹珍芝治朱卓兹茲祖佐京翰拜"
)
_NAME_BEFORE: Final = lazy_pattern(
    # Of two such characters or more, or one that is all.
    f"(?:[{_NAME_CHARACTERS}]{{2}}|(?<![{IDEOGRAPHS}])[{_NAME_CHARACTERS}])(?<!西安)(?<!延安)\\Z"
)
_NAME_AFTER: Final = lazy_pattern(
    f"[{_NAME_CHARACTERS}](?:[{_NAME_CHARACTERS}]|(?![{IDEOGRAPHS}]))"
)
_MARKS: Final = SentenceMarks(
    full_stops="。",
    terminators=TERMINATORS,
    dots=STOPS,
    breaks=BREAKS,
    followers=_FOLLOWERS,
    after_dots=STOPS + CLOSERS + _SPACES + "[",
    special=_FOLLOWERS + _SPACES + "".join(UNUSUAL),
    openers="".join(_PAIRS) + '"',
    closers=_CLOSING + '"',
)

# Breaks within paragraphs: those before and behind rules, and before items of lists, are none.
_WRAPPED: Final = lazy_pattern(
    rf"(?<=[^{BREAKS}])(?<![=\-_*]{{3}})(?:\r\n|[\n\r])(?!\s|[=\-_*]{{3}}|[-*+]\s|[•·>|]|#{{1,6}}\s|"
    r"[(（]?(?:\d{1,3}|[一二三四五六七八九十]{1,3}(?!、[一二三四五六七八九十]))"
    r"(?:[.)）](?!\d)|[、．])|[①-⒛❶-➓㈠-㈩㊀-㊉])"
)
# Where a sentence that is too long may be cut, the best places first; anywhere, if need be.
_CUTS: Final = (
    lazy_pattern("(?<=[；;])"),
    lazy_pattern("(?<=[，、：])|(?<=[,:])(?![0-9A-Za-z/])"),
    lazy_pattern(r"(?<=\s)(?=\S)"),
    lazy_pattern(
        f"(?<!\u200d)(?![{EXTENDERS}])(?:(?<![0-9A-Za-zÀ-ɏ{EXTENDERS}])|(?![0-9A-Za-zÀ-ɏ]))"
    ),
    lazy_pattern(""),
)
_SPACE: Final = re.compile(r"\s*")

FOOTNOTE: Final = re.compile(r"\[[0-9]{1,3}\]\s*")
HAS_BREAK: Final = re.compile(f"[{BREAKS}]")
HAS_TERMINATOR: Final = re.compile(f"[{re.escape(TERMINATORS + STOPS)}]")

# What ends an address is text if it is punctuation.
AFTER_ADDRESS: Final = "!\"'()*,.:;<>?[]`{|}"
# Of the query of an address that does not say http://.
QUERY: Final = re.compile(r"[A-Za-z0-9_.\[\]-]{1,40}=")
IN_CODE: Final = "=/&%_\\|^"

# What stands before a mark is looked for in so many characters.
NEAR: Final = 16
LATIN_WORD: Final = re.compile(r"[A-Za-z.]+\Z")
DOTTED: Final = re.compile(r"(?:[A-Za-z]\.)+[A-Za-z]")
ENUMERATOR: Final = lazy_pattern(
    r"[(（]?(?:[0-9]{1,3}(?:\.[0-9]{1,3})*|[A-Za-z]|[IVX]{1,5}|[ivx]{1,5}|"
    r"[一二三四五六七八九十]{1,3})[)）]?"
)
LISTED: Final = re.compile(r"[:;：；]\s{0,2}[(（]?[0-9]{1,2}[)）]?\Z")
NEXT_WORD: Final = lazy_pattern(f"[{re.escape(OPENERS)}]{{0,4}}([A-Za-z]{{1,12}})(?![A-Za-z.])")


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Names that end in an exclamation mark.
NAME_ENDS: Final = "!！"
NAMES: Final = _listed("ahoy jeopardy joomla kahoot oklahoma panic wham yahoo")
# Units, which stand directly behind numbers.
_UNITS: Final = _listed(
    "A GB Hz KB L MB MHz GHz Pa TB V W cm dB fps g h kHz kPa kV kW kWh kcal kg km km/h kΩ l m m/s "
    "mA mAh mL mV mg min ml mm mmHg mmol/L ms nm ppm px rpm s t μg μm"
)
# Abbreviations: before names and explanations, never at an end; before digits; anywhere.
LEADING: Final = _listed(
    "adm brig capt cf cmdr col dr drs e.g eq eqs esp fig figs fr ft gen gov hon i.e lt maj messrs "
    "mlle mme mr mrs ms msgr mt mx pp pres prof rep rev sen sgt supt viz vol vols vs"
)
BEFORE_DIGITS: Final = _listed("art c ca ch chap ed no nos op p pt sec")
TRAILING: Final = _listed(
    "al apr assn aug ave blvd bros co corp dec dept est feb inc jan jr jul jun llc ltd nov oct "
    "ph.d rd sep sept sr st univ"
)
# Words that begin sentences, and hardly names.
STARTERS: Final = _listed(
    "A After All Also Although An And As At Because Before Both But By Despite Did Do Does During "
    "Each Even Every Few For From Had Has Have He Her Here His How However I If In Instead Is It "
    "Its Many Maybe Meanwhile Moreover Most My Nobody None Not Nothing Now On Once One Only Or Our "
    "Perhaps She Since So Some Still Such That The Their Then There These They This Those Though "
    "Thus To Today Under Until Was We Were What When Where Whether Which While Who Why With Yes "
    "Yesterday Yet You Your"
)


def sentence_ends(text: str, *, wrapped: bool = False) -> list[int]:
    """The character offset at which each sentence of a text ends, in rising order.

    wrapped: take the text as one of lines of limited length: a line break is white space, unless
        a blank line, an indented one or an item of a list follows.

    The last is `len(text)`; the empty text has none. All sentences but the first begin with a
    visible character, and none is longer than `LONGEST`, white space at its ends left out. Takes
    time and memory linear in the text.
    """
    if wrapped:
        text = _WRAPPED.sub(lambda found: " " * len(found[0]), text)
    # Not of a subclass.
    return _MARKS.ends_of_one(str(text), _difficult_ends, LONGEST)


def cut_long(text: str, ends: list[int], held: NDArray[np.uint8] | None = None) -> list[int]:
    """The ends of the sentences of a text, with further ones in those longer than `LONGEST`.

    ends: rising, the last at the end of the text. held: uint8 of each character, or None: 0 where a
    sentence may begin, 1 where it should not, 2 where it must not, even if one becomes longer.
    """
    if max(map(operator.sub, ends, [0, *ends]), default=0) <= LONGEST:
        return ends
    bounded: list[int] = []
    start = len(text) - len(text.lstrip())
    for end in ends:
        while end - start > LONGEST:
            start = _cut(text, start, end, held)
            if start < end:
                bounded.append(start)
        bounded.append(end)
        start = end
    return bounded


def _cut(text: str, start: int, end: int, held: NDArray[np.uint8] | None) -> int:
    """The place for the end of a sentence from `start`, which goes on for too long up to `end`."""
    first, last = start + LONGEST // 2, start + LONGEST
    for most in (0, 1):
        for pattern in _CUTS:
            for found in reversed(list(pattern.finditer(text, first, last + 1))):
                place = _SPACE.match(text, found.start()).end()  # type: ignore[union-attr]
                if found.start() <= last and (place >= end or held is None or held[place] <= most):
                    return min(place, end)
    free = np.flatnonzero(held[last:end] < 2)  # type: ignore[index]  # else any place is taken
    return last + int(free[0]) if len(free) else end


def _difficult_ends(text: str) -> list[int]:
    """As `sentence_ends`, of a text that needs a closer look."""
    return cut_long(text, _marked_ends(text))


def _marked_ends(text: str) -> list[int]:
    """As `sentence_ends`, however long the sentences are."""
    ends: list[int] = []
    quotes: _Quotes | None = None
    pairs = _Pairs(text, ends)
    # White space at the very beginning belongs to the first sentence.
    at = len(text) - len(text.lstrip())
    while (at := _MARKS.next(text, at, ends, pairs.n_open(at))) >= 0:
        match = CANDIDATE.match(text, at)
        if match is None:
            at += 1
            continue
        start = ends[-1] if ends else 0
        first, at = match.span()
        if match[0] == "。" and text[at : at + 1] not in UNUSUAL and not pairs.n_open(first):
            # The rest comes to the same, but takes longer.
            is_end = True
        elif text[first] == ":":
            at = first + len(match[0].rstrip(AFTER_ADDRESS))
            is_end = False
        elif HAS_BREAK.search(match[0]):
            quotes = _Quotes(text, at)
            is_end = True
        else:
            quotes = quotes or _Quotes(text)
            stop, _ = match.span(match.lastindex or 0)
            if quotes.open_next(first, stop, at):
                stop = at = stop - 1
            while footnote := FOOTNOTE.match(text, at):
                at = footnote.end()
            is_end = (
                at < len(text)
                and _ends(text, start, first, stop, at)
                and not pairs.hold(first, stop, at)
            )
        if is_end:
            ends.append(at)
    if text and (not ends or ends[-1] < len(text)):
        ends.append(len(text))
    return ends


def sentence_ends_of_all(texts: list[str]) -> NDArray[np.int64]:
    """The ends of the sentences of texts, as offsets in all of them, one after the other.

    int64, rising; those of each text as `sentence_ends` gives them, which takes longer. Raises
    TypeError for a text that is no str, or of a subclass.
    """
    return _MARKS.ends_of_all(texts, _difficult_ends, LONGEST)


class _Pair(NamedTuple):
    """An open bracket or quote, and behind what closes it, 0 if that is too far away.

    begins: whether a sentence begins with it. is_embedded: whether it is a part of one.
    """

    place: int
    end: int
    is_quote: bool
    begins: bool
    is_embedded: bool


class _Pairs:
    """The brackets and quotes of a line that are open. ends: of the sentences so far."""

    def __init__(self, text: str, ends: list[int]) -> None:
        self._text = text
        self._ends = ends
        self._open: list[_Pair] = []
        self._counted = 0

    def n_open(self, at: int) -> int:
        """The number of those that are open before a place; places do not fall."""
        self._go_on(at)
        return len(self._open)

    def hold(self, first: int, stop: int, at: int) -> bool:
        """True if marks end no sentence because of the brackets and quotes around them.

        first, stop, at: as of `_ends`.
        """
        self._go_on(first)
        before = self._open.copy()
        self._go_on(stop)
        if any(pair.is_embedded and pair.end > stop for pair in self._open):
            return True
        closed = before[len(self._open) :]
        # A mark behind the last one that closes ends the sentence around it.
        if not closed or _ENDS_AGAIN.search(self._text, first, stop):
            return False
        outer, after = closed[0], self._text[at]
        if at > stop and not (outer.begins and outer.is_quote and _SAYS.match(self._text, at)):
            return outer.is_embedded and not outer.is_quote and not after.isascii()
        return (outer.is_embedded or (outer.is_quote and outer.begins)) and after not in _QUOTES

    def _go_on(self, to: int) -> None:
        """Take in what stands before a place."""
        text, opened = self._text, self._open
        for found in _PAIRED.finditer(text, self._counted, to):
            character = found[0]
            if character in BREAKS:
                opened.clear()
                continue
            for depth in reversed(range(len(opened))):
                opener = text[opened[depth].place]
                if character in _PAIRS.get(opener, opener):
                    del opened[depth:]
                    break
            else:
                if character not in _CLOSING and len(opened) < _DEPTH:
                    opened.append(self._opened(found.start(), character))
        self._counted = max(self._counted, to)

    def _opened(self, place: int, character: str) -> _Pair:
        text = self._text
        start = self._ends[number - 1] if (number := bisect_right(self._ends, place)) else 0
        before = text[max(start, place - NEAR) : place].rstrip(OPENERS + _SPACES)
        begins = not before and place - start <= NEAR
        is_quote = character in _QUOTES
        # Behind a colon or comma, what is said is a sentence of its own.
        is_introduced = is_quote and not (before[-1:].isalnum() or before[-1:] in _NO_INTRODUCTION)
        inside = text[place + 1 : place + 1 + _INSIDE]
        line = HAS_BREAK.search(inside)
        closing = _PAIRS.get(character, character)
        last = len(inside) if line is None else line.start()
        close = min(
            (end for each in closing if (end := inside.find(each, 0, last)) >= 0), default=-1
        )
        end = 0 if close < 0 else place + close + 2
        return _Pair(place, end, is_quote, begins, not (begins or is_introduced))


class _Quotes:
    """Straight quotes of a line that begins at `at`, of which every second one closes."""

    def __init__(self, text: str, at: int = 0) -> None:
        self._text = text
        self._counted = at
        self._is_open = False

    def open_next(self, first: int, stop: int, at: int) -> bool:
        """True if the last of some marks is a quote that opens the sentence behind them.

        first, stop, at: as of `_ends`.
        """
        text = self._text
        n_quotes = text.count('"', first, stop)
        if not n_quotes:
            return False
        self._is_open ^= text.count('"', self._counted, first) % 2 == 1
        # One closes what is open; there is nothing to be said between two.
        closes = self._is_open and n_quotes == 1
        opens = text[stop - 1] == '"' and stop == at < len(text) and not closes
        self._is_open = False
        self._counted = stop - opens
        return opens


def _ends(text: str, start: int, first: int, stop: int, at: int) -> bool:
    """True if a sentence ends here, in the middle of a line.

    start: of the sentence. first, stop: where the marks begin, and where they and what closes them
    end. at: where the next sentence would begin, behind white space, if there is any.
    """
    mark, run = text[first], text[first:stop]
    before = text[first - 1] if first > start else ""
    near = text[max(start, first - NEAR) : first]
    closer = run.lstrip(TERMINATORS + STOPS)[:1]
    is_apart = at > stop
    if (
        (text[at] in MIDDLE and not is_apart)
        or (closer and _is_mentioned(run, before, closer))
        or (mark in NAME_ENDS and _is_name(run, near, _next_word(text, at) if is_apart else ""))
    ):
        return False
    if mark in FULL:
        return True
    # The first sign that opens no quote or bracket.
    sign = text[at : at + NEAR].lstrip(OPENERS)[:1] or text[at]
    if mark in HALF:
        if is_apart:
            return not ((closer or before.isspace()) and sign.islower())
        return _half_ends_within(text, at, before, closer)
    word = _next_word(text, at)
    if mark == ELLIPSIS or run[1:2] in (*STOPS,):
        return _dots_end(mark, before, sign, word, is_apart=is_apart)
    is_name = not is_apart and _NAME_BEFORE.search(near) and _NAME_AFTER.match(text, at)
    is_number = first - start < NEAR and ENUMERATOR.fullmatch(near.lstrip())
    return not (is_name or is_number) and _stop_ends(near, sign, word)


def _is_mentioned(run: str, before: str, closer: str) -> bool:
    """True if marks and what closes them belong to a title, or stand alone in quotes or brackets.

    before: the character before them.
    """
    if (before in QUOTED and closer in CLOSERS) or (before in STRAIGHT and before == closer):
        return True
    return closer in TITLE_CLOSERS and not HAS_TERMINATOR.search(run, run.index(closer))


def _is_name(run: str, near: str, word: str) -> bool:
    """True if an exclamation mark is the last character of a name, and ends no sentence as well.

    word: the next one, if white space and Latin letters follow.
    """
    found = LATIN_WORD.search(near)
    return (
        found is not None
        and found[0].lower() in NAMES
        and not HAS_TERMINATOR.search(run, 1)
        and word not in STARTERS
    )


def _half_ends_within(text: str, at: int, before: str, closer: str) -> bool:
    """As `_ends`, for ! and ? without white space behind them."""
    after = text[at]
    if not (after.isascii() and after.isalnum()):
        return after not in IN_CODE
    if closer:
        return not after.islower()
    is_word = before.isascii() and not (before.isalnum() and after.isupper())
    return not is_word and not QUERY.match(text, at)


def _dots_end(mark: str, before: str, sign: str, word: str, *, is_apart: bool) -> bool:
    """As `_ends`, for … and rows of full stops."""
    if sign.islower() or word == "I":
        return False
    if is_apart:
        return sign.isalnum()
    # A list goes on: 桌子、椅子……等.
    if not before or before in OPENERS or sign == "等":
        return False
    if mark == ELLIPSIS:
        return not (before.isspace() or (before.isdigit() and sign.isdigit()))
    # A letter of a script without capitals.
    return sign.isalpha() and not sign.isupper()


def _stop_ends(near: str, sign: str, word: str) -> bool:
    """As `_ends`, for the full stop of Latin script.

    near: what stands before it. sign: the first one behind it, quotes and brackets left out; word:
    the whole word, if it is Latin.
    """
    if not sign.isalnum() or sign.islower() or LISTED.search(near):
        return False
    if sign.isdigit() and near[-1:].isdigit():
        return False
    found = LATIN_WORD.search(near)
    last = found[0].strip(".") if found else ""
    known = last.lower()
    may_go_on = known in TRAILING or len(last) == 1 or DOTTED.fullmatch(last)
    if sign.isdigit():
        return not (may_go_on or known in LEADING or known in BEFORE_DIGITS)
    return known not in LEADING and (not may_go_on or word in STARTERS)


def _next_word(text: str, at: int) -> str:
    """The next word, without what opens before it; "" if it is not of Latin letters."""
    found = NEXT_WORD.match(text, at)
    return found[1] if found else ""


def split_words(
    words: Sequence[str], spaces: Sequence[bool] | None = None, *, wrapped: bool = False
) -> list[list[str]]:
    """Split words into sentences where `sentence_ends` splits their text.

    words: of a gold line, or the tokens of a text, with those of white space. spaces: whether one
    follows each word in the text; None for nowhere. wrapped: as of `sentence_ends`.

    A sentence begins with a word that is no white space. An end inside a word is not taken: words
    stay whole (`Yahoo!网` as one word splits nowhere), and the sentence goes on to the next end
    that is a word boundary too. Raises ValueError for an empty word.
    """
    if "" in words:
        raise ValueError("a word is empty; leave empty words out")
    if spaces is None:
        parts = words
    else:
        parts = [word + " " * space for word, space in zip(words, spaces, strict=True)]
    ends = set(sentence_ends("".join(parts), wrapped=wrapped))
    sentences: list[list[str]] = []
    start = 0
    for stop, offset in enumerate(accumulate(map(len, parts)), start=1):
        if offset in ends:
            sentences.append(list(words[start:stop]))
            start = stop
    return sentences


def latin_spaces(words: Sequence[str]) -> list[bool]:
    """For each word, True if a space follows it: between words of Latin letters and digits.

    None stands between a number and its unit (35kg). Between such words, marks such as the comma
    have one behind them: `works, then`.
    """
    between = [_is_spaced(left, right) for left, right in pairwise(words)]
    for i in range(1, len(words) - 1):
        if words[i] in _SPACED_MARKS:
            around = words[i - 1] + words[i + 1]
            between[i] = bool(
                _LATIN_END.search(words[i - 1])
                and _LATIN_START.match(words[i + 1])
                and any(map(str.isalpha, around))
            )
    return [*between, False][: len(words)]


def _is_spaced(left: str, right: str) -> bool:
    """True if writers keep two words apart by a space."""
    return (
        _LATIN_END.search(left) is not None
        and _LATIN_START.match(right) is not None
        and not (right in _UNITS and _AMOUNT.fullmatch(left))
    )
