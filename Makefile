# The front door: every target installs what it misses (scripts/setup) and drives CMake's presets.
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60

SHELL := bash
.DEFAULT_GOAL := all
.PHONY: all setup-test test test-all python-test wheel demo bench study reproduce san valgrind fuzz install deb clean help
.NOTPARALLEL:

# $(call build,preset,folder): configure once; Ninja itself repeats that when a CMake file changes.
define build
@test -f $(2)/build.ninja || cmake --preset $(1)
@cmake --build --preset $(1)
endef
# $(call build_some,targets): of the release, and without a word where there is nothing to do.
define build_some
@test -f build/build.ninja || cmake --preset release
@cmake --build --preset release --target $(1) | grep --line-buffered -vE '^ninja: no work|Re-checking globbed'; exit $${PIPESTATUS[0]}
endef

all: ## build/covtune, build/libcovtune.a, build/libcovtune.so
	@scripts/setup
	$(call build,release,build)

# Before the build: tests of several processes need an MPI, which the build looks for.
setup-test:
	@scripts/setup
	@scripts/setup test

test: setup-test all ## build, run the tests (ctest label `long` excluded)
	@ctest --test-dir build --output-on-failure -j2 -LE '^long$$'

test-all: setup-test all ## build, run all tests, the long forms included
	@ctest --test-dir build --output-on-failure -j2

python-test: setup-test all ## build the Python package into build/python, run its tests
	@ctest --test-dir build --output-on-failure -R '^test_python'

wheel: all ## build/wheels/covtune-*.whl: the Python package with its library
	@COVTUNE_BUILD=$(CURDIR)/build python3 -c 'import os, sys; sys.path.insert(0, "python"); import build_backend; os.makedirs("build/wheels", exist_ok=True); print("build/wheels/" + build_backend.build_wheel("build/wheels"))'

demo: ## build the program, then learn noise models from five runs, show what they do for twenty others
	@scripts/setup
	$(call build_some,covtune)
	@scripts/demo

bench: ## measure against Ceres on the same graphs
	@scripts/setup bench
	$(call build,bench,build-bench)
	@cmake --build --preset bench --target bench

study: all ## learn from simulated sequences, evaluate on held-out ones: tables and claims
	@build/covtune-study
	@build/covtune-tune-study --starts 10 --methods dfgn,lm,bobyqa

reproduce: ## repeat the paper's studies in full, into build/reproduce: tables, pictures, pages
	@scripts/setup
	$(call build_some,covtune)
	@for study in nav2d runtime init samples push2d; do build/covtune reproduce $$study --out build/reproduce --force || exit; done

san: ## build with the address and undefined-behaviour sanitizers, run all tests
	@scripts/setup
	$(call build,san,build-san)
	@ASAN_OPTIONS=allocator_may_return_null=1 ctest --test-dir build-san --output-on-failure -j2

valgrind: ## run all test programs under valgrind
	@scripts/setup valgrind
	$(call build,debug,build-debug)
	@scripts/valgrind build-debug

fuzz: ## fuzz every reader for FUZZ_SECONDS (60) each
	@scripts/setup fuzz
	$(call build,fuzz,build-fuzz)
	@scripts/fuzz build-fuzz $(FUZZ_SECONDS)

install: ## install under PREFIX (/usr/local), staged in DESTDIR if that is set
	@scripts/setup
	$(call build_some,covtune covtune_static covtune_shared covtune_manual)
	@cmake --install build --prefix "$(PREFIX)"

deb: ## a Debian package, into build/package: program, library, headers, documents, man pages, completion
	@scripts/setup deb
	$(call build_some,covtune covtune_static covtune_shared covtune_manual)
	@scripts/package build build/package

clean: ## remove everything that was built
	rm -rf build build-bench build-debug build-fuzz build-san

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/\1\t\2/p' Makefile | expand -t 12
