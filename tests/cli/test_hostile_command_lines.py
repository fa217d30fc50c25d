"""Users' mistakes on the command line: one line, no traceback, and nothing left behind."""

from __future__ import annotations

import resource
import subprocess
import sys
import zipfile
from pathlib import Path
from unittest.mock import Mock

import pytest
import spacy
from spacy.tokens import Doc, DocBin
from typer.testing import CliRunner
from warm_python import executable

from spacy_structreg.cli.app import structreg_app
from spacy_structreg.cli.outputs import replace_folder
from spacy_structreg.corpora.files import replace_bytes
from spacy_structreg.estimators.segmentation.character_segmenter import CharacterSegmenter

FIT = "fit segment.cfg out --train c.spacy --dev c.spacy"
JACKKNIFE = "jackknife tag.cfg c.spacy j.spacy -k 2"

CONFIGS = ["empty.cfg", "bytes", "nul.cfg", "broken.cfg", "twice.cfg", "variable.cfg", "short.cfg"]
CONFIGS += ["list.cfg", "none.cfg", ".", "c.spacy", "/dev/null"]

SETTINGS = [
    "--training.max_epochs x",
    "--training.max_epochs 1.5",
    "--training.max_epochs true",
    "--training.max_epochs null",
    "--training.max_epochs -7",
    '--training.seed "x"',
    "--training.seed x",
    "--training.seed -1",
    "--training.seed 1e3",
    "--training.seed 99999999999999",
    "--training.epochs 3",
    "--training.=3",
    "--training.frozen_components x",
    "--training.frozen_components [1]",
    "--nlp.lang xx-yy",
    "--nlp.lang zz",
    "--nlp.lang 3",
    "--nlp.lang null",
    "--nlp.langs zh",
    "--nlp.batch_size x",
    "--nlp.pipeline nope",
    '--nlp.pipeline ["nope"]',
    "--nlp.tokenizer.@tokenizers nope.v1",
    "--nlp.tokenizer.model.@architectures nope.v1",
    "--nlp.tokenizer.model.nope 3",
    "--nlp.tokenizer.model.epochs 0",
    "--nlp.tokenizer.model.epochs x",
    "--nlp.tokenizer.model.templates nope",
    "--nlp.tokenizer.model.templates 3",
    "--nlp.tokenizer.model.sentences nope",
    "--nlp.tokenizer.model.learning.algorithm nope",
    "--nlp.tokenizer.model.learning.dropout x",
    "--components.tokenizer_trainer.factory nope",
    "--initialize.tokenizer.user_words nope.txt",
    "--initialize.tokenizer.pkuseg_model x",
    "--initialize.before_init x",
    "--initialize.vectors nope",
    "--corpora.train.gold 3",
    "--corpora.dev 3",
    "--unlabeled c.spacy",
    "--unlabeled none",
    "--all none",
    "--all words.txt.no",
    "--train none",
    "--train empty",
    "--train bytes",
    "--dev none",
    "--dev empty",
    "--dev /dev/null",
    "--report .",
    "--report empty/r.json",
    "--report /proc/r.json",
]

