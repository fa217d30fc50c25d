"""The extension modules and the description; everything else about the package is in setup.cfg."""

import os
import re
import sys
from itertools import count
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.modified import newer_group

PACKAGE = Path("spacy_structreg")

# No -march and no -ffast-math: one wheel serves every machine of an architecture, and float
# additions keep the order in which they are written. No contraction either: where the processor
# can fuse a product and a sum, the compiler would otherwise round once instead of twice.
if sys.platform == "win32":
    compile_args = ["/O2", "/fp:precise"]
else:
    # No debug information, which the flags of Python itself ask for: a third of the time.
    compile_args = ["-O3", "-ffp-contract=off", "-g0"]

# Cython's own code, memoryviews above all, is compiled once instead of into every module, which
# would take more than twice the time. cythonize writes the C file.
SHARED = "spacy_structreg._cyutility"

# The longest first, so that none is left to be compiled alone at the end.
sources = {
    ".".join(path.with_suffix("").parts): path
    for path in sorted(PACKAGE.rglob("*.pyx"), key=lambda path: -path.stat().st_size)
}
extensions = [
    Extension(name, [path.as_posix()], extra_compile_args=compile_args)
    for name, path in {SHARED: PACKAGE / "_cyutility.c", **sources}.items()
]


class BuildExtensions(build_ext):
    """Translates all modules first, in as many processes as compile them then; an sdist none.

    Prints a line for each module that is compiled, as that takes minutes.
    """

    def build_extensions(self):
        from Cython.Build import cythonize

        translated = cythonize(
            self.extensions,
            nthreads=int(self.parallel or 0),
            force=self.force,
            shared_utility_qualified_name=SHARED,
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
        if self.editable_mode:
            self.copy_built_in_place()
        self.stale = {
            extension.name
            for extension in self.extensions
            if self.force
            or newer_group(
                [*extension.sources, *extension.depends], self.get_ext_fullpath(extension.name)
            )
        }
        self.numbers = count(1)
        super().build_extensions()

    def copy_built_in_place(self):
        """Copy what was compiled in place, as pip builds in an empty folder."""
        for extension in self.extensions:
            made = Path(self.get_ext_fullpath(extension.name))
            there = Path(*extension.name.split(".")[:-1], made.name)
            if there.exists():
                self.mkpath(str(made.parent))
                self.copy_file(str(there), str(made))

    def build_extension(self, ext):
        if ext.name in self.stale:
            module = ext.name.partition(".")[2].replace(".", "/")
            # Written at once, as modules are compiled in threads.
            sys.stdout.write(f"[{next(self.numbers)}/{len(self.stale)}] compiling {module}\n")
            sys.stdout.flush()
        super().build_extension(ext)


HOST = "https://github.com/structreg/spacy_structreg"
RAW = "https://raw.githubusercontent.com/structreg/spacy_structreg"


def description():
    """README.md with links and pictures that lead somewhere from a package index, too."""

    def absolute(match):
        shown, target = match.groups()
        if target.startswith("#"):
            target = f"README.md{target}"
        return f"{shown}({RAW if shown.startswith('!') else HOST + '/blob'}/main/{target})"

    text = Path("README.md").read_text("utf-8")
    return re.sub(r"(!?\[[^\]]*\])\((?![a-z]+:)([^)\s]+)\)", absolute, text)


# Where processes are spawned, they read this file.
if __name__ == "__main__":
    setup(
        long_description=description(),
        long_description_content_type="text/markdown",
        ext_modules=extensions,
        cmdclass={"build_ext": BuildExtensions},
        options={"build_ext": {"parallel": os.cpu_count() or 1}},
    )
