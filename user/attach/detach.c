// SPDX-License-Identifier: GPL-2.0
/* Detaching, and fences that are left without an interface. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <linux/if_link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attach/private.h"
#include "fence/find.h"
#include "kernel/info.h"
#include "rules/policy.h"

/*
 * Is the interface the last one of its fence, as far as this network namespace and the pins show?
 */
static bool is_last(const struct rf_pin_path *directory, const struct rf_pin_path *link,
		    uint32_t config_id)
{
	struct rf_interface *interfaces = NULL;
	struct rf_error ignored;
	int count = rf_interfaces_of(config_id, &interfaces, &ignored);

	free(interfaces);
	return count <= 1 && count >= 0 && !rf_pins_have_live_link(directory, link);
}

/*
 * The pins are removed first. A command killed in between leaves the interface attached, or fully
 * detached: the link dies with its last file descriptor. The maps are not read, so this works for a
 * fence of another map ABI, too.
 */
static int detach_link(const struct rf_interface *interface, uint32_t config_id,
		       struct rf_error *error)
{
	struct rf_pin_path path, directory;
	int fd = rf_pins_open_link(interface->index, interface->program_id, &path);
	int err;

	if (fd < 0)
		return rf_error_failed(error, fd, "%s: its link was removed concurrently",
				       interface->name);
	directory = rf_pins_parent(&path);
	if (is_last(&directory, &path, config_id)) {
		rf_pins_remove(&directory);
	} else {
		unlink(path.text);
		rf_group_note_link(&directory, strrchr(path.text, '/') + 1);
	}
	err = bpf_link_detach(fd) ? -errno : 0;
	close(fd);
	if (err)
		return rf_error_failed(error, err, "%s: cannot detach: %s", interface->name,
				       strerror(-err));
	return 0;
}

static int detach_netlink(const struct rf_interface *interface, const struct rf_program *program,
			  struct rf_error *error)
{
	LIBBPF_OPTS(bpf_xdp_attach_opts, options, .old_prog_fd = program->fd);
	int err = rf_program_check_fd(program, interface->name, error);

	if (err)
		return err;
	err = bpf_xdp_detach(interface->index, rf_xdp_flags(interface->mode) | XDP_FLAGS_REPLACE,
			     &options);

	if (err == -EBUSY)
		return rf_error_failed(error, err,
				       "%s: its program is held by a bpf_link of another process, "
				       "or pinned elsewhere; 'bpftool link' shows its id N, "
				       "'bpftool link detach id N' detaches it",
				       interface->name);
	if (err)
		return rf_error_failed(error, err, "%s: cannot detach: %s", interface->name,
				       strerror(-err));
	return 0;
}

/*
 * Detaches a program that no link of this project holds. The pins are removed last: a command that
 * was killed can be run again.
 */
static int detach_linkless(const struct rf_interface *interface, const struct rf_program *program,
			   struct rf_error *error)
{
	uint32_t config_id = program->map_id[RF_MAP_CONFIG];
	struct rf_pin_path directory;
	bool pinned = rf_pins_find(config_id, &directory) == 0;
	bool last = pinned && is_last(&directory, NULL, config_id);
	int err = interface->chain.dispatcher_id ? rf_chain_detach(interface, config_id, error)
						 : detach_netlink(interface, program, error);

	if (!err && last)
		rf_pins_remove(&directory);
	return err;
}

int rf_interface_detach(const char *dev, struct rf_error *error)
{
	struct rf_program program = RF_PROGRAM_NONE;
	struct rf_interface interface;
	struct rf_pin_path directory;
	int err = rf_interface_open(dev, &interface, &program, error);

	if (!err && !rf_pins_find(program.map_id[RF_MAP_CONFIG], &directory))
		err = rf_pins_check_owner(&directory, error);
	if (!err)
		err = interface.by_link
			      ? detach_link(&interface, program.map_id[RF_MAP_CONFIG], error)
			      : detach_linkless(&interface, &program, error);
	rf_program_close(&program);
	return err;
}

/* ---- pins without an interface ---- */

