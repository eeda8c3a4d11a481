# SPDX-License-Identifier: GPL-2.0
# Rules for the tests, their tools and the benchmarks. The Makefile includes this file if it exists;
# packages are built without it.

# The tests that run under the sanitizers: unit tests, and tests that read maps of an untrusted
# user.
HOSTILE := $(patsubst tests/prog/%.c,%,$(wildcard tests/prog/test_hostile*.c))
# Objects that every test of the program links in addition to the command line.
BESIDE := tests/prog/clock.o tests/prog/spare.o
SANITIZED := $(UNIT_TESTS:build/%=%) $(HOSTILE:%=tests/prog/%) $(BESIDE:.o=) $(MODEL:.c=)

# Reports of a sanitizer only need line numbers; at -O2, compiling the instrumented code takes twice
# as long.
build/asan/%.o: private CFLAGS := $(CFLAGS) -O1 -g1
# A test calls the code of a library a few times; only code in headers runs long in the test itself.
RUN_LONG := $(addprefix tests/unit/test_,ban_table cases cells events_day fleet_% known_filter lease% limiter% monotonic packet peek% %_random replay slot)
$(patsubst %,build/asan/%.o,$(filter-out $(RUN_LONG),$(UNIT_TESTS:build/%=%))): private CFLAGS := $(CFLAGS) -O0 -g1
build/asan/%.o: %.c
	@mkdir -p $(@D)
	$(call say,ASAN,$<)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(SANITIZE) -c $< -o $@

# The members of the libraries that objects use: the linker lists them, and only they are compiled
# again. This needs a recursive make, because the list is known only at this point.
define reached_library
build/$(1)/reached.a: $(2:%=build/$(1)/%.o) $(FLOORS:%=build/lib/%.a) | $(GENERATED)
	$$(Q)$$(LD) -r -M -o /dev/null $$(filter %.a,$$^) \
		$$$$($$(NM) -u $$(filter %.o,$$^) | sed -n 's/^ *U \(__real_\)*\(rf_.*\)/-u \2/p') | \
		sed -n 's,^build/lib/\([^(]*\)\.a(\([^)]*\)).*,build/$(1)/user/\1/\2,p' >build/$(1)/reached
	$$(Q)$$(MAKE) --no-print-directory $$$$(cat build/$(1)/reached)
	$$(call say,AR,$$@)
	$$(Q)rm -f $$@ && $$(AR) qcs $$@ $$$$(cat build/$(1)/reached)
endef
$(eval $(call reached_library,asan,$(SANITIZED)))

build/tests/unit/%: build/asan/tests/unit/%.o build/asan/reached.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(SANITIZE) $(filter %.o,$^) build/asan/reached.a -o $@ -lcmocka -Wl,--as-needed $(LIBS)

# The tests that build frames from headers.
FRAMES := tests/frame_headers tests/frame_parts
frame_tests = $(patsubst %.c,build/%,$(shell grep -l '"tests/frames\.h"' $(wildcard tests/$(1)/test_*.c)))

$(call frame_tests,unit): $(FRAMES:%=build/asan/%.o)
build/tests/unit/test_agent_bans build/tests/unit/test_link: private CFLAGS += -Wl,--wrap=rf_time_awake
$(patsubst %,build/tests/unit/test_fleet_%,claims ledger sums wire): $(MODEL:%.c=build/asan/%.o)
$(call frame_tests,prog): $(FRAMES:%=build/%.o)
build/tests/prog/test_stacked: build/tests/prog/model.o
$(patsubst tests/%.c,build/tests/%,$(wildcard tests/prog/test_examine*.c)): build/tests/prog/examine.o $(FRAMES:%=build/%.o)
$(patsubst %,build/tests/prog/test_%,history history_file history_graph history_sums): build/tests/record/made.o

build/tests/%.o: tests/%.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -c $< -o $@

# The programs as compiled by each other installed clang, for test_budget and test_compilers.sh.
OTHER_CLANGS := $(shell tests/clangs.sh $(CLANG))

build/tests/prog/test_budget: | $(foreach clang,$(OTHER_CLANGS),$(addprefix build/compilers/$(clang)/,ringfence.bpf.o ringfence_fleet.bpf.o fleet_calls.bpf.o))

define by_other_clang
build/compilers/$(1)/%.bpf.o: bpf/%.bpf.c
	@mkdir -p $$(@D)
	$$(call say,BPF,$$@)
	$$(Q)$(1) $$(BPF_CFLAGS) -Werror -c $$< -o $$@
	$$(Q)$$(LLVM_STRIP) -g $$@
