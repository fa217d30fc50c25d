"""The component that parses: what it learns from Docs, what it writes, its figures."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import pytest
from contract.components import PIPES
from small_pipeline import TAGS, WORDS, examples, gold_doc, plain_doc
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_structreg.corpora.dependencies import ROOT
from spacy_structreg.models.dependencies import DependencyParser
from spacy_structreg.pipeline.documents import dependency_sentences
from spacy_structreg.pipeline.parser import score_parsing

VOCAB = Vocab()
untrained, trained = PIPES["parser"].untrained, PIPES["parser"].trained


def new_doc(vocab: Vocab, words: Sequence[str], **annotation: Any) -> Doc:
    return Doc(vocab, words=list(words), spaces=[False] * len(words), **annotation)


def tree(doc: Doc) -> list[tuple[int, str]]:
    return [(token.head.i, token.dep_) for token in doc]


def expected(*numbers: int) -> list[tuple[int, str]]:
    return tree(gold_doc(VOCAB, *numbers))


@pytest.fixture(scope="module")
def nlp() -> Language:
    """A trained pipeline that no test changes."""
    return trained()


# Annotation --------------------------------------------------------------------------------------


def test_the_other_system_and_trees_without_labels() -> None:
    nlp = trained(model={"system": "arc_standard", "beam": 4})
    parser = nlp.get_pipe("pipe").estimator
    assert (parser.system, parser.beam, parser.merge) == ("arc_standard", 4, True)
    for number in range(3):
        assert tree(nlp(plain_doc(nlp.vocab, number))) == expected(number)
    nlp = trained(model={"labeled": False})
    # The root is called as spaCy calls it.
    doc = nlp(plain_doc(nlp.vocab, 0))
    assert tree(doc) == [(1, "dep"), (1, "ROOT"), (1, "dep"), (1, "dep")]


def test_white_space_hangs_on_the_token_before_it(nlp: Language) -> None:
    words = [" ", "我", "\n\n", "看", "书", "。", " "]
    doc = nlp(new_doc(nlp.vocab, words, tags=["_SP", "PN", "_SP", "VV", "NN", "PU", "_SP"]))
    assert tree(doc) == [
        *((1, "dep"), (3, "nsubj"), (1, "dep"), (3, "ROOT")),
        *((3, "obj"), (3, "punct"), (5, "dep")),
    ]
    assert [sentence.text for sentence in doc.sents] == [doc.text]
    assert nlp(new_doc(nlp.vocab, [" ", "\n"]))[1].head.i == 0


def test_white_space_within_words_does_not_count() -> None:
    """In training as in prediction: the words alone, which have one tag, tell heads apart."""
    nlp = untrained()
    gold = []
    for first, heads in (("a b", [1, 1]), ("a c", [0, 0])):
        deps = ["ROOT" if head == i else "dep" for i, head in enumerate(heads)]
        words = [first, "x"]
        reference = new_doc(nlp.vocab, words, tags=["T", "T"], heads=heads, deps=deps)
        gold.append(Example(new_doc(nlp.vocab, words, tags=["T", "T"]), reference))
    nlp.initialize(lambda: gold)
    for _ in range(8):
        nlp.update(gold)
    for first, head in (("a b", 1), ("ab", 1), ("a c", 0), ("ac", 0)):
        doc = nlp(new_doc(nlp.vocab, [first, "x"], tags=["T", "T"]))
        assert [token.head.i for token in doc] == [head, head]


def test_sentences_of_indented_and_of_spaced_text() -> None:
    """A sentence begins at a visible token; spaces part English prose."""
    parser = trained(sentences="punctuation").get_pipe("pipe")
    for words, spaces, starts in (
        (["好", "。", "\n　　", "走", "。", " ", "\n\n", "完"], None, [0, 3, 7]),
        (["　　", "好", "。", "　　", "走"], None, [0, 4]),
        (["He", "left", ".", "She", "came", "."], [1, 0, 1, 1, 0, 0], [0, 3]),
        (["Mr.", "Li", "left", "."], [1, 1, 0, 0], [0]),
    ):
        tags = ["T"] * len(words)
        doc = Doc(parser.vocab, words=words, spaces=spaces or [False] * len(words), tags=tags)
        parser.set_annotations([doc], parser.predict([doc]))
        assert [sentence.start for sentence in doc.sents] == starts


def test_sentences_that_leave_out_tokens_are_refused(nlp: Language) -> None:
    doc = plain_doc(nlp.vocab, 0, 1)
    doc.user_hooks["sents"] = lambda doc: iter([doc[:4]])
    with pytest.raises(ValueError, match="leave out tokens"):
        nlp(doc)


@pytest.mark.parametrize("sentences", ["doc", "punctuation"])
def test_what_is_there_stays_if_it_is_not_to_be_overwritten(nlp: Language, sentences: str) -> None:
    keeping = trained(overwrite=False, sentences=sentences)
    # 我 hangs on 书, with a label that the model does not know; the rest is to be found.
    given = {"heads": [2, 1, 2, 3], "deps": ["topic", "", "", ""]}
    doc = keeping(plain_doc(keeping.vocab, 0, **given))
    assert tree(doc)[0] == (2, "topic")
    assert [token.dep_ for token in doc].count("ROOT") == 1
    assert doc.has_annotation("DEP", require_complete=True)
    # All is given.
    odd = {"heads": [3, 3, 3, 3], "deps": ["a", "b", "c", "ROOT"]}
    whole = plain_doc(VOCAB, 0, **odd)
    assert tree(keeping(whole.copy())) == tree(whole)
    assert tree(nlp(whole)) == expected(0)


def test_labels_of_heads_that_stay() -> None:
    nlp = trained(overwrite="labels")
    # The tree of another parser, which knows no labels.
    given = {"heads": [1, 1, 3, 1], "deps": ["dep", "ROOT", "dep", "dep"]}
    doc = nlp(plain_doc(nlp.vocab, 0, **given))
    assert [head for head, _ in tree(doc)] == given["heads"]
    assert "dep" not in {label for _, label in tree(doc)}
    # Where the heads are those of the gold tree, so are the labels.
    heads = [head for head, _ in expected(0)]
    deps = ["ROOT" if i == head else "dep" for i, head in enumerate(heads)]
    again = pickle.loads(pickle.dumps(nlp.get_pipe("pipe")))
    for parser in (nlp.get_pipe("pipe"), again):
        assert tree(parser(plain_doc(nlp.vocab, 0, heads=heads, deps=deps))) == expected(0)


def test_trees_that_are_there_are_not_cut() -> None:
    nlp = trained(overwrite=False, sentences="punctuation")
    heads = [1, 6, 1, 1, *range(4, 13)]
    deps = ["nsubj", "ccomp", "obj", "punct", *[""] * 9]
    doc = nlp(plain_doc(nlp.vocab, 0, 1, 2, heads=heads, deps=deps))
    assert [sentence.start for sentence in doc.sents] == [0, 9]
    assert tree(doc)[1] == (6, "ccomp")


# Training ----------------------------------------------------------------------------------------


def test_trees_in_part_are_learned_from() -> None:
    nlp = untrained()
    parser = nlp.get_pipe("pipe")
    part = plain_doc(nlp.vocab, 0, heads=[1, 1, 2, 3], deps=["nsubj", "ROOT", "", ""])
    none = plain_doc(nlp.vocab, 0)
    gold = [
        *examples(nlp.vocab),
        *(Example(plain_doc(nlp.vocab, 0), doc) for doc in (part, none)),
    ]
    (sentence,), n_others = parser.gold(gold[-2])
    assert (sentence.heads, n_others) == ((1, ROOT, None, None), 0)
    assert sentence.labels == ("nsubj", "ROOT", None, None)
    # Where there is no head at all, there is nothing to learn.
    assert parser.gold(gold[-1]) == ([], 1)
    nlp.initialize(lambda: gold)
    sentences = [sentence for each in gold for sentence in parser.gold(each)[0]]
    by_hand = DependencyParser(seed=1)
    by_hand.prepare(sentences)
    for _ in range(3):
        nlp.update(gold)
        by_hand.partial_fit(sentences)
    assert parser.to_bytes() == by_hand.to_bytes()


def test_settings_that_are_refused() -> None:
    with pytest.raises(ValueError, match="mini_sample is 5"):
        untrained({"learning": {"@misc": "spacy_structreg.Learning.v1", "mini_sample": 5}})


# Scores ------------------------------------------------------------------------------------------


def test_figures_on_gold_words() -> None:
    # One wrong label, one head in the other sentence, and 。 wrong as well.
    words, tags = [*WORDS[0], *WORDS[0]], [*TAGS[0], *TAGS[0]]
    deps = [label for _, label in expected(0)]
    reference = new_doc(VOCAB, words, tags=tags, heads=[1, 1, 1, 1, 5, 5, 5, 5], deps=deps * 2)
    predicted = new_doc(
        VOCAB, words, tags=tags, heads=[1, 1, 1, 2, 5, 5, 1, 5], deps=["dep", *deps[1:], *deps]
    )
    figures = score_parsing([Example(predicted, reference)])
    assert figures["dep_uas"] == 6 / 8
    assert figures["dep_las"] == 5 / 8
    assert figures["dep_uas_nopunct"] == 5 / 6
    assert figures["dep_las_nopunct"] == 4 / 6
    assert figures["dep_root"] == 1.0
    assert figures["dep_complete"] == 0.0
    assert figures["dep_complete_nopunct"] == 1 / 2
    assert figures["dep_las_per_type"]["obj"] == {"p": 1 / 2, "r": 1 / 2, "f": 1 / 2}
    assert figures["uas_f"] is figures["las_f"] is None
    assert "tag_f" not in figures


def test_words_without_a_gold_head_do_not_count() -> None:
    reference = plain_doc(VOCAB, 0, heads=[1, 1, 2, 3], deps=["nsubj", "ROOT", "", ""])
    figures = score_parsing([Example(gold_doc(VOCAB, 0), reference)])
    assert figures["dep_las"] == 1.0
    unparsed = score_parsing([Example(plain_doc(VOCAB, 0), reference)])
    assert unparsed["dep_uas"] == 0.0
    assert score_parsing([])["dep_las"] is None


def test_figures_on_other_words() -> None:
    # 看书 is cut in two, where spaCy's own figures would be 1.
    gold = new_doc(
        VOCAB, ["我", "看书", "。"], tags=["PN", "VV", "PU"], heads=[1, 1, 1],
        deps=["nsubj", "ROOT", "punct"],
    )  # fmt: skip
    figures = score_parsing([Example(gold_doc(VOCAB, 0), gold)])
    # 我 and 。 are there, but their head is not the one of the gold tree.
    assert (figures["tag_f"], figures["uas_f"], figures["las_f"]) == (4 / 7, 0.0, 0.0)
    assert figures["dep_uas"] is figures["dep_las"] is None
    # Two of three gold words are right, 书 among four predicted words is none.
    gold = new_doc(
        VOCAB, ["我", "看", "书。"], tags=["PN", "XX", "NN"], heads=[1, 1, 1],
        deps=["nsubj", "ROOT", "obj"],
    )  # fmt: skip
    figures = score_parsing([Example(gold_doc(VOCAB, 0), gold)])
    assert (figures["tag_f"], figures["uas_f"], figures["las_f"]) == (2 / 7, 4 / 7, 4 / 7)
    # Without gold tags there is no figure of tags, and the others stay.
    for token in gold:
        token.tag_ = ""
    figures = score_parsing([Example(gold_doc(VOCAB, 0), gold)])
    assert "tag_f" not in figures
    assert figures["las_f"] == 4 / 7


def test_white_space_is_passed_over_in_trees() -> None:
    doc = new_doc(
        VOCAB,
        ["a", " ", "b", "\n", "c"],
        tags=["A", "_SP", "B", "_SP", "C"],
        heads=[1, 2, 2, 3, 3],
        deps=["x", "dep", "ROOT", "ROOT", "y"],
    )
    first, second = dependency_sentences(doc)
    assert (first.words, first.heads, first.labels) == (("a", "b"), (1, ROOT), ("x", "ROOT"))
    # What hangs on white space that is a root is one.
    assert (second.words, second.heads, second.labels) == (("c",), (ROOT,), ("y",))
    # In other sentences than the Doc's own.
    (whole,) = dependency_sentences(doc, [3])
    assert whole.heads == (1, ROOT, ROOT)
    cut = dependency_sentences(doc, [1, 2])
    assert [sentence.heads for sentence in cut] == [(None,), (ROOT, ROOT)]
