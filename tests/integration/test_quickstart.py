"""The project `quickstart`: its configs, and the workflow `all`."""

from __future__ import annotations

import json
import lzma
import re
import shutil
from itertools import islice
from pathlib import Path

import pytest
import spacy
from docs.pages import CARD, FAST_CARD, code_for_the_pipeline
from docs.stand_in import frequent_words
from packages import installed_tokens, run_code
from test_treebank import TREEBANK, run
from universal_tags import universal_tag

PROJECT = Path(__file__).parents[2] / "projects" / "quickstart"
QUICKSTART = "projects/quickstart"
MADE = ("corpus", "training", "metrics", "packages", "project.lock")
# As few epochs and folds as show that the steps of the pipeline go together.
EPOCHS = ("epochs", "tagging_epochs", "tokenizer_epochs", "constituency_epochs")
SHORT = tuple(
    word
    for name, value in {"folds": 2, **dict.fromkeys(EPOCHS, 1)}.items()
    for word in (f"--vars.{name}", str(value))
)
REGISTERS = ("general", "law")
# Of the second training part of law.
N_DOCUMENTS = 4
# What a machine found, and how many lines of it are taken.
OF_A_MACHINE = {"raw/labels.tsv.xz": 300, "raw/trees.txt.xz": 50}
# Of so little, pruning leaves out more that counts.
ANY_LOSS = ("--prune 0.05", "--prune 0.05 --max-loss 3")
# Fewer epochs of the single models, and narrower beams.
QUICKER = {
    "max_epochs = 20\n": "max_epochs = 4\n",
    "beam = 16\n": "beam = 4\n",
    "beam = 8\n": "beam = 2\n",
}


