"""What ``spacy.explain`` says when our components are there, and what ``spacy evaluate`` prints."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from typing import Any

import pytest
import spacy
from pipeline.made_up import DEV, TRAIN, gold_doc, tag_of, tagged_doc, trained_joint
from spacy.cli.evaluate import evaluate
from spacy.glossary import GLOSSARY
from spacy.language import Language
from spacy.tokens import DocBin, Span
from spacy.training import Example

from spacy_structreg.corpora.dependency_relations import CTB_RELATIONS
from spacy_structreg.corpora.formats.brackets import read_brackets
from spacy_structreg.corpora.tag_glossary import RELATION_GLOSSARY, TAG_GLOSSARY
from spacy_structreg.pipeline.score_table import TABLE
from spacy_structreg.pipeline.spacy_glossary import extend_glossary


@pytest.fixture
def before() -> Iterator[dict[str, str]]:
    """The glossary of spaCy as it is by itself; what a test does to it goes again."""
    spec: Any = find_spec("spacy.glossary")
    fresh = module_from_spec(spec)
    spec.loader.exec_module(fresh)
    now, own = dict(GLOSSARY), fresh.GLOSSARY
    GLOSSARY.clear()
    GLOSSARY.update(own)
    extend_glossary.cache_clear()
    yield dict(own)
    GLOSSARY.clear()
    GLOSSARY.update(now)


@pytest.mark.parametrize("factory", ["structreg_tagger", "structreg_textcat", "tokenizer"])
def test_components_let_spacy_explain_their_tags(factory: str, before: dict[str, str]) -> None:
    assert "NNB" not in before
    assert before["ng"] == "negation"
    nlp = spacy.blank("zh")
    if factory == "tokenizer":
        trained_joint(1)
    else:
        nlp.add_pipe(factory)
    for treebank, tags in TAG_GLOSSARY.items():
        for tag, meaning in tags.items():
            assert meaning in spacy.explain(tag), (treebank, tag)
    assert spacy.explain("NNB") == "measure word or unit (UD Chinese)"
    assert spacy.explain("seg_f") == "F of words, as of the SIGHAN bakeoffs"
    # Of several meanings, spaCy's own comes first; equal ones stand once.
    assert spacy.explain("NN") == "noun, singular or mass; common noun (CTB, UD Chinese)"
    assert spacy.explain("VV") == "other verb"
    assert spacy.explain("ng") == "negation; nominal morpheme (PFR)"
    assert spacy.explain("PU") == before["PU"] == "punctuation"


def test_phrases_are_explained(before: dict[str, str]) -> None:
    """All of our treebank, and those of the Penn Treebank."""
    extend_glossary()
    folder = Path(__file__).parents[2] / "treebank" / "dev"
    labels = {"SBARQ", "SINV", "WHADVP"}
    for path in folder.glob("*.bracket"):
        for tree in read_brackets(path):
            nodes = tree.without_root().without_function_tags().nodes()
            labels |= {node.label for node in nodes if not node.is_leaf}
    assert {"IP", "LCP", "VRD"} < labels
    assert [label for label in sorted(labels) if not spacy.explain(label)] == []
    assert spacy.explain("NP") == before["NP"] == "noun phrase"
    assert spacy.explain("IP") == "clause"


def test_relations_are_explained(before: dict[str, str]) -> None:
    extend_glossary()
    relations = {relation for relation, *_ in CTB_RELATIONS.rows}
    assert relations - before.keys() == RELATION_GLOSSARY.keys()
    for relation in relations:
        known = before.get(relation)
        assert spacy.explain(relation) == (known or RELATION_GLOSSARY[relation])


def test_what_spacy_explains_stays(before: dict[str, str]) -> None:
    extend_glossary()
    for term, meaning in before.items():
        assert GLOSSARY[term] == meaning or GLOSSARY[term].startswith(f"{meaning}; ")
    after = dict(GLOSSARY)
    extend_glossary.cache_clear()
    extend_glossary()
    assert after == GLOSSARY


# Figures -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def nlp() -> Language:
    """A joint tokenizer, a parser that has seen its words, and a labeler of tokens."""
    nlp = trained_joint()
    nlp.add_pipe("structreg_parser")
    config = {"attribute": "_.length", "model": {"scheme": None}}
    nlp.add_pipe("structreg_sequence_labeler", config=config)
    corpus = []
    for words in TRAIN:
        gold = tagged_doc(nlp.vocab, words)
        for token in gold:
            token.head, token.dep_ = gold[0], "ROOT" if token.i == 0 else "dep"
            token._.length = str(len(token))
        corpus.append(Example(tagged_doc(nlp.vocab, words), gold))
    for name in nlp.pipe_names:
        nlp.get_pipe(name).initialize(lambda: corpus)
    for _ in range(2):
        nlp.update(corpus)
    return nlp


def test_spacy_evaluate_prints_our_figures(
    nlp: Language, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path_factory.mktemp("evaluate")
    nlp.to_disk(folder / "pipeline")
    docs = []
    # One word is cut in another way than it will be.
    for words in [*DEV, ["老师", "和小", "王"]]:
        heads = [0] * len(words)
        tags = list(map(tag_of, words))
        docs.append(gold_doc(nlp.vocab, words, tags=tags, heads=heads, deps=["ROOT"] * len(words)))
    DocBin(docs=docs).to_disk(folder / "dev.spacy")
    scores = evaluate(folder / "pipeline", folder / "dev.spacy", silent=False)
    printed = capsys.readouterr().out.splitlines()
    table = {cells[0]: cells[1:] for line in printed if len(cells := line.split()) == 4}
    assert set(table) == {"seg", "joint", "tag", "uas", "las", "uas_f_nopunct", "las_f_nopunct"}
    assert table["seg"] == [f"{100 * scores[f'seg_{end}']:.2f}" for end in "prf"]
    assert table["joint"] == [f"{100 * scores[f'joint_{end}']:.2f}" for end in "prf"]
    assert table["las"] == ["-", "-", f"{100 * scores['las_f']:.2f}"]
    assert 0 < scores["las_f"] < scores["seg_f"] < 1
    json.dumps(scores)


def test_figures_of_given_words_are_in_the_table(nlp: Language) -> None:
    gold = tagged_doc(nlp.vocab, DEV[0])
    for token in gold:
        token.head, token.dep_ = gold[0], "ROOT"
        token._.length = str(len(token))
    scores = nlp.evaluate([Example(tagged_doc(nlp.vocab, DEV[0]), gold)])
    # Of all pipes, but for what spaCy prints by itself.
    assert {"seg", "joint", "dep_root", "dep_complete", "dep_uas_nopunct", "label_acc"} <= set(
        scores[TABLE]
    )
    assert not {"dep_uas", "dep_las", "token"} & set(scores[TABLE])
    assert scores[TABLE]["label_acc"] == {"p": "-", "r": "-", "f": scores["label_acc"]}


def test_spans_of_others_are_left_alone(nlp: Language) -> None:
    gold = tagged_doc(nlp.vocab, DEV[0])
    gold.spans["sc"] = [Span(gold, 0, 1, label="X")]
    assert TABLE not in nlp.evaluate([Example(nlp.make_doc(gold.text), gold)])
    assert TABLE not in nlp.evaluate([])
