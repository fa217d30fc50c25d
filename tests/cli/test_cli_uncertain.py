"""`structreg uncertain`: questions, answers, and training on these."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_structreg.cli.uncertain import least_certain
from spacy_structreg.corpora.formats.partial import read_partial
from spacy_structreg.corpora.partial_sentence import PartialSentence
from spacy_structreg.pipeline.documents import UNKNOWN_WORDS, gold_words, partial_sentence
from spacy_structreg.pipeline.gold_docs import read_docbin

RAW = "小王在图书馆看书。学生明天去图书馆。\n\n老师在图书馆 看书，和学生。\n"


def margins_of(pipeline: str, text: str) -> list[tuple[str, np.ndarray]]:
    model = spacy.load(pipeline).tokenizer.model
    return [each for found in model.predict_margins(text.splitlines()) for each in found]


def asked_in(path: Path) -> list[tuple[str, list[int]]]:
    """The sentences of a file of questions, and which places are asked for."""
    found = []
    for line in path.read_text("utf-8").splitlines():
        assert set(line[1::2]) <= {" ", "?"}
        found.append((line[::2], [i for i, mark in enumerate(line[1::2]) if mark == "?"]))
    return found


def test_the_least_certain_decisions_are_asked_for(pipeline, runs, tmp_path: Path) -> None:
    raw, output = tmp_path / "raw.txt", tmp_path / "questions.partial"
    raw.write_text(RAW, encoding="utf-8")
    printed = runs("uncertain", pipeline, raw, output, "--n", 6)
    assert printed.startswith(f"{output}: 6 questions in ")
    least: dict[str, tuple[float, str, int]] = {}
    for text, margins in margins_of(pipeline, RAW):
        for place, margin in enumerate(np.abs(margins).tolist()):
            padded = f"  {text}  "
            context = padded[place + 1 : place + 5]
            least[context] = min(least.get(context, (np.inf, "", 0)), (margin, text, place))
    expected = sorted(sorted(least.values())[:6], key=lambda item: item[1:])
    found = [(text, place) for text, places in asked_in(output) for place in places]
    assert sorted(found) == [(text, place) for _, text, place in expected]


def test_of_a_short_text_a_tenth_is_asked_for(
    pipeline, runs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw, output = tmp_path / "raw.txt", tmp_path / "questions.partial"
    sentence = RAW.split("。", maxsplit=1)[0]
    for text, n_asked in ((sentence + "。", 1), (RAW, 3), (sentence[:2], 1)):
        raw.write_text(text, encoding="utf-8")
        printed = runs("uncertain", pipeline, raw, output, "--force")
        questions = "1 question" if n_asked == 1 else f"{n_asked} questions"
        assert printed.startswith(f"{output}: {questions} in ")
        assert sum(len(places) for _, places in asked_in(output)) == n_asked
    assert printed.endswith(" in 1 sentence\n")
    # Of a long one, no more than the number.
    monkeypatch.setattr("spacy_structreg.cli.uncertain.MOST", 2)
    raw.write_text(RAW, encoding="utf-8")
    runs("uncertain", pipeline, raw, output, "--force")
    assert sum(len(places) for _, places in asked_in(output)) == 2


def test_a_share(pipeline, runs, tmp_path: Path) -> None:
    raw, output = tmp_path / "raw.txt", tmp_path / "questions.partial"
    raw.write_text(RAW, encoding="utf-8")
    runs("uncertain", pipeline, raw, output, "--share", 0.1, "-t", 2)
    n_characters = len("".join(RAW.split()))
    assert sum(len(places) for _, places in asked_in(output)) == round(0.1 * n_characters)


def test_what_repeats_is_asked_once_and_memory_is_bounded() -> None:
    sentences = [("人大人大", np.array([0.5, 3.0, 1.0])), ("人大人大", np.array([0.4, 3.0, 2.0]))]
    ((one, first), (other, second)) = least_certain(sentences * 20_000, 2)
    assert (one.text, first, other.text, second) == ("人大人大", [2], "人大人大", [0])
    ((_, places),) = least_certain([("人大人大", np.array([np.inf, -3.0, np.inf]))], 5)
    assert places == [1]
    many = (
        (chr(0x4E00 + i % 20_000) + chr(0x4E00 + i // 20_000), np.array([float(-i - 1)]))
        for i in range(60_000)
    )
    assert [sentence.text for sentence, _ in least_certain(many, 3)] == ["一一", "丁一", "丂一"]
    with pytest.raises(ValueError, match="1 is the least"):
        least_certain([], 0)


def test_only_models_of_ours_are_unsure(characters, untrained, fails, tmp_path: Path) -> None:
    raw = tmp_path / "raw.txt"
    raw.write_text(RAW, encoding="utf-8")
    output = tmp_path / "questions.partial"
    assert "has no model that could be unsure" in fails("uncertain", characters, raw, output)
    assert "train" in fails("uncertain", untrained, raw, output)
    assert not output.exists()


# Answers ------------------------------------------------------------------------------------------

ANSWERS = "小-王|在?图-书-馆|看 书 。\n老-师|在|图\n"


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    path = tmp_path / "answers.partial"
    path.write_text(ANSWERS, encoding="utf-8")
    return path


def test_answers_become_docs_and_partial_annotation_again(answers, runs, tmp_path) -> None:
    corpus, again = tmp_path / "answers.spacy", tmp_path / "again.partial"
    runs("convert", answers, corpus)
    one, other = read_docbin(corpus, Vocab())
    assert [token.text for token in one] == ["小王", "在", "图书馆", "看", "书", "。"]
    assert [(span.start, span.end) for span in one.spans[UNKNOWN_WORDS]] == [(1, 3), (3, 6)]
    assert UNKNOWN_WORDS not in other.spans
    assert partial_sentence(other) is None
    sentence = partial_sentence(one)
    assert sentence == next(read_partial(answers))
    with pytest.raises(ValueError, match="known in part"):
        gold_words(one)
    runs("convert", corpus, again)
    assert again.read_text("utf-8") == ANSWERS.replace("?", " ")


@pytest.mark.parametrize("name", ["o.txt", "o.conllu"])
def test_other_corpora_cannot_say_it(name: str, answers, fails, tmp_path: Path) -> None:
    message = fails("convert", answers, tmp_path / name)
    assert "known in part, which only .spacy and .json, .jsonl, .partial files can say" in message
    assert not (tmp_path / name).exists()


def test_docs_say_it_by_a_span_group() -> None:
    doc = Doc(Vocab(), words=["小王", " ", "在", "图", "书馆"], tags=["NR", "_SP", "", "", ""])
    doc.spans[UNKNOWN_WORDS] = [doc[2:5], doc[0:1]]
    assert partial_sentence(doc) == PartialSentence(
        "小王在图书馆", (False, True, None, None, False), ((0, 2, "NR"),)
    )


@pytest.mark.slow
def test_answers_are_learned_for_real(command, pipeline, text, tmp_path: Path, answers) -> None:
    """Questions are asked, answered, and trained on, together with whole sentences."""
    (tmp_path / "train.txt").write_text(text, encoding="utf-8")
    (tmp_path / "raw.txt").write_text(RAW, encoding="utf-8")
    for arguments in (
        "init-config segment.cfg --task segment",
        f"uncertain {pipeline} raw.txt questions.partial -n 5",
        "convert train.txt questions.partial answers.partial train.spacy",
        "convert train.txt dev.spacy",
        "fit segment.cfg out --train train.spacy --dev dev.spacy --training.max_epochs 3",
    ):
        done = command("structreg", *arguments.split())
        assert done.returncode == 0, done.stderr.decode()
    tokens = [token.text for token in spacy.load(tmp_path / "out")("小王在图书馆看书。")]
    assert "图书馆" in tokens
    arguments = "fit segment.cfg other --train train.spacy --dev train.spacy"
    failed = command("structreg", *arguments.split())
    assert failed.returncode == 1
    assert b"development corpus: it is annotated in part" in failed.stderr


def test_the_tokenizer_learns_by_update(pipeline: str) -> None:
    nlp = spacy.load(pipeline)
    doc = Doc(nlp.vocab, words=["王看", "老", "师"], spaces=[False] * 3)
    doc.spans[UNKNOWN_WORDS] = [doc[1:3]]
    for _ in range(20):
        nlp.tokenizer.update([doc])
    assert nlp("王看老师")[0].text == "王看"
    with pytest.raises(ValueError, match="known in part"):
        nlp.tokenizer.score([Example(nlp("王看老师"), doc)])
