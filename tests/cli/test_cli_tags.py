"""Tags on the command line: configs, fit, evaluate, segment and jackknife."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from looped import looped
from scoring import score
from spacy.tokens import Doc, DocBin, Span
from spacy.util import load_config_from_str, load_model_from_config
from spacy.vocab import Vocab

from spacy_structreg.cli.init_config import config_templates, init_config
from spacy_structreg.cli.jackknife import jackknife
from spacy_structreg.cli.options import load_pipeline
from spacy_structreg.corpora.sentence import Sentence
from spacy_structreg.corpora.splits import fold_bounds
from spacy_structreg.models.joint.joint_taggers import CharacterJointTagger
from spacy_structreg.models.tagging import Tagger
from spacy_structreg.pipeline.constituency_documents import Phrase, read_phrases, write_phrases

Runs = Callable[..., str]
Fails = Callable[..., str]
ReportOf = Callable[..., dict[str, Any]]

NOUNS = ["图书馆", "书", "老师", "学生", "公园"]
TAGS = {
    **dict.fromkeys(NOUNS, "NN"),
    **{"小": "JJ", "王": "NR", "昨天": "NT", "明天": "NT", "在": "P", "和": "CC", "的": "DEG"},
    **{"我们": "PN", "那里": "PN", "一起": "AD", "吗": "SP", "看": "VV", "去": "VV"},
}
EPOCHS = 4


def tag(words: list[str]) -> list[tuple[str, str]]:
    return [(word, TAGS.get(word, "PU")) for word in words]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory, sentences: list[list[str]]) -> Path:
    """The corpus of these tests, four times, with tags; the first word heads a tree of all.

    It is an entity and a chunk as well, and tells the category of the text.
    """
    path = tmp_path_factory.mktemp("tags") / "corpus.spacy"
    vocab = Vocab()
    docs = [
        Doc(
            vocab,
            words=words,
            spaces=[False] * len(words),
            tags=[t for _, t in tag(words)],
            heads=[0] * len(words),
            deps=["ROOT", *["dep"] * (len(words) - 1)],
        )
        for words in sentences * 4
    ]
    for doc in docs:
        write_phrases(doc, [Phrase("S", 0, len(doc), 0)])
        doc.ents = [Span(doc, 0, 1, "X")]
        doc.spans["chunks"] = list(doc.ents)
        doc.cats = {doc[0].text: 1.0}
    DocBin(docs=docs).to_disk(path)
    return path


@pytest.fixture(scope="module")
def configs(corpus: Path) -> dict[str, Path]:
    """A config of each task."""
    paths = {}
    for task in config_templates():
        paths[task] = corpus.with_name(f"{task}.cfg")
        paths[task].write_text(init_config(None, task=task, train=corpus, dev=corpus), "utf-8")
    return paths


def fitted(task: str, configs: dict[str, Path], corpus: Path, runs: Runs) -> Path:
    output = corpus.with_name(task)
    if not output.exists():
        options = ("--training.seed", 3, "--training.max_epochs", EPOCHS)
        shared = ("--train", corpus, "--dev", corpus)
        runs("fit", configs[task], output, *shared, *options)
    return output


@pytest.fixture
def joint(configs: dict[str, Path], corpus: Path, runs: Runs) -> Path:
    """The folder of a pipeline whose tokenizer tags."""
    return fitted("joint", configs, corpus, runs)


@pytest.fixture
def tagging(configs: dict[str, Path], corpus: Path, runs: Runs) -> Path:
    """The folder of a pipeline with a tagger."""
    return fitted("tag", configs, corpus, runs)


# Configs -----------------------------------------------------------------------------------------


@looped("task", list(config_templates()))
@looped("lang", ["zh", "en"])
@looped("with_corpus", [True, False])
def test_nothing_is_left_to_fill_in(task: str, lang: str, with_corpus: bool, corpus: Path) -> None:
    train = corpus if with_corpus else None
    config = load_config_from_str(init_config(None, task=task, lang=lang, train=train))
    filled = load_model_from_config(config, auto_fill=True).config
    assert config.pop("pretraining") == filled.pop("pretraining") == {}
    assert filled == config


def test_what_a_corpus_has_decides(corpus: Path, tmp_path: Path) -> None:
    def parts(task: str, **options: object) -> tuple[str, str, list[str]]:
        config = load_config_from_str(init_config(None, task=task, train=corpus, **options))
        tokenizer = config["nlp"]["tokenizer"]
        names = (tokenizer["@tokenizers"], tokenizer["model"]["@architectures"])
        short = [name.removeprefix("spacy_structreg.").removesuffix(".v1") for name in names]
        return short[0], short[1], config["nlp"]["pipeline"]

    trainer = "tokenizer_trainer"
    assert parts("segment") == ("Segmenter", "CharacterJointTagger", [trainer])
    assert parts("segment", tags=False) == ("Segmenter", "CharacterSegmenter", [trainer])
    joint = ("JointTagger", "CharacterJointTagger")
    assert parts("joint") == (*joint, [trainer])
    for tag_map, expected in ((None, "ctb"), ("none", None), ("pfr", "pfr")):
        config = load_config_from_str(
            init_config(None, task="joint", train=corpus, tag_map=tag_map)
        )
        assert config["nlp"]["tokenizer"]["tag_map"] == expected


def test_settings_that_are_refused(tmp_path: Path, fails: Fails) -> None:
    text, classified = tmp_path / "train.txt", tmp_path / "texts.spacy"
    text.write_text("好 了\n", "utf-8")
    doc = Doc(Vocab(), words=["好"])
    doc.cats = {"x": 1.0}
    DocBin(docs=[doc]).to_disk(classified)
    output = tmp_path / "config.cfg"
    for task, options, message in [
        ("joint", ("--train", text), "train.txt: not all words have tags"),
        ("tag", ("--train", text), "train.txt: not all words have tags"),
        ("segment", ("--tags", "--train", text), "train.txt: not all words have tags"),
        ("parse", ("--train", text), "train.txt: no sentence has a tree"),
        ("constituency", ("--train", text), "no sentence has constituents, from which"),
        ("label", ("--train", classified), "no sentence has entities that are known, from which"),
        ("chunk", ("--train", classified), "no sentence has spans, from which the config would"),
        ("classify", ("--train", text), "no sentence has a category"),
        ("joint", ("--tag-map", "ctb5"), "'ctb5' is no table of tags"),
        ("joint", ("--base", "x"), "--base is for the tasks tag, parse, constituency"),
    ]:
        assert message in fails("init-config", output, "--task", task, *options)
        assert not output.exists()


# Fit ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [CharacterJointTagger, Tagger])
def test_the_estimator_is_what_trains(
    cls: type, joint: Path, tagging: Path, sentences: list[list[str]]
) -> None:
    if cls is Tagger:
        trained = load_pipeline(str(tagging)).get_pipe("tagger").estimator
    else:
        nlp = load_pipeline(str(joint))
        trained = nlp.tokenizer.model
        # Pipes without weights are made ready as in spaCy's training.
        assert nlp("老师看书。")[0].pos_ == "NOUN"
    gold = list(map(tag, sentences * 4))
    by_hand = cls(seed=3, epochs=EPOCHS, patience=5, learning=trained.learning).fit(gold, gold)
    assert trained.to_bytes() == by_hand.to_bytes()


# Evaluate and segment ----------------------------------------------------------------------------


def test_joint_figures(joint: Path, report_of: ReportOf, tmp_path: Path) -> None:
    gold = tmp_path / "gold.txt"
    # 学生 is right with its tag, 看 has another one in the corpus, and 书 is not all of the word.
    gold.write_text("学生_NN 看_P 书。_PU\n", "utf-8")
    nlp = load_pipeline(str(joint))
    predicted = [(token.text, token.tag_) for token in nlp("学生看书。")]
    assert predicted == [("学生", "NN"), ("看", "VV"), ("书", "NN"), ("。", "PU")]
    report = report_of(joint, gold)
    assert (report["seg_p"], report["seg_r"]) == (2 / 4, 2 / 3)
    assert (report["joint_p"], report["joint_r"]) == (1 / 4, 1 / 3)
    assert report["counts"]["joint"]["joint_correct"] == 1
    # Without gold tags, only words can count.
    gold.write_text("学生 看 书。\n", "utf-8")
    report = report_of(joint, gold)
    assert report["seg_r"] == 2 / 3
    assert "joint_f" not in report


def test_tags_of_given_words(
    joint: Path, tagging: Path, report_of: ReportOf, fails: Fails, tmp_path: Path
) -> None:
    gold, train = tmp_path / "gold.txt", tmp_path / "train.txt"
    gold.write_text("学生_NN 看_P 书_NN 。_PU\n", "utf-8")
    train.write_text("学生 看 。\n", "utf-8")
    report = report_of(tagging, gold, "--gold", "words", "--train", train)
    figures = {key: report[key] for key in ("tag_acc", "oov_tag_acc", "iv_tag_acc")}
    assert figures == {"tag_acc": 3 / 4, "oov_tag_acc": 1.0, "iv_tag_acc": 2 / 3}
    assert report["given"] == "words"
    assert not any(key.startswith(("seg", "joint")) for key in report)
    message = fails("evaluate", joint, gold, "--gold", "words")
    assert message.startswith("no pipe of the pipeline tags given words")
    assert "no tags to score" in fails("evaluate", tagging, train, "--gold", "words")
    untrained = load_model_from_config(
        load_config_from_str(init_config(None, task="tag")), auto_fill=True
    )
    with pytest.raises(ValueError, match="gave no tag to any word; train tagger first"):
        score(untrained, gold, words=True)


def test_a_tagger_on_words_of_its_own_pipeline(tagging: Path, corpus: Path) -> None:
    """Behind spaCy's characters, a word of one character is right if its tag is."""
    nlp = load_pipeline(str(tagging))
    found = score(nlp, corpus)
    assert found.figures["joint_p"] is not None
    counts = found.counts["joint"]
    assert 0 < counts["joint_correct"] <= counts["correct"] < counts["gold"]
    # A gold sentence without a tag counts for the words alone.
    tags = (("PN", "VV"), ("PN", ""))
    counts = score(nlp, [Sentence(("我", "看"), each) for each in tags]).counts["joint"]
    assert (counts["gold"], counts["joint_gold"], counts["left_out"]) == (4, 2, 1)


