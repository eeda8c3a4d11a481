// SPDX-License-Identifier: GPL-2.0
/* Loading the program that is built into this command line. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <net/if.h>
#include <nettle/sha1.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "attach/attach.h"
#include "attach/load.h"
#include "base/netlink.h"
#include "fence/by_interface.h"
#include "fence/memory.h"
#include "kernel/info.h"
#include "kernel/log.h"
#include "kernel/needs.h"
#include "kernel/program.h"

/* Last: they use the types of abi.h. */
#include "build/ringfence.skel.h"
#include "build/ringfence_fleet.skel.h"

#define LEASES_MAX (1ULL << 31) /* over all CPUs, to fit the number in 32 bits */

int rf_maps_reuse(struct bpf_object *object, const int map_fd[RF_MAP_COUNT])
{
	int err = 0;

	for (int i = 0; i < RF_MAP_COUNT && !err; i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(object, rf_map_in_object(i));

		err = map ? bpf_map__reuse_fd(map, map_fd[i]) : -ENOENT;
	}
	return err;
}

/*
 * Opens this build, with shares or without, both under one name: maps of the kernel are called
 * after that. The caller closes it. NULL on failure, with errno.
 */
static struct bpf_object *load_build(bool has_shares)
{
	LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = "ringfence_bpf");
	size_t size;
	const void *elf = has_shares ? ringfence_fleet_bpf__elf_bytes(&size)
				     : ringfence_bpf__elf_bytes(&size);

	return bpf_object__open_mem(elf, size, &options);
}

struct bpf_object *rf_load_open(const int map_fd[RF_MAP_COUNT])
{
	struct bpf_object *object = load_build(false);
	int err;

	if (!object)
		return NULL;
	err = rf_maps_reuse(object, map_fd);
	if (!err)
		return object;
	bpf_object__close(object);
	errno = -err;
	return NULL;
}

uint32_t rf_leases_wanted(const struct rf_attach *attach)
{
	uint64_t cpus = libbpf_num_possible_cpus(), each = RF_LEASES_LEAST;
	uint32_t wanted = attach->leases;

	if (wanted == RF_LEASES_NOT_GIVEN)
		wanted = rf_leases_default(rf_sources_wanted(attach->sources, cpus), cpus);
	if (!wanted)
		return RF_LEASE_WAYS; /* no map is smaller; these are not used */
	while (each < wanted && 2 * each * cpus <= LEASES_MAX)
		each *= 2;
	return each * cpus;
}

uint32_t rf_known_filter_wanted(uint32_t sources)
{
	uint32_t lines = 2;

	while (lines < 2ULL * sources / RF_KNOWN_FILTER_SHARE)
		lines *= 2;
	return lines;
}

static int size_map(struct bpf_object *object, enum rf_map map, uint32_t entries)
{
	struct bpf_map *found = bpf_object__find_map_by_name(object, rf_map_in_object(map));

	return found ? bpf_map__set_max_entries(found, entries) : -ENOENT;
}

static int size_maps(struct bpf_object *object, const struct rf_attach *attach)
{
	const uint32_t sources = rf_sources_wanted(attach->sources, libbpf_num_possible_cpus());
	const uint32_t lease_sets = rf_leases_wanted(attach) / RF_LEASE_WAYS;
	int err = 0;

	for (int i = RF_MAP_WINDOWS4; i <= RF_MAP_WINDOWS6 && !err; i++)
		err = size_map(object, i, RF_WINDOWS_ENTRIES(sources));
	for (int i = RF_MAP_SLOTS4; i <= RF_MAP_SLOTS6 && !err; i++)
		err = size_map(object, i, sources);
	if (!err)
		err = size_map(object, RF_MAP_LEASES, lease_sets);
	if (!err)
		err = size_map(object, RF_MAP_LEASE_TAGS, lease_sets);
	if (!err)
		err = size_map(object, RF_MAP_KNOWN_FILTER, rf_known_filter_wanted(sources));
	return err;
}

/*
 * For a fence with shares, the agent continues with the same ring buffer. If its pin was removed,
 * the program gets a new one.
 */
static int open_asks(const struct rf_fence *fence)
{
	const struct rf_pin_path directory = rf_fence_pins(fence);

	if (!rf_fence_has_shares(fence) || !*directory.text)
		return -1;
	return bpf_obj_get(rf_pins_entry(&directory, rf_share_pins[RF_SHARE_ASKS]).text);
}