# Ended by the command line itself, which says how the command is used.
USAGE = [
    f"{FIT} --nope",
    f"{FIT} --nope=3",
    f"{FIT} --nope 3",
    f"{FIT} -x",
    f"{FIT} extra",
    f"{FIT} --training 3",
    f"{FIT} --models 0",
    f"{FIT} --models 1000000000",
    f"{FIT} --models x",
    f"{FIT} --patience 0",
    f"{FIT} --threads 0",
    f"{JACKKNIFE} --folds 1",
    f"{JACKKNIFE} extra",
    "fit segment.cfg",
    "convert",
    "convert words.txt o.spacy --format nope",
    "convert words.txt o.spacy -n 0",
    "segment pipeline text.txt --threads 0",
    "uncertain pipeline text.txt o.partial -n 0",
    "explain pipeline",
    "explain pipeline x -d one",
    "explain pipeline x -n -1",
    "report",
    "report pipeline --part train",
    "draw trees.txt",
    "draw trees.txt -o o.svg -n -1",
    "average pipeline pipeline a --mean x",
    "compress pipeline",
    "compress pipeline a --prune x",
    "correct pipeline words.txt",
    "correct pipeline words.txt a --examples -1",
    "correct pipeline words.txt a --format nope",
    "info",
    "adapt pipeline text.txt",
    "adapt pipeline text.txt a --threads 0",
    "copy-data",
    "search segment.cfg",
    "search segment.cfg space.yml s --train c.spacy --folds 1",
    "search segment.cfg space.yml s --train c.spacy --dev c.spacy --threads 0",
    "search segment.cfg space.yml s --train c.spacy --dev c.spacy --nope",
    "calibrate pipeline",
    "calibrate pipeline words.txt --method x",
    "calibrate pipeline words.txt --gold x",
    "compile-words words.txt",
    "compile-words words.txt o.words --mode nope",
    "compile-words words.txt o.words --bonus x",
    "unpack a.zip",
    "word-classes words.txt",
    "word-classes words.txt o.txt --classes 1",
    "word-classes words.txt o.txt --method x",
    "word-classes words.txt o.txt --engine x",
    "count-ngrams words.txt",
    "count-ngrams words.txt o.ngrams --engine x",
    "count-ngrams words.txt o.ngrams --workers 0",
    "count-ngrams words.txt o.ngrams --max-bad x",
    "select words.txt",
    "agree",
    "agree c.spacy",
    "init-config x.cfg --task nope",
    "nope",
    "--nope",
]