def test_a_tagger_behind_a_joint_tokenizer(
    joint: Path, corpus: Path, runs: Runs, report_of: ReportOf, tmp_path: Path
) -> None:
    """Its config takes the tokenizer over; the tagger may tag the words anew."""
    config, output = tmp_path / "tag.cfg", tmp_path / "tag"
    renamed = tmp_path / "renamed.spacy"
    docs = list(DocBin().from_disk(corpus).get_docs(Vocab()))
    for doc in docs:
        for token in doc:
            token.tag_ = f"{token.tag_}2"
    DocBin(docs=docs).to_disk(renamed)
    corpora = ("--train", renamed, "--dev", renamed)
    runs("init-config", config, "--task", "tag", "--base", joint, *corpora)
    before = load_pipeline(str(joint))
    text = "学生看书。"
    first = [(token.text, token.tag_) for token in before(text)]
    for overwrite in ("true", "false"):
        options = ("--training.max_epochs", EPOCHS, "--components.tagger.overwrite", overwrite)
        runs("fit", config, output / overwrite, *corpora, *options)
        nlp = load_pipeline(str(output / overwrite))
        assert nlp.pipe_names == ["tagger"]
        assert nlp.tokenizer.to_bytes() == before.tokenizer.to_bytes()
        anew = [(word, f"{old}2") for word, old in first]
        assert [(token.text, token.tag_) for token in nlp(text)] == (
            anew if overwrite == "true" else first
        )
    # The tags of the pipe count on raw text, not those of the tokenizer.
    report = report_of(output / "true", renamed)
    assert 0.5 < report["joint_f"] <= report["seg_f"]
    report = report_of(output / "true", renamed, "--gold", "words")
    assert report["tag_acc"] > 0.9


