# SPDX-License-Identifier: GPL-2.0
# All output goes to build/. 'make help' lists the targets.

VERSION := 0.1.0
PREFIX ?= /usr/local
DESTDIR ?=

CC ?= cc
# Compiles programs that run during the build, even if CC is a cross compiler.
HOSTCC ?= cc
NM ?= nm
CLANG ?= clang
BPF_TARGET ?= bpf
LLVM_STRIP ?= llvm-strip
CLANG_FORMAT ?= clang-format
SHELLCHECK ?= shellcheck
MANDOC ?= mandoc
PKG_CONFIG ?= pkg-config

# These are looked up only when a recipe needs them, since 'make demo' installs the tools first.
BPFTOOL = $(or $(shell PATH="$$PATH:/usr/sbin:/sbin" command -v bpftool),bpftool)
LIBS = $(shell $(PKG_CONFIG) --libs libxdp libbpf jansson libmnl nettle sqlite3 ncursesw) -lpthread
# Libraries that the daemon does not need.
SCREEN_LIBS = $(shell $(PKG_CONFIG) --libs ncursesw)
DAEMON_LIBS = $(shell $(PKG_CONFIG) --libs libmicrohttpd libseccomp zlib)
# Libraries that only the agent of a fleet needs, and libraries that it does not need.
AGENT_LIBS = $(shell $(PKG_CONFIG) --libs hiredis)
NOT_AGENT_LIBS = $(SCREEN_LIBS) $(shell $(PKG_CONFIG) --libs nettle sqlite3)
LIBS_CFLAGS = $(shell $(PKG_CONFIG) --cflags libxdp libbpf jansson libmnl nettle sqlite3 ncursesw)
BPF_SYSTEM_INCLUDES = -idirafter /usr/include/$(shell $(CC) -dumpmachine)

WARNINGS := -Wall -Wextra $(if $(WERROR),-Werror)
CPPFLAGS += -D_GNU_SOURCE -DRINGFENCE_VERSION='"$(VERSION)"' -Iinclude -Iuser -I. -MMD -MP
CFLAGS ?= -O2 -g
ALL_CFLAGS = -std=gnu11 $(WARNINGS) $(CFLAGS)
BPF_CFLAGS = -target $(BPF_TARGET) -mcpu=v3 -O2 -g -ffile-prefix-map=$(CURDIR)=. $(WARNINGS) -Iinclude -Ibpf $(BPF_SYSTEM_INCLUDES) -MMD -MP
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer

# 'make V=1' shows the commands.
say = $(if $(V),,@printf '  %-7s %s\n' $(1) $(2))
Q := $(if $(V),,@)