OTHERS = [
    "compress pipeline a --bits 7",
    "search segment.cfg space.yml s --train c.spacy",
    "search segment.cfg space.yml s --train c.spacy --dev c.spacy --folds 2",
    "search segment.cfg space.yml s --train c.spacy --folds 100",
    "search segment.cfg none s --train c.spacy --dev c.spacy",
    "search segment.cfg bytes s --train c.spacy --dev c.spacy",
    "search segment.cfg . s --train c.spacy --dev c.spacy",
    "search segment.cfg segment.cfg s --train c.spacy --dev c.spacy",
    *(f"search {config} space.yml s --train c.spacy --dev c.spacy" for config in CONFIGS[:3]),
    *(f"search segment.cfg space.yml {out} --train c.spacy --dev c.spacy"
      for out in ("/", "/proc/x", "empty", "empty/x", "/dev/null", "..", "t")),
    *(f"search segment.cfg space.yml s --train {corpus} --dev c.spacy"
      for corpus in ("none", "bytes", "empty", "t")),
    *(f"search segment.cfg space.yml s --train c.spacy --dev {corpus}"
      for corpus in ("none", "bytes", "empty", "t")),
    "search segment.cfg space.yml s --train c.spacy --dev c.spacy --plot empty",
    "search segment.cfg space.yml s --train c.spacy --dev c.spacy --training.seed x",
    f"{JACKKNIFE} --folds 100",
    f"{JACKKNIFE} --training.max_epochs x",
    f"{JACKKNIFE} --components.tagger.attribute nope",
    f"{JACKKNIFE} --components.tagger nope",
    "jackknife tag.cfg c.spacy j.txt",
    "jackknife tag.cfg c.spacy empty/j.spacy",
    "jackknife tag.cfg c.spacy /proc/j.spacy",
    *(f"fit segment.cfg {out} --train c.spacy --dev c.spacy"
      for out in ("/", "/proc/x", "empty", "empty/x", "/dev/null", "..")),
    "agree c.spacy o.spacy",
    "agree c.spacy none o.spacy",
    "agree c.spacy bytes o.spacy",
    "agree c.spacy empty o.spacy",
    "agree c.spacy c.spacy o.spacy",
    "convert none o.spacy",
    "convert words.txt o.xyz",
    "convert words.txt .",
    "convert words.txt empty/o.spacy",
    "convert words.txt /proc/o.spacy",
    "convert words.txt o.spacy --percent 90:10",
    "convert words.txt o.spacy --days x",
    "convert words.txt o.spacy --columns x",
    "convert words.txt o.spacy --part x",
    "convert bytes o.spacy",
    "convert empty o.spacy",
    "convert . o.spacy",
    f"convert words.txt {'x' * 300}.spacy",
    "segment none text.txt",
    "segment text.txt text.txt",
    "segment pipeline none",
    "segment pipeline .",
    "segment pipeline bytes",
    "segment pipeline text.txt --tags",
    "segment pipeline text.txt -e nope",
    "segment pipeline text.txt -o .",
    "segment pipeline text.txt -o empty/x",
    "segment pipeline text.txt -o /proc/x",
    "uncertain none text.txt o.partial",
    "uncertain pipeline none o.partial",
    "uncertain pipeline . o.partial",
    "uncertain pipeline bytes o.partial",
    "uncertain pipeline empty o.partial",
    "uncertain pipeline text.txt text.txt",
    "uncertain pipeline text.txt .",
    "uncertain pipeline text.txt /proc/o.partial",
    "explain none x",
    "explain pipeline x --component none",
    "explain pipeline x -d 0",
    "explain pipeline x -d 2",
    "explain pipeline x -o o.txt",
    "explain pipeline x -o .",
    "explain pipeline x -o /proc/o.html",
    "uncertain pipeline text.txt o.partial --share 0",
    "uncertain pipeline text.txt o.partial --share nan",
    "uncertain pipeline text.txt o.partial --share 0.5 -n 3",
    "calibrate none words.txt",
    "calibrate pipeline none",
    "calibrate pipeline .",
    "calibrate pipeline bytes",
    "calibrate pipeline words.txt -o .",
    "calibrate pipeline words.txt --plot o.txt",
    "calibrate pipeline words.txt --plot /proc/o.svg",
    "word-classes words.txt words.txt",
    "word-classes words.txt .",
    "word-classes words.txt /proc/o.txt",
    "word-classes none o.txt",
    "word-classes words.txt o.txt --engine local",
    "count-ngrams words.txt words.txt",
    "count-ngrams words.txt .",
    "count-ngrams words.txt /proc/o.ngrams",
    "count-ngrams none o.ngrams",
    "count-ngrams none.txt o.ngrams",
    "count-ngrams empty o.ngrams",
    "count-ngrams words.txt o.ngrams --script nope",
    "count-ngrams words.txt o.ngrams --scratch words.txt",
    "count-ngrams words.txt o.ngrams --scheduler nowhere",
    "count-ngrams words.txt o.ngrams --scheduler tcp://127.0.0.1:1 --workers 2",
    "copy-data words.txt",
    "copy-data words.txt=",
    "copy-data =words.txt",
    "copy-data words.txt=o.txt --data none",
    "copy-data words.txt=o.txt --data words.txt",
    "copy-data none=o.txt --data .",
    "copy-data words.txt=words.txt --data .",
    "copy-data words.txt=. --data .",
    "copy-data words.txt=empty/o.txt --data .",
    "copy-data words.txt=/proc/o.txt --data .",
    "unpack none x=o.txt",
    "unpack . x=o.txt",
    "unpack empty x=o.txt",
    "unpack bytes x=o.txt",
    "unpack c.spacy x",
    "unpack files.zip none=o.txt",
    "unpack files.zip x=.",
    "unpack files.zip x=empty/o.txt",
    "unpack files.zip x=/proc/o.txt",
    "unpack files.zip x=files.zip",
    "unpack files.zip x=o.txt -e nope",
    "unpack files.zip x=o.txt -e ascii",
    "select none o.conllu",
    "select . o.conllu",
    "select bytes o.conllu",
    "select empty o.conllu",
    "select words.txt o.conllu",
    "select t.conllu o.conllu --exclude none",
    "select t.conllu o.conllu --exclude t.conllu",
    "select t.conllu o.conllu --sent-id nope",
    "select t.conllu o.conllu --sent-id a,",
    "select t.conllu t.conllu",
    "select t.conllu .",
    "select t.conllu empty/o.conllu",
    "select t.conllu /proc/o.conllu",
    "evaluate none words.txt",
    "evaluate pipeline none",
    "evaluate pipeline empty",
    "evaluate pipeline words.txt --train none",
    "evaluate pipeline words.txt --punctuation X",
    "evaluate pipeline words.txt --output .",
    "evaluate pipeline words.txt --output empty/x",
    "evaluate pipeline words.txt --output /proc/x",
    "report none --treebank .",
    "report none --treebank t",
    "report pipeline",
    "report pipeline --treebank empty",
    "report pipeline --treebank t -o words.txt",
    "report pipeline --treebank t -o t/test/a.bracket --force",
    "report pipeline --treebank t -o empty/x",
    "report pipeline --treebank t -o /proc/x",
    "report pipeline --treebank t --against none",
    "report pipeline --treebank t --part dev",
    "draw trees.txt -o o.xyz",
    "draw trees.txt -o empty",
    "draw trees.txt -o empty/x.svg",
    "draw trees.txt -o /proc/x",
    "draw none -o o.svg",
    "draw text.txt -o o.svg --pipeline none",
    "draw text.txt -o o.svg --pipeline pipeline",
    "correct none words.txt a",
    "correct text.txt words.txt a",
    "correct pipeline none a",
    "correct pipeline . a",
    "correct pipeline bytes a",
    "correct pipeline empty a",
    "correct pipeline words.txt empty",
    "correct pipeline words.txt empty/x",
    "correct pipeline words.txt /proc/x",
    "correct pipeline words.txt pipeline",
    "correct pipeline words.txt a --pipe nope",
    "correct pipeline words.txt a --sample none",
    "correct pipeline words.txt a --sample bytes",
    "correct pipeline words.txt a --sample .",
    "correct pipeline words.txt a --sample empty.spacy",
    "correct pipeline words.txt a --report words.txt",
    "correct pipeline words.txt a --report empty/x",
    "correct pipeline words.txt a --format conllu",
    "info none",
    "info .",
    "info text.txt",
    "compile-words none o.words",
    "compile-words empty o.words",
    "compile-words . o.words",
    "compile-words bytes o.words",
    "compile-words words.txt o.words --mode bonus",
    "compile-words words.txt o.words --mode force --bonus 2",
    "compile-words words.txt o.words --bonus nan",
    "compile-words words.txt o.words --bonus 1e300",
    "compile-words words.txt o.words -e nope",
    "compile-words words.txt words.txt",
    "compile-words words.txt .",
    "compile-words words.txt empty/o.words",
    "compile-words words.txt /proc/o.words",
    "average pipeline none a",
    "compress none a",
    "compress pipeline a --prune -1",
    "compress pipeline a --max-loss nan",
    "compress pipeline a --corpus none",
    "compress pipeline empty --force --corpus text.txt --gold words",
    "compress pipeline /proc/x",
    "average pipeline pipeline empty --force",
    "average pipeline pipeline empty/x",
    "average pipeline pipeline /proc/x",
    "adapt none text.txt a",
    "adapt pipeline text.txt a",
    "adapt pipeline none a",
    "adapt pipeline bytes a",
    "adapt pipeline . a",
    "adapt pipeline text.txt empty --force",
    "adapt pipeline text.txt empty/x",
    "adapt pipeline text.txt /proc/x",
    "adapt pipeline text.txt a -e nope",
    "adapt adaptable none a",
    "adapt adaptable bytes a",
    "adapt adaptable empty a",
    "adapt adaptable . a",
    "adapt adaptable text.txt a -e utf-16",
    "init-config --task tag segment.cfg",
    "init-config --task tag x.cfg --lang xx-yy",
    "init-config --task tag x.cfg --train none",
    "init-config --task tag x.cfg --train a$b",
    "init-config x.cfg --base none --task tag",
    "init-config x.cfg --task joint --tag-map nope",
    "init-config --task tag empty/x.cfg",
    "init-config --task tag /proc/x.cfg",
]  # fmt: skip

