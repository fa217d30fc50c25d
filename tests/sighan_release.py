"""A folder and an archive laid out as the release of SIGHAN 2005, with sentences of our own."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

Corpus = Sequence[Sequence[str]]

# Training and test set of each corpus. 粵 and 裏 are in the original encodings of the traditional
# ones alone; 嘅 is in Big5-HKSCS alone, 镕 in CP936 but not in GB 2312.
SENTENCES: dict[str, tuple[Corpus, Corpus]] = {
    "as": (
        [["粵語", "課", "在", "樓", "裏", "上", "。"], ["老師", "還", "沒有", "來"]],
        [["學生", "在", "樓", "裏", "等", "老師", "。"]],
    ),
    "cityu": (
        [["佢", "嘅", "書", "在", "這裏", "。"], ["我們", "去", "車站"]],
        [["我們", "嘅", "車", "在", "車站", "。"], ["明天", "去"]],
    ),
    "msr": (
        [["小镕", "在", "图书馆", "看", "书", "。"], ["雨", "停", "了", "。"]],
        [["雨", "停", "了", "，", "小镕", "回家", "。"]],
    ),
    "pku": (
        [["１２", "月", "的", "风", "很", "冷", "。"], ["他们", "在", "修", "桥", "。"]],
        [["桥", "上", "的", "风", "很", "冷", "。"], ["他们", "回", "家", "了", "。"]],
    ),
}
SEPARATORS = {"as": "\u3000", "cityu": " ", "msr": "  ", "pku": "  "}
ENCODINGS = {"as": "cp950", "cityu": "big5hkscs", "msr": "cp936", "pku": "cp936"}


def release_files(
    sentences: Mapping[str, tuple[Corpus, Corpus]] = SENTENCES,
) -> dict[str, bytes]:
    """The content of each file of the release, by its name within `icwb2-data`."""
    files = {}
    for corpus, (training, test) in sentences.items():
        separator = SEPARATORS[corpus]
        stem = "testing_gold" if corpus == "as" else "test_gold"
        vocabulary = sorted({word for sentence in training for word in sentence})
        texts = {
            f"training/{corpus}_training": [separator.join(s) + separator for s in training],
            f"gold/{corpus}_{stem}": [separator.join(s) + separator for s in test],
            f"gold/{corpus}_training_words": vocabulary,
            f"testing/{corpus}_test": ["".join(s) for s in test],
        }
        for name, lines in texts.items():
            text = "".join(line + "\r\n" for line in lines)
            files[f"{name}.utf8"] = b"\xef\xbb\xbf" + text.encode()
            # The one name of its kind.
            suffix = ".b5" if name == "training/as_training" else ".txt"
            files[name + suffix] = text.encode(ENCODINGS[corpus])
    files["README"] = b"Made-up sentences in the layout of the release.\n"
    return files


def write_release(folder: Path, files: Mapping[str, bytes] | None = None) -> Path:
    """Write the release to `icwb2-data` in a folder, and return that."""
    root = folder / "icwb2-data"
    for name, content in (release_files() if files is None else files).items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return root


def write_archive(path: Path, files: Mapping[str, bytes] | None = None) -> Path:
    """Write the release as a zip archive, and return its path."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("icwb2-data/", (2005, 11, 18, 0, 0, 0)), b"")
        for name, content in (release_files() if files is None else files).items():
            # A fixed time, so that the archive has the same bytes in every run.
            info = zipfile.ZipInfo(f"icwb2-data/{name}", (2005, 11, 18, 0, 0, 0))
            archive.writestr(info, content, zipfile.ZIP_DEFLATED)
    return path
