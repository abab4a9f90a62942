# Each target sets up what it needs by itself. Another torch: `make conformance TORCH=torch==2.15.0`.
PYTHON ?= python3
TORCH ?= torch==2.13.0
VENV ?= .venv
ARGS ?=

.PHONY: conformance test check clean

conformance: $(VENV)/ready
	$(VENV)/bin/python -m pytest -n auto conformance/ $(ARGS)

test: $(VENV)/ready
	$(VENV)/bin/python -m pytest -n auto tests/ $(ARGS)

check: $(VENV)/ready
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy

# A torch that was put into the environment by hand stays: only a missing one is installed.
$(VENV)/ready: pyproject.toml
	test -x $(VENV)/bin/python || $(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -c "import torch" 2>/dev/null || $(VENV)/bin/pip install "$(TORCH)"
	$(VENV)/bin/pip install -e ".[dev]"
	touch $@

clean:
	rm -rf $(VENV) runs