/* Is there only a fence of that name without an interface, or the remains of a killed attach? */
static bool fence_is_stray(const char *name)
{
	struct rf_pin_path directory = rf_pins_directory(name);
	char other[IF_NAMESIZE]; /* the interface can have a new name */

	return !access(directory.text, F_OK) && !rf_pins_have_live_link(&directory, NULL) &&
	       !rf_interface_of_pins(&directory, other);
}

/* Foreign files remain, and the directory with them: that is a failure. */
static bool remove_orphans(const char *name)
{
	struct rf_pin_path directory = rf_pins_directory(name);

	if (!fence_is_stray(name))
		return false;
	rf_pins_remove(&directory);
	return access(directory.text, F_OK);
}

/* ---- a request ---- */

/* Adds an interface or, with index 0, pins; once. */
static int add_target(struct rf_detach *detach, const char *name, unsigned int index,
		      struct rf_error *error)
{
	struct rf_detached *grown;

	for (int i = 0; i < detach->count; i++)
		if (detach->target[i].index == index && !strcmp(detach->target[i].name, name))
			return 0;
	grown = reallocarray(detach->target, detach->count + 1, sizeof(*grown));
	if (!grown)
		return rf_error_failed(error, -ENOMEM, "cannot detach: %s", strerror(ENOMEM));
	detach->target = grown;
	grown[detach->count] = (struct rf_detached){.index = index};
	snprintf(grown[detach->count].name, sizeof(grown->name), "%s", name);
	detach->count++;
	return 0;
}

/* May we detach this interface? */
static int check_interface(const char *name, struct rf_detach *detach, struct rf_error *error)
{
	struct rf_program program = RF_PROGRAM_NONE;
	struct rf_interface interface;
	struct rf_pin_path directory;
	int err = rf_interface_open(name, &interface, &program, error);

	if (!err && !rf_pins_find(program.map_id[RF_MAP_CONFIG], &directory))
		err = rf_pins_check_owner(&directory, error);
	if (!err)
		err = add_target(detach, interface.name, interface.index, error);
	rf_program_close(&program);
	return err;
}

static int check_fence(const struct rf_found *found, struct rf_detach *detach,
		       struct rf_error *error)
{
	struct rf_interface *interfaces = NULL;
	int count = rf_interfaces_of(found->config_id, &interfaces, error);
	int err = count < 0 ? count : 0;

	for (int i = 0; i < count && !err; i++)
		err = check_interface(interfaces[i].name, detach, error);
	free(interfaces);
	return err;
}

static int check_word(const char *word, struct rf_detach *detach, struct rf_error *error)
{
	struct rf_dev dev;
	int err = rf_dev_resolve(&dev, word, error);

	if (!err && dev.is_fence)
		return check_fence(&dev.fence, detach, error);
	if (!err)
		err = check_interface(dev.interface, detach, error);
	if ((err == -ENODEV || err == -ENOENT) && fence_is_stray(dev.word))
		return add_target(detach, dev.word, 0, error);
	return err;
}

/* ---- lost state ---- */

static void count_rules(const struct rf_fence *fence, struct rf_lost *lost)
{
	struct rf_ruleset rules = RF_RULESET_NONE;
	struct rf_error ignored;

	if (!rf_fence_ruleset(fence, &rules, &ignored)) {
		rf_ruleset_expire(&rules, rules.listed_count ? rf_fence_jiffies(fence) : 0);
		lost->limits = rf_bank_count(&rules.bank);
		for (int list = 0; list < RF_LIST_COUNT; list++)
			lost->listed[list] =
				rf_ruleset_count_listed(&rules, list, &RF_OWNERS_LOCAL);
	}
	rf_ruleset_free(&rules);
}

static uint64_t count_windows(const struct rf_fence *fence)
{
	struct rf_counters counters;
	struct rf_error ignored;
	uint64_t count = 0;

	if (rf_fence_counters(fence, &counters, &ignored))
		return 0;
	for (int family = 0; family < 2; family++)
		count += rf_counters_windows(&counters, family);
	return count;
}

/* Of a fence that was opened before; its maps last until it is closed, so nothing waits for this.
 */