BPF_OBJECTS := build/ringfence.bpf.o build/ringfence_fleet.bpf.o build/fleet_calls.bpf.o build/clock.bpf.o build/show.bpf.o
GENERATED := $(BPF_OBJECTS:.bpf.o=.skel.h) build/completion_scripts.h build/page_assets.h build/fleet_functions.h build/paths.h
# Tools of the build, not part of the programs.
PRINTERS := user/schema/print.c user/cli/print_keys.c
USER_OBJECTS := $(patsubst user/%.c,build/user/%.o,$(filter-out $(PRINTERS),$(wildcard user/*/*.c)))
# A static library for each floor, without the programs' main(). The order is the linker's: each
# library precedes the libraries that it calls, see tests/lint/floors.
FLOORS := agent daemon cli screen watch snapshot doctor attach fence fleet kernel rules schema base
COMMAND_LIBRARIES := $(patsubst %,build/lib/%.a,$(filter-out agent daemon,$(FLOORS)))
DAEMON_LIBRARIES := $(patsubst %,build/lib/%.a,$(filter-out agent cli screen doctor attach,$(FLOORS)))
AGENT_LIBRARIES := $(patsubst %,build/lib/%.a,$(filter-out daemon cli screen watch snapshot doctor attach,$(FLOORS)))
UNIT_TESTS := $(patsubst tests/unit/%.c,build/tests/unit/%,$(wildcard tests/unit/test_*.c))
PROG_TESTS := $(patsubst tests/prog/%.c,build/tests/prog/%,$(wildcard tests/prog/test_*.c))
E2E_TESTS := $(wildcard tests/e2e/test_*.sh)
DOCS_TESTS := $(wildcard tests/docs/test_*.sh) $(addprefix tests/packaging/test_,install.sh install_here.sh names.sh upgrade.sh)
# The tests that 'make check-fast' runs in addition to the unit tests.
FAST_TESTS := tests/e2e/test_frames.sh $(addprefix build/tests/prog/test_,budget cases fence layout lists)
PACKAGE_TESTS := $(addprefix tests/packaging/test_,deb.sh recipes.sh)
# A C model of the functions that a fleet server runs, and of its side of the wire protocol.
MODEL := $(patsubst %,tests/fleet/model/%.c,ledger sums wire)
# Tests of these functions.
ENGINE_TESTS := $(wildcard tests/engine/test_*.sh)
ENGINE_TOOLS := $(addprefix build/tests/engine/,bench call compare)
ECOSYSTEM_TESTS := $(wildcard tests/ecosystem/test_*.sh)
EXPLORER := tests/explorer/test_explorer.sh $(addprefix tests/fleet/test_,ledger.sh claims.sh sums.sh many.sh)
# The tests that start first, the longest ones before the others, because a long test that starts
# last would run on one CPU while the other one is idle.
LONG_TESTS := tests/e2e/test_kills.sh $(EXPLORER) build/tests/prog/test_history_sums \
	$(patsubst %,tests/e2e/test_%.sh,faults fills top_terminals top_samples help attach_cli live repair) build/tests/prog/test_residents \
	$(patsubst %,tests/e2e/test_%.sh,events fleet_tls_cluster daemon fleet_bans) $(addprefix build/tests/unit/test_,limiter_random lease_even) \
	$(patsubst %,tests/e2e/test_%.sh,fleet_ban apply fleet_hostile doctor)
TOOLS := build/tests/traffic build/tests/recorder build/tests/agent_says build/tests/bypass build/tests/flap.so build/tests/tcp/flow build/tests/tcp/newcomers
# Builds of the command line whose program loads faster; see tests/e2e/variant.sh.
VARIANTS := $(patsubst %,build/variants/%/build/ringfence,quick newer alien drifted early)
TRAFFIC_SKELETONS := $(patsubst tests/traffic/%.bpf.c,build/tests/%.skel.h,$(wildcard tests/traffic/*.bpf.c))
BENCH_TOOLS := build/tests/bench build/tests/live build/tests/sketch.bpf.o
BENCH := $(patsubst tests/%.c,build/%.o,$(filter-out %.bpf.c %/live.c %/screen.c %/scans.c %/asks.c %/share_cost.c %/sampled.c,$(wildcard tests/bench/*.c)))
BENCH_SKELETONS := build/tests/crowd.skel.h build/tests/floor.skel.h build/tests/sketch.skel.h build/tests/walk.skel.h
FUZZERS := packet dns grammar limiter cells query wire rules prefixes settings events engine node request feed
FUZZ_SECONDS ?= 60
SOURCES := $(wildcard bpf/*.[ch] user/*/*.[ch] include/ringfence/*.h tests/*.[ch] tests/*/*.[ch] tests/fleet/model/*.[ch])
MANUALS := $(wildcard docs/*.[1-8])
GUIDES := $(wildcard docs/guides/*.md)
SCRIPTS := $(wildcard tests/*.sh tests/*/*.sh packaging/debian/ringfence*.p*) packaging/upgrade-fences user/completion/ringfence.bash .ci/run

# Runs as many recipes in parallel as there are CPUs, unless the caller passes -j.
SIDE_BY_SIDE = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDARY: # preserves intermediate files, such as skeletons
.PHONY: all tools demo demo-watch demo-fleet screenshots check check-fast check-user check-kernels check-packages check-ecosystem check-systemd bound-fleet faults-fleet explore-fleet soak dist rpm arch fuzz bench bench-program bench-live bench-seen bench-screen bench-watch bench-tcp bench-challenge bench-fleet bench-keep \
	lint deb deps deps-test deps-lint deps-fuzz deps-bench deps-packages deps-arm64 deps-ecosystem deps-vm install uninstall clean help \
	FORCE

all: build/ringfence build/ringfence-watch build/ringfence-fleet build/ringfence.bpf.o build/tables.checked $(MANUALS:%=build/%) ## build the command line, the daemon and the program

build/ringfence: build/user/cli/main.o $(COMMAND_LIBRARIES)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) $^ -o $@ $(LIBS)

build/ringfence-watch: build/user/daemon/main.o $(DAEMON_LIBRARIES)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) $^ -o $@ $(filter-out $(SCREEN_LIBS),$(LIBS)) $(DAEMON_LIBS)

