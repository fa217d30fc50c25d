"""Gold sentences from files of any format that the commands read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from spacy.tokens import Doc
    from spacy.vocab import Vocab

    from spacy_structreg.corpora import conllu
    from spacy_structreg.corpora.constituents import ConstituencySentence
    from spacy_structreg.corpora.sighan import SighanFile
    from spacy_structreg.pipeline.constituency_documents import Phrase

__all__ = [
    "Compounds",
    "CorpusFormat",
    "CorpusOptions",
    "HeadRuleSet",
    "Sentence",
    "Spaces",
    "doc_of_sentence",
    "find_format",
    "parse_days",
    "read_sentences",
    "split_part",
]

FORMATS_HELP = (
    "segmented: one sentence a line, words separated by white space; brackets: trees of the "
    "Chinese Treebank; sinica: trees of the Sinica Treebank, with their heads; conllu: Universal "
    "Dependencies; pfr: word/tag, as the People's Daily has it; tagged: word_TAG; sighan: a file, "
    "or with --part the folder or zip archive, of SIGHAN 2005; spacy: Docs, with their "
    'trees in the span group "constituents"; auto: look at the file'
)
PART_HELP = "Corpus and part of a SIGHAN 2005 release: pku/training, msr/test, ..."
COMPOUNDS_HELP = "PFR: take bracketed compounds as their parts, or merged into one word"
DAYS_HELP = "PFR: only paragraphs of these days of the month, such as 1-24 or 1-7,15"
HEAD_RULES_HELP = (
    "Brackets: take the trees too, with heads by these rules, and the dependency trees that the "
    "heads make: ctb (Chinese Treebank) or ptb (Penn Treebank)"
)
ENCODING_HELP = "Encoding of the corpora (gb18030, cp950, big5hkscs, ...)"

# Of segmented text, where the name of a file has to tell.
TEXT_SUFFIXES = (".txt", ".txt.gz", ".txt.xz")

DAY_RANGES = re.compile("[0-9]{1,2}(?:-[0-9]{1,2})?(?:,[0-9]{1,2}(?:-[0-9]{1,2})?)*")
LAST_DAY = 31

# universaldependencies.org/u/pos, and CONJ of version 1; spaCy knows these and refuses others.
UNIVERSAL_TAGS = frozenset(
    [
        *("ADJ", "ADP", "ADV", "AUX", "CCONJ", "CONJ", "DET", "INTJ", "NOUN", "NUM", "PART"),
        *("PRON", "PROPN", "PUNCT", "SCONJ", "SYM", "VERB", "X"),
    ]
)
NOTHING = "_"


class CorpusFormat(str, Enum):
    """How a corpus is written; `auto` looks at the file."""

    auto = "auto"
    segmented = "segmented"
    brackets = "brackets"
    sinica = "sinica"
    conllu = "conllu"
    pfr = "pfr"
    tagged = "tagged"
    sighan = "sighan"
    spacy = "spacy"


class Compounds(str, Enum):
    """What the words of a bracketed compound of PFR are."""

    parts = "parts"
    merged = "merged"


class HeadRuleSet(str, Enum):
    """Head rules by their name; see `corpora.head_rules`."""

    ctb = "ctb"
    ptb = "ptb"


class Spaces(str, Enum):
    """Which spaces the text of a CoNLL-U sentence has; `auto` is explained at `read_sentences`."""

    auto = "auto"
    none = "none"
    file = "file"


@dataclass(frozen=True)
class CorpusOptions:
    """How a corpus is read.

    encoding: as `corpora.files.read_lines` takes it; of a SIGHAN release, another one than UTF-8
        asks for the files in their original encodings.
    compounds, days: of PFR; days of the month, None for all.
    part: of a SIGHAN release, such as `pku/test`.
    spaces: of CoNLL-U.
    head_rules: of brackets, to take trees with their heads; None for words and tags alone.
    spans_key: of Docs, the span group of constituents. None, or a group that no Doc of a file has,
        stands for the usual one.
    """

    format: CorpusFormat = CorpusFormat.auto
    encoding: str = "utf-8"
    compounds: Compounds = Compounds.parts
    days: frozenset[int] | None = None
    part: str | None = None
    spaces: Spaces = Spaces.auto
    head_rules: HeadRuleSet | None = None
    spans_key: str | None = None


class Sentence(NamedTuple):
    """A gold sentence (of PFR, a paragraph): its words, and what else the format has of each.

    tags, pos: language-specific and universal; "" for nothing. heads: the index of each word's
    head, the root's being itself. spaces: whether one follows in text; None for nowhere.
    starts: whether a sentence starts at the word; None for the first one alone.
    bad_tree: whether the heads of the file were left out because they are no tree. bad_pos: how
    many universal tags were left out because there are none of their names.
    constituents: over the words, of phrase structure trees.
    """

    words: list[str]
    tags: list[str] | None = None
    pos: list[str] | None = None
    heads: list[int] | None = None
    deps: list[str] | None = None
    spaces: list[bool] | None = None
    starts: list[bool] | None = None
    bad_tree: bool = False
    bad_pos: int = 0
    constituents: list[Phrase] | None = None


def find_format(path: Path, options: CorpusOptions) -> CorpusFormat:
    """The format of a corpus, looked for in the file if the options do not name it.

    Spacy's binary format is known by the name of the file. Raises ValueError (CorpusError with
    file and line, for text) if the format cannot be told, and if options are given that the format
    does not have; OSError as `open`.
    """
    from spacy_structreg.corpora.formats import guess_format

    format = options.format
    if format is CorpusFormat.auto:
        if path.suffix == ".spacy":
            format = CorpusFormat.spacy
        else:
            format = CorpusFormat(guess_format(path, encoding=options.encoding))
    for name, given, of in (
        ("--days", options.days is not None, CorpusFormat.pfr),
        ("--compounds merged", options.compounds is Compounds.merged, CorpusFormat.pfr),
        ("--part", options.part is not None, CorpusFormat.sighan),
        ("--spaces", options.spaces is Spaces.file, CorpusFormat.conllu),
        ("--head-rules", options.head_rules is not None, CorpusFormat.brackets),
    ):
        if given and format is not of:
            raise ValueError(
                f"{path}: {name} is for the format {of.value}, but the file is read as "
                f"{format.value}; leave the option out, or name the format with --format"
            )
    return format


def read_sentences(path: Path, options: CorpusOptions | None = None) -> Iterator[Sentence]:
    """Yield the sentences of a corpus; those of a `.spacy` file are its Docs.

    White space within the tokens of Docs, and tokens of nothing else, are left out.

    The spaces of CoNLL-U are those of `SpaceAfter` (`Spaces.file`), or none (`Spaces.none`).
    `Spaces.auto` follows the file, except when it never says `SpaceAfter=No` and yet has Han
    characters in words next to each other: Chinese treebanks from before UD 2 are like that, and by
    the rule of the format would have a space at every word boundary. A text whose spaces give its
    boundaries away is refused in any case.

    Raises ValueError (CorpusError with file and line, for text) for files that are not of the
    format or have no sentence, some of it at the end of the file only, and as `find_format`;
    OSError as `open`.
    """
    options = options or CorpusOptions()
    format = find_format(path, options)
    if format is CorpusFormat.spacy:
        yield from read_docs(path, options.spans_key)
    elif format is CorpusFormat.conllu:
        yield from read_treebank(path, options)
    elif format is CorpusFormat.pfr:
        yield from read_paragraphs(path, options)
    elif format is CorpusFormat.sinica:
        from spacy_structreg.corpora.sinica import sinica_sentences

        yield from map(sentence_of_tree, sinica_sentences(path, encoding=options.encoding))
    elif format is CorpusFormat.brackets and options.head_rules is not None:
        yield from read_trees(path, options.head_rules, options.encoding)
    elif format in (CorpusFormat.brackets, CorpusFormat.tagged):
        yield from read_pairs(path, format, options.encoding)
    elif format is CorpusFormat.sighan and is_release(path):
        yield from map(Sentence, find_part(path, options).sentences())
    else:
        from spacy_structreg.corpora.segmented import read_segmented

        yield from map(Sentence, read_segmented(path, encoding=options.encoding))


def read_pairs(path: Path, format: CorpusFormat, encoding: str) -> Iterator[Sentence]:
    """Yield the sentences of formats that have words and tags."""
    from spacy_structreg.corpora.brackets import tagged_sentences
    from spacy_structreg.corpora.pfr import read_tagged

    read = tagged_sentences if format is CorpusFormat.brackets else read_tagged
    for pairs in read(path, encoding=encoding):
        yield Sentence([word for word, _ in pairs], [tag for _, tag in pairs])


def read_trees(path: Path, head_rules: HeadRuleSet, encoding: str) -> Iterator[Sentence]:
    """Yield trees in brackets, with their heads by rules."""
    from spacy_structreg.corpora.constituents import constituency_sentences

    for tree in constituency_sentences(path, head_rules.value, encoding=encoding):
        yield sentence_of_tree(tree)


def sentence_of_tree(tree: ConstituencySentence) -> Sentence:
    """A phrase structure tree, with the dependency tree that its heads make."""
    from spacy_structreg.corpora.constituents import DEPENDENCY
    from spacy_structreg.corpora.dependencies import ROOT
    from spacy_structreg.pipeline.constituency_documents import Phrase

    heads = tree.heads()
    return Sentence(
        [*tree.words],
        [*tree.tags],
        heads=[index if head == ROOT else head for index, head in enumerate(heads)],
        deps=["ROOT" if head == ROOT else DEPENDENCY for head in heads],
        constituents=[
            Phrase(each.label, each.begin, each.end, each.head) for each in tree.constituents
        ],
    )


# ---- PFR ----


def read_paragraphs(path: Path, options: CorpusOptions) -> Iterator[Sentence]:
    """Yield the paragraphs of PFR; raises as `read_sentences`, and if none is of the days asked."""
    from spacy_structreg.corpora.pfr import read_pfr
    from spacy_structreg.corpora.sentences import split_words

    any_paragraph = False
    merge = options.compounds is Compounds.merged
    for paragraph in read_pfr(path, days=options.days, encoding=options.encoding):
        pairs = paragraph.tagged_words(merge=merge)
        words = [word for word, _ in pairs]
        starts = [index == 0 for sentence in split_words(words) for index, _ in enumerate(sentence)]
        any_paragraph = True
        yield Sentence(words, [tag for _, tag in pairs], starts=starts)
    if not any_paragraph:
        raise ValueError(f"{path}: no paragraph of the days asked for; name other days")


def parse_days(text: str | None) -> frozenset[int] | None:
    """Days of the month from such as `1-24` or `1-7,15`; None for None.

    Raises ValueError for anything else.
    """
    if text is None:
        return None
    days: set[int] = set()
    if DAY_RANGES.fullmatch(text):
        for part in text.split(","):
            first, _, last = part.partition("-")
            run = range(int(first), int(last or first) + 1)
            if not run or run[0] < 1 or run[-1] > LAST_DAY:
                days.clear()
                break
            days.update(run)
    if not days:
        raise ValueError(
            f"{text!r} is no choice of days; write days of the month from 1 to 31, such as 1-24 or "
            "1-7,15"
        )
    return frozenset(days)


# ---- SIGHAN 2005 ----


def is_release(path: Path) -> bool:
    """Whether a path is a folder or a zip archive; their files can be named alone, too."""
    import zipfile

    return path.is_dir() or zipfile.is_zipfile(path)


def split_part(part: str) -> tuple[str, str]:
    """Corpus and part from such as `pku/test`. Raises ValueError without the slash."""
    corpus, slash, name = part.partition("/")
    if not slash:
        raise ValueError(
            f"--part is {part!r}; write corpus and part of the release, such as pku/training or "
            "pku/test"
        )
    return corpus, name


def find_part(path: Path, options: CorpusOptions) -> SighanFile:
    """The part of a release that the options name. Raises ValueError if there is no such part."""
    from spacy_structreg.corpora.files import line_encoding
    from spacy_structreg.corpora.sighan import find_sighan, list_sighan

    original = None if line_encoding(options.encoding) == "utf-8" else True
    if options.part is None:
        there = [
            f"{file.corpus}/{file.part}"
            for file in list_sighan(path, original=original)
            if file.part in ("training", "test")
        ]
        raise ValueError(
            f"{path}: name the corpus and part of the release with --part; in it are "
            f"{', '.join(there) or 'none that is segmented'}"
        )
    found = find_sighan(path, *split_part(options.part), original=original)
    return found if original is None else replace(found, encoding=options.encoding)


# ---- CoNLL-U ----


def read_treebank(path: Path, options: CorpusOptions) -> Iterator[Sentence]:
    """Yield the sentences of CoNLL-U; raises as `read_sentences`."""
    from spacy_structreg.corpora.conllu import read_conllu

    sentences = list(read_conllu(path, encoding=options.encoding))
    keep = options.spaces is not Spaces.none
    if options.spaces is Spaces.auto:
        keep = says_where_no_space(sentences) or not any(map(is_spaced_out, sentences))
    if keep:
        check_spaces(path, sentences)
    for sentence in sentences:
        heads = tree_heads(sentence)
        has_heads = any(head is not None for head in sentence.heads)
        tags = [known(word.xpos) for word in sentence.words]
        given = [known(word.upos) for word in sentence.words]
        pos = [tag if tag in UNIVERSAL_TAGS else "" for tag in given]
        yield Sentence(
            sentence.forms,
            tags if any(tags) else None,
            pos if any(pos) else None,
            heads,
            None if heads is None else tree_relations(sentence),
            treebank_spaces(sentence) if keep else None,
            bad_tree=has_heads and heads is None,
            bad_pos=sum(a != b for a, b in zip(given, pos, strict=True)),
        )


def known(column: str) -> str:
    """A column of CoNLL-U; "" for nothing."""
    return "" if column == NOTHING else column


def says_where_no_space(sentences: list[conllu.Sentence]) -> bool:
    """Whether a treebank ever says `SpaceAfter=No`."""
    return any(
        not all(word.space_after for word in sentence.words)
        or not all(token.space_after for token in sentence.multiwords)
        for sentence in sentences
    )


def is_spaced_out(sentence: conllu.Sentence) -> bool:
    """Whether the text of a sentence has a space between two Han characters."""
    from spacy_structreg.corpora.segmented import SPACED_HAN

    return SPACED_HAN.search(sentence.raw_text()) is not None


def check_spaces(path: Path, sentences: list[conllu.Sentence]) -> None:
    """Raise ValueError if the spaces of a treebank give its words away."""
    from spacy_structreg.corpora.errors import CorpusError
    from spacy_structreg.corpora.formats import check_raw_lines

    try:
        check_raw_lines((sentence.raw_text() for sentence in sentences), path)
    except CorpusError as error:
        # Its lines are sentences here.
        raise ValueError(
            f"{path}: by SpaceAfter, the text has a space between Han words in sentence "
            f"{error.line} and many more, which gives word boundaries away; leave the spaces out "
            "with --spaces none"
        ) from error


def treebank_spaces(sentence: conllu.Sentence) -> list[bool]:
    """Whether a space follows each word; the words of a multi-word token have none between them."""
    spaces = [word.space_after for word in sentence.words]
    for token in sentence.multiwords:
        spaces[token.first - 1 : token.last] = [False] * (token.last - token.first)
        spaces.insert(token.last - 1, token.space_after)
    spaces[-1] = False
    return spaces


def tree_heads(sentence: conllu.Sentence) -> list[int] | None:
    """The index of each word's head, the root's being itself; None unless they are one tree.

    That is: every word has a head and a relation, one word is the root, and there is no cycle.
    Crossing arcs are allowed.
    """
    from spacy_structreg.corpora.dependencies import ROOT, find_circle

    heads = [word.head - 1 for word in sentence.words if word.head is not None]
    if len(heads) < len(sentence.words) or NOTHING in sentence.deprels:
        return None
    if heads.count(ROOT) != 1 or find_circle(heads):
        return None
    return [index if head == ROOT else head for index, head in enumerate(heads)]


def tree_relations(sentence: conllu.Sentence) -> list[str]:
    """The relation of each word to its head; that of the root is ROOT, as spaCy has it."""
    return ["ROOT" if word.head == 0 else word.deprel for word in sentence.words]


# ---- spaCy ----


def read_docs(path: Path, spans_key: str | None = None) -> Iterator[Sentence]:
    """Yield what there is of each Doc of a `.spacy` file that has any words.

    spans_key: as of `CorpusOptions`. Raises as `read_sentences`.
    """
    import zlib

    from spacy.tokens import DocBin
    from spacy.vocab import Vocab

    from spacy_structreg.pipeline.constituency_documents import SPANS_KEY

    data = path.read_bytes()
    try:
        docs = list(DocBin().from_bytes(data).get_docs(Vocab()))
    except (ValueError, KeyError, TypeError, EOFError, zlib.error) as error:
        raise ValueError(
            f"{path}: not a corpus in spaCy's binary format ({error}); make one with "
            "'python -m spacy structreg convert'"
        ) from error
    if spans_key is None or not any(spans_key in doc.spans for doc in docs):
        # That of `convert`.
        spans_key = SPANS_KEY
    sentences = [sentence for doc in docs if (sentence := sentence_of_doc(doc, spans_key)).words]
    if not sentences:
        raise ValueError(f"{path}: no Doc of the file has a word")
    yield from sentences


def sentence_of_doc(doc: Doc, spans_key: str) -> Sentence:
    """The words of a Doc, as `gold_words` has them, and what it has of tags, trees and sentences.

    Dependency trees are left out unless all words have heads. Raises ValueError as `read_phrases`.
    """
    from spacy_structreg.corpora.dependencies import ROOT
    from spacy_structreg.pipeline.constituency_documents import read_phrases, word_bounds
    from spacy_structreg.pipeline.documents import dependency_sentences

    words: list[str] = []
    tags: list[str] = []
    heads: list[int] = []
    deps: list[str] = []
    for sentence in dependency_sentences(doc):
        for index, (head, label) in enumerate(zip(sentence.heads, sentence.labels, strict=True)):
            if head is not None:
                heads.append(len(words) + (index if head == ROOT else head))
                deps.append(label or "")
        words += sentence.words
        tags += sentence.tags
    pos = [token.pos_ for token in doc if not token.text.isspace()]
    is_parsed = len(heads) == len(words)
    constituents = read_phrases(doc, spans_key)
    firsts = {first for first, _ in word_bounds(doc, constituents or [])}
    starts = [index in firsts for index in range(len(words))]
    return Sentence(
        words,
        tags if any(tags) else None,
        pos if any(pos) else None,
        heads if is_parsed else None,
        deps if is_parsed else None,
        starts=starts if sum(starts) > 1 else None,
        constituents=constituents,
    )


def doc_of_sentence(vocab: Vocab, sentence: Sentence, spans_key: str | None = None) -> Doc:
    """A Doc with all that there is of a sentence.

    spans_key: of the span group of constituents; None for the usual one.
    """
    from spacy.tokens import Doc

    from spacy_structreg.pipeline.constituency_documents import SPANS_KEY, write_phrases

    n = len(sentence.words)
    starts: list[bool | int | None] = [*(sentence.starts or (index == 0 for index in range(n)))]
    doc = Doc(
        vocab,
        words=sentence.words,
        spaces=sentence.spaces or [False] * n,
        tags=sentence.tags,
        pos=sentence.pos,
        heads=sentence.heads,
        deps=sentence.deps,
        # spaCy finds them in the tree if there is one.
        sent_starts=None if sentence.heads else starts,
    )
    if sentence.constituents is not None:
        write_phrases(doc, sentence.constituents, spans_key or SPANS_KEY)
    return doc
