# Few targets; `make` alone lists them.
.PHONY: help test lint python libraries demo bench golden

help: ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

test: toolchain chromium lint python ## everything CI runs: format, lints, all tests, doctests, the Python package and the first example
	cargo test --workspace
	cargo run --example 01_recalibrate_stream > /dev/null

lint: toolchain ## formatting and lints, warnings are errors
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

# A fresh environment each time, at one place, so that cargo builds only what changed.
python: toolchain venv ## the Python package: its wheel in a fresh environment, and its tests
	rm -rf .venv-test target/wheels && python3 -m venv .venv-test
	.venv-test/bin/pip install --quiet --disable-pip-version-check maturin==1.16.0
	.venv-test/bin/maturin build --quiet --out target/wheels
	.venv-test/bin/pip install --quiet --disable-pip-version-check "$$(ls target/wheels/truecast-*.whl)[test]"
	cargo build -p truecast-cli
	.venv-test/bin/python -m pytest

# Libraries that are too large for every run, or that want other versions than the tests: gigabytes, and some minutes.
libraries: toolchain venv ## the Python package beside the real PyTorch, statsforecast and mlforecast
	rm -rf .venv-libraries target/wheels && python3 -m venv .venv-libraries
	.venv-libraries/bin/pip install --quiet --disable-pip-version-check maturin==1.16.0
	.venv-libraries/bin/maturin build --quiet --out target/wheels
	.venv-libraries/bin/pip install --quiet --disable-pip-version-check "$$(ls target/wheels/truecast-*.whl)[nixtla,torch]" polars pytest scipy
	.venv-libraries/bin/python -m pytest python/tests/test_torch.py python/tests/test_nixtla_libraries.py

demo: toolchain ## calibrate a built-in stream: a table, and charts in report.html
	cargo run --release --bin truecast -- demo

bench: toolchain ## one step beside a scalar loop, and a file of ten million rows beside reading it
	cargo run --release -p truecast-bench -- step
	cargo run --release -p truecast-bench -- horizon
	cargo run --release -p truecast-bench -- instructions
	cargo build --release -p truecast-cli && cargo run --release -p truecast-bench -- file

golden: .venv ## make the golden values again from their independent implementations (minutes)
	set -e; for script in crates/*/tests/golden/*.py; do \
	  case $$script in */ledger.py) continue;; esac; .venv/bin/python $$script; done

.venv:
	python3 -m venv .venv
	.venv/bin/pip install --quiet numpy scipy mpmath scoringrules scikit-learn

.PHONY: toolchain
toolchain:
	@command -v cargo >/dev/null || { echo "error: cargo is not on the PATH"; \
	  echo "hint: install Rust 1.89 or later from your packages or with rustup"; exit 2; }
	@cargo fmt --version >/dev/null 2>&1 && cargo clippy --version >/dev/null 2>&1 || rustup component add rustfmt clippy

.PHONY: venv
venv:
	@python3 -c "import ensurepip, venv" 2>/dev/null || \
	  { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
	  apt-get install -y -qq --no-install-recommends python3 python3-venv >/dev/null; } || \
	  { echo "error: python3 with venv is not there"; echo "hint: install Python 3.11 or later, on Debian python3-venv"; exit 2; }

# The report's pages are measured in a browser. Where there is none and packages can be installed, get one, with a font.
.PHONY: chromium
chromium:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || \
	  { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null || exit 0; \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
	  apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core >/dev/null 2>&1 || \
	  echo "note: Chromium could not be installed; the tests that need it say so"; }