static int reuse_maps(struct bpf_object *object, const struct rf_loaded *loaded)
{
	struct bpf_map *asks = bpf_object__find_map_by_name(object, rf_share_pins[RF_SHARE_ASKS]);
	int err = rf_maps_reuse(object, loaded->map_fd);

	if (!err && asks && loaded->asks_fd >= 0)
		err = bpf_map__reuse_fd(asks, loaded->asks_fd);
	return err;
}

/*
 * The entry that was loaded first has created the maps. An entry that is loaded later uses the
 * same.
 */
static void take_maps(struct rf_loaded *loaded, const struct bpf_object *object)
{
	const int asks = bpf_object__find_map_fd_by_name(object, rf_share_pins[RF_SHARE_ASKS]);

	for (int i = 0; i < RF_MAP_COUNT; i++)
		loaded->map_fd[i] = bpf_object__find_map_fd_by_name(object, rf_map_in_object(i));
	if (loaded->asks_fd < 0 && asks >= 0)
		loaded->asks_fd = fcntl(asks, F_DUPFD_CLOEXEC, 0);
}

void rf_load_choose(struct bpf_object *object, enum rf_entry entry)
{
	for (int i = 0; i < RF_ENTRY_COUNT; i++)
		bpf_program__set_autoload(
			bpf_object__find_program_by_name(object, rf_entry_names[i]),
			i == (int)entry);
}

static int read_info(struct rf_loaded *loaded, enum rf_entry entry)
{
	struct bpf_prog_info info = {};

	if (rf_program_info(loaded->fd[entry], &info))
		return -errno;
	loaded->id[entry] = info.id;
	memcpy(loaded->tag[entry], info.tag, RF_PROGRAM_TAG_SIZE);
	return 0;
}

/* Loads one entry: with new maps of the sizes in `attach`, or, if that is NULL, the fence's. */
static int try_load(struct rf_loaded *loaded, const struct rf_attach *attach, enum rf_entry entry)
{
	struct bpf_object *object = load_build(loaded->has_shares);
	int err;

	if (!object)
		return -errno;
	rf_load_choose(object, entry);
	err = attach ? size_maps(object, attach) : reuse_maps(object, loaded);
	if (!err)
		err = bpf_object__load(object);
	if (err) {
		bpf_object__close(object);
		return err;
	}
	loaded->object[entry] = object;
	loaded->fresh_fd[entry] = loaded->fd[entry] =
		bpf_program__fd(bpf_object__find_program_by_name(object, rf_entry_names[entry]));
	take_maps(loaded, object);
	return read_info(loaded, entry);
}

/* May this process open as many files as a load takes? */
static bool has_files(void)
{
	int fd[RF_FILES_NEEDED], count = 0;
	bool enough;

	while (count < RF_FILES_NEEDED && (fd[count] = dup(STDERR_FILENO)) >= 0)
		count++;
	enough = count == RF_FILES_NEEDED || (errno != EMFILE && errno != ENFILE);
	while (count > 0)
		close(fd[--count]);
	return enough;
}

/*
 * The kernel's errno is not specific, so missing features are found by trying each. If the process
 * has no file descriptors left, libbpf considers each feature that it tries as missing, and the
 * load can fail with any errno.
 */
static int fail_load(int err, struct rf_error *error)
{
	char missing[RF_MISSING_TEXT_SIZE];
	struct rf_features features;
	struct utsname kernel = {};

	if (err == -EPERM)
		return rf_error_failed(
			error, err,
			"cannot load the program: %s; run as root, outside of any user "
			"namespace",
			strerror(-err));
	if (!has_files()) {
		rf_log_forget(); /* the verifier complains of a map that was not made */
		return rf_error_failed(
			error, -EMFILE,
			"cannot load the program: this process may open too few files; run "
			"'ulimit -n %d'",
			RF_FILES_LIMIT);
	}
	rf_features_probe(&features);
	if (rf_features_missing(&features, missing)) {
		rf_log_forget(); /* the verifier's message does not name the missing feature */
		uname(&kernel);
		return rf_error_failed(
			error, err,
			"cannot load the program: this kernel (%s) lacks %s; run 'ringfence "
			"doctor'",
			kernel.release, missing);
	}
	/* With a log, E2BIG is the verifier's: the program is too complex. */
	if ((err == -ENOMEM || err == -E2BIG) && !*rf_log_text())
		return rf_error_failed(
			error, err, "cannot load the program: %s; take fewer 'sources' or 'leases'",
			strerror(-err));
	return rf_error_failed(error, err,
			       "cannot load the program: %s; run 'ringfence doctor'; '--verbose' "
			       "prints the output of libbpf",
			       strerror(-err));
}

