# Airfair: build, test, validate, measure. `make help` lists the targets.

PYTHON ?= python3
VENV := $(CURDIR)/.venv
BIN := $(VENV)/bin
TOOLS := $(VENV)/.tools
VALIDATION := $(VENV)/.validation
DOCS := $(VENV)/.docs
PACKAGE := $(VENV)/.package
BUILT := $(VENV)/.built
CONSTRAINTS := python/constraints.txt
# The crates that need no standard library, in a program without one; of a workspace of its own, too.
NO_STD := --manifest-path no_std/Cargo.toml --target-dir "$${CARGO_TARGET_DIR:-target}" --locked

# What the compiled package is made from. The Python files are used where they lie.
RUST := $(shell find crates benches -name '*.rs' -o -name 'Cargo.toml' -o -name 'clippy.toml') Cargo.toml Cargo.lock

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_NO_INPUT := 1
# Kept from the first use on, whatever the environment says: compiled anew, every start of the command would take twice as long.
export PYTHONDONTWRITEBYTECODE :=
# One interpreter for everything that builds the binding, so that nothing is built twice.
export PYO3_PYTHON := $(BIN)/python
export VIRTUAL_ENV := $(VENV)

# Modules are compiled when they are first used, which most never are.
INSTALL := $(BIN)/python -m pip install --quiet --no-compile --constraint $(CONSTRAINTS)

.DEFAULT_GOAL := help
.PHONY: help venv build demo suite-gate which-scheme test lint lint-rust lint-python rust python browser tshark kernel-tools pages docs docs-links wheel sdist validate validate-advise validate-airtime validate-emulate validate-lies validate-live validate-maps validate-rates same bench bench-emulate soak-emulate fuzz-emulate bench-live soak-live fuzz-live instructions valgrind bench-peers fuzz mutants airfaird deb clean
.DELETE_ON_ERROR:
# Several parts install into .venv, and two pips at once break it. `.ci/run` says what may run side by side.
.NOTPARALLEL:

help: ## List the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv $(VENV)

venv: $(BIN)/python

$(TOOLS): $(CONSTRAINTS) pyproject.toml | $(BIN)/python
	$(INSTALL) $$($(BIN)/python python/requirements.py dev)
	@touch $@

# What a group of pyproject.toml names, one stamp a group.
$(VALIDATION) $(DOCS) $(PACKAGE): $(VENV)/.%: $(CONSTRAINTS) pyproject.toml | $(BIN)/python
	$(INSTALL) $$($(BIN)/python python/requirements.py $*)
	@touch $@

$(BUILT): $(RUST) $(TOOLS) pyproject.toml
	@touch $@.started
	$(BIN)/maturin develop --release --quiet >$(VENV)/build.log
	@mv $@.started $@

build: $(BUILT) ## Build the package into .venv

demo: $(BUILT) ## Build, then show a flow that starves at a mesh gateway, what cures it best, and what that costs; half a minute
	$(BIN)/python examples/demo.py

suite-gate: $(BUILT) ## Are six scenes of the suite, with ten seeds each, as docs/which-scheme.json has them? A minute
	$(BIN)/python -m docs.which_scheme --check

which-scheme: $(BUILT) ## Judge schemes on the suite (SEEDS=10), and write docs/which-scheme.md with its picture; resumable
	$(BIN)/python -m docs.which_scheme $(if $(SEEDS),--seeds $(SEEDS))

test: lint rust python ## Formatting, lints, types, tests, documentation

lint: lint-rust lint-python

lint-rust: kernel-tools | $(BIN)/python
	cargo fmt --all --check
	cargo clippy --quiet --workspace --all-targets --locked -- -D warnings
	cargo fmt --manifest-path no_std/Cargo.toml --check
	cargo clippy --quiet $(NO_STD) -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --quiet --workspace --no-deps --document-private-items --locked

lint-python: $(BUILT) $(VALIDATION) $(DOCS) $(PACKAGE)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy python tests validation benches peers docs examples
	$(BIN)/python -m mypy.stubtest --concise airfair._core

rust: kernel-tools
	cargo test --quiet --locked
	cargo run --quiet $(NO_STD)

