"""Gold Docs scored for every task: how often they are read and processed, and by what words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import spacy
from looped import looped
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span

from spacy_structreg.cli.evaluate import GivenName, evaluate
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.metrics.figures import Counts
from spacy_structreg.pipeline import gold_docs
from spacy_structreg.pipeline.evaluation import evaluate_docs
from spacy_structreg.pipeline.parser import DEPENDENCIES
from spacy_structreg.pipeline.task import (
    Figures,
    Given,
    ScoreSettings,
    TaskPart,
    all_tasks,
    task_of,
)

WORDS = ["Mira", "sails", "home"]
TAGS = ["NNP", "VBZ", "RB"]


@pytest.fixture(scope="module")
def pipeline() -> Language:
    """A pipeline that tags, parses and labels, from one sentence."""
    nlp = spacy.blank("zh")
    tagger = nlp.add_pipe("structreg_tagger", config={"model": {"seed": 1}})
    tagger.estimator.fit([list(zip(WORDS, TAGS, strict=True))])
    parser = nlp.add_pipe("structreg_parser", config={"model": {"seed": 1}})
    tree = Sentence(tuple(WORDS), tuple(TAGS), (1, -1, 1), ("nsubj", "ROOT", "advmod"))
    parser.estimator.fit([tree])
    labeler = nlp.add_pipe("structreg_sequence_labeler", config={"model": {"seed": 1}})
    labeler.estimator.fit([[("Mira", "B-PER"), ("sails", "O"), ("home", "O")]])
    return nlp


def gold_doc(nlp: Language, spaces: list[bool]) -> Doc:
    heads = [1, 1, 1]
    deps = ["nsubj", "ROOT", "advmod"]
    doc = Doc(nlp.vocab, WORDS, spaces=spaces, tags=TAGS, heads=heads, deps=deps)
    doc.ents = [Span(doc, 0, 1, "PER")]
    return doc


@pytest.mark.parametrize(
    ("spaces", "n_runs"), [([False, False, False], 1), ([True, True, False], 2)]
)
def test_docs_are_processed_once_if_they_are_given_alike(
    pipeline: Language, spaces: list[bool], n_runs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    labeler: Any = pipeline.get_pipe("structreg_sequence_labeler")
    annotate = labeler._annotate

    def note(doc: Doc, labels: Any) -> None:
        seen.append(doc.text)
        annotate(doc, labels)

    monkeypatch.setattr(labeler, "_annotate", note)
    gold = [gold_doc(pipeline, spaces)]
    found = evaluate_docs(pipeline, gold, ScoreSettings(Given(words=True)), by_doc=True)
    assert len(seen) == n_runs
    for key in ("tag_acc", "dep_las", "ents_f"):
        assert found.figures[key] == 1.0
        ((n_gold, n_found, n_right),) = found.sentences[key]
        assert n_gold == n_found == n_right > 0
    # Gold Docs stay as they are.
    assert gold[0].text == "".join(
        word + " " * space for word, space in zip(WORDS, spaces, strict=True)
    )


def test_counts_of_docs_add_up_to_the_figures(pipeline: Language) -> None:
    """Of trees, that of the first sentence and two others."""
    gold = [
        Doc(pipeline.vocab, [*WORDS, "."], tags=[*TAGS, "."], heads=heads, deps=["x"] * 4)
        for heads in ([1, 1, 1, 1], [1, 1, 0, 2], [2, 2, 2, 0])
    ]
    found = evaluate_docs(pipeline, gold, ScoreSettings(Given(words=True)), by_doc=True)
    names = [f"dep_{name}" for name in ("uas", "las", "root", "nonroot", "complete")]
    keys = {*names, *(f"{name}_nopunct" for name in names)}
    assert keys == {key for key in found.sentences if key.startswith("dep_")}
    assert {key for key in found.main if key.startswith("dep_")} == {"dep_uas", "dep_las"}
    check_sums(found.sentences, found.figures)
    assert [counts.correct for counts in found.sentences["dep_root_nopunct"]] == [1, 1, 0]


def test_counts_of_texts_add_up_to_the_figures(pipeline: Language) -> None:
    """Of trees over words that are not those of the gold text."""
    vocab = pipeline.vocab
    pairs = [
        (
            Doc(
                vocab, ["我", "看", "书", "。"], tags=[*"PVNU"], heads=[1, 1, 1, 1], deps=["x"] * 4
            ),
            Doc(vocab, ["我", "看书", "。"], tags=[*"PVU"], heads=[1, 1, 0], deps=["x"] * 3),
        ),
        (
            Doc(vocab, ["你", "来", "了"], tags=[*"PVS"], heads=[1, 1, 1], deps=["x"] * 3),
            Doc(vocab, ["你", "来", "了"], tags=[*"PVV"], heads=[1, 1, 0], deps=["x", "y", "x"]),
        ),
    ]
    settings, part = ScoreSettings(), TaskPart(pipeline, "structreg_parser")
    whole = DEPENDENCIES.score(pairs, part, settings)
    apart = [DEPENDENCIES.score([pair], part, settings) for pair in pairs]
    names = ["tag_f", "uas_f", "las_f", "nonroot_f"]
    counted = whole.compared(further=True)
    assert counted.keys() == {*names, *(f"{name}_nopunct" for name in names)}
    check_sums(
        {key: [one.compared(further=True)[key] for one in apart] for key in counted},
        whole.as_dict(),
    )


def check_sums(sentences: dict[str, list[Counts]], figures: Figures) -> None:
    for key, counted in sentences.items():
        total = Counts(*map(sum, zip(*counted, strict=True)))
        assert figures[key] == pytest.approx(total.f), key


@pytest.mark.parametrize(("lang", "right"), [("en", 3), ("zh", 0)])
def test_text_keeps_its_spaces_where_words_are_written_with_them(lang: str, right: int) -> None:
    nlp = spacy.blank(lang, config={"nlp": {"tokenizer": {"@tokenizers": "spacy.Tokenizer.v1"}}})
    gold = gold_doc(nlp, [True, True, False])
    found = evaluate_docs(nlp, [gold])
    # Without spaces, a tokenizer that cuts at spaces finds one word.
    assert found.counts["segmentation"]["correct"] == right
    assert found.counts["segmentation"]["predicted"] == (3 if right else 1)


def test_a_corpus_is_read_once(
    pipeline: Language, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipeline.to_disk(tmp_path / "pipeline")
    path = tmp_path / "gold.spacy"
    DocBin(docs=[gold_doc(pipeline, [True, True, False])]).to_disk(path)
    reads: list[Path] = []
    read = gold_docs.read_docbin

    def counted(path: Path, vocab: Any) -> list[Doc]:
        reads.append(path)
        return read(path, vocab)

    monkeypatch.setattr(gold_docs, "read_docbin", counted)
    report = evaluate(str(tmp_path / "pipeline"), path, given=GivenName.words)
    assert report["dep_las"] == report["ents_f"] == 1.0
    assert reads == [path]


def test_partial_trees_count_as_far_as_they_are_known(pipeline: Language) -> None:
    doc = Doc(pipeline.vocab, WORDS, tags=TAGS, heads=[1, 1, 1], deps=["nsubj", "", ""])
    found = evaluate_docs(pipeline, [doc], ScoreSettings(Given(words=True)))
    assert found.counts["dependencies"]["labeled_words"] < 3


def test_components_name_their_tasks(pipeline: Language) -> None:
    named = [task_of(pipe) for _, pipe in pipeline.pipeline]
    assert [task.stem for task in named if task] == ["tagging", "dependencies", "labeling"]
    assert {*named} <= {*all_tasks()}
    assert task_of(pipeline.tokenizer) is None


@looped(
    ("labels", "counts", "left_out"),
    [
        # Gold, found, right; the labeler finds PER, the ruler finds PLACE.
        ({"PLACE"}, (1, 1, 1), ["structreg_sequence_labeler"]),
        ({"PER"}, (1, 1, 1), ["entity_ruler"]),
        ({"PER", "PLACE"}, (2, 2, 2), []),
        # Nothing tells of which pipe they speak.
        (set(), (0, 2, 0), []),
        ({"ORG"}, (1, 2, 0), []),
    ],
)
def test_entities_of_pipes_that_the_gold_docs_do_not_speak_of_do_not_count(
    pipeline: Language, labels: set[str], counts: tuple[int, int, int], left_out: list[str]
) -> None:
    places = {"PER": 0, "ORG": 1, "PLACE": 2}
    gold = gold_doc(pipeline, [True, True, False])
    gold.set_ents([Span(gold, places[each], places[each] + 1, each) for each in labels])
    ruler: Any = pipeline.add_pipe("entity_ruler", first=True)
    try:
        ruler.add_patterns([{"label": "PLACE", "pattern": [{"ORTH": "home"}]}])
        found = evaluate_docs(pipeline, [gold], ScoreSettings(Given(words=True)), by_doc=True)
    finally:
        pipeline.remove_pipe("entity_ruler")
    of_task = found.counts["labeling"]
    assert tuple(of_task[key] for key in ("gold", "predicted", "correct")) == counts
    assert found.sentences["ents_f"] == [counts]
    assert found.left_out == left_out
