"""Components and tokenizers in threads and in memory zones, and how they read and write Docs."""

from __future__ import annotations

import gc
import pickle
from collections.abc import Iterable, Iterator
from itertools import chain, islice, repeat
from typing import Any

import components
import numpy as np
import pytest
import spacy
from components import WORDS, examples, trained_tokenizer
from hypothesis import given
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_structreg.corpora.sentences import LONGEST
from spacy_structreg.pipeline import documents
from spacy_structreg.pipeline.component import EstimatorPipe, model_bounds, sentence_bounds
from spacy_structreg.pipeline.documents import AttributeReader, TagWriter
from spacy_structreg.pipeline.tree_pipe import write_heads

# Words that no training has, white space, and names of symbols, whose keys are no hashes.
STRANGE = [
    ["NOUN", "看", "X"],
    [" ", "我", "\n\n", "看 了", "书"],
    ["　"],
    [],
    ["鑫", "👍", "ORTH"],
]

PIPES = {pipe.factory: pipe for pipe in components.PIPES.values()}
TOKENIZERS = {"Segmenter": "segmenter", "JointTagger": "joint tagger"}


@pytest.fixture(scope="module")
def pipelines() -> dict[str, Language]:
    """A trained pipeline of one component each."""
    return {factory: pipe.trained(passes=3) for factory, pipe in PIPES.items()}


@pytest.fixture(scope="module")
def tokenizers() -> dict[str, Language]:
    return {name: trained_tokenizer(key) for name, key in TOKENIZERS.items()}


def plain_doc(vocab: Vocab, words: Iterable[str], tags: Iterable[str] | None = None) -> Doc:
    words = list(words)
    return Doc(
        vocab,
        words=words,
        spaces=[False] * len(words),
        tags=None if tags is None else list(tags),
    )


def inputs(vocab: Vocab, n: int = 40) -> Iterator[Doc]:
    """Docs with and without tags and sentences, white space among their words."""
    kinds = [*WORDS, *STRANGE]
    for number in range(n):
        words = kinds[number % len(kinds)] * (1 + number % 3)
        tags = ["NN" if i % 2 else "" for i in range(len(words))] if number % 4 == 1 else None
        doc = plain_doc(vocab, words, tags)
        if number % 5 == 2:
            for i in range(1, len(doc)):
                doc[i].is_sent_start = i % 3 == 0
        yield doc


def content(doc: Doc) -> dict[str, Any]:
    """All that a Doc has, as it is saved; but for the strings, which have no order."""
    saved = doc.to_dict()  # type: ignore[attr-defined]  # missing from the stub
    found = {
        key: value.tolist() if isinstance(value, np.ndarray) else value
        for key, value in saved.items()
        if key != "strings"
    }
    return found | {
        "cats": doc.cats,
        "children": [(token.n_lefts, token.n_rights) for token in doc],
    }


def component(nlp: Language) -> EstimatorPipe:
    found = nlp.get_pipe("pipe")
    assert isinstance(found, EstimatorPipe)
    return found


# Threads -----------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*learned from words with tags")
@pytest.mark.parametrize("factory", PIPES)
def test_docs_do_not_depend_on_the_number_of_threads(
    factory: str, pipelines: dict[str, Language], monkeypatch: pytest.MonkeyPatch
) -> None:
    nlp = pipelines[factory]
    single = [content(nlp.get_pipe("pipe")(doc)) for doc in inputs(nlp.vocab)]
    assert single != [content(doc) for doc in inputs(nlp.vocab)]
    for n_threads in (1, 2, 5):
        monkeypatch.setattr(component(nlp), "n_threads", n_threads)
        docs = list(inputs(nlp.vocab))
        found = list(nlp.pipe(iter(docs), batch_size=3))
        assert list(map(id, found)) == list(map(id, docs))
        assert list(map(content, found)) == single


