"""The augmenter of training corpora: ``spacy_structreg.text_variants.v1``."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from copy import deepcopy
from itertools import accumulate, takewhile
from pathlib import Path
from typing import Any, Final

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc, Span, SpanGroup, Token
from spacy.training import Example

from spacy_structreg.corpora.sentences import STOPS, TERMINATORS
from spacy_structreg.corpora.word_lists import read_word_list
from spacy_structreg.features.scripts import opencc_script
from spacy_structreg.pipeline.constituency_documents import HEADS
from spacy_structreg.pipeline.documents import UNKNOWN_WORDS, visible_tokens

_MARKS: Final = dict(zip("，。！？；：（）", ",.!?;:()", strict=True))
# Several of them become one.
_OTHER_MARKS: Final = dict(zip("、“”‘’", ",\"\"''", strict=True))
_FULL_WIDTH_ASCII: Final = range(0xFF01, 0xFF5F)

HALF_WIDTH_FORMS: Final = str.maketrans(
    {chr(code): chr(code - 0xFEE0) for code in _FULL_WIDTH_ASCII} | _MARKS | _OTHER_MARKS
)
"""Full-width forms of ASCII, other full-width marks and curly quotes as they are typed without an
input method, for `str.translate`: a character for each."""

FULL_WIDTH_MARKS: Final = str.maketrans({half: full for full, half in _MARKS.items()})
"""The half-width marks whose full-width ones are known, for `str.translate`."""

_FINAL: Final = frozenset(TERMINATORS + STOPS)
_COMMAS: Final = frozenset("，,")
_HALF_MARKS: Final = frozenset(map(chr, FULL_WIDTH_MARKS))
# What a token has besides its text, as far as corpora have it; heads are numbers of other tokens.
_ATTRIBUTES: Final = (
    "LEMMA", "TAG", "POS", "MORPH", "DEP", "SENT_START", "ENT_IOB", "ENT_TYPE", "ENT_KB_ID",
    "ENT_ID",
)  # fmt: skip
# The tag of proper names, and the type of entity of the places within names of institutions.
_NAME: Final = "NR"
_PLACE: Final = "GPE"
# Values of token.ent_iob.
_INSIDE, _BEGINS = 1, 3


def create_text_variants(
    *,
    half_width: float = 0.2,
    no_final: float = 0.2,
    spaces: float = 0.1,
    traditional: float = 0.0,
    names: float = 0.0,
    name_lists: Mapping[str, str | Path] | None = None,
    keep: bool = True,
) -> Callable[[Language, Example], Iterator[Example]]:
    """Make the augmenter that writes gold Docs as people write them.

    Each setting is the probability, 0 to 1, of a change to a Doc; they are drawn independently, by
    the generator that spaCy's own augmenters use, which ``[training] seed`` fixes.

    half_width: full-width forms and marks and curly quotes become ASCII
        (`HALF_WIDTH_FORMS`); in a Doc without any, the marks ``,.!?:;()``
        that are tokens become full-width.
    no_final: marks at the end of the Doc, such as ``。`` and ``！``, are left out
        (`count_final_marks`).
    spaces: commas between words become spaces.
    traditional: simplified characters become traditional ones, each by itself, the first of
        OpenCC's.
    names: proper names become others of their type, drawn from `name_lists`: entities of one token,
        and places within longer entities that the list of places has, such as the first word of
        北京 大学.
    name_lists: a word list (`corpora.word_lists.read_word_list`) for each type of entity.
    keep: whether the Doc as it is comes first, and the variant, if there is one, is added. If not,
        it takes its place.

    Annotation follows. What hangs on a token that is left out hangs on its head; spans shrink, or
    go if nothing is left of them. Tokens stay that are roots with others below them, or of which it
    is not known where words end (`documents.UNKNOWN_WORDS`). Docs that do not know their spaces
    have no variants.
    Raises ValueError if a setting is no probability, if a list cannot be used, or if `names` is
    wanted without lists; ImportError if `traditional` is wanted and OpenCC is missing.
    """
    chances = {
        "half_width": half_width, "no_final": no_final, "spaces": spaces,
        "traditional": traditional, "names": names,
    }  # fmt: skip
    for name, chance in chances.items():
        if not 0 <= chance <= 1:
            raise ValueError(
                f"{name} = {chance} of spacy_structreg.text_variants.v1 is no probability; give a "
                "number from 0 to 1"
            )
    if names and not name_lists:
        raise ValueError(
            f"names = {names} of spacy_structreg.text_variants.v1 needs lists of names; give "
            "name_lists a file for each type of entity"
        )
    lists = {
        label: [entry.word for entry in read_word_list(Path(path))]
        for label, path in (name_lists or {}).items()
    }
    script = (
        opencc_script("s2t", f"traditional = {traditional}", "set it to 0") if traditional else None
    )

    def augment(nlp: Language, example: Example) -> Iterator[Example]:
        doc = example.reference
        drawn = {name for name, chance in chances.items() if random.random() < chance}
        words = [token.text for token in doc]
        spaces_after = [bool(token.whitespace_) for token in doc]
        gone: set[int] = set()
        if drawn and not doc.has_unknown_spaces:
            fixed = _fixed(doc)
            if "no_final" in drawn:
                gone |= _final_marks(doc, fixed)
            if "spaces" in drawn:
                for i in _commas(doc, gone) - fixed:
                    gone.add(i)
                    spaces_after[i] = True
            if "names" in drawn:
                words = _other_names(doc, words, lists)
            if "half_width" in drawn:
                words = _other_widths(words, _unknown(doc))
            if script is not None and "traditional" in drawn:
                words = list(map(script.normalize, words))
        changed = bool(gone) or words != [token.text for token in doc]
        if keep or not changed:
            yield example
        if changed:
            variant = _rewritten(doc, words, spaces_after, gone)
            yield Example(nlp.make_doc(variant.text), variant)

    return augment


# What is changed ---------------------------------------------------------------------------------


def _unknown(doc: Doc) -> set[int]:
    """The tokens of stretches in which words may end or not."""
    return {i for span in doc.spans.get(UNKNOWN_WORDS, ()) for i in range(span.start, span.end)}


def _fixed(doc: Doc) -> set[int]:
    """The tokens that must stay."""
    heads = {token.head.i for token in doc if token.has_head() and token.head.i != token.i}
    return _unknown(doc) | {i for i in heads if doc[i].head.i == i}


def count_final_marks(words: Sequence[str]) -> int:
    """Number of words at the end of a text that are final punctuation, which many people leave out.

    They are marks that end sentences, such as ``。`` and ``？！``; quotes and brackets are none,
    for those that open would be left over. The first word is none.
    """
    return sum(1 for _ in takewhile(_FINAL.issuperset, reversed(words[1:])))


def _final_marks(doc: Doc, fixed: Set[int]) -> set[int]:
    """The marks at the end of a Doc, but for the first word and what must stay."""
    found: set[int] = set()
    visible = visible_tokens(doc)
    n_marks = count_final_marks([token.text for token in visible])
    for token in reversed(visible[len(visible) - n_marks :]):
        if token.i in fixed:
            break
        found.add(token.i)
    return found


def _commas(doc: Doc, gone: Set[int]) -> set[int]:
    """The commas between the words of a Doc that are left."""
    visible = [token for token in visible_tokens(doc) if token.i not in gone]
    words = [token.i for token in visible if token.text not in _COMMAS]
    if not words:
        return set()
    return {
        token.i for token in visible if token.text in _COMMAS and words[0] < token.i < words[-1]
    }


def _other_names(doc: Doc, words: Sequence[str], lists: Mapping[str, Sequence[str]]) -> list[str]:
    """Words with other proper names; the same name of a Doc becomes the same other one."""
    places = frozenset(lists.get(_PLACE, ()))
    others: dict[tuple[str, str], str] = {}
    renamed = list(words)
    for entity in doc.ents:
        for token in entity:
            if token.tag_ != _NAME or _is_latin(token.text):
                continue
            label = entity.label_ if len(entity) == 1 else _PLACE
            if lists.get(label) and (len(entity) == 1 or token.text in places):
                key = label, token.text
                if key not in others:
                    others[key] = random.choice(lists[label])
                renamed[token.i] = others[key]
    return renamed


def _is_latin(text: str) -> bool:
    """Return True for names in ASCII, as handles and names of models are."""
    return text.isascii() or text.startswith("@")


def _other_widths(words: Sequence[str], unknown: Set[int]) -> list[str]:
    """Words with half-width forms; if there are no others, with full-width marks."""
    narrow = [word.translate(HALF_WIDTH_FORMS) for word in words]
    if narrow != list(words):
        return narrow
    return [
        word.translate(FULL_WIDTH_MARKS)
        if i not in unknown and _HALF_MARKS.issuperset(word)
        else word
        for i, word in enumerate(words)
    ]


# The Doc of it -----------------------------------------------------------------------------------


def _rewritten(doc: Doc, words: Sequence[str], spaces: Sequence[bool], gone: Set[int]) -> Doc:
    """A Doc with other words for its tokens, without some of these, and with all annotation.

    words, spaces: of all tokens; a token whose next one is gone takes on the space of that.
    """
    kept = [token for token in doc if token.i not in gone]
    # How many tokens are left before each, and before the end.
    place = list(accumulate((i not in gone for i in range(len(doc))), initial=0))
    spaced = [False] * len(kept)
    for i, space in enumerate(spaces):
        # The first token never goes.
        spaced[place[i + 1] - 1] |= space
    new = Doc(doc.vocab, words=[words[token.i] for token in kept], spaces=spaced)
    columns: dict[str, Any] = {name: doc.to_array([name]) for name in _ATTRIBUTES}
    # In their order: what one hands on to another that goes, that hands on.
    for i in sorted(gone):
        _hand_on(columns, i)
    heads = np.zeros(len(kept), dtype=np.int64)
    for row, token in enumerate(kept):
        head = _head_left(token, gone)
        if head is None:
            columns["DEP"][token.i] = 0
        else:
            heads[row] = place[head] - row
        if token.lemma_ == token.text:
            columns["LEMMA"][token.i] = doc.vocab.strings.add(words[token.i])
    values = [columns[name][[token.i for token in kept]] for name in _ATTRIBUTES]
    new.from_array(
        [*_ATTRIBUTES, "HEAD"], np.array([*values, heads.astype(np.uint64)]).T.astype(np.uint64)
    )
    for key, group in doc.spans.items():
        new.spans[key] = _rewritten_group(new, group, place)
    new.cats = dict(doc.cats)
    new.user_data = _rewritten_user_data(doc, new, place)
    return new


def _hand_on(columns: dict[str, Any], i: int) -> None:
    """Let the token after one that goes begin the sentence and the entity that this one began."""
    if i + 1 == len(columns["SENT_START"]):
        return
    if columns["SENT_START"][i] == 1:
        columns["SENT_START"][i + 1] = 1
    if columns["ENT_IOB"][i] == _BEGINS and columns["ENT_IOB"][i + 1] == _INSIDE:
        columns["ENT_IOB"][i + 1] = _BEGINS


def _head_left(token: Token, gone: Set[int]) -> int | None:
    """The head of a token, or the first above it that stays; None if there is none."""
    # No more steps than there are tokens: damaged Docs have heads that go in a circle.
    for _ in token.doc:
        if not token.has_head():
            break
        token = token.head
        if token.i not in gone:
            return token.i
    return None


def _rewritten_group(doc: Doc, group: SpanGroup, place: Sequence[int]) -> SpanGroup:
    """The spans of a group that have tokens left, in another Doc."""
    attrs = deepcopy(group.attrs)
    listed = attrs.get(HEADS)
    heads = listed if isinstance(listed, list) and len(listed) == len(group) else None
    spans: list[Span] = []
    heads_left: list[Any] = []
    for number, span in enumerate(group):
        begin, end = place[span.start], place[span.end]
        if begin == end:
            continue
        spans.append(Span(doc, begin, end, label=span.label, kb_id=span.kb_id, span_id=span.id))
        if heads is not None:
            head = heads[number]
            if isinstance(head, int) and span.start <= head < span.end:
                head = _phrase_head(doc, begin, end, place[head], place[head] == place[head + 1])
            heads_left.append(head)
    if heads is not None:
        attrs[HEADS] = heads_left
    return SpanGroup(doc, name=group.name, attrs=attrs, spans=spans)


def _phrase_head(doc: Doc, begin: int, end: int, at: int, is_gone: bool) -> int:
    """The head of a phrase: if it has gone, the word before it, or else the first one."""
    if not is_gone:
        return at
    words = [token.i for token in visible_tokens(doc[begin:end])] or [begin]
    return max((i for i in words if i < at), default=words[0])


def _rewritten_user_data(doc: Doc, new: Doc, place: Sequence[int]) -> dict[Any, Any]:
    """Other annotation of a Doc, with the values of extensions at their tokens and spans."""
    found: dict[Any, Any] = {}
    first = {token.idx: token.i for token in doc}
    last = {token.idx + len(token): token.i + 1 for token in doc}
    for key, value in doc.user_data.items():
        if not (isinstance(key, tuple) and len(key) == 4 and key[0] == "._." and key[2] in first):
            found[key] = value
            continue
        _, name, start, stop = key
        i = first[start]
        begin, end = place[i], place[i + 1 if stop is None else last.get(stop, i + 1)]
        if begin < end:
            span = new[begin:end]
            found["._.", name, span.start_char, None if stop is None else span.end_char] = value
    return found