endef
$(foreach clang,$(OTHER_CLANGS),$(eval $(call by_other_clang,$(clang))))
tools: $(OTHER_CLANGS:%=build/compilers/%/ringfence.bpf.o)

# The linker wraps the clock, which allows tests to inject a different one.
WRAPPED := -Wl,--wrap=rf_fence_jiffies,--wrap=rf_fence_time

$(patsubst %,build/tests/prog/%.o,clock crowd examine): | build/ringfence.skel.h
$(patsubst %,build/tests/prog/test_%,filter kept known residents siblings): build/tests/prog/crowd.o

build/tests/prog/%: tests/prog/%.c $(BESIDE:%=build/%) $(COMMAND_LIBRARIES)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(filter %.c %.o,$^) $(BEFORE) $(COMMAND_LIBRARIES) -o $@ $(WRAPPED) $(LIBS) -lcmocka -lpthread

# The definitions of abi.h, one member or constant per line: the layout test compares this text.
# Definitions that are not part of the maps, and the sizes that 'attach' chooses, are excluded.
ABI_HEADER := $(CC) $(filter-out -M%,$(CPPFLAGS)) -DRF_WITH_SHARES -E
build/tests/abi: include/ringfence/abi.h tests/build.mk $(wildcard include/ringfence/*.h)
	$(Q){ $(ABI_HEADER) $< | awk '/^# [0-9]+ "/ { ours = $$3 ~ /include\/ringfence\//; next } ours' | \
		tr -s '[:space:]' ' ' | sed 's/[;{},] */&\n/g' | sed '/^_Static_assert/d'; echo; \
		$(ABI_HEADER) -dM $< | grep '^#define RF_[A-Z0-9_]* ' | \
		grep -v '^#define RF_\(ABI_[VL].*\|REASON_NAMES\|[A-Z0-9_]*_DEFAULT\) ' | LC_ALL=C sort; } >$@
build/tests/prog/test_layout: build/tests/abi

# Tests of the privileges of the daemon's page process link that part of the daemon. Disconnecting a
# client of the page is in its loop.
$(patsubst %,build/tests/prog/test_%,confine gone): build/lib/daemon.a
$(patsubst %,build/tests/prog/test_%,confine gone): private BEFORE := build/lib/daemon.a
$(patsubst %,build/tests/prog/test_%,confine gone): private LIBS += $(DAEMON_LIBS)

# The agent's view of its fence.
build/tests/prog/test_bans_look: build/lib/agent.a
build/tests/prog/test_bans_look: private BEFORE := build/lib/agent.a

$(HOSTILE:%=build/asan/tests/prog/%.o) $(BESIDE:%=build/asan/%): | $(GENERATED)

$(HOSTILE:%=build/tests/prog/%): build/tests/prog/%: build/asan/tests/prog/%.o \
		$(BESIDE:%=build/asan/%) build/asan/reached.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(SANITIZE) $^ -o $@ $(WRAPPED),--wrap=rf_fence_open $(LIBS) -lcmocka

build/fuzz/%.o: %.c
	@mkdir -p $(@D)
	$(call say,FUZZ,$<)
	$(Q)$(CLANG) $(CPPFLAGS) $(ALL_CFLAGS) $(SANITIZE) -fsanitize=fuzzer-no-link,float-cast-overflow -c $< -o $@

$(eval $(call reached_library,fuzz,$(FUZZERS:%=tests/fuzz/fuzz_%) $(MODEL:.c=)))

build/fuzz/fuzz_%: build/fuzz/tests/fuzz/fuzz_%.o build/fuzz/reached.a
	$(call say,LINK,$@)
	$(Q)$(CLANG) $(ALL_CFLAGS) $(SANITIZE) -fsanitize=fuzzer $(filter %.o,$^) build/fuzz/reached.a -o $@ \
		$(FUZZ_WRAPPED) -Wl,--as-needed $(LIBS) $(FUZZ_LIBS)

build/fuzz/fuzz_wire build/fuzz/fuzz_engine: $(MODEL:%.c=build/fuzz/%.o)
build/fuzz/fuzz_limiter: build/fuzz/tests/fuzz/limiter_watch.o
build/fuzz/fuzz_settings: private FUZZ_WRAPPED := -Wl,--wrap=access,--wrap=stat,--wrap=rf_file_read
build/fuzz/fuzz_events: private FUZZ_WRAPPED := -Wl,--wrap=rf_time_wall
$(patsubst %,build/fuzz/fuzz_%,node engine feed): private FUZZ_WRAPPED := -Wl,--wrap=rf_time_awake
build/fuzz/fuzz_node build/fuzz/fuzz_engine: private FUZZ_LIBS = $(shell $(PKG_CONFIG) --libs hiredis)
build/fuzz/fuzz_feed: private FUZZ_LIBS = $(shell $(PKG_CONFIG) --libs zlib)

