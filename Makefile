# `make help` lists what there is to make. Every target does the set-up that it needs.

VENV ?= .venv
PYTEST_ARGS ?=
# One more than there are cores, as tests wait for the processes that they start.
PROCESSES ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)
PROJECT ?= projects/quickstart
EXTRAS ?= test,dev,docs
PIPELINE_EXTRAS := pipeline,serve

PY := $(VENV)/bin/python
LOWEST := $(VENV)-lowest
METADATA := setup.cfg setup.py pyproject.toml
SOURCES := $(shell find spacy_structreg -name '*.pyx' -o -name '*.pxd' -o -name '*.pxi')

# PYTHON is the interpreter that makes the environment: the first of these that runs, is at least
# 3.10, can make environments, and has the headers to compile against.
CANDIDATES := python3 python3.14 python3.13 python3.12 python3.11 python3.10 python
SUITABLE := import os, sys, sysconfig, ensurepip, venv; \
	header = os.path.join(sysconfig.get_path("include"), "Python.h"); \
	sys.exit(sys.version_info < (3, 10) or not os.path.exists(header))

SHOWN := ^ *(Collecting .*|\[ *[0-9]+/[0-9]+\] .*|Installing collected packages)

# What compiles the package, and what it needs with the extras $(1), one a line.
COMPILERS := $(shell sed -n 's/^requires = \[\(.*\)\]/\1/p' pyproject.toml | tr -d ,)
NEEDED = import configparser, sys; setup = configparser.ConfigParser(); setup.read("setup.cfg", "utf-8"); \
	extras = map(setup["options.extras_require"].__getitem__, sys.argv[1].split(",")); \
	print(setup["options"]["install_requires"], *extras, sep="\n")

# Install the package with the extras $(1) into the environment. It is compiled while pip fetches and
# installs what it needs, which takes one core; of the latter, Python compiles what is imported when
# it is imported, as most never is, and here what commands import. Of what they say only what is
# fetched, compiled and installed is shown, line by line, but all of it if one fails.
define install
	@echo "Installing the package into $(VENV): some two minutes on two cores, most of it compiling"
	@log=$(VENV)/install.log; rm -f $$log.failed; export PYTHONUNBUFFERED=1; \
	{ { $(PY) -m pip install --verbose $(COMPILERS) \
		&& { $(PY) setup.py build_ext --inplace & compiled=$$!; } \
		&& $(PY) -c '$(NEEDED)' $(1) >$(VENV)/needed.txt \
		&& $(PY) -m pip install --verbose --no-compile --requirement $(VENV)/needed.txt \
		&& wait $$compiled \
		&& $(PY) -m pip install --verbose --no-deps --no-build-isolation --editable . \
		&& PYTHONDONTWRITEBYTECODE= $(PY) -m spacy structreg --help; \
	} 2>&1 || touch $$log.failed; } \
		| tee $$log | grep --line-buffered -oE '$(SHOWN)' || true; \
	if [ -e $$log.failed ]; then cat $$log >&2; exit 1; fi
endef

.DELETE_ON_ERROR:
.PHONY: help run page quickstart pipeline wheels test test-fast test-thorough test-lowest fingerprints stubs \
	check check-style check-types check-cython build docs docs-serve figures tables pictures screenshots notebooks clean distclean

