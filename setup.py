"""The extension modules; everything else about the package is in setup.cfg."""

from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

PACKAGE = Path("spacy_structreg")

# No -march and no -ffast-math: one wheel serves every machine of an architecture, and float
# additions keep the order in which they are written.
extensions = [
    Extension(
        ".".join(source.with_suffix("").parts),
        [source.as_posix()],
        extra_compile_args=["-O3"],
    )
    for source in sorted(PACKAGE.rglob("*.pyx"))
]

setup(
    ext_modules=cythonize(
        extensions,
        compiler_directives={
            "language_level": 3,
            "binding": True,
            "embedsignature": False,
            "boundscheck": False,
            "wraparound": False,
            "initializedcheck": False,
            "cdivision": True,
        },
    )
)