@pytest.mark.parametrize("threads", [1, 2])
def test_words_are_written_with_their_tags(
    threads: int, joint: Path, runs: Runs, fails: Fails, pipeline: str
) -> None:
    printed = runs(
        "segment", joint, "--tags", "--threads", threads, stdin="学生看书。\n\n在 公园\n".encode()
    )
    assert printed == "学生_NN 看_VV 书_NN 。_PU\n\n在_P 公园_NN\n"
    assert "gives no tags" in fails("segment", pipeline, "--tags", stdin=b"")


# Jackknife ---------------------------------------------------------------------------------------


def test_each_fold_is_tagged_by_a_tagger_of_the_others(
    configs: dict[str, Path], corpus: Path, tmp_path: Path
) -> None:
    """One word has another tag in each fold, which a tagger of the others cannot know."""
    docs = []
    for number in range(9):
        doc = Doc(
            Vocab(),
            words=["看", "书", "。"],
            spaces=[False, True, False],
            tags=["VV", f"T{number // 3}", "PU"],
            heads=[0, 0, 0],
            deps=["ROOT", "obj", "punct"],
        )
        write_phrases(doc, [Phrase("VP", 0, 3, 0)])
        docs.append(doc)
    source, output = tmp_path / "source.spacy", tmp_path / "out" / "tagged.spacy"
    DocBin(docs=docs).to_disk(source)
    key, accuracy = jackknife(configs["tag"], source, output, n_folds=3)
    assert (key, accuracy) == ("tag_acc", pytest.approx(2 / 3))
    found = list(DocBin().from_disk(output).get_docs(Vocab()))
    for number, (doc, before) in enumerate(zip(found, docs, strict=True)):
        assert [token.tag_ for token in doc][::2] == ["VV", "PU"]
        assert doc[1].tag_ in {f"T{k}" for k in range(3)} - {f"T{number // 3}"}
        # All else is that of the corpus.
        doc[1].tag_ = before[1].tag_
        assert doc.to_json() == before.to_json()
        assert read_phrases(doc) == read_phrases(before)