@pytest.mark.parametrize("name", TOKENIZERS)
def test_a_tokenizer_uses_its_threads(
    name: str, tokenizers: dict[str, Language], monkeypatch: pytest.MonkeyPatch
) -> None:
    nlp = tokenizers[name]
    asked: list[int] = []
    stream = nlp.tokenizer.model.analyze_stream

    def noted(texts: Iterable[str], *, n_threads: int, **settings: Any) -> Any:
        asked.append(n_threads)
        return stream(texts, n_threads=n_threads, **settings)

    monkeypatch.setattr(nlp.tokenizer.model, "analyze_stream", noted)
    texts = ["".join(words) for words in [*WORDS, *STRANGE]] * 5
    single = [content(nlp.make_doc(text)) for text in texts]
    for n_threads in (1, 3):
        monkeypatch.setattr(nlp.tokenizer, "n_threads", n_threads)
        assert list(map(content, nlp.pipe(nlp.tokenizer.pipe(texts)))) == single
    assert list(map(content, nlp.tokenizer.pipe(texts, n_threads=2))) == single
    assert asked == [1, 3, 2]


def test_an_endless_stream_is_read_a_few_docs_ahead(
    pipelines: dict[str, Language], monkeypatch: pytest.MonkeyPatch
) -> None:
    nlp = pipelines["structreg_tagger"]
    monkeypatch.setattr(component(nlp), "n_threads", 2)
    n_read = 0

    def endless() -> Iterator[Doc]:
        nonlocal n_read
        for words in repeat(WORDS[0]):
            n_read += 1
            yield plain_doc(nlp.vocab, words)

    found = list(islice(component(nlp).pipe(endless(), batch_size=5), 12))
    assert content(found[-1]) == content(nlp(plain_doc(nlp.vocab, WORDS[0])))
    assert n_read <= 12 + 5 * 6


def test_the_number_of_threads_is_a_setting(
    pipelines: dict[str, Language], tokenizers: dict[str, Language]
) -> None:
    pipes = [*map(component, pipelines.values()), *(nlp.tokenizer for nlp in tokenizers.values())]
    for each in pipes:
        for wrong in (0, "2", 1.5):
            with pytest.raises(ValueError, match=rf"n_threads must be .*, got {wrong!r}"):
                each.n_threads = wrong
        assert each.n_threads == 1
    for nlp in tokenizers.values():
        block = nlp.config["nlp"]["tokenizer"]
        other = spacy.blank("zh", config={"nlp": {"tokenizer": {**block, "n_threads": 2}}})
        assert pickle.loads(pickle.dumps(other.tokenizer)).n_threads == 2
        assert other.tokenizer.with_estimator(other.tokenizer.model).n_threads == 2
        with pytest.raises(ValueError, match=r"n_threads must be .*, got 0"):
            spacy.blank("zh", config={"nlp": {"tokenizer": {**block, "n_threads": 0}}})


