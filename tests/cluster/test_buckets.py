"""Files in a bucket, in and out, by a server of S3 on this machine."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from cluster.shards import analyses_by_pipe

from spacy_structreg.cluster.annotate_run import annotate

pytestmark = pytest.mark.slow

WHY = "the server of S3 and its client come with the extra test"
# On a free port, which it prints; ends with its standard input.
SERVER = """
import sys
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
"""


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A file system of S3 with an empty bucket, which processes that are started here know."""
    pytest.importorskip("moto.server", reason=WHY)
    s3fs = pytest.importorskip("s3fs", reason=WHY)
    with subprocess.Popen(
        [sys.executable, "-c", SERVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        assert server.stdout is not None
        assert server.stdin is not None
        try:
            address = f"http://127.0.0.1:{int(server.stdout.readline())}"
            monkeypatch.setenv("AWS_ENDPOINT_URL", address)
            for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
                monkeypatch.setenv(name, "test")
            monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
            files = s3fs.S3FileSystem(skip_instance_cache=True)
            files.mkdir("crawl")
            yield files
            s3fs.S3FileSystem.clear_instance_cache()
        finally:
            server.stdin.close()


def test_annotation_from_bucket_to_bucket(
    bucket: Any, raw_pipeline: str, texts: list[str], jsonl: Path
) -> None:
    lines = jsonl.read_bytes().splitlines(keepends=True)
    for name, part in (("a", lines[:200]), ("b", lines[200:])):
        bucket.pipe_file(f"crawl/in/{name}.jsonl", b"".join(part))
    settings: dict[str, Any] = {"n_workers": 1, "unit_bytes": 8_000}
    arguments = (raw_pipeline, ["s3://crawl/in/*.jsonl"], "s3://crawl/out/run")
    summary = annotate(*arguments, **settings)
    assert (summary.records, summary.bad_records) == (len(texts), 0)
    assert summary.units > 3
    bucket.invalidate_cache()
    rows = []
    for path in sorted(bucket.glob("crawl/out/run/part-*.parquet")):
        with bucket.open(path, "rb") as stream:
            rows += pq.read_table(stream).to_pylist()
    expected = analyses_by_pipe(raw_pipeline, texts)
    assert [(row["text"], row["tags"], row["heads"]) for row in rows] == [
        (text, tags, heads) for text, _, tags, heads, _ in expected
    ]
    assert {row["file"] for row in rows} == {"s3://crawl/in/a.jsonl", "s3://crawl/in/b.jsonl"}
    # The same call goes on: a unit that is missing is made again, and no other.
    removed = sorted(bucket.glob("crawl/out/run/_units/*.json"))[1]
    bucket.rm_file(removed)
    before = {path: bucket.info(path)["LastModified"] for path in bucket.find("crawl/out/run")}
    again = annotate(*arguments, **settings, verify=True)
    assert again.resumed == summary.units - 1
    bucket.invalidate_cache()
    assert removed in bucket.find("crawl/out/run")
    after = {path: bucket.info(path)["LastModified"] for path in bucket.find("crawl/out/run")}
    shard = removed.replace("_units/", "part-").replace(".json", ".parquet")
    assert {path for path in before if before[path] != after[path]} <= {shard}
    # Other inputs are another run.
    bucket.pipe_file("crawl/in/b.jsonl", lines[0])
    with pytest.raises(ValueError, match="with other inputs, or they have changed since"):
        annotate(*arguments, **settings)
    manifest = json.loads(bucket.cat_file("crawl/out/run/_manifest.json"))
    assert manifest["units"] == summary.units