def test_folds_by_hand_and_any_number_of_threads(
    configs: dict[str, Path],
    corpus: Path,
    tmp_path: Path,
    sentences: list[list[str]],
    runs: Runs,
) -> None:
    outputs = [tmp_path / f"{threads}.spacy" for threads in (1, 3)]
    options = ("--folds", 4, "--training.seed", 5, "--training.max_epochs", 2)
    for output, threads in zip(outputs, (1, 3), strict=True):
        printed = runs("jackknife", configs["tag"], corpus, output, "--threads", threads, *options)
        assert ": tag_acc " in printed
    assert outputs[0].read_bytes() == outputs[1].read_bytes()
    gold = list(map(tag, sentences * 4))
    expected = []
    for begin, end in fold_bounds(len(gold), 4):
        tagger = Tagger(seed=5, epochs=2).fit(gold[:begin] + gold[end:])
        expected += [tagger.predict([word for word, _ in each]) for each in gold[begin:end]]
    docs = DocBin().from_disk(outputs[0]).get_docs(Vocab())
    assert [[token.tag_ for token in doc] for doc in docs] == expected


def test_faults_of_jackknife(
    configs: dict[str, Path], corpus: Path, fails: Fails, tmp_path: Path
) -> None:
    output = tmp_path / "out.spacy"
    for arguments, message in [
        ((configs["joint"], corpus, output), "there is no component to train"),
        ((configs["tag"], corpus, output, "--folds", 21), "20 sentences are too few for 21 folds"),
        ((configs["tag"], corpus, tmp_path / "out.txt"), "name an output that ends in .spacy"),
    ]:
        assert message in fails("jackknife", *arguments)
        assert not list(tmp_path.iterdir())