help:
	@echo "make run            set up, train the Chinese pipeline, and annotate a text: some ten minutes"
	@echo "make page           the same, and open the page of the pipeline in the browser"
	@echo "make pipeline       set up, then train and package the Chinese pipelines: some ten minutes"
	@echo "make quickstart     the same, with all else that $(PROJECT) shows"
	@echo "make wheels         the same, with sdist and wheel of the package: all lie in dist then"
	@echo "make test           set up, then run the tests on all cores: some fifteen minutes on two"
	@echo "make test-fast      the same without the slow ones: a minute or two"
	@echo "make test-thorough  as test, with many more examples of every property"
	@echo "make test-lowest    as test-fast, in an environment of the lowest versions that are allowed"
	@echo "make fingerprints   set up, then print checksums of small models of every estimator"
	@echo "make stubs          set up, then write the stubs of the compiled modules from their sources"
	@echo "make check          set up, then ruff, mypy (strict) and cython-lint"
	@echo "make build          set up, then compile in place what has changed"
	@echo "make docs           build the documentation site into site/: half a minute; three from a fresh clone"
	@echo "make docs-serve     show the site while its pages are written"
	@echo "make figures        measure the Chinese pipelines beside other systems, then make tables and pictures"
	@echo "make tables         write the tables of the documentation from stored results"
	@echo "make pictures       draw the pictures of the documentation from stored results"
	@echo "make screenshots    take the pictures of the page in Chromium; PIPELINE=/path names a pipeline"
	@echo "make notebooks      run the notebooks of the documentation; PIPELINE=/path/to/pipeline names one"
	@echo "make clean          remove what was compiled and the caches"
	@echo "make distclean      remove the environment $(VENV) as well"
	@echo
	@echo "PYTEST_ARGS='tests/learn -x' is passed on to pytest, PROCESSES=0 keeps it to one process."
	@echo "PYTHON=python3.12 chooses the interpreter of a new environment, VENV=folder its place."

# Wheels have no time of their own, so that the same sources make the same bytes.
quickstart pipeline wheels: export SOURCE_DATE_EPOCH ?= 1577836800

run: $(VENV)/.package
	@$(PY) $(PROJECT)/scripts/build.py $(PROJECT)
	@$(PY) $(PROJECT)/scripts/show.py $(PROJECT)/training/pipeline/model $(PROJECT)/assets/example.txt --limit 2
	@echo
	@echo "make page opens the page of this pipeline in the browser; $(PROJECT)/training/pipeline/model is its folder"

page: $(VENV)/.package
	@$(PY) $(PROJECT)/scripts/build.py $(PROJECT)
	$(PY) -m spacy structreg serve $(PROJECT)/training/pipeline/model --open

quickstart: $(VENV)/.package
	@echo "Running all steps of $(PROJECT)"
	$(PY) -m spacy project run all $(PROJECT)

pipeline: $(VENV)/.package
	@echo "Training and packaging the pipeline of $(PROJECT)"
	@$(PY) $(PROJECT)/scripts/build.py $(PROJECT) --last show

