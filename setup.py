"""The extension modules; everything else about the package is in setup.cfg."""

import os
import sys
from pathlib import Path

from setuptools import Extension, setup

PACKAGE = Path("spacy_structreg")

# No -march and no -ffast-math: one wheel serves every machine of an architecture, and float
# additions keep the order in which they are written. No contraction either: where the processor
# can fuse a product and a sum, the compiler would otherwise round once instead of twice.
if sys.platform == "win32":
    compile_args = ["/O2", "/fp:precise"]
else:
    compile_args = ["-O3", "-ffp-contract=off"]

extensions = [
    Extension(
        ".".join(source.with_suffix("").parts),
        [source.as_posix()],
        extra_compile_args=compile_args,
    )
    for source in sorted(PACKAGE.rglob("*.pyx"))
]
for extension in extensions:
    extension.cython_directives = {
        "language_level": 3,
        "binding": True,
        "embedsignature": False,
        "boundscheck": False,
        "wraparound": False,
        "initializedcheck": False,
        "cdivision": True,
    }

# Where Cython is installed, the command build_ext of setuptools is Cython's: nothing is translated
# for an sdist, and one module is while others are compiled.
setup(
    ext_modules=extensions,
    options={"build_ext": {"parallel": os.cpu_count() or 1}},
)