build/ringfence-fleet: build/user/agent/main.o $(AGENT_LIBRARIES)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) $^ -o $@ $(filter-out $(NOT_AGENT_LIBS),$(LIBS)) $(AGENT_LIBS)

build/tables.checked: tests/lint/holes.awk $(wildcard include/ringfence/*.h user/*/*.h) $(wildcard user/*/*.c)
	$(call say,CHECK,tables)
	$(Q)awk -f $^
	$(Q)touch $@

build/user/%.o: user/%.c | $(GENERATED)
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(LIBS_CFLAGS) -c $< -o $@

# The members of all libraries. A library is built again when this list changes, to drop members
# whose source was removed.
build/lib/members: FORCE
	@mkdir -p $(@D)
	@echo '$(sort $(USER_OBJECTS))' > $@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

define floor_library
build/lib/$(1).a: $(filter-out %/main.o,$(filter build/user/$(1)/%,$(USER_OBJECTS))) build/lib/members
	$$(call say,AR,$$@)
	$$(Q)rm -f $$@ && $$(AR) rcs $$@ $$(filter %.o,$$^)
endef
$(foreach floor,$(FLOORS),$(eval $(call floor_library,$(floor))))
$(foreach floor,$(filter-out $(FLOORS),$(foreach source,$(wildcard user/*/*.c),$(word 2,$(subst /, ,$(source))))),$(error user/$(floor)/ has sources, but no library: it has no place in FLOORS))

build/%.bpf.o: bpf/%.bpf.c
	@mkdir -p $(@D)
	$(call say,BPF,$<)
	$(Q)$(CLANG) $(BPF_CFLAGS) -c $< -o $@
	$(Q)$(LLVM_STRIP) -g $@

build/%.skel.h: build/%.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name $(notdir $*)_bpf > $@.new
	@mv $@.new $@

# Files that are generated from the tables of user/schema/: rows of the manuals, labels of the page,
# lists for the tests.
SCHEMA := $(addprefix build/schema/,events fleet_settings map_errors ringfence-event.schema.json page.js reasons watch_settings $(addprefix metrics_,packets limits state fleet daemon))
KEYS := $(addprefix build/schema/,$(shell sed -n 's/^\.\\" rows of \(keys_.*\)/\1/p' docs/ringfence-json.5))

build/schema/print: $(filter-out user/schema/record.c,$(wildcard user/schema/*.c)) $(wildcard user/schema/*.h user/schema/*.def user/base/*.h include/ringfence/*.h)
	@mkdir -p $(@D)
	$(Q)$(HOSTCC) $(filter-out -M%,$(CPPFLAGS)) -std=gnu11 $(WARNINGS) $(filter %.c,$^) -o $@

$(SCHEMA): build/schema/%: build/schema/print
	$(Q)$< $* > $@.new
	@mv $@.new $@

# The tables of keys in the manual of JSON. Functions that compute values are not linked, because
# only rows are read.
RECORDS := $(patsubst user/%.c,build/schema/records/%.o,user/cli/print_keys.c user/schema/record.c $(shell grep -l 'struct rf_field .*\[\]\|RF_RECORD' user/*/*.c))

build/schema/records/%.o: user/%.c | $(GENERATED)
	@mkdir -p $(@D)
	$(Q)$(HOSTCC) $(CPPFLAGS) -std=gnu11 $(WARNINGS) $(LIBS_CFLAGS) -fno-pie -c $< -o $@

build/schema/print_keys: $(RECORDS)
	$(call say,HOSTCC,$@)
	$(Q)$(HOSTCC) -no-pie -Wl,--unresolved-symbols=ignore-all $^ -o $@

$(KEYS): build/schema/keys_%: build/schema/print_keys
	$(Q)$< $* > $@.new
	@mv $@.new $@

# Messages contain paths of the installation. Files that use them are compiled again when PREFIX has
# changed, and only then.
build/paths.h: FORCE
	@mkdir -p $(@D)
	@echo '#define RF_SHARE_DIRECTORY "$(PREFIX)/share/ringfence"' > $@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

# The completion scripts of the shells, as C strings.
COMPLETIONS := $(wildcard user/completion/ringfence.*)

build/completion_scripts.h: $(COMPLETIONS)
	@mkdir -p $(@D)
	@for file in $^; do \
		echo "static const char rf_completion_$${file##*.}[] ="; \
		sed 's/[\\"]/\\&/g; s/.*/\t"&\\n"/' $$file; \
		echo ';'; \
	done > $@.new
	@mv $@.new $@

