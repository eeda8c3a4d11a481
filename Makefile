# SPDX-License-Identifier: GPL-2.0
# Everything that is made lands in build/. 'make help' lists the targets.

VERSION := 0.1.0
PREFIX ?= /usr/local
DESTDIR ?=

CC ?= cc
CLANG ?= clang
LLVM_STRIP ?= llvm-strip
CLANG_FORMAT ?= clang-format
SHELLCHECK ?= shellcheck
MANDOC ?= mandoc
PKG_CONFIG ?= pkg-config

# Looked up only when a recipe needs them, since 'make demo' installs them first.
BPFTOOL = $(or $(shell PATH="$$PATH:/usr/sbin:/sbin" command -v bpftool),bpftool)
LIBS = $(shell $(PKG_CONFIG) --libs libbpf jansson libmnl)
LIBS_CFLAGS = $(shell $(PKG_CONFIG) --cflags libbpf jansson libmnl)
BPF_SYSTEM_INCLUDES = -idirafter /usr/include/$(shell $(CC) -dumpmachine)

WARNINGS := -Wall -Wextra $(if $(WERROR),-Werror)
CPPFLAGS += -D_GNU_SOURCE -DRINGFENCE_VERSION='"$(VERSION)"' -Iinclude -Iuser -I. -MMD -MP
CFLAGS ?= -O2 -g
ALL_CFLAGS = -std=gnu11 $(WARNINGS) $(CFLAGS)
BPF_CFLAGS = -target bpf -mcpu=v3 -O2 -g $(WARNINGS) -Iinclude -Ibpf $(BPF_SYSTEM_INCLUDES) -MMD -MP
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer

# 'make V=1' shows the commands.
say = $(if $(V),,@printf '  %-7s %s\n' $(1) $(2))
Q := $(if $(V),,@)

BPF_OBJECTS := build/ringfence.bpf.o build/clock.bpf.o
USER_OBJECTS := $(patsubst user/%.c,build/user/%.o,$(wildcard user/*.c))
PURE := user/error.c user/prefix.c $(wildcard user/grammar*.c user/ruleset*.c) user/rules.c
LIBRARY := $(filter-out build/user/main.o,$(USER_OBJECTS))
UNIT_TESTS := $(patsubst tests/unit/%.c,build/tests/unit/%,$(wildcard tests/unit/test_*.c))
PROG_TESTS := $(patsubst tests/prog/%.c,build/tests/prog/%,$(wildcard tests/prog/test_*.c))
E2E_TESTS := $(wildcard tests/e2e/test_*.sh)
EXPLORER := tests/explorer/test_explorer.sh
TOOLS := build/tests/traffic
TRAFFIC_SKELETONS := build/tests/flood.skel.h build/tests/tally.skel.h
BENCH_TOOLS := build/tests/bench build/tests/live build/tests/sketch.bpf.o
BENCH := $(patsubst tests/%.c,build/%.o,$(filter-out %.bpf.c %/live.c,$(wildcard tests/bench/*.c)))
BENCH_SKELETONS := build/tests/floor.skel.h build/tests/sketch.skel.h build/tests/walk.skel.h
FUZZERS := packet grammar limiter
FUZZ_SECONDS ?= 20
SOURCES := $(wildcard bpf/*.[ch] user/*.[ch] include/ringfence/*.h tests/*.h tests/*/*.[ch])
MANUALS := $(wildcard docs/*.[1-8])
SCRIPTS := $(wildcard tests/*.sh tests/*/*.sh) .ci/run

.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDARY: # keeps what is made on the way, skeletons for one
.PHONY: all demo check check-user fuzz bench bench-program bench-live lint deps deps-lint \
	deps-fuzz deps-bench install uninstall clean help

all: build/ringfence build/ringfence.bpf.o ## build the command line and the program

build/ringfence: $(USER_OBJECTS)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) $^ -o $@ $(LIBS)

build/user/%.o: user/%.c | $(BPF_OBJECTS:.bpf.o=.skel.h)
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(LIBS_CFLAGS) -c $< -o $@

build/%.bpf.o: bpf/%.bpf.c
	@mkdir -p $(@D)
	$(call say,BPF,$<)
	$(Q)$(CLANG) $(BPF_CFLAGS) -c $< -o $@
	$(Q)$(LLVM_STRIP) -g $@

build/%.skel.h: build/%.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name $(notdir $*)_bpf > $@.new
	@mv $@.new $@

# ---- tests ----

demo: ## install what is missing, then show the main job on two namespaces (root)
	$(MAKE) deps
	$(MAKE) all $(TOOLS)
	tests/demo/demo.sh

check: ## install what is missing, build, run every test (root)
	@[ "$$(id -u)" = 0 ] || { echo "make check: it loads programs and needs root; run" \
		"'sudo make check', or 'make check-user' for the tests that do not" >&2; exit 1; }
	$(MAKE) deps
	$(MAKE) all $(TOOLS) $(BENCH_TOOLS) $(UNIT_TESTS) $(PROG_TESTS)
	tests/run.sh $(UNIT_TESTS) $(EXPLORER) $(PROG_TESTS) $(E2E_TESTS)

check-user: $(UNIT_TESTS) ## run the tests that need no privilege
	tests/run.sh $(UNIT_TESTS) $(EXPLORER)

build/asan/%.o: %.c
	@mkdir -p $(@D)
	$(call say,ASAN,$<)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(SANITIZE) -c $< -o $@