HOSTILE = [
    *(f"fit {config} out --train c.spacy --dev c.spacy" for config in CONFIGS),
    *(f"jackknife {config} c.spacy j.spacy" for config in CONFIGS[:3]),
    *(f"{FIT} {setting}" for setting in SETTINGS),
    *OTHERS,
]


@pytest.fixture(scope="module")
def workplace(
    tmp_path_factory: pytest.TempPathFactory, pipeline: str, sentences: list[list[str]]
) -> Path:
    """A folder with what there is in the command lines."""
    folder = tmp_path_factory.mktemp("workplace")
    vocab = spacy.blank("zh").vocab
    docs = [
        Doc(vocab, words=words, spaces=[False] * len(words), tags=["N"] * len(words))
        for words in sentences
    ]
    DocBin(docs=docs).to_disk(folder / "c.spacy")
    (folder / "pipeline").symlink_to(pipeline)
    (folder / "t/test").mkdir(parents=True)
    (folder / "t/test/a.bracket").write_text("(IP (NN 狗))\n", "utf-8")
    nlp = spacy.load(pipeline)
    nlp.tokenizer.model = CharacterSegmenter(epochs=1, statistics="all").fit(sentences)
    nlp.to_disk(folder / "adaptable")
    contents: dict[str, bytes] = {
        "empty": b"",
        "empty.cfg": b"",
        "bytes": bytes(range(256)) * 4,
        "nul.cfg": b"[nlp]\0\n",
        "broken.cfg": b"[nlp\nlang=zh",
        "twice.cfg": b'[nlp]\nlang = "zh"\nlang = "en"\n',
        "variable.cfg": b"[nlp]\nlang = ${paths.x}\n",
        "short.cfg": b'[nlp]\nlang = "zh"\n',
        "list.cfg": b'[nlp]\nlang = ["zh"]\n[training]\nseed = 1\nmax_epochs = 1\n',
        "space.yml": b"settings: {training.max_epochs: {choices: [1, 2]}}\n",
        "text.txt": "我们在图书馆看书。\n".encode(),
        "words.txt": "我们 在 图书馆\n".encode(),
        "trees.txt": "(IP (NP (NN 狗)) (VP (VV 走)))\n".encode(),
    }
    contents["t.conllu"] = b"# sent_id = a-1\n1\ta\t_\t_\tN\t_\t0\troot\t_\t_\n\n"
    with zipfile.ZipFile(folder / "files.zip", "w") as archive:
        archive.writestr("x", "\u4e2d\n")
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    for task in ("segment", "tag"):
        command = ["init-config", str(folder / f"{task}.cfg"), "--task", task]
        assert CliRunner().invoke(structreg_app, command).exit_code == 0
    return folder