# The functions of a fleet server, as one file. Only the first part has a header line; the first
# lines of the other parts become blank.
FLEET_LIBRARY := $(patsubst %,user/fleet/library/%.lua,begin ledger members claims sums calls bans end)

build/ringfence.lua: $(FLEET_LIBRARY)
	@mkdir -p $(@D)
	@sed -s '1 { /^#!lua /! s/.*// }' $^ > $@.new
	@mv $@.new $@

# The same as a C string.
build/fleet_functions.h: build/ringfence.lua
	@{ echo 'static const char rf_fleet_functions[] ='; \
		sed 's/[\\"]/\\&/g; s/.*/\t"&\\n"/' $<; echo ';'; } > $@.new
	@mv $@.new $@

# The page of the daemon: its files, compressed, as C arrays. Plots are drawn by dygraphs, either
# the distribution's or the one fetched by 'make deps'; without it the page reports that plots are
# missing.
PAGE := user/daemon/www
PAGE_SCRIPTS := $(PAGE)/begin.js build/schema/page.js $(patsubst %,$(PAGE)/%.js,text view data header plots table source main end)
DYGRAPHS ?= $(firstword $(wildcard /usr/share/javascript/dygraphs/dygraph.min.js \
	/usr/share/nodejs/dygraphs/dist/dygraph.min.js build/dygraphs/dygraph.min.js))
as_array = { echo "static const unsigned char $(1)[] = {"; gzip -9n | od -An -v -tx1 | sed 's/ \(..\)/0x\1,/g'; echo '};'; }

