"""Contract of every component and every tokenizer; their own tests hold the rest."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import re
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from components import (
    NO_MODELS_OF_TOKENIZERS,
    NO_PIPES,
    PIPES,
    TEXTS,
    TOKENIZERS,
    content,
    trained_pipe,
    trained_tokenizer,
)
from small_pipeline import TAGS, UNIVERSAL, WORDS, examples, gold_doc, plain_doc
from spacy.language import Language
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example
from spacy.util import raise_error
from spacy.vocab import Vocab
from thinc.api import Linear

from spacy_structreg.about import MODEL_FILE
from spacy_structreg.pipeline.constituency_documents import Phrase, write_phrases
from spacy_structreg.pipeline.shim import UNTRAINED_MARK
from spacy_structreg.pipeline.tokenizer import WORDS_FILE

EVERY_PIPE = pytest.mark.parametrize("name", PIPES)
# Those that build trees, of words and tags.
EVERY_TREE = pytest.mark.parametrize("name", ["parser", "constituency"])
EVERY_TOKENIZER = pytest.mark.parametrize("name", TOKENIZERS)
# One of each class, with and without parts: models have tests of their own.
EVERY_CLASS = pytest.mark.parametrize("name", ["segmenter", "guided joint tagger", "joint parser"])
NUMBERS = range(len(WORDS))

DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "magic": lambda data: data[:7],
    "half": lambda data: data[: len(data) // 2],
    "short": lambda data: data[:-1],
    "long": lambda data: data + b"\0",
    "pickle": lambda data: b"\x80\x04]q\x00." + data[6:],
    "version": lambda data: data[:8] + b"\x63" + data[9:],
    "header": lambda data: data[:40] + bytes([data[40] ^ 1]) + data[41:],
    "array": lambda data: data[: len(data) // 2] + bytes(b ^ 128 for b in data[len(data) // 2 :]),
}


def entries(group: str) -> set[str]:
    """What the package registers there, by the bare name."""
    found = {each.name for each in entry_points(group=group) if "spacy_structreg." in each.value}
    return {name.removeprefix("spacy_structreg.").removesuffix(".v1") for name in found}


def test_everything_registered_is_here() -> None:
    factories = {pipe.factory for pipe in PIPES.values()}
    trainers = {each.trainer for each in TOKENIZERS.values()}
    assert entries("spacy_factories") == factories | trainers | NO_PIPES.keys()
    assert not NO_PIPES.keys() & factories
    assert entries("spacy_tokenizers") == {each.registered for each in TOKENIZERS.values()}
    of_pipes = {pipe.model for pipe in PIPES.values()}
    of_tokenizers = {each.model for each in TOKENIZERS.values()}
    left_out = NO_MODELS_OF_TOKENIZERS.keys()
    assert entries("spacy_architectures") == of_pipes | of_tokenizers | left_out
    assert not of_tokenizers & left_out


def written(name: str, nlp: Language) -> list[Any]:
    """Annotation that a pipe writes into all Docs."""
    return [PIPES[name].written(nlp(plain_doc(nlp.vocab, number))) for number in NUMBERS]


def expected(name: str) -> list[Any]:
    return [PIPES[name].written(gold_doc(Vocab(), number)) for number in NUMBERS]


def settings_of(pipe: Any) -> dict[str, Any]:
    return {key: value for key, value in pipe._settings().items() if key != "scorer"}


# Components: what they learn ----------------------------------------------------------------------


@EVERY_PIPE
def test_pipes_write_what_they_have_learned(name: str) -> None:
    nlp = trained_pipe(name)
    if name != "textcat":  # of which probabilities are written
        assert written(name, nlp) == expected(name)
    figures = nlp.evaluate(examples(nlp.vocab))
    assert figures[PIPES[name].figure] == 1.0
    assert nlp.config["training"]["score_weights"][PIPES[name].figure] > 0
    data = DocBin(store_user_data=True)
    docs = [nlp(plain_doc(nlp.vocab, number)) for number in NUMBERS]
    for doc in docs:
        data.add(doc)
    found = [
        PIPES[name].written(doc) for doc in DocBin().from_bytes(data.to_bytes()).get_docs(Vocab())
    ]
    assert name == "textcat" or found == expected(name)


@EVERY_PIPE
def test_training_is_that_of_the_estimator(name: str) -> None:
    nlp = PIPES[name].trained(passes=3)
    pipe = nlp.get_pipe("pipe")
    gold: list[Any] = []
    for example in examples(nlp.vocab):
        sentences, n_left_out = pipe.gold(example)
        assert len(sentences) == 1
        assert n_left_out == 0
        gold += sentences
    by_hand = pipe.estimator.untrained()
    by_hand.prepare(gold)
    compiled = by_hand.compile(gold)
    for _ in range(3):
        by_hand.learn(compiled)
    assert pipe.to_bytes() == by_hand.to_bytes()


@EVERY_PIPE
def test_the_loss_is_what_was_wrong(name: str) -> None:
    nlp = PIPES[name].untrained()
    gold = examples(nlp.vocab)
    nlp.initialize(lambda: gold)
    losses = [nlp.update(gold, losses={})["pipe"] for _ in range(10)]
    assert losses[0] > losses[-1] == 0


@EVERY_PIPE
def test_learning_that_needs_the_whole_corpus_at_once_is_refused(name: str) -> None:
    nlp = PIPES[name].untrained(
        {"learning": {"@misc": "spacy_structreg.Learning.v1", "clock": "epochs"}}
    )
    nlp.initialize(lambda: examples(nlp.vocab))
    with pytest.raises(ValueError, match="clock = 'epochs'"):
        nlp.update(examples(nlp.vocab))


@EVERY_PIPE
def test_initialize_keeps_trained_weights(name: str) -> None:
    nlp = PIPES[name].trained(passes=2)
    before = nlp.get_pipe("pipe").to_bytes()
    nlp.initialize()
    nlp.initialize(lambda: examples(nlp.vocab)[:1])
    assert nlp.get_pipe("pipe").to_bytes() == before


@EVERY_PIPE
def test_labels_of_a_streamed_corpus(name: str) -> None:
    """Those of the examples that `initialize` sees, or those that it is given."""
    nlp = PIPES[name].untrained()
    gold = examples(nlp.vocab)
    nlp.get_pipe("pipe").initialize(lambda: gold[:1], nlp=nlp)
    with pytest.raises(ValueError, match="'pipe' cannot learn from a Doc: "):
        nlp.update(gold[1:2])
    other = PIPES[name].untrained()
    gold = examples(other.vocab)
    whole = trained_pipe(name).get_pipe("pipe").label_data
    other.get_pipe("pipe").initialize(lambda: gold[:1], nlp=other, labels=whole)
    other.update(gold)
    assert other.get_pipe("pipe").labels == other.get_pipe("pipe").label_data == whole


@EVERY_PIPE
def test_an_untrained_pipe_writes_nothing(name: str, tmp_path: Path) -> None:
    nlp = PIPES[name].untrained()
    nlp.initialize()
    # spaCy hands out a Doc of its own if there are no examples.
    assert nlp.get_pipe("pipe").labels == ()
    assert not nlp.get_pipe("pipe").estimator.is_trained
    doc = nlp(plain_doc(nlp.vocab, 0))
    assert doc.to_bytes() == plain_doc(nlp.vocab, 0).to_bytes()
    for attribute in ("POS", "DEP", "ENT_IOB", "SENT_START"):
        assert not doc.has_annotation(attribute)
    assert not any(doc.spans.values())
    assert not doc.cats
    nlp.to_disk(tmp_path)
    assert [path.name for path in (tmp_path / "pipe").iterdir()] == [UNTRAINED_MARK]
    assert not spacy.load(tmp_path).get_pipe("pipe").estimator.is_trained
    assert nlp.get_pipe("pipe").to_bytes() == b""


def docs_of_all_forms(vocab: Vocab) -> list[Doc]:
    """Docs with and without sentences, white space and annotation; of two vocabularies."""
    hooked = plain_doc(vocab, 0, 2)
    hooked.user_hooks["sents"] = lambda doc: (doc[i : i + 4] for i in (0, 4))
    words = [" ", "他", " ", "写", "字", "\n"]
    return [
        plain_doc(vocab, 0),
        Doc(vocab, []),
        Doc(vocab, ["\n"]),
        Doc(vocab, [" ", "书"]),
        plain_doc(Vocab(), 0, 1, sent_starts=[i in (0, 4) for i in range(9)]),
        gold_doc(Vocab(), 1, 2),
        plain_doc(Vocab(), 0, deps=["x", "", "", ""]),
        Doc(Vocab(), words=words, tags=["_SP", "PN", "_SP", "VV", "NN", "_SP"]),
        hooked,
    ]


@EVERY_PIPE
@pytest.mark.filterwarnings("ignore:.*learned from words with", "ignore:.*W109")
def test_streams_are_annotated_like_docs(name: str) -> None:
    for settings in ({}, *PIPES[name].others):
        nlp = PIPES[name].trained(**settings)
        alone = [nlp(doc).to_bytes(exclude=["strings"]) for doc in docs_of_all_forms(nlp.vocab)]
        docs = docs_of_all_forms(nlp.vocab)
        found = list(nlp.pipe(docs, batch_size=4))
        assert list(map(id, found)) == list(map(id, docs))
        assert [doc.to_bytes(exclude=["strings"]) for doc in found] == alone
        # A Doc may come twice.
        twice = plain_doc(nlp.vocab, 0)
        one, other = (PIPES[name].written(doc) for doc in nlp.pipe([twice, twice]))
        assert one == other == PIPES[name].written(docs[0])


@EVERY_PIPE
def test_a_doc_that_cannot_be_annotated_goes_to_the_error_handler(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Alone, and each Doc is annotated once."""
    nlp = PIPES[name].trained()
    pipe: Any = nlp.get_pipe("pipe")
    docs = [plain_doc(nlp.vocab, number) for number in (0, 1, 0, 2)]
    annotator = pipe._annotator()
    attempts: list[Doc] = []

    def annotate(doc: Doc, predicted: Any) -> None:
        attempts.append(doc)
        if doc is docs[2]:
            raise ValueError("no")
        annotator(doc, predicted)

    monkeypatch.setattr(pipe, "_annotator", lambda: annotate)
    failed: list[list[Doc]] = []
    nlp.set_error_handler(lambda name, pipe, docs, error: failed.append(docs))
    found = list(nlp.pipe(docs))
    assert failed == [[docs[2]]]
    assert list(map(id, found)) == [id(docs[i]) for i in (0, 1, 3)]
    assert list(map(id, attempts)) == list(map(id, docs))
    nlp.set_error_handler(raise_error)
    with pytest.raises(ValueError, match="no"):
        list(nlp.pipe(docs))


