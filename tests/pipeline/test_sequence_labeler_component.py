"""The component that labels tokens: what it learns from Docs, what it writes, how it is saved."""

from __future__ import annotations

import pickle
import re
from collections.abc import Sequence
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pipeline.made_up import copies
from spacy.language import Language
from spacy.tokens import Doc, Span, SpanGroup, Token
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_structreg.corpora.labeling import spans_of
from spacy_structreg.features.gazetteers import Gazetteers
from spacy_structreg.pipeline.sequence_labeler import create_gazetteers, score_labeling

# Words, their tags, and the entities in them.
GOLD = [
    ("Mira Holt sails to Port Anselm today .", "N N V P N N A .", [(0, 2, "PER"), (4, 6, "LOC")]),
    ("today Jonas met Mira .", "A N V N .", [(1, 2, "PER"), (3, 4, "PER")]),
    ("the ships of Port Anselm are old .", "D S P N N V J .", [(3, 5, "LOC")]),
    ("Jonas Holt has seen Veldau .", "N N V V N .", [(0, 2, "PER"), (4, 5, "LOC")]),
]  # fmt: skip
WORDS = [words.split() for words, _, _ in GOLD]
TAGS = [tags.split() for _, tags, _ in GOLD]
SPANS = [spans for _, _, spans in GOLD]
LABELS = sorted(["O", *(f"{place}-{name}" for place in "BIES" for name in ("LOC", "PER"))])
ODD = [" ", "\n", "\u3000\t", "\0", "👩🏽", "\u0301", "x" * 300, "|", "\\", "O", "B-PER"]
PERCEPTRON = {"@misc": "spacy_structreg.Learning.v1"}
# The tags of the corpus as values of attributes that take no others.
VALUES = {
    "pos": {"N": "PROPN", "V": "VERB", "A": "X", "P": "X", "D": "X", "S": "X", "J": "X", ".": "X"},
    "morph": {"N": "Number=Sing", "S": "Number=Plur", **dict.fromkeys("VPAD.J", "")},
}


pytestmark = pytest.mark.usefixtures("extensions")


def words_doc(vocab: Vocab, words: Sequence[str], **annotation: Any) -> Doc:
    return Doc(vocab, words=list(words), **annotation)


def gold_doc(vocab: Vocab, number: int, key: str | None = None, **annotation: Any) -> Doc:
    """A gold Doc with entities, or with a group of spans."""
    doc = words_doc(vocab, WORDS[number], tags=TAGS[number], **annotation)
    spans = [Span(doc, *span) for span in SPANS[number]]
    if key is None:
        doc.set_ents(spans)
    else:
        doc.spans[key] = spans
    return doc


def examples(nlp: Language, key: str | None = None) -> list[Example]:
    return [
        Example(words_doc(nlp.vocab, words, tags=TAGS[i]), gold_doc(nlp.vocab, i, key))
        for i, words in enumerate(WORDS)
    ]


def untrained(model: dict[str, Any] | None = None, **settings: Any) -> Language:
    nlp = spacy.blank("zh")
    block = {"@architectures": "spacy_structreg.SequenceLabeler.v1", "seed": 1, **(model or {})}
    nlp.add_pipe("structreg_sequence_labeler", name="ner", config={"model": block, **settings})
    return nlp


def train(nlp: Language, gold: list[Example], passes: int = 15) -> Language:
    nlp.initialize(lambda: gold)
    for _ in range(passes):
        nlp.update(gold)
    return nlp


def trained(passes: int = 15, **settings: Any) -> Language:
    nlp = untrained(**settings)
    return train(nlp, examples(nlp), passes)


def of_attribute(attribute: str, passes: int = 15, **settings: Any) -> Language:
    """A pipeline that learns the tags of the corpus as another attribute."""
    nlp = untrained({"scheme": None, "templates": "pos-rich"}, attribute=attribute, **settings)
    gold = []
    for words, labels in zip(WORDS, TAGS, strict=True):
        doc = words_doc(nlp.vocab, words)
        for token, label in zip(doc, labels, strict=True):
            value = VALUES.get(attribute, {}).get(label, label)
            if attribute.startswith("_."):
                token._.set(attribute[2:], value)
            elif attribute == "morph":
                token.set_morph(value or "_")
            else:
                setattr(token, f"{attribute}_", value)
        gold.append(Example(words_doc(nlp.vocab, words), doc))
    return train(nlp, gold, passes)