wheels: pipeline
	@echo "Building the sdist and the wheel of the package: some two minutes on two cores"
	rm -rf dist
	$(PY) -m build --outdir dist
	cp $(PROJECT)/packages/*/dist/*.whl dist

test-fast: SELECTION := -m "not slow" --hypothesis-profile=fast
test-thorough: SELECTION := --hypothesis-profile=thorough

# What is compiled of tests and package is kept, or each process would compile it again.
test test-fast test-thorough: export PYTHONDONTWRITEBYTECODE =

# Files are shared out whole, as what they set up is dear, and in the order of tests/conftest.py.
test test-fast test-thorough: build
	$(PY) -m pytest --numprocesses $(PROCESSES) --dist loadfile --no-loadscope-reorder \
		$(SELECTION) $(PYTEST_ARGS)

# Only Python 3.10 and 3.11 have wheels of the lowest numpy.
test-lowest:
	@$(MAKE) --no-print-directory VENV=$(LOWEST) CANDIDATES="python3.10 python3.11" $(LOWEST)/.environment
	@$(LOWEST)/bin/python tests/lowest_versions.py test serve >$(LOWEST)/constraints.txt
	@PIP_CONSTRAINT=$(abspath $(LOWEST)/constraints.txt) \
		$(MAKE) --no-print-directory VENV=$(LOWEST) EXTRAS=test,serve test-fast

# Equal before and after a change: no weight and no prediction has moved.
fingerprints: build
	$(PY) tests/fingerprints.py

# Types that C does not say are kept from the stubs that there are.
stubs: $(VENV)/.develop
	$(PY) tests/stubs.py

# Side by side, as each takes one core; cython-lint looks for pycodestyle on the path.
check: $(VENV)/.develop
	@$(MAKE) --no-print-directory --jobs 3 check-style check-types check-cython

check-style:
	$(PY) -m ruff check .

check-types:
	$(PY) -m mypy

check-cython:
	PATH="$(VENV)/bin:$$PATH" cython-lint spacy_structreg

# Links, anchors and pages that are missing are errors. The variable silences an advertisement.
docs docs-serve: export NO_MKDOCS_2_WARNING = 1

docs: build
	$(PY) -m mkdocs build --strict

docs-serve: build
	$(PY) -m mkdocs serve

# On an idle machine, some three minutes; STRUCTREG_DATA names the folder of corpora.
figures: build
	$(PY) benchmarks/serving --ready-made --output benchmarks/results --pipelines \
		zh_structreg=$(PROJECT)/training/pipeline/model zh_structreg_fast=$(PROJECT)/training/fast/model
	$(PY) docs/tools/tables.py
	$(PY) docs/tools/pictures.py docs/pictures

tables: build
	$(PY) docs/tools/tables.py

# The pictures of the documentation; nothing is trained.
pictures: build
	$(PY) docs/tools/pictures.py docs/pictures

# The pictures of the page of `structreg serve`, taken in Chromium.
screenshots: build
	$(PY) docs/tools/screenshots.py $(or $(PIPELINE),zh_structreg) docs/pictures words trees dark

# The notebooks, run anew; the Chinese pipeline must be installed, or PIPELINE name the
# absolute path of its folder, as notebooks run in their own.
notebooks: build
	$(PY) docs/tools/notebooks.py docs/notebooks/*.ipynb

# A make of its own, so that it sees what the installation has compiled already.
build: $(VENV)/.develop
	@$(MAKE) --no-print-directory $(VENV)/.built

# The stamps: the environment; the package in it; the package with the developers' tools; its
# extension modules, compiled from the sources as they are now.
$(VENV)/.environment:
	@python='$(PYTHON)'; \
	for candidate in $(if $(PYTHON),,$(CANDIDATES)); do \
		if "$$candidate" -c '$(SUITABLE)' >/dev/null 2>&1; then python=$$candidate; break; fi; \
	done; \
	if [ -z "$$python" ]; then \
		echo "No suitable Python found. Needed: 3.10 or later, its venv module and its C headers" >&2; \
		echo "(on Debian and Ubuntu: the packages python3, python3-venv and python3-dev)." >&2; \
		echo "Install it, or name it: make PYTHON=path/to/python3" >&2; \
		exit 1; \
	fi; \
	echo "$$python -m venv $(VENV)"; \
	"$$python" -m venv $(VENV)
	@touch $@

$(VENV)/.package: $(VENV)/.environment $(METADATA) $(SOURCES)
	$(call install,$(PIPELINE_EXTRAS))
	@touch $@

$(VENV)/.develop: $(VENV)/.environment $(METADATA)
	$(call install,$(EXTRAS))
	@touch $@ $(VENV)/.package $(VENV)/.built

$(VENV)/.built: $(SOURCES)
	$(PY) setup.py --quiet build_ext --inplace
	@touch $@ $(VENV)/.package

clean:
	rm -rf build dist site *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name '.?*' -prune -o -name __pycache__ -prune -exec rm -rf {} +
	find spacy_structreg \( -name '*.so' -o -name '*.pyd' -o -name '*.c' -o -name '*.cpp' \) \
		-exec rm -f {} +
	rm -f $(VENV)/.package $(VENV)/.develop $(VENV)/.built

distclean: clean
	rm -rf $(VENV)
