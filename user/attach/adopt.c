// SPDX-License-Identifier: GPL-2.0
/*
 * Pins a fence that `ip` attached. From then on, users who may not open programs by id find the
 * fence by its pins. A fence that has pins already gets those that are missing.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "attach/private.h"
#include "fence/tries.h"

int rf_adopt_check_name(const char *name, struct rf_error *error)
{
	struct rf_fence fence = RF_FENCE_NONE;
	struct rf_error ignored;
	int err = 0;

	/* A fence without pins has the name of its interface: only that interface needs a look. */
	if (!if_nametoindex(name) || rf_fence_open_on(&fence, name, &ignored) ||
	    strcmp(fence.name, name) != 0)
		err = 0;
	else if (*fence.pins)
		err = rf_error_failed(error, -EEXIST,
				      "fence '%s': interface %s has a fence of that name, with its "
				      "pins at %s; choose another name",
				      name, name, fence.pins);
	else
		err = rf_error_failed(error, -EEXIST,
				      "fence '%s': interface %s has a fence of that name, which "
				      "'ip' attached; to use that fence, first run 'ringfence "
				      "adopt %s'; otherwise choose another name",
				      name, name, name);
	rf_fence_close(&fence);
	return err;
}

/*
 * Fails where the directory of this name has the pins of another fence. The remedy is never
 * 'detach' with this name: that would detach this fence, which is on the interface of that name.
 */
static int check_directory(const struct rf_pin_path *directory, const char *name,
			   struct rf_error *error)
{
	char other[IF_NAMESIZE];

	if (access(directory->text, F_OK))
		return 0;
	if (rf_interface_of_pins(directory, other))
		return rf_error_failed(error, -EEXIST,
				       "%s: this directory has the pins of another fence '%s', on "
				       "%s; first run 'ringfence detach %s', then attach that "
				       "interface under another fence name",
				       directory->text, name, other, other);
	if (rf_pins_have_live_link(directory, NULL))
		return rf_error_failed(
			error, -EEXIST,
			"%s: this directory has the pins of another fence '%s', on an interface of "
			"another network namespace; first detach that interface there",
			directory->text, name);
	return rf_error_failed(error, -EEXIST,
			       "%s: this directory has the pins of another fence '%s', which is no "
			       "longer on any interface here; 'rm -r %s' removes the pins",
			       directory->text, name, directory->text);
}

/* Replaces pins of maps that exist already: a command that was killed may have left them. */
static int pin_fence(const struct rf_fence *fence, const struct rf_program *program,
		     const struct rf_pin_path *directory, struct rf_error *error)
{
	int fd[RF_ENTRY_COUNT] = {-1, -1}, pinned;
	struct bpf_prog_info info = {};
	int err = rf_pins_make_directory(directory, error);

	fd[rf_entry_of(program)] = program->fd;
	if (!err)
		err = rf_tries_pin(fence->map_fd, directory, error);
	if (!err)
		err = rf_pins_put_maps(directory, fence->map_fd, error);
	if (!err)
		err = rf_shares_pin_missing(directory, fence, program, error);
	if (!err)
		rf_iterators_pin(directory, fence->map_fd);
	if (err)
		return err;
	pinned = rf_pins_open_any_entry(directory, &info);
	if (pinned < 0)
		return rf_pins_put_programs(directory, fd, error);
	close(pinned);
	return 0;
}

static void note(struct rf_fence *fence, const struct rf_program *program)
{
	uint32_t id[RF_ENTRY_COUNT] = {};

	id[rf_entry_of(program)] = program->id;
	rf_fence_keep_name(fence);
	rf_fence_note_programs(fence, id);
}

static int adopt(struct rf_fence *fence, const struct rf_program *program,
		 struct rf_adopted *adopted, struct rf_error *error)
{
	struct rf_pin_path directory = rf_fence_pins(fence);
	int err = 0;

	adopted->is_new = !*directory.text;
	if (adopted->is_new) {
		directory = rf_pins_directory(fence->name);
		err = check_directory(&directory, fence->name, error);
	}
	if (!err) {
		note(fence, program);
		err = pin_fence(fence, program, &directory, error);
		if (err && adopted->is_new)
			rf_pins_remove(&directory);
	}
	if (!err)
		err = rf_group_pin(&directory, fence->map_fd, &adopted->refusal, error);
	snprintf(adopted->fence, sizeof(adopted->fence), "%s", fence->name);
	memcpy(adopted->pins, directory.text, sizeof(adopted->pins));
	return err;
}

/* To adopt a fence is to open its program and its tries by id, which takes CAP_SYS_ADMIN. */
static int check_may_adopt(const struct rf_interface *interface, const struct rf_program *program,
			   const struct rf_fence *fence, struct rf_error *error)
{
	int fd = bpf_prog_get_fd_by_id(program->id);

	if (fd < 0)
		return rf_error_failed(error, -errno,
				       "%s: cannot adopt its fence: %s; it takes CAP_SYS_ADMIN",
				       interface->name, strerror(errno));
	close(fd);
	return rf_fence_check_may_change(fence, interface->name, error);
}

int rf_adopt(const char *dev, struct rf_adopted *adopted, struct rf_error *error)
{
	struct rf_program program = RF_PROGRAM_NONE, open = RF_PROGRAM_NONE;
	struct rf_fence fence = RF_FENCE_NONE;
	struct rf_interface interface;
	int err = rf_fence_lock(error);

	*adopted = (struct rf_adopted){};
	if (!err)
		err = rf_interface_open(dev, &interface, &program, error);
	if (!err)
		err = rf_program_check_abi(&program, interface.name, error);
	if (!err)
		err = rf_program_open(&open, program.id, error);
	if (!err) {
		memcpy(fence.name, interface.name, sizeof(interface.name)); /* for errors */
		err = rf_fence_from_program(&fence, &open, error);
	}
	if (!err)
		err = check_may_adopt(&interface, &program, &fence, error);
	if (!err)
		err = adopt(&fence, &program, adopted, error);
	rf_fence_close(&fence);
	rf_program_close(&open);
	rf_program_close(&program);
	return err;
}