def ents(doc: Doc) -> list[tuple[int, int, str]]:
    return [(span.start, span.end, span.label_) for span in doc.ents]


@pytest.fixture(scope="module")
def nlp() -> Language:
    """A trained pipeline that no test changes."""
    return trained()


# What is written ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scheme", "learning"), [("bio", None), ("bioes", None), ("bioes", PERCEPTRON), ("io", None)]
)
def test_entities_and_spans(scheme: str, learning: Any) -> None:
    model = {"scheme": scheme, "learning": learning}
    nlp, other = trained(model=model), untrained(model, attribute="spans", spans_key="np")
    train(other, examples(other, "np"))
    for words, spans in zip(WORDS, SPANS, strict=True):
        doc = nlp(words_doc(nlp.vocab, words))
        assert ents(doc) == spans
        assert doc.has_annotation("ENT_IOB", require_complete=True)
        doc = other(words_doc(nlp.vocab, words))
        assert [(span.start, span.end, span.label_) for span in doc.spans["np"]] == spans
        assert not doc.has_annotation("ENT_IOB")
    if scheme == "bioes":
        assert list(nlp.get_pipe("ner").labels) == LABELS


@pytest.mark.parametrize("attribute", ["tag", "pos", "lemma", "morph", "dep", "_.kind"])
def test_attributes_of_tokens(attribute: str) -> None:
    nlp = of_attribute(attribute)
    for number, words in enumerate(WORDS):
        doc = nlp(words_doc(nlp.vocab, words))
        read = {"_.kind": "_.kind", "morph": "morph"}.get(attribute, f"{attribute}_")
        found = [str(attrgetter(read)(token)) for token in doc]
        assert found == [VALUES.get(attribute, {}).get(tag, tag) for tag in TAGS[number]]
        assert doc.ents == ()
    figures = nlp.evaluate(
        [Example(words_doc(nlp.vocab, WORDS[0]), nlp(words_doc(nlp.vocab, WORDS[0])))]
    )
    assert figures["label_acc"] == 1.0


def test_white_space_is_not_seen() -> None:
    nlp = trained(probabilities="p")
    words = ["\n", "Mira", " ", "Holt", "  ", "sails", "to", "Port", "\n", "Anselm", " "]
    doc = nlp(words_doc(nlp.vocab, words))
    bare = nlp(words_doc(nlp.vocab, [word for word in words if not word.isspace()]))
    assert ents(doc) == [(1, 4, "PER"), (7, 10, "LOC")]
    blank = [token.is_space for token in doc]
    assert np.isnan(doc._.p["array"][blank]).all()
    assert doc._.p["array"][~np.array(blank)].tolist() == bare._.p["array"].tolist()
    only = nlp(words_doc(nlp.vocab, [" ", "\n"]))
    assert only.ents == ()
    assert only._.p["array"].shape == (2, len(LABELS))
    tagging = of_attribute("tag")
    tags = [token.tag_ for token in tagging(words_doc(tagging.vocab, ["Mira", " ", "sails"]))]
    assert tags == ["N", "", "V"]
    # Nor is it in gold spans.
    doc = words_doc(nlp.vocab, [" ", "Mira", "  ", "Holt", "\n", "sails"])
    doc.set_ents([Span(doc, 0, 5, "PER")])
    rows = [("Mira", "B-PER"), ("Holt", "I-PER"), ("sails", "O")]
    assert nlp.get_pipe("ner").gold(Example(doc.copy(), doc)) == ([rows], 0)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=st.lists(st.sampled_from([*ODD, *chain.from_iterable(WORDS)]), max_size=12))
def test_any_tokens_get_spans_that_spacy_accepts(nlp: Language, words: list[str]) -> None:
    doc = nlp(words_doc(nlp.vocab, words))
    for start, end, label in ents(doc):
        assert label in ("PER", "LOC")
        assert not doc[start].text.isspace()
        assert not doc[end - 1].text.isspace()
    visible = [word for word in words if not word.isspace()]
    labels = nlp.get_pipe("ner").estimator.predict(visible)
    assert [
        f"{token.ent_iob_}-{token.ent_type_}".removesuffix("-")
        for token in doc
        if not token.text.isspace()
    ] == labels
    assert ents(Doc(nlp.vocab).from_bytes(doc.to_bytes())) == ents(doc)