@pytest.mark.parametrize("name", ["tagger", "parser", "constituency", "labeler"])
def test_sentences(name: str) -> None:
    """Those that a Doc knows, or those of its punctuation, each by itself."""
    nlp = trained_pipe(name)
    starts = [i in (0, 4, 9) for i in range(13)]
    whole = PIPES[name].written(gold_doc(Vocab(), *NUMBERS))
    assert PIPES[name].written(nlp(plain_doc(nlp.vocab, *NUMBERS, sent_starts=starts))) == whole
    gold = nlp.get_pipe("pipe").gold
    several = Example(
        plain_doc(nlp.vocab, *NUMBERS, sent_starts=starts), gold_doc(nlp.vocab, *NUMBERS)
    )
    singly = [sentence for each in examples(nlp.vocab) for sentence in gold(each)[0]]
    assert gold(several) == (singly, 0)
    if name == "tagger":
        return
    cut = PIPES[name].trained(sentences="punctuation")
    assert PIPES[name].written(cut(plain_doc(cut.vocab, *NUMBERS))) == whole
    if name != "labeler":
        # A Doc that knows of no sentences is one.
        doc = nlp(plain_doc(nlp.vocab, *NUMBERS))
        assert [sentence.start for sentence in doc.sents] == [0]
        # Sentences that are known are cut, not joined.
        known = [i in (0, 2) for i in range(13)]
        doc = cut(plain_doc(cut.vocab, *NUMBERS, sent_starts=known))
        assert [sentence.start for sentence in doc.sents] == [0, 2, 4, 9]


