# Everything a developer runs. `make` prints what there is.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NATIVE := $(shell find cpp CMakeLists.txt pyproject.toml -type f 2>/dev/null)
NEEDED := import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['dependencies'], sep='\n')
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help demo test lint format docs bench certificates mutants matrix fuzz sanitize build wheel clean

help: ## Print this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

demo: $(VENV)/installed ## Set up .venv, install, and run the main job
	@$(BIN)/kf demo

# Two processes on two cores: one thread each, else they wait for each other. Tests of threads ask for theirs. The seed
# of hashes is drawn, because nothing may depend on it; both processes have the same one, so that they collect the same
# cases in the same order. `make test PYTHONHASHSEED=19` draws none.
test: $(VENV)/ready lint ## Set up what tests need, lint, and run all tests
	@seed=$${PYTHONHASHSEED:-$$($(BIN)/python -c 'import random; print(random.randrange(2**32))')}; \
		echo "PYTHONHASHSEED=$$seed"; \
		OMP_NUM_THREADS=1 PYTHONHASHSEED=$$seed $(BIN)/python -m pytest -n 2 --dist worksteal

lint: $(VENV)/ready ## Format check, lint, types, layers, spelling
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell
	$(BIN)/clang-format --dry-run --Werror $$(git ls-files 'cpp/*.hpp' 'cpp/*.cpp')

format: $(VENV)/ready ## Format Python and C++
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/clang-format -i $$(git ls-files 'cpp/*.hpp' 'cpp/*.cpp')

docs: $(VENV)/ready ## Build the site into build/site; warnings are errors
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs build/site
	@echo "Open build/site/index.html"

bench: $(VENV)/ready ## Run every benchmark beside its rivals
	for name in $$($(BIN)/python -c 'from benchmarks.__main__ import BENCHMARKS; print(*BENCHMARKS)'); do \
		$(BIN)/python -m benchmarks $$name || exit 1; done

certificates: $(VENV)/ready ## Check 10,000 random problems by enumeration, and every structure at 20,000 sets of wide scores
	KERNELFIELDS_CERTIFICATES=10000 $(BIN)/python -m pytest -q tests/objective/test_certificates.py
	KERNELFIELDS_BOUNDS=10000 $(BIN)/python -m pytest -q tests/structures/test_approximate_sums.py -k bounds
	KERNELFIELDS_WIDE_SCORES=20000 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -n 2 --dist worksteal -rP tests/structures/test_wide_scores.py

mutants: $(VENV)/ready ## Break the code in small ways; every break must fail a test
	$(BIN)/python tests/mutants/run.py

matrix: $(VENV)/ready ## Fit every estimator to every kind of input with every pair of options; goes on where it ended
	$(BIN)/python -m tests.matrix --journal build/matrix

fuzz: $(VENV)/ready ## Try odd numbers for every numeric parameter of everything public
	KERNELFIELDS_SIGNATURES=all $(BIN)/python -m pytest tests/signatures

sanitize: $(VENV)/ready ## Run the tests with the core under AddressSanitizer and UBSan
	.ci/sanitize address

build: $(VENV)/ready ## Build sdist and wheel into dist/
	$(BIN)/python -m build

wheel: $(VENV)/ready ## Build a manylinux wheel into dist/ and try it in an empty environment without a compiler
	.ci/wheels

clean: ## Remove everything that was built
	rm -rf build dist $(VENV) src/kernelfields/_core.pyi

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit("kernelfields needs Python 3.11 or newer") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)

# The compiled module lives beside the installed package, its stub also in src for mypy. Python compiles what it imports;
# with --no-compile pip does not compile all the rest, most of SciPy for one. For a first look the core is compiled for
# the processor at hand alone, while packages are fetched; tests need it for all of them.
$(VENV)/installed: $(VENV)/bin/python $(NATIVE)
	$(BIN)/python -m pip install -q --no-compile "scikit-build-core>=0.11" "nanobind>=2.7" cmake ninja
	$(BIN)/python -m pip install -q --no-compile --no-build-isolation --no-deps --editable . -C cmake.define.KF_NATIVE=ON \
		& core=$$!; $(BIN)/python -c "$(NEEDED)" | $(BIN)/python -m pip install -q --no-compile -r /dev/stdin && wait $$core
	cp build/*/_core.pyi src/kernelfields/_core.pyi
	touch $@

# setuptools and its plug-ins build those tools that come as source only, seqeval for one: without build
# isolation nobody else installs them.
$(VENV)/ready: $(VENV)/installed
	$(BIN)/python -m pip install -q --upgrade setuptools setuptools_scm wheel
	$(BIN)/python -m pip install -q --no-build-isolation --editable '.[dev]' build -C cmake.define.KF_NATIVE=OFF
	cp build/*/_core.pyi src/kernelfields/_core.pyi
	touch $@
