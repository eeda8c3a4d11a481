// SPDX-License-Identifier: GPL-2.0
/*
 * Removes a fence's pins and nothing else, since others may pin in the same directory. A pin is
 * ours if its object has the kind and the name of ours.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/info.h"
#include "kernel/pins.h"

enum kind {
	PROGRAM,
	MAP,
	ITERATOR,
};

static const char *const kind_names[] = {[PROGRAM] = "prog", [MAP] = "map", [ITERATOR] = "link"};

/* A pin that a fence may have. The links of interfaces are not among these. */
struct pin {
	char name[32];
	enum kind kind;
	const char *object; /* part of its object's name */
};

#define TRIES (2 * RF_FAMILIES)
#define PINS (RF_ENTRY_COUNT + RF_SHARE_PIN_COUNT + RF_MAP_COUNT + TRIES + RF_ITERATOR_COUNT)

/* The programs come first, since they are pinned last. */
static struct pin nth_pin(int i)
{
	struct pin pin = {};

	if (i < RF_ENTRY_COUNT) {
		pin = (struct pin){.kind = PROGRAM, .object = "ringfence"};
		snprintf(pin.name, sizeof(pin.name), "%s", rf_entry_pins[i]);
	} else if ((i -= RF_ENTRY_COUNT) < RF_SHARE_PIN_COUNT) {
		pin = (struct pin){.kind = i == RF_SHARE_CALL ? PROGRAM : MAP,
				   .object = rf_share_pins[i]};
		snprintf(pin.name, sizeof(pin.name), "%s", rf_share_pins[i]);
	} else if ((i -= RF_SHARE_PIN_COUNT) < RF_MAP_COUNT) {
		pin = (struct pin){.kind = MAP, .object = rf_map_in_object(i)};
		snprintf(pin.name, sizeof(pin.name), "%s", rf_map_names[i]);
	} else if ((i -= RF_MAP_COUNT) < TRIES) {
		pin = (struct pin){.kind = MAP, .object = "prefix_trie"};
		rf_pins_name_trie(i / 2, i % 2, pin.name);
	} else {
		pin = (struct pin){.kind = ITERATOR};
		snprintf(pin.name, sizeof(pin.name), "%s", rf_iterator_pins[i - TRIES]);
	}
	return pin;
}

/* ---- whose pins ---- */

static bool is_kind(int fd, enum kind kind)
{
	char path[64], target[64];
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	length = readlink(path, target, sizeof(target) - 1);
	if (length < 0)
		return false;
	target[length] = '\0';
	return strstr(target, kind_names[kind]);
}

/* Does the pinned object have the kind and the name of ours? */
static bool is_our_object(int fd, const struct pin *pin)
{
	struct bpf_prog_info program = {};
	struct bpf_map_info map = {};

	if (!is_kind(fd, pin->kind))
		return false;
	switch (pin->kind) {
	case PROGRAM:
		return !rf_program_info(fd, &program) &&
		       strstr(program.name, pin->object) == program.name;
	case MAP:
		return !rf_map_info(fd, &map) && strstr(map.name, pin->object);
	case ITERATOR:
		break;
	}
	return true;
}

enum owner {
	NOBODY, /* no pin, or one that this process may not open */
	OURS,
	FOREIGN,
};

static enum owner owner_of(const struct rf_pin_path *path, const struct pin *pin)
{
	enum owner owner = NOBODY;
	struct stat status;
	int fd;

	if (lstat(path->text, &status))
		return NOBODY;
	if (!S_ISREG(status.st_mode))
		return FOREIGN;
	fd = bpf_obj_get(path->text);
	if (fd >= 0) {
		owner = is_our_object(fd, pin) ? OURS : FOREIGN;
		close(fd);
	}
	return owner;
}

static int fail_foreign(const char *path, struct rf_error *error)
{
	return rf_error_failed(error, -EEXIST,
			       "%s: this is in the way, and not ringfence's; remove it, or choose "
			       "another fence name: 'ringfence attach IF fence NAME'",
			       path);
}

int rf_pins_check(const struct rf_pin_path *directory, struct rf_error *error)
{
	struct stat status;

	if (!lstat(directory->text, &status) && !S_ISDIR(status.st_mode))
		return fail_foreign(directory->text, error);
	for (int i = 0; i < PINS; i++) {
		const struct pin pin = nth_pin(i);
		struct rf_pin_path path = rf_pins_entry(directory, pin.name);

		if (owner_of(&path, &pin) == FOREIGN)
			return fail_foreign(path.text, error);
	}
	return 0;
}

/* ---- removing ---- */

/* Is it the link of an interface, or the mark of such a link? */
static bool is_link(const char *path)
{
	struct bpf_link_info info = {};
	struct stat status;
	bool is = false;
	int fd;

	if (!lstat(path, &status) && S_ISLNK(status.st_mode))
		return true;
	fd = bpf_obj_get(path);
	if (fd >= 0) {
		is = is_kind(fd, ITERATOR) && !rf_link_info(fd, &info) &&
		     info.type == BPF_LINK_TYPE_XDP;
		close(fd);
	}
	return is;
}

static void remove_links(const struct rf_pin_path *directory)
{
	glob_t paths;

	rf_pins_glob_links(directory, &paths);
	for (size_t i = 0; i < paths.gl_pathc; i++)
		if (is_link(paths.gl_pathv[i]))
			unlink(paths.gl_pathv[i]);
	globfree(&paths);
}

static void remove_pin(const struct rf_pin_path *directory, const struct pin *pin)
{
	struct rf_pin_path path = rf_pins_entry(directory, pin->name);
	struct rf_pin_path fresh = rf_pins_fresh(directory, pin->name);

	if (owner_of(&path, pin) == OURS)
		unlink(path.text);
	if (owner_of(&fresh, pin) == OURS) /* left by a command that was killed */
		unlink(fresh.text);
}

/* Links are removed last: while one is there, a command that was killed can be run again. */
static void remove_directory(const struct rf_pin_path *directory)
{
	struct stat status;

	if (lstat(directory->text, &status) || !S_ISDIR(status.st_mode))
		return;
	for (int i = 0; i < PINS; i++) {
		const struct pin pin = nth_pin(i);

		remove_pin(directory, &pin);
	}
	remove_links(directory);
	rmdir(directory->text); /* fails, as it should, if anything is left in it */
}

/* A directory with programs is no copy: it is the only directory of another user's fence. */
static bool is_copy(const struct rf_pin_path *directory)
{
	return access(rf_pins_entry(directory, rf_entry_pins[RF_PLAIN]).text, F_OK) &&
	       access(rf_pins_entry(directory, rf_entry_pins[RF_FRAGS]).text, F_OK);
}

void rf_pins_remove(const struct rf_pin_path *directory)
{
	struct rf_pin_path shared = rf_pins_shared(directory);

	/* The copy is removed first: without the original, nothing would lead to it. */
	if (*shared.text && is_copy(&shared))
		remove_directory(&shared);
	remove_directory(directory);
	rmdir(RF_PIN_ROOT);
}
