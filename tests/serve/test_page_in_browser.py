"""The page of `structreg serve`, in a Chromium without a window, against a service that runs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
import spacy
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Locator,
    Page,
    Route,
    expect,
)
from running_server import running
from screenshots import chromium, wait_until_drawn
from spacy.tokens import Doc, DocBin

from spacy_structreg.cli.app import structreg_app
from spacy_structreg.corpora.corpus_format import UNIVERSAL_TAGS
from spacy_structreg.corpora.palette import FILLS, css, fill_of
from spacy_structreg.corpora.tag_glossary import RELATION_GLOSSARY, TAG_GLOSSARY
from spacy_structreg.features.knowledge import (
    CORPUS,
    GUIDE,
    STATISTICS,
    TYPED_RUN,
    USER_WORDS,
    WORD_CLASSES,
    WORD_LIST,
)
from spacy_structreg.pipeline.constituency_documents import Phrase, write_phrases
from spacy_structreg.pipeline.doc_lines import json_of
from spacy_structreg.serve.annotator import pictures_of
from spacy_structreg.tasks.segmentation.user_words import UserWords

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[2] / "spacy_structreg" / "serve" / "page"
TREEBANK = Path(__file__).parents[2] / "treebank"
TEXT = "小王写大字！我看书。"
VIEWS = ["Words", "Trees", "Entities", "Categories", "Alternatives"]


@dataclass(frozen=True)
class Service:
    """A service that runs at an address."""

    address: str

    def ask(self, path: str, **body: Any) -> Any:
        """The answer of the API itself."""
        url = f"{self.address}/v1/{path}"
        # Of certificates, there are none to verify; reading those of the system takes 30 ms.
        answer = httpx.post(url, json=body, timeout=30, verify=False)
        answer.raise_for_status()
        return answer.json()

    def annotate(self, text: str = TEXT, **options: Any) -> Any:
        return self.ask("annotate", texts=[text], **options)["documents"][0]


@pytest.fixture(scope="module")
def service(pipeline: Path) -> Iterator[Service]:
    with running(pipeline) as server:
        yield Service(server.address)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with ExitStack() as stack:
        try:
            program = stack.enter_context(chromium())
        except FileNotFoundError as error:
            pytest.skip(str(error))
        # As `Visit` waits for what it does: machines are shared.
        expect.set_options(timeout=15_000)
        yield program


def new_context(browser: Browser, **options: Any) -> BrowserContext:
    context = browser.new_context(reduced_motion="reduce", **options)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    context.set_default_timeout(15_000)
    return context


class Visit:
    """A page that is open, and all that it has done."""

    def __init__(self, browser: Browser, service: Service, **options: Any) -> None:
        self.service = service
        self.context = new_context(browser, **options)
        self.faults: list[str] = []
        self.requests: list[str] = []
        self.page = self.context.new_page()
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("dialog", lambda dialog: self.faults.append(dialog.message))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.faults.append(message.text)

    def open(self, text: str | None = TEXT, **state: str) -> Page:
        """Open the page, by a link if there is a text."""
        link = "" if text is None else f"#{urlencode({'text': text, **state})}"
        self.page.goto(f"{self.service.address}/{link}")
        if text is not None:
            wait_until_drawn(self.page)
        return self.page

    def expect_faults(self, pattern: str) -> None:
        """Check that the browser has told of these faults, and of no others so far."""
        assert [each for each in self.faults if not re.search(pattern, each)] == []
        self.faults.clear()

    def check(self) -> None:
        """Check that nothing went wrong, and that nobody but the service was asked."""
        faults, self.faults = self.faults, []
        requests, self.requests = self.requests, []
        known = (self.service.address, "blob:")
        assert [url for url in requests if not url.startswith(known)] == []
        assert faults == []

    def leave(self) -> None:
        """Check what was done, and leave the page as a new one would be."""
        self.context.set_offline(False)
        self.page.unroute_all()
        if self.page.url != "about:blank":
            self.page.evaluate("localStorage.clear()")
            self.page.goto("about:blank")
        self.page.set_viewport_size({"width": 1280, "height": 720})
        self.page.emulate_media(color_scheme="light")
        self.check()


@contextmanager
def visiting(browser: Browser, service: Service, **options: Any) -> Iterator[Visit]:
    """A visit with a profile of its own, checked when it ends without a fault of the test."""
    visit = Visit(browser, service, **options)
    yield visit
    visit.check()
    visit.context.close()


@pytest.fixture(scope="module")
def english_page(browser: Browser, service: Service) -> Iterator[Visit]:
    """The page that most tests use: opening one takes as long as what they do on it."""
    with visiting(browser, service) as opened:
        yield opened


@pytest.fixture(scope="module")
def chinese_page(browser: Browser, service: Service) -> Iterator[Visit]:
    with visiting(browser, service, locale="zh-CN") as opened:
        yield opened


@pytest.fixture
def visit(english_page: Visit) -> Iterator[Visit]:
    yield english_page
    english_page.leave()


@pytest.fixture
def chinese(chinese_page: Visit) -> Iterator[Visit]:
    yield chinese_page
    chinese_page.leave()


def words_of(page: Page) -> list[str]:
    return page.locator(".token .word").all_text_contents()


def expected_words(document: Any) -> list[str]:
    text = document["text"]
    return [text[each["start"] : each["end"]] for each in document["tokens"]]


def focused(page: Page) -> str:
    """The accessible name, or else the id, of what has the focus."""
    name: str = page.evaluate(
        "() => { const e = document.activeElement;"
        " return e.getAttribute('aria-label') ?? e.id ?? e.textContent }"
    )
    return name


def choose(page: Page, view: str) -> None:
    page.get_by_role("tab", name=view).click()
    wait_until_drawn(page)


# What is typed ------------------------------------------------------------------------------------


def test_what_is_typed_is_annotated(visit: Visit) -> None:
    page = visit.open(None)
    expect(page.locator("#status")).to_contain_text("Type or paste")
    page.locator("#text").press_sequentially("小王看书。", delay=5)
    expect(page.locator("#status")).to_contain_text("1 sentence")
    found = visit.service.annotate("小王看书。")
    assert words_of(page) == expected_words(found)
    tags = page.locator(".token .tag").all_text_contents()
    assert tags == [token["tag"] for token in found["tokens"]]
    # Characters outside the basic plane keep their places.
    text = "𠮷野家👍我看书。"
    page.locator("#text").fill(text)
    expect(page.locator(".token").first).to_contain_text("𠮷")
    wait_until_drawn(page)
    assert words_of(page) == expected_words(visit.service.annotate(text))
    page.get_by_role("button", name="Traditional").click()
    expect(page.locator(".token").first).to_contain_text("我")
    wait_until_drawn(page)
    assert "".join(words_of(page)) == page.locator("#text").input_value()
    page.locator("#text").fill("")
    expect(page.locator("#status")).to_contain_text("Type or paste")
    expect(page.locator(".token")).to_have_count(0)
    # What is too long is not sent.
    limit = httpx.get(f"{visit.service.address}/v1/pipeline").json()["limits"]["text"]
    visit.requests.clear()
    page.locator("#text").fill("书" * (limit + 1))
    expect(page.locator("#status")).to_contain_text("too long by 1 character")
    assert not any("annotate" in url for url in visit.requests)


def test_a_request_that_is_overtaken_is_aborted(visit: Visit) -> None:
    page = visit.open(None)
    held: list[str] = []
    failed: list[str] = []
    page.on("requestfailed", lambda request: failed.append(request.post_data or ""))
    page.route("**/v1/annotate", lambda route: held.append(route.request.url), times=1)
    with page.expect_request("**/v1/annotate"):
        page.locator("#text").fill("小王看书。")
    page.locator("#text").fill("我看书。")
    expect(page.locator(".token").first).to_contain_text("我")
    assert [json.loads(each)["texts"] for each in failed] == [["小王看书。"]]
    assert len(held) == 1


def test_a_long_text_is_drawn_as_a_whole_and_trees_as_they_are_seen(visit: Visit) -> None:
    text = TEXT * 150
    page = visit.open(text)
    expect(page.locator(".sentence")).to_have_count(300)
    assert words_of(page) == expected_words(visit.service.annotate(text))
    choose(page, "Trees")
    expect(page.locator("figure svg").first).to_be_visible()
    seen = page.locator("figure.seen").count()
    assert 0 < seen < 60
    page.locator("figure").last.scroll_into_view_if_needed()
    expect(page.locator("figure").last.locator("svg")).to_be_visible()


# Views --------------------------------------------------------------------------------------------


def test_views_show_what_the_api_finds(visit: Visit) -> None:
    page = visit.open()
    found = visit.service.annotate(alternatives=5)
    assert page.get_by_role("tab").all_text_contents() == VIEWS
    choose(page, "Entities")
    spans = page.locator(".entity .word").all_text_contents()
    words = expected_words(found)
    assert spans == ["".join(words[each["start"] : each["end"]]) for each in found["entities"]]
    assert spans
    # Their label has the color that it has everywhere.
    color = FILLS[fill_of(found["entities"][0]["label"])].light
    shown = page.locator(".entity").first.evaluate("each => getComputedStyle(each).backgroundColor")
    assert re.findall(r"\d+", shown) == [str(int(color[i : i + 2], 16)) for i in (1, 3, 5)]
    choose(page, "Categories")
    best = max(found["categories"], key=found["categories"].get)
    expect(page.locator("#panel li").first).to_contain_text(best)
    choose(page, "Alternatives")
    rows = page.locator("#panel section").first.locator("li")
    listed = found["alternatives"]["words"][0]
    assert rows.count() == len(listed) > 1
    best = placed(listed[0]["of"])
    assert rows.first.locator("span.part").all_text_contents() == [each for _, each in best]
    assert rows.first.locator("mark, del").count() == 0
    for row, analysis in list(zip(rows.all(), listed, strict=True))[1:]:
        parts = placed(analysis["of"])
        # By their places, not only by their forms.
        assert row.locator("mark").all_text_contents() == [
            each for at, each in parts if (at, each) not in best
        ]
        assert row.locator("del").all_text_contents() == [
            each for at, each in best if (at, each) not in parts
        ]


def placed(words: list[tuple[str, str]]) -> list[tuple[int, str]]:
    """Words and their tags as the page writes them, with the places where they begin."""
    ends = list(accumulate((len(word) for word, _ in words), initial=0))
    return [(at, f"{word}{tag}") for at, (word, tag) in zip(ends, words, strict=False)]


def test_of_a_long_analysis_what_differs_is_shown(visit: Visit) -> None:
    page = visit.open("我看书他看书我看书他看书我看书小王写大字！", view="alternatives")
    rows = page.locator("#panel section").first.locator("li")
    n_words = rows.first.locator(".part").count()
    assert n_words > 14
    shown = rows.nth(1).locator("span.part").count()
    differing = rows.nth(1).locator("mark").count()
    assert differing
    assert shown <= 4 * differing < n_words
    expect(rows.nth(1)).to_contain_text("…")


def test_trees_are_as_wide_as_the_page_and_longer_ones_are_scrolled(visit: Visit) -> None:
    page = visit.page
    page.set_viewport_size({"width": 1000, "height": 700})
    visit.open("小王写大字他看书" * 3, view="trees")
    svg = page.locator("figure svg").first
    frame = page.locator(".frame").first
    sizes = "frame => [frame.scrollWidth, frame.clientWidth]"
    drawn = svg.evaluate("svg => Number(svg.getAttribute('viewBox').split(' ')[2])")
    for width in (1000, int(drawn)):
        page.set_viewport_size({"width": width, "height": 700})
        whole, seen = frame.evaluate(sizes)
        assert whole <= seen
    expect(page.locator("output")).not_to_have_text("100 %")
    page.set_viewport_size({"width": 320, "height": 700})
    expect(page.locator("output")).to_have_text("50 %")
    whole, seen = frame.evaluate(sizes)
    assert whole > seen
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 320
    page.get_by_role("button", name="Larger").click()
    expect(page.locator("output")).to_have_text("65 %")
    page.keyboard.press("0")
    expect(page.locator("output")).to_have_text("50 %")
    page.keyboard.press("+")
    expect(page.locator("output")).to_have_text("65 %")
    assert svg.bounding_box()["width"] == pytest.approx(0.65 * drawn, abs=1)  # type: ignore[index]
    page.keyboard.press("0")
    expect(page.locator("output")).to_have_text("50 %")
    expect(page.get_by_role("button", name="Fit to width")).to_have_attribute(
        "aria-pressed", "true"
    )


def test_what_takes_a_while_is_told(visit: Visit) -> None:
    page = visit.open()
    held: list[Route] = []
    # Playwright takes no built-in function.
    page.route("**/v1/*", lambda route: held.append(route))  # noqa: PLW0108
    status = page.locator("#status")
    page.locator("#text").fill("小王看书。")
    expect(status).to_have_text("Working …")
    held.pop().continue_()
    expect(status).to_contain_text("1 sentence")
    page.locator(".token").first.click()
    expect(page.locator("#explanation .content")).to_have_text("Working …")
    expect(status).to_have_text("Working …")
    held.pop().continue_()
    expect(status).to_contain_text("1 sentence")


def test_confidence_is_that_of_the_api(visit: Visit) -> None:
    page = visit.open()
    page.get_by_label("Show how certain").check()
    expect(page.locator("#panel .hint")).to_contain_text("points")
    expect(page.locator(".sure").first).to_be_attached()
    margins = visit.service.annotate(confidence=True)["margins"]
    for token, *of_token in zip(
        page.locator(".token").all(), margins["words"], margins["tags"], strict=True
    ):
        known = [each for each in of_token if each is not None]
        shown = token.locator(".sure").all_text_contents()
        assert shown == ([f"{min(known):+.1f}"] if known else [])
    assert any(margin is not None for margin in margins["words"])


# Explanations -------------------------------------------------------------------------------------


def test_a_clicked_word_is_explained(visit: Visit) -> None:
    page = visit.open()
    page.locator(".token").nth(1).click()
    panel = page.locator("#explanation")
    expect(panel.get_by_role("heading")).to_have_text("Why 写?")
    decision = panel.locator(".decision").first
    sentence = TEXT[:6]
    found = visit.service.ask("explain", text=sentence, component="tokenizer")["decisions"]
    about = next(each for each in found if each["start"] == 2)
    expect(decision.locator("summary b").first).to_have_text(about["chosen"])
    expect(decision.locator("summary").first).to_contain_text(about["runner_up"])
    # The features and their bars.
    features = decision.locator(".features").first.locator("li")
    assert features.count() == min(12, len(about["differences"]))
    first = about["differences"][0]
    expect(features.first.locator("code")).to_have_text(first["template"])
    score = first["chosen"] - first["runner_up"]
    shown = features.first.locator(".number").inner_text().replace("−", "-")
    assert float(shown) == pytest.approx(score, abs=0.006)
    needed = sum(each["needed"] for each in about["differences"])
    assert decision.locator(".needed").count() == needed
    widths = [
        bar.evaluate("bar => bar.getBoundingClientRect().width")
        for bar in features.locator(".bar-of").all()
    ]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] > 10
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    assert focused(page).startswith("写")


def test_whatever_was_decided_can_be_clicked(visit: Visit) -> None:
    page = visit.open()
    for view, style, target, part in (
        ("Words", None, ".token .tag", "Words"),
        ("Words", None, ".boundary", "Words"),
        ("Trees", "dep", "text[data-arc]", "Dependencies"),
        ("Trees", "tree", "text[data-phrase]", "Phrases"),
        ("Entities", None, ".entity", "Entities"),
        ("Categories", None, "#panel li button", "Categories"),
    ):
        choose(page, view)
        if style:
            page.locator(f'[data-style="{style}"]').click()
        clicked = page.locator(target).first
        relation = clicked.text_content() or "no relation"
        clicked.click()
        decision = page.locator("#explanation .decision").first
        expect(decision).to_be_visible()
        assert part in page.locator("#part option:checked").inner_text()
        if part == "Dependencies":
            # An arc by its own decision.
            expect(decision.locator("summary b").first).to_contain_text(relation)
        page.keyboard.press("Escape")


def test_white_space_among_the_words_is_not_counted(visit: Visit) -> None:
    page = visit.open("他 看  北京。", view="trees")
    document = visit.service.annotate("他 看  北京。")
    text = document["text"]
    places = [(each["start"], each["end"]) for each in document["tokens"]]
    # Both a token of white space and a word after it, or the numbers would agree anyway.
    number = next(i for i, (start, end) in enumerate(places) if text[start:end] == "北京")
    assert any(text[start:end].isspace() for start, end in places[:number])
    dep = document["tokens"][number]["dep"]
    assert dep not in [each.get("dep") for each in document["tokens"][number + 1 :]]
    for style, target, kind in (
        ("dep", "text:not([data-arc])", "words"),
        ("dep", "text[data-arc]", "heads"),
        ("tree", "text", "words"),
    ):
        page.locator(f'[data-style="{style}"]').click()
        drawn = page.locator(f'{target}[data-kind="{kind}"][data-token="{number}"]')
        assert drawn.text_content() == ("北京" if kind == "words" else dep)
        drawn.click()
        expect(page.locator("#explained")).to_have_text("Why 北京?")
        page.keyboard.press("Escape")


def test_each_of_several_trees_of_a_sentence_has_its_own_words(
    visit: Visit, pipeline: Path
) -> None:
    # Where a Doc knows of no sentences, it is one, and so is each of its trees.
    nlp = spacy.load(pipeline)
    words = ["我", " ", "看", "书", "他", "在", "他", " ", "写", "字"]
    doc = Doc(nlp.vocab, words, [False] * len(words), tags=["NN"] * len(words))
    trees = [("IP", 0, 4), ("NP", 0, 1), ("VP", 2, 4), ("IP", 6, 10), ("NP", 6, 7), ("VP", 8, 10)]
    write_phrases(doc, [Phrase(label, begin, end, begin) for label, begin, end in trees])
    document = {**json_of(doc, "constituents"), "pictures": pictures_of(doc, nlp)}
    assert len(document["sentences"]) == 1
    assert [each["start"] for each in document["pictures"] if each["style"] == "tree"] == [0, 6]
    answer = {"documents": [document]}
    visit.page.route("**/v1/annotate", lambda route: route.fulfill(json=answer))
    page = visit.open(doc.text, view="trees")
    page.locator('[data-style="tree"]').click()
    expect(page.locator("figure svg")).to_have_count(2)
    second = page.locator("figure svg").nth(1)
    second.get_by_text("VP").click()
    expect(page.locator("#explained")).to_have_text("Why 写字?")
    second.get_by_text("字").click()
    expect(page.locator("#explained")).to_have_text("Why 字?")


def test_an_explanation_that_is_waited_for_is_asked_for_once(visit: Visit) -> None:
    page = visit.open()
    held: list[Route] = []
    # Playwright takes no built-in function.
    page.route("**/v1/explain", lambda route: held.append(route))  # noqa: PLW0108
    decision = page.locator("#explanation .decision").first
    # Two words of one sentence; and then one that is closed before its answer comes.
    with page.expect_request("**/v1/explain"):
        page.locator(".token").nth(0).click()
    page.locator(".token").nth(1).click()
    expect(page.locator("#explained")).to_have_text("Why 写?")
    held.pop().continue_()
    expect(decision).to_be_visible()
    other = page.locator(".token", has_text="我")
    with page.expect_request("**/v1/explain"):
        other.click()
    page.keyboard.press("Escape")
    held.clear()
    with page.expect_request("**/v1/explain"):
        other.click()
    held.pop().continue_()
    expect(page.locator("#explained")).to_have_text("Why 我?")
    expect(decision).to_be_visible()
    assert held == []


# User words ---------------------------------------------------------------------------------------


def add_word(page: Page, word: str, tag: str = "", mode: str = "force") -> None:
    page.get_by_label("Your word").fill(word)
    page.get_by_label("Tag").select_option(tag)
    page.locator("#mode").select_option(mode)
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_role("button", name=f"Remove the word {word}")).to_be_visible()


def test_a_user_word_takes_effect_stays_and_goes(visit: Visit) -> None:
    page = visit.open(None)
    page.locator("#text").fill(TEXT)
    wait_until_drawn(page)
    before = words_of(page)
    assert "写大" not in before
    add_word(page, "写大", "VV")
    token = page.locator(".token", has_text="写大")
    expect(token.locator(".tag")).to_have_text("VV")
    page.reload()
    page.locator("#text").fill(TEXT)
    expect(token).to_be_visible()
    page.get_by_role("button", name="Remove the word 写大").click()
    expect(token).to_have_count(0)
    wait_until_drawn(page)
    assert words_of(page) == before
    page.reload()
    expect(page.locator("#user-words li")).to_have_count(0)


def test_a_bonus_is_of_the_size_that_was_typed(visit: Visit) -> None:
    page = visit.open()
    token = page.locator(".token", has_text="写大")
    page.locator("#mode").select_option("bonus")
    for bonus in (1000, -1000):
        page.get_by_label("Your word").fill("写大")
        page.get_by_label("Points").fill(str(bonus))
        page.get_by_role("button", name="Add").click()
        expect(token).to_have_count(int(bonus > 0))
        expect(page.locator("#user-words small")).to_have_text(f"{bonus:+d} points")
    page.locator("#mode").select_option("force")
    expect(page.get_by_label("Points")).to_be_hidden()
    add_word(page, "写大")
    expect(token).to_be_visible()


def test_only_what_the_pipeline_takes_can_be_chosen(visit: Visit) -> None:
    page = visit.open()
    described = httpx.get(f"{visit.service.address}/v1/pipeline").json()
    tags = page.locator("#tag option").evaluate_all("all => all.map((each) => each.value)")
    assert tags == ["", *described["tags"]] == ["", "JJ", "NN", "NR", "PN", "PU", "VV"]
    modes = page.locator("#mode option").evaluate_all("all => all.map((each) => each.value)")
    # It was trained without a dictionary that words could join.
    assert modes == ["force", "bonus"]
    hints = []
    for mode in modes:
        page.locator("#mode").select_option(mode)
        hints.append(page.locator("#mode-hint").inner_text())
    assert len({*hints, ""}) == 3
    # Others come by links, and from what was stored for other pipelines.
    linked = [{"word": "写大", "mode": "prefer"}, {"word": "大字", "tag": "XX", "mode": "force"}]
    visit.open(words=json.dumps([*linked, {"word": "看书", "mode": "force"}]))
    expect(page.locator("#user-words .unused")).to_have_count(2)
    assert "看书" in words_of(page)
    assert not {"写大", "大字"} & {*words_of(page)}


def test_what_is_selected_becomes_a_word(visit: Visit) -> None:
    page = visit.open()
    page.locator("#text").evaluate("box => { box.focus(); box.setSelectionRange(2, 4); }")
    expect(page.get_by_label("Your word")).to_have_value("写大")
    page.get_by_role("button", name="Add").click()
    expect(page.locator(".token", has_text="写大")).to_be_visible()
    # The word in focus counts before what is still selected in the text.
    page.locator("#text").evaluate("box => { box.focus(); box.setSelectionRange(0, 1); }")
    expect(page.get_by_label("Your word")).to_have_value("小")
    page.locator(".token", has_text="写大").focus()
    page.keyboard.press("w")
    expect(page.get_by_label("Your word")).to_have_value("写大")
    assert focused(page) == "word"


def test_words_of_a_link_stay_apart_from_the_users_own(visit: Visit) -> None:
    page = visit.open(None)
    add_word(page, "写大")
    add_word(page, "看书")
    linked = [{"word": "大字", "mode": "bonus", "bonus": 3}, {"word": "看书", "mode": "force"}]
    visit.open(words=json.dumps(linked))
    words = page.locator("#user-words li span")
    expect(words).to_have_text(["大字", "看书"])
    add_word(page, "王写")
    page.get_by_role("button", name="Remove the word 看书").click()
    expect(words).to_have_text(["大字", "王写"])
    visit.open(None)
    expect(words).to_have_text(["写大", "看书", "王写"])


# Links and files ----------------------------------------------------------------------------------


def test_a_link_opens_the_same_page_elsewhere(visit: Visit, chinese: Visit) -> None:
    page = visit.open()
    add_word(page, "写大")
    choose(page, "Trees")
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator("#status")).to_contain_text("copied")
    link = page.evaluate("() => navigator.clipboard.readText()")
    assert link.startswith(f"{visit.service.address}/#")
    other = chinese.page
    other.goto(link)
    wait_until_drawn(other)
    expect(other.locator("#text")).to_have_value(TEXT)
    expect(other.get_by_role("tab", name="句法树")).to_have_attribute("aria-selected", "true")
    expect(other.locator("figure svg").first).to_contain_text("写大")
    # Another's words are not kept.
    chinese.open(None)
    expect(other.locator("#user-words li")).to_have_count(0)
    assert not any("text=" in url for url in visit.requests)


def download(page: Page, button: Locator) -> str:
    with page.expect_download() as found:
        button.click()
    return Path(found.value.path()).read_text("utf-8")


def test_downloads_are_what_the_api_gives(visit: Visit) -> None:
    page = visit.open()
    menu = page.get_by_text("Download", exact=True)
    menu.click()
    text = download(page, page.get_by_role("button", name="JSON"))
    assert json.loads(text)["documents"] == [visit.service.annotate()]
    menu.click()
    text = download(page, page.get_by_role("button", name="CoNLL-U"))
    answer = httpx.post(
        f"{visit.service.address}/v1/annotate?format=conllu", json={"texts": [TEXT]}
    )
    assert text == answer.text
    assert text.count("\n\n") == 2
    choose(page, "Trees")
    page.locator('[data-style="dep"]').click()
    text = download(page, page.get_by_role("button", name="Download the picture of sentence 2"))
    pictures = visit.service.annotate(TEXT[6:], pictures=True)["pictures"]
    assert text == next(each["svg"] for each in pictures if each["style"] == "dep")


# Corrections --------------------------------------------------------------------------------------


def correct_entity(page: Page, label: str | None, **places: str) -> None:
    """Give what is open a label and places, or none at all."""
    form = page.get_by_role("form", name="Correct it")
    if label is None:
        form.get_by_role("button", name="Not an entity").click()
        return
    form.get_by_label("Type").select_option(label)
    for name, word in places.items():
        form.get_by_label(name).select_option(label=word)
    form.get_by_role("button", name="Save").click()


def entities_of(page: Page) -> list[str]:
    return page.locator(".entity").all_text_contents()


def test_corrected_entities_are_kept_and_become_training_data(
    visit: Visit, pipeline: Path, tmp_path: Path
) -> None:
    page = visit.open("小王写大字！他看北京。我看书。", view="entities")
    assert entities_of(page) == ["小王PER", "北京LOC"]
    # One is none, one is of another type, and one was missed.
    page.locator(".entity", has_text="小王").click()
    known = page.locator("#entity-type option").evaluate_all("all => all.map((each) => each.value)")
    assert known == ["LOC", "PER"]
    correct_entity(page, None)
    assert page.evaluate("() => document.activeElement.textContent") == "小王"
    page.locator(".entity", has_text="北京").click()
    correct_entity(page, "PER")
    page.locator(".outside", has_text="大").focus()
    page.keyboard.press("Enter")
    correct_entity(page, "LOC", To="字")
    expect(page.locator("#status")).to_have_text("2 sentences corrected")
    page.reload()
    expect(page.locator(".corrected")).to_have_count(2)
    assert entities_of(page) == ["大字LOC", "北京PER"]
    page.get_by_text("Download", exact=True).click()
    text = download(page, page.get_by_role("button", name="Corrected sentences"))
    file = tmp_path / "corrections.col"
    file.write_text(text, "utf-8")
    # The command that the page tells.
    told = page.locator("#status").inner_text()
    columns = told[told.index("--columns") :].split()
    output = tmp_path / "corrections.spacy"
    structreg_app(["convert", str(file), str(output), *columns], standalone_mode=False)
    docs = list(DocBin().from_disk(output).get_docs(spacy.blank("zh").vocab))
    found = [(doc.text, [(ent.text, ent.label_) for ent in doc.ents]) for doc in docs]
    assert found == [
        ("小王写大字！", [("大字", "LOC")]),
        ("他看北京。", [("北京", "PER")]),
    ]
    assert [token.tag_ for token in docs[1]] == ["PN", "VV", "NR", "PU"]
    paths = [str(each) for each in (pipeline, file, tmp_path / "corrected")]
    structreg_app(["correct", *paths, *columns], standalone_mode=False)
    nlp = spacy.load(tmp_path / "corrected")
    for text, entities in found:
        assert [(ent.text, ent.label_) for ent in nlp(text).ents] == entities


def test_corrections_can_be_undone_and_follow_user_words(visit: Visit) -> None:
    page = visit.open(view="entities")
    before = entities_of(page)
    page.locator(".outside", has_text="书").click()
    correct_entity(page, "LOC")
    assert len(entities_of(page)) == len(before) + 1
    add_word(page, "我看")
    page.get_by_text("Download", exact=True).click()
    text = download(page, page.get_by_role("button", name="Corrected sentences"))
    assert [line.split("\t")[0] for line in text.split()[::3]] == ["我看", "书", "。"]
    page.locator(".entity", has_text="书").click()
    page.get_by_role("button", name="Undo").click()
    assert entities_of(page) == before
    page.get_by_text("Download", exact=True).click()
    expect(page.get_by_role("button", name="Corrected sentences")).to_be_hidden()


def test_damaged_corrections_do_no_harm(visit: Visit) -> None:
    page = visit.open()
    for stored in ("[1]", '{"我看书。": {"words": [1], "spans": 2}}', "7", '{"我看书。": null}'):
        page.evaluate("(value) => localStorage.setItem('structreg.corrections', value)", stored)
        page.reload()
        choose(page, "Entities")
        expect(page.locator(".corrected")).to_have_count(0)


def test_user_words_are_downloaded_as_their_list(visit: Visit, tmp_path: Path) -> None:
    page = visit.open()
    add_word(page, "写大", "VV")
    add_word(page, "New York")
    page.get_by_text("Download", exact=True).click()
    file = tmp_path / "words.txt"
    file.write_text(download(page, page.get_by_role("button", name="Your words")), "utf-8")
    words = UserWords()
    words.load(file)
    assert {word: words.tag(word) for word in words} == {"写大": "VV", "New York": None}


# Languages ----------------------------------------------------------------------------------------


# Texts and names that a reader meets, but for labels, features, the text itself, and keys.
SAID = """() => {
  const found = [];
  const left = 'code, svg, kbd, .tag, .word, dt, .decision, [data-kind], #text, [hidden]';
  for (const each of document.querySelectorAll('body *')) {
    if (each.closest('noscript') || (each.closest(left) && !each.matches('[data-say]'))) continue;
    for (const name of ['aria-label', 'title', 'placeholder']) {
      if (!each.matches('[data-example]')) found.push(each.getAttribute(name) ?? '');
    }
    for (const node of each.childNodes) if (node.nodeType === Node.TEXT_NODE) found.push(node.data);
  }
  return found;
}"""
# Names, not words of English.
NAMES = {"structreg", "zh_pipeline", "English", "chunks", "JSON", "CoNLL"}


def test_the_page_is_chinese_in_a_chinese_browser(chinese: Visit) -> None:
    page = chinese.open(words='[{"word": "写大", "tag": "VV", "mode": "bonus", "bonus": 1}]')
    views = page.get_by_role("tab").all_inner_texts()
    assert views == ["分词", "句法树", "实体", "文本分类", "候选方案"]
    assert page.locator("html").get_attribute("lang") == "zh"

    def check() -> None:
        found = {
            word for text in page.evaluate(SAID) for word in re.findall(r"[A-Za-z_]{4,}", text)
        }
        assert found <= NAMES

    check()
    for view in views:
        choose(page, view)
        check()
    choose(page, "实体")
    page.locator(".entity").first.click()
    expect(page.locator("#explanation .features").first).to_be_visible()
    check()
    assert page.evaluate(CONTRASTS) == []
    assert page.evaluate(NAMELESS) == []
    expect(page.locator("#explanation h2")).to_contain_text("为什么")
    # Decisions of the tokenizer and of a parser.
    choose(page, "分词")
    page.locator(".boundary").first.click()
    summary = page.locator("#explanation .decision summary").first
    expect(summary).to_contain_text(re.compile("断开|结束"))
    check()
    page.get_by_label("解释对象").select_option("parser")
    expect(summary).to_contain_text(re.compile("移进|归约|弧"))
    check()


def test_all_that_explanations_name_has_its_chinese(chinese: Visit) -> None:
    told = chinese.open().evaluate(
        "async () => Object.keys((await import('./page/labels.js')).EXPLAINED)"
    )
    sources = {CORPUS, WORD_LIST, STATISTICS, GUIDE, WORD_CLASSES, TYPED_RUN, USER_WORDS}
    assert sources <= {*told}
    for part in ("tokenizer", "parser", "constituency"):
        found = chinese.service.ask("explain", text="小王写大字！", component=part)["decisions"]
        names = {each[key] for each in found for key in ("chosen", "runner_up")} - {None}
        # What comes behind is a tag or a label.
        pattern = r"(,? [A-Z]+\*?| [a-zA-Z]+)?" if part != "tokenizer" else "(, [A-Z]+)?"
        for name in names:
            assert any(re.fullmatch(re.escape(each) + pattern, name) for each in told), name


def test_the_language_can_be_switched_and_is_remembered(chinese: Visit) -> None:
    page = chinese.open(view="trees")
    page.get_by_role("button", name="English").click()
    expect(page.get_by_role("tab", name="Trees")).to_be_visible()
    expect(page.locator("#status")).to_contain_text("2 sentences")
    page.reload()
    expect(page.get_by_role("tab", name="Trees")).to_be_visible()
    page.get_by_role("button", name="中文").click()
    expect(page.get_by_role("tab", name="句法树")).to_be_visible()
    expect(page.locator("#status")).to_contain_text("2 句")


MESSAGE = "user words have no <b>spaces</b>"
ERRORS = [
    (503, "time_over", "took too long", "处理超时"),
    (413, "answer_too_large", "The text is too long", "文本太长"),
    (413, "too_many_user_words", "1,000", "上限（1,000 个）"),
    (500, "failed", "The pipeline fails on this text", "处理这段文本时出错"),
    (400, "bad_request", "User words have no <b>spaces</b>.", f"服务器拒绝了请求：{MESSAGE}."),
]


def test_errors_are_told_and_nothing_is_sent_again(visit: Visit, chinese: Visit) -> None:
    for language, opened in enumerate((visit, chinese)):
        page = opened.open(None)
        for number, (status, code, *told) in enumerate(ERRORS, start=1):
            fault = {"error": {"code": code, "message": MESSAGE}}
            answer = {"status": status, "headers": {"Retry-After": "0.05"}, "json": fault}
            with page.expect_response("**/v1/annotate"):
                page.route("**/v1/annotate", lambda route: route.fulfill(**answer), times=1)  # noqa: B023
                page.locator("#text").fill("书" * number)
            expect(page.locator("#status")).to_contain_text(told[language])
        assert sum("annotate" in url for url in opened.requests) == len(ERRORS)
        opened.expect_faults("400|413|500|503")


def test_both_languages_have_every_text(visit: Visit) -> None:
    page = visit.open()
    found = page.evaluate(
        """async () => {
          const { STRINGS } = await import('./page/strings.js');
          const { MEANINGS } = await import('./page/labels.js');
          const { EXAMPLES } = await import('./page/examples.js');
          const kinds = (texts) =>
            Object.fromEntries(Object.entries(texts).map(([key, text]) =>
              [key, typeof text === 'function' ? text.length : text && 'text']));
          const languages = Object.entries(STRINGS).map(([name, texts]) => [name, kinds(texts)]);
          return { ...Object.fromEntries(languages), meanings: kinds(MEANINGS),
            examples: Object.values(EXAMPLES).flatMap(Object.keys) };
        }"""
    )
    # The same keys, each a text, or a function of as many values.
    assert found["en"] == found["zh"]
    assert None not in found["en"].values()
    # Each is used, by its name or by a name put together; and nothing else is asked for.
    pages = [*PAGE.glob("*.js"), PAGE / "index.html"]
    code = "\n".join(each.read_text("utf-8") for each in pages if each.name != "strings.js")
    named = {*re.findall(r"\w+", " ".join(re.findall(r'"(\w+)"', code))), *found["examples"]}
    made = {f"colors{each}" for each in ("Auto", "Light", "Dark")}
    made |= {f"{kind}{each}" for kind in ("mode", "word") for each in ("Force", "Bonus", "Prefer")}
    made |= {f"mode{each}Hint" for each in ("Force", "Bonus", "Prefer")}
    kinds = {"words", "tags", "heads", "constituents", "entities", "categories"}
    assert {*found["en"]} - named - made - kinds == set()
    asked = {
        *re.findall(r'\bsay\("(\w+)"', code),
        *re.findall(r'data-say(?:-[\w-]+)?="(\w+)"', code),
    }
    assert asked <= {*found["en"]}
    # Labels of the Chinese pipeline mean something in Chinese, too.
    trees = "".join(each.read_text("utf-8") for each in TREEBANK.glob("train/*.bracket"))
    labels = {*TAG_GLOSSARY["CTB"], *RELATION_GLOSSARY, *UNIVERSAL_TAGS}
    labels |= {*re.findall(r"\(([A-Z]+)[-= ]", trees), *re.findall(r"=([A-Z_]{3,}) ", trees)}
    assert len(labels) > 100
    assert labels - {*found["meanings"]} == set()


# Keys, sizes, colors ------------------------------------------------------------------------------


def test_all_can_be_done_by_keys(visit: Visit) -> None:
    page = visit.open(None)
    expect(page.get_by_role("tab")).to_have_count(5)
    keys = page.keyboard
    keys.press("/")
    keys.insert_text(TEXT)
    expect(page.locator(".token").first).to_be_visible()
    # From the text on, over examples and fields, to the words: all have a visible focus.
    for _ in range(40):
        keys.press("Tab")
        style = page.evaluate("() => getComputedStyle(document.activeElement).outlineStyle")
        assert style != "none", focused(page)
        if page.evaluate("() => document.activeElement.matches('.token')"):
            break
    words = words_of(page)
    assert focused(page).startswith(words[0])
    keys.press("ArrowRight")
    assert focused(page).startswith(words[1])
    keys.press("End")
    assert focused(page).startswith("！")
    keys.press("ArrowDown")
    assert page.evaluate("() => document.activeElement.dataset.sentence") == "1"
    keys.press("Home")
    assert focused(page).startswith("我")
    keys.press("Enter")
    expect(page.locator("#explanation h2")).to_have_text("Why 我?")
    expect(page.locator("#explanation .decision").first).to_be_visible()
    keys.press("Escape")
    assert focused(page).startswith("我")
    keys.press("ArrowRight")
    keys.press("b")
    expect(page.locator("#explanation .decision").first).to_be_visible()
    keys.press("Escape")
    keys.press("2")
    expect(page.locator("figure svg").first).to_be_visible()
    page.locator('svg [tabindex="0"]').first.focus()
    keys.press("Enter")
    expect(page.locator("#explanation .decision").first).to_be_visible()
    keys.press("Escape")
    keys.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    # It names the views that there are.
    assert page.locator("#last-view").text_content() == str(page.get_by_role("tab").count())
    keys.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()


def test_a_phone_needs_no_scrolling_to_the_side(browser: Browser, service: Service) -> None:
    size = {"width": 320, "height": 640}
    with visiting(browser, service, viewport=size, is_mobile=True, has_touch=True) as phone:
        page = phone.open()
        for view in VIEWS:
            choose(page, view)
            assert page.evaluate("() => document.documentElement.scrollWidth") <= 320, view
        choose(page, "Words")
        page.locator(".token").nth(1).tap()
        expect(page.locator("#explanation .decision").first).to_be_visible()
        assert page.evaluate("() => document.documentElement.scrollWidth") <= 320


# The contrast of all texts that are seen, and elements without a name.
CONTRASTS = """() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const paint = (colors) => {
    canvas.clearRect(0, 0, 1, 1);
    for (const color of colors) { canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1); }
    return canvas.getImageData(0, 0, 1, 1).data;
  };
  const luminance = (colors) => {
    const [r, g, b] = [...paint(colors)].slice(0, 3).map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    if (style.visibility === 'hidden') continue;
    const grounds = [];
    for (let up = element; up; up = up.parentElement) {
      grounds.unshift(getComputedStyle(up).backgroundColor);
    }
    const svg = element.closest('svg');
    const filled = svg && element.getAttribute('fill');
    if (filled) continue;  // stands on a bar of the drawing, which has its own test
    const color = svg ? style.fill : style.color;
    const [a, b] = [luminance(grounds), luminance([...grounds, color])].sort((x, y) => y - x);
    found.push([(a + 0.05) / (b + 0.05), walker.currentNode.data]);
  }
  return found.filter(([contrast]) => contrast < 4.5);
}"""
NAMELESS = """() => [...document.querySelectorAll(
    'button, a, input, select, textarea, summary, [tabindex="0"]')]
  .filter((each) => each.checkVisibility())
  .filter((each) => !(each.textContent.trim() || each.getAttribute('aria-label')
    || each.labels?.length))
  .map((each) => each.outerHTML)"""


def test_all_can_be_read_in_light_and_dark(visit: Visit) -> None:
    page = visit.open(words='[{"word": "写大", "mode": "force"}]', confidence="1")
    for view in VIEWS:
        choose(page, view)
        if view == "Words":
            page.locator(".token").first.click()
            expect(page.locator("#explanation .features").first).to_be_visible()
        assert page.evaluate(NAMELESS) == [], view
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            ground = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
            assert (sum(map(int, re.findall(r"\d+", ground))) < 200) == (scheme == "dark")
            assert page.evaluate(CONTRASTS) == [], (view, scheme)


def test_colors_can_be_chosen_and_stay(visit: Visit) -> None:
    page = visit.open(None)
    ground = "() => getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    page.get_by_role("button", name="Colors").click()
    assert page.evaluate(ground) == light
    page.get_by_role("button", name="Colors").click()
    assert page.evaluate(ground) != light
    page.reload()
    dark = page.evaluate(ground)
    assert dark != light
    style = httpx.get(f"{visit.service.address}/page/palette.css")
    assert style.text == css()
    page.get_by_role("link", name="API").click()
    expect(page.get_by_role("heading", name="/v1/annotate")).to_be_visible()
    assert page.evaluate(ground) == dark
    assert page.evaluate(CONTRASTS) == []


# Hostile texts, and services that are gone --------------------------------------------------------

# Of short sentences, as a long one takes seconds to be explained.
HOSTILE = (
    "<script>alert(1)</script>。<img src=x onerror=alert(2)> javascript:alert(3)。"
    "</text></svg><script>alert(4)</script>。<a href='javascript:alert(5)'>书</a>。"
    "]]><svg onload=alert(6)> &lt;b&gt; \u202e书\u0000。"
)


def test_markup_in_texts_and_words_never_runs(visit: Visit) -> None:
    words = json.dumps([{"word": "<img src=x onerror=alert(7)>", "mode": "force"}])
    page = visit.open(HOSTILE, words=words, view="<script>alert(8)</script>")
    inserted = "script:not([src]), main img, main a, iframe, svg script"
    for view in VIEWS:
        choose(page, view)
        assert page.locator(inserted).count() == 0
    choose(page, "Words")
    assert "".join(words_of(page)).startswith("<script>alert(1)</script>")
    page.locator(".token").first.click()
    expect(page.locator("#explanation h2")).to_contain_text("<")
    expect(page.locator("#explanation .decision").first).to_be_visible()
    assert page.locator(inserted).count() == 0


def test_links_that_are_damaged_do_no_harm(visit: Visit) -> None:
    words = "text=我看书。&words="
    for fragment in ("text", f"{words}{{", f"{words}[1,null,{{}}]&view=__proto__", "%E0%A4%A"):
        visit.page.goto("about:blank")
        visit.page.goto(f"{visit.service.address}/#{fragment}")
        expect(visit.page.get_by_role("tab").first).to_be_visible()
        visit.page.locator("#text").fill("小王看书。")
        expect(visit.page.locator(".token").first).to_contain_text("小")


def test_pictures_with_more_than_shapes_are_refused(visit: Visit) -> None:
    page = visit.open()
    refused = page.evaluate(
        """async (pictures) => {
          const { parsePicture } = await import('./page/views.js');
          const refuses = (svg) => { try { parsePicture(svg); } catch { return true; } };
          return pictures.map((svg) => refuses(svg) ?? false);
        }""",
        [
            f'<svg xmlns="http://www.w3.org/2000/svg">{content}</svg>'
            for content in (
                "<script>alert(1)</script>",
                '<text onclick="alert(1)">a</text>',
                '<a href="javascript:alert(1)"><text>a</text></a>',
                '<foreignObject><p xmlns="http://www.w3.org/1999/xhtml">a</p></foreignObject>',
                '<text style="fill: red">a</text>',
                "<text>a",
                "<text>a</text>",
            )
        ],
    )
    assert refused == [True] * 6 + [False]
    # What the browser says of the handlers.
    visit.expect_faults("Content Security Policy")


BUSY: dict[str, Any] = {
    "status": 429,
    "headers": {"Retry-After": "1"},
    "json": {"error": {"code": "busy", "message": "too many requests wait"}},
}


def test_a_busy_service_is_asked_again(visit: Visit) -> None:
    page = visit.open(None)
    page.route("**/v1/annotate", lambda route: route.fulfill(**BUSY), times=1)
    page.locator("#text").fill("我看书。")
    expect(page.locator("#status")).to_contain_text("busy")
    expect(page.locator(".token").first).to_be_visible()
    visit.expect_faults("429")


def test_the_status_is_what_it_was_when_an_explanation_was_waited_for(visit: Visit) -> None:
    page = visit.open()
    status = page.locator("#status")
    before = status.inner_text()
    assert "2 sentences" in before
    page.route("**/v1/explain", lambda route: route.fulfill(**BUSY), times=1)
    page.locator(".token").first.click()
    expect(status).to_contain_text("busy")
    expect(page.locator("#explanation .decision").first).to_be_visible()
    expect(status).to_have_text(before)
    expect(status).to_have_attribute("data-kind", "")
    visit.expect_faults("429")


def test_a_page_opened_while_the_pipeline_is_loaded_waits_for_it(
    browser: Browser, service: Service
) -> None:
    loading = {"error": {"code": "loading", "message": "the pipeline is being loaded"}}
    answer = {"status": 503, "headers": {"Retry-After": "0.05"}, "json": loading}
    with visiting(browser, service) as visit:
        # More often than a busy service is asked.
        visit.page.route("**/v1/pipeline", lambda route: route.fulfill(**answer), times=10)
        visit.page.add_init_script(
            "window.told = []; addEventListener('DOMContentLoaded', () => new MutationObserver("
            "(all) => told.push(...all.map(({ target }) => target.textContent)))"
            ".observe(document.getElementById('status'), { childList: true }))"
        )
        page = visit.open()
        assert "".join(words_of(page)) == TEXT
        assert any("being loaded; trying again" in each for each in page.evaluate("() => told"))
        assert len(visit.faults) == 10
        visit.expect_faults("503")


def test_pictures_that_failed_are_asked_for_again(visit: Visit) -> None:
    page = visit.page
    page.set_viewport_size({"width": 800, "height": 200})

    def answer(route: Route) -> None:
        body = json.loads(route.request.post_data or "")
        failing.extend([True] * body.get("pictures", False))
        fault = {"error": {"code": "failed", "message": "the pipeline fails"}}
        if len(failing) == 1 and body.get("pictures"):
            route.fulfill(status=500, json=fault)
        else:
            route.continue_()

    failing: list[bool] = []
    page.route("**/v1/annotate", answer)
    visit.open("我看书。" * 8, view="trees")
    expect(page.locator("figure").first).to_contain_text("The pipeline fails")
    assert page.locator("figure.seen").count() < 8
    page.locator("figure").last.scroll_into_view_if_needed()
    expect(page.locator("figure").last.locator("svg")).to_be_visible()
    visit.expect_faults("500")


def test_no_more_texts_are_sent_at_once_than_the_service_takes(visit: Visit) -> None:
    described = httpx.get(f"{visit.service.address}/v1/pipeline").json()
    described["limits"]["texts"] = 2
    visit.page.route("**/v1/pipeline", lambda route: route.fulfill(json=described))
    sent: list[int] = []

    def count(route: Route) -> None:
        sent.append(len(json.loads(route.request.post_data or "")["texts"]))
        route.continue_()

    visit.page.route("**/v1/annotate", count)
    page = visit.open("我看书。" * 3, view="trees")
    expect(page.locator("figure svg")).to_have_count(3)
    assert max(sent) == 2


def test_a_service_that_comes_back_is_found(visit: Visit) -> None:
    page = visit.open()
    status = page.locator("#status")
    # A click is answered as soon as somebody is there, and so is what is typed.
    visit.context.set_offline(True)
    page.locator(".token").nth(1).click()
    expect(status).to_contain_text("does not answer")
    visit.context.set_offline(False)
    expect(page.locator("#explanation .decision").first).to_be_visible(timeout=30_000)
    expect(status).to_contain_text("2 sentences")
    visit.context.set_offline(True)
    page.locator("#text").fill("我看书。")
    expect(status).to_contain_text("does not answer")
    visit.context.set_offline(False)
    expect(page.locator(".token").first).to_contain_text("我", timeout=30_000)
    assert "".join(words_of(page)) == "我看书。"
    # It may be another one.
    assert sum(url.endswith("v1/pipeline") for url in visit.requests) > 1
    visit.expect_faults("ERR_INTERNET_DISCONNECTED")


def test_the_page_has_nothing_inline_and_nothing_from_elsewhere() -> None:
    html = (PAGE / "index.html").read_text("utf-8")
    assert not re.search(r"\s(style|on\w+)=|<style|<script>|https?://", html)
    for path in PAGE.glob("*.js"):
        code = path.read_text("utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write", code), path
        assert set(re.findall(r"https?://[\w./]+", code)) <= {"http://www.w3.org/2000/svg"}
