# Every target sets up what it needs (scripts/setup.sh); a Python 3.11 is all that must be there.
# Each kind of test is a target, a folder and a report, build/junit/<kind>.xml, which .ci/run counts.

SEED ?=
CASES ?=
ARGS ?=
RUN := scripts/run.sh
PYTEST = pytest --junit-xml=build/junit/$@.xml $(ARGS)

.DEFAULT_GOAL := help
.PHONY: help setup demo test check lint types contracts unit golden docs simulate spark4 spark35 interop bench nightly reference format locks clean

help:  ## what there is
	@while IFS= read -r line; do case "$$line" in *": "*"## "*|*":  ## "*) \
	    printf '%-10s %s\n' "$${line%%:*}" "$${line##*## }";; esac; done < Makefile

setup:  ## both environments, without running anything
	@scripts/setup.sh 4 35

demo:  ## the tour: write, crash, recover, compact, validate
	@$(RUN) 4 python -m pyhudi.interfaces.demo

test: unit golden docs simulate spark4  ## all that needs neither Maven nor Java Hudi

check: lint types contracts  ## linter, types and import contracts

lint:
	@$(RUN) 4 ruff check --output-format=concise
	@$(RUN) 4 ruff format --check --quiet

types:
	@$(RUN) 4 mypy

contracts:
	@$(RUN) 4 lint-imports

unit:  ## one module, one behaviour or one house rule at a time
	@$(RUN) 4 $(PYTEST) $(wildcard tests/unit tests/behaviour tests/house)

golden:  ## tables written by real Hudi
	@$(RUN) 4 $(PYTEST) tests/golden

reference:  ## write ARCHITECTURE and docs/reference anew from the source
	@$(RUN) 4 python scripts/reference.py

docs:  ## what README and docs/ show
	@$(RUN) 4 $(PYTEST) tests/docs

simulate:  ## crashes and races in simulated storage, and mutants that must be caught: SEED=… CASES=…
	@PYHUDI_SEED=$(SEED) PYHUDI_CASES=$(CASES) $(RUN) 4 $(PYTEST) tests/simulation tests/mutants

spark4:  ## over PySpark 4
	@$(RUN) 4 $(PYTEST) tests/spark

spark35:  ## over PySpark 3.5
	@$(RUN) 35 $(PYTEST) tests/spark

interop:  ## against Java Hudi (fetched through Maven) and hudi-rs
	@scripts/setup.sh 4 35
	@$(RUN) 4 $(PYTEST) tests/interop

bench:  ## pyhudi and Java Hudi side by side
	@scripts/setup.sh 4 35
	@$(RUN) 4 python -m bench.run

nightly: export PYHUDI_FULL = 1
nightly: check test spark35 interop  ## the same suites at full size

format:  ## let ruff mend what it can
	@$(RUN) 4 ruff check --fix
	@$(RUN) 4 ruff format

locks:  ## compile requirements/*.in again
	@for lock in build py-spark4 py-spark35; do \
	    CUSTOM_COMPILE_COMMAND="make locks" $(RUN) 4 pip-compile --quiet --generate-hashes --allow-unsafe \
	        --strip-extras --no-build-isolation --no-emit-index-url --no-emit-trusted-host --no-emit-find-links \
	        --no-emit-options --output-file=requirements/$$lock.txt requirements/$$lock.in || exit 1; done

clean:  ## reports and caches; the environments stay
	rm -rf build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
