"""The Chinese texts that the page offers come out right by the Chinese pipeline."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

import pytest
import spacy
from spacy.language import Language

EXAMPLES = Path(__file__).parents[2] / "spacy_structreg" / "serve" / "page" / "examples.js"


class Gold(NamedTuple):
    """Words with tags; relations and heads of some words that are easily misread; all entities."""

    words: str
    arcs: set[tuple[str, str, str]]
    entities: list[tuple[str, str]]


GOLD = {
    "exampleSentence": Gold(
        "李明/NR 昨天/NT 在/P 杭州/NR 的/DEG 书店/NN 买/VV 了/AS 三/CD 本/M 小说/NN 。/PU",
        {
            ("李明", "nsubj", "买"),
            ("在", "nmod:prep", "买"),
            ("书店", "pobj", "在"),
            ("杭州", "pobj", "的"),
            ("本", "nummod", "小说"),
            ("小说", "dobj", "买"),
        },
        [("李明", "PERSON"), ("昨天", "DATE"), ("杭州", "GPE"), ("三", "CARDINAL")],
    ),
    "exampleReadings": Gold(
        "这/DT 个/M 门/NN 把手/NN 坏/VV 了/SP ，/PU 请/VV 把/BA 手/NN 拿开/VV 。/PU",
        {("把手", "nsubj", "坏"), ("手", "dobj", "拿开"), ("把", "ccomp", "请")},
        [],
    ),
    "exampleTraditional": Gold(
        "我們/PN 昨天/NT 在/P 臺北/NR 的/DEG 圖書館/NN 借/VV 了/AS 兩/CD 本/M 書/NN 。/PU",
        {("我們", "nsubj", "借"), ("圖書館", "pobj", "在"), ("書", "dobj", "借")},
        [("昨天", "DATE"), ("臺北", "GPE"), ("兩", "CARDINAL")],
    ),
    "exampleParagraph": Gold(
        "王芳/NR 在/P 成都/NR 长大/VV 。/PU "
        "2015年/NT ，/PU 她/PN 考上/VV 了/AS 南京/NR 大学/NN 。/PU "
        "毕业/VV 以后/LC ，/PU 她/PN 和/CC 同学/NN 开/VV 了/AS 一/CD 家/M 小/JJ 公司/NN 。/PU "
        "去年/NT 冬天/NT ，/PU 他们/PN 的/DEG 产品/NN 卖到/VV 了/AS 国外/NN 。/PU "
        "她/PN 说/VV ：/PU “/PU 我们/PN 没/AD 想到/VV 会/VV 这么/AD 顺利/VA 。/PU ”/PU",
        {
            ("王芳", "nsubj", "长大"),
            ("大学", "dobj", "考上"),
            ("同学", "nsubj", "开"),
            ("公司", "dobj", "开"),
            ("产品", "nsubj", "卖到"),
            ("想到", "ccomp", "说"),
        },
        [
            ("王芳", "PERSON"),
            ("成都", "GPE"),
            ("2015年", "DATE"),
            ("南京大学", "ORG"),
            ("去年冬天", "DATE"),
        ],
    ),
}


@pytest.fixture(scope="module")
def nlp() -> Language:
    """The Chinese pipeline, whose folder STRUCTREG_PIPELINE names: it takes minutes to train."""
    if "STRUCTREG_PIPELINE" not in os.environ:
        pytest.skip("STRUCTREG_PIPELINE does not name the folder of the Chinese pipeline")
    return spacy.load(os.environ["STRUCTREG_PIPELINE"])


def examples() -> dict[str, str]:
    """The Chinese texts of the page, by their names."""
    code = EXAMPLES.read_text("utf-8").partition("zh: {")[2].partition("},")[0]
    found = re.findall(r'(\w+):((?:\s*\+?\s*"[^"]*")+)', code)
    return {name: "".join(re.findall('"([^"]*)"', parts)) for name, parts in found}


@pytest.mark.parametrize("name", GOLD)
def test_examples_are_those_of_the_page(name: str) -> None:
    assert examples().keys() == GOLD.keys()
    words = [each.rpartition("/")[0] for each in GOLD[name].words.split()]
    assert "".join(words) == examples()[name]


@pytest.mark.parametrize("name", GOLD)
def test_examples_come_out_right(nlp: Language, name: str) -> None:
    doc = nlp(examples()[name])
    gold = GOLD[name]
    assert " ".join(f"{token.text}/{token.tag_}" for token in doc) == gold.words
    assert gold.arcs <= {(token.text, token.dep_, token.head.text) for token in doc}
    assert [(ent.text, ent.label_) for ent in doc.ents] == gold.entities
