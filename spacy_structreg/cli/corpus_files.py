"""Gold sentences from files of any format that the commands read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import accumulate, islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from spacy.tokens import Doc
    from spacy.vocab import Vocab

    from spacy_structreg.corpora import conllu
    from spacy_structreg.corpora.constituents import ConstituencySentence
    from spacy_structreg.corpora.label_schemes import Scheme
    from spacy_structreg.corpora.sighan import SighanFile
    from spacy_structreg.pipeline.constituency_documents import Phrase
    from spacy_structreg.pipeline.labelling_documents import LabelledSpan

__all__ = [
    "Compounds",
    "CorpusFormat",
    "CorpusOptions",
    "HeadRuleSet",
    "SchemeName",
    "Sentence",
    "Spaces",
    "doc_of_sentence",
    "find_format",
    "parse_columns",
    "parse_days",
    "read_sentences",
    "split_part",
]

FORMATS_HELP = (
    "segmented: one sentence a line, words separated by white space; brackets: trees of the "
    "Chinese Treebank; sinica: trees of the Sinica Treebank, with their heads; conllu: Universal "
    "Dependencies; pfr: word/tag, as the People's Daily has it; tagged: word_TAG; sighan: a file, "
    "or with --part the folder or zip archive, of SIGHAN 2005; spacy: Docs, with their "
    'trees in the span group "constituents"; columns: a token a line, with what --columns names; '
    "classified: a text and its category a line, between tabs or as JSON (.jsonl); auto: by "
    "the extension (.spacy, .conllu, .mrg, .jsonl), else by --columns or the content"
)
COLUMNS_HELP = (
    "What stands in the columns of a file, such as word,tag,label: word; tag and pos, the tags of "
    "the corpus and universal ones; label, of entities or chunks; _, which is skipped. Of "
    "classified texts: text,category"
)
SCHEME_HELP = (
    "Columns: how labels stand for spans: bio, iob1, bioes (also BMES and BILOU) or io; auto: look "
    "at all of them"
)
COMMENTS_HELP = "Columns: how lines begin that are skipped between sentences, such as ###MEDLINE:"
SPANS_KEY_HELP = (
    "Columns: put what is labelled into this span group, such as chunks, and not among the entities"
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

# What columns may hold; the first of each there must be.
WORD, LABEL = "word", "label"
WORD_COLUMNS = (WORD, "tag", "pos", LABEL)
TEXT_COLUMNS = ("text", "category")
# The names of attributes that `pipeline.labelling_documents` reads and writes.
ENTS, SPANS = "ents", "spans"


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
    columns = "columns"
    classified = "classified"


class SchemeName(str, Enum):
    """How labels stand for spans (`corpora.label_schemes`); `auto` looks at them."""

    auto = "auto"
    bio = "bio"
    iob1 = "iob1"
    bioes = "bioes"
    io = "io"


class Compounds(str, Enum):
    """What the words of a bracketed compound of PFR are."""

    parts = "parts"
    merged = "merged"


class HeadRuleSet(str, Enum):
    """Head rules by their name; see `corpora.head_rules`."""

    ctb = "ctb"
    ptb = "ptb"


class Spaces(str, Enum):
    """Which spaces the text of a sentence has; `auto` is explained at `read_sentences`."""

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
    spaces: of CoNLL-U and columns.
    head_rules: of brackets, to take trees with their heads; None for words and tags alone.
    spans_key: of Docs, the span group of constituents. None, or a group that no Doc of a file has,
        stands for the usual one.
    columns, scheme, comments: of column files, and the first of classified texts; as
        `parse_columns` gives them.
    labels_key: the span group that labelled spans go to, of column files; None for entities. Of
        Docs, the one that they are read from; None for the usual one.
    lang: of classified texts, the language whose tokenizer parts them.
    """

    format: CorpusFormat = CorpusFormat.auto
    encoding: str = "utf-8"
    compounds: Compounds = Compounds.parts
    days: frozenset[int] | None = None
    part: str | None = None
    spaces: Spaces = Spaces.auto
    head_rules: HeadRuleSet | None = None
    spans_key: str | None = None
    columns: tuple[str, ...] | None = None
    scheme: SchemeName = SchemeName.auto
    comments: str | None = None
    labels_key: str | None = None
    lang: str = "xx"


