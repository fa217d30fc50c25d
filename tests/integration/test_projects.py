"""The workflows of the projects of corpora, on small ones that are made from our treebank."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
import spacy
from packages import installed_tokens
from project_runs import (
    MADE,
    PACKAGES,
    PROJECTS,
    SIZES,
    bracketed,
    copy_of,
    copy_systems,
    report_of,
    run_project,
    tagged_part,
    words_of,
    write,
    write_corpora,
)
from sighan_release import SENTENCES
from spacy.tokens import DocBin
from spacy.vocab import Vocab
from universal_tags import universal_tag

from spacy_structreg.corpora.splits import fold_bounds

pytestmark = pytest.mark.slow

NAMES = ("people_daily", "sighan2005", "sxu", "ud_chinese")
# Of each workflow: its figures, what the pipeline is given, and its main figure.
FIGURES = {
    "joint": ("joint.json", "text", "joint_f"),
    "tag": ("tag.json", "words", "tag_acc"),
    "parse": ("parse.json", "words", "dep_las"),
    "parse-gold": ("parse/gold-tags.json", "words,tags", "dep_las"),
    "constituents": ("constituents.json", "words,tags", "brackets_f"),
    "constituents-tagged": ("constituents/tagged.json", "words", "brackets_f"),
    "raw": ("raw.json", "text", "las_f"),
}
PARSE, CONSTITUENTS = ("parse", "parse-gold"), ("constituents", "constituents-tagged")
WORKFLOWS = {
    "people_daily": ("joint", "tag"),
    # Its `all` has the rest: test_quickstart.py.
    "quickstart": ("tag",),
    "zhuxian": ("joint", "tag"),
    "sinica": ("tag", *CONSTITUENTS),
    "ptb_sample": ("tag", *PARSE, *CONSTITUENTS),
    "ud_english": ("tag", *PARSE),
    # Most of them are done by `all`.
    "ud_chinese": ("joint", "tag", *PARSE, "raw"),
}
# Where the corpora here have the tags of the Chinese Treebank.
TAG_MAPS = {"people_daily": "pfr", "ud_chinese": "ud_chinese"}
FEW = ("--vars.folds", "2", "--vars.parsers", "1")
# Sentences that are cut into ten folds.
N_STUDIED = 50


@pytest.fixture(scope="session")
def data(made_once: Callable[..., Path]) -> Path:
    """A folder of corpora in the forms of those of the projects."""
    return made_once("corpora-of-projects", write_corpora)


def variables(name: str) -> tuple[str, ...]:
    """As few models and folds as show that the steps of a project go together."""
    few = (*FEW, "--vars.guided_models", "1") if name == "ud_chinese" else ()
    return ("--vars.models", "2", *few)


@pytest.fixture(scope="session")
def finish(made_once: Callable[..., Path], data: Path) -> Callable[[str], Path]:
    """Gives a copy of a project after `all`: to be read."""

    def make(name: str) -> Path:
        def fill(folder: Path) -> None:
            run_project(copy_of(name, folder, epochs=2), "all", *variables(name), data=data)

        return made_once(f"project-{name}", fill) / name

    return make


@pytest.mark.parametrize("name", NAMES)
def test_all_trains_a_segmenter_and_an_average(
    name: str, finish: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = finish(name)
    new = {
        path.relative_to(folder).parts[0]
        for path in folder.rglob("*")
        if path.is_file() and not (PROJECTS / name / path.relative_to(folder)).exists()
    }
    assert new == {*MADE, *([PACKAGES] if name == "ud_chinese" else [])}
    for metrics, pipeline, algorithm in (
        ("segment.json", "segment", "pa_i"),
        ("segment/average/test.json", "average", "perceptron"),
    ):
        assert 0.5 < report_of(folder, metrics)["seg_f"] < 1
        model = spacy.load(folder / f"training/{pipeline}/model-best").tokenizer.model
        assert model.learning.algorithm == algorithm
    epochs = report_of(folder, "segment/average/epochs.json")
    assert (epochs["seeds"], len(epochs["dev_epochs"])) == ([0, 1], 2)
    if name in ("sighan2005", "sxu"):
        # Trained on all, for as many epochs as were best without the held-out tenth.
        for path in ("segment/epochs.json", "segment/average/epochs.json"):
            epochs = report_of(folder, path)
            best = epochs["dev_epochs"]
            assert epochs["epochs_on_all"] == round(sum(best) / len(best))
    else:
        assert 0 < report_of(folder, "segment/dev.json")["seg_f"] < 1
    # Again, without the folder of corpora, as the corpus is there now.
    again = shutil.copytree(folder.parent, tmp_path / "copy") / name
    printed = run_project(again, "all", *variables(name), data=None)
    for command in ("convert", "train-segment", "train-average", "evaluate-average"):
        assert f"Skipping '{command}'" in printed


@pytest.mark.parametrize("name", WORKFLOWS)
def test_workflows_score_what_they_train(
    name: str, finish: Callable[[str], Path], data: Path, tmp_path: Path
) -> None:
    few = FEW
    if name == "ud_chinese":
        folder = shutil.copytree(finish(name).parent, tmp_path / "copy") / name
        few = variables(name)
    else:
        folder = copy_of(name, tmp_path, epochs=2)
    texts = ["".join(words) for words in words_of(tagged_part("test"))]
    for workflow in WORKFLOWS[name]:
        pairs = zip(few[::2], few[1::2], strict=True)
        used = [part for pair in pairs if known(folder, pair[0]) for part in pair]
        run_project(folder, workflow, *used, data=data)
        metrics, given, key = FIGURES[workflow]
        report = report_of(folder, metrics)
        assert (report["given"], workflow) == (given, workflow)
        # As Chinese is read by templates for alphabetic scripts, figures of English ones are low.
        assert 0.2 < report[key] <= 1, workflow
        nlp = spacy.load(folder / f"training/{workflow}/model-best")
        assert nlp.lang == ("en" if name in ("ptb_sample", "ud_english") else "zh")
        if workflow != "joint":
            continue
        tag_map = TAG_MAPS.get(name, "ctb")
        docs = list(nlp.pipe(texts))
        for doc in docs:
            assert [t.pos_ for t in doc] == [
                universal_tag(tag_map, t.tag_, t.text) or "" for t in doc
            ]
        assert any(token.pos_ for doc in docs for token in doc) == (name != "people_daily")


def known(folder: Path, option: str) -> bool:
    """Whether a project has a variable."""
    name = option.removeprefix("--vars.")
    return re.search(rf"^  {name}:", (folder / "project.yml").read_text("utf-8"), re.M) is not None


def words_in(path: Path) -> list[list[str]]:
    docs = DocBin().from_disk(path).get_docs(Vocab())
    return [[token.text for token in doc] for doc in docs]


def test_parts_of_corpora_that_have_none(data: Path, tmp_path: Path) -> None:
    """The last of ten folds and all but the one before it; or eight and one tenth."""
    words = [words for part in SIZES for words in words_of(tagged_part(part))]
    for name, place, train, test in (
        ("ptb_sample", "corpus/10", fold_bounds(len(words))[-2][0], fold_bounds(len(words))[-1][0]),
        ("sinica", "corpus", len(words) * 80 // 100, len(words) * 90 // 100),
    ):
        folder = copy_of(name, tmp_path)
        run_project(folder, "data", data=data)
        run_project(folder, "convert", data=None)
        assert words_in(folder / place / "train.spacy") == words[:train]
        assert words_in(folder / place / "test.spacy") == words[test:]


def test_compounds_of_people_daily_can_be_merged(data: Path, tmp_path: Path) -> None:
    folder = copy_of("people_daily", tmp_path)
    run_project(folder, "data", data=data)
    run_project(folder, "convert", "--vars.compounds", "merged", data=None)
    test = words_of(tagged_part("test"))
    expected = [["".join(words[:2]), *words[2:]] for words in test]
    assert words_in(folder / "corpus/test.spacy") == expected


@pytest.mark.parametrize(("corpus", "encoding"), [("as", "cp950"), ("cityu", "big5hkscs")])
def test_sighan_in_the_original_encodings(
    corpus: str, encoding: str, data: Path, tmp_path: Path
) -> None:
    folder = copy_of("sighan2005", tmp_path, epochs=1)
    options = ("--vars.corpus", corpus, "--vars.encoding", encoding)
    run_project(folder, "segment", *options, data=data)
    report = report_of(folder, "segment.json")
    training, test = SENTENCES[corpus]
    assert report["part"] == f"{corpus}/test"
    counts = report["counts"]["segmentation"]
    assert counts["gold"] == sum(map(len, test))
    known = {word for words in training for word in words}
    assert counts["oov"] == sum(word not in known for words in test for word in words)


def test_the_segmenter_of_zhang_and_clark_on_both_bakeoffs(data: Path, tmp_path: Path) -> None:
    folder = copy_of("sighan2005", tmp_path)
    copy_systems(tmp_path)
    run_project(folder, "zc11", data=data)
    first = folder / "assets/sighan2003"
    first.mkdir(parents=True)
    train, dev, test = (words_of(tagged_part(part)) for part in SIZES)
    for name, sentences in (("train", train + dev), ("testref", test)):
        text = "".join("  ".join(words) + "\r\n" for words in sentences)
        (first / f"pk-{name}.txt").write_bytes(text.encode("gb18030"))
    run_project(folder, "zc11-first", "--vars.characters", "false", data=None)
    for name, characters in (("zc11", True), ("zc11-first", False)):
        assert report_of(folder, f"{name}.json")["seg_f"] > 0.5
        settings = spacy.load(folder / f"training/{name}/model-best").tokenizer.model.settings
        assert (settings.beam, settings.update, settings.characters) == (16, "early", characters)


def test_a_study_is_the_mean_of_ten_folds(tmp_path: Path) -> None:
    folder = copy_of("ptb_sample", tmp_path)
    one_epoch = ("--vars.study_epochs", "1")
    write(tmp_path / "data/ptb-sample/combined.mrg", "".join(bracketed("train")[:N_STUDIED]))
    run_project(folder, "study", *one_epoch, data=tmp_path / "data")
    metrics = folder / "metrics/constituents"
    study = json.loads((metrics / "folds.json").read_text("utf-8"))
    values = [
        report_of(folder, f"constituents/folds/{fold}.json")["brackets_f"] for fold in range(1, 11)
    ]
    assert {fold: each["brackets_f"] for fold, each in study["folds"].items()} == {
        str(fold): value for fold, value in enumerate(values, 1)
    }
    mean = sum(values) / 10
    assert study["mean"]["brackets_f"] == pytest.approx(mean)
    variance = sum((value - mean) ** 2 for value in values) / 9
    assert study["sd"]["brackets_f"] == pytest.approx(variance**0.5)
    # Folds that are done are not trained again.
    model = folder / "training/constituents/folds/3/meta.json"
    before = model.stat().st_mtime_ns
    (metrics / "folds.json").unlink()
    (metrics / "folds/10.json").unlink()
    run_project(folder, "study", *one_epoch, data=tmp_path / "data")
    assert json.loads((metrics / "folds.json").read_text("utf-8")) == study
    assert model.stat().st_mtime_ns == before


# Packages ----------------------------------------------------------------------------------------


def test_raw_ends_with_a_package(finish: Callable[[str], Path], tmp_path: Path) -> None:
    folder = finish("ud_chinese")
    report = report_of(folder, "raw.json")
    assert report["given"] == "text"
    package = folder / "packages/zh_gsd_structreg-0.1.0"
    meta = json.loads((package / "meta.json").read_text("utf-8"))
    assert meta["license"] == "CC BY-SA 4.0"
    assert meta["performance"]["las_f"] == pytest.approx(report["las_f"])
    assert meta["pipeline"] == ["tagger", "attribute_ruler", "parser"]
    readme = (package / "README.md").read_text("utf-8")
    assert "CC BY-SA 4.0" in readme
    assert f"{100 * report['las_f']:.2f}" in readme
    text = "今天上午，临江市图书馆正式开放。学生和老师都来了！"
    tokens = installed_tokens(package, "zh_gsd_structreg", text, tmp_path)
    assert "".join(token[0] for token in tokens) == text
    assert all(tag and dep for _, tag, _, dep, _, _ in tokens)
    # Each sentence has a tree.
    assert [dep for _, _, _, dep, _, _ in tokens].count("ROOT") == 2
    assert sum(starts for *_, starts in tokens) == 2


# Sentences by which a tiny English treebank is made: word or class, tag, universal tag, head,
# relation; a word in front of "+" is joined to the next one in the text.
CLASSES = {
    "NOUN": ("bird", "cat", "dog", "fox", "tree"),
    "VERB": ("finds", "likes", "sees", "wants"),
    "BARE": ("find", "like", "see", "want"),
    "DET": ("a", "the"),
}
STATED = (
    "The DT DET 2 det, NOUN NN NOUN 3 nsubj, VERB VBZ VERB 0 root, DET DT DET 5 det, "
    "NOUN+ NN NOUN 3 obj, . . PUNCT 3 punct"
)
DENIED = (
    "It PRP PRON 4 nsubj, does+ VBZ AUX 4 aux, n't RB PART 4 advmod, BARE VB VERB 0 root, "
    "DET DT DET 6 det, NOUN+ NN NOUN 4 obj, ! . PUNCT 4 punct"
)


def english_treebank(n_sentences: int, *, seed: int) -> Iterable[str]:
    """Sentences of two kinds, with the spaces of their text."""
    draw = random.Random(seed)
    for _ in range(n_sentences):
        rows = []
        for i, row in enumerate(draw.choice((STATED, DENIED)).split(", "), start=1):
            name, tag, pos, head, relation = row.split()
            word = draw.choice(CLASSES.get(name.rstrip("+"), (name.rstrip("+"),)))
            misc = "SpaceAfter=No" if name.endswith("+") else "_"
            rows.append(f"{i}\t{word}\t_\t{pos}\t{tag}\t_\t{head}\t{relation}\t_\t{misc}\n")
        yield "".join(rows) + "\n"


def test_raw_english_ends_with_a_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Nothing is downloaded: without an index, the wheel is built by what is here.
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    data = tmp_path / "data/ud-english-ewt"
    data.mkdir(parents=True)
    for seed, (part, size) in enumerate((("train", 150), ("dev", 20), ("test", 20))):
        text = "".join(english_treebank(size, seed=seed))
        (data / f"en_ewt-ud-{part}.conllu").write_text(text, "utf-8")
    folder = copy_of("ud_english", tmp_path)
    run_project(folder, "raw", "--vars.folds", "2", data=data.parent)
    report = report_of(folder, "raw.json")
    # spaCy's tokenizer cuts this text as the treebank does, if it gets the spaces.
    assert report["seg_f"] == 1
    assert report["las_f"] > 0.95
    package = folder / "packages/en_ewt_structreg-0.1.0"
    meta = json.loads((package / "meta.json").read_text("utf-8"))
    assert (meta["license"], meta["version"]) == ("CC BY-SA 4.0", "0.1.0")
    assert [source["name"] for source in meta["sources"]] == ["UD English EWT"]
    assert meta["performance"]["las_f"] == pytest.approx(report["las_f"])
    assert meta["pipeline"] == ["sentencizer", "tagger", "attribute_ruler", "parser"]
    (wheel,) = (package / "dist").glob("*.whl")
    text = "The dog sees a cat. It doesn't like the tree!"
    tokens = installed_tokens(wheel, "en_ewt_structreg", text, tmp_path)
    expected = (
        "The/DT/det dog/NN/nsubj sees/VBZ/ROOT a/DT/det cat/NN/obj ././punct "
        "It/PRP/nsubj does/VBZ/aux n't/RB/advmod like/VB/ROOT the/DT/det tree/NN/obj !/./punct"
    )
    assert " ".join(f"{token[0]}/{token[1]}/{token[3]}" for token in tokens) == expected
    # But for forms of "do", which the table of universal tags takes for verbs.
    assert [token[2] for token in tokens[6:9]] == ["PRON", "VERB", "PART"]