build/tests/unit/%: build/asan/tests/unit/%.o $(PURE:%.c=build/asan/%.o)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(SANITIZE) $(filter %.o,$^) -o $@ -lcmocka

# For an injected clock.
WRAPPED := -Wl,--wrap=rf_fence_jiffies,--wrap=rf_fence_time

build/tests/prog/%: tests/prog/%.c $(LIBRARY)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(filter %.c %.o,$^) -o $@ $(WRAPPED) $(LIBS) -lcmocka -lpthread

build/fuzz/%.o: %.c
	@mkdir -p $(@D)
	$(call say,FUZZ,$<)
	$(Q)$(CLANG) $(CPPFLAGS) $(ALL_CFLAGS) $(SANITIZE) -fsanitize=fuzzer-no-link -c $< -o $@

build/fuzz/fuzz_%: build/fuzz/tests/fuzz/fuzz_%.o $(PURE:%.c=build/fuzz/%.o)
	$(call say,LINK,$@)
	$(Q)$(CLANG) $(ALL_CFLAGS) $(SANITIZE) -fsanitize=fuzzer $(filter %.o,$^) -o $@

build/fuzz/seeds: build/fuzz/tests/fuzz/seeds.o
	$(Q)$(CLANG) $(ALL_CFLAGS) $(SANITIZE) $< -o $@

fuzz: $(FUZZERS:%=build/fuzz/fuzz_%) ## run the fuzzers, FUZZ_SECONDS each (20)
	tests/fuzz/run.sh $(FUZZ_SECONDS) $(FUZZERS)

build/tests/traffic: $(filter-out %.bpf.c,$(wildcard tests/traffic/*.c)) $(TRAFFIC_SKELETONS)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(filter %.c,$^) -o $@ $(LIBS) -lpthread

$(TRAFFIC_SKELETONS:.skel.h=.bpf.o): build/tests/%.bpf.o: tests/traffic/%.bpf.c
	@mkdir -p $(@D)
	$(call say,BPF,$<)
	$(Q)$(CLANG) $(BPF_CFLAGS) -c $< -o $@

build/bench/%.o: tests/bench/%.c | build/ringfence.skel.h $(BENCH_SKELETONS)
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -c $< -o $@

build/tests/bench: $(BENCH) $(LIBRARY)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) $(filter %.o,$^) -o $@ $(LIBS) -lpthread

build/tests/%.bpf.o: tests/bench/%.bpf.c
	@mkdir -p $(@D)
	$(call say,BPF,$<)
	$(Q)$(CLANG) $(BPF_CFLAGS) -c $< -o $@

BENCH_LIVE := all $(BENCH_TOOLS) build/tests/floor.bpf.o build/tests/live.bpf.o
BENCH_PROGRAM = build/tests/bench $(if $(QUICK),--quick)
PLOT = $(if $(shell command -v gnuplot),--plot build/bench/live.svg)

build/tests/live: tests/bench/live.c build/tests/live.skel.h
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) tests/bench/live.c -o $@ $(LIBS)

# Both, also when the first is over its budget.
bench: build/tests/bench $(BENCH_LIVE) ## measure what a packet costs, alone and beside others; QUICK=1: in a minute (root)
	@status=0; $(BENCH_PROGRAM) || status=1; echo; tests/bench/live.sh $(PLOT) || status=1; exit $$status

bench-program: build/tests/bench ## the half of that which runs the program by itself, against its budget (root)
	@$(BENCH_PROGRAM)

bench-live: $(BENCH_LIVE) ## the half of that which floods veth pairs, beside nftables and others (root)
	@tests/bench/live.sh $(PLOT)

lint: ## formatting, shell scripts, include floors, length of functions, manuals
	@$(CLANG_FORMAT) --dry-run -Werror $(SOURCES)
	@$(SHELLCHECK) -x -e SC2317 $(SCRIPTS) # cleanup functions are reached from traps
	@tests/lint.sh $(SOURCES)
	@$(MANDOC) -Tlint $(MANUALS)
	@echo "lint: $(words $(SOURCES)) sources, $(words $(SCRIPTS)) scripts: nothing to complain about"

# ---- system ----

deps: ## install what building and testing need, by the system's package manager
	@tests/deps.sh build

deps-lint: ## install what 'make lint' needs
	@tests/deps.sh lint

deps-bench: ## install what 'make bench' compares with
	@tests/deps.sh bench

deps-fuzz: ## install what 'make fuzz' needs
	@tests/deps.sh fuzz

install: all ## install under DESTDIR/PREFIX
	install -D -m 755 build/ringfence $(DESTDIR)$(PREFIX)/sbin/ringfence
	install -D -m 644 build/ringfence.bpf.o $(DESTDIR)$(PREFIX)/lib/bpf/ringfence.bpf.o
	install -D -m 644 docs/ringfence-rules.5 $(DESTDIR)$(PREFIX)/share/man/man5/ringfence-rules.5

uninstall: ## remove what 'install' put there
	rm -f $(DESTDIR)$(PREFIX)/sbin/ringfence $(DESTDIR)$(PREFIX)/lib/bpf/ringfence.bpf.o
	rm -f $(DESTDIR)$(PREFIX)/share/man/man5/ringfence-rules.5

clean: ## remove build/
	rm -rf build

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' Makefile | expand -t 16

-include $(shell find build -name '*.d' 2>/dev/null)