@pytest.mark.parametrize("line", [*HOSTILE, *USAGE])
def test_mistakes_are_said_in_a_line(
    line: str, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workplace)
    before = sorted(path.name for path in workplace.iterdir())
    result = CliRunner().invoke(structreg_app, line.split())
    assert isinstance(result.exception, SystemExit), result.exception
    assert result.stdout == ""
    if line in USAGE:
        assert result.exit_code == 2
        assert result.stderr.startswith("Usage: ")
    else:
        assert result.exit_code == 1
        assert result.stderr.startswith("✘ ")
        assert result.stderr.count("\n") == 1
        assert ".tmp" not in result.stderr
    assert sorted(path.name for path in workplace.iterdir()) == before


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (f"{FIT} --training.max_epochs 1.5", "segment.cfg: training.max_epochs is 1.5; it must be"),
        (f"{FIT} --nlp.lang xx-yy", "segment.cfg: [E048] Can't import language"),
        (f"{FIT} --training.epochs 3", "segment.cfg: there is no setting training.epochs"),
        ("fit empty.cfg out --train c.spacy --dev c.spacy", "empty.cfg: "),
        ("fit bytes out --train c.spacy --dev c.spacy", "bytes:"),
        ("convert words.txt empty/o.spacy", "empty/o.spacy: "),
        ("draw trees.txt -o o.xyz", "o.xyz: name a file that ends in .svg or .html, or a folder"),
        ("convert words.txt /proc/o.spacy", "/proc/o.spacy: "),
        (f"convert words.txt {'x' * 300}.spacy", f"{'x' * 300}.spacy: "),
        ("convert words.txt ./c.spacy c.spacy", "c.spacy is an input, and would be replaced"),
        ("evaluate pipeline c.spacy --output c.spacy", "c.spacy is an input"),
        ("evaluate pipeline c.spacy --train words.txt --output words.txt", "words.txt is an input"),
        ("jackknife tag.cfg c.spacy c.spacy", "c.spacy is an input"),
        (f"{FIT} --report c.spacy", "c.spacy is an input"),
    ],
)
def test_messages_name_what_was_given(
    line: str, message: str, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workplace)
    result = CliRunner().invoke(structreg_app, line.split())
    assert result.stderr.removeprefix("✘ ").startswith(message)


