"""Pictures of the page of `structreg serve`, taken in a Chromium without a window.

`screenshots` takes them from a service that runs; this file run as a program starts one::

    python docs/tools/screenshots.py PIPELINE docs/pictures words trees dark

All are taken if none is named. `make screenshots` takes those that pages show.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

from playwright.sync_api import Browser, Page, sync_playwright

__all__ = ["SHOTS", "chromium", "screenshots"]

SENTENCE: Final = "李明昨天在杭州买了三本关于自然语言处理的书。"
TEXT: Final = (
    "王芳在成都长大。2015年，她考上了南京大学。毕业以后，她和同学开了一家小公司。"
    "去年冬天，他们的产品卖到了国外。"
)
WORDS: Final = '[{"word": "自然语言处理", "tag": "NN", "mode": "force"}]'


class Shot(NamedTuple):
    """A picture to take.

    state: of the page, as its links hold it. click: what is clicked first, as a CSS selector.
    locale: of the browser, which the page follows.
    """

    state: dict[str, str]
    click: str | None = None
    width: int = 1200
    scheme: str = "light"
    locale: str = "en-US"


SHOTS: Final = {
    "words": Shot({"text": TEXT, "view": "words"}),
    "confidence": Shot({"text": TEXT, "view": "words", "confidence": "1"}),
    "trees": Shot({"text": SENTENCE, "view": "trees", "words": WORDS}, '[data-style="dep"]'),
    "phrases": Shot({"text": SENTENCE, "view": "trees", "words": WORDS}, '[data-style="tree"]'),
    "entities": Shot({"text": TEXT, "view": "entities"}),
    "alternatives": Shot({"text": SENTENCE, "view": "alternatives"}),
    "explanation": Shot({"text": SENTENCE, "view": "words"}, '.token[data-token="4"]'),
    "dark": Shot({"text": TEXT, "view": "words"}, '.token[data-token="7"]', scheme="dark"),
    "dark-trees": Shot({"text": SENTENCE, "view": "trees"}, scheme="dark"),
    "phone": Shot({"text": TEXT, "view": "words"}, width=360),
    "phone-explanation": Shot(
        {"text": SENTENCE, "view": "words"}, '.token[data-token="4"]', width=360
    ),
    "phone-trees": Shot({"text": SENTENCE, "view": "trees"}, width=360, scheme="dark"),
    "correction": Shot({"text": TEXT, "view": "entities"}, ".entity"),
    "chinese": Shot({"text": TEXT, "view": "words", "confidence": "1"}, locale="zh-CN"),
    "chinese-trees": Shot({"text": SENTENCE, "view": "trees", "words": WORDS}, locale="zh-CN"),
    "chinese-correction": Shot({"text": TEXT, "view": "entities"}, ".entity", locale="zh-CN"),
    "chinese-alternatives": Shot({"text": SENTENCE, "view": "alternatives"}, locale="zh-CN"),
    "chinese-explanation": Shot({"text": SENTENCE, "view": "words"}, ".token", locale="zh-CN"),
    "chinese-phone": Shot({"text": TEXT, "view": "words"}, width=360, locale="zh-CN"),
}
"""The pictures by their names."""


@contextmanager
def chromium() -> Iterator[Browser]:
    """A Chromium of the system, with a profile of its own, that asks for nothing by itself.

    Raises FileNotFoundError if there is none.
    """
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        raise FileNotFoundError("there is no chromium; install it from the system's packages")
    # Chromium refuses its sandbox to root.
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    options = ["--disable-background-networking", "--disable-component-update"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, args=options, chromium_sandbox=not is_root
        )
        try:
            yield browser
        finally:
            browser.close()


def screenshots(
    address: str, folder: Path, names: Collection[str] = (), scale: int = 2
) -> list[Path]:
    """Take pictures of the page at an address into a folder, as ``page-NAME.png``.

    names: keys of `SHOTS`; all if there are none. scale: pixels for each one of the page.
    Raises ValueError for a name that is not among them.
    """
    if unknown := {*names} - {*SHOTS}:
        raise ValueError(f"there are no pictures {sorted(unknown)}; there are {', '.join(SHOTS)}")
    folder.mkdir(parents=True, exist_ok=True)
    taken = []
    with chromium() as browser:
        for name, shot in SHOTS.items():
            if names and name not in names:
                continue
            options: dict[str, Any] = {
                "color_scheme": shot.scheme,
                "reduced_motion": "reduce",
                "locale": shot.locale,
            }
            size: Any = {"width": shot.width, "height": 720}
            page = browser.new_page(viewport=size, device_scale_factor=scale, **options)
            page.goto(f"{address}/#{urlencode(shot.state)}")
            wait_until_drawn(page)
            if shot.click:
                page.click(shot.click)
                if "data-style" not in shot.click:
                    page.wait_for_selector("#explanation .features")
                page.mouse.move(0, 0)
            taken.append(folder / f"page-{name}.png")
            # What is fixed to the edge of a phone hides no part of a longer picture.
            is_whole = not (shot.click and shot.width < 1000)
            page.screenshot(path=taken[-1], full_page=is_whole)
            page.close()
    return taken


def wait_until_drawn(page: Page) -> None:
    """Wait until the page has drawn an answer, with its pictures and explanations."""
    page.wait_for_selector("#panel:not([aria-busy]) > div > *")
    page.wait_for_load_state("networkidle")


def main(pipeline: str, folder: str, *names: str) -> None:
    """Serve a pipeline, and take the pictures: those that are named are small, for pages."""
    command = [sys.executable, "-m", "spacy", "structreg", "serve", pipeline, "--port", "0"]
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        ) as service,
    ):
        assert service.stdout is not None
        try:
            address = next((word for word in service.stdout.readline().split() if "//" in word), "")
            if not address:
                errors.seek(0)
                raise RuntimeError(f"the service did not start: {errors.read()}")
            for path in screenshots(address, Path(folder), names, 1 if names else 2):
                print(path)
        finally:
            service.terminate()


if __name__ == "__main__":
    main(*sys.argv[1:])