python: $(BUILT) $(VALIDATION) $(DOCS) browser tshark
	$(BIN)/python -m pytest --numprocesses logical --dist worksteal --cpu --durations 10 --ignore tests/test_sweep_crash.py
	@# Tests that kill processes at work: one after the other, or a process dies while it still starts.
	$(BIN)/python -m pytest tests/test_sweep_crash.py

# clang compiles the daemon's program for the kernel, ip makes the devices of its tests. Without them these are left out, aloud.
kernel-tools:
	@command -v clang >/dev/null && command -v ip >/dev/null || { [ "$$(id -u)" = 0 ] && apt-get update -q && \
	  DEBIAN_FRONTEND=noninteractive apt-get install -yq --no-install-recommends clang iproute2; } || \
	  echo "no clang or no ip, so the daemon is not tried in the kernel: apt-get install clang iproute2" >&2

# The report is looked at in a real browser. Where it cannot be installed, those tests say so and are skipped.
browser:
	@command -v chromium >/dev/null || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    apt-get update -q && apt-get install -yq --no-install-recommends chromium fonts-dejavu-core; \
	  else echo "no chromium, some tests will be skipped: apt-get install chromium fonts-dejavu-core" >&2; fi; }

# Wireshark's reader checks the captures; where it cannot be installed these tests say so and are left out.
tshark:
	@command -v tshark >/dev/null || { [ "$$(id -u)" = 0 ] && apt-get update -q && \
	  DEBIAN_FRONTEND=noninteractive apt-get install -yq --no-install-recommends tshark; } || \
	  echo "no tshark, so captures are not checked: apt-get install tshark" >&2

pages: $(BUILT) $(DOCS) ## Write anew what is made from the program: the reference, the first scenario, licences of crates
	$(BIN)/python docs/pages.py --write
	$(BIN)/python python/third_party.py --write

docs: $(BUILT) $(DOCS) ## Draw the pictures, make the site in out/docs; a broken link, or a page in no contents, is an error
	$(BIN)/python docs/pages.py
	$(BIN)/python -m docs.pictures
	$(SPHINX) -b html docs out/docs
	@echo "out/docs/index.html"

docs-links: $(DOCS) ## Ask the network whether the links to other sites still lead somewhere
	$(SPHINX) -b linkcheck docs out/docs-links

SPHINX = $(BIN)/sphinx-build --quiet --fail-on-warning --keep-going --nitpicky --doctree-dir out/docs-trees

wheel: $(BUILT) $(PACKAGE) ## Make the wheel in out/dist and try it without a compiler; MANYLINUX=2014 for older systems
	rm -f out/dist/airfair-*.whl
ifdef MANYLINUX
	$(INSTALL) ziglang
	PATH=$(BIN):$$PATH $(BIN)/maturin build --quiet --release --out out/dist --zig --compatibility manylinux$(MANYLINUX)
else
	$(BIN)/maturin build --quiet --release --out out/dist
endif
	$(BIN)/python python/try_wheel.py out/dist/airfair-*.whl

sdist: $(BUILT) ## Make the source distribution in out/dist, with the crates that it needs, and build it without a network
	rm -rf out/dist/airfair-*.tar.gz out/sdist-check
	$(BIN)/python python/sdist.py out/dist
	$(BIN)/python python/try_sdist.py out/dist/airfair-*.tar.gz out/sdist-check

validate: $(BUILT) $(VALIDATION) ## Compare the simulator with theory and with other simulators; writes docs/validation.md
	$(BIN)/python -m validation

validate-advise: $(BUILT) $(VALIDATION) ## The choices of `airfair advise` beside an exhaustive search on the suite, on held-out seeds; about an hour on two cores
	$(BIN)/python -m validation.advise $(SCENES)

validate-rates: $(BUILT) ## ATP and EXACT on chains of one to eight hops, and EXACT's two readings; half a minute
	$(BIN)/python -m validation.rates

validate-airtime: $(BUILT) ## The airtime allocator beside max-min rates, on four topologies and twenty random meshes; a few minutes
	$(BIN)/python -m validation.airtime

