"""What is dear to make is made once a run, by whichever process needs it first."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

MadeOnce = Callable[..., Path]


def test_the_first_fills_the_folder_and_the_others_wait(made_once: MadeOnce) -> None:
    filled = []

    def fill(folder: Path) -> None:
        filled.append(folder.name)
        (folder / "half").touch()
        (folder / "whole").touch()

    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: made_once("filled", fill), range(8)))
    assert len(filled) == 1
    assert len(set(found)) == 1
    assert {path.name for path in found[0].iterdir()} == {"half", "whole"}


def test_what_failed_is_made_again(made_once: MadeOnce) -> None:
    def fail(folder: Path) -> None:
        (folder / "half").touch()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        made_once("failing", fail)
    whole = made_once("failing", lambda folder: (folder / "whole").touch())
    assert [path.name for path in whole.iterdir()] == ["whole"]
