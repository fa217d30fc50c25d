"""What all tests share: the hypothesis profiles and the folder of real corpora."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import sys
import sysconfig
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest
from example_counts import QUICK
from hypothesis import HealthCheck, settings
from quick_msgpack import remember_encoders
from typer.main import get_command

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]

# Before numpy is imported: there is a process for each core, and threads of OpenBLAS that wait for
# work take the time of the others. L-BFGS takes four times as long with two of them.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# No test asserts a time, hypothesis's own deadline included: machines are shared. `quick` has few
# examples, as the tests of all tasks together have to end in eight minutes on two cores; the option
# --hypothesis-profile takes its place: `make test-fast` gives fast, `make test-thorough` thorough.
for profile, examples in (("fast", 2 * QUICK // 5), ("quick", QUICK), ("thorough", 16 * QUICK)):
    settings.register_profile(
        profile,
        max_examples=examples,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
        print_blob=True,
    )
settings.load_profile("quick")

remember_encoders()

# While files are imported, next to nothing becomes free.
gc.disable()

# Of the files, those that take longest, most of it for what they set up.
LONGEST = [
    Path(__file__).parent / name
    for name in (
        "docs/test_pages.py",
        "integration/test_quickstart.py",
        "integration/test_ctb5.py",
        "integration/test_projects.py",
        "docs/test_start_page.py",
        "contract/test_models.py",
        "serve/test_page_in_browser.py",
        "cli/test_cli_annotate.py",
        "docs/test_site.py",
    )
]

HASH_SEED = os.environ.get("PYTHONHASHSEED")


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


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Make a folder that all processes of a run share: the first that asks for it fills it.

    Files in it may say where they lie, so it is filled in its place, and marked when it is whole.
    """
    root = tmp_path_factory.getbasetemp()
    if fcntl is not None and "PYTEST_XDIST_WORKER" in os.environ:
        root = root.parent

    def folder(name: str, fill: Callable[[Path], object]) -> Path:
        made, whole = root / f"shared-{name}", root / f"shared-{name}.whole"
        with (root / f"shared-{name}.lock").open("w") as lock:
            if fcntl is not None:
                fcntl.flock(lock, fcntl.LOCK_EX)
            if not whole.exists():
                # Of a process that failed, or ended early.
                shutil.rmtree(made, ignore_errors=True)
                made.mkdir()
                fill(made)
                whole.touch()
        return made

    return folder


@pytest.fixture(scope="session")
def small_pipeline_folder(made_once: Callable[..., Path]) -> Path:
    """The folder of a small pipeline with parts of all kinds."""
    import small_pipeline

    return made_once("small-pipeline", lambda folder: small_pipeline.trained().to_disk(folder))


@pytest.fixture(scope="session")
def dist(made_once: Callable[..., Path]) -> Path:
    """A folder with an sdist of a clean copy of the sources, and a wheel from that sdist.

    Built with the setuptools and the Cython that are installed, to fetch nothing. What was made in
    place is neither translated nor compiled again. What was printed is in ``printed.txt``.
    """
    return made_once("dist", build_package)


# A compiler that takes modules of the folder {root} whose C is the same; in turn for C and objects.
# The last option of a kind is the one that counts, so -O0 comes after those of setup.py.
COMPILER = """\
#!/bin/sh
for word; do
    case "$before" in -c) source=$word;; -o) made=$word;; esac
    case "$word" in *.o) object=$word;; esac
    before=$word
done
if [ "$source" ]; then
    there="{root}/$source"
    [ -e "${{there%.*}}{suffix}" ] && cmp -s "$source" "$there" && : >"$made" && exit
    exec {compiler} "$@" -O0
fi
[ -s "$object" ] && exec {compiler} "$@"
exec cp "{root}/spacy_structreg/${{made#*/spacy_structreg/}}" "$made"
"""


def build_package(folder: Path) -> None:
    root = Path(__file__).parent.parent
    source = folder.parent / f"{folder.name}-source"
    made = shutil.ignore_patterns("__pycache__", "*.so", "*.pyd", "*.c", "*.cpp")
    for name in ("spacy_structreg", "tests", "docs", "treebank"):
        shutil.copytree(root / name, source / name, ignore=made)
    for path in root.iterdir():
        if path.is_file():
            shutil.copy(path, source)
    environment = dict(os.environ)
    if os.name == "posix":
        compiler = source / "quick-cc"
        compiler.write_text(
            COMPILER.format(
                root=root,
                suffix=EXTENSION_SUFFIXES[0],
                compiler=os.environ.get("CC") or sysconfig.get_config_var("CC"),
            )
        )
        compiler.chmod(0o755)
        environment["CC"] = str(compiler)

    def run(*command: str | Path) -> str:
        result = subprocess.run(
            [sys.executable, "-m", *command],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    build = ["build", "--no-isolation", "--skip-dependency-check", "--outdir", str(folder)]
    run(*build, "--sdist", source)
    (sdist,) = folder.glob("*.tar.gz")
    run("tarfile", "--extract", sdist, source / "unpacked")
    (unpacked,) = (source / "unpacked").iterdir()
    for path in (root / "spacy_structreg").rglob("*.c"):
        # With its time: Cython translates again what is older than its sources.
        shutil.copy2(path, unpacked / path.relative_to(root))
    (folder / "printed.txt").write_text(run(*build, "--wheel", unpacked), "utf-8")
    shutil.rmtree(source)


@pytest.fixture
def extensions() -> Iterator[None]:
    """The test begins without extensions of Docs, and leaves those that there were."""
    from spacy.tokens.underscore import Underscore

    before = Underscore.get_state()
    Underscore.load_state(({}, {}, {}))
    yield
    Underscore.load_state(before)


@pytest.fixture(scope="session", autouse=True)
def commands_read_once() -> Iterator[None]:
    """Runners of commands read the parameters of all of them anew at every call, for 30 ms."""
    with pytest.MonkeyPatch.context() as patch:
        if "typer.testing" in sys.modules:
            patch.setattr("typer.testing._get_command", cache(get_command), raising=False)
        yield


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Forget the seed of hashes that Dask leaves in the environment when it starts workers.

    With it, `warm_python` would have to start a new interpreter for each of the commands to come.
    """
    if HASH_SEED is None:
        os.environ.pop("PYTHONHASHSEED", None)
    else:
        os.environ["PYTHONHASHSEED"] = HASH_SEED


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call() -> None:
    """The same after fixtures that start a cluster."""
    pytest_runtest_setup()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by fixtures that are slow; files that take long, or have many tests, come first.

    So no process waits for another's last. It happens before pytest selects by mark.
    """
    for item in items:
        # Real corpora, and spaCy's own commands in processes.
        if not {"data_folder", "python"}.isdisjoint(getattr(item, "fixturenames", ())):
            item.add_marker("slow")
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    number = Counter(item.path for item in items)
    place = {path: i for i, path in enumerate(LONGEST, -len(LONGEST))}
    items.sort(
        key=lambda item: (place.get(item.path, 0), item.path not in slow, -number[item.path])
    )


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop() -> None:
    """Leave what was imported and collected to no garbage collection: none of it becomes free.

    Of the hooks after collection, this is the one that xdist's controller comes to as well.
    """
    gc.collect()
    gc.freeze()
    gc.enable()