validate-emulate: $(BUILT) ## Emulated runs beside simulated ones; writes docs/validation-emulate.md; as root; ROW=name, RUNS=5, SECONDS=30; resumable, an hour; KEPT=1 judges the runs that are there
	cargo build --quiet --release --locked -p airfair-load
	$(BIN)/python -m validation.emulation $(if $(ROW),--row $(ROW)) $(if $(RUNS),--runs $(RUNS)) $(if $(SECONDS),--seconds $(SECONDS)) $(if $(KEPT),--kept)

validate-lies: ## A compromised node that lies to NRED and to the airtime allocator: what it costs the others; writes docs/validation-lies.md; a quarter of an hour
	cargo test --quiet --release --locked -p airfair-scenario --test all -- lies::the_page_of_lies --exact --ignored

validate-live: $(BUILT) kernel-tools ## airfaird in emulated nodes beside the simulated scheme, emulated and simulated; writes docs/validation-live.md; as root; ROW=name, RUNS=5, SECONDS=40; resumable, an hour
	cargo build --quiet --release --locked -p airfair-load -p airfair-live
	$(BIN)/python -m validation.live $(if $(ROW),--row $(ROW)) $(if $(RUNS),--runs $(RUNS)) $(if $(SECONDS),--seconds $(SECONDS))

validate-maps: $(BUILT) ## The suite on maps that may not be copied: MAPS=FOLDER has them, SUITE="--seeds 5" chooses runs; without them skipped
	$(BIN)/python -m validation.maps "$(MAPS)" $(SUITE)

same: $(BUILT) ## Are results those that are recorded? ONLY=pattern for a part, RECORD=1 writes tests/same/recorded.csv anew
	$(BIN)/python -m tests.same $(if $(ONLY),--only '$(ONLY)') $(if $(RECORD),--record)

bench: ## What a frame costs (instructions, time a hearer, memory a node), and what the event queue, cliques, fair rates, C3L's laws and coding cost
	@# One at a time: built together, the run would record its events for the queue's sake, and pay for it.
	cargo build --quiet --release --locked -p airfair-bench-queue
	cargo build --quiet --release --locked -p airfair-bench
	@$(PYTHON) benches/speed.py "$${CARGO_TARGET_DIR:-target}/release/bench-run"
	@"$${CARGO_TARGET_DIR:-target}/release/bench-queue" scenarios/grid-64.toml
	@"$${CARGO_TARGET_DIR:-target}/release/bench-optimum"
	@"$${CARGO_TARGET_DIR:-target}/release/bench-c3l"
	@"$${CARGO_TARGET_DIR:-target}/release/bench-coding"

# The numbers of each are kept, and docs/bench-emulate.md is written from them anew.
LOAD := "$${CARGO_TARGET_DIR:-target}/release/airfair-load"

bench-emulate: $(BUILT) ## Load of the emulator by pairs of nodes that saturate their air; as root, three minutes; writes docs/bench-emulate.md
	cargo build --quiet --release --locked -p airfair-load
	$(BIN)/python -m benches.emulate $(LOAD)

soak-emulate: $(BUILT) ## The same with one scene for SOAK=20m: memory, descriptors, faults
	cargo build --quiet --release --locked -p airfair-load
	$(BIN)/python -m benches.emulate $(LOAD) --soak $(or $(SOAK),20m)

fuzz-emulate: $(BUILT) ## FRAMES=1000000 random and damaged frames by a program in a node of the emulator; as root, two minutes
	$(BIN)/python -m benches.emulate --frames $(or $(FRAMES),1000000)

SHIPPED := out/airfaird/$(shell uname -m)/airfaird

bench-live: airfaird kernel-tools ## Nanoseconds a packet of the daemon's programs in the kernel, memory and CPU of the daemon as it is shipped; as root, a minute
	@for of in lbm lbm-by-flow airtime; do echo "$$of:"; $(PYTHON) benches/live.py $(SHIPPED) --scheme $$of || bad=1; done; exit $${bad:-0}

