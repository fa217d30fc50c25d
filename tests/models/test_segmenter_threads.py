"""Threads: the same words as one by one, bounded look-ahead, prediction beside training."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from made_up_corpora import sentences

from spacy_structreg.models.segmentation import CharacterSegmenter

Corpus = list[list[str]]


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """Thousands of texts of very different lengths, several portions of work in all."""
    lines = ["".join(words) for words in sentences(24_000, seed=4)]
    return [
        *lines[:8_000],
        "",
        " \n",
        "".join(lines[8_000:16_000]),
        *lines[16_000:],
        "".join(lines),
    ]


@pytest.mark.parametrize("n_threads", [1, 2])
def test_spans_of_batches_equal_one_by_one(
    n_threads: int, fitted: CharacterSegmenter, texts: list[str]
) -> None:
    few = ["", *texts[:1500], " \n", ""]
    spans, starts = fitted.predict_spans_batch(iter(few), n_threads=n_threads)
    assert spans.dtype == starts.dtype == np.int64
    assert starts.shape == (len(few) + 1,)
    for i, text in enumerate(few):
        assert spans[starts[i] : starts[i + 1]].tolist() == fitted.predict_spans(text).tolist()
    listed = [texts[0][1:4]]
    spans, _ = fitted.predict_spans_batch(texts[:1], user_words=listed)
    assert spans.tolist() == fitted.predict_spans(texts[0], listed).tolist()
    none, starts = fitted.predict_spans_batch([], n_threads=n_threads)
    assert none.shape == (0, 2)
    assert starts.tolist() == [0]


def test_one_segmenter_in_many_threads(fitted: CharacterSegmenter, texts: list[str]) -> None:
    few = texts[:500]
    words, spans = fitted.predict_batch(few), [fitted.predict_spans(text).tolist() for text in few]
    best = [fitted.nbest(text, 3) for text in few]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(fitted.predict, few)) == words
        assert [s.tolist() for s in pool.map(fitted.predict_spans, few)] == spans
        assert list(pool.map(lambda text: fitted.nbest(text, 3), few)) == best


@pytest.mark.parametrize("n_threads", [1, 2, 4])
def test_an_endless_stream(n_threads: int, fitted: CharacterSegmenter) -> None:
    taken = 0

    def endless() -> Iterator[str]:
        nonlocal taken
        for number in itertools.count():
            taken += 1
            assert taken < 20_000, "the stream is read without bounds"
            yield f"今天天气很好{number}。" * 20

    stream = fitted.predict_stream(endless(), n_threads=n_threads)
    assert taken == 0
    for number, words in enumerate(itertools.islice(stream, 3_000)):
        assert "".join(words) == f"今天天气很好{number}。" * 20
        # About 200 characters a text: no more than half a million a thread lie ahead.
        assert taken - number < 2_500 * (n_threads + 1)
    stream.close()
    before = taken
    assert next(stream, None) is None
    assert taken == before


def test_endless_texts_without_characters(fitted: CharacterSegmenter) -> None:
    def endless() -> Iterator[str]:
        yield from itertools.repeat("", 3_000_000)
        raise AssertionError("the stream is read without bounds")

    stream = fitted.predict_stream(endless(), n_threads=2)
    assert list(itertools.islice(stream, 10)) == [[]] * 10
    stream.close()


@pytest.mark.parametrize("n_threads", [1, 3])
def test_a_stream_that_breaks_off(n_threads: int, fitted: CharacterSegmenter) -> None:
    def broken() -> Iterator[str]:
        yield from ["今天"] * 100_000
        raise OSError("the pipe is gone")

    stream = fitted.predict_stream(broken(), n_threads=n_threads)
    with pytest.raises(OSError, match="the pipe is gone"):
        list(stream)
    assert "".join(fitted.predict("今天")) == "今天"


def watch(
    predict: Callable[[], tuple[str, ...]], change: Callable[[], object]
) -> set[tuple[str, ...]]:
    """All that three threads see predicted while a fourth changes the weights."""
    seen: set[tuple[str, ...]] = set()
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            seen.add(predict())

    with ThreadPoolExecutor(3) as pool:
        watchers = [pool.submit(look) for _ in range(3)]
        try:
            change()
        finally:
            stop.set()
        for watcher in watchers:
            watcher.result()
    seen.add(predict())
    return seen


def test_prediction_beside_partial_fit(train: Corpus, dev: Corpus) -> None:
    """Whatever is seen is what the weights between two passes give, never anything mixed."""
    text = "".join("".join(words) for words in dev)
    passes = [train[i::10] for i in range(10)] * 3

    def segmenter() -> CharacterSegmenter:
        return CharacterSegmenter().partial_fit(train[:3])

    slow = segmenter()
    valid = [tuple(slow.predict(text))]
    for corpus in passes:
        valid.append(tuple(slow.partial_fit(corpus).predict(text)))
    assert len(set(valid)) > 10
    busy = segmenter()

    def change() -> None:
        for corpus in passes:
            busy.partial_fit(corpus)

    seen = watch(lambda: tuple(busy.predict(text)), change)
    assert seen <= set(valid)
    assert valid[-1] in seen
    assert busy.to_bytes(state="training") == slow.to_bytes(state="training")


def test_prediction_beside_fit_and_save(train: Corpus, dev: Corpus, tmp_path: object) -> None:
    text = "".join("".join(words) for words in dev)
    segmenter = CharacterSegmenter(epochs=1).fit(train[:5])
    before = tuple(segmenter.predict(text))
    after = tuple(CharacterSegmenter(epochs=1).fit(train).predict(text))
    assert before != after
    segmenter.save(f"{tmp_path}/m.srm")
    segmenter = CharacterSegmenter.load(f"{tmp_path}/m.srm")

    def change() -> None:
        for _ in range(20):
            segmenter.save(f"{tmp_path}/m.srm")
        for _ in range(5):
            # The epochs of the file are those of the constructor.
            segmenter.fit(train)
            segmenter.save(f"{tmp_path}/m.srm")

    seen = watch(lambda: tuple(segmenter.predict(text)), change)
    assert seen <= {before, after}
    assert after in seen


def test_several_threads_train_one_segmenter(train: Corpus) -> None:
    """Passes exclude each other; which goes first is chance, that none is lost is not."""
    segmenter = CharacterSegmenter()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: segmenter.partial_fit(train), range(8)))
    straight = CharacterSegmenter()
    for _ in range(8):
        straight.partial_fit(train)
    assert segmenter.to_bytes(state="training") == straight.to_bytes(state="training")