@EVERY_TREE
def test_trees_have_the_tags_of_the_predicted_side(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    nlp = PIPES[name].untrained()
    pipe: Any = nlp.get_pipe("pipe")
    tagged = Example(plain_doc(nlp.vocab, 0, tags=["X", "Y", "", "Z"]), gold_doc(nlp.vocab, 0))
    ((sentence,), _) = pipe.gold(tagged)
    assert sentence.tags == ("X", "Y", "", "Z")
    nlp.initialize(lambda: [tagged])
    assert not caplog.text
    # They may change from pass to pass: what was compiled by the old ones is not used then.
    first = pipe._compile(tagged)
    assert pipe._compile(tagged)[0] is first[0]
    other = Example(plain_doc(nlp.vocab, 0), tagged.reference)
    assert pipe._compile(other)[0] is not first[0]
    # What has other words is left out.
    words = ["我", "看书", "。", *WORDS[1]]
    parted = Example(Doc(nlp.vocab, words, tags=["T"] * 8), gold_doc(nlp.vocab, 0, 1))
    ((sentence,), n_others) = pipe.gold(parted)
    assert (sentence.words, sentence.tags, n_others) == (tuple(WORDS[1]), ("T",) * 5, 1)
    PIPES[name].untrained().initialize(lambda: [parted])
    assert "1 of 2 training sentences have no " in caplog.text
    assert "or not the words" in caplog.text
    untagged = Example(Doc(nlp.vocab, WORDS[0]), tagged.reference)
    PIPES[name].untrained().initialize(lambda: [untagged])
    assert "no word of the training corpus has a tag" in caplog.text


@EVERY_TREE
@pytest.mark.parametrize("attribute", ["tag", "pos"])
def test_the_tags_of_a_setting_are_looked_at(name: str, attribute: str) -> None:
    """Words that the model has never seen, so that the tags alone can tell."""
    nlp = PIPES[name].untrained(attribute=attribute)

    def tagged(number: int, words: list[str]) -> Doc:
        tags = TAGS[number]
        universal = [UNIVERSAL[tag] for tag in tags]
        given = {"tags": tags} if attribute == "tag" else {"pos": universal}
        return Doc(nlp.vocab, words, [False] * len(words), **given)

    gold = [
        Example(tagged(number, WORDS[number]), gold_doc(nlp.vocab, number)) for number in NUMBERS
    ]
    nlp.initialize(lambda: gold)
    for _ in range(8):
        nlp.update(gold)
    doc = tagged(0, ["你", "找", "猫", "？"])
    assert PIPES[name].written(nlp(doc)) == expected(name)[0]


@EVERY_TREE
def test_docs_that_can_have_no_tree(name: str) -> None:
    """Of what they have, which is to stay; the Docs beside them are annotated."""
    nlp = PIPES[name].trained(overwrite=False)
    docs = [plain_doc(nlp.vocab, number) for number in NUMBERS]
    if name == "parser":
        odd = plain_doc(nlp.vocab, 0, heads=[2, 3, 2, 3], deps=["a", "b", "", ""])
    else:
        odd = plain_doc(nlp.vocab, 0)
        odd.spans["constituents"] = [Span(odd, 0, 2, label="NP"), Span(odd, 1, 3, label="NP")]
    docs.insert(1, odd)
    failed: list[list[Doc]] = []
    nlp.set_error_handler(lambda name, pipe, docs, error: failed.append(docs))
    assert list(map(PIPES[name].written, nlp.pipe(docs))) == expected(name)
    assert failed == [[odd]]
    nlp.set_error_handler(raise_error)
    message = "no projective tree with one root|constituents over the words 0 to 1 and 1 to 2 over"
    with pytest.raises(ValueError, match=message) as raised:
        list(nlp.pipe(docs))
    assert raised.value.__context__ is None


@EVERY_PIPE
def test_a_doc_is_explained_sentence_by_sentence(name: str) -> None:
    nlp = trained_pipe(name)
    pipe: Any = nlp.get_pipe("pipe")
    starts = [i in (0, 5) for i in range(10)]
    words, tags = [*WORDS[0], "\n", *WORDS[1]], [*TAGS[0], "_SP", *TAGS[1]]
    doc = Doc(nlp.vocab, words, [False] * 10, tags=tags, sent_starts=starts)
    found = pipe.explain(doc)
    assert found.text == doc.text
    parts = [pipe.explain(plain_doc(nlp.vocab, number)) for number in (0, 1)]
    if name != "textcat":
        assert found.score == pytest.approx(sum(part.score for part in parts))
    listed = [each.score for one in found.decisions for each in one.contributions]
    assert sum(listed) == pytest.approx(found.score)
    for blank in ([], [" "]):
        assert pipe.explain(Doc(nlp.vocab, blank)).decisions == ()
    with pytest.raises(TypeError, match="a Doc, not a str; call nlp"):
        pipe.explain(doc.text)
    with pytest.raises(ValueError, match="train"):
        PIPES[name].untrained().get_pipe("pipe").explain(doc)


@EVERY_PIPE
def test_pipes_that_cannot_be_made_are_refused(name: str) -> None:
    pipe = PIPES[name].untrained().get_pipe("pipe")
    with pytest.raises(ValueError, match=r"'pipe' is 'linear', none of spacy_structreg"):
        type(pipe)(Vocab(), Linear(), "pipe")
    with pytest.raises(TypeError, match="not called as a layer"):
        pipe.model.predict([])
    for setting, value in (
        ("sentences", "none"),
        ("attribute", "nonsense"),
        ("dependencies", "ud"),
        ("n_threads", 0),
    ):
        if setting in settings_of(pipe):
            with pytest.raises(ValueError, match=rf"the pipe 'pipe': {setting} .*{value}"):
                type(pipe)(Vocab(), pipe.model, "pipe", **{**settings_of(pipe), setting: value})


def wrong_doc(vocab: Vocab) -> Doc:
    """The first sentence with other annotation, so that there is something to learn."""
    tags = ["NR", "VV", "NR", "PU"]
    doc = plain_doc(
        vocab,
        0,
        tags=tags,
        pos=[UNIVERSAL[tag] for tag in tags],
        heads=[1, 1, 1, 2],
        deps=["name", "ROOT", "amod", "punct"],
        ents=["B-PER", "O", "B-LOC", "O"],
    )
    write_phrases(doc, [Phrase("IP", 0, 4, 1), Phrase("VP", 0, 2, 1), Phrase("NP", 2, 3, 2)])
    doc.cats = {"one": 0.0, "more": 1.0}
    return doc


# Components: files --------------------------------------------------------------------------------


@EVERY_PIPE
def test_every_way_of_saving(name: str, tmp_path: Path) -> None:
    nlp = trained_pipe(name)
    pipe = nlp.get_pipe("pipe")
    answer, data = written(name, nlp), pipe.to_bytes()
    nlp.to_disk(tmp_path / "pipeline")
    folder = tmp_path / "pipeline" / "pipe"
    assert [path.name for path in folder.iterdir()] == [MODEL_FILE]
    # What lies there is the model of the estimator.
    assert type(pipe.estimator).load(folder / MODEL_FILE).to_bytes() == data
    assert (folder / MODEL_FILE).read_bytes() == data
    sourced = spacy.blank("zh", vocab=nlp.vocab)
    sourced.add_pipe("pipe", source=nlp)
    alone = PIPES[name].untrained()
    alone.get_pipe("pipe").from_disk(folder)
    for other in (
        spacy.load(tmp_path / "pipeline"),
        PIPES[name].untrained().from_bytes(nlp.to_bytes()),
        PIPES[name].untrained().from_disk(tmp_path / "pipeline"),
        sourced,
        alone,
        pickle.loads(pickle.dumps(nlp)),
        copy.deepcopy(nlp),
    ):
        assert written(name, other) == answer
        assert other.get_pipe("pipe").labels == pipe.labels
        assert other.get_pipe("pipe").to_bytes() == data
        assert settings_of(other.get_pipe("pipe")) == settings_of(pipe)
    twin = pipe.model.copy()
    assert twin.to_bytes() == pipe.model.to_bytes()
    assert twin.shims[0].estimator is not pipe.estimator
    with nlp.use_params({}):
        assert written(name, nlp) == answer
    # Trained on as the estimator is, and saved over itself, the files do not disturb each other.
    loaded, beside = (spacy.load(tmp_path / "pipeline") for _ in range(2))
    loaded.resume_training()
    further = [Example(plain_doc(loaded.vocab, 0), wrong_doc(loaded.vocab))]
    loaded.update(further)
    by_hand = type(pipe.estimator).from_bytes(data)
    by_hand.learn(by_hand.compile(pipe.gold(further[0])[0]))
    loaded.to_disk(tmp_path / "pipeline")
    assert (folder / MODEL_FILE).read_bytes() == by_hand.to_bytes() != data
    assert beside.get_pipe("pipe").to_bytes() == data


@EVERY_PIPE
def test_settings_travel(name: str, tmp_path: Path) -> None:
    for number, settings in enumerate(PIPES[name].others):
        nlp = PIPES[name].untrained(**settings)
        nlp.to_disk(tmp_path / str(number))
        for other in (
            pickle.loads(pickle.dumps(nlp.get_pipe("pipe"))),
            copy.deepcopy(nlp.get_pipe("pipe")),
            spacy.load(tmp_path / str(number)).get_pipe("pipe"),
        ):
            found = settings_of(other)
            assert {key: found[key] for key in settings} == settings
            assert found == settings_of(nlp.get_pipe("pipe"))


def check_damage(folder: Path, load: Callable[[], Any], unchanged: Callable[[], bytes]) -> None:
    """Hold loading to naming a damaged or missing model file, and to changing nothing."""
    file, before = folder / MODEL_FILE, unchanged()
    data = file.read_bytes()
    for damage in DAMAGES.values():
        file.write_bytes(damage(data))
        with pytest.raises(ValueError, match=re.escape(str(file))):
            load()
        assert unchanged() == before
    file.unlink()
    missing = f"{re.escape(str(folder))}: the model file {MODEL_FILE} is missing"
    with pytest.raises(ValueError, match=missing):
        load()
    folder.rmdir()
    with pytest.raises(ValueError, match=missing):
        load()
    assert unchanged() == before


@EVERY_PIPE
def test_a_damaged_model_file_is_named(name: str, tmp_path: Path) -> None:
    nlp = trained_pipe(name)
    nlp.to_disk(tmp_path)
    with pytest.raises(ValueError, match="model"):
        nlp.get_pipe("pipe").from_bytes(nlp.get_pipe("pipe").to_bytes()[:-1])

    def load() -> None:
        nlp.get_pipe("pipe").from_disk(tmp_path / "pipe")

    check_damage(tmp_path / "pipe", load, nlp.get_pipe("pipe").to_bytes)


@pytest.fixture(params=["fork", "spawn"])
def start_method(request: pytest.FixtureRequest) -> Iterator[str]:
    """Start methods of processes."""
    if request.param not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system cannot start processes by {request.param}")
    before = multiprocessing.get_start_method(allow_none=True)
    multiprocessing.set_start_method(request.param, force=True)
    yield request.param
    multiprocessing.set_start_method(before, force=True)


@pytest.mark.slow
def test_processes(start_method: str) -> None:
    """All components behind a tokenizer that tags, in processes of spaCy's."""
    nlp = spacy.blank(
        "zh",
        config={
            "nlp": {"tokenizer": TOKENIZERS["joint tagger"].untrained().config["nlp"]["tokenizer"]}
        },
    )
    nlp.tokenizer.from_bytes(trained_tokenizer("joint tagger").tokenizer.to_bytes())
    for name, pipe in PIPES.items():
        trained = pipe.trained(passes=2)
        config = {**trained.config["components"]["pipe"]}
        del config["factory"]
        nlp.add_pipe(pipe.factory, name=name, config=config)
        nlp.get_pipe(name).from_bytes(trained.get_pipe("pipe").to_bytes())

    def seen(doc: Doc) -> list[Any]:
        return [content(doc), *(pipe.written(doc) for pipe in PIPES.values())]

    alone = [seen(nlp(text)) for text in TEXTS]
    assert list(map(seen, nlp.pipe(TEXTS, n_process=2, batch_size=1))) == alone


# Tokenizers ---------------------------------------------------------------------------------------


def answers(nlp: Language) -> list[Any]:
    return [content(nlp(text)) for text in [*TEXTS, "", " 我  看\n书 ", "鑫👍"]]


@EVERY_CLASS
def test_tokenizers_are_copied_in_every_way(name: str, tmp_path: Path) -> None:
    """Each copy says the same, trained or not, with its listed words; and is trained on its own."""
    for nlp in (TOKENIZERS[name].untrained(), TOKENIZERS[name].trained()):
        tokenizer = nlp.tokenizer
        tokenizer.user_words.update([("我看", "NR"), "北"])
        tokenizer.user_words.add("字。", bonus=1e4)
        answer = answers(nlp)
        data = tokenizer.to_bytes()
        folder = tmp_path / str(tokenizer.is_trained)
        nlp.to_disk(folder)
        assert {path.name for path in (folder / "tokenizer").iterdir()} == {
            WORDS_FILE,
            MODEL_FILE if tokenizer.is_trained else UNTRAINED_MARK,
        }

        def new() -> Language:
            return TOKENIZERS[name].untrained()

        for other in (
            new().from_bytes(nlp.to_bytes()),
            spacy.load(folder),
            pickle.loads(pickle.dumps(nlp)),
            copied_from_base_model(new(), folder),
            with_tokenizer(new(), lambda t, data=data: t.from_bytes(data)),
            with_tokenizer(new(), lambda t, at=folder / "tokenizer": t.from_disk(at)),
            with_tokenizer(new(), lambda _, t=tokenizer: pickle.loads(pickle.dumps(t))),
            with_tokenizer(new(), lambda _, t=tokenizer: copy.deepcopy(t)),
        ):
            assert other.tokenizer is not tokenizer
            assert other.tokenizer.is_trained == tokenizer.is_trained
            assert answers(other) == answer
            assert other.tokenizer.to_bytes() == data
            assert other.tokenizer.user_words == tokenizer.user_words
            assert other.tokenizer.user_words.entry("字。") == (None, "bonus", 1e4)
            other.tokenizer.user_words.clear()
            # The opposite of what was learned, so that there is something to learn.
            if tokenizer.is_trained:
                other.tokenizer.update([opposite(other.vocab)])
                assert other.tokenizer.to_bytes() != data
        assert tokenizer.to_bytes() == data
        # No list leaves no file.
        tokenizer.user_words.clear()
        nlp.to_disk(folder)
        assert len(list((folder / "tokenizer").iterdir())) == 1
        assert not spacy.load(folder).tokenizer.user_words


def copied_from_base_model(nlp: Language, folder: Path) -> Language:
    spacy.registry.callbacks.get("spacy.copy_from_base_model.v1")(tokenizer=str(folder))(nlp)
    return nlp


def with_tokenizer(nlp: Language, make: Callable[[Any], Any]) -> Language:
    nlp.tokenizer = make(nlp.tokenizer)
    return nlp


def opposite(vocab: Vocab) -> Doc:
    """Words that cut and join what others have."""
    words = ["小", "王写", "大字"]
    return Doc(
        vocab, words=words, spaces=[False] * 3, tags=["NN", "VV", "NR"],
        heads=[1, 1, 1], deps=["nsubj", "ROOT", "obj"],
    )  # fmt: skip


@EVERY_CLASS
def test_a_pipeline_is_saved_over_its_own_folder(name: str, tmp_path: Path) -> None:
    trained = trained_tokenizer(name)
    trained.to_disk(tmp_path)
    before = (tmp_path / "tokenizer" / MODEL_FILE).read_bytes()
    loaded, other = spacy.load(tmp_path), spacy.load(tmp_path)
    loaded.to_disk(tmp_path)
    assert (tmp_path / "tokenizer" / MODEL_FILE).read_bytes() == before
    loaded.tokenizer.update([opposite(loaded.vocab)])
    loaded.to_disk(tmp_path)
    after = (tmp_path / "tokenizer" / MODEL_FILE).read_bytes()
    assert after == loaded.tokenizer.model.to_bytes() != before
    # Who loaded the folder before still has what was in it.
    assert other.tokenizer.model.to_bytes() == before
    # It holds what was saved last.
    untrained = TOKENIZERS[name].untrained().tokenizer
    for tokenizer in (untrained, trained.tokenizer, untrained):
        tokenizer.to_disk(tmp_path / "tokenizer")
        again = TOKENIZERS[name].untrained().tokenizer.from_disk(tmp_path / "tokenizer")
        assert again.to_bytes() == tokenizer.to_bytes()
        assert len(list((tmp_path / "tokenizer").iterdir())) == 1


@EVERY_CLASS
def test_a_loaded_tokenizer_learns_further(name: str, tmp_path: Path) -> None:
    """By spaCy's own commands, into the folder whose file is mapped."""
    nlp = TOKENIZERS[name].untrained()
    nlp.add_pipe(TOKENIZERS[name].trainer, name="trainer")
    gold = [gold_doc(nlp.vocab, number) for number in NUMBERS]
    nlp.initialize(lambda: [Example(doc.copy(), doc) for doc in gold])
    nlp.update([Example(doc.copy(), doc) for doc in gold])
    before = nlp.tokenizer.model.to_bytes()
    nlp.to_disk(tmp_path)
    loaded = spacy.load(tmp_path)
    loaded.resume_training()
    # What the estimator learns by itself from the weights that there were.
    expected = type(nlp.tokenizer.model).from_bytes(before)
    compiled = expected.compile(nlp.tokenizer.gold_sentences(opposite(nlp.vocab)))
    for _ in range(2):
        loaded.update([Example(loaded.make_doc("小王写大字"), opposite(loaded.vocab))])
        expected.learn(compiled)
    loaded.to_disk(tmp_path)
    again = spacy.load(tmp_path)
    for each in (loaded, again):
        assert each.tokenizer.model.to_bytes() == expected.to_bytes() != before
    again.resume_training()
    again.update([Example(doc.copy(), doc) for doc in (gold_doc(again.vocab, 0),)])


@EVERY_CLASS
def test_a_damaged_model_file_of_a_tokenizer_is_named(name: str, tmp_path: Path) -> None:
    nlp = trained_tokenizer(name)
    nlp.to_disk(tmp_path)
    data = nlp.tokenizer.to_bytes()
    for damage in DAMAGES.values():
        if damaged := damage(data):
            with pytest.raises(ValueError, match=r"model|tokenizer"):
                nlp.tokenizer.from_bytes(damaged)
    check_damage(
        tmp_path / "tokenizer",
        lambda: nlp.tokenizer.from_disk(tmp_path / "tokenizer"),
        nlp.tokenizer.to_bytes,
    )


@EVERY_TOKENIZER
def test_initialize_keeps_the_weights_of_a_tokenizer(name: str) -> None:
    nlp = TOKENIZERS[name].trained()
    before, answer = nlp.tokenizer.to_bytes(), answers(nlp)
    for get_examples in (None, lambda: [Example(nlp.make_doc("小王"), opposite(nlp.vocab))]):
        nlp.initialize(get_examples)
        assert nlp.tokenizer.to_bytes() == before
        assert answers(nlp) == answer
    other = TOKENIZERS[name].untrained()
    other.initialize()
    assert not other.tokenizer.is_trained
    assert [token.text for token in other("x y z")] == ["x", "y", "z"]


@EVERY_TOKENIZER
def test_an_update_is_a_pass_of_the_estimator(name: str) -> None:
    nlp = TOKENIZERS[name].trained(passes=2)
    gold = [
        sentence
        for number in NUMBERS
        for sentence in nlp.tokenizer.gold_sentences(gold_doc(nlp.vocab, number))
    ]
    by_hand = nlp.tokenizer.model.untrained()
    by_hand.prepare(gold)
    compiled = by_hand.compile(gold)
    for _ in range(2):
        by_hand.learn(compiled)
    assert nlp.tokenizer.model.to_bytes() == by_hand.to_bytes()
    trained = trained_tokenizer(name)
    assert [[token.text for token in trained(text)] for text in TEXTS] == WORDS
    assert [trained(text).text for text in (" 我  看\n书 ", "鑫👍", "\n")] == [
        " 我  看\n书 ", "鑫👍", "\n"
    ]  # fmt: skip


@EVERY_TOKENIZER
def test_a_stream_equals_one_by_one(name: str) -> None:
    nlp = trained_tokenizer(name)
    texts = [*TEXTS, "", " ", "我看北京。他写字！"] * 5
    alone = [content(nlp(text)) for text in texts]
    for n_threads in (1, 3):
        assert list(map(content, nlp.tokenizer.pipe(iter(texts), n_threads=n_threads))) == alone
    assert list(map(content, nlp.pipe(texts))) == alone
    words = list(nlp.tokenizer.words(texts, n_threads=2))
    assert ["".join(each) for each in words] == ["".join(text.split()) for text in texts]


@EVERY_TOKENIZER
def test_explanations_add_up_to_the_score(name: str) -> None:
    tokenizer = trained_tokenizer(name).tokenizer
    for text in (TEXTS[0], "我看 北京"):
        found = tokenizer.explain(text)
        ((score, _),) = tokenizer.model.nbest(text, 1)
        listed = [part.score for decision in found.decisions for part in decision.contributions]
        assert found.score == pytest.approx(score)
        assert sum(listed) == pytest.approx(score)


@EVERY_TOKENIZER
def test_seeds_and_settings_of_a_config_reach_the_model(name: str) -> None:
    one, same, other = (
        TOKENIZERS[name].trained(passes=1, seed=seed).tokenizer.model.to_bytes()
        for seed in (1, 1, 2)
    )
    assert one == same != other
    chosen, free = (
        TOKENIZERS[name].untrained(**settings).tokenizer.model
        for settings in ({"half_width": False, "types": None}, {"seed": None})
    )
    for part in getattr(chosen, "parts", {"": chosen}).values():
        assert (part.half_width, part.types) == (False, None)
    for part in getattr(free, "parts", {"": free}).values():
        assert np.iinfo(np.uint32).max >= part.seed


@EVERY_TOKENIZER
def test_the_trainer_trains_the_tokenizer(name: str) -> None:
    nlp = TOKENIZERS[name].untrained()
    nlp.add_pipe(TOKENIZERS[name].trainer, name="trainer")
    gold = [gold_doc(nlp.vocab, number) for number in NUMBERS]
    nlp.initialize(lambda: [Example(doc.copy(), doc) for doc in gold])
    losses = [
        nlp.update([Example(doc.copy(), doc) for doc in gold], losses={})["trainer"]
        for _ in range(6)
    ]
    assert losses[0] > losses[-1]
    assert nlp.tokenizer.to_bytes() == trained_tokenizer(name).tokenizer.to_bytes()


@EVERY_PIPE
def test_a_correction_by_nothing_is_an_error(name: str) -> None:
    nlp = trained_pipe(name)
    pipe: Any = nlp.get_pipe("pipe")
    empty = [Example(doc.copy(), doc) for doc in (plain_doc(nlp.vocab, i) for i in NUMBERS)]
    for given in ([], empty):
        with pytest.raises(ValueError, match="give it nothing to learn"):
            pipe.correct(given)
        with pytest.raises(ValueError, match="give it nothing to learn"):
            pipe.update(given, correct=True)
