// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <string.h>

#include "base/received.h"

/* "  eth0: BYTES PACKETS …", where a name may have colons. Returns NULL for another line. */
static const char *split_line(char *line, uint64_t *packets)
{
	char *end = strrchr(line, ':');
	uint64_t bytes;

	if (!end || sscanf(end, ": %" SCNu64 " %" SCNu64, &bytes, packets) != 2)
		return NULL;
	*end = '\0';
	return line + strspn(line, " ");
}

void rf_received_parse(FILE *list, struct rf_received *received, size_t count)
{
	char line[512];

	while (fgets(line, sizeof(line), list)) {
		uint64_t packets;
		const char *name = split_line(line, &packets);

		for (size_t i = 0; name && i < count; i++)
			if (strcmp(received[i].name, name) == 0)
				received[i].packets = packets;
	}
}

void rf_received_read(struct rf_received *received, size_t count)
{
	FILE *list = fopen("/proc/net/dev", "re");

	if (!list)
		return;
	rf_received_parse(list, received, count);
	fclose(list);
}