def limited() -> None:
    """Let the process write files of few bytes only, as on a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, resource.RLIM_INFINITY))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("convert words.txt full/o.spacy", "full/o.spacy"),
        ("segment pipeline long.txt -o full/o.txt", "full/o.txt"),
        ("average pipeline pipeline full/a", "full/a"),
        ("compress pipeline full/a", "full/a"),
        ("count-ngrams long.txt full/o.ngrams --workers 1", "full/o.ngrams"),
    ],
)
def test_a_full_disk_is_named_by_the_file(line: str, named: str, workplace: Path) -> None:
    (workplace / "long.txt").write_text("我们在图书馆看书。\n" * 100, "utf-8")
    result = subprocess.run(
        [sys.executable, "-m", "spacy", "structreg", *line.split()],
        cwd=workplace, preexec_fn=limited, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith("✘ ")
    assert result.stderr.endswith(f"{named}: File too large\n")
    assert "Traceback" not in result.stderr
    assert list((workplace / "full").iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is full")
@pytest.mark.parametrize("line", ["segment pipeline text.txt", "evaluate pipeline words.txt"])
def test_a_full_standard_output(line: str, workplace: Path) -> None:
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            [executable(), "-m", "spacy", "structreg", *line.split()],
            cwd=workplace, stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert result.returncode == 1
    assert result.stderr == "✘ standard output: No space left on device\n"


def test_errors_of_inputs_are_not_blamed_on_the_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "output"
    for error in (OSError(5, "Input/output error"), OSError(2, "No such file", "input.txt")):
        with pytest.raises(OSError, match=r"error|No such") as caught, replace_bytes(output):
            raise error
        assert caught.value is error
    monkeypatch.chdir(tmp_path)
    for error in (OSError(5, "Input/output error"), OSError(2, "No such file", "input.txt")):
        with pytest.raises(OSError, match=r"error|No such") as caught:
            replace_folder(Path("output"), Mock(side_effect=error))
        assert caught.value is error
    full = OSError(28, "No space left on device")
    with pytest.raises(OSError, match="No space") as caught, replace_bytes(output):
        raise full
    assert caught.value.filename == str(output)
    assert list(tmp_path.iterdir()) == []


def write_pipeline(folder: Path) -> None:
    """Write what a folder is known by as that of a pipeline."""
    folder.mkdir()
    for name in ("meta.json", "config.cfg"):
        (folder / name).touch()


def test_a_link_to_a_folder_stays(tmp_path: Path) -> None:
    link, target = tmp_path / "link", tmp_path / "target"
    link.symlink_to("target")
    for _ in range(2):
        replace_folder(link, write_pipeline, force=True)
        assert link.is_symlink()
        assert sorted(path.name for path in target.iterdir()) == ["config.cfg", "meta.json"]
        assert sorted(tmp_path.iterdir()) == [link, target]


def test_the_working_directory_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for output in (Path(), tmp_path):
        with pytest.raises(ValueError, match="working directory, and is not replaced"):
            replace_folder(output, write_pipeline)
    assert tmp_path.exists()
