"""``spacy train`` that was killed and goes on, to the weights of a training without a break."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner
from warm_python import executable

from spacy_structreg.cli.app import structreg_app

# A training that dies at a step.
CODE = """
import os, signal
import spacy
from spacy_structreg.pipeline import checkpoint_callbacks as checkpoints
@spacy.registry.callbacks("dying.v1")
def create(path, step_of_death):
    save = checkpoints.create_saver(path)
    def before_update(nlp, step):
        save(nlp, step)
        if step["step"] == step_of_death:
            os.kill(os.getpid(), signal.SIGKILL)
    return before_update
"""


# As many sentences as there were.
VARIANTS = """
[corpora.train.augmenter]
@augmenters = "spacy_structreg.text_variants.v1"
half_width = 0.5
keep = false
"""


@pytest.mark.slow
@pytest.mark.parametrize("task", ["segment", "tag"])
def test_a_killed_training_goes_on(task: str, corpora: Path, tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text(CODE, "utf-8")
    config = tmp_path / f"{task}.cfg"
    made = CliRunner().invoke(
        structreg_app,
        [
            *("init-config", str(config), "--task", task, "--checkpoint", str(tmp_path / "state")),
            *("--train", str(corpora / "train.spacy"), "--dev", str(corpora / "dev.spacy")),
        ],
    )
    assert made.exit_code == 0, made.output
    text = config.read_text("utf-8")
    # What is drawn when the corpus is read is drawn again.
    text = text.replace("augmenter = null\n", "", 1) + VARIANTS
    config.write_text(text, "utf-8")
    steps = int(text.partition("eval_frequency = ")[2].split()[0])
    dying = tmp_path / "dying.cfg"
    name = '@callbacks = "spacy_structreg.save_checkpoint.v1"'
    dying.write_text(
        text.replace(name, f'@callbacks = "dying.v1"\nstep_of_death = {3 * steps + 1}'), "utf-8"
    )

    def train(config: Path, output: str, *further: str) -> subprocess.CompletedProcess[str]:
        command = ["-m", "spacy", "train", config, "--output", tmp_path / output]
        options = ["--training.max_epochs", "6", "--training.patience", "0"]
        return subprocess.run(
            [executable(), *map(str, command), *map(str, options), *further],
            capture_output=True,
            text=True,
            check=False,
        )

    killed = train(dying, "killed", "--code", str(tmp_path / "code.py"))
    assert killed.returncode == -9, killed.stderr
    assert [path.name for path in (tmp_path / "state").iterdir()] == ["000003"]
    resumed = train(config, "resumed", "--initialize.after_init.path", str(tmp_path / "state"))
    assert resumed.returncode == 0, resumed.stderr
    assert [path.name for path in (tmp_path / "state").iterdir()] == ["000005"]
    straight = train(config, "straight", "--training.before_update.path", "null")
    assert straight.returncode == 0, straight.stderr
    part = "tokenizer" if task == "segment" else "tagger"
    models = [
        (tmp_path / output / "model-last" / part / "model.srt").read_bytes()
        for output in ("resumed", "straight")
    ]
    assert models[0] == models[1]