# Memory ------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*learned from words with tags")
@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("factory", PIPES)
def test_a_second_memory_zone_is_as_the_first(
    factory: str,
    n_threads: int,
    pipelines: dict[str, Language],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nlp = pipelines[factory]
    monkeypatch.setattr(component(nlp), "n_threads", n_threads)
    # Words and tags that are in no vocabulary before, and forgotten between the zones.
    words, tags = ["龘", "龖", "看", "靐"], ["", "TAG-OF-A-ZONE", "", ""]

    def annotated(*others: Doc) -> list[Any]:
        docs = [*inputs(nlp.vocab), *others]
        return [
            (content(doc), [(t.text, t.tag_, t.pos_, t.dep_, t.ent_type_) for t in doc])
            for doc in nlp.pipe(docs, batch_size=4)
        ]

    outside = annotated()
    with nlp.memory_zone():
        first = annotated(plain_doc(nlp.vocab, words, tags))
        assert "靐" in nlp.vocab.strings
    assert "靐" not in nlp.vocab.strings
    with nlp.memory_zone():
        # Takes the memory that the first has given back.
        list(map(nlp.vocab.strings.add, (f"other {i}" for i in range(100))))
        second = annotated(plain_doc(nlp.vocab, words, tags))
    assert first[:-1] == outside
    assert second == first


@pytest.mark.parametrize("name", TOKENIZERS)
def test_a_second_memory_zone_of_a_tokenizer(name: str, tokenizers: dict[str, Language]) -> None:
    nlp = tokenizers[name]
    texts = ["".join(words) for words in [*WORDS, *STRANGE]] + ["爨爨看灪"]

    def found() -> list[Any]:
        docs = chain(map(nlp, texts), nlp.pipe(nlp.tokenizer.pipe(texts, n_threads=2)))
        return [[(t.text, t.whitespace_, t.tag_) for t in doc] for doc in docs]

    with nlp.memory_zone():
        first = found()
    with nlp.memory_zone():
        second = found()
    assert first == second == found()


@pytest.mark.slow
def test_memory_stays_flat(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all components, one after the other."""
    resource = pytest.importorskip("resource")
    nlp = spacy.blank("zh")
    for factory, pipe in PIPES.items():
        nlp.add_pipe(factory, config={**pipe.settings, "n_threads": 2})
    gold = examples(nlp.vocab)
    nlp.initialize(lambda: gold)
    nlp.update(gold)
    # Else so few words would not fill what is remembered of them.
    monkeypatch.setattr(documents, "_MOST_STRINGS", 500)
    peaks = []
    for number in range(40):
        with nlp.memory_zone():
            # Every word is new: nothing of it may be kept.
            words = [f"{number}字{i}" for i in range(500)]
            docs = (plain_doc(nlp.vocab, words[i::50], ["NN"] * 10) for i in range(50))
            for _ in nlp.pipe(docs):
                pass
        gc.collect()
        peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    # In kilobytes; 10,000 words take more than that where they are kept.
    assert peaks[-1] - peaks[19] < 1_000


# Reading and writing -----------------------------------------------------------------------------


def test_strings_are_those_of_tokens() -> None:
    vocab = Vocab()
    texts, tags = AttributeReader(), AttributeReader(str.lower)
    for doc in inputs(vocab):
        assert texts.read(doc, "ORTH") == [token.text for token in doc]
        assert tags.read(doc, "TAG") == [token.tag_.lower() for token in doc]
    # A reader goes on with another vocabulary, and after many strings.
    for number in range(3):
        words = [f"{number} {i}" for i in range(30_000)]
        assert texts.read(Doc(Vocab(), words=words), "ORTH") == words
    doc = next(inputs(Vocab()))
    assert texts.read(doc, "ORTH") == [token.text for token in doc]
    docs = [Doc(Vocab(), words=[word]) for word in ("别", "處")]
    keys = [doc[0].orth for doc in docs]
    assert texts.strings(docs, keys) == ["别", "處"]
    with pytest.raises(KeyError):
        AttributeReader().strings(docs[:1], keys)


class Looked(dict[int, str]):
    """Strings that may be looked up, but not gone through."""

    def keys(self) -> Any:
        raise AssertionError("all that is known is gone through")

    __iter__ = keys


def test_a_new_string_takes_no_time_for_those_that_are_known() -> None:
    vocab, texts = Vocab(), AttributeReader()
    texts._known = Looked()
    for words in (["字", "词"], ["字", "句"]):
        assert texts.read(Doc(vocab, words=words), "ORTH") == words


VALUES = {"TAG": ["", "NN", "VV", "X", "別"], "POS": ["", "NOUN", "VERB", "X"]}


@given(data=st.data(), attribute=st.sampled_from(["TAG", "POS"]), overwrite=st.booleans())
def test_tags_are_written_as_token_by_token(data: Any, attribute: Any, overwrite: bool) -> None:
    values = st.sampled_from(VALUES[attribute])
    drawn = data.draw(
        st.lists(st.tuples(st.sampled_from(["字", "NOUN", " ", "\n", "　"]), values, values))
    )
    vocab = Vocab()
    before = {attribute.lower() if attribute == "POS" else "tags": [old for _, old, _ in drawn]}
    written, expected = (
        Doc(vocab, words=[word for word, _, _ in drawn], **before) for _ in range(2)
    )
    TagWriter(attribute, "SPACE", overwrite=overwrite).write(written, [new for *_, new in drawn])
    name = f"{attribute.lower()}_"
    for token, (_, _, new) in zip(expected, drawn, strict=True):
        value = "SPACE" if not new and token.is_space else new
        if value and (overwrite or not getattr(token, name)):
            setattr(token, name, value)
    assert content(written) == content(expected)
    assert [getattr(token, name) for token in written] == [getattr(t, name) for t in expected]
    assert written.has_annotation(attribute) == expected.has_annotation(attribute)


def test_tags_that_do_not_fit_are_refused() -> None:
    doc = plain_doc(Vocab(), ["字", "词"])
    with pytest.raises(ValueError, match="length"):
        TagWriter("TAG", "_SP", overwrite=True).write(doc, ["NN"])
    with pytest.raises(KeyError, match="NONE"):
        TagWriter("POS", "SPACE", overwrite=True).write(doc, ["NOUN", "NONE"])


@given(heads=st.lists(st.integers(0, 7), min_size=1, max_size=8), data=st.data())
def test_heads_are_written_as_spacy_does(heads: list[int], data: Any) -> None:
    # A word hangs on one before it, or is a root: so there is no circle.
    places = [min(head, i) for i, head in enumerate(heads)]
    labels = data.draw(st.lists(st.sampled_from(["nsubj", "ROOT", "dep", "別"]), min_size=8))
    labels = labels[: len(heads)]
    words = ["字"] * len(heads)
    vocab = Vocab()
    written = Doc(vocab, words=words)
    above = [-1 if place == i else place for i, place in enumerate(places)]
    write_heads(written, above, labels)
    expected = Doc(vocab, words=words, heads=places, deps=labels)
    assert content(written) == content(expected)
    assert [token.head.i for token in written] == places
    assert [token.dep_ for token in written] == labels


@given(starts=st.lists(st.sampled_from([None, True, False]), max_size=9))
def test_sentences_are_those_of_the_doc(starts: list[bool | None]) -> None:
    doc = Doc(Vocab(), words=["字"] * len(starts), sent_starts=starts)
    expected = [(0, len(doc))] if len(doc) else []
    if doc.has_annotation("SENT_START"):
        expected = [(sentence.start, sentence.end) for sentence in doc.sents]
    assert list(sentence_bounds(doc)) == expected
    doc.user_hooks["sents"] = lambda doc: (doc[i : i + 1] for i in range(len(doc)))
    assert list(sentence_bounds(doc)) == [(i, i + 1) for i in range(len(doc))]


def test_models_take_parts_of_long_sentences() -> None:
    words = ["字"] * 2 * LONGEST
    words[LONGEST - 9] = "，"
    spaces = [False] * len(words)
    starts = [i in (0, 5) for i in range(len(words))]
    known = Doc(Vocab(), words=words, spaces=spaces, sent_starts=starts)
    assert list(model_bounds(Doc(Vocab(), words=words, spaces=spaces))) == [
        (0, LONGEST - 8),
        (LONGEST - 8, 2 * LONGEST - 8),
        (2 * LONGEST - 8, 2 * LONGEST),
    ]
    assert list(model_bounds(known))[:2] == [(0, 5), (5, LONGEST - 8)]
    assert list(sentence_bounds(known)) == [(0, 5), (5, 2 * LONGEST)]
    short = Doc(Vocab(), words=["好", "。"] * (LONGEST // 2))
    assert list(model_bounds(short)) == [(0, LONGEST)]
    assert list(model_bounds(Doc(Vocab()))) == []
