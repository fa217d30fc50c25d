r"""Universal Dependencies treebanks: the CoNLL-U format, version 2, and files of version 1.

A sentence is a block of lines, ended by a blank line; a word is a line of ten columns separated by
tabs: ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC, with `_` for nothing. The words are the
syntactic words (ID 1, 2, …). Lines of multi-word tokens (ID 1-2) give text its form, and are kept
beside the words; empty nodes (ID 1.1) are dropped, as UD's tools do. Comments (`# …`) stand before
the words and are optional. Entities stand in MISC as BIO labels, `NE=B-PER`, which spaCy's
`convert` reads as well.

Source: universaldependencies.org/format.html.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise
from pathlib import Path
from typing import Final, Literal

from spacy_structreg.corpora.corpus_errors import CorpusError, StrPath
from spacy_structreg.corpora.corpus_format import HALF, Format, share_of, universal_tags
from spacy_structreg.corpora.corpus_options import CorpusOptions, Spaces
from spacy_structreg.corpora.dependencies import ROOT, find_circle
from spacy_structreg.corpora.files import check_line_end, read_lines, write_texts
from spacy_structreg.corpora.formats.segmented import check_raw_lines
from spacy_structreg.corpora.labeling import OUTSIDE, labels_of, spans_of
from spacy_structreg.corpora.sentence import LabeledSpan, Sentence
from spacy_structreg.corpora.spacing import SPACED_HAN
from spacy_structreg.corpora.trees import bracket_of

N_COLUMNS = 10
NOTHING = "_"
COLUMNS = ["ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC"]

# Nine digits number more words than a file can hold, and keep `int` quick on hostile ones.
NUMBER = "[1-9][0-9]{0,8}"
WORD_ID = re.compile(NUMBER)
RANGE_ID = re.compile(f"({NUMBER})-({NUMBER})")
EMPTY_ID = re.compile(rf"(0|{NUMBER})\.({NUMBER})")
HEAD = re.compile(f"0|{NUMBER}")
ROW = re.compile("[0-9]+(?:[-.][0-9]+)?(?:\t[^\t]*){9}")
UNWRITABLE = re.compile("[\n\r\0\ud800-\udfff]")
ENTITY = re.compile(r"(?:^|\|)NE=([BIESLU]-[^|]+)")
COMMENT_VALUE = re.compile(r"#[ \t]*([^ \t=]+)[ \t]*=[ \t]*(.*)", re.DOTALL)


def _space_after(misc: str) -> bool:
    return "SpaceAfter=No" not in misc.split("|")


@dataclass(frozen=True, slots=True)
class Word:
    """A syntactic word: the columns of its line, as they stand in the file (`_` for nothing).

    form: of treebanks that name brackets, the bracket: `(` for `-LRB-`.
    head: the ID of the head, 0 for the root, None where the file has `_`.
    """

    form: str
    lemma: str = NOTHING
    upos: str = NOTHING
    xpos: str = NOTHING
    feats: str = NOTHING
    head: int | None = None
    deprel: str = NOTHING
    deps: str = NOTHING
    misc: str = NOTHING

    @property
    def space_after(self) -> bool:
        """True if text has a space after the word: unless MISC says `SpaceAfter=No`."""
        return _space_after(self.misc)


@dataclass(frozen=True, slots=True)
class MultiwordToken:
    """Text that is several syntactic words: the words with IDs `first` to `last`, both included.

    The other columns of its line, which hold nothing, are not kept. Raises ValueError unless
    1 ≤ first ≤ last.
    """

    first: int
    last: int
    form: str
    misc: str = NOTHING

    def __post_init__(self) -> None:
        if not 1 <= self.first <= self.last:
            raise ValueError(
                f"a multi-word token cannot cover the words {self.first} to {self.last}"
            )

    @property
    def space_after(self) -> bool:
        """Space after the token, as of `Word`; that of its words is ignored."""
        return _space_after(self.misc)


@dataclass(frozen=True, slots=True)
class TreebankSentence:
    """A sentence of a treebank.

    words: the syntactic words; the word with ID i is `words[i - 1]`.
    multiwords: from left to right, none overlapping another.
    comments: whole lines, each from its `#`.
    """

    words: tuple[Word, ...]
    multiwords: tuple[MultiwordToken, ...] = ()
    comments: tuple[str, ...] = ()

    @property
    def forms(self) -> list[str]:
        """The forms of the words."""
        return [word.form for word in self.words]

    @property
    def heads(self) -> list[int | None]:
        """The head of each word, as `Word.head`."""
        return [word.head for word in self.words]

    @property
    def deprels(self) -> list[str]:
        """The dependency relation of each word to its head."""
        return [word.deprel for word in self.words]

    def comment(self, key: str) -> str | None:
        """The value of the first comment `# key = value`, or None; keys have no spaces."""
        for line in self.comments:
            if (found := COMMENT_VALUE.fullmatch(line)) and found[1] == key:
                return found[2]
        return None

    @property
    def sent_id(self) -> str | None:
        """The comment `# sent_id = …`, or None."""
        return self.comment("sent_id")

    @property
    def text(self) -> str | None:
        """The comment `# text = …`, or None; `raw_text` makes the text from the words."""
        return self.comment("text")

    def raw_text(self, *, spaces: bool = True) -> str:
        """The text of the sentence, from the forms of its tokens and `SpaceAfter`.

        spaces: False leaves all spaces between tokens out. Treebanks of Chinese from before UD 2
        do not say `SpaceAfter=No` at all: by the rule of the format their text has a space after
        every word, which gives the word boundaries away.
        """
        covering = {token.first: token for token in self.multiwords}
        parts: list[str] = []
        index = 1
        while index <= len(self.words):
            token = covering.get(index)
            part = self.words[index - 1] if token is None else token
            parts.append(part.form)
            if spaces and part.space_after:
                parts.append(" ")
            index = index + 1 if token is None else token.last + 1
        if parts and parts[-1] == " ":
            parts.pop()
        return "".join(parts)


class _SentenceReader:
    """Takes the lines of one sentence; errors come with the line that is at fault."""

    def __init__(self, file: StrPath) -> None:
        self.file = file
        self.comments: list[str] = []
        self.words: list[Word] = []
        self.lines: list[int] = []
        self.multiwords: list[MultiwordToken] = []
        # Line of the last multi-word token; the last empty node since the last word.
        self.multiword_line = 0
        self.last_empty = 0

    def error(self, line: int, fault: str) -> CorpusError:
        return CorpusError(self.file, line, fault)

    @property
    def started(self) -> bool:
        return bool(self.comments or self.words or self.multiwords or self.last_empty)

    def take(self, number: int, line: str) -> None:
        """Take a line that is not blank."""
        check_line_end(line, self.file, number)
        if line.startswith("#"):
            if self.words or self.multiwords or self.last_empty:
                raise self.error(
                    number,
                    "a comment inside a sentence; comments stand before the words, and a blank "
                    "line ends each sentence",
                )
            self.comments.append(line)
            return
        columns = line.split("\t")
        if len(columns) != N_COLUMNS:
            raise self.error(
                number,
                f"{len(columns)} columns instead of {N_COLUMNS}; a word has the columns "
                f"{' '.join(COLUMNS)}, separated by single tabs",
            )
        if "" in columns:
            raise self.error(
                number,
                f"the column {COLUMNS[columns.index('')]} is empty; write _ for nothing",
            )
        identity = columns[0]
        if WORD_ID.fullmatch(identity):
            self._take_word(number, columns)
        elif found := RANGE_ID.fullmatch(identity):
            self._take_multiword(number, int(found[1]), int(found[2]), columns)
        elif found := EMPTY_ID.fullmatch(identity):
            self._take_empty(number, int(found[1]), int(found[2]))
        else:
            raise self.error(
                number,
                f"{identity!r} is no ID; words have 1, 2, …, multi-word tokens 1-2, empty nodes "
                "1.1",
            )

    def _take_word(self, number: int, columns: list[str]) -> None:
        expected = len(self.words) + 1
        if int(columns[0]) != expected:
            raise self.error(
                number,
                f"the ID {columns[0]} stands where {expected} must; words are numbered from 1, and "
                "a blank line ends each sentence",
            )
        head = columns[6]
        if head != NOTHING and not HEAD.fullmatch(head):
            raise self.error(
                number, f"the head {head!r} is no word; write its ID, 0 for the root, or _"
            )
        if head == columns[0]:
            raise self.error(number, "the word is its own head; name another word, or 0")
        _, form, lemma, upos, xpos, feats, _, deprel, deps, misc = columns
        self.words.append(
            Word(
                bracket_of(form),
                lemma,
                upos,
                xpos,
                feats,
                None if head == NOTHING else int(head),
                deprel,
                deps,
                misc,
            )
        )
        self.lines.append(number)
        self.last_empty = 0

    def _take_multiword(self, number: int, first: int, last: int, columns: list[str]) -> None:
        end = self.multiwords[-1].last if self.multiwords else 0
        if first != len(self.words) + 1 or not end < first <= last:
            raise self.error(
                number,
                f"the multi-word token {columns[0]} does not stand right before the words it "
                "covers, or covers words of another one",
            )
        self.multiwords.append(MultiwordToken(first, last, columns[1], columns[9]))
        self.multiword_line = number

    def _take_empty(self, number: int, word: int, node: int) -> None:
        if word != len(self.words) or node != self.last_empty + 1:
            raise self.error(
                number,
                f"the empty node {word}.{node} stands where {len(self.words)}.{self.last_empty + 1}"
                " must; empty nodes are numbered from 1 after each word",
            )
        self.last_empty = node

    def finish(self, number: int) -> TreebankSentence:
        """The sentence; `number` is the line that ends it."""
        if not self.words:
            raise self.error(
                number, "a sentence without words ends here; remove it or add its words"
            )
        n_words = len(self.words)
        for word, line in zip(self.words, self.lines, strict=True):
            if word.head is not None and word.head > n_words:
                raise self.error(
                    line,
                    f"the head {word.head} is out of range; the sentence has {n_words} words",
                )
        if self.multiwords and self.multiwords[-1].last > n_words:
            token = self.multiwords[-1]
            raise self.error(
                self.multiword_line,
                f"the multi-word token {token.first}-{token.last} is out of range; the sentence "
                f"has {n_words} words",
            )
        return TreebankSentence(tuple(self.words), tuple(self.multiwords), tuple(self.comments))


def read_conllu(path: StrPath, *, encoding: str = "utf-8") -> Iterator[TreebankSentence]:
    """Yield the sentences of a file one by one; see `read_lines` for files and encodings.

    Comments and the blank line at the end of the file may be missing; further blank lines (of
    spaces, too) are skipped. Forms and lemmas may hold spaces. Heads are checked to be words of the
    sentence, but not to form a tree.

    Raises CorpusError, besides the errors of `read_lines`, for a wrong number of columns, empty
    columns, IDs that are out of order, heads out of range, comments and carriage returns in the
    wrong place, sentences without words and files without sentences.
    """
    for sentence, _ in _read_with_lines(path, encoding):
        yield sentence


def _read_with_lines(path: StrPath, encoding: str) -> Iterator[tuple[TreebankSentence, list[int]]]:
    """The sentences of a file, each with the line numbers of its words."""
    sentence = _SentenceReader(path)
    any_sentence = False
    number = 1
    for number, line in read_lines(path, encoding=encoding):
        if line.strip(" "):
            sentence.take(number, line)
        elif sentence.started:
            yield sentence.finish(number), sentence.lines
            any_sentence = True
            sentence = _SentenceReader(path)
    if sentence.started:
        yield sentence.finish(number), sentence.lines
    elif not any_sentence:
        raise CorpusError(
            path,
            number,
            f"no sentence in the file; a word is a line of {N_COLUMNS} columns separated by tabs",
        )


def dependency_sentences(
    path: StrPath, *, column: Literal["xpos", "upos"] = "xpos", encoding: str = "utf-8"
) -> Iterator[Sentence]:
    """Yield the words of each sentence with their tags, heads and relations.

    Unlike `read`, also of trees that are annotated in part: heads and relations that are not (`_`)
    are None, and a sentence may have several roots.

    column: of the tags, those of the language or the universal ones. Raises, besides the errors of
    `read_conllu`, ValueError with the number of the sentence from 1 for a word that has none there,
    and CorpusError for heads that go in a circle, with the line of a word in it.
    """
    for number, (sentence, lines) in enumerate(_read_with_lines(path, encoding), start=1):
        heads = [
            None if head is None else ROOT if head == 0 else head - 1 for head in sentence.heads
        ]
        if circle := find_circle(heads):
            words = ", ".join(str(word + 1) for word in circle)
            raise CorpusError(
                path,
                lines[circle[0]],
                f"the heads of the words {words} go in a circle; correct one of them",
            )
        yield Sentence(
            tuple(sentence.forms),
            tuple(_tags(sentence, column, path, number)),
            tuple(heads),
            tuple(None if label == NOTHING else label for label in sentence.deprels),
        )


def _tags(sentence: TreebankSentence, column: str, path: StrPath, number: int) -> list[str]:
    """The tags of a sentence, which is the `number`th of the file."""
    if column not in ("xpos", "upos"):
        raise ValueError(f"{column!r} is no column of tags; take xpos or upos")
    tags = [word.xpos if column == "xpos" else word.upos for word in sentence.words]
    if NOTHING in tags:
        other = "upos" if column == "xpos" else "xpos"
        raise ValueError(
            f"{path}: the word {sentence.forms[tags.index(NOTHING)]!r} of sentence {number} "
            f"({sentence.sent_id or 'without sent_id'}) has no {column.upper()}; take the column "
            f"{other}, or leave the sentence out"
        )
    return tags


def write_conllu(
    path: StrPath, sentences: Iterable[TreebankSentence], *, encoding: str = "utf-8"
) -> int:
    """Write sentences so that `read_conllu` reads them back equal; return their number.

    The file is written in one step (`replace_text`). Raises ValueError for no sentences, and for a
    sentence that would not be read back: columns that are empty or hold tabs or line breaks, heads
    out of range, comments that do not start with `#`, and the like.
    """
    texts = (sentence_text(sentence, number) for number, sentence in enumerate(sentences))
    return write_texts(path, texts, encoding=encoding)


def sentence_text(sentence: TreebankSentence, index: int = 0) -> str:
    """The lines of a sentence, with the blank one that ends it.

    index: its number, from 0, for errors. Raises ValueError as `write_conllu`.
    """
    return "".join(f"{line}\n" for line in [*_sentence_lines(sentence, index), ""])


def _sentence_lines(sentence: TreebankSentence, index: int) -> list[str]:
    """The lines of a sentence, checked to be read back as the sentence; `index` counts from 0."""
    lines = list(sentence.comments)
    covering = {token.first: token for token in sentence.multiwords}
    blank = "\t".join([NOTHING] * 7)
    for number, word in enumerate(sentence.words, start=1):
        if token := covering.get(number):
            lines.append(f"{token.first}-{token.last}\t{token.form}\t{blank}\t{token.misc}")
        head = NOTHING if word.head is None else str(word.head)
        columns = (word.form, word.lemma, word.upos, word.xpos, word.feats, head, word.deprel)
        lines.append("\t".join((str(number), *columns, word.deps, word.misc)))
    # The reader is the one place that knows what a sentence may be.
    reader = _SentenceReader("")
    try:
        for number, line in enumerate(lines, start=1):
            if UNWRITABLE.search(line):
                raise CorpusError(
                    "",
                    number,
                    "a line break, NUL or lone surrogate in a word or comment; remove it",
                )
            if number <= len(sentence.comments) and not line.startswith("#"):
                raise CorpusError("", number, f"the comment {line!r} does not start with #")
            reader.take(number, line)
        read_back = reader.finish(len(lines))
    except CorpusError as error:
        raise ValueError(
            f"sentence {index} cannot be written as CoNLL-U: {error.fault} (line {error.line} of "
            "the sentence)"
        ) from error
    if read_back != sentence:
        raise ValueError(
            f"sentence {index} cannot be written as CoNLL-U: it would be read back as another one; "
            "columns must not hold tabs, and multi-word tokens must be in order and cover words"
        )
    return lines


def read(path: Path, options: CorpusOptions) -> Iterator[Sentence]:
    """Yield the sentences of CoNLL-U; raises as `read_conllu`.

    The spaces are those of `SpaceAfter` (`Spaces.file`), or none (`Spaces.none`). `Spaces.auto`
    follows the file, except when it never says `SpaceAfter=No` and yet has Han characters in words
    next to each other: Chinese treebanks from before UD 2 are like that, and by the rule of the
    format would have a space at every word boundary. A text whose spaces give its boundaries away
    is refused in any case.
    """
    sentences = list(read_conllu(path, encoding=options.encoding))
    keep = options.spaces is not Spaces.none
    if options.spaces is Spaces.auto:
        keep = says_where_no_space(sentences) or not any(map(is_spaced_out, sentences))
    if keep:
        check_spaces(path, sentences)
    has_entities = any(ENTITY.search(word.misc) for each in sentences for word in each.words)
    for sentence in sentences:
        heads = tree_heads(sentence)
        has_heads = any(head is not None for head in sentence.heads)
        tags = tuple(known(word.xpos) for word in sentence.words)
        pos, bad_pos = universal_tags(known(word.upos) for word in sentence.words)
        yield Sentence(
            tuple(sentence.forms),
            tags if any(tags) else (),
            heads or (),
            () if heads is None else tree_relations(sentence),
            pos,
            tuple(treebank_spaces(sentence)) if keep else (),
            entities=entities_of(sentence) if has_entities else None,
            bad_tree=has_heads and heads is None,
            bad_pos=bad_pos,
        )


def entities_of(sentence: TreebankSentence) -> list[LabeledSpan]:
    """The entities that MISC names, in words."""
    found = [ENTITY.search(word.misc) for word in sentence.words]
    return spans_of([OUTSIDE if each is None else each[1] for each in found], "bioes")


def known(column: str) -> str:
    """A column of CoNLL-U; "" for nothing."""
    return "" if column == NOTHING else column


def says_where_no_space(sentences: list[TreebankSentence]) -> bool:
    """True if a treebank ever says `SpaceAfter=No`."""
    return any(
        not all(word.space_after for word in sentence.words)
        or not all(token.space_after for token in sentence.multiwords)
        for sentence in sentences
    )


def is_spaced_out(sentence: TreebankSentence) -> bool:
    """True if the text of a sentence has a space between two Han characters."""
    return SPACED_HAN.search(sentence.raw_text()) is not None


def check_spaces(path: Path, sentences: list[TreebankSentence]) -> None:
    """Raise ValueError if the spaces of a treebank give its words away."""
    try:
        check_raw_lines((sentence.raw_text() for sentence in sentences), path)
    except CorpusError as error:
        # Its lines are sentences here.
        raise ValueError(
            f"{path}: by SpaceAfter, the text has a space between Han words in sentence "
            f"{error.line} and many more, which gives word boundaries away; leave the spaces out "
            "with --spaces none"
        ) from error


def treebank_spaces(sentence: TreebankSentence) -> list[bool]:
    """For each word, True if a space follows; none does within a multi-word token."""
    spaces = [word.space_after for word in sentence.words]
    for token in sentence.multiwords:
        spaces[token.first - 1 : token.last] = [False] * (token.last - token.first)
        spaces.insert(token.last - 1, token.space_after)
    spaces[-1] = False
    return spaces


def tree_heads(sentence: TreebankSentence) -> tuple[int, ...] | None:
    """The index of each word's head, `ROOT` for the root; None unless they are one tree.

    That is: every word has a head and a relation, one word is the root, and there is no cycle.
    Crossing arcs are allowed.
    """
    heads = [word.head - 1 for word in sentence.words if word.head is not None]
    if len(heads) < len(sentence.words) or NOTHING in sentence.deprels:
        return None
    if heads.count(ROOT) != 1 or find_circle(heads):
        return None
    return tuple(heads)


def tree_relations(sentence: TreebankSentence) -> tuple[str, ...]:
    """The relation of each word to its head; that of the root is ROOT, as spaCy has it."""
    return tuple("ROOT" if word.head == 0 else word.deprel for word in sentence.words)


def treebank_sentences(sentence: Sentence) -> Iterator[TreebankSentence]:
    """The sentences of CoNLL-U for a sentence, of which a paragraph of several has several.

    Each has its text as a comment, and entities in MISC. Raises ValueError for labels of entities
    with a vertical line.
    """
    n = len(sentence.words)
    if sentence.spaces:
        # Where there are spaces at all, one follows the sentence.
        sentence = replace(sentence, spaces=(*sentence.spaces[:-1], True))
    firsts = [index for index, starts in enumerate(sentence.starts or [True]) if starts]
    entities = labels_of(sentence.entities or (), n)
    for first, end in pairwise([*firsts, n]):
        part = sentence.part(first, end)
        nothing = (None,) * (end - first)
        columns = (part.tags, part.pos, part.heads, part.labels, part.spaces)
        found = TreebankSentence(
            tuple(
                Word(
                    word,
                    upos=pos or NOTHING,
                    xpos=tag or NOTHING,
                    head=None if head is None else head + 1,
                    deprel="root" if head == ROOT else label or NOTHING,
                    misc=_misc(entity, space=bool(space)),
                )
                for word, entity, tag, pos, head, label, space in zip(
                    part.words,
                    entities[first:end],
                    *(column or nothing for column in columns),
                    strict=True,
                )
            )
        )
        yield replace(found, comments=(f"# text = {found.raw_text()}",))


def _misc(entity: str, *, space: bool) -> str:
    if "|" in entity:
        raise ValueError(f"{entity!r}: labels of entities in CoNLL-U have no '|'; rename it")
    parts = ([] if entity == OUTSIDE else [f"NE={entity}"]) + ([] if space else ["SpaceAfter=No"])
    return "|".join(parts) or NOTHING


def write(path: Path, sentences: Iterable[Sentence]) -> None:
    """Write words, tags, trees and entities; raises as `write_conllu`, `treebank_sentences`."""
    write_conllu(path, chain.from_iterable(map(treebank_sentences, sentences)))


def is_conllu(lines: Sequence[str]) -> bool:
    """True if at least half of the rows have ten columns and an ID."""
    rows = [line for line in lines if not line.startswith("#")]
    return bool(rows) and share_of(ROW, rows) >= HALF


FORMAT: Final = Format(
    "conllu",
    "Universal Dependencies",
    rank=40,
    read=read,
    sniff=is_conllu,
    suffixes=(".conllu",),
    options=("spaces",),
    grouped=True,
    written_suffix=".conllu",
    write=write,
)
"""Name, recognition, reader and writer of the format."""