def test_what_is_there_stays_unless_it_is_to_be_overwritten() -> None:
    for overwrite in (False, True):
        nlp = of_attribute("tag", overwrite=overwrite)
        doc = nlp(words_doc(nlp.vocab, WORDS[3], tags=["", "X", "", "", "X", ""]))
        expected = TAGS[3] if overwrite else ["N", "X", "V", "V", "X", "."]
        assert [token.tag_ for token in doc] == expected
        nlp = trained(overwrite=overwrite)
        doc = words_doc(nlp.vocab, WORDS[0])
        doc.set_ents([Span(doc, 1, 3, "TITLE", kb_id="Q1")], blocked=[doc[5:6]])
        doc = nlp(doc)
        if overwrite:
            assert ents(doc) == SPANS[0]
        else:
            # What is left of the name beside it is one.
            assert ents(doc) == [(0, 1, "PER"), (1, 3, "TITLE")]
            assert doc.ents[1].kb_id_ == "Q1"
            # Blocked it stays, for the pipes to come.
            assert (doc[5].ent_iob_, doc[5].ent_type_) == ("B", "")


@pytest.mark.parametrize("key", [None, "chunks"])
def test_what_is_found_goes_with_what_is_there(key: str | None) -> None:
    settings = {} if key is None else {"attribute": "spans", "spans_key": key}
    nlp = untrained({"scheme": "bio"}, **settings)
    nlp = train(nlp, examples(nlp, key))
    words = WORDS[0]

    def found(*given: tuple[int, int, str], blocked: int | None = None) -> list[Any]:
        doc = words_doc(nlp.vocab, words, sent_starts=[i in (0, 3) for i in range(len(words))])
        spans = [Span(doc, *span) for span in given]
        if key is None:
            doc.set_ents(spans, blocked=[] if blocked is None else [doc[blocked : blocked + 1]])
        else:
            doc.spans[key] = spans
        doc = nlp(doc)
        return ents(doc) if key is None else [(s.start, s.end, s.label_) for s in doc.spans[key]]

    assert found() == SPANS[0] == [(0, 2, "PER"), (4, 6, "LOC")]
    # No name goes on with a given one.
    assert found((0, 1, "PER"))[0] == (0, 1, "PER")
    # Nor through one that the model knows nothing of.
    estimator = nlp.get_pipe("ner").estimator
    beside = spans_of(estimator.predict([(word,) for word in words[:3]], given=[None, "O", None]))
    assert found((1, 2, "GOD")) == sorted([*beside, (1, 2, "GOD"), (4, 6, "LOC")])
    # A span over the bound of sentences counts in both.
    assert found((2, 5, "PER"))[:2] == [(0, 2, "PER"), (2, 5, "PER")]
    if key is None:
        assert all(5 not in range(start, end) for start, end, _ in found(blocked=5))
        # By the model, and not by leaving out what overlaps.
        known = [None, None, "O", None, None]
        labels = estimator.predict([(word,) for word in words[3:]], given=known)
        assert found(blocked=5)[1:] == [
            (start + 3, end + 3, label) for start, end, label in spans_of(labels)
        ]
    else:
        # Spans of a group may overlap one another, and stay, as do its attributes.
        assert found((0, 3, "PER"), (1, 2, "PER")) == [(0, 3, "PER"), (1, 2, "PER"), (4, 6, "LOC")]
        example = examples(nlp, key)[0]
        doc = example.predicted
        spans = [Span(doc, 0, 3, "PER"), Span(doc, 1, 2, ""), Span(doc, 4, 6, "LOC")]
        doc.spans[key] = SpanGroup(doc, name=key, attrs={"by": "hand"}, spans=spans)
        nlp.get_pipe("ner")(doc)
        assert doc.spans[key].attrs == {"by": "hand"}
        # One of the three is right, and one of the two gold ones found.
        scores = nlp.get_pipe("ner").score([example])
        assert (scores["ents_p"], scores["ents_r"]) == (1 / 3, 1 / 2)


