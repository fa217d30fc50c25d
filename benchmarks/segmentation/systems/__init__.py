"""The systems that are compared, by name."""

from __future__ import annotations

from benchmarks.common.systems import System
from benchmarks.segmentation.systems.crfsuite import CrfsuiteLbfgs, CrfsuitePerceptron
from benchmarks.segmentation.systems.jieba import Jieba, Rjieba
from benchmarks.segmentation.systems.ltp import Ltp
from benchmarks.segmentation.systems.ours import Ours, OursBest
from benchmarks.segmentation.systems.pkuseg import Pkuseg
from benchmarks.segmentation.systems.ready_made import (
    Jiojio,
    Lac,
    PkusegOwn,
    PkusegOwnDictionary,
    Thulac,
    Wapic,
)

__all__ = ["SYSTEMS"]

SYSTEMS: dict[str, type[System[str, list[str]]]] = {
    system.name: system
    for system in (
        Ours,
        OursBest,
        Pkuseg,
        Ltp,
        CrfsuitePerceptron,
        CrfsuiteLbfgs,
        Jieba,
        Rjieba,
        Lac,
        Wapic,
        Thulac,
        Jiojio,
        PkusegOwn,
        PkusegOwnDictionary,
    )
}