/* Linux lacks them before 5.18. Where the kernel has them, the load failed for another reason. */
static bool lacks_frags(void)
{
	struct rf_features features;

	rf_features_probe(&features);
	return features.has[RF_FEATURE_FRAGS] == RF_NO;
}

/*
 * Names the missing capability. The kernel itself would only return EPERM. Without CAP_PERFMON the
 * verifier would refuse the program: the length of a frame is the difference of two pointers, which
 * the verifier calls a leak. CAP_SYS_ADMIN includes CAP_BPF and CAP_PERFMON.
 */
static int check_may_load(struct rf_error *error)
{
	const bool admin = rf_has_capability(CAP_SYS_ADMIN);
	const char *missing = NULL;

	if (!rf_has_capability(CAP_NET_ADMIN))
		missing = "CAP_NET_ADMIN";
	else if (!admin && !rf_has_capability(CAP_BPF))
		missing = "CAP_BPF";
	else if (!admin && !rf_has_capability(CAP_PERFMON))
		missing = "CAP_PERFMON";
	if (!missing)
		return 0;
	return rf_error_failed(error, -EPERM,
			       "cannot load the program: %s is missing; it takes CAP_BPF, "
			       "CAP_NET_ADMIN and CAP_PERFMON, or root",
			       missing);
}

int rf_load_entry(struct rf_loaded *loaded, enum rf_entry entry, struct rf_error *error)
{
	int err = loaded->object[entry] ? 0 : check_may_load(error);

	if (err || loaded->object[entry])
		return err;
	err = try_load(loaded, NULL, entry);
	if (err && err != -EPERM && entry == RF_FRAGS && lacks_frags())
		return rf_error_failed(error, -EOPNOTSUPP,
				       "cannot load the program for frames in several buffers: "
				       "this kernel lacks xdp.frags");
	return err ? fail_load(err, error) : 0;
}

/* The first entry of a new fence: the plain one where the kernel lacks the other. */
static int load_first(struct rf_loaded *loaded, const struct rf_attach *attach, enum rf_entry entry,
		      struct rf_error *error)
{
	int err = check_may_load(error);

	if (err)
		return err;
	loaded->has_shares = attach->fleet;
	err = try_load(loaded, attach, entry);
	if (err && err != -EPERM && entry == RF_FRAGS && lacks_frags())
		err = try_load(loaded, attach, RF_PLAIN);
	return err ? fail_load(err, error) : 0;
}

int rf_fence_try(void)
{
	const struct rf_attach smallest = {.sources = rf_sources_least(1)};
	struct rf_loaded loaded = RF_LOADED_NONE;
	int err = try_load(&loaded, &smallest, RF_PLAIN);

	rf_unload(&loaded);
	rf_log_forget();
	if (err && err != -EPERM && err != -EACCES && !has_files())
		return -EMFILE;
	return err;
}

enum rf_entry rf_entry_for(const char *name, enum rf_mode mode)
{
	return mode == RF_NATIVE && rf_netlink_mtu(name) > RF_PLAIN_MTU_MAX ? RF_FRAGS : RF_PLAIN;
}

/* Which entries does the fence have, on its interfaces and in its pins? */
static int find_entries(const struct rf_fence *fence, bool has[RF_ENTRY_COUNT],
			struct rf_error *error)
{
	const struct rf_pin_path directory = rf_fence_pins(fence);
	int err = 0;

	for (int i = 0; i < fence->interfaces && !err; i++) {
		struct rf_program program;

		err = rf_program_open(&program, fence->interface[i].program_id, error);
		if (!err)
			has[rf_entry_of(&program)] = true;
		rf_program_close(&program);
		err = err == -ENOENT ? 0 : err; /* it was removed */
	}
	for (int i = 0; *directory.text && i < RF_ENTRY_COUNT; i++)
		if (!access(rf_pins_entry(&directory, rf_entry_pins[i]).text, F_OK))
			has[i] = true;
	return err;
}

int rf_load_upgrade(struct rf_loaded *loaded, const struct rf_fence *reuse, struct rf_error *error)
{
	bool has[RF_ENTRY_COUNT] = {};
	int err;

	loaded->has_shares = rf_fence_has_shares(reuse);
	loaded->asks_fd = open_asks(reuse);
	memcpy(loaded->map_fd, reuse->map_fd, sizeof(loaded->map_fd));
	err = find_entries(reuse, has, error);
	for (int i = 0; i < RF_ENTRY_COUNT && !err; i++)
		if (has[i])
			err = rf_load_entry(loaded, i, error);
	return err;
}

