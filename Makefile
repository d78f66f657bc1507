# Two commands matter: `make book` and `make test`. `make help` lists the rest.
PYTHON ?=
BIN    := .venv/bin
STAMP  := .venv/.installed
SRC    := _build/src
OUT    := .
HTML    = $(patsubst ./%,%,$(OUT)/_build/html)

# The largest first: it takes longest, and at the end no core waits for it.
NBS    := $(shell ls -S $$(find book -name '*.ipynb' -not -path '*/_*' -not -path '*/.*'))
RUN    := $(NBS:%=$(SRC)/%)
PAGES  := _config.yml _toc.yml CHANGELOG.md CITATION.cff $(wildcard data/results/speed*.csv) $(shell find book -type f -not -name '*.ipynb' -not -path '*/_tools/*' -not -path '*/lab/*' \
            -not -path '*/.*' -not -path '*/__pycache__/*' 2>/dev/null)
# What pages are made from beside their notebooks. A chapter runs again if what it read has changed.
CODE   := $(shell find rbmlib book/lab -name '*.py')
-include $(wildcard $(SRC)/book/*/*.d)

# As many chapters and tests run at a time as there are cores, each on one thread. A single chapter
# has two. Threads of OpenBLAS that wait spin for 2**18 cycles, a tenth of a millisecond, not 2**26.
export OPENBLAS_THREAD_TIMEOUT ?= 18
CORES   := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
JOBS    := $(shell n=$(CORES); [ $$n -gt 8 ] && n=8; echo $$n)
SHARE   := $(shell n=$$(( $(CORES) / $(JOBS) )); [ $$n -gt 0 ] && echo $$n || echo 1)
marked   = $(shell grep -l 'pytest.mark.$(1)' tests/test_*.py)
unexport PYTHONDONTWRITEBYTECODE
threads  = OMP_NUM_THREADS=$(1) OPENBLAS_NUM_THREADS=$(1) MKL_NUM_THREADS=$(1) NUMBA_NUM_THREADS=$(1) RBMLIB_NUM_THREADS=$(1)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup lock book executed chapter pages notebooks articles lab test test-all elsewhere lane_1 lane_2 test_processes test_pages test_library test_notebooks test_chapters bench lint release clean exercises slides check planted

book: $(STAMP)  ## run a copy of every chapter and render the book to _build/html
	@BOOK_JOBS=$(JOBS) BOOK_CHAPTERS="$$($(MAKE) --silent -n executed | sed -nE 's,.*run_chapter\.py (book/[^ ]*\.ipynb) .*,\1,p' | tr '\n' ' ')"; \
	export BOOK_JOBS BOOK_CHAPTERS; $(BIN)/python book/_tools/progress.py && $(MAKE) --silent -j$(JOBS) executed
	@$(MAKE) --silent $(HTML)/.done
	@echo "open $(HTML)/index.html"

# Two lanes side by side, so that no core waits: processes, which mostly wait, then pages; and the
# library, stored notebooks, chapters. Each row runs to its end whatever the others do.
LANE_1 := processes pages
LANE_2 := library notebooks chapters
RED    := _build/red
test: $(STAMP)  ## the tests: library, stored notebooks, chapters at other parameters, pages, processes
	@rm -rf $(RED) && mkdir -p $(RED)
	@$(MAKE) --silent -j2 lane_1 lane_2
	@for row in $$(ls $(RED)); do echo "red: test_$$row; alone: $(if $(RBMLIB_NIGHTLY),RBMLIB_NIGHTLY=1 )make test_$$row"; done; \
	 [ -z "$$(ls $(RED))" ] && echo "all rows are green: $(LANE_1) $(LANE_2)"

lane_1 lane_2:
	@for row in $(LANE$(@:lane%=%)); do $(MAKE) --silent test_$$row || touch $(RED)/$$row; done

test-all: export RBMLIB_NIGHTLY := 1
test-all: $(STAMP)  ## every test: repeats, coverage, dark pages, phones, every contrast, other processors
	@$(MAKE) --silent -k test elsewhere

# What `make test` leaves out for the sake of time.
DAY := $(if $(RBMLIB_NIGHTLY),, and not nightly and (not statistical or always))
told = mkdir -p _build; $(1) >_build/$@.log 2>&1; found=$$?; cat _build/$@.log; exit $$found
STORED_PAGES := STORED=yes SRC=_build/tests/src OUT=_build/tests

test_processes: $(STAMP)
	@$(MAKE) --silent $(STORED_PAGES) executed
	@$(call told,MAKEFLAGS= $(BIN)/pytest -m "processes$(DAY)" $(call marked,processes))

test_pages: $(STAMP)
	@$(MAKE) --silent $(STORED_PAGES) _build/tests/_build/html/.done
	@$(call told,$(BIN)/pytest -n $(JOBS) --dist loadgroup -m "pages$(DAY)" $(call marked,pages))

test_chapters: $(STAMP)
	$(call threads,1) $(BIN)/pytest -n $(JOBS) --dist load -m "chapters$(DAY)" $(call marked,chapters)

test_library: $(STAMP)
	$(call threads,$(SHARE)) $(BIN)/pytest -n $(JOBS) --dist loadscope --doctest-modules -m "not chapters and not pages and not processes$(DAY)" rbmlib tests

test_notebooks: $(STAMP)
	$(call threads,$(SHARE)) $(BIN)/pytest -n $(JOBS) --dist loadscope --nbval --nbval-current-env \
	  --nbval-sanitize-with tests/nbval.cfg --nbval-cell-timeout=900 book

elsewhere: $(STAMP)  ## the stored notebooks and the library as on other processors, with one thread and two
	@$(BIN)/python book/_tools/elsewhere.py

QUICK := structure results models paths mcmc store sweep sweep_declarations log_z_checks \
         planted uneven values_said refusals notebooks page claims judge
check: $(STAMP)  ## a fast part of the tests, for work in progress (under two minutes)
	$(call threads,1) $(BIN)/pytest -q -n $(JOBS) --dist loadscope \
	  -m "not statistical and not nightly and not chapters and not pages and not processes" $(QUICK:%=tests/test_%.py)

planted: $(STAMP)  ## plant errors of thought (tests/planted), one at a time, and see the test of each fail (half an hour)
	@$(call threads,1) $(BIN)/python tests/planted/plant.py

# NAME is a path in book/ without .ipynb, or the last part of one without a number.
CHAPTER = $(or $(wildcard $(foreach at,book/ book/*/ book/*/[0-9][0-9]_,$(at)$(NAME).ipynb)),$(error NAME is '$(NAME)': \
            expected one of $(sort $(NBS:book/%.ipynb=%)), or ais for learn/03_ais))
chapter: $(STAMP)  ## run and render one chapter: make chapter NAME=ais
	@$(MAKE) --silent JOBS=1 SHARE=$(if $(filter 1,$(CORES)),1,2) $(SRC)/$(CHAPTER)
	@$(MAKE) --silent ONLY=$(CHAPTER) $(HTML)/.done
	@echo "open $(HTML)/$(CHAPTER:.ipynb=.html)"

pages: $(STAMP)  ## render the book with the stored outputs, without running anything (half a minute)
	@$(MAKE) --silent SRC=_build/stored STORED=yes $(HTML)/.done
	@touch -t 197001020000 $(HTML)/.done  # so that `make book` renders what it has run
	@echo "open $(HTML)/index.html"

lab: $(STAMP)  ## open the notebooks in JupyterLab
	$(BIN)/jupyter lab book

notebooks: $(STAMP)  ## run the committed notebooks and store their outputs (all, or NAME=ais)
	@$(BIN)/python book/_tools/execute.py $(if $(NAME),$(CHAPTER),$(NBS))

exercises: $(STAMP)  ## write notebooks of exercises for students and teachers to _build/exercises
	@$(call threads,1) $(BIN)/python book/_tools/exercises.py _build/exercises

slides: $(STAMP)  ## write slides of four weeks to _build/slides, each one file that needs no network
	@$(BIN)/python book/_tools/slides.py _build/slides

bench: $(STAMP)  ## time what users do, annealing, and a sweep of short tasks, against others (20 minutes, alone on the machine)
	@$(BIN)/python book/_tools/bench.py

lint: $(STAMP)  ## rules, format and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

release: $(STAMP)  ## build sdist and wheel into _build/release, and try the wheel with each Python here
	@$(BIN)/python book/_tools/release.py

articles: $(STAMP)  ## write into _build/articles: a replication of each of the four sources, all lessons as one PDF
	@$(BIN)/python book/_tools/articles.py
	@[ -f $(HTML)/book/learn/01_start.html ] || $(MAKE) --silent pages
	@$(BIN)/python book/_tools/lessons_pdf.py

clean:  ## remove everything built, and .venv
	rm -rf _build build .venv *.egg-info .pytest_cache .ruff_cache .mypy_cache
	find rbmlib book tests -name __pycache__ -prune -exec rm -rf {} +

help:  ## print this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

# ---------------------------------------------------------------- set-up
FIND_PYTHON = for p in $(PYTHON) $(if $(PYTHON),,python3 python3.14 python3.13 python3.12 python3.11 python); do \
    "$$p" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' >/dev/null 2>&1 && { echo "$$p"; break; }; done

setup: $(STAMP)  ## make .venv, install the locked requirements and rbmlib (editable), compile its loops

$(BIN)/python:
	@python="$$($(FIND_PYTHON))"; \
	[ -n "$$python" ] || { echo "error: rbmlib needs Python 3.11, 3.12, 3.13 or 3.14 and found none; try: make PYTHON=/path/to/python3.12 book" >&2; exit 1; }; \
	"$$python" -c 'import venv, ensurepip' 2>/dev/null || { echo "error: $$python has no venv or ensurepip; on Debian and Ubuntu install the package python3-venv" >&2; exit 1; }; \
	echo "making .venv with $$("$$python" --version)"; \
	"$$python" -m venv .venv || { rm -rf .venv; exit 1; }

$(STAMP): requirements.txt pyproject.toml book/pyproject.toml | $(BIN)/python
	@echo "installing the locked requirements into .venv"
	@$(BIN)/python -m pip install -q --disable-pip-version-check 'uv>=0.5'
	@$(BIN)/uv pip install -q --compile-bytecode --python $(BIN)/python -r requirements.txt
	@$(BIN)/uv pip install -q --python $(BIN)/python --no-deps -e . -e book
	@$(BIN)/python -W ignore -c 'import rbmlib as rl; rl.log_z(rl.load_rbm("pcd_20"), n_steps=10, enumerate_small=False)'
	@touch $@

LOCK := uv pip compile pyproject.toml --all-extras --universal --python-version 3.11 --fork-strategy fewest --no-annotate --no-header
lock: | $(BIN)/python  ## rewrite requirements.txt from the ranges in pyproject.toml
	@$(BIN)/python -m pip install -q --disable-pip-version-check 'uv>=0.5'
	@$(BIN)/$(LOCK) -q -o requirements.txt

# ---------------------------------------------------------------- the book
executed: $(RUN)

ifdef STORED
$(SRC)/book/%.ipynb: book/%.ipynb
	@mkdir -p $(@D) && cp $< $@
else
$(SRC)/book/%.ipynb: book/%.ipynb requirements.txt book/_tools/run_chapter.py | $(STAMP)
	@$(call threads,$(SHARE)) $(BIN)/python book/_tools/run_chapter.py $< $@
endif

$(SRC)/%: %
	@mkdir -p $(@D) && cp $< $@

# Chapters that have not run yet are shown with their stored outputs by `make chapter`.
$(HTML)/.done: $(if $(ONLY),$(SRC)/$(ONLY),$(RUN)) $(PAGES:%=$(SRC)/%) $(CODE) | $(STAMP)
	@$(if $(ONLY),for nb in $(NBS); do [ -f "$(SRC)/$$nb" ] || { mkdir -p "$(SRC)/$${nb%/*}" && cp "$$nb" "$(SRC)/$$nb" && touch -t 197001020000 "$(SRC)/$$nb"; }; done)
	@cd $(SRC) && find book -name '*.ipynb' | while read -r nb; do [ -f "$(CURDIR)/$$nb" ] || rm -f "$$nb"; done  # that moved
	@rm -rf $(HTML) && mkdir -p _build $(OUT)
	@echo "rendering the book (about half a minute)"
	@$(BIN)/jupyter-book build -W -n --keep-going $(SRC) --path-output $(OUT) >_build/render.log 2>&1 \
	  || { grep -E "WARNING|ERROR|Error" _build/render.log >&2; rm -rf $(OUT)/_build/.doctrees; echo "error: the book was not rendered without warnings; they are listed above" >&2; exit 1; }
	@$(BIN)/python book/_tools/slides.py $(HTML)/slides >_build/slides.log
	@$(BIN)/python book/_tools/check_pages.py --source $(SRC) --html $(HTML)
	@touch $@