soak-live: airfaird kernel-tools ## The same for SOAK=3600 seconds, all at a time: memory, descriptors, programs and maps
	@mkdir -p out/soak-live; for of in lbm lbm-by-flow airtime; do \
	  $(PYTHON) benches/live.py $(SHIPPED) --scheme $$of --soak $(or $(SOAK),3600) >out/soak-live/$$of.txt & done; wait; \
	  tail -n 2 out/soak-live/*.txt; ! grep -L '^flat$$' out/soak-live/*.txt | grep .

fuzz-live: ## 10^6 forged, replayed, truncated and damaged messages and netlink replies to the daemon's readers
	cargo test --quiet --release --locked -p airfair-live -- --ignored

instructions: $(BUILT) valgrind ## Do frames and wired packets cost the instructions that benches/instructions.toml says?
	@$(BIN)/python benches/speed.py --check

# Counts instructions; where it cannot be installed they are not compared.
valgrind:
	@command -v valgrind >/dev/null || { [ "$$(id -u)" = 0 ] && apt-get update -q && \
	  DEBIAN_FRONTEND=noninteractive apt-get install -yq --no-install-recommends valgrind; } || \
	  echo "no valgrind, so instructions are not compared: apt-get install valgrind" >&2

bench-peers: $(BUILT) ## Six races against ns-2, side by side (installs ns-2 and ns-3 on Debian, as root); BENCH=--all for ns-3 too
	@command -v ns >/dev/null && dpkg -s libns3-dev >/dev/null 2>&1 || { \
	  [ "$$(id -u)" = 0 ] || { echo "needs ns-2 and ns-3: apt-get install ns2 libns3-dev" >&2; exit 1; }; \
	  apt-get update -q && apt-get install -yq --no-install-recommends ns2 libns3-dev; }
	$(MAKE) -C peers/ns3
	$(BIN)/python -m peers.bench $(BENCH)

fuzz: ## Coverage-guided fuzzing for a minute a target, where nightly Rust and cargo-fuzz are installed
	@if [ ! -d fuzz ]; then echo "there are no fuzz targets"; \
	elif ! cargo +nightly fuzz --version >/dev/null 2>&1; then \
	  echo "needs nightly Rust and cargo-fuzz: rustup toolchain install nightly && cargo install cargo-fuzz"; \
	else for target in $$(cargo +nightly fuzz list); do \
	  cargo +nightly fuzz run $$target -- -max_total_time=60 || exit 1; done; fi

mutants: ## Delete and change each rule of TCP and of the laws and queues: does a test notice? Hours; SHARD=1/8 for a part
	@cargo mutants --version >/dev/null 2>&1 || { echo "needs cargo-mutants: cargo install cargo-mutants"; exit 1; }
	cargo mutants --package airfair-transport --package airfair-schemes --package airfair-routing --exclude '**/fuzz.rs' --exclude 'crates/schemes/places/**' \
	  --jobs 1 --timeout 60 --output target/mutants $(if $(SHARD),--shard $(SHARD))

# The daemon for packages: static, with paths of nobody's machine. Without clang it would lack its program for the kernel.
STATIC := x86_64 aarch64
LARGEST := 5000000

airfaird: ## Build the daemon as static binaries of at most 5 MB, out/airfaird/PROCESSOR/airfaird
	@command -v $${CLANG:-clang} >/dev/null || { echo "needs clang: apt-get install clang" >&2; exit 1; }
	@for of in $(STATIC); do rustup target list --installed | grep -qx $$of-unknown-linux-musl || \
	  rustup target add $$of-unknown-linux-musl || exit 1; done
	CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER=rust-lld \
	RUSTFLAGS="--remap-path-prefix=$${CARGO_HOME:-$$HOME/.cargo}=cargo --remap-path-prefix=$(CURDIR)=airfair" \
	  cargo build --quiet --locked --profile small -p airfair-live $(STATIC:%=--target %-unknown-linux-musl)
	@for of in $(STATIC); do \
	  install -D "$${CARGO_TARGET_DIR:-target}/$$of-unknown-linux-musl/small/airfaird" out/airfaird/$$of/airfaird; \
	  size=$$(wc -c <out/airfaird/$$of/airfaird); echo "out/airfaird/$$of/airfaird: $$size bytes"; \
	  [ $$size -le $(LARGEST) ] || { echo "more than $(LARGEST)" >&2; exit 1; }; done

deb: airfaird ## Debian packages of the daemon in out/deb, see packaging/README.md
	@for of in $(STATIC); do packaging/deb/build out/airfaird/$$of/airfaird out/deb || exit 1; done

clean: ## Remove what was built
	cargo clean
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache python/airfair/*.so