class Sentence(NamedTuple):
    """A gold sentence (of PFR, a paragraph): its words, and what else the format has of each.

    tags, pos: language-specific and universal; "" for nothing. heads: the index of each word's
    head, the root's being itself. spaces: whether one follows in text; None for nowhere.
    starts: whether a sentence starts at the word; None for the first one alone.
    bad_tree: whether the heads of the file were left out because they are no tree. bad_pos: how
    many universal tags were left out because there are none of their names.
    constituents: over the words, of phrase structure trees.
    entities, chunks: first word, first word after, label; None if they are not known. category: of
    the text.
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
    entities: list[LabelledSpan] | None = None
    chunks: list[LabelledSpan] | None = None
    category: str | None = None


def find_format(path: Path, options: CorpusOptions) -> CorpusFormat:
    """The format of a corpus, looked for in the file if the options do not name it.

    Spacy's binary format is known by the name of the file. Raises ValueError (CorpusError with
    file and line, for text) if the format cannot be told, and if options are given that the format
    does not have; OSError as `open`.
    """
    from spacy_structreg.corpora.classified import TEXT, is_json
    from spacy_structreg.corpora.formats import guess_format

    format = options.format
    if format is CorpusFormat.auto:
        if path.suffix == ".spacy":
            format = CorpusFormat.spacy
        elif is_json(path) or TEXT in (options.columns or ()):
            format = CorpusFormat.classified
        elif options.columns is not None:
            format = CorpusFormat.columns
        else:
            format = CorpusFormat(guess_format(path, encoding=options.encoding))
    for name, given, of in (
        ("--days", options.days is not None, CorpusFormat.pfr),
        ("--compounds merged", options.compounds is Compounds.merged, CorpusFormat.pfr),
        ("--part", options.part is not None, CorpusFormat.sighan),
        ("--spaces", options.spaces is Spaces.file, CorpusFormat.conllu),
        ("--head-rules", options.head_rules is not None, CorpusFormat.brackets),
        ("--scheme", options.scheme is not SchemeName.auto, CorpusFormat.columns),
        ("--comments", options.comments is not None, CorpusFormat.columns),
    ):
        if given and format is not of:
            raise ValueError(
                f"{path}: {name} is for the format {of.value}, but the file is read as "
                f"{format.value}; leave the option out, or name the format with --format"
            )
    if options.columns is not None and format not in (
        CorpusFormat.columns,
        CorpusFormat.classified,
    ):
        raise ValueError(
            f"{path}: --columns is for files of columns and of classified texts, but the file is "
            f"read as {format.value}; leave the option out, or name the format with --format"
        )
    if format is CorpusFormat.columns and options.columns is None:
        raise ValueError(f"{path}: name its columns, as in --columns word,tag,label")
    return format


def read_sentences(path: Path, options: CorpusOptions | None = None) -> Iterator[Sentence]:
    """Yield the sentences of a corpus; those of a `.spacy` file are its Docs.

    White space within the tokens of Docs, and tokens of nothing else, are left out.

    The spaces of CoNLL-U are those of `SpaceAfter` (`Spaces.file`), or none (`Spaces.none`).
    `Spaces.auto` follows the file, except when it never says `SpaceAfter=No` and yet has Han
    characters in words next to each other: Chinese treebanks from before UD 2 are like that, and by
    the rule of the format would have a space at every word boundary. A text whose spaces give its
    boundaries away is refused in any case. Those of columns are between all words but next to Han
    characters, or none.

    Raises ValueError (CorpusError with file and line, for text) for files that are not of the
    format or have no sentence, some of it at the end of the file only, and as `find_format`;
    OSError as `open`.
    """
    from spacy_structreg.corpora.sighan import is_release

    options = options or CorpusOptions()
    format = find_format(path, options)
    if format is CorpusFormat.spacy:
        yield from read_docs(path, options.spans_key, options.labels_key)
    elif format is CorpusFormat.columns:
        yield from read_labelled(path, options)
    elif format is CorpusFormat.classified:
        yield from read_texts(path, options)
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


# ---- Columns ----


def parse_columns(text: str | None) -> tuple[str, ...] | None:
    """The names of columns from such as `word,tag,label`; None for None.

    Raises ValueError for anything else.
    """
    if text is None:
        return None
    names = tuple(text.split(","))
    known = WORD_COLUMNS if WORD in names else TEXT_COLUMNS
    given = [name for name in names if name != NOTHING]
    if set(given) - set(known) or len(set(given)) < len(given) or known[0] not in given:
        raise ValueError(
            f"--columns is {text!r}; name each column once, in the order of the file: "
            f"{', '.join(WORD_COLUMNS)} (word at least), or {' and '.join(TEXT_COLUMNS)}; "
            f"{NOTHING} for what is skipped"
        )
    return names


def read_labelled(path: Path, options: CorpusOptions) -> Iterator[Sentence]:
    """Yield the sentences of a column file; raises as `read_sentences`."""
    from spacy_structreg.corpora.columns import read_columns
    from spacy_structreg.corpora.label_schemes import spans_of

    names = options.columns or ()
    kept = [name for name in names if name != NOTHING]
    corpus = [
        dict(zip(kept, zip(*rows, strict=True), strict=True))
        for rows in read_columns(path, names, comments=options.comments, encoding=options.encoding)
    ]
    scheme = find_scheme(path, corpus, options.scheme) if LABEL in kept else None
    for columns in corpus:
        words = list(columns[WORD])
        spans = None
        if scheme is not None:
            try:
                spans = spans_of(columns[LABEL], scheme)
            except ValueError as error:
                raise ValueError(f"{path}: {error}") from error
        given = list(columns.get("pos", ()))
        pos = [tag if tag in UNIVERSAL_TAGS else "" for tag in given]
        yield Sentence(
            words,
            list(columns["tag"]) if "tag" in columns else None,
            pos if any(pos) else None,
            spaces=None if options.spaces is Spaces.none else spaces_between(words),
            bad_pos=sum(a != b for a, b in zip(given, pos, strict=True)),
            entities=spans if options.labels_key is None else None,
            chunks=None if options.labels_key is None else spans,
        )


def find_scheme(
    path: Path, corpus: Iterable[dict[str, tuple[str, ...]]], name: SchemeName
) -> Scheme:
    """The scheme of the labels of a corpus. Raises ValueError if they stand for no spans."""
    from spacy_structreg.corpora.label_schemes import detect_scheme

    if name is not SchemeName.auto:
        named: Scheme = name.value
        return named
    try:
        found = detect_scheme(columns[LABEL] for columns in corpus)
    except ValueError as error:
        raise ValueError(f"{path}: {error} with --scheme") from error
    if found is None:
        raise ValueError(
            f"{path}: the labels do not stand for spans: there is no O among them; name the column "
            "tag, or the scheme with --scheme"
        )
    return found


def spaces_between(words: Sequence[str]) -> list[bool]:
    """Whether a space follows each word: not the last one, nor next to a Han character."""
    from spacy_structreg.corpora.segmented import HAN

    is_han = re.compile(f"[{HAN}\u3000-\u303f\uff00-\uffef]").match
    between = [not is_han(left[-1]) and not is_han(right[0]) for left, right in pairwise(words)]
    return [*between, False]


def joined(sentences: Iterable[Sentence], size: int) -> Iterator[Sentence]:
    """Every `size` sentences of a column file as one, which knows where they start."""
    iterator = iter(sentences)
    while group := list(islice(iterator, size)):
        yield group[0] if len(group) == 1 else join(group)


def join(group: Sequence[Sentence]) -> Sentence:
    """Sentences of columns, that is of words, tags and labelled spans, as one."""
    words = [word for each in group for word in each.words]
    firsts = [0, *accumulate(len(each.words) for each in group)]

    def flat(name: str) -> list[Any] | None:
        columns = [getattr(each, name) for each in group]
        if all(column is None for column in columns):
            return None
        # Of universal tags, a sentence may have none.
        parts = zip(group, columns, strict=True)
        return [value for each, column in parts for value in column or [""] * len(each.words)]

    def spans(name: str) -> list[LabelledSpan] | None:
        if getattr(group[0], name) is None:
            return None
        return [
            (first + start, first + end, label)
            for first, each in zip(firsts, group, strict=False)
            for start, end, label in getattr(each, name)
        ]

    return Sentence(
        words,
        flat("tags"),
        flat("pos"),
        spaces=None if group[0].spaces is None else spaces_between(words),
        starts=[index in firsts for index in range(len(words))],
        bad_pos=sum(each.bad_pos for each in group),
        entities=spans("entities"),
        chunks=spans("chunks"),
    )


# ---- Classified texts ----


def read_texts(path: Path, options: CorpusOptions) -> Iterator[Sentence]:
    """Yield classified texts, in words of a tokenizer of spaCy's; raises as `read_sentences`."""
    import spacy

    from spacy_structreg.corpora.classified import read_classified

    try:
        make_doc = spacy.blank(options.lang).make_doc
    except ImportError as error:
        raise ValueError(
            f"spaCy has no language {options.lang!r}; choose one of its codes, such as en"
        ) from error
    columns = options.columns or TEXT_COLUMNS
    for text, category in read_classified(path, columns, encoding=options.encoding):
        doc = make_doc(text)
        yield Sentence(
            [token.text for token in doc],
            spaces=[bool(token.whitespace_) for token in doc],
            category=category,
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


def read_docs(
    path: Path, spans_key: str | None = None, labels_key: str | None = None
) -> Iterator[Sentence]:
    """Yield what there is of each Doc of a `.spacy` file that has any words.

    spans_key, labels_key: as of `CorpusOptions`. Raises as `read_sentences`.
    """
    import zlib

    from spacy.tokens import DocBin
    from spacy.vocab import Vocab

    from spacy_structreg.pipeline import labelling_documents
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
    labels_key = labels_key or labelling_documents.SPANS_KEY
    found = (sentence_of_doc(doc, spans_key, labels_key) for doc in docs)
    sentences = [sentence for sentence in found if sentence.words]
    if not sentences:
        raise ValueError(f"{path}: no Doc of the file has a word")
    yield from sentences


def sentence_of_doc(doc: Doc, spans_key: str, labels_key: str) -> Sentence:
    """The words of a Doc, as `gold_words` has them, and what it has of the rest.

    Dependency trees are left out unless all words have heads, and so are entities unless they are
    known of all, and categories unless there is one. Raises ValueError as `read_phrases`.
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
    categories = [category for category, value in doc.cats.items() if value == 1]
    return Sentence(
        words,
        tags if any(tags) else None,
        pos if any(pos) else None,
        heads if is_parsed else None,
        deps if is_parsed else None,
        starts=starts if sum(starts) > 1 else None,
        constituents=constituents,
        entities=word_spans(doc, ENTS, labels_key),
        chunks=word_spans(doc, SPANS, labels_key),
        category=categories[0] if len(categories) == 1 else None,
    )


def word_spans(doc: Doc, attribute: str, labels_key: str) -> list[LabelledSpan] | None:
    """Entities or spans over visible words; None unless they are known of all of them."""
    from spacy_structreg.pipeline.labelling_documents import known_tokens, spans_of_doc

    visible = [token.i for token in doc if not token.text.isspace()]
    known = known_tokens(doc, attribute, labels_key)
    if not visible or not all(known[i] for i in visible):
        return None
    index = {place: number for number, place in enumerate(visible)}
    return [
        (index[start], index[end - 1] + 1, label)
        for start, end, label in spans_of_doc(doc, attribute, labels_key)
    ]


def doc_of_sentence(
    vocab: Vocab,
    sentence: Sentence,
    spans_key: str | None = None,
    labels_key: str | None = None,
) -> Doc:
    """A Doc with all that there is of a sentence.

    spans_key: of the span group of constituents, labels_key: of labelled spans; None for the usual
    ones.
    """
    from spacy.tokens import Doc

    from spacy_structreg.pipeline import labelling_documents
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
    for attribute, spans in ((ENTS, sentence.entities), (SPANS, sentence.chunks)):
        if spans is not None:
            key = labels_key or labelling_documents.SPANS_KEY
            labelling_documents.write_spans(doc, spans, attribute, key, overwrite=True)
    if sentence.category is not None:
        doc.cats = {sentence.category: 1.0}
    return doc
