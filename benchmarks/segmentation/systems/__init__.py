"""The systems that are compared, by name."""

from __future__ import annotations

from benchmarks.common.systems import System
from benchmarks.segmentation.systems.crfsuite import CrfsuiteLbfgs, CrfsuitePerceptron
from benchmarks.segmentation.systems.jieba import Jieba
from benchmarks.segmentation.systems.ltp import Ltp
from benchmarks.segmentation.systems.ours import Ours
from benchmarks.segmentation.systems.pkuseg import Pkuseg
from benchmarks.segmentation.systems.ready_made import Jiojio, Thulac

__all__ = ["SYSTEMS"]

SYSTEMS: dict[str, type[System[str, list[str]]]] = {
    system.name: system
    for system in (Ours, Pkuseg, Ltp, CrfsuitePerceptron, CrfsuiteLbfgs, Jieba, Thulac, Jiojio)
}
