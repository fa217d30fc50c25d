"""Gold sentences of corpora of any format, by the format that is named or found in the file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, chain, groupby, islice, pairwise
from pathlib import Path
from typing import Any, TypeAlias

from spacy_structreg.corpora.annotated import AnnotatedSentence, LabeledSpan, Phrase
from spacy_structreg.corpora.brackets import marks_entities, trees_with_words
from spacy_structreg.corpora.classification import TEXT, is_json, read_classified
from spacy_structreg.corpora.columns import SKIPPED, read_columns
from spacy_structreg.corpora.conllu import NOTHING, Word, read_conllu, write_conllu
from spacy_structreg.corpora.conllu import Sentence as Rows
from spacy_structreg.corpora.constituents import ConstituencySentence, constituency_sentence
from spacy_structreg.corpora.corpus_errors import CorpusError
from spacy_structreg.corpora.corpus_options import (
    COLUMNS,
    LABEL,
    PARTIAL_SUFFIX,
    TEXT_COLUMNS,
    TREEBANK_SUFFIXES,
    WORD,
    Compounds,
    CorpusOptions,
    FormatName,
    HeadRuleSet,
    SchemeName,
    Spaces,
    split_part,
)
from spacy_structreg.corpora.dependencies import ROOT, find_circle
from spacy_structreg.corpora.dependency_relations import DEPENDENCY
from spacy_structreg.corpora.files import line_encoding
from spacy_structreg.corpora.formats import check_raw_lines, guess_format
from spacy_structreg.corpora.head_rules import HEAD_RULES
from spacy_structreg.corpora.labeling import Scheme, detect_scheme, spans_of
from spacy_structreg.corpora.partial_annotation import PartialSentence, read_partial, write_partial
from spacy_structreg.corpora.pfr import read_pfr, read_tagged
from spacy_structreg.corpora.segmentation import HAN, SPACED_HAN, read_segmented, write_segmented
from spacy_structreg.corpora.sentences import latin_spaces, split_words
from spacy_structreg.corpora.sighan import SighanFile, find_sighan, is_release, list_sighan
from spacy_structreg.corpora.sinica import sinica_sentences

__all__ = [
    "Tokenize",
    "find_format",
    "joined",
    "partial_sentence",
    "read_sentences",
    "sentence_of_tree",
    "treebank_sentences",
    "write_sentences",
]

Tokenize: TypeAlias = Callable[[str], tuple[list[str], list[bool]]]
"""The words of a text, and whether a space follows each."""

# universaldependencies.org/u/pos, and CONJ of version 1; spaCy knows these and refuses others.
UNIVERSAL_TAGS = frozenset(
    [
        *("ADJ", "ADP", "ADV", "AUX", "CCONJ", "CONJ", "DET", "INTJ", "NOUN", "NUM", "PART"),
        *("PRON", "PROPN", "PUNCT", "SCONJ", "SYM", "VERB", "X"),
    ]
)


def find_format(path: Path, options: CorpusOptions) -> FormatName:
    """The format of a corpus, looked for in the file if the options do not name it.

    spaCy's binary format is known by the name of the file. Raises ValueError (CorpusError with
    file and line, for text) if the format cannot be told, and if options are given that the format
    does not have; OSError as `open`.
    """
    format = options.format
    if format is FormatName.auto:
        if path.suffix == ".spacy":
            format = FormatName.spacy
        elif is_json(path) or TEXT in (options.columns or ()):
            format = FormatName.classified
        elif options.columns is not None:
            format = FormatName.columns
        else:
            format = FormatName(guess_format(path, encoding=options.encoding))
    for name, given, of in (
        ("--days", options.days is not None, FormatName.pfr),
        ("--compounds merged", options.compounds is Compounds.merged, FormatName.pfr),
        ("--part", options.part is not None, FormatName.sighan),
        ("--spaces", options.spaces is Spaces.file, FormatName.conllu),
        ("--head-rules", options.head_rules is not None, FormatName.brackets),
        ("--scheme", options.scheme is not SchemeName.auto, FormatName.columns),
        ("--comments", options.comments is not None, FormatName.columns),
    ):
        if given and format is not of:
            raise ValueError(
                f"{path}: {name} is for the format {of.value}, but the file is read as "
                f"{format.value}; leave the option out, or name the format with --format"
            )
    if options.columns is not None and format not in (
        FormatName.columns,
        FormatName.classified,
    ):
        raise ValueError(
            f"{path}: --columns is for files of columns and of classified texts, but the file is "
            f"read as {format.value}; leave the option out, or name the format with --format"
        )
    if format is FormatName.columns and options.columns is None:
        raise ValueError(f"{path}: name its columns, as in --columns word,tag,label")
    return format


def read_sentences(
    path: Path, options: CorpusOptions, tokenize: Tokenize
) -> Iterator[AnnotatedSentence]:
    """Yield the sentences of a corpus of any format but spaCy's own.

    tokenize: of classified texts.

    The spaces of CoNLL-U are those of `SpaceAfter` (`Spaces.file`), or none (`Spaces.none`).
    `Spaces.auto` follows the file, except when it never says `SpaceAfter=No` and yet has Han
    characters in words next to each other: Chinese treebanks from before UD 2 are like that, and by
    the rule of the format would have a space at every word boundary. A text whose spaces give its
    boundaries away is refused in any case. Those of columns are between all words but next to Han
    characters, or none. `Spaces.latin` puts them between Latin words alone, in every format.

    Raises ValueError (CorpusError with file and line, for text) for files that are not of the
    format or have no sentence, some of it at the end of the file only, and as `find_format`;
    OSError as `open`.
    """
    for sentence in _sentences(path, options, tokenize):
        if options.spaces is Spaces.latin:
            yield sentence._replace(spaces=latin_spaces(sentence.words))
        else:
            yield sentence


def _sentences(
    path: Path, options: CorpusOptions, tokenize: Tokenize
) -> Iterator[AnnotatedSentence]:
    """The same, with the spaces of the format."""
    format = find_format(path, options)
    if format is FormatName.columns:
        yield from read_labeled(path, options)
    elif format is FormatName.classified:
        yield from read_texts(path, options, tokenize)
    elif format is FormatName.conllu:
        yield from read_treebank(path, options)
    elif format is FormatName.pfr:
        yield from read_paragraphs(path, options)
    elif format is FormatName.sinica:
        yield from map(sentence_of_tree, sinica_sentences(path, encoding=options.encoding))
    elif format is FormatName.brackets:
        yield from read_trees(path, options.head_rules, options.encoding)
    elif format is FormatName.tagged:
        yield from map(sentence_of_pairs, read_tagged(path, encoding=options.encoding))
    elif format is FormatName.partial:
        for sentence in read_partial(path, encoding=options.encoding):
            yield sentence.annotated()
    elif format is FormatName.sighan and is_release(path):
        yield from map(AnnotatedSentence, find_part(path, options).sentences())
    else:
        yield from map(AnnotatedSentence, read_segmented(path, encoding=options.encoding))


def sentence_of_pairs(pairs: Iterable[tuple[str, str]]) -> AnnotatedSentence:
    """A sentence of words and tags."""
    words, tags = map(list, zip(*pairs, strict=True))
    return AnnotatedSentence(words, tags)


def read_trees(
    path: Path, head_rules: HeadRuleSet | None, encoding: str
) -> Iterator[AnnotatedSentence]:
    """Yield the words and tags of trees in brackets, and entities if the file marks any.

    With head rules, trees that are not flat have their constituents and heads, too.
    """
    rules = None if head_rules is None else HEAD_RULES[head_rules.value]
    marked = marks_entities(path, encoding=encoding)
    for tree in trees_with_words(path, encoding=encoding):
        parsed = None if rules is None else constituency_sentence(tree, rules)
        if parsed is None:
            sentence = sentence_of_pairs(tree.without_function_tags().tagged_words())
        else:
            sentence = sentence_of_tree(parsed)
        yield sentence._replace(entities=tree.entities() if marked else None)


def sentence_of_tree(tree: ConstituencySentence) -> AnnotatedSentence:
    """A phrase structure tree, with the dependency tree that its heads make."""
    heads = tree.heads()
    relations = tree.relations or [DEPENDENCY] * len(heads)
    return AnnotatedSentence(
        [*tree.words],
        [*tree.tags],
        heads=list(heads),
        deps=[
            "ROOT" if head == ROOT else relation
            for head, relation in zip(heads, relations, strict=True)
        ],
        constituents=[
            Phrase(each.label, each.begin, each.end, each.head) for each in tree.constituents
        ],
    )


def write_sentences(path: Path, sentences: Iterable[AnnotatedSentence]) -> None:
    """Write sentences in one step, by the name of the file.

    As CoNLL-U to `.conllu`, as partial annotation to `.partial`, else their words as segmented
    text. Raises ValueError for sentences of unknown words, but in partial annotation.
    """
    if path.name.lower().endswith(PARTIAL_SUFFIX):
        write_partial(path, map(partial_sentence, sentences))
        return
    sentences = map(_with_words, sentences)
    if path.name.lower().endswith(TREEBANK_SUFFIXES):
        write_conllu(path, chain.from_iterable(map(treebank_sentences, sentences)))
    else:
        write_segmented(path, (sentence.words for sentence in sentences))


def partial_sentence(sentence: AnnotatedSentence) -> PartialSentence:
    """The words and tags of a sentence, as far as they are known."""
    return PartialSentence.of_words(sentence.words, sentence.tags, sentence.unknown or ())


def _with_words(sentence: AnnotatedSentence) -> AnnotatedSentence:
    if sentence.unknown:
        raise ValueError(
            f"the words of {''.join(sentence.words)!r:.60} are known in part, which only .spacy "
            f"and {PARTIAL_SUFFIX} files can say; write one of these"
        )
    return sentence


# ---- Columns ----


def read_labeled(path: Path, options: CorpusOptions) -> Iterator[AnnotatedSentence]:
    """Yield the sentences of a column file; raises as `read_sentences`."""
    names = options.columns or ()
    kept = [name for name in names if name != SKIPPED]
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
        yield AnnotatedSentence(
            words,
            list(columns["tag"]) if "tag" in columns else None,
            pos if any(pos) else None,
            spaces=None if options.spaces is Spaces.none else spaces_between(words),
            bad_pos=sum(a != b for a, b in zip(given, pos, strict=True)),
            entities=spans if options.spans_key is None else None,
            chunks=None if options.spans_key is None else spans,
            spans_key=options.spans_key,
            extra={name: list(columns[name]) for name in kept if name not in COLUMNS} or None,
        )


def find_scheme(
    path: Path, corpus: Iterable[dict[str, tuple[str, ...]]], name: SchemeName
) -> Scheme:
    """The scheme of the labels of a corpus. Raises ValueError if they stand for no spans."""
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
    """For each word, True if a space follows: not the last one, nor next to a Han character."""
    is_han = re.compile(f"[{HAN}\u3000-\u303f\uff00-\uffef]").match
    between = [not is_han(left[-1]) and not is_han(right[0]) for left, right in pairwise(words)]
    return [*between, False]


def joined(sentences: Iterable[AnnotatedSentence], size: int) -> Iterator[AnnotatedSentence]:
    """Every `size` sentences of columns or CoNLL-U as one, which knows where they start.

    Sentences with a tree and such without are not put together.
    """
    for _, alike in groupby(sentences, key=lambda sentence: sentence.heads is None):
        while group := list(islice(alike, size)):
            yield group[0] if len(group) == 1 else join(group)


def join(group: Sequence[AnnotatedSentence]) -> AnnotatedSentence:
    """Sentences of words, tags, trees and labeled spans as one; all have a tree, or none has."""
    words = [word for each in group for word in each.words]
    firsts = [0, *accumulate(len(each.words) for each in group)]

    def flat(name: str) -> list[Any] | None:
        columns = [getattr(each, name) for each in group]
        if all(column is None for column in columns):
            return None
        # Of universal tags, a sentence may have none.
        parts = zip(group, columns, strict=True)
        return [value for each, column in parts for value in column or [""] * len(each.words)]

    def spans(name: str) -> list[LabeledSpan] | None:
        if getattr(group[0], name) is None:
            return None
        return [
            (first + start, first + end, label)
            for first, each in zip(firsts, group, strict=False)
            for start, end, label in getattr(each, name)
        ]

    spaces = flat("spaces")
    if spaces is not None:
        # The last word of a sentence may not say that a space follows.
        for last in (first - 1 for first in firsts[1:-1]):
            spaces[last] = spaces[last] or spaces_between(words[last : last + 2])[0]
    heads = None
    if group[0].heads is not None:
        heads = [
            head if head == ROOT else first + head
            for first, each in zip(firsts, group, strict=False)
            for head in each.heads or ()
        ]
    return AnnotatedSentence(
        words,
        flat("tags"),
        flat("pos"),
        heads,
        flat("deps"),
        spaces=spaces,
        starts=[index in firsts for index in range(len(words))],
        bad_tree=any(each.bad_tree for each in group),
        bad_pos=sum(each.bad_pos for each in group),
        entities=spans("entities"),
        chunks=spans("chunks"),
        spans_key=group[0].spans_key,
        extra={
            name: [value for each in group for value in (each.extra or {})[name]]
            for name in group[0].extra or ()
        }
        or None,
    )


# ---- Classified texts ----


def read_texts(
    path: Path, options: CorpusOptions, tokenize: Tokenize
) -> Iterator[AnnotatedSentence]:
    """Yield classified texts, in words of a tokenizer; raises as `read_sentences`."""
    columns = options.columns or TEXT_COLUMNS
    for text, category in read_classified(path, columns, encoding=options.encoding):
        words, spaces = tokenize(text)
        yield AnnotatedSentence(words, spaces=spaces, category=category)


# ---- PFR ----


def read_paragraphs(path: Path, options: CorpusOptions) -> Iterator[AnnotatedSentence]:
    """Yield the paragraphs of PFR; raises as `read_sentences`, and if none is of the days asked."""
    any_paragraph = False
    merge = options.compounds is Compounds.merged
    for paragraph in read_pfr(path, days=options.days, encoding=options.encoding):
        pairs = paragraph.tagged_words(merge=merge)
        words = [word for word, _ in pairs]
        starts = [index == 0 for sentence in split_words(words) for index, _ in enumerate(sentence)]
        any_paragraph = True
        yield AnnotatedSentence(words, [tag for _, tag in pairs], starts=starts)
    if not any_paragraph:
        raise ValueError(f"{path}: no paragraph of the days asked for; name other days")


# ---- SIGHAN 2005 ----


def find_part(path: Path, options: CorpusOptions) -> SighanFile:
    """The part of a release that the options name. Raises ValueError if there is no such part."""
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


def read_treebank(path: Path, options: CorpusOptions) -> Iterator[AnnotatedSentence]:
    """Yield the sentences of CoNLL-U; raises as `read_sentences`."""
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
        yield AnnotatedSentence(
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


def says_where_no_space(sentences: list[Rows]) -> bool:
    """True if a treebank ever says `SpaceAfter=No`."""
    return any(
        not all(word.space_after for word in sentence.words)
        or not all(token.space_after for token in sentence.multiwords)
        for sentence in sentences
    )


def is_spaced_out(sentence: Rows) -> bool:
    """True if the text of a sentence has a space between two Han characters."""
    return SPACED_HAN.search(sentence.raw_text()) is not None


def check_spaces(path: Path, sentences: list[Rows]) -> None:
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


def treebank_spaces(sentence: Rows) -> list[bool]:
    """For each word, True if a space follows; none does within a multi-word token."""
    spaces = [word.space_after for word in sentence.words]
    for token in sentence.multiwords:
        spaces[token.first - 1 : token.last] = [False] * (token.last - token.first)
        spaces.insert(token.last - 1, token.space_after)
    spaces[-1] = False
    return spaces


def tree_heads(sentence: Rows) -> list[int] | None:
    """The index of each word's head, `ROOT` for the root; None unless they are one tree.

    That is: every word has a head and a relation, one word is the root, and there is no cycle.
    Crossing arcs are allowed.
    """
    heads = [word.head - 1 for word in sentence.words if word.head is not None]
    if len(heads) < len(sentence.words) or NOTHING in sentence.deprels:
        return None
    if heads.count(ROOT) != 1 or find_circle(heads):
        return None
    return heads


def tree_relations(sentence: Rows) -> list[str]:
    """The relation of each word to its head; that of the root is ROOT, as spaCy has it."""
    return ["ROOT" if word.head == 0 else word.deprel for word in sentence.words]


def treebank_sentences(sentence: AnnotatedSentence) -> Iterator[Rows]:
    """The sentences of CoNLL-U for a sentence, of which a paragraph of several has several."""
    n = len(sentence.words)
    # Where there are spaces at all, one follows the sentence.
    spaces = [*sentence.spaces[:-1], True] if sentence.spaces else [False] * n
    firsts = [index for index, starts in enumerate(sentence.starts or [True]) if starts]
    for first, end in pairwise([*firsts, n]):
        rows = []
        for index in range(first, end):
            head = sentence.heads[index] if sentence.heads else None
            dep = sentence.deps[index] if sentence.deps else ""
            rows.append(
                Word(
                    sentence.words[index],
                    upos=(sentence.pos[index] if sentence.pos else "") or NOTHING,
                    xpos=(sentence.tags[index] if sentence.tags else "") or NOTHING,
                    head=None if head is None else 0 if head == ROOT else head - first + 1,
                    deprel="root" if head == ROOT else dep or NOTHING,
                    misc=NOTHING if spaces[index] else "SpaceAfter=No",
                )
            )
        yield Rows(tuple(rows))
