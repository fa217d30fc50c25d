"""The examples of docs/serve.md, run against a service."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from docs.pages import ROOT, blocks
from running_server import running
from typer.main import get_command

from spacy_structreg.cli.app import structreg_app

PAGE = ROOT / "docs/serve.md"
CHINESE = ROOT / "docs/zh/serve.md"


def test_the_chinese_page_has_the_same_examples() -> None:
    chinese, english = (
        [each.text for each in blocks(page) if each.value == "needs a service"]
        for page in (CHINESE, PAGE)
    )
    assert chinese == english != []


def test_the_table_of_limits_tells_the_defaults() -> None:
    rows = re.findall(r"^\| `--([a-z-]+)` \| .* \| ([\d,.]+) \|$", PAGE.read_text("utf-8"), re.M)
    told = {name.replace("-", "_"): float(value.replace(",", "")) for name, value in rows}
    options = get_command(structreg_app).commands["serve"].params  # type: ignore[attr-defined]
    assert told == {
        name: option.default
        for option in options
        if (name := option.opts[0].removeprefix("--").replace("-", "_")).startswith("max_")
        or name.endswith("seconds")
    }


@pytest.mark.slow
def test_the_examples_of_the_page(pipeline: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = [each for each in blocks(PAGE) if each.value == "needs a service"]
    curls = next(each.text for each in page if "curl" in each.text)
    python = next(each.text for each in page if each.language == "python")
    with running(pipeline) as server:
        found = subprocess.run(
            ["bash", "-ec", curls.replace("http://127.0.0.1:8000", server.address)],
            capture_output=True,
            check=True,
        ).stdout.decode()
        exec(python.replace("http://127.0.0.1:8000", server.address), {})
    decoder = json.JSONDecoder()
    annotated, end = decoder.raw_decode(found)
    assert annotated["documents"][0]["text"] == "我们明天去杭州。"
    rest = found[end:]
    assert rest.startswith("# text = 我们明天去杭州。\n1\t")
    explained = json.loads(rest[rest.index('{"component"') :])
    assert explained["component"] == "tokenizer"
    assert "'自然语言处理'" in capsys.readouterr().out
