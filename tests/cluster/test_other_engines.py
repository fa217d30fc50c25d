"""The examples for Ray Data and Spark, run as they stand in the documentation."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from docs.pages import ROOT, blocks

from spacy_structreg.cluster.annotated_tables import annotate_batch

pytestmark = pytest.mark.slow

# All listens on the loopback interface alone, without pages.
START_RAY = """\
import ray
ray.init(num_cpus=2, include_dashboard=False, _node_ip_address="127.0.0.1")
"""
SPARK = "--master local[2]" + "".join(
    f" --conf spark.{setting}"
    for setting in ("ui.enabled=false", "driver.host=127.0.0.1", "driver.bindAddress=127.0.0.1")
)


@pytest.fixture
def folder(raw_pipeline: str, texts: list[str], tmp_path: Path) -> Path:
    """A folder with the texts and the pipeline that the examples name."""
    shutil.copytree(raw_pipeline, tmp_path / "projects/quickstart/training/joint/model-best")
    table = pa.table({"id": range(len(texts)), "text": [*texts[:-1], None]})
    pq.write_table(table, tmp_path / "texts.parquet", row_group_size=100)
    return tmp_path


def run_example(needs: str, folder: Path, before: str = "", **variables: str) -> None:
    """Run the block of the page that is marked as needing an engine, and look at what it wrote."""
    page = ROOT / "docs/annotate.md"
    (block,) = (each for each in blocks(page) if each.value == f"needs {needs}")
    subprocess.run(
        [sys.executable, "-c", before + block.text],
        cwd=folder,
        env={**os.environ, **variables},
        check=True,
        timeout=300,
    )
    found = pq.read_table(folder / "annotated").sort_by("id")
    pipeline = folder / "projects/quickstart/training/joint/model-best"
    expected = annotate_batch(pq.read_table(folder / "texts.parquet"), pipeline)
    assert found.cast(expected.schema).equals(expected)


def test_ray_data(folder: Path) -> None:
    if importlib.util.find_spec("ray") is None:
        pytest.skip("Ray is not installed: pip install 'ray[data]'")
    run_example("Ray", folder, START_RAY)


def test_spark(folder: Path) -> None:
    if importlib.util.find_spec("pyspark") is None:
        pytest.skip("Spark is not installed: pip install pyspark")
    if shutil.which("java") is None:
        pytest.skip("there is no Java for Spark to run on")
    run_example(
        "Spark", folder, PYSPARK_SUBMIT_ARGS=f"{SPARK} pyspark-shell", PYSPARK_PYTHON=sys.executable
    )