static int check_sources(const struct rf_attach *attach, struct rf_error *error)
{
	const int cpus = libbpf_num_possible_cpus();
	const uint32_t least = rf_sources_least(cpus);

	if (rf_sources_wanted(attach->sources, cpus) >= least)
		return 0;
	return rf_error_usage(error, "'sources %u': too few for %d CPUs; take %u or more",
			      attach->sources, cpus, least);
}

/* All limits are off after the time in `attach`, unless the attach is confirmed. */
static int set_confirm(struct rf_config *config, const struct rf_attach *attach,
		       struct rf_error *error)
{
	struct rf_fence fence = {.config = config};
	struct rf_clock_reading base = {};
	int err = rf_clock_measure(&base, &config->tick_ns, error);

	if (err)
		return err;
	config->base = base;
	config->bank[0].deadline = rf_fence_deadline(&fence, base.jiffies, attach->confirm_ns);
	config->bank[0].fallback = RF_FALL_OPEN;
	return 0;
}

/* Where the request has several interfaces for this fence, no packet is missed by their counters.
 */
static int count_interfaces(const struct rf_loaded *loaded, struct rf_config *config,
			    const struct rf_attach *attach, struct rf_error *error)
{
	struct rf_fence fence = {.config = config};
	int err;

	fence.map_fd[RF_MAP_INTERFACES] = loaded->map_fd[RF_MAP_INTERFACES];
	if (!attach->fence || attach->interfaces < 2)
		return 0;
	fence.interface = calloc(attach->interfaces, sizeof(*fence.interface));
	if (!fence.interface)
		return rf_error_failed(error, -ENOMEM, "out of memory for the interfaces");
	fence.interfaces = attach->interfaces;
	for (int i = 0; i < fence.interfaces; i++)
		fence.interface[i].index = if_nametoindex(attach->interface[i]);
	err = rf_fence_count_interfaces(&fence, 0, error);
	free(fence.interface);
	return err;
}

static int configure(const struct rf_loaded *loaded, const char *name,
		     const struct rf_attach *attach, struct rf_error *error)
{
	struct rf_config config = {.next_limit_id = 1};
	__u32 key = 0;
	int err = attach->confirm_ns ? set_confirm(&config, attach, error) : 0;

	if (err)
		return err;
	snprintf(config.name, sizeof(config.name), "%s", name);
	if (attach->fleet && getrandom(&config.fleet.incarnations, sizeof(__u32), 0) < 0)
		return rf_error_failed(error, -errno, "cannot read random numbers: %s",
				       strerror(errno));
	rf_pinned_note(&config.pinned, loaded->id, NULL);
	err = count_interfaces(loaded, &config, attach, error);
	if (err)
		return err;
	if (bpf_map_update_elem(loaded->map_fd[RF_MAP_CONFIG], &key, &config, BPF_ANY))
		return rf_error_failed(error, -errno, "cannot name the fence: %s", strerror(errno));
	return 0;
}

int rf_load_new(struct rf_loaded *loaded, const char *name, const struct rf_attach *attach,
		enum rf_entry entry, struct rf_error *error)
{
	int err = check_sources(attach, error);

	if (!err)
		err = load_first(loaded, attach, entry, error);
	return err ? err : configure(loaded, name, attach, error);
}

void rf_unload(struct rf_loaded *loaded)
{
	for (int i = 0; i < RF_ENTRY_COUNT; i++) {
		if (loaded->fd[i] != loaded->fresh_fd[i])
			close(loaded->fd[i]);
		bpf_object__close(loaded->object[i]);
	}
	if (loaded->asks_fd >= 0)
		close(loaded->asks_fd);
	*loaded = RF_LOADED_NONE;
}

bool rf_loaded_has(const struct rf_loaded *loaded, const uint8_t tag[RF_PROGRAM_TAG_SIZE])
{
	for (int i = 0; i < RF_ENTRY_COUNT; i++)
		if (loaded->object[i] && memcmp(tag, loaded->tag[i], RF_PROGRAM_TAG_SIZE) == 0)
			return true;
	return false;
}

/* ---- is a program of this build? ---- */

/*
 * Is a loaded program this build's? The kernel tags a program with a hash of its instructions. The
 * same hash is computed here without loading anything: libbpf prepares the program for a later
 * load, which needs no privilege.
 */

