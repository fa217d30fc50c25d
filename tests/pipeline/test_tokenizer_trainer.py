"""The pipe that trains the tokenizer: what it teaches, what it refuses, what it leaves alone."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import spacy
from pipeline.made_up import DEV, TEXTS, TRAIN, gold_doc, tokens, untrained
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example
from spacy.util import registry
from spacy.vocab import Vocab

from spacy_structreg.learn.learning_settings import Learning
from spacy_structreg.models.segmentation import CharacterSegmenter
from spacy_structreg.pipeline.tokenizer_trainer import FACTORY


def pipeline(name: str = "trainer") -> Language:
    nlp = untrained()
    nlp.add_pipe(FACTORY, name=name)
    return nlp


def examples(nlp: Language, sentences: Sequence[list[str]] = TRAIN) -> list[Example]:
    return [Example(nlp.make_doc("".join(w)), gold_doc(nlp.vocab, w)) for w in sentences]


@pytest.fixture
def nlp() -> Language:
    """An untrained pipeline, ready for `nlp.update`."""
    nlp = pipeline()
    nlp.initialize(lambda: examples(nlp))
    return nlp


# Training -----------------------------------------------------------------------------------------


def test_the_loss_counts_wrong_labels(nlp: Language) -> None:
    # Without weights all paths are equal, and 好人 is labeled B E, the lowest that is legal.
    # A perceptron, which corrects mistakes and nothing else.
    nlp.tokenizer.model = CharacterSegmenter(learning=Learning())
    losses = {"other": 1.5}
    example = examples(nlp, [["好", "人"]])
    nlp.update(example, losses=losses)
    assert losses == {"other": 1.5, "trainer": 2.0}
    # What has been learned is right the second time; losses add up.
    nlp.update(example, losses=losses)
    assert losses == {"other": 1.5, "trainer": 2.0}
    # Now S S is predicted, and the gold labels are B E.
    nlp.update(examples(nlp, [["好人"]]), losses=losses)
    assert losses == {"other": 1.5, "trainer": 4.0}


def test_white_space_of_gold_docs_is_not_learned(nlp: Language) -> None:
    empty, blank = Doc(nlp.vocab), Doc(nlp.vocab, words=[" \n"], spaces=[True])
    assert nlp.tokenizer.update([empty, blank]) == nlp.tokenizer.update([]) == 0
    spaced = Doc(nlp.vocab, words=["好", " ", "人", "\n"], spaces=[True, False, False, False])
    segmenter = CharacterSegmenter(seed=7).partial_fit([["好", "人"]])
    nlp.update([Example(nlp.make_doc(spaced.text), spaced)])
    assert nlp.tokenizer.model.to_bytes() == segmenter.to_bytes()


def test_docs_stay_untouched(nlp: Language) -> None:
    doc = Doc(nlp.vocab, words=["好", "人"], spaces=[True, False], tags=["VA", "NN"])
    before = doc.to_bytes()
    assert nlp.get_pipe("trainer")(doc) is doc
    assert doc.to_bytes() == before
    example = Example(nlp.make_doc("好 人"), doc)
    predicted = example.predicted.to_bytes()
    nlp.update([example])
    assert (example.predicted.to_bytes(), example.reference.to_bytes()) == (predicted, before)


# Compiled sentences -------------------------------------------------------------------------------


def test_docs_are_compiled_once(nlp: Language, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[Any] = []
    original = CharacterSegmenter.compile

    def compile_(self: CharacterSegmenter, sentences: Any) -> Any:
        sentences = list(sentences)
        compiled.extend(sentences)
        return original(self, sentences)

    monkeypatch.setattr(CharacterSegmenter, "compile", compile_)
    corpus = examples(nlp)
    nlp.update(corpus)
    assert compiled == TRAIN
    nlp.update(corpus)
    nlp.update(corpus[:3])
    assert compiled == TRAIN
    nlp.update(examples(nlp, DEV))
    assert compiled == TRAIN + DEV
    # For another model, they are compiled anew.
    nlp.tokenizer.from_bytes(nlp.tokenizer.to_bytes())
    nlp.update(corpus)
    nlp.tokenizer.model.fit(TRAIN)
    nlp.update(corpus)
    assert compiled == TRAIN + DEV + TRAIN + TRAIN


def test_what_was_compiled_goes_with_the_docs(nlp: Language) -> None:
    cache = nlp.tokenizer._compiled
    kept, dropped = examples(nlp, DEV), examples(nlp)
    nlp.update(kept)
    nlp.update(dropped)
    assert len(cache) == len(DEV) + len(TRAIN)
    del dropped
    gc.collect()
    assert len(cache) == len(DEV)
    assert set(cache) == {example.reference for example in kept}


# Refusals -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("lang", ["zh", "en"])
def test_a_tokenizer_that_cannot_be_trained(lang: str) -> None:
    nlp = spacy.blank(lang)
    nlp.add_pipe(FACTORY, name="trainer")
    message = rf"'trainer'.*has a {type(nlp.tokenizer).__name__}; set \[nlp.tokenizer\].*Segmenter"
    with pytest.raises(ValueError, match=message):
        nlp.initialize()
    assert nlp("a b").text == "a b"
    # The same of one that was replaced later.
    other = pipeline()
    other.initialize()
    other.tokenizer = nlp.tokenizer
    with pytest.raises(ValueError, match=message):
        other.update(examples(other))


def test_another_pipe_that_is_trained() -> None:
    nlp = pipeline()
    nlp.add_pipe("sentencizer")
    nlp.initialize()
    nlp.add_pipe("tagger", name="my_tagger").add_label("NN")
    with pytest.raises(ValueError, match=r"other pipes \(my_tagger\): train the tokenizer alone"):
        nlp.initialize()
    nlp.config["training"]["frozen_components"] = ["my_tagger"]
    nlp.initialize()
    nlp.update(examples(nlp), exclude=["my_tagger"])
    assert nlp.tokenizer.model.is_trained


def test_a_pipe_that_was_not_initialized() -> None:
    nlp = pipeline("late")
    with pytest.raises(ValueError, match=r"'late' trains has learned nothing yet: call nlp\.init"):
        nlp.update(examples(nlp))
    assert not nlp.tokenizer.model.is_trained


def test_a_pipe_sourced_from_a_folder(nlp: Language, tmp_path: Path) -> None:
    nlp.to_disk(tmp_path)
    target = untrained()
    target.add_pipe("trainer", source=spacy.load(tmp_path))
    with pytest.raises(ValueError, match="do not source the pipe"):
        target.update(examples(target))
    assert not target.tokenizer.model.is_trained


def test_a_pipe_sourced_from_a_pipeline_in_training(nlp: Language) -> None:
    nlp.update(examples(nlp))
    before = nlp.tokenizer.to_bytes()
    target = untrained()
    target.add_pipe("trainer", source=nlp)
    with pytest.raises(ValueError, match="do not source it"):
        target.update(examples(target, DEV))
    assert nlp.tokenizer.to_bytes() == before


# Life with other parts of spaCy -------------------------------------------------------------------


@pytest.mark.parametrize("trainer", [None, "added"])
def test_training_is_resumed_after_loading(
    nlp: Language, tmp_path: Path, trainer: str | None
) -> None:
    """By spaCy's own commands, with the pipe of the pipeline, or one that is added to it."""
    corpus = examples(nlp)
    nlp.update(corpus)
    if trainer is not None:
        nlp.remove_pipe("trainer")
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    if trainer is not None:
        loaded.add_pipe(FACTORY, name=trainer)
    loaded.resume_training()
    expected = CharacterSegmenter.load(tmp_path / "tokenizer" / "model.srt")
    for _ in range(2):
        losses = loaded.update(examples(loaded, TRAIN[:40]))
        expected.partial_fit(TRAIN[:40])
        assert loaded.tokenizer.model.to_bytes() == expected.to_bytes()
        assert list(losses) == [trainer or "trainer"]
    # Into the folder whose file is mapped, and from it again.
    loaded.to_disk(tmp_path)
    again = spacy.load(tmp_path)
    assert again.tokenizer.model.to_bytes() == expected.to_bytes()
    again.resume_training()
    again.update(examples(again))
    assert [tokens(again(text)) for text in TEXTS] != [list(text) for text in TEXTS]