def test_white_space_that_is_kept_ends_what_is_found() -> None:
    nlp = trained()
    words = ["Mira", "\n", "Holt", *WORDS[0][2:]]
    doc = words_doc(nlp.vocab, words)
    assert ents(nlp(doc.copy()))[0] == (0, 3, "PER")
    kept, blocked = doc.copy(), doc.copy()
    kept.set_ents([Span(doc, 1, 2, "BREAK")])
    blocked.set_ents([], blocked=[blocked[1:2]])
    assert ents(nlp(kept))[:2] == [(0, 1, "PER"), (1, 2, "BREAK")]
    assert ents(nlp(blocked))[0] == (0, 1, "PER")


# Probabilities ------------------------------------------------------------------------------------


def test_probabilities_are_kept_with_docs() -> None:
    nlp = trained(probabilities="label_probabilities")
    doc = nlp(words_doc(nlp.vocab, WORDS[0]))
    found = doc._.label_probabilities
    assert found["labels"] == tuple(LABELS)
    expected = nlp.get_pipe("ner").estimator.predict_marginals(WORDS[0])
    assert found["array"].tolist() == expected.tolist()
    assert found["array"].sum(axis=1) == pytest.approx(1.0)
    from_pipe = list(nlp.pipe([words_doc(nlp.vocab, WORDS[0])] * 2, n_process=2, batch_size=1))
    for other in (*copies(doc), *from_pipe):
        again = other._.label_probabilities
        # A list of spaCy's Docs, a tuple of its DocBin.
        assert list(again["labels"]) == LABELS
        assert again["array"].tolist() == expected.tolist()


def test_perceptrons_have_no_probabilities() -> None:
    with pytest.raises(ValueError, match=r"perceptron, whose scores are none; set @misc = 'spacy_"):
        untrained({"learning": PERCEPTRON}, probabilities="p")


# Columns ------------------------------------------------------------------------------------------


def test_columns_are_those_of_the_predicted_side() -> None:
    """The label follows from the tag alone, and the gold tags are others."""
    model = {"columns": ["w", "tag"], "templates": "label: tag(w0) | edge:"}
    nlp = untrained(model)
    gold = [
        Example(words_doc(nlp.vocab, words, tags=tags), words_doc(nlp.vocab, words))
        for words, tags in zip(WORDS, TAGS, strict=True)
    ]
    for example, spans in zip(gold, SPANS, strict=True):
        reference = example.reference
        reference.set_ents([Span(reference, *span) for span in spans])
    train(nlp, gold)
    doc = nlp(words_doc(nlp.vocab, ["x", "y", "z"], tags=["V", "P", "N"]))
    assert [token.ent_iob_ for token in doc] == ["O", "O", "B"]
    with pytest.raises(ValueError, match=r"the token 'y' has no tag, which the pipe 'ner' looks"):
        nlp(words_doc(nlp.vocab, ["x", "y"], tags=["V", ""]))
    bare = untrained(model)
    missing = [Example(words_doc(bare.vocab, WORDS[0]), gold_doc(bare.vocab, 0))]
    with pytest.raises(ValueError, match="the token 'Mira' has no tag"):
        bare.initialize(lambda: missing)
    # The Doc that spaCy hands out has no entities to be learned, and no tags.
    untrained(model).initialize()


def test_columns_of_any_attribute() -> None:
    Token.set_extension("size", getter=lambda token: len(token.text))
    names = ["pos", "lemma", "morph", "dep", "ent_type", "size"]
    nlp = untrained(
        {"columns": ["w", *names], "templates": [f"label: {name}(w0)" for name in names]},
        columns={"size": "_.size", "dep": "tag"},
        attribute="spans",
    )
    doc = Doc(
        nlp.vocab, words=["Mira", "sails"], tags=["N", "V"], pos=["PROPN", "VERB"],
        lemmas=["mira", "sail"], morphs=["Number=Sing", ""], ents=["B-PER", "O"],
    )  # fmt: skip
    doc.spans["chunks"] = [Span(doc, 0, 1, "NP")]
    (rows,), _ = nlp.get_pipe("ner").gold(Example(doc, doc))
    assert rows == [
        ("Mira", "PROPN", "mira", "Number=Sing", "N", "PER", "4", "B-NP"),
        ("sails", "VERB", "sail", "_", "V", "", "5", "O"),
    ]


