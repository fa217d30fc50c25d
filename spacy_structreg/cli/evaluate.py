"""`structreg evaluate`: the official figures of a pipeline on a gold corpus."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from enum import Enum
from itertools import islice
from operator import and_
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spacy_structreg.cli.corpus_files import (
    COLUMNS_HELP,
    COMMENTS_HELP,
    COMPOUNDS_HELP,
    DAYS_HELP,
    ENCODING_HELP,
    FORMATS_HELP,
    HEAD_RULES_HELP,
    PART_HELP,
    SCHEME_HELP,
    Compounds,
    CorpusFormat,
    CorpusOptions,
    HeadRuleSet,
    SchemeName,
    Sentence,
    Spaces,
    doc_of_sentence,
    find_format,
    parse_columns,
    parse_days,
    read_sentences,
    split_part,
)
from spacy_structreg.cli.errors import user_errors
from spacy_structreg.cli.labels import labels_key, percent, print_types, score_labels
from spacy_structreg.cli.outputs import check_file

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

    from spacy_structreg.metrics.evalb import BracketScores
    from spacy_structreg.metrics.parsing import ParsingScores
    from spacy_structreg.metrics.segmentation import SegmentationScores
    from spacy_structreg.metrics.tagging import TaggingScores

__all__ = ["Given", "evaluate", "evaluate_command", "score_pipeline", "score_words"]


class Given(str, Enum):
    """What of the gold corpus a pipeline is given."""

    text = "text"
    words = "words"
    words_and_tags = "words,tags"


class ConventionsName(str, Enum):
    """What of constituents counts; see `metrics.evalb.CONVENTIONS`."""

    collins = "collins"
    plain = "plain"
    no_pu = "no_pu"


def evaluate_command(
    pipeline: Annotated[
        str, typer.Argument(metavar="PIPELINE", help="Folder or package of a trained pipeline")
    ],
    gold: Annotated[Path, typer.Argument(metavar="GOLD", help="Gold corpus")],
    *,
    given: Annotated[
        Given,
        typer.Option(
            "--gold",
            help="What the pipeline is given: text, which it segments (and tags and parses, if it "
            "does); words, which its pipes tag, parse and label; or words,tags, which they parse "
            "and label",
        ),
    ] = Given.text,
    format: Annotated[
        CorpusFormat, typer.Option("--format", "-f", help=FORMATS_HELP)
    ] = CorpusFormat.auto,
    train: Annotated[
        Path | None,
        typer.Option(
            "--train",
            help="Training corpus: its words are in the vocabulary. Of a SIGHAN 2005 release, the "
            "word list of the training set",
        ),
    ] = None,
    train_format: Annotated[
        CorpusFormat, typer.Option("--train-format", help="Format of the training corpus")
    ] = CorpusFormat.auto,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="JSON file to write the figures to")
    ] = None,
    threads: Annotated[
        int, typer.Option("--threads", "-t", min=1, help="Threads that segment side by side")
    ] = 1,
    encoding: Annotated[str, typer.Option("--encoding", "-e", help=ENCODING_HELP)] = "utf-8",
    compounds: Annotated[
        Compounds, typer.Option("--compounds", help=COMPOUNDS_HELP)
    ] = Compounds.parts,
    days: Annotated[str | None, typer.Option("--days", help=DAYS_HELP)] = None,
    part: Annotated[str | None, typer.Option("--part", help=PART_HELP)] = None,
    head_rules: Annotated[
        HeadRuleSet | None, typer.Option("--head-rules", help=HEAD_RULES_HELP)
    ] = None,
    columns: Annotated[str | None, typer.Option("--columns", help=COLUMNS_HELP)] = None,
    scheme: Annotated[SchemeName, typer.Option("--scheme", help=SCHEME_HELP)] = SchemeName.auto,
    comments: Annotated[str | None, typer.Option("--comments", help=COMMENTS_HELP)] = None,
    conventions: Annotated[
        ConventionsName,
        typer.Option(
            "--conventions",
            help="What of constituents counts. collins: as EVALB counts with COLLINS.prm; plain: "
            "all of them and all words; no_pu: without punctuation of the Chinese Treebank",
        ),
    ] = ConventionsName.collins,
    punctuation: Annotated[
        str | None,
        typer.Option(
            "--punctuation",
            help="The tags that punctuation bears, parted by spaces, for the figures of heads "
            "without it (*_nopunct): PU of the Chinese Treebank, \", . : '' ``\" of the Penn "
            "Treebank. Without the option, words of nothing but punctuation and symbols are left "
            "out",
        ),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say beside each figure what it is")
    ] = False,
) -> None:
    """Evaluate the words of a pipeline, their tags and their trees, against a gold corpus.

    The pipeline segments the characters of each gold sentence. Precision, recall and F are those
    of the SIGHAN bakeoffs; figures on words out of the vocabulary need --train. If corpus and
    pipeline have tags, joint figures count the words that are right with their tag; if they have
    trees as well, tag_f, uas_f and las_f count those that are right with tag, head, or head and
    label. Sentences in which a word lacks one of these count for words alone, and their number is
    printed. With --gold words, the pipes of the pipeline tag and parse the gold words: tag_acc is
    the share of right tags, dep_uas and dep_las are those of right heads and of right heads with
    their label; brackets_p, brackets_r and brackets_f are those of EVALB, with complete matches and
    crossing brackets, of all sentences and of those of up to 40 words. With --gold words,tags, the
    pipes parse words with gold tags. Of Docs, the gold trees are those in the span group of the
    pipe that finds constituents (spans_key); if there is none, those in "constituents". Of pipes
    that label, ents_p, ents_r and ents_f are the figures of entities or spans, of all and of each
    label, by their characters if the pipeline is given texts; label_acc is the share of right
    labels of anything else. cats_acc is the share of texts of the right category. Figures are
    printed in percent, and written as fractions of 1; but brackets_crossing is a number of
    brackets.
    """
    with user_errors():
        options = CorpusOptions(
            format,
            encoding,
            compounds,
            parse_days(days),
            part,
            Spaces.none,
            head_rules,
            columns=parse_columns(columns),
            scheme=scheme,
            comments=comments,
        )
        report = evaluate(
            pipeline,
            gold,
            options,
            given=given,
            train=train,
            train_format=train_format,
            output=output,
            n_threads=threads,
            conventions=conventions,
            punctuation=None if punctuation is None else frozenset(punctuation.split()),
        )
        print_table(report, explain=explain)
        for key in ("ents_per_type", "cats_f_per_type"):
            if report.get(key):
                print_types(report[key])
        if left_out := report["counts"].get("left_out"):
            typer.echo(f"Not wholly annotated, and counted for words alone: {left_out:,} sentences")
        if unscored := report["unscored"]:
            typer.echo(
                "Without --head-rules, brackets are words and tags alone: add it (ctb or ptb) to "
                f"score {', '.join(unscored)}"
            )
        if output is not None:
            typer.echo(f"Saved the figures to {output}")


def evaluate(
    pipeline: str,
    gold: Path,
    options: CorpusOptions | None = None,
    *,
    given: Given = Given.text,
    train: Path | None = None,
    train_format: CorpusFormat = CorpusFormat.auto,
    output: Path | None = None,
    n_threads: int = 1,
    conventions: ConventionsName = ConventionsName.collins,
    punctuation: AbstractSet[str] | None = None,
) -> dict[str, Any]:
    """Score a pipeline on a gold corpus; returns the report, and writes it to a file if asked.

    The figures are fractions of 1, under the keys of `metrics`: those of words, with joint ones if
    the gold corpus has tags and the pipeline tags, or with those of tags and trees if there are
    heads as well and it parses; or, of given words, those of tags and trees; and those of labels,
    spans and categories (`score_labels`), with those of each under ``ents_per_type`` and
    ``cats_f_per_type``. If there are these, the others are left out unless the pipeline has a
    tokenizer of ours, or pipes for what the corpus has. Beside them stand the counts behind them
    (``left_out`` sentences are not wholly annotated, and count for the figures of words alone), and
    what was evaluated on what; ``unscored`` names the pipes whose trees were not scored since those
    of brackets are not read without head rules.
    conventions: for the figures of constituents. punctuation: for those of heads without
    punctuation, the tags that it bears; None takes the words that `is_punctuation` says.
    options: of the gold corpus; encoding, compounds and the corpus of a SIGHAN release hold for the
    training corpus as well. Raises ValueError if no gold word has a tag of punctuation, and both
    ValueError and OSError as `read_sentences`, `load_pipeline` and `score_words`, and if the output
    cannot be written.
    """
    from dataclasses import asdict

    from spacy_structreg.about import __version__
    from spacy_structreg.cli.pipelines import (
        constituency_pipes,
        constituents_key,
        load_pipeline,
        parsing_pipes,
    )
    from spacy_structreg.metrics.evalb import BracketScores
    from spacy_structreg.pipeline.constituency_scorer import bracket_figures

    options = options or CorpusOptions()
    check_file(output, gold, train)
    options = replace(options, format=find_format(gold, options))
    nlp = load_pipeline(pipeline)
    # Gold trees and spans are where the pipeline would put its own, and where it was trained on
    # them. Without spaces, column files of most languages are no texts.
    options = replace(
        options,
        spans_key=constituents_key(nlp),
        labels_key=labels_key(nlp),
        spaces=Spaces.auto if options.format is CorpusFormat.columns else options.spaces,
    )
    sentences = list(read_sentences(gold, options))
    if punctuation is not None:
        check_punctuation(punctuation, sentences)
    vocabulary = None
    if train is not None:
        vocabulary = training_words(train, replace(options, format=train_format))
    labels = score_labels(
        nlp,
        labelled_docs(nlp, gold, sentences, options),
        words=given is not Given.text,
        tags=given is Given.words_and_tags,
    )
    scores: Sequence[SegmentationScores | TaggingScores | ParsingScores | BracketScores]
    if labels.figures and not has_more_to_score(nlp, sentences, given):
        scores = []
    elif given is Given.text:
        scores = [
            score_pipeline(nlp, sentences, vocabulary, n_threads=n_threads, punctuation=punctuation)
        ]
    else:
        scores = score_words(
            nlp,
            sentences,
            vocabulary,
            tags=given is Given.words_and_tags,
            conventions=conventions,
            punctuation=punctuation,
        )
    figures: dict[str, float | None] = {}
    counts: dict[str, Any] = {"sentences": len(sentences)}
    for part in scores:
        if isinstance(part, BracketScores):
            figures |= bracket_figures(part)
            counts["brackets"] = {"conventions": conventions.value, **asdict(part)}
        else:
            figures |= part.as_dict()
            counts |= asdict(part)
    figures |= labels.figures
    counts |= labels.counts
    unscored: list[str] = []
    if options.format is CorpusFormat.brackets and options.head_rules is None:
        # Of texts, constituents are not scored in any case.
        bracketing = [] if given is Given.text else [*constituency_pipes(nlp)]
        unscored = list(dict.fromkeys([*parsing_pipes(nlp), *bracketing]))
    report: dict[str, Any] = {
        **figures,
        "counts": counts,
        **labels.per_type,
        "pipeline": {
            "lang": nlp.meta["lang"],
            "name": nlp.meta["name"],
            "version": nlp.meta["version"],
        },
        "gold": gold.name,
        "given": given.value,
        "punctuation": None if punctuation is None else sorted(punctuation),
        "format": options.format.value,
        "head_rules": None if options.head_rules is None else options.head_rules.value,
        "unscored": unscored,
        "part": options.part,
        "days": None if options.days is None else sorted(options.days),
        "train": None if train is None else train.name,
        "spacy_structreg": __version__,
    }
    if output is not None:
        write_report(output, report)
    return report


def labelled_docs(
    nlp: Language, path: Path, sentences: Iterable[Sentence], options: CorpusOptions
) -> list[Doc]:
    """The Docs of a gold corpus, with all that is known of labels and categories.

    Raises ValueError as `read_references`.
    """
    from spacy_structreg.cli.pipelines import classifying_pipes, labelling_pipes
    from spacy_structreg.pipeline.readers import read_references

    if not labelling_pipes(nlp) and not classifying_pipes(nlp):
        return []
    if options.format is CorpusFormat.spacy:
        return list(read_references(nlp, path))
    return [
        doc_of_sentence(nlp.vocab, sentence, labels_key=options.labels_key)
        for sentence in sentences
    ]


def has_more_to_score(nlp: Language, sentences: Iterable[Sentence], given: Given) -> bool:
    """Whether a pipeline finds words, tags or trees that a gold corpus has, besides labels."""
    from spacy_structreg.cli.pipelines import constituency_pipes, parsing_pipes, tagging_pipes
    from spacy_structreg.pipeline.tokenizer import ModelTokenizer

    if given is Given.text:
        return isinstance(nlp.tokenizer, ModelTokenizer)
    tags = given is Given.words and bool(tagging_pipes(nlp))
    heads, trees = bool(parsing_pipes(nlp)), bool(constituency_pipes(nlp))
    return any(
        (tags and each.tags) or (heads and each.heads) or (trees and each.constituents)
        for each in sentences
    )


def check_punctuation(tags: AbstractSet[str], sentences: Iterable[Sentence]) -> None:
    """Raise ValueError if no word has one of these tags."""
    if not any(tag in tags for sentence in sentences for tag in sentence.tags or ()):
        raise ValueError(
            f"--punctuation is {' '.join(sorted(tags))!r}, but no word of the gold corpus has such "
            "a tag; name tags that it has, parted by spaces"
        )


def training_words(path: Path, options: CorpusOptions) -> set[str]:
    """The words of a training corpus: of a SIGHAN release those of its list; raises as `evaluate`.

    options: of the gold corpus, with the format of this one.
    """
    from spacy_structreg.corpora.files import line_encoding
    from spacy_structreg.corpora.sighan import is_release, training_vocabulary

    if options.part is not None and is_release(path):
        original = None if line_encoding(options.encoding) == "utf-8" else True
        corpus, _ = split_part(options.part)
        return set(squeezed(list(training_vocabulary(path, corpus, original=original))))
    # Training sets are taken whole.
    whole = replace(options, days=None, part=None, compounds=Compounds.parts, head_rules=None)
    whole = replace(whole, format=find_format(path, whole))
    if whole.format is CorpusFormat.pfr:
        whole = replace(whole, compounds=options.compounds)
    return {word for sentence in read_sentences(path, whole) for word in squeezed(sentence.words)}


def score_pipeline(
    nlp: Language,
    sentences: list[Sentence],
    vocabulary: set[str] | None = None,
    *,
    n_threads: int = 1,
    punctuation: AbstractSet[str] | None = None,
) -> SegmentationScores:
    """Segment the characters of each gold sentence, and score the words.

    vocabulary: the words of the training corpus. punctuation: as of `evaluate`.
    White space within words is left out on both sides. The scores are `JointScores` if there is a
    sentence whose words all have tags and the pipeline tags, or `TextParsingScores` if there is one
    whose words have heads as well and it parses; the sentences that are not wholly annotated count
    for the segmentation alone. Shows a progress bar on standard error, if that is a terminal.
    Raises ValueError if there are no words to score, the pipeline cannot segment, or its parser has
    not been trained.
    """
    from tqdm import tqdm

    from spacy_structreg.cli.pipelines import (
        parsing_pipes,
        processed,
        segmented,
        tagged,
        tags_texts,
    )
    from spacy_structreg.metrics.joint import score_joint
    from spacy_structreg.metrics.segmentation import score_segmentation
    from spacy_structreg.pipeline.parsing_scorer import score_texts

    gold = [squeezed(sentence.words) for sentence in sentences]
    if not any(gold):
        raise ValueError("the gold corpus has no words to score")
    texts = map("".join, gold)
    progress: Any = {"desc": "evaluate", "unit": " sentences", "total": len(gold), "disable": None}
    pairs = list(map(gold_tags, sentences))
    is_tagged_whole = [bool(words) and all(tag for _, tag in words) for words in pairs]
    with_tags = tags_texts(nlp) and any(is_tagged_whole)
    with_heads = (bool(sentence.heads) for sentence in sentences)
    if with_tags and parsing_pipes(nlp) and any(map(and_, is_tagged_whole, with_heads)):
        references = (doc_of_sentence(nlp.vocab, sentence) for sentence in sentences)
        with tqdm(processed(nlp, texts, n_threads=n_threads), **progress) as docs:
            pairs_of_docs = list(zip(references, docs, strict=True))
        check_found((doc for _, doc in pairs_of_docs), is_parsed, "head", parsing_pipes(nlp))
        return score_texts(pairs_of_docs, vocabulary, punctuation=punctuation)
    if with_tags:
        with tqdm(tagged(nlp, texts, n_threads=n_threads), **progress) as found:
            return score_joint(pairs, found, vocabulary)
    with tqdm(segmented(nlp, texts, n_threads=n_threads), **progress) as bar:
        return score_segmentation(gold, bar, vocabulary)


def score_words(
    nlp: Language,
    sentences: list[Sentence],
    vocabulary: set[str] | None = None,
    *,
    tags: bool = False,
    conventions: ConventionsName = ConventionsName.collins,
    punctuation: AbstractSet[str] | None = None,
) -> list[TaggingScores | ParsingScores | BracketScores]:
    """Let the pipes of a pipeline tag and parse the gold words, and score tags and trees.

    Parsers are given the gold sentences too.
    vocabulary: the words of the training corpus. tags: whether the pipeline is given gold tags;
    pipes that tag are left out then, and tags are not scored. Gold words without a tag or a head do
    not count. conventions: for the figures of constituents, which are those of the first pipe that
    finds any. punctuation: as of `evaluate`.
    Shows a progress bar on standard error, if that is a terminal. Raises ValueError if no pipe
    finds anything that the gold corpus has, one that does has not been trained, or a parser would
    be given no tags.
    """
    from spacy.tokens import Doc
    from tqdm import tqdm

    from spacy_structreg.cli.pipelines import (
        constituency_pipes,
        constituents_key,
        parsing_pipes,
        tagging_pipes,
    )
    from spacy_structreg.metrics.tagging import TaggingScorer
    from spacy_structreg.pipeline.constituency_scorer import score_brackets_of_docs
    from spacy_structreg.pipeline.documents import tagged_words
    from spacy_structreg.pipeline.parsing_scorer import score_trees

    bracketing = dict(islice(constituency_pipes(nlp).items(), 1))
    spans_key = constituents_key(nlp)
    gold = [doc_of_sentence(nlp.vocab, sentence, spans_key) for sentence in sentences]
    has_tags, has_heads = (any(map(has, gold)) for has in (is_tagged, is_parsed))
    attributes = [
        attribute
        for attribute in ("tag", "pos")
        if any(doc.has_annotation(attribute.upper()) for doc in gold)
    ]
    has_brackets = any(sentence.constituents for sentence in sentences)
    if tags and not attributes:
        raise ValueError("the gold corpus has no tags to give; write --gold words")
    if not (has_tags or has_heads or has_brackets):
        raise ValueError("the gold corpus has no tags to score, and no trees")
    taggers = [] if tags or not has_tags else tagging_pipes(nlp)
    heading = parsing_pipes(nlp) if has_heads else []
    if not has_brackets:
        bracketing = {}
    parsers = [*heading, *bracketing]
    if not taggers and not parsers:
        raise ValueError(
            f"no pipe of the pipeline {'parses' if tags else 'tags'} given words (a tokenizer tags "
            "the words that it finds itself), or the gold corpus has nothing to score it by (of "
            "trees in brackets, only with --head-rules); train one with "
            f"'init-config --task {'parse' if tags else 'tag'}', or give another --gold"
        )
    if parsers and attributes and not tags and not tagging_pipes(nlp, ("tag", "pos")):
        raise ValueError(
            "no pipe of the pipeline tags given words, so that its parser would see none of the "
            "tags that it learnt from; write --gold words,tags, or add a tagger"
        )
    words = (
        Doc(
            nlp.vocab,
            words=[token.text for token in doc],
            spaces=[False] * len(doc),
            tags=[token.tag_ for token in doc] if tags else None,
            pos=[token.pos_ for token in doc] if tags else None,
            # Who knows the words of a corpus knows its sentences.
            sent_starts=(
                [token.is_sent_start for token in doc]
                if parsers and doc.has_annotation("SENT_START")
                else None
            ),
        )
        for doc in gold
    )
    progress: Any = {"desc": "evaluate", "unit": " sentences", "total": len(gold), "disable": None}
    with nlp.select_pipes(disable=tagging_pipes(nlp, attributes) if tags else []):
        docs = list(tqdm(nlp.pipe(words), **progress))
    for names, has, what in (
        (taggers, is_tagged, "tag"),
        (heading, is_parsed, "head"),
        ([*bracketing], lambda doc: spans_key in doc.spans, "constituent"),
    ):
        if names:
            check_found(docs, has, what, names)
    pairs = list(zip(gold, docs, strict=True))
    scores: list[TaggingScores | ParsingScores | BracketScores] = []
    if taggers:
        scorer = TaggingScorer(vocabulary)
        for wanted, found in pairs:
            scorer.add(tagged_words(wanted), [tag for _, tag in tagged_words(found)])
        scores.append(scorer.scores())
    if heading:
        scores.append(score_trees(pairs, punctuation=punctuation))
    if bracketing:
        scores.append(score_brackets_of_docs(pairs, conventions.value, spans_key))
    return scores


def check_found(
    docs: Iterable[Doc], has: Callable[[Doc], bool], what: str, names: Sequence[str]
) -> None:
    """Raise ValueError if no Doc has what the pipes of these names find."""
    if not any(map(has, docs)):
        raise ValueError(f"the pipeline gave no {what} to any word; train {', '.join(names)} first")


def is_tagged(doc: Doc) -> bool:
    """Whether a word of a Doc has a tag."""
    return bool(doc.has_annotation("TAG"))


def is_parsed(doc: Doc) -> bool:
    """Whether a word of a Doc has a head."""
    return bool(doc.has_annotation("DEP"))


def gold_tags(sentence: Sentence) -> list[tuple[str, str]]:
    """The words of a sentence as `squeezed` has them, with their tags; "" where there is none."""
    tags = sentence.tags or [""] * len(sentence.words)
    pairs = (("".join(word.split()), tag) for word, tag in zip(sentence.words, tags, strict=True))
    return [(word, tag) for word, tag in pairs if word]


def squeezed(words: list[str]) -> list[str]:
    """Words without the white space in them, and without those that are nothing else."""
    return [word for word in ("".join(word.split()) for word in words) if word]


def print_table(report: dict[str, Any], *, explain: bool = False) -> None:
    """Print the figures of a report in percent; `-` stands for those that are not known.

    That of crossing brackets is their number in a sentence. explain: say what each is.
    """
    from wasabi import msg

    from spacy_structreg.metrics.glossary import SCORE_GLOSSARY

    # Figures stand before the counts behind them.
    rows = []
    for key, figure in report.items():
        if key == "counts":
            break
        is_number = key.startswith("brackets_crossing") and figure is not None
        row = (key, f"{figure:.2f}" if is_number else percent(figure))
        rows.append((*row, SCORE_GLOSSARY[key]) if explain else row)
    msg.table(rows, title=f"{report['gold']}, {report['counts']['sentences']:,} sentences")


def write_report(path: Path, report: dict[str, Any]) -> None:
    """Write a report as JSON, in one step."""
    from spacy_structreg.corpora.files import replace_text

    with replace_text(path) as stream:
        stream.write(json.dumps(report, ensure_ascii=False, indent=2) + "\n")
