"""Texts with labeled spans of characters, as annotation tools export them, and their sentences."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

import srsly  # type: ignore[import-untyped]

from spacy_structreg.corpora.corpus_errors import CorpusError, shown
from spacy_structreg.corpora.corpus_options import CorpusOptions
from spacy_structreg.corpora.files import (
    BYTE_ORDER_MARK,
    DAMAGED,
    damaged,
    line_encoding,
    open_bytes,
    read_lines,
)
from spacy_structreg.corpora.sentence import Sentence

VISIBLE: Final = re.compile(r"\S")
LINE_BREAK: Final = re.compile(r"[\r\n]")
SURROGATE: Final = re.compile("[\ud800-\udfff]")
# The first object of a file is looked for in so many of its bytes.
BEGINNING: Final = 1 << 20


class TextSpan(NamedTuple):
    """A span of a text, from the character `begin` to before `end`."""

    begin: int
    end: int
    label: str


def sentences_of_text(text: str, spans: Iterable[TextSpan]) -> Iterator[Sentence]:
    """Yield the lines of a text that are not blank, with the spans as their entities.

    The words are known in part: they end at white space and at the ends of spans. A line break
    within a span counts as a space; white space at the ends of spans does not belong to them.
    Raises ValueError for a text without a visible character or with lone surrogates, and for spans
    that are out of it, are blank, have no label, or overlap.
    """
    if not text.strip() or SURROGATE.search(text):
        raise ValueError(f"the text {shown(text)} is blank or has a lone surrogate; leave it out")
    chosen = _checked(text, spans)
    begins = [span.begin for span in chosen]
    cuts = []
    for match in LINE_BREAK.finditer(text):
        before = bisect_left(begins, match.start())
        if not before or chosen[before - 1].end <= match.start():
            cuts.append(match.end())
    rest = iter([*chosen, None])
    span = next(rest)
    for begin, end in pairwise([0, *cuts, len(text)]):
        places = [match.start() for match in VISIBLE.finditer(text, begin, end)]
        if not places:
            continue
        index = {place: number for number, place in enumerate(places)}
        entities: list[tuple[int, int, str]] = []
        while span is not None and span.begin < end:
            entities.append((index[span.begin], index[span.end - 1] + 1, span.label))
            span = next(rest)
        spaces = [after - place > 1 for place, after in pairwise(places)]
        known = {number + 1 for number, space in enumerate(spaces) if space}
        known |= {place for first, last, _ in entities for place in (first, last)}
        bounds = sorted({0, len(places), *known})
        yield Sentence(
            tuple(text[place] for place in places),
            spaces=(*spaces, False),
            entities=entities,
            unknown=tuple(each for each in pairwise(bounds) if each[1] - each[0] > 1),
        )


def _checked(text: str, spans: Iterable[TextSpan]) -> list[TextSpan]:
    """The spans without white space at their ends, sorted, each once."""
    found: set[TextSpan] = set()
    for begin, end, label in spans:
        if not 0 <= begin < end <= len(text):
            raise ValueError(
                f"the span {begin}-{end} {label!r:.40} is not within the text {shown(text)}, which "
                f"has {len(text)} characters; mend it"
            )
        if not label.strip() or SURROGATE.search(label):
            raise ValueError(
                f"the label {label!r:.40} of {shown(text[begin:end])} is blank or has a lone "
                "surrogate; rename it"
            )
        part = text[begin:end]
        if not part.strip():
            raise ValueError(f"a span {label!r:.40} of {shown(text)} is blank; remove it")
        leading = len(part) - len(part.lstrip())
        found.add(TextSpan(begin + leading, begin + len(part.rstrip()), label.strip()))
    chosen = sorted(found)
    for first, second in pairwise(chosen):
        if second.begin < first.end:
            raise ValueError(
                f"the spans {text[first.begin : first.end]!r:.40} {first.label} and "
                f"{text[second.begin : second.end]!r:.40} {second.label} overlap; keep one"
            )
    return chosen


def marked_text(sentence: Sentence) -> tuple[str, list[TextSpan]]:
    """The text of a sentence, and its entities, or the spans of its group if it has none."""
    spaces = sentence.spaces or (False,) * len(sentence.words)
    tokens = [word + " " * space for word, space in zip(sentence.words, spaces, strict=True)]
    ends = list(accumulate(map(len, tokens), initial=0))
    spans = sentence.chunks if sentence.entities is None else sentence.entities
    return "".join(tokens).rstrip(" "), [
        TextSpan(ends[first], ends[last - 1] + len(sentence.words[last - 1]), label)
        for first, last, label in spans or ()
    ]


# Files of JSON ------------------------------------------------------------------------------------


def parse_json(text: str | bytes) -> Any:
    """The value of JSON. Raises ValueError, also for what is nested too deeply."""
    try:
        return srsly.json_loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"this is no JSON ({error})") from error


def read_objects(path: Path, options: CorpusOptions) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a file of JSON lines, with the numbers of their lines.

    Raises CorpusError for lines that are none, and as `read_lines`.
    """
    for number, line in read_lines(path, encoding=options.encoding):
        if not line.strip():
            continue
        try:
            found = parse_json(line)
        except ValueError as error:
            raise CorpusError(path, number, f"{shown(line)}: {error}; mend the line") from error
        if not isinstance(found, dict):
            raise CorpusError(path, number, f"{shown(line)} is no object; write an object a line")
        yield number, found


def first_object(path: Path, encoding: str = "utf-8") -> Mapping[str, Any]:
    """The object of the first line of a file of JSON lines; an empty one if there is none.

    encoding: as of `read_lines`. Raises CorpusError for damaged or truncated compressed data.
    """
    try:
        with open_bytes(path) as stream:
            data = stream.read(BEGINNING)
        lines = data.decode(line_encoding(encoding), "replace").removeprefix(BYTE_ORDER_MARK)
        found = parse_json(next(line for line in lines.split("\n") if line.strip()))
    except DAMAGED as error:
        raise CorpusError(path, 1, damaged(error)) from error
    except (OSError, StopIteration, ValueError):
        # The reader of the format that is taken then says what is wrong.
        return {}
    return found if isinstance(found, dict) else {}


def string_of(found: Mapping[str, Any], *names: str) -> str:
    """The string of the first of these keys that an object has. Raises ValueError for none."""
    value = next((found[name] for name in names if name in found), None)
    if not isinstance(value, str):
        raise ValueError(f"there is no string under {' or '.join(map(repr, names))}; add it")
    return value


def span_of(begin: Any, end: Any, label: Any) -> TextSpan:
    """A span of values from JSON. Raises ValueError for values of other types."""
    if not (type(begin) is type(end) is int and isinstance(label, str)):
        raise ValueError(
            f"{[begin, end, label]!r:.80} is no span; it has two numbers of characters and the "
            "name of a label"
        )
    return TextSpan(begin, end, label)
