// SPDX-License-Identifier: GPL-2.0
/*
 * Fences without an interface. Their pins hold rules, windows and memory until 'attach' brings them
 * to an interface again, or 'detach' removes them. A fence that `ip` has attached in another
 * network namespace looks like one.
 */
#include <bpf/bpf.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "attach/private.h"
#include "kernel/info.h"

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
		if (!rf_fence_is_stray(name))
			continue;
		stray[count] = (struct rf_stray){.memory = memory_of(&directory)};
		snprintf(stray[count++].name, sizeof(stray->name), "%s", name);
	}
	globfree(&paths);
	return count;
}