#define LOAD_64 (BPF_LD | BPF_IMM | BPF_DW)

/* The map whose address an instruction loads; 0: it loads a number. */
static uint8_t map_source(const struct bpf_insn *instruction)
{
	if (instruction->code != LOAD_64)
		return 0;
	switch (instruction->src_reg) {
	case BPF_PSEUDO_MAP_FD:
	case BPF_PSEUDO_MAP_IDX:
		return BPF_PSEUDO_MAP_FD;
	case BPF_PSEUDO_MAP_VALUE:
	case BPF_PSEUDO_MAP_IDX_VALUE:
		return BPF_PSEUDO_MAP_VALUE;
	}
	return 0;
}

/* As the kernel does before it hashes: which maps are used makes no difference. */
static void forget_maps(struct bpf_insn *instruction, size_t count)
{
	for (size_t i = 0; i + 1 < count; i++) {
		const uint8_t source = map_source(&instruction[i]);

		if (!source)
			continue;
		instruction[i].src_reg = source;
		instruction[i].imm = 0;
		instruction[++i].imm = 0;
	}
}

/* Linux hashes with SHA-1, and since 6.18 with SHA-256. A tag is the start of the digest. */
static void make_tags_of(const struct bpf_insn *instruction, size_t count,
			 struct rf_build_tags *tags)
{
	const size_t size = count * sizeof(*instruction);
	struct sha1_ctx sha1;
	struct sha256_ctx sha256;

	sha1_init(&sha1);
	sha1_update(&sha1, size, (const uint8_t *)instruction);
	sha1_digest(&sha1, sizeof(tags->sha1), tags->sha1);
	sha256_init(&sha256);
	sha256_update(&sha256, size, (const uint8_t *)instruction);
	sha256_digest(&sha256, sizeof(tags->sha256), tags->sha256);
}

static int make_tags(const struct bpf_program *program, struct rf_build_tags *tags)
{
	const size_t count = bpf_program__insn_cnt(program);
	struct bpf_insn *copy = malloc(count * sizeof(*copy));

	if (!copy)
		return -ENOMEM;
	memcpy(copy, bpf_program__insns(program), count * sizeof(*copy));
	forget_maps(copy, count);
	make_tags_of(copy, count, tags);
	free(copy);
	return 0;
}

static int prepare(struct bpf_object *object, struct rf_build_tags tags[RF_ENTRY_COUNT])
{
	LIBBPF_OPTS(gen_loader_opts, options);
	int err = bpf_object__gen_loader(object, &options);

	if (!err)
		err = bpf_object__load(object);
	for (int i = 0; i < RF_ENTRY_COUNT && !err; i++)
		err = make_tags(bpf_object__find_program_by_name(object, rf_entry_names[i]),
				&tags[i]);
	return err;
}

int rf_build_read(struct rf_build *build)
{
	int err = 0;

	*build = (struct rf_build){};
	rf_log_pause(true);
	for (int i = 0; i < RF_BUILDS && !err; i++) {
		struct bpf_object *object = load_build(i);

		err = object ? prepare(object, build->tags[i]) : -errno;
		bpf_object__close(object);
	}
	rf_log_pause(false);
	build->known = !err;
	return err;
}

/* Is the program with that tag one of this build? RF_NOT_KNOWN: its tag could not be read. */
static enum rf_answer build_has(const struct rf_build *build,
				const uint8_t tag[RF_PROGRAM_TAG_SIZE])
{
	static const uint8_t none[RF_PROGRAM_TAG_SIZE];

	if (!build->known || memcmp(tag, none, sizeof(none)) == 0)
		return RF_NOT_KNOWN;
	for (int i = 0; i < RF_BUILDS * RF_ENTRY_COUNT; i++) {
		const struct rf_build_tags *of =
			&build->tags[i / RF_ENTRY_COUNT][i % RF_ENTRY_COUNT];

		if (memcmp(tag, of->sha1, RF_PROGRAM_TAG_SIZE) == 0 ||
		    memcmp(tag, of->sha256, RF_PROGRAM_TAG_SIZE) == 0)
			return RF_YES;
	}
	return RF_NO;
}

enum rf_answer rf_build_is_on(const struct rf_build *build, const struct rf_interface *interface)
{
	struct rf_program program;
	struct rf_error ignored;
	enum rf_answer answer = RF_NOT_KNOWN;

	if (!rf_program_open(&program, interface->program_id, &ignored))
		answer = build_has(build, program.tag);
	rf_program_close(&program);
	return answer;
}
