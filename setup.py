"""The extension modules; everything else about the package is in setup.cfg."""

import os
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

PACKAGE = Path("spacy_structreg")

# No -march and no -ffast-math: one wheel serves every machine of an architecture, and float
# additions keep the order in which they are written. No contraction either: where the processor
# can fuse a product and a sum, the compiler would otherwise round once instead of twice.
if sys.platform == "win32":
    compile_args = ["/O2", "/fp:precise"]
else:
    # No debug information, which the flags of Python itself ask for: a third of the time.
    compile_args = ["-O3", "-ffp-contract=off", "-g0"]

extensions = [
    Extension(
        ".".join(source.with_suffix("").parts),
        [source.as_posix()],
        extra_compile_args=compile_args,
    )
    for source in sorted(PACKAGE.rglob("*.pyx"))
]


class BuildExtensions(build_ext):
    """Translates all modules first, in as many processes as compile them then; an sdist none."""

    def build_extensions(self):
        from Cython.Build import cythonize

        translated = cythonize(
            self.extensions,
            nthreads=int(self.parallel or 0),
            force=self.force,
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
        for extension, one in zip(self.extensions, translated, strict=True):
            extension.sources = one.sources
        super().build_extensions()


# Where processes are spawned, they read this file.
if __name__ == "__main__":
    setup(
        ext_modules=extensions,
        cmdclass={"build_ext": BuildExtensions},
        options={"build_ext": {"parallel": os.cpu_count() or 1}},
    )