# The words of the grammar, from the table of commands, and values for them.
build/fuzz/grammar.dict: tests/fuzz/grammar.dict build/ringfence
	@mkdir -p $(@D)
	$(Q){ cat $< && build/ringfence completion table | tr -s ': ' '\n' | sort -u | sed 's/..*/"&"/'; } >$@

build/fuzz/seeds: build/fuzz/tests/fuzz/seeds.o $(FRAMES:%=build/fuzz/%.o)
	$(Q)$(CLANG) $(ALL_CFLAGS) $(SANITIZE) $^ -o $@

build/tests/traffic: $(filter-out %.bpf.c,$(wildcard tests/traffic/*.c)) $(TRAFFIC_SKELETONS)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(filter %.c,$^) -o $@ $(LIBS) -lpthread

# A client of a fleet's agent, for tests.
build/tests/agent_says: tests/e2e/agent_says.c $(COMMAND_LIBRARIES)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $(filter %.c %.a,$^) -o $@ $(LIBS)

# A link that goes down when a program is attached, for tests.
build/tests/flap.so: tests/e2e/flap.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -fPIC -shared $^ -o $@ -ldl

# Packets that bypass a program, for tests.
build/tests/bypass: tests/e2e/bypass.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $^ -o $@ $(LIBS)

# TCP connections, and wires with a delay, for tests and benchmarks.
build/tests/tcp/%: tests/tcp/%.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) $< -o $@

# Clients of a fleet server, for tests.
build/tests/engine/compare: $(patsubst %,build/tests/engine/compare_%.o,calls fate kept members reports sums)
$(ENGINE_TOOLS): build/tests/engine/%: build/tests/engine/%.o build/tests/engine/client.o \
		$(MODEL:%.c=build/%.o) build/lib/fleet.a build/lib/base.a
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) $(filter %.o,$^) $(filter %.a,$^) -o $@ $(shell $(PKG_CONFIG) --libs hiredis)

build/tests/recorder: build/tests/record/main.o build/tests/record/made.o $(COMMAND_LIBRARIES)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) $^ -o $@ $(LIBS)

# Built again whenever build/ringfence is, which means after any change of the program or of the
# command line.
$(VARIANTS): build/variants/%/build/ringfence: build/ringfence tests/e2e/variant.sh tests/e2e/edit_object.py
	$(call say,VARIANT,$*)
	$(Q)tests/e2e/variant.sh $* build/variants/$*

$(TRAFFIC_SKELETONS:.skel.h=.bpf.o): build/tests/%.bpf.o: tests/traffic/%.bpf.c
	@mkdir -p $(@D)
	$(call say,BPF,$<)
	$(Q)$(CLANG) $(BPF_CFLAGS) -c $< -o $@

build/bench/%.o: tests/bench/%.c | build/ringfence.skel.h $(BENCH_SKELETONS)
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -c $< -o $@

build/tests/bench: $(BENCH) $(COMMAND_LIBRARIES)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) $(filter %.o %.a,$^) -o $@ $(LIBS) -lpthread

build/tests/%.bpf.o: tests/bench/%.bpf.c
	@mkdir -p $(@D)
	$(call say,BPF,$<)
	$(Q)$(CLANG) $(BPF_CFLAGS) -c $< -o $@

build/tests/screen: build/bench/screen.o $(COMMAND_LIBRARIES)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) $^ -o $@ $(LIBS) -lpthread

build/tests/scans: build/bench/scans.o build/bench/target.o build/bench/tool.o $(COMMAND_LIBRARIES)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) $^ -o $@ $(LIBS)

build/tests/sampled: build/bench/sampled.o build/bench/tool.o $(COMMAND_LIBRARIES)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) $^ -o $@ $(LIBS)

build/tests/asks: build/bench/asks.o build/bench/tool.o $(COMMAND_LIBRARIES)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) $^ -o $@ $(LIBS)

build/tests/share_cost: build/bench/share_cost.o build/bench/tool.o $(COMMAND_LIBRARIES)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) $^ -o $@ $(LIBS) -lm -lpthread

build/tests/live: tests/bench/live.c build/tests/live.skel.h
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) tests/bench/live.c -o $@ $(LIBS) -lpthread