build/page_assets.h: $(wildcard $(PAGE)/*) build/schema/page.js $(DYGRAPHS)
	@mkdir -p $(@D)
	@{ $(call as_array,page_html) < $(PAGE)/page.html; \
	$(call as_array,page_css) < $(PAGE)/page.css; \
	cat $(PAGE_SCRIPTS) | $(call as_array,page_js); \
	{ $(if $(DYGRAPHS),sed '/^\/\/# sourceMappingURL/d' $(DYGRAPHS),true); } | $(call as_array,plots_js); \
	$(call as_array,icon_svg) < $(PAGE)/icon.svg; } > $@.new
	@mv $@.new $@

# ---- tests ----

-include tests/build.mk

tools: all $(TOOLS) $(VARIANTS) ## build what the end-to-end tests need

demo: ## install what it needs, build, and show the main use on two namespaces (root)
	$(MAKE) deps
	@tests/deps.sh demo
	$(MAKE) $(SIDE_BY_SIDE) all build/tests/traffic
	tests/demo/demo.sh

check: ## install what the tests need, build, run every test (root)
	@[ "$$(id -u)" = 0 ] || { echo "make check: it loads programs and needs root; run" \
		"'sudo make check', or 'make check-user' for the tests that do not" >&2; exit 1; }
	$(MAKE) deps-test
	$(MAKE) $(SIDE_BY_SIDE) tools $(BENCH_TOOLS) $(ENGINE_TOOLS) $(UNIT_TESTS) $(PROG_TESTS)
	tests/run.sh $(LONG_TESTS) $(filter-out $(LONG_TESTS),$(ENGINE_TESTS) $(E2E_TESTS) $(PROG_TESTS) $(UNIT_TESTS) $(DOCS_TESTS))

check-fast: ## run the quick tests, in a minute: no explorer, kills, faults or floods, and few of the others (root)
	@[ "$$(id -u)" = 0 ] || { echo "make check-fast: it loads programs and needs root; run" \
		"'sudo make check-fast', or 'make check-user' for the tests that do not" >&2; exit 1; }
	$(MAKE) $(SIDE_BY_SIDE) all $(TOOLS) $(UNIT_TESTS) $(FAST_TESTS)
	tests/run.sh $(FAST_TESTS) $(UNIT_TESTS)

check-packages: ## test the Debian package in a new chroot, and the recipes for rpm and Arch Linux (root)
	@[ "$$(id -u)" = 0 ] || { echo "make check-packages: it makes a chroot and loads programs;" \
		"run 'sudo make check-packages'" >&2; exit 1; }
	$(MAKE) deps-test deps-packages
	$(MAKE) tools deb
	tests/run.sh $(PACKAGE_TESTS)

check-ecosystem: ## run the tests beside real fail2ban, CrowdSec, nftables and Prometheus (root)
	$(MAKE) deps-test deps-ecosystem
	$(MAKE) $(SIDE_BY_SIDE) tools
	tests/run.sh $(ECOSYSTEM_TESTS)

check-user: $(UNIT_TESTS) ## run the tests that need no privilege
	tests/run.sh $(UNIT_TESTS) $(EXPLORER)

bound-fleet: tools ## show the bound of a fleet of 2, 3 and 8 hosts, under floods; two minutes (root)
	@for hosts in 2 3 8; do HOSTS=$$hosts LASTS=20 tests/e2e/test_fleet_bound.sh || exit; done

faults-fleet: ## show what a fleet does in trouble, some thirty faults; ten minutes (root)
	$(MAKE) deps-test deps-bench
	$(MAKE) $(SIDE_BY_SIDE) tools
	@FAULTS=all tests/e2e/test_fleet_faults.sh

explore-fleet: ## search the rules of the fleet's ledger, an hour and 4.5 GB, and walk STEPS in each row
	ROWS=all STEPS=$(or $(STEPS),300000000) tests/fleet/test_ledger.sh
	STEPS=$(or $(CLAIM_STEPS),10000000) tests/fleet/test_claims.sh

check-kernels: ## run tests in other kernels under QEMU; KERNELS="6.1 6.12" and SUITES=fence choose some (root)
	$(MAKE) deps-test deps-vm
	tests/vm/check.sh $(KERNELS)

check-systemd: ## run the units under a real systemd, in a guest under QEMU; some minutes (root)
	$(MAKE) deps-test deps-vm deps-packages
	$(MAKE) $(SIDE_BY_SIDE) all deb
	tests/run.sh tests/vm/systemd.sh

demo-watch: ## watch a day of traffic in a minute: the page in a browser, top on this terminal; CI=1 draws them (root)
	$(MAKE) deps-test
	$(MAKE) $(SIDE_BY_SIDE) all tools
	tests/demo/watch.sh build/demo-watch

demo-fleet: ## hold one limit over three hosts, without their engine as well, on namespaces (root)
	$(MAKE) deps
	@tests/deps.sh demo demo-fleet
	$(MAKE) $(SIDE_BY_SIDE) all build/tests/traffic build/tests/agent_says
	tests/demo/fleet.sh

screenshots: tools ## draw the pictures of the page in docs/pictures/, with Chromium (root)
	@mkdir -p docs/pictures
	tests/ecosystem/page_pictures.sh docs/pictures

soak: tools build/tests/prog/test_residents ## run floods beside known sources for ten minutes (root)
	tests/soak.sh

fuzz: $(FUZZERS:%=build/fuzz/fuzz_%) build/fuzz/grammar.dict ## run the fuzzers, FUZZ_SECONDS all together (60)
	tests/fuzz/run.sh $(FUZZ_SECONDS) $(FUZZERS)

bench-watch: all build/tests/scans ## measure what a scan, a scrape and the daemon take (root)
	@tests/bench/watch.sh

bench-tcp: all build/tests/tcp/flow build/tests/tcp/delay ## measure what TCP reaches under a limit in bytes; about 80 minutes (root)
	@tests/bench/tcp.sh

bench-challenge: all $(addprefix build/tests/,traffic tcp/newcomers floor.bpf.o) ## measure what challenges cost, and what new clients get in a flood, compared with SYN cookies; 25 minutes (root)
	@tests/bench/challenge.sh --keep build/bench/challenge.json

bench-fleet: all build/tests/engine/bench build/tests/asks build/tests/share_cost build/tests/agent_says build/tests/traffic ## measure what a fleet costs its engine, its agents, and who asks (root)
	@tests/engine/bench.sh
	@tests/bench/fleet.sh

bench-screen: build/tests/screen ## measure what a screen of 'top' costs, and what it writes
	@build/tests/screen

BENCH_LIVE := all $(BENCH_TOOLS) build/tests/floor.bpf.o build/tests/live.bpf.o
BENCH_PROGRAM = build/tests/bench $(if $(QUICK),--quick) --keep build/bench/program.json
PLOT = $(if $(shell command -v gnuplot),--plot build/bench/live.svg)
BENCH_LIVELY = tests/bench/live.sh --keep build/bench/live.json $(PLOT)

# Runs both halves, even if the first exceeds its budget.
bench: build/tests/bench $(BENCH_LIVE) ## measure the cost of a packet, alone and compared with others; QUICK=1 takes two minutes (root)
	@status=0; $(BENCH_PROGRAM) || status=1; echo; $(BENCH_LIVELY) || status=1; exit $$status

bench-program: build/tests/bench ## only the half that runs the program by itself, and checks its budget (root)
	@$(BENCH_PROGRAM)

bench-live: $(BENCH_LIVE) ## only the half that floods veth pairs, and compares with nftables and others (root)
	@$(BENCH_LIVELY)

bench-seen: $(BENCH_LIVE) build/tests/sampled ## measure what a flood's packet costs while a capture or the daemon looks, in pairs (root)
	@tests/bench/seen.sh

# The name contains the machine, because results of different machines are not comparable.
bench-keep: ## keep the last results of 'make bench' in docs/bench/, named after the machine
	@mkdir -p docs/bench
	@name=$$(jq -r -f tests/bench/name.jq build/bench/program.json) && \
	jq -s -r -f tests/bench/keep.jq build/bench/program.json build/bench/live.json >build/bench/kept.json && \
	mv build/bench/kept.json "docs/bench/$$name.json" && echo "docs/bench/$$name.json"

# Lint reads the calls from the objects. -Werror applies here because later builds reuse the objects.
lint: WARNINGS += -Werror
lint: $(USER_OBJECTS) $(MANUALS:%=build/%) ## check formatting, shell scripts, floors of calls and includes, length of functions, manuals
	@# In parallel: these two take two minutes of CPU time.
	@printf '%s\n' $(SOURCES) user/schema/commands.def user/schema/limit.def | xargs -P "$$(nproc)" -n 64 $(CLANG_FORMAT) --dry-run -Werror
	@# Cleanup functions are reached from traps.
	@printf '%s\n' $(SCRIPTS) | xargs -P "$$(nproc)" -n 8 $(SHELLCHECK) -x -e SC2317
	@tests/lint.sh $(SOURCES)
	@# References to manuals that this machine does not have are no error.
	@! $(MANDOC) -Tlint $(MANUALS:%=build/%) 2>/dev/null | grep -v 'referenced manual not found'
	@# Tables that are also too wide for lintian. Page breaks only matter on paper.
	@! for manual in $(MANUALS:%=build/%); do \
		MANWIDTH=120 LC_ALL=C.UTF-8 man --warnings -Tutf8 -Z -l $$manual 2>&1 >/dev/null | sed "s|^|$$manual: |"; \
		done | grep -v ': table text block will not fit on one page'
	@echo "lint: $(words $(SOURCES)) sources, $(words $(SCRIPTS)) scripts: nothing to complain about"

# ---- system ----

deps: ## install what building needs, with the system's package manager
	@tests/deps.sh build
	@tests/fetch_dygraphs.sh build/dygraphs

deps-test: deps ## install what 'make check' needs as well
	@tests/deps.sh test

deps-lint: ## install what 'make lint' needs
	@tests/deps.sh lint

deps-vm: ## install what 'make check-kernels' needs
	@tests/deps.sh vm

deps-bench: ## install what 'make bench' compares ringfence with
	@tests/deps.sh bench

deps-packages: ## install what 'make deb', 'make rpm', 'make arch' and 'make check-packages' need
	@tests/deps.sh packages

deps-arm64: ## install what 'make deb DEB_ARCH=arm64' needs
	@[ "$$(id -u)" = 0 ] || { echo "make deps-arm64: installing packages needs root" >&2; exit 1; }
	dpkg --add-architecture arm64
	apt-get update
	@tests/deps.sh arm64

deps-ecosystem: ## install what 'make check-ecosystem' needs; CrowdSec only goes into build/
	@tests/deps.sh ecosystem
	@tests/ecosystem/fetch_crowdsec.sh build/crowdsec

deps-fuzz: ## install what 'make fuzz' needs
	@tests/deps.sh fuzz

# The directory that zsh searches, below PREFIX; Debian's packages use a different one.
ZSH_FUNCTIONS ?= share/zsh/site-functions
# The directory of programs, below PREFIX; Fedora and Arch Linux have bin only.
SBINDIR ?= sbin

# The files that 'install' installs, as FILE:MODE:PLACE under PREFIX.
INSTALLED := build/ringfence:755:$(SBINDIR)/ringfence \
	build/ringfence-watch:755:$(SBINDIR)/ringfence-watch \
	build/ringfence-fleet:755:$(SBINDIR)/ringfence-fleet \
	build/ringfence.bpf.o:644:lib/bpf/ringfence.bpf.o \
	user/completion/ringfence.bash:644:share/bash-completion/completions/ringfence \
	user/completion/ringfence.zsh:644:$(ZSH_FUNCTIONS)/_ringfence \
	user/completion/ringfence.fish:644:share/fish/vendor_completions.d/ringfence.fish \
	build/systemd/ringfence.service:644:lib/systemd/system/ringfence.service \
	build/systemd/ringfence@.service:644:lib/systemd/system/ringfence@.service \
	build/systemd/ringfence-repair@.service:644:lib/systemd/system/ringfence-repair@.service \
	build/systemd/ringfence-crowdsec.service:644:lib/systemd/system/ringfence-crowdsec.service \
	build/systemd/ringfence-watch.service:644:lib/systemd/system/ringfence-watch.service \
	build/systemd/ringfence-fleet@.service:644:lib/systemd/system/ringfence-fleet@.service \
	build/systemd/ringfence-notify.socket:644:lib/systemd/system/ringfence-notify.socket \
	build/systemd/ringfence-notify@.service:644:lib/systemd/system/ringfence-notify@.service \
	packaging/crowdsec/ringfence-crowdsec:755:$(SBINDIR)/ringfence-crowdsec \
	packaging/fail2ban/ringfence.conf:644:share/ringfence/fail2ban/ringfence.conf \
	packaging/grafana/ringfence.json:644:share/ringfence/grafana/ringfence.json \
	packaging/prometheus/ringfence.rules.yml:644:share/ringfence/prometheus/ringfence.rules.yml \
	build/schema/ringfence-event.schema.json:644:share/ringfence/ringfence-event.schema.json \
	build/ringfence.lua:644:share/ringfence/ringfence.lua \
	packaging/upgrade-fences:755:lib/ringfence/upgrade-fences \
	packaging/sysusers/ringfence.conf:644:lib/sysusers.d/ringfence.conf \
	packaging/sysusers/ringfence-watch.conf:644:lib/sysusers.d/ringfence-watch.conf \
	README.md:644:share/doc/ringfence/README.md \
	$(foreach page,$(GUIDES),$(page):644:share/doc/ringfence/guides/$(notdir $(page))) \
	$(foreach page,$(MANUALS:%=build/%),$(page):644:share/man/man$(subst .,,$(suffix $(page)))/$(notdir $(page)))
UNITS := $(patsubst packaging/%,build/%,$(wildcard packaging/systemd/*.service packaging/systemd/*.socket))
install_one = install -D -m $(word 2,$(1)) $(word 1,$(1)) $(DESTDIR)$(PREFIX)/$(word 3,$(1))

# Built every time, because PREFIX can have changed.
$(UNITS): build/%: packaging/% FORCE
	@mkdir -p $(@D)
	$(Q)sed 's|/usr/sbin/ringfence|$(PREFIX)/$(SBINDIR)/ringfence|g' $< > $@

# The manuals name the paths of this installation; a line '.\" rows of NAME' becomes the rows of a table.
$(MANUALS:%=build/%): build/%: % $(SCHEMA) $(KEYS) FORCE
	@mkdir -p $(@D)
	$(Q)awk '/^\.\\" rows of / { while ((getline row < ("build/schema/" $$NF)) > 0) print row; next } 1' $< | \
		sed 's,/usr/sbin/ringfence,$(PREFIX)/$(SBINDIR)/ringfence,g; s,/usr/\(lib/bpf\|share/\),$(PREFIX)/\1,g' > $@

# The units need the group and the user of sysusers.d now, not only after the next boot. Files under
# DESTDIR are for a different machine, or for a package, whose scripts create them.
SYSUSERS := $(foreach one,$(INSTALLED),$(filter lib/sysusers.d/%,$(lastword $(subst :, ,$(one)))))
add_users = systemd-sysusers $(addprefix $(PREFIX)/,$(SYSUSERS))
# Runs commands on a system with systemd, and otherwise prints them: $(call in_systemd,COMMAND,WHY)
in_systemd = $(if $(DESTDIR),,@{ [ -d /run/systemd/system ] && $(1); } || \
	printf '%s\n' '$@: $(2), run as root:' '  $(1)')

install: all $(UNITS) $(MANUALS:%=build/%) ## install under DESTDIR/PREFIX, and /etc/ringfence; without DESTDIR, make the users of the units, too
	@set -e; $(foreach one,$(INSTALLED),echo "  INSTALL $(lastword $(subst :, ,$(one)))"; \
		$(call install_one,$(subst :, ,$(one)));)
	@install -d -m 755 $(DESTDIR)/etc/ringfence
	$(call in_systemd,$(add_users) && systemctl daemon-reload,before you start a unit)

uninstall: ## remove what 'install' installed; rules in /etc/ringfence, users and groups stay
	rm -f $(foreach one,$(INSTALLED),$(DESTDIR)$(PREFIX)/$(lastword $(subst :, ,$(one))))
	@for directory in $(addprefix $(DESTDIR)$(PREFIX)/share/,doc/ringfence/guides doc/ringfence \
		ringfence/fail2ban ringfence/grafana ringfence/prometheus ringfence) $(DESTDIR)$(PREFIX)/lib/ringfence $(DESTDIR)/etc/ringfence; do \
		[ ! -d $$directory ] || rmdir --ignore-fail-on-non-empty $$directory; done
	$(call in_systemd,systemctl daemon-reload,for systemd to forget the units)

# The contents of the tarball, from which packages are built; tests/packaging/ installs from it.
RELEASED := Makefile LICENSE README.md bpf docs include packaging tests user

# The package is built in a copy of the tree, since debhelper writes into its source tree.
DEB_TREE := build/deb/ringfence-$(VERSION)

deb: ## build a Debian package into build/deb/, and check it with lintian; DEB_ARCH=arm64 crosses
	@rm -rf build/deb && mkdir -p $(DEB_TREE)
	@cp -r $(RELEASED) $(DEB_TREE)
	@cp -r packaging/debian $(DEB_TREE)/debian
	cd $(DEB_TREE) && env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS -u PREFIX -u DESTDIR -u SBINDIR -u WERROR \
		dpkg-buildpackage -us -uc -b $(if $(DEB_ARCH),--host-arch $(DEB_ARCH))
	@# One override is for a table that does not fit on a page, which depends on the number of keys.
	lintian --allow-root --fail-on error,warning --info --pedantic --display-info \
		--suppress-tags mismatched-override build/deb/*.changes

# The source archive of the packages.
TARBALL := build/dist/ringfence-$(VERSION).tar.gz

dist: ## make a tarball of the sources in build/dist/
	@rm -rf build/dist && mkdir -p build/dist/ringfence-$(VERSION)
	@cp -r $(RELEASED) build/dist/ringfence-$(VERSION)
	$(call say,TAR,$(TARBALL))
	$(Q)tar -C build/dist -czf $(TARBALL) ringfence-$(VERSION)

# rpm and pacman do not know packages that other package managers installed.
NODEPS = $(if $(wildcard /etc/debian_version),--nodeps)
RPM_FLAGS = $(NODEPS)
MAKEPKG_FLAGS = $(NODEPS)

# Dygraphs is a separate source, because the tarball contains only this tree.
add_dygraphs = $(if $(DYGRAPHS),cp $(DYGRAPHS) $(1)/dygraph.min.js,echo "$@: without plots on the page: run 'make deps'")

rpm: dist ## build an RPM package into build/rpm/
	@$(call add_dygraphs,build/dist)
	rpmbuild -bb $(RPM_FLAGS) $(if $(DYGRAPHS),--with dygraphs) --define "_topdir $(CURDIR)/build/rpm" \
		--define "_sourcedir $(CURDIR)/build/dist" --define "ringfence_version $(VERSION)" \
		packaging/rpm/ringfence.spec

# makepkg refuses to run as root.
arch: dist ## build a package for Arch Linux in build/arch/
	@rm -rf build/arch && mkdir -p build/arch
	@cp packaging/arch/* $(TARBALL) build/arch/
	@$(call add_dygraphs,build/arch)
	@[ "$$(id -u)" != 0 ] || chown -R nobody build/arch
	cd build/arch && $(if $(filter 0,$(shell id -u)),setpriv --reuid nobody --clear-groups) \
		env -u MAKEFLAGS -u MAKELEVEL -u PREFIX -u DESTDIR -u SBINDIR HOME=$(CURDIR)/build/arch \
		makepkg --force $(MAKEPKG_FLAGS)

clean: ## remove build/
	rm -rf build

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' Makefile | expand -t 16

# Only directories of compiled files: build/ also contains trees of packages and chroots.
-include $(shell find build/*.d $(addprefix build/,user schema tests asan fuzz bench compilers) -name '*.d' -type f 2>/dev/null)