def test_other_words_than_the_reference_has() -> None:
    """Without columns, words are those of the reference; with them, those of both sides."""
    whole = ["MiraHolt", "sails"]
    for columns, n_kept in ((["w"], 1), (["w", "tag"], 0)):
        nlp = untrained({"columns": columns})
        predicted = Doc(nlp.vocab, words=whole, tags=["N", "V"], spaces=[False, False])
        parted = Doc(nlp.vocab, words=["Mira", "Holt", "sails"], spaces=[False] * 3)
        parted.set_ents([Span(parted, 0, 2, "PER")])
        gold, n_others = nlp.get_pipe("ner").gold(Example(predicted, parted))
        assert (len(gold), n_others) == (n_kept, 1 - n_kept)


# Training -----------------------------------------------------------------------------------------


def test_entities_that_are_known_in_part(caplog: pytest.LogCaptureFixture) -> None:
    """A sentence with a token of which nothing is known is not learned from; others are."""
    nlp = untrained()
    words = [*WORDS[0], *WORDS[2]]
    starts = [i in (0, len(WORDS[0])) for i in range(len(words))]
    doc = words_doc(nlp.vocab, words, sent_starts=starts)
    doc.set_ents([Span(doc, 0, 2, "PER"), Span(doc, 4, 6, "LOC")], missing=[doc[9:10]])
    predicted = words_doc(nlp.vocab, words, sent_starts=starts)
    pipe = nlp.get_pipe("ner")
    gold, n_others = pipe.gold(Example(predicted, doc))
    assert [[word for word, _ in sentence] for sentence in gold] == [WORDS[0]]
    assert n_others == 1
    # All of the Doc is one sentence, so that nothing is left.
    assert pipe.gold(Example(words_doc(nlp.vocab, words), doc)) == ([], 1)
    nlp.initialize(lambda: [Example(predicted, doc)])
    assert "1 of 2 training sentences have tokens of which no entity" in caplog.text
    # A Doc without entities at all is no error for a component that shares a corpus with others.
    bare = Example(words_doc(nlp.vocab, ["x"]), words_doc(nlp.vocab, ["x"]))
    assert nlp.update([bare])["ner"] == 0
    # But one that learns nothing at all says so.
    untrained().initialize(lambda: [bare, bare])
    assert "2 of 2 training sentences have tokens of which no entity" in caplog.text
    # Without a corpus there is nothing to say.
    caplog.clear()
    untrained().initialize()
    assert not caplog.text
    # That there are none is something to learn.
    doc = words_doc(nlp.vocab, ["x"])
    doc.set_ents([])
    assert pipe.gold(Example(bare.predicted, doc)) == ([[("x", "O")]], 0)


def test_spans_beyond_a_sentence_and_spans_that_overlap() -> None:
    nlp = untrained(attribute="spans")
    doc = words_doc(nlp.vocab, list("abcd"), sent_starts=[True, False, True, False])
    doc.spans["chunks"] = [Span(doc, 1, 3, "X")]
    pipe = nlp.get_pipe("ner")
    assert pipe.gold(Example(doc.copy(), doc)) == ([], 2)
    assert pipe.gold(Example(words_doc(nlp.vocab, list("abcd")), doc))[1] == 0
    doc.spans["chunks"] = [Span(doc, 0, 2, "X"), Span(doc, 1, 2, "Y")]
    with pytest.raises(ValueError, match=r"doc\.spans\['chunks'\] of 'a b c d .*overlaps"):
        nlp.initialize(lambda: [Example(doc.copy(), doc)])
    doc.spans["chunks"] = [Span(doc, 0, 2)]
    with pytest.raises(ValueError, match="cannot bear the label ''"):
        nlp.initialize(lambda: [Example(doc.copy(), doc)])
    del doc.spans["chunks"]
    assert pipe.gold(Example(doc.copy(), doc)) == ([], 2)


