"""Alternatives and confidence on Docs: what estimators say of themselves, kept and calibrated."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from contract.components import PIPES, trained_pipe
from looped import looped
from pipeline.made_up import DEV, TEXTS, copies, tagged_doc, trained, trained_joint
from small_pipeline import gold_doc
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_structreg.corpora.dependencies import ROOT
from spacy_structreg.models.calibration import Calibration
from spacy_structreg.models.margins import agreement_margins, word_margins
from spacy_structreg.pipeline.analyses import USER_DATA, Analyses, analyses_of, register_analyses
from spacy_structreg.pipeline.calibration import calibrate_pipeline, measure_decisions
from spacy_structreg.pipeline.task import Given

INF = float("inf")
CURVE = Calibration((-1.0, 1.0), (0.25, 0.75))
pytestmark = pytest.mark.usefixtures("extensions")


@pytest.fixture(scope="module")
def segmenter() -> bytes:
    return pickle.dumps(trained().tokenizer)


@pytest.fixture(scope="module")
def pipes() -> bytes:
    """A pipeline that tags and parses given words."""
    nlp = spacy.blank("zh")
    for name in ("tagger", "parser"):
        trained = trained_pipe(name)
        config = {"attribute": "tag"} if name == "tagger" else {}
        pipe = nlp.add_pipe(PIPES[name].factory, name=name, config=config)
        estimator = trained.get_pipe("pipe").estimator.untrained()
        gold = [gold_doc(nlp.vocab, number) for number in range(3)]
        pipe.estimator = estimator.fit(
            [each for doc in gold for each in pipe.gold(Example(doc, doc))[0]]
        )
    return pickle.dumps(nlp)


def with_tokenizer(pickled: bytes) -> Language:
    nlp = spacy.blank("zh")
    nlp.tokenizer = pickle.loads(pickled)
    return nlp


def of_pipes(pickled: bytes, **kept: Any) -> Language:
    nlp = pickle.loads(pickled)
    for name in nlp.pipe_names:
        nlp.get_pipe(name).keep_analyses(**kept)
    return nlp


def words_doc(nlp: Language, words: list[str]) -> Doc:
    return Doc(nlp.vocab, words=words, spaces=[False] * len(words))


def same(one: Analyses, other: Analyses) -> bool:
    """True if all is equal, arrays bit by bit."""
    assert one.confidence.keys() == other.confidence.keys()
    for kind, (margins, probabilities) in one.confidence.items():
        np.testing.assert_array_equal(margins, other.confidence[kind].margins)
        np.testing.assert_array_equal(probabilities, other.confidence[kind].probabilities)
    return one.alternatives == other.alternatives


# Margins ------------------------------------------------------------------------------------------


def test_margins_by_hand() -> None:
    analyses = [(9.0, "NVN"), (7.0, "NVV"), (4.0, "VVN")]
    assert agreement_margins(analyses, "NVN").tolist() == [5, INF, 2]
    # The decision of a narrower beam may be another one than the best.
    assert agreement_margins(analyses, "VNV").tolist() == [-5, -INF, -2]
    assert agreement_margins([], "NV").tolist() == [INF, INF]
    margins = np.array([3.0, -2.0, -1.0, 4.0])
    assert word_margins(margins, [(0, 1), (1, 4), (4, 5)]).tolist() == [3, 1, 4]
    assert word_margins(margins, [(0, 2), (2, 5)]).tolist() == [-3, -4]
    assert word_margins(np.empty(0), [(0, 1)]).tolist() == [INF]


# Tokenizers ---------------------------------------------------------------------------------------


def test_nothing_is_kept_unless_asked_for(segmenter: bytes) -> None:
    doc = with_tokenizer(segmenter)(TEXTS[0])
    assert doc.user_data == {}
    assert not Doc.has_extension("structreg")
    assert analyses_of(doc) == Analyses()


def test_words_and_boundaries(segmenter: bytes) -> None:
    nlp = with_tokenizer(segmenter)
    nlp.tokenizer.keep_analyses(alternatives=3, confidence=True)
    text = "老师 在图书馆看书。小王去河边"
    for doc in (nlp(text), next(nlp.pipe([text])), next(nlp.tokenizer.pipe([text]))):
        found = doc._.structreg
        (of_text,) = found.alternatives["words"]
        expected = nlp.tokenizer.model.nbest(text, 3)
        assert [(each.score, each.of) for each in of_text] == expected
        assert {(each.start, each.end) for each in of_text} == {(0, len(doc))}
        boundaries, probabilities = found.confidence["boundaries"]
        assert (len(boundaries), probabilities) == (len(text) - 1, None)
        sentences = next(nlp.tokenizer.model.predict_margins([text]))
        assert [sentence for sentence, _ in sentences] == ["老师在图书馆看书。", "小王去河边"]
        # Beside white space, and where a sentence ends, there is no choice.
        (_, first), (_, second) = sentences
        expected_margins = [first[0], INF, INF, *first[2:], INF, *second]
        np.testing.assert_array_equal(boundaries, expected_margins)
        words = found.confidence["words"].margins
        for token, margin in zip(doc, words.tolist(), strict=True):
            start, end = token.idx, token.idx + len(token)
            sides = [INF, *boundaries.tolist(), INF]
            assert margin == min(sides[start], sides[end], *(-m for m in sides[start + 1 : end]))


def test_listed_words_and_spans_decide(segmenter: bytes) -> None:
    nlp = with_tokenizer(segmenter)
    nlp.tokenizer.keep_analyses(confidence=True)
    text = "老师在图书馆"
    before = nlp(text)._.structreg.confidence["boundaries"].margins
    assert [token.text for token in nlp(text)] == ["老师", "在", "图书馆"]
    spans = nlp.tokenizer(text, spans=[(1, 3)])
    nlp.tokenizer.user_words.add("师在")
    listed = nlp(text)
    for doc in (spans, listed):
        assert [token.text for token in doc][1] == "师在"
        margins = doc._.structreg.confidence["boundaries"].margins
        assert margins.tolist() == [INF, -INF, *before[2:]]


@looped("text", ["", " ", "人", " 人\n", "\U0001f600人"])
def test_little_text(text: str, segmenter: bytes) -> None:
    nlp = with_tokenizer(segmenter)
    nlp.tokenizer.keep_analyses(alternatives=2, confidence=True)
    doc = nlp(text)
    found = doc._.structreg.confidence
    assert len(found["boundaries"].margins) == max(0, len(text) - 1)
    assert len(found["words"].margins) == len(doc)


def test_tags_of_a_joint_tokenizer_by_brute_force() -> None:
    nlp = trained_joint(passes=3)
    nlp.tokenizer.keep_analyses(alternatives=2, confidence=True)
    doc = nlp("她 买书")
    found = doc._.structreg
    (of_text,) = found.alternatives["words"]
    assert [(each.score, each.of) for each in of_text] == nlp.tokenizer.model.nbest(doc.text, 2)
    margins = found.confidence["tags"].margins
    analyses = nlp.tokenizer.model.nbest("她买书", 1_000_000)
    visible = [token for token in doc if not token.is_space]
    at = 0
    for token in visible:
        best = {True: -INF, False: -INF}
        for score, pairs in analyses:
            (tag,) = [
                tag
                for (_, tag), end in zip(
                    pairs, np.cumsum([len(word) for word, _ in pairs]).tolist(), strict=True
                )
                if end > at
            ][:1]
            best[tag == token.tag_] = max(best[tag == token.tag_], score)
        assert margins[token.i] == pytest.approx(best[True] - best[False])
        at += len(token)
    assert np.isfinite(margins).any()
    other = next(tag for tag in nlp.tokenizer.model.tags if tag != visible[0].tag_)
    nlp.tokenizer.user_words.add(visible[0].text, tag=other)
    doc = nlp(doc.text)
    assert (doc[0].tag_, doc._.structreg.confidence["tags"].margins[0]) == (other, INF)


# Components ---------------------------------------------------------------------------------------


def test_tags_and_heads(pipes: bytes) -> None:
    nlp = of_pipes(pipes, alternatives=3, confidence=True)
    words = ["小", "王", "看", "旧", "书", "。"]
    doc = nlp(words_doc(nlp, words))
    found = doc._.structreg
    tags = [token.tag_ for token in doc]
    tagged = nlp.get_pipe("tagger").estimator.nbest(words, 16, beam=16)
    assert len(tagged) == 16
    (of_doc,) = found.alternatives["tags"]
    assert [(each.score, each.of) for each in of_doc] == tagged[:3]
    trees = nlp.get_pipe("parser").estimator.nbest(words, tags, 16)
    (of_doc,) = found.alternatives["heads"]
    for each, (score, tree) in zip(of_doc, trees, strict=False):
        heads = [i if head == ROOT else head for i, head in enumerate(tree.heads)]
        assert (each.score, each.of) == (score, list(zip(heads, tree.labels, strict=True)))
        assert (each.start, each.end) == (0, len(doc))
    heads = [ROOT if token.head.i == token.i else token.head.i for token in doc]
    for kind, analyses, decided in (
        ("tags", tagged, tags),
        ("heads", [(score, tree.heads) for score, tree in trees], heads),
    ):
        for i, margin in enumerate(found.confidence[kind].margins.tolist()):
            agree = [score for score, each in analyses if each[i] == decided[i]]
            others = [score for score, each in analyses if each[i] != decided[i]]
            assert margin == max(agree, default=-INF) - max(others, default=-INF)
    assert np.isfinite(found.confidence["tags"].margins).any()


def test_sentences_and_given_tags(pipes: bytes) -> None:
    nlp = of_pipes(pipes, alternatives=2, confidence=True)
    doc = Doc(
        nlp.vocab,
        words=["我", "看", "书", "他", "写", "字"],
        tags=["PN", "", "", "", "", ""],
        sent_starts=[True, False, False, True, False, False],
    )
    doc = nlp(doc)
    found = doc._.structreg
    assert found.confidence["tags"].margins[0] == INF
    for kind in ("tags", "heads"):
        first, second = found.alternatives[kind]
        assert {(each.start, each.end) for each in first} == {(0, 3)}
        assert {(each.start, each.end) for each in second} == {(3, 6)}
    heads = {head for each in found.alternatives["heads"][1] for head, _ in each.of}
    assert heads <= {3, 4, 5}
    assert nlp(words_doc(nlp, []))._.structreg.alternatives == {"tags": [], "heads": []}


def test_constituents() -> None:
    nlp = PIPES["constituency"].trained(alternatives=3)
    pipe = nlp.get_pipe("pipe")
    words, tags = ["我", "看", "书"], ["PN", "VV", "NN"]
    doc = nlp(Doc(nlp.vocab, words=["\n", *words], tags=["", *tags], spaces=[False] * 4))
    (of_doc,) = doc._.structreg.alternatives["constituents"]
    expected = [
        (score, [(each.label, each.begin + 1, each.end + 1) for each in tree.constituents])
        for score, tree in pipe.estimator.nbest(words, tags, 3)
    ]
    assert [(each.score, each.of) for each in of_doc] == expected
    assert doc._.structreg.confidence == {}
    with pytest.raises(ValueError, match="no margins"):
        pipe.keep_analyses(confidence=True)


# Docs that travel ---------------------------------------------------------------------------------


def test_docs_are_stored_and_copied_with_it(pipes: bytes) -> None:
    nlp = of_pipes(pipes, alternatives=2, confidence=True)
    nlp.get_pipe("tagger").calibrations["tags"] = CURVE
    doc = nlp(words_doc(nlp, ["小", "王", "看", "书"]))
    for other in copies(doc):
        assert same(doc._.structreg, other._.structreg)
        assert isinstance(other._.structreg.alternatives["heads"][0][0].of[0], tuple)


def test_what_is_of_tokens_goes_with_them(segmenter: bytes, pipes: bytes) -> None:
    nlp = of_pipes(pipes, alternatives=2, confidence=True)
    tokenizer = with_tokenizer(segmenter).tokenizer
    tokenizer.keep_analyses(alternatives=2, confidence=True)
    nlp.tokenizer = tokenizer
    tokenizer.vocab = nlp.vocab
    for change in ("merge", "split"):
        doc = nlp("小王看旧书。")
        before = doc._.structreg
        assert before.confidence.keys() == {"boundaries", "words", "tags", "heads"}
        token = max(doc, key=len)
        with doc.retokenize() as retokenizer:
            if change == "merge":
                retokenizer.merge(doc[:2])
            else:
                retokenizer.split(token, list(token.text), [token] * len(token))
        after = doc._.structreg
        assert after.confidence.keys() == {"boundaries"}
        assert after.alternatives == {"words": before.alternatives["words"]}


def test_names_of_the_attribute(segmenter: bytes) -> None:
    Doc.set_extension("structreg", default=3)
    nlp = with_tokenizer(segmenter)
    with pytest.raises(ValueError, match="taken by another extension; set extension_prefix"):
        nlp.tokenizer.keep_analyses(alternatives=1)
    assert nlp.tokenizer.alternatives == 0
    nlp.tokenizer.keep_analyses(alternatives=1, extension_prefix="my_")
    assert nlp(TEXTS[0])._.my_structreg.alternatives["words"]
    register_analyses("my_")
    for wrong in (-1, 2.5, "3", True):
        with pytest.raises(ValueError, match=r"alternatives is -1|give a whole number"):
            nlp.tokenizer.keep_analyses(alternatives=wrong)


def test_what_a_pipe_does_not_have_is_refused() -> None:
    nlp = spacy.blank("zh")
    for factory in ("structreg_sequence_labeler", "structreg_textcat"):
        with pytest.raises(ValueError, match="has no alternatives"):
            nlp.add_pipe(factory).keep_analyses(alternatives=1)
    for factory in (*nlp.pipe_names, nlp.add_pipe("structreg_constituency").name):
        with pytest.raises(ValueError, match="has no margins"):
            nlp.get_pipe(factory).keep_analyses(confidence=True)


def test_settings_come_from_the_config() -> None:
    tokenizer = {
        "@tokenizers": "spacy_structreg.JointTagger.v1",
        "model": {"@architectures": "spacy_structreg.CharacterJointTagger.v1"},
        "confidence": True,
    }
    nlp = spacy.blank("zh", config={"nlp": {"tokenizer": tokenizer}})
    assert Doc.has_extension("structreg")
    assert (nlp.tokenizer.alternatives, nlp.tokenizer.confidence) == (0, True)
    for factory in ("structreg_tagger", "structreg_parser"):
        pipe = nlp.add_pipe(factory, config={"alternatives": 4, "extension_prefix": "my_"})
        assert (pipe.alternatives, pipe.confidence, pipe.extension_prefix) == (4, False, "my_")
        assert pickle.loads(pickle.dumps(pipe)).kept_settings == pipe.kept_settings
        assert pipe.with_estimator(pipe.estimator.untrained()).alternatives == 4
    assert pickle.loads(pickle.dumps(nlp.tokenizer)).confidence
    # As long as nothing is trained, nothing is kept.
    assert nlp("人")._.structreg == Analyses()


# Calibration --------------------------------------------------------------------------------------


def test_probabilities_are_those_of_the_curve(pipes: bytes) -> None:
    nlp = of_pipes(pipes, confidence=True)
    nlp.get_pipe("tagger").calibrations["tags"] = CURVE
    found = nlp(words_doc(nlp, ["小", "王", "看", "书"]))._.structreg.confidence
    np.testing.assert_array_equal(found["tags"].probabilities, CURVE(found["tags"].margins))
    assert found["heads"].probabilities is None


def test_a_calibration_is_stored_with_the_pipeline(
    segmenter: bytes, pipes: bytes, tmp_path: Path
) -> None:
    nlp = pickle.loads(pipes)
    pipe = nlp.get_pipe("parser")
    pipe.calibrations["heads"] = CURVE
    tokenizer = with_tokenizer(segmenter).tokenizer
    tokenizer.calibrations["words"] = CURVE
    for part, kind in ((pipe, "heads"), (tokenizer, "words")):
        folder = tmp_path / kind
        part.to_disk(folder)
        assert pickle.loads(pickle.dumps(part)).calibrations == {kind: CURVE}
        other = part.with_estimator(part.estimator)
        # Another model has other margins.
        assert other.calibrations == {}
        assert other.from_bytes(part.to_bytes()).calibrations == {kind: CURVE}
        other.calibrations.clear()
        assert other.from_disk(folder).calibrations == {kind: CURVE}
        (folder / "calibration.json").write_text("{")
        with pytest.raises(ValueError, match=r"calibration\.json: .* cannot be read"):
            other.from_disk(folder)
        part.calibrations.clear()
        part.to_disk(folder)
        assert other.from_disk(folder).calibrations == {}
    with pytest.raises(ValueError, match="write them anew"):
        pipe.from_bytes(b"calibrated\n\xff")


@pytest.mark.parametrize("correct", [True, False])
def test_training_takes_curves_away(pipes: bytes, correct: bool) -> None:
    nlp = pickle.loads(pipes)
    tagger = nlp.get_pipe("tagger")
    tagger.calibrations["tags"] = CURVE
    gold = Doc(nlp.vocab, words=["小", "书"], tags=list(tagger.labels[:2]))
    tagger.update([Example(words_doc(nlp, ["小", "书"]), gold)], correct=correct)
    assert tagger.calibrations == {}


def test_decisions_are_compared_with_gold(segmenter: bytes) -> None:
    nlp = with_tokenizer(segmenter)
    gold = [words_doc(nlp, words) for words in (["老师", "在图书", "馆"], ["小王", "去", "河边"])]
    assert [token.text for token in nlp("老师在图书馆")] == ["老师", "在", "图书馆"]
    found = measure_decisions(nlp, gold, Given())
    boundaries, words = found["tokenizer", "boundaries"], found["tokenizer", "words"]
    assert boundaries.came_true.tolist() == [0, 1, 0, 0, 1, *[0, 1, 1, 0]]
    assert words.came_true.tolist() == [1, 0, 0, 1, 1, 1]
    assert words.docs.tolist() == [0, 0, 0, 1, 1, 1]
    assert not nlp.tokenizer.confidence


def test_tags_and_heads_are_compared_with_gold(pipes: bytes) -> None:
    nlp = pickle.loads(pipes)
    gold = [gold_doc(nlp.vocab, 0)]
    doc = nlp.get_pipe("parser")(gold_doc(nlp.vocab, 0))
    assert [token.head.i for token in doc] == [1, 1, 1, 1]
    gold[0][0].head = gold[0][2]
    found = measure_decisions(nlp, gold, Given(words=True, tags=True))
    assert list(found) == [("parser", "heads")]
    assert found["parser", "heads"].came_true.tolist() == [False, True, True, True]
    gold[0][1].tag_ = "XX"
    found = measure_decisions(nlp, gold, Given(words=True))
    assert found["tagger", "tags"].came_true.tolist()[1] is False
    untagged = [words_doc(nlp, ["我", "看"])]
    with pytest.raises(ValueError, match="decides anything that the gold corpus knows"):
        measure_decisions(nlp, untagged, Given(words=True))


def test_a_pipeline_is_calibrated() -> None:
    nlp = trained_joint(passes=1)
    gold = [tagged_doc(nlp.vocab, words) for words in DEV]
    reports = calibrate_pipeline(nlp, gold, Given())
    assert [report.kind for report in reports] == ["boundaries", "words", "tags"]
    assert nlp.tokenizer.calibrations.keys() == {"boundaries", "words", "tags"}
    found = measure_decisions(nlp, gold, Given())
    for report in reports:
        decisions = found["tokenizer", report.kind]
        assert len(decisions) == report.n == sum(row.n for row in report.bins_after)
        # What was learned from is met on the whole.
        share = float(decisions.came_true.mean())
        probabilities = nlp.tokenizer.calibrations[report.kind](decisions.margins)
        assert float(probabilities.mean()) == pytest.approx(share)
    nlp.tokenizer.keep_analyses(confidence=True)
    doc = nlp(TEXTS[0])
    assert doc.user_data[USER_DATA]["confidence"].keys() == {"boundaries", "words", "tags"}


# Words of a search index --------------------------------------------------------------------------


def test_words_inside_words(segmenter: bytes) -> None:
    nlp = with_tokenizer(segmenter)
    tokenizer = nlp.tokenizer
    tokenizer.user_words.add("中华人民共和国")
    for word in ("人民", "共和", "共和国", "华", "国图"):
        tokenizer.user_words.add(word, mode="bonus", bonus=-100.0)
    text = "老师说 中华人民共和国"
    found = tokenizer.search_words(text, n=1)
    assert [each.text for each in found if each.start >= 4] == [
        "中华人民共和国",
        "人民",
        "共和",
        "共和国",
    ]
    assert all(text[start:end] == word for start, end, word in found)
    outer = tokenizer.model.predict_spans(text, tokenizer.user_words).tolist()
    assert {tuple(span) for span in outer} <= {(each.start, each.end) for each in found}
    assert found == sorted(found)
    with pytest.raises(ValueError, match="at least one analysis"):
        tokenizer.search_words(text, n=0)


def test_parts_of_words_by_the_model(segmenter: bytes) -> None:
    tokenizer = with_tokenizer(segmenter).tokenizer
    tokenizer.user_words.add("图书馆朋友")
    analyses = tokenizer.model.nbest("图书馆朋友", 3)
    splits = [words for _, words in analyses if len(words) > 1 and min(map(len, words)) > 1]
    assert splits[0] == ["图书馆", "朋友"]
    found = tokenizer.search_words("图书馆朋友")
    assert [each.text for each in found] == ["图书馆", "图书馆朋友", "朋友"]
    assert [each.text for each in tokenizer.search_words("图书馆朋友", n=1)] == ["图书馆朋友"]