def test_an_entity_recognizer_is_added_to_a_trained_pipeline(nlp: Language, tmp_path: Path) -> None:
    nlp.update(examples(nlp))
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    before = loaded.tokenizer.to_bytes()
    loaded.add_pipe("ner").add_label("PERSON")
    gold = []
    for words in TRAIN[:10]:
        doc = gold_doc(loaded.vocab, words)
        doc.set_ents([Span(doc, 0, 1, label="PERSON")], default="outside")
        gold.append(Example(loaded.make_doc(doc.text), doc))
    message = r"'trainer' does nothing, as other pipes are trained \(ner\): the tokenizer stays"
    with pytest.warns(UserWarning, match=message):
        loaded.initialize(lambda: gold)
    # Warnings are errors here: there is one only.
    losses = loaded.update(gold)
    assert losses["ner"] > 0
    assert losses["trainer"] == 0
    # Neither does it mind gold Docs that another vocabulary was made for.
    (other,) = DocBin(docs=[gold[0].reference]).get_docs(Vocab())
    assert loaded.update([Example(gold[0].predicted, other)])["trainer"] == 0
    assert loaded.tokenizer.to_bytes() == before
    # On purpose, it is trained as ever.
    with loaded.select_pipes(enable="trainer"):
        assert "ner" not in loaded.update(gold)
    assert loaded.tokenizer.to_bytes() != before


def test_pipes_that_are_updated_beside_a_trained_tokenizer(nlp: Language, tmp_path: Path) -> None:
    """Without nlp.initialize: each pipe by itself."""
    nlp.update(examples(nlp))
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    before = loaded.tokenizer.to_bytes()
    tagger = loaded.add_pipe("tagger")
    gold = [
        Example(
            loaded.make_doc("".join(words)), gold_doc(loaded.vocab, words, tags=["T"] * len(words))
        )
        for words in TRAIN[:10]
    ]
    tagger.initialize(lambda: gold, nlp=loaded)
    loaded.resume_training()
    with pytest.warns(UserWarning, match="other pipes are trained"):
        loaded.update(gold)
    loaded.update(gold)
    assert loaded.tokenizer.to_bytes() == before


def test_the_pipe_does_not_keep_its_pipeline_alive() -> None:
    nlp = pipeline()
    nlp.initialize()
    pipe, alive = nlp.get_pipe("trainer"), weakref.ref(nlp)
    del nlp
    gc.collect()
    assert alive() is None
    with pytest.raises(ValueError, match="belongs to no tokenizer"):
        pipe.update([])


def test_losses_of_our_pipes_are_left_out_of_meta_data(nlp: Language) -> None:
    nlp.add_pipe("structreg_tagger", name="tagger")
    nlp.add_pipe("ner")
    figures = {"seg_f": 0.9, "ner_loss": 3.0}
    nlp.meta["performance"] = {**figures, "trainer_loss": 1.0, "tagger_loss": 2.0}
    callback = registry.callbacks.get("spacy_structreg.without_losses.v1")()
    assert callback(nlp) is nlp
    assert nlp.meta["performance"] == figures
    # Before the first evaluation there are no figures at all.
    assert callback(spacy.blank("zh")).meta.get("performance", {}) == {}
