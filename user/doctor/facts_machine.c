// SPDX-License-Identifier: GPL-2.0
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "doctor/facts.h"

#define USER_NAMESPACE_FIRST "user:[4026531837]" /* its number is fixed in the kernel */

/* Reads the rest of the line that begins with `key`; false where no line does. */
static bool read_value(const char *path, const char *key, char *value, size_t size)
{
	FILE *file = fopen(path, "re");
	char line[256];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file)) {
		found = strncmp(line, key, strlen(key)) == 0;
		if (found)
			snprintf(value, size, "%s", line + strlen(key));
	}
	if (file)
		fclose(file);
	return found;
}

static uint64_t read_capabilities(void)
{
	unsigned long long capabilities = 0;
	char value[64];

	if (read_value("/proc/self/status", "CapEff:", value, sizeof(value)))
		sscanf(value, "%llx", &capabilities);
	return capabilities;
}

static bool is_in_user_namespace(void)
{
	char name[64] = "";
	ssize_t length = readlink("/proc/self/ns/user", name, sizeof(name) - 1);

	return length > 0 && strcmp(name, USER_NAMESPACE_FIRST) != 0;
}

static enum rf_lockdown read_lockdown(void)
{
	char value[128];

	if (!read_value("/sys/kernel/security/lockdown", "", value, sizeof(value)))
		return RF_LOCKDOWN_UNSEEN;
	if (strstr(value, "[confidentiality]"))
		return RF_LOCKDOWN_CONFIDENTIALITY;
	return strstr(value, "[integrity]") ? RF_LOCKDOWN_INTEGRITY : RF_LOCKDOWN_NONE;
}

void rf_facts_machine(struct rf_machine_facts *machine)
{
	struct utsname name = {};
	struct statfs fs;

	uname(&name);
	snprintf(machine->release, sizeof(machine->release), "%s", name.release);
	machine->btf = access("/sys/kernel/btf/vmlinux", F_OK) == 0;
	machine->bpffs = statfs(RF_BPFFS, &fs) == 0 && fs.f_type == BPF_FS_MAGIC;
	machine->capabilities = read_capabilities();
	machine->in_user_namespace = is_in_user_namespace();
	machine->lockdown = read_lockdown();
}