def test_settings_that_are_refused() -> None:
    for setting, model, message in [
        ({"attribute": "shape"}, {}, "the pipe 'ner': attribute is 'shape'; choose ents"),
        ({"attribute": "_."}, {}, "attribute is '_.'"),
        ({"attribute": "_.a-b"}, {}, "attribute is '_.a-b'"),
        ({"probabilities": "a b"}, {}, "give the name of an extension"),
        ({"attribute": "tag"}, {}, "set scheme = null"),
        ({}, {"scheme": None}, "set scheme = 'bio'"),
        ({"columns": {"tag": "tag"}}, {}, "the model has no such column"),
        ({}, {"columns": ["w", "x"]}, "cannot be read from 'x'; name its place in"),
        ({"columns": {"x": "text"}}, {"columns": ["w", "x"]}, "cannot be read from 'text'"),
        ({}, {"columns": ["w", "lower"]}, "the name 'lower' of a column is taken"),
        ({}, {"templates": "label: tag(w0)"}, "tag"),
    ]:
        with pytest.raises(ValueError, match=re.escape(message)):
            untrained(model, **setting)
    learning = {"@misc": "spacy_structreg.LogLinear.v1", "optimizer": "lbfgs"}
    nlp = untrained({"learning": learning})
    gold = examples(nlp)
    nlp.initialize(lambda: gold)
    with pytest.raises(ValueError, match=r"optimizer = 'lbfgs' .* train with 'python -m spacy st"):
        nlp.update(gold)


def test_extensions_of_others_are_not_taken_over() -> None:
    Token.set_extension("kind", default="x")
    with pytest.raises(ValueError, match=r"Token\._\.kind is taken by another extension"):
        untrained({"scheme": None}, attribute="_.kind")
    Doc.set_extension("p", getter=len)
    with pytest.raises(ValueError, match=r"Doc\._\.p is taken by another extension"):
        untrained(probabilities="p")
    Token.set_extension("other", default=None)
    untrained({"scheme": None}, attribute="_.other")


# Gazetteers ---------------------------------------------------------------------------------------


def test_gazetteers_are_read_when_the_pipeline_is_initialized(tmp_path: Path) -> None:
    """What they hold tells two unknown words apart, long after their files are gone."""
    harbours = tmp_path / "harbours.txt"
    harbours.write_text("Port Anselm\nVeldau\nUlmen\n", "utf-8")
    nlp = untrained({"templates": "label: gazetteers(w0) | edge: | label: len(w-1)"})
    nlp.config["initialize"]["components"]["ner"] = {
        "gazetteers": {
            "@misc": "spacy_structreg.Gazetteers.v1",
            "lists": {"harbour": str(harbours), "person": ["Mira", "Jonas", "Holt", "Ida"]},
        }
    }
    train(nlp, examples(nlp))
    assert nlp.get_pipe("ner").estimator.gazetteers.names == ("harbour", "person")
    nlp.to_disk(tmp_path / "pipeline")
    harbours.unlink()
    for other in (spacy.load(tmp_path / "pipeline"), pickle.loads(pickle.dumps(nlp))):
        doc = other(words_doc(other.vocab, ["Ida", "left", "Ulmen"]))
        assert ents(doc) == [(0, 1, "PER"), (2, 3, "LOC")]


def test_gazetteers_that_are_refused(tmp_path: Path) -> None:
    lists = {"harbour": ["Ulmen"]}
    for templates, gazetteers, message in [
        ("label: w0", Gazetteers(lists), "no feature template reads gazetteers"),
        ("ner", lists, r"are no gazetteers for the pipe 'ner'; make them by @misc"),
    ]:
        ner = untrained({"templates": templates}).get_pipe("ner")
        with pytest.raises(ValueError, match=message):
            ner.initialize(list, gazetteers=gazetteers)
    with pytest.raises(OSError, match="none"):
        create_gazetteers({"harbour": str(tmp_path / "none.txt")})
    mixed = create_gazetteers({"harbour": ["ULMEN"]}, lower=True)
    assert mixed == Gazetteers(lists, lower=True)


# Scores -------------------------------------------------------------------------------------------


def example_of(gold: str, predicted: str, text: str = "abcdef") -> Example:
    """Words are parted by spaces; `[x y]P` is an entity of the label P; `?` a word unknown."""

    def doc_of(marked: str) -> Doc:
        words: list[str] = []
        spans: list[tuple[int, int, str]] = []
        missing: list[int] = []
        begin = 0
        for part in marked.split():
            begin = len(words) if part.startswith("[") else begin
            word, _, label = part.lstrip("[").partition("]")
            missing += [len(words)] if word.endswith("?") else []
            words.append(word.rstrip("?"))
            if label:
                spans.append((begin, len(words), label))
        doc = Doc(VOCAB, words=words, spaces=[False] * len(words))
        doc.set_ents(
            [Span(doc, *span) for span in spans], missing=[doc[i : i + 1] for i in missing]
        )
        return doc

    return Example(doc_of(predicted), doc_of(gold))