static void note_lost(const struct rf_fence *fence, struct rf_lost *lost)
{
	struct rf_pin_path directory;
	struct rf_error ignored;
	struct rf_bans bans;

	if (rf_fence_is_attached(fence, &ignored) ||
	    !rf_pins_find(fence->map_id[RF_MAP_CONFIG], &directory))
		return;
	count_rules(fence, lost);
	if (!rf_fence_bans(fence, &bans, &ignored))
		lost->bans = bans.count;
	rf_bans_free(&bans);
	if (!lost->limits && !lost->listed[RF_ALLOW] && !lost->listed[RF_DENY] && !lost->bans)
		return;
	lost->windows = count_windows(fence);
	snprintf(lost->fence, sizeof(lost->fence), "%s", fence->name);
}

static void detach_target(struct rf_detached *target)
{
	struct rf_fence fence = RF_FENCE_NONE;
	struct rf_carrier carrier;
	struct rf_error ignored;
	const bool is_open = !rf_fence_open_on(&fence, target->name, &ignored);

	rf_carrier_begin(&carrier, target->index);
	target->err = rf_interface_detach(target->name, &target->error);
	target->link_down = rf_carrier_wait(&carrier);
	if (!target->err && is_open)
		note_lost(&fence, &target->lost);
	rf_fence_close(&fence);
	if ((target->err == -ENODEV || target->err == -ENOENT) && remove_orphans(target->name)) {
		target->was_gone = true;
		target->err = 0;
	}
}

int rf_fence_detach(const char *const *word, int words, struct rf_detach *detach,
		    struct rf_error *error)
{
	int err = rf_fence_lock(error);

	*detach = (struct rf_detach){};
	for (int i = 0; i < words && !err; i++)
		err = check_word(word[i], detach, error);
	if (err && words > 1) {
		const struct rf_error refused = *error;

		err = rf_error_failed(error, err, "%.470s; no interface was detached",
				      refused.text);
		error->usage = refused.usage;
	}
	for (int i = 0; i < detach->count && !err; i++)
		detach_target(&detach->target[i]);
	return err;
}

/* ---- fences without an interface ---- */

/*
 * Fences without an interface. Their pins hold rules, windows and memory until 'attach' brings them
 * to an interface again, or 'detach' removes them. A fence that `ip` has attached in another
 * network namespace looks like one.
 */

static uint64_t memory_of(const struct rf_pin_path *directory)
{
	struct rf_program program = RF_PROGRAM_NONE;
	struct rf_fence fence = RF_FENCE_NONE;
	struct rf_memory memory = {};
	struct bpf_prog_info info = {};
	struct rf_error ignored;
	const int fd = rf_pins_open_any_entry(directory, &info);

	if (fd < 0)
		return 0;
	if (!rf_program_open(&program, info.id, &ignored) &&
	    !rf_program_check_abi(&program, "", &ignored) &&
	    !rf_fence_from_program(&fence, &program, &ignored))
		rf_fence_memory(&fence, &memory);
	rf_fence_close(&fence);
	rf_program_close(&program);
	close(fd);
	return memory.bytes;
}

void rf_stray_format(const struct rf_stray *stray, char text[RF_STRAY_TEXT_SIZE])
{
	snprintf(text, RF_STRAY_TEXT_SIZE,
		 "'%s' is on no interface here, and holds %" PRIu64
		 " MiB: 'ringfence attach IF fence %s' attaches it again, with its rules; "
		 "'ringfence detach %s' removes it and its rules",
		 stray->name, (stray->memory + (1 << 19)) >> 20, stray->name, stray->name);
}

int rf_strays_find(struct rf_stray *stray, int max)
{
	glob_t paths = {};
	int count = 0;

	if (glob(RF_PIN_ROOT "/*/config", 0, NULL, &paths))
		return 0;
	for (size_t i = 0; i < paths.gl_pathc && count < max; i++) {
		struct rf_pin_path path, directory;
		const char *name;

		snprintf(path.text, sizeof(path.text), "%s", paths.gl_pathv[i]);
		directory = rf_pins_parent(&path);
		name = strrchr(directory.text, '/') + 1;
		if (!fence_is_stray(name))
			continue;
		stray[count] = (struct rf_stray){.memory = memory_of(&directory)};
		snprintf(stray[count++].name, sizeof(stray->name), "%s", name);
	}
	globfree(&paths);
	return count;
}