def left_out(folder: str, names: list[str]) -> list[str]:
    """What is not copied of a folder of the treebank: a few registers show that the steps work."""
    kept = ("law",) if "second" in Path(folder).parts else REGISTERS
    return [n for n in names if n == "raw" or (n.endswith(".bracket") and Path(n).stem not in kept)]


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> tuple[Path, str]:
    """A copy of the project after `spacy project run all`, and what that printed."""
    root = tmp_path_factory.mktemp("root")
    shutil.copytree(TREEBANK, root / "treebank", ignore=left_out)
    law = root / "treebank/second/train/law.bracket"
    documents = law.read_text("utf-8").split("</DOC>\n")[:N_DOCUMENTS]
    law.write_text("</DOC>\n".join([*documents, ""]), "utf-8")
    (root / "treebank/raw").mkdir()
    for name, n_lines in OF_A_MACHINE.items():
        with lzma.open(TREEBANK / name, "rt", encoding="utf-8") as lines:
            some = "".join(islice(lines, n_lines))
        with lzma.open(root / "treebank" / name, "wt", encoding="utf-8") as stream:
            stream.write(some)
    folder = root / QUICKSTART
    shutil.copytree(PROJECT, folder, ignore=shutil.ignore_patterns(*MADE, "__pycache__"))
    shutil.copytree(PROJECT.parent / "scripts", folder.parent / "scripts")
    # Found by the script that is in the same folder, before the package that is installed.
    jieba = folder.parent / "scripts/jieba"
    jieba.mkdir()
    (jieba / "__init__.py").touch()
    frequent_words(jieba).rename(jieba / "dict.txt")
    texts = {path: path.read_text("utf-8") for path in (folder / "configs").rglob("*.cfg")}
    for line, quicker in QUICKER.items():
        assert any(line in text for text in texts.values())
        texts = {path: text.replace(line, quicker) for path, text in texts.items()}
    for path, text in texts.items():
        path.write_text(text, "utf-8")
    project = folder / "project.yml"
    text = project.read_text("utf-8")
    assert set(re.findall(r"^  (\w*epochs):", text, re.MULTILINE)) == {*EPOCHS}
    assert ANY_LOSS[0] in text
    project.write_text(text.replace(*ANY_LOSS), "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        # Nothing is downloaded: without an index, the wheel is built by what is here.
        patch.setenv("PIP_NO_INDEX", "1")
        result = run("-m", "spacy", "project", "run", "all", ".", *SHORT, folder=folder)
    assert result.returncode == 0, result.stdout + result.stderr
    return folder, result.stdout


@pytest.mark.slow
def test_all_writes_figures_and_the_example_to_its_own_folders(finished):
    folder, printed = finished
    new = {
        path.relative_to(folder).parts[0]
        for path in folder.rglob("*")
        if path.is_file() and not (PROJECT / path.relative_to(folder)).exists()
    }
    assert new | {name for name in MADE if (folder / name).exists()} == set(MADE)
    report = json.loads((folder / "metrics/segment.json").read_text(encoding="utf-8"))
    assert 0.75 < report["seg_f"] < 0.95
    report = json.loads((folder / "metrics/constituents.json").read_text(encoding="utf-8"))
    assert report["given"] == "words,tags"
    assert 0.8 < report["brackets_f"] < 0.97
    lines = (folder / "assets" / "example.txt").read_text(encoding="utf-8").splitlines()
    _, _, shown = printed.partition("structreg segment ")
    segmented = shown.splitlines()[1 : len(lines) + 1]
    assert [line.replace(" ", "") for line in segmented] == lines
    assert sum(line.count(" ") for line in segmented) > len(lines)


@pytest.mark.slow
def test_the_joint_tagger_is_scored_and_has_universal_tags(finished):
    folder, _ = finished
    report = json.loads((folder / "metrics/joint.json").read_text(encoding="utf-8"))
    assert report["given"] == "text"
    assert 0.5 < report["joint_f"] < 1
    nlp = spacy.load(folder / "training/joint/model-best")
    doc = nlp((folder / "assets/example.txt").read_text(encoding="utf-8"))
    words = [token for token in doc if not token.is_space]
    assert [word.pos_ for word in words] == [
        universal_tag("ctb", word.tag_, word.text) or "" for word in words
    ]
    assert any(word.pos_ for word in words)


@pytest.mark.slow
def test_the_package_runs_the_code_of_its_pages(finished, tmp_path):
    folder, printed = finished
    assert "entities: " in printed
    report = json.loads((folder / "metrics" / "pipeline.json").read_text(encoding="utf-8"))
    package = folder / "packages" / "zh_structreg-0.1.0"
    meta = json.loads((package / "meta.json").read_text(encoding="utf-8"))
    figure = report["all"]["figures"]["seg_f"]
    assert meta["performance"]["seg_f"] == pytest.approx(figure)
    assert figure > 0.8
    card = (package / "README.md").read_text(encoding="utf-8")
    assert f"{100 * report['registers']['law']['figures']['ents_f']:.1f}" in card
    assert "`NT`: temporal noun" in card
    runs = report["typed_runs"]["all"]
    assert f"cut rightly: {runs['right']} of {runs['cases']}." in card

    (wheel,) = (package / "dist").glob("*.whl")
    text = "今天上午，临江市图书馆正式开放。\n见 https://t.cn/a?b=1 ，重35kg！"
    tokens = installed_tokens(wheel, "zh_structreg", text, tmp_path)
    words = [token[0] for token in tokens]
    assert "".join(words).split() == "".join(text.split(" ")).split()
    assert {"https://t.cn/a?b=1", "35", "kg"} < set(words)
    assert all(tag and pos and dep for word, tag, pos, dep, *_ in tokens if word.strip())

    # What it prints is that of the whole training, which tests/docs/test_start_page.py compares.
    code = code_for_the_pipeline(CARD)
    assert code.count("spacy.load(") == 2
    run_code(code, folder=tmp_path)


@pytest.mark.slow
def test_the_fast_package_is_small_and_runs_the_code_of_its_page(finished, tmp_path):
    folder, _ = finished
    report = json.loads((folder / "metrics/fast.json").read_text(encoding="utf-8"))
    package = folder / "packages/zh_structreg_fast-0.1.0"
    meta = json.loads((package / "meta.json").read_text(encoding="utf-8"))
    seg_f = report["all"]["figures"]["seg_f"]
    assert meta["performance"]["seg_f"] == pytest.approx(seg_f)
    assert seg_f > 0.8
    card = (package / "README.md").read_text(encoding="utf-8")
    assert f"| law | 39 | {100 * report['registers']['law']['figures']['seg_f']:.1f} |" in card
    (wheel,) = (package / "dist").glob("*.whl")
    assert wheel.stat().st_size < 5_000_000

    text = "今天上午，临江市图书馆正式开放。\n他們明天去 看书！"
    tokens = installed_tokens(wheel, "zh_structreg_fast", text, tmp_path)
    assert "".join(token[0] for token in tokens).split() == text.replace(" ", "").split()
    assert [token[0] for token in tokens if token[-1]] == ["今天", "他們"]

    run_code(code_for_the_pipeline(FAST_CARD), folder=tmp_path)


@pytest.mark.slow
def test_a_second_run_has_nothing_to_train(finished):
    folder, _ = finished
    model = folder / "training" / "segment" / "model-best" / "meta.json"
    before = model.stat().st_mtime_ns
    result = run("-m", "spacy", "project", "run", "segment", folder=folder)
    assert result.returncode == 0, result.stderr
    assert "Skipping 'train-segment'" in result.stdout
    assert model.stat().st_mtime_ns == before
