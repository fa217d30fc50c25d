"""What all tests share: the hypothesis profiles and the folder of real corpora."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# No test asserts a time, hypothesis's own deadline included: machines are shared. `quick` has few
# examples, as the tests of all tasks together have to end in some ten minutes on two cores; the
# option --hypothesis-profile=thorough takes its place.
for profile, examples in (("quick", 25), ("thorough", 400)):
    settings.register_profile(
        profile,
        max_examples=examples,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
        print_blob=True,
    )
settings.load_profile("quick")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real corpora, named by STRUCTREG_DATA; the test is skipped when unset."""
    folder = os.environ.get("STRUCTREG_DATA")
    if not folder:
        pytest.skip("STRUCTREG_DATA is not set: no folder of real corpora to test on")
    path = Path(folder)
    if not path.is_dir():
        pytest.fail(f"STRUCTREG_DATA names a folder that does not exist: {path}")
    return path


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that have slow tests, so that no process waits for another's last."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)