VOCAB = Vocab()


def test_figures_of_entities() -> None:
    figures = score_labeling(
        [
            example_of("[a b]P c [d]L e f", "[a b]P c d [e f]L"),
            # As characters, the words of the prediction being others.
            example_of("[ab]P cd [ef]L", "[a b]P [c]P d [e]L f"),
        ]
    )
    # 2 of 5 predicted and of 4 gold entities.
    assert (figures["ents_p"], figures["ents_r"]) == (2 / 5, 2 / 4)
    assert figures["ents_f"] == pytest.approx(4 / 9)
    assert figures["ents_per_type"] == {
        "L": {"p": 0.0, "r": 0.0, "f": 0.0},
        "P": {"p": pytest.approx(2 / 3), "r": 1.0, "f": 0.8},
    }


def test_figures_agree_with_spacys() -> None:
    """On the words of the reference, where spaCy's own count the same."""
    nlp = trained(passes=1)
    gold = [*examples(nlp), example_of("[a b]P c? [d]L e f", "[a b]L [c]P [d e]L f")]
    for example in gold[:-1]:
        example.predicted = nlp(example.predicted)
    ours = score_labeling(gold)
    theirs = spacy.scorer.get_ner_prf(gold)
    assert 0 < ours["ents_f"] < 1
    per_type, expected = ours.pop("ents_per_type"), theirs.pop("ents_per_type")
    assert ours == pytest.approx(theirs)
    # Where there is nothing to count, ours are None, spaCy's 0.
    assert per_type.pop("P")["p"] is None
    assert expected.pop("P")["p"] == 0
    assert per_type == {label: pytest.approx(figures) for label, figures in expected.items()}


def test_figures_where_there_is_nothing_to_count() -> None:
    doc = words_doc(VOCAB, ["a"])
    none = {"ents_p": None, "ents_r": None, "ents_f": None, "ents_per_type": None}
    assert score_labeling([Example(doc, doc)]) == none
    assert score_labeling([]) == none
    assert score_labeling([Example(doc, doc)], attribute="tag") == {"label_acc": None}
    other = words_doc(VOCAB, ["b"], tags=["X"])
    assert score_labeling([Example(doc, other)], attribute="tag") == {"label_acc": None}
    # White space and what nobody knows do not count.
    gold = words_doc(VOCAB, ["a", "b", " ", "c"], tags=["X", "", "_SP", "Y"])
    found = words_doc(VOCAB, ["a", "b", " ", "c"], tags=["X", "Z", "", ""])
    assert score_labeling([Example(found, gold)], attribute="tag") == {"label_acc": 0.5}


# Files --------------------------------------------------------------------------------------------


def test_models_that_do_not_go_with_the_component(nlp: Language, tmp_path: Path) -> None:
    data = nlp.get_pipe("ner").to_bytes()
    other = untrained({"scheme": None}, attribute="tag")
    with pytest.raises(ValueError, match=r"scheme = 'bioes'; set scheme = null"):
        other.get_pipe("ner").from_bytes(data)
    nlp.get_pipe("ner").to_disk(tmp_path / "ner")
    with pytest.raises(ValueError, match=r"scheme = 'bioes'; set scheme = null"):
        other.get_pipe("ner").from_disk(tmp_path / "ner")


def test_two_labelers_beside_spacys_own_components(nlp: Language) -> None:
    """Entities by rules come first, spans of another labeler beside them."""
    both = spacy.blank("zh", vocab=nlp.vocab)
    ruler = both.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": "TIME", "pattern": [{"ORTH": "today"}]}])
    both.add_pipe("ner", source=nlp)
    chunker = untrained(attribute="spans")
    train(chunker, examples(chunker, "chunks"))
    both.add_pipe("ner", name="chunker", source=chunker)
    doc = both(words_doc(both.vocab, WORDS[0]))
    assert ents(doc) == [*SPANS[0], (6, 7, "TIME")]
    assert [(span.start, span.end, span.label_) for span in doc.spans["chunks"]] == SPANS[0]
