"""The component that parses: what it learns from Docs, what it writes, how it is saved."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import pytest
import spacy
from spacy import displacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import raise_error
from spacy.vocab import Vocab
from thinc.api import Linear

from spacy_structreg.corpora.dependencies import ROOT
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.models.dependencies import DependencyParser
from spacy_structreg.pipeline.documents import dependency_sentences
from spacy_structreg.pipeline.parser import StructregParser, score_parsing

# Words, tags, heads (of the root itself, as spaCy has it) and labels.
GOLD = [
    ("我 看 书 。", "PN VV NN PU", [1, 1, 1, 1], "nsubj ROOT obj punct"),
    ("他 写 字 。", "PN VV NN PU", [1, 1, 1, 1], "nsubj ROOT obj punct"),
    ("小 王 看 字", "JJ NR VV NN", [1, 2, 2, 2], "amod nsubj ROOT obj"),
    ("旧 书 很 好 ！", "JJ NN AD VA PU", [1, 3, 3, 3, 3], "amod nsubj advmod ROOT punct"),
]
Rows = tuple[str, str, list[int], str]


def new_doc(vocab: Vocab, words: Sequence[str], **annotation: Any) -> Doc:
    return Doc(vocab, words=list(words), spaces=[False] * len(words), **annotation)


def gold_doc(vocab: Vocab, *rows: Rows) -> Doc:
    """A Doc of one sentence after the other."""
    words: list[str] = []
    tags: list[str] = []
    heads: list[int] = []
    deps: list[str] = []
    for row in rows:
        heads += (head + len(words) for head in row[2])
        words += row[0].split()
        tags += row[1].split()
        deps += row[3].split()
    return new_doc(vocab, words, tags=tags, heads=heads, deps=deps)


def tagged_doc(vocab: Vocab, *rows: Rows, **annotation: Any) -> Doc:
    words, tags = (" ".join(row[part] for row in rows).split() for part in (0, 1))
    return new_doc(vocab, words, tags=tags, **annotation)


def examples(nlp: Language) -> list[Example]:
    return [Example(tagged_doc(nlp.vocab, row), gold_doc(nlp.vocab, row)) for row in GOLD]


def untrained(model: dict[str, Any] | None = None, **settings: Any) -> Language:
    nlp = spacy.blank("zh")
    architecture = {"@architectures": "spacy_structreg.DependencyParser.v1", "seed": 1}
    config = {"model": {**architecture, **(model or {})}, **settings}
    nlp.add_pipe("structreg_parser", name="parser", config=config)
    return nlp


def trained(passes: int = 8, **settings: Any) -> Language:
    nlp = untrained(**settings)
    gold = examples(nlp)
    nlp.initialize(lambda: gold)
    for _ in range(passes):
        nlp.update(gold)
    return nlp


def tree(doc: Doc) -> list[tuple[int, str]]:
    return [(token.head.i, token.dep_) for token in doc]


def expected(*rows: Rows) -> list[tuple[int, str]]:
    return tree(gold_doc(Vocab(), *rows))


@pytest.fixture(scope="module")
def nlp() -> Language:
    """A trained pipeline that no test changes."""
    return trained()


# What is written ----------------------------------------------------------------------------------


def test_the_other_system() -> None:
    nlp = trained(model={"system": "arc_standard", "beam": 4})
    parser = nlp.get_pipe("parser").estimator
    assert (parser.system, parser.beam, parser.merge) == ("arc_standard", 4, True)
    for row in GOLD:
        assert tree(nlp(tagged_doc(nlp.vocab, row))) == expected(row)


def test_without_labels_roots_are_called_as_spacy_calls_them() -> None:
    nlp = trained(model={"labeled": False})
    doc = nlp(tagged_doc(nlp.vocab, GOLD[0]))
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
    for words, head in ((["a b", "x"], 1), (["ab", "x"], 1), (["a c", "x"], 0), (["ac", "x"], 0)):
        doc = nlp(new_doc(nlp.vocab, words, tags=["T", "T"]))
        assert [token.head.i for token in doc] == [head, head]


def test_sentences_of_the_doc(nlp: Language) -> None:
    starts = [index in (0, 4) for index in range(9)]
    rows = GOLD[0], GOLD[3]
    doc = nlp(tagged_doc(nlp.vocab, *rows, sent_starts=starts))
    assert tree(doc) == expected(*rows)
    assert [token.is_sent_start for token in doc] == starts
    # A Doc that knows of no sentences is one.
    whole = nlp(tagged_doc(nlp.vocab, *rows))
    assert len(list(whole.sents)) == 1
    assert [token.dep_ for token in whole].count("ROOT") == 1


def test_sentences_by_punctuation() -> None:
    nlp = trained(sentences="punctuation")
    rows = GOLD[0], GOLD[3], GOLD[1]
    doc = nlp(tagged_doc(nlp.vocab, *rows))
    assert tree(doc) == expected(*rows)
    assert [sentence.start for sentence in doc.sents] == [0, 4, 9]
    # Sentences that are known are cut, not joined.
    starts = [index in (0, 2) for index in range(13)]
    doc = nlp(tagged_doc(nlp.vocab, *rows, sent_starts=starts))
    assert [sentence.start for sentence in doc.sents] == [0, 2, 4, 9]


def test_sentences_of_indented_and_of_spaced_text() -> None:
    """A sentence begins at a visible token; spaces part English prose."""
    parser = trained(sentences="punctuation").get_pipe("parser")
    for words, spaces, starts in (
        (["好", "。", "\n　　", "走", "。", " ", "\n\n", "完"], None, [0, 3, 7]),
        (["　　", "好", "。", "　　", "走"], None, [0, 4]),
        (["He", "left", ".", "She", "came", "."], [1, 0, 1, 1, 0, 0], [0, 3]),
        (["Mr.", "Li", "left", "."], [1, 1, 0, 0], [0]),
    ):
        tags = ["T"] * len(words)
        doc = Doc(parser.vocab, words=words, spaces=spaces or [False] * len(words), tags=tags)
        assert [start for start, _ in parser._spans(doc)] == starts
        parser.set_annotations([doc], parser.predict([doc]))
        assert [sentence.start for sentence in doc.sents] == starts


@pytest.mark.parametrize("overwrite", [True, False, "labels"])
def test_docs_of_a_batch_are_annotated_as_each_alone(overwrite: bool | str) -> None:
    nlp = trained(overwrite=overwrite)

    def docs() -> list[Doc]:
        other = Vocab()
        starts = [True, False, False, False] * 2
        partly = new_doc(
            other, ["我", "看", "书", "。"], tags=["PN", "VV", "NN", "PU"], deps=["x", "", "", ""]
        )
        return [
            Doc(other),
            gold_doc(nlp.vocab, *GOLD[:2]),
            new_doc(other, ["\n", "\n"]),
            tagged_doc(other, *GOLD[1:3], sent_starts=starts),
            gold_doc(other, *GOLD[2:]),
            partly,
            new_doc(other, [" ", "他", " ", "写", "字", "\n"], tags=["_SP", "PN"] * 3),
            Doc(nlp.vocab),
        ]

    def content(doc: Doc) -> list[tuple[int, str, bool]]:
        return [(token.head.i, token.dep_, token.is_sent_start) for token in doc]

    alone = list(map(nlp, docs()))
    assert list(map(content, nlp.pipe(docs()))) == list(map(content, alone))
    assert tree(alone[4]) == expected(*GOLD[2:])


def test_sentences_that_leave_out_tokens_are_refused(nlp: Language) -> None:
    doc = tagged_doc(nlp.vocab, *GOLD[:2])
    doc.user_hooks["sents"] = lambda doc: iter([doc[:4]])
    with pytest.raises(ValueError, match="leave out tokens"):
        nlp(doc)


@pytest.mark.parametrize("sentences", ["doc", "punctuation"])
def test_what_is_there_stays_if_it_is_not_to_be_overwritten(sentences: str) -> None:
    nlp = trained(overwrite=False, sentences=sentences)
    # 我 hangs on 书, with a label that the model does not know; the rest is to be found.
    given = {"heads": [2, 1, 2, 3], "deps": ["topic", "", "", ""]}
    doc = nlp(tagged_doc(nlp.vocab, GOLD[0], **given))
    assert tree(doc)[0] == (2, "topic")
    assert [token.dep_ for token in doc].count("ROOT") == 1
    assert doc.has_annotation("DEP", require_complete=True)
    # All is given.
    odd = GOLD[0][0], GOLD[0][1], [3, 3, 3, 3], "a b c ROOT"
    assert tree(nlp(gold_doc(nlp.vocab, odd))) == expected(odd)
    assert tree(trained()(gold_doc(nlp.vocab, odd))) == expected(GOLD[0])
    # What no tree can have is an error, and no sentence of the Doc is cut through an arc.
    crossing = {"heads": [2, 3, 2, 3], "deps": ["a", "b", "", ""]}
    with pytest.raises(ValueError, match="no projective tree with one root"):
        nlp(tagged_doc(nlp.vocab, GOLD[0], **crossing))


def test_labels_of_heads_that_stay() -> None:
    nlp = trained(overwrite="labels")
    # The tree of another parser, which knows no labels.
    given = {"heads": [1, 1, 3, 1], "deps": ["dep", "ROOT", "dep", "dep"]}
    doc = nlp(tagged_doc(nlp.vocab, GOLD[0], **given))
    assert [head for head, _ in tree(doc)] == given["heads"]
    assert "dep" not in {label for _, label in tree(doc)}
    # Where the heads are those of the gold tree, so are the labels.
    known = expected(GOLD[0])
    heads = [head for head, _ in known]
    deps = ["ROOT" if i == head else "dep" for i, head in enumerate(heads)]
    again = pickle.loads(pickle.dumps(nlp.get_pipe("parser")))
    for parser in (nlp.get_pipe("parser"), again):
        assert tree(parser(tagged_doc(nlp.vocab, GOLD[0], heads=heads, deps=deps))) == known


def test_the_error_handler_is_given_the_docs_that_have_no_tree() -> None:
    nlp = trained(overwrite=False)
    crossing = {"heads": [2, 3, 2, 3], "deps": ["a", "b", "", ""]}
    docs = [tagged_doc(nlp.vocab, row) for row in GOLD]
    docs.insert(1, tagged_doc(nlp.vocab, GOLD[0], **crossing))
    failed: list[list[Doc]] = []
    nlp.set_error_handler(lambda name, pipe, docs, error: failed.append(docs))
    found = list(nlp.pipe(docs))
    assert failed == [[docs[1]]]
    assert [tree(doc) for doc in found] == list(map(expected, GOLD))
    nlp.set_error_handler(raise_error)
    with pytest.raises(ValueError, match="no projective tree with one root") as raised:
        list(nlp.pipe(docs))
    assert raised.value.__context__ is None


def test_trees_that_are_there_are_not_cut() -> None:
    nlp = trained(overwrite=False, sentences="punctuation")
    doc = tagged_doc(
        nlp.vocab,
        *(GOLD[0], GOLD[3], GOLD[1]),
        heads=[1, 7, 1, 1, *range(4, 13)],
        deps=["nsubj", "ccomp", "obj", "punct", *[""] * 9],
    )
    doc = nlp(doc)
    assert [sentence.start for sentence in doc.sents] == [0, 9]
    assert tree(doc)[1] == (7, "ccomp")


@pytest.mark.parametrize("attribute", ["tag", "pos"])
def test_tags_that_are_looked_at(attribute: str) -> None:
    """Words that the model has never seen, so that the tags alone can tell."""
    nlp = trained(attribute=attribute) if attribute == "tag" else untrained(attribute="pos")
    universal = {"PN": "PRON", "VV": "VERB", "NN": "NOUN", "PU": "PUNCT", "JJ": "ADJ"}
    universal |= {"NR": "PROPN", "AD": "ADV", "VA": "VERB"}
    if attribute == "pos":
        gold = []
        for row in GOLD:
            pos = [universal[tag] for tag in row[1].split()]
            words = row[0].split()
            gold.append(Example(new_doc(nlp.vocab, words, pos=pos), gold_doc(nlp.vocab, row)))
        nlp.initialize(lambda: gold)
        for _ in range(8):
            nlp.update(gold)
    tags = GOLD[2][1].split()
    annotation = {"tag": {"tags": tags}, "pos": {"pos": [universal[tag] for tag in tags]}}
    doc = nlp(new_doc(nlp.vocab, ["老", "李", "找", "猫"], **annotation[attribute]))
    assert [token.head.i for token in doc] == GOLD[2][2]


def test_displacy_draws_the_tree(nlp: Language) -> None:
    drawn = displacy.render(nlp(tagged_doc(nlp.vocab, GOLD[0])), style="dep", jupyter=False)
    assert drawn.count("displacy-arrow") >= 3
    assert "nsubj" in drawn


# Training -----------------------------------------------------------------------------------------


def as_sentence(row: Rows) -> Sentence:
    heads = tuple(ROOT if head == i else head for i, head in enumerate(row[2]))
    return Sentence(tuple(row[0].split()), tuple(row[1].split()), heads, tuple(row[3].split()))


def test_each_gold_sentence_is_learned_by_itself() -> None:
    nlp = untrained()
    gold = [Example(tagged_doc(nlp.vocab, *GOLD), gold_doc(nlp.vocab, *GOLD))]
    nlp.initialize(lambda: gold)
    assert nlp.get_pipe("parser").gold(gold[0]) == (list(map(as_sentence, GOLD)), 0)
    for _ in range(8):
        nlp.update(gold)
    assert tree(nlp(tagged_doc(nlp.vocab, GOLD[2]))) == expected(GOLD[2])


def test_tags_are_those_of_the_predicted_side() -> None:
    nlp = untrained()
    row = GOLD[0]
    reference = gold_doc(nlp.vocab, row)
    predicted = new_doc(nlp.vocab, row[0].split(), tags=["X", "Y", "", "Z"])
    (sentence,), _ = nlp.get_pipe("parser").gold(Example(predicted, reference))
    assert sentence.tags == ("X", "Y", "", "Z")
    # They may change from pass to pass: what was compiled by the old ones is not used then.
    parser = nlp.get_pipe("parser")
    nlp.initialize(lambda: [Example(predicted, reference)])
    first = parser._compile(Example(predicted, reference))
    assert parser._compile(Example(predicted, reference))[0] is first[0]
    assert parser._compile(Example(tagged_doc(nlp.vocab, row), reference))[0] is not first[0]


def test_sentences_of_other_words_are_left_out(caplog: pytest.LogCaptureFixture) -> None:
    nlp = untrained()
    reference = gold_doc(nlp.vocab, *GOLD)
    # 看书 is one word here, and 旧书 another.
    words = ["我", "看书", "。", *"他写字。", *"小王看字", "旧书", "很", "好", "！"]
    predicted = new_doc(nlp.vocab, words, tags=[f"T{i}" for i in range(len(words))])
    parser = nlp.get_pipe("parser")
    kept, n_others = parser.gold(Example(predicted, reference))
    assert [sentence.words for sentence in kept] == [tuple("他写字。"), tuple("小王看字")]
    assert [sentence.tags for sentence in kept] == [
        tuple(f"T{i}" for i in range(3, 7)),
        tuple(f"T{i}" for i in range(7, 11)),
    ]
    assert n_others == 2
    nlp.initialize(lambda: [Example(predicted, reference)])
    assert "2 of 4 training sentences have no heads, or not the words" in caplog.text


def test_trees_in_part_are_learned_from() -> None:
    nlp = untrained()
    part = tagged_doc(nlp.vocab, GOLD[1], heads=[1, 1, 2, 3], deps=["nsubj", "ROOT", "", ""])
    none = tagged_doc(nlp.vocab, GOLD[1])
    gold = examples(nlp)
    more = [*gold, *(Example(tagged_doc(nlp.vocab, GOLD[1]), doc) for doc in (part, none))]
    (sentence,), n_others = nlp.get_pipe("parser").gold(more[-2])
    assert (sentence.heads, n_others) == ((1, ROOT, None, None), 0)
    assert sentence.labels == ("nsubj", "ROOT", None, None)
    # Where there is no head at all, there is nothing to learn.
    assert nlp.get_pipe("parser").gold(more[-1]) == ([], 1)
    nlp.initialize(lambda: more)
    for _ in range(3):
        nlp.update(more)
    sentences = [*map(as_sentence, GOLD), sentence]
    parser = DependencyParser(seed=1)
    parser.prepare(sentences)
    for _ in range(3):
        parser.partial_fit(sentences)
    assert nlp.get_pipe("parser").to_bytes() == parser.to_bytes()


def test_a_corpus_without_tags_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    nlp = untrained()
    gold = [Example(nlp.make_doc("我看书。"), gold_doc(nlp.vocab, GOLD[0]))]
    nlp.initialize(lambda: gold)
    assert "no word of the training corpus has a tag" in caplog.text
    caplog.clear()
    trained(passes=1)
    assert not caplog.text


def test_settings_that_are_refused() -> None:
    model = untrained().get_pipe("parser").model
    for settings, message in (
        (
            {"attribute": "both"},
            "the pipe 'parser': attribute must be one of tag, pos.*, got 'both'",
        ),
        ({"sentences": "none"}, "sentences must be one of .*, got 'none'"),
    ):
        with pytest.raises(ValueError, match=message):
            StructregParser(Vocab(), model, "parser", **settings)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="'parser' is 'linear', none of spacy_structreg"):
        StructregParser(Vocab(), Linear(), "parser")
    with pytest.raises(ValueError, match="mini_sample is 5"):
        untrained({"learning": {"@misc": "spacy_structreg.Learning.v1", "mini_sample": 5}})


# Scores -------------------------------------------------------------------------------------------


def test_figures_on_gold_words(nlp: Language) -> None:
    reference = gold_doc(nlp.vocab, GOLD[0], GOLD[1])
    # One wrong label, one head in the other sentence, and 。 wrong as well.
    predicted = tagged_doc(
        nlp.vocab,
        *(GOLD[0], GOLD[1]),
        heads=[1, 1, 1, 2, 5, 5, 1, 5],
        deps=["dep", *GOLD[0][3].split()[1:], *GOLD[1][3].split()],
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


def test_words_without_a_gold_head_do_not_count(nlp: Language) -> None:
    deps = ["nsubj", "ROOT", "", ""]
    reference = tagged_doc(nlp.vocab, GOLD[0], heads=[1, 1, 2, 3], deps=deps)
    figures = score_parsing([Example(gold_doc(nlp.vocab, GOLD[0]), reference)])
    assert figures["dep_las"] == 1.0
    unparsed = score_parsing([Example(tagged_doc(nlp.vocab, GOLD[0]), reference)])
    assert unparsed["dep_uas"] == 0.0
    assert score_parsing([])["dep_las"] is None


def test_figures_on_other_words(nlp: Language) -> None:
    # 看书 is cut in two, where spaCy's own figures would be 1.
    gold = new_doc(
        nlp.vocab, ["我", "看书", "。"], tags=["PN", "VV", "PU"], heads=[1, 1, 1],
        deps=["nsubj", "ROOT", "punct"],
    )  # fmt: skip
    example = Example(gold_doc(nlp.vocab, GOLD[0]), gold)
    figures = score_parsing([example])
    # 我 and 。 are there, but their head is not the one of the gold tree.
    assert (figures["tag_f"], figures["uas_f"], figures["las_f"]) == (4 / 7, 0.0, 0.0)
    assert figures["dep_uas"] is figures["dep_las"] is None
    # Two of three gold words are right, 书 among four predicted words is none.
    gold = new_doc(
        nlp.vocab, ["我", "看", "书。"], tags=["PN", "XX", "NN"], heads=[1, 1, 1],
        deps=["nsubj", "ROOT", "obj"],
    )  # fmt: skip
    figures = score_parsing([Example(gold_doc(nlp.vocab, GOLD[0]), gold)])
    assert (figures["tag_f"], figures["uas_f"], figures["las_f"]) == (2 / 7, 4 / 7, 4 / 7)
    # Without gold tags there is no figure of tags, and the others stay.
    for token in gold:
        token.tag_ = ""
    figures = score_parsing([Example(gold_doc(nlp.vocab, GOLD[0]), gold)])
    assert "tag_f" not in figures
    assert figures["las_f"] == 4 / 7


def test_white_space_is_passed_over_in_trees() -> None:
    vocab = Vocab()
    doc = new_doc(
        vocab,
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
