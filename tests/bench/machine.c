// SPDX-License-Identifier: GPL-2.0
/* Names the machine: a figure means nothing without its machine. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bench.h"

/* The rest of a line of /proc/cpuinfo, for the first CPU; empty if there is no such line. */
static void read_cpuinfo(const char *key, char *value, size_t size)
{
	FILE *file = fopen("/proc/cpuinfo", "r");
	char line[4096];

	value[0] = '\0';
	while (file && fgets(line, sizeof(line), file)) {
		char *colon = strchr(line, ':');

		if (!colon || strncmp(line, key, strlen(key)) != 0)
			continue;
		colon[strcspn(colon, "\n")] = '\0';
		snprintf(value, size, "%s", colon[1] == ' ' ? colon + 2 : colon + 1);
		break;
	}
	if (file)
		fclose(file);
}

/* In KiB, as the kernel reports it; sysconf reports too much under some hypervisors. */
static long read_cache(int index)
{
	char path[80];
	long kib = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu0/cache/index%d/size", index);
	file = fopen(path, "r");
	if (file && fscanf(file, "%ldK", &kib) != 1)
		kib = 0;
	if (file)
		fclose(file);
	return kib;
}

struct machine machine_read(void)
{
	struct machine machine = {.cpus = sysconf(_SC_NPROCESSORS_ONLN)};
	struct utsname kernel = {};
	char flags[4096];

	uname(&kernel);
	snprintf(machine.kernel, sizeof(machine.kernel), "%s", kernel.release);
	read_cpuinfo("model name", machine.cpu, sizeof(machine.cpu));
	if (!machine.cpu[0])
		snprintf(machine.cpu, sizeof(machine.cpu), "%s", kernel.machine);
	read_cpuinfo("flags", flags, sizeof(flags));
	machine.is_virtual = strstr(flags, " hypervisor") != NULL;
	machine.l2_kib = read_cache(2);
	machine.l3_kib = read_cache(3);
	return machine;
}
