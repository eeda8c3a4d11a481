// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fleet/socket.h"
#include "snapshot/fleet_seen.h"

#define TOLD_SIZE (32 << 10) /* 32 limits and a thousand members are less */

static char *read_text(const char *fence, char *text, size_t size)
{
	char path[sizeof(RF_AGENT_STATUS) + RF_NAME_SIZE];
	ssize_t length;
	int fd;

	snprintf(path, sizeof(path), RF_AGENT_STATUS, fence);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return NULL;
	length = read(fd, text, size - 1);
	close(fd);
	text[length > 0 ? length : 0] = '\0';
	return text;
}

void rf_fleet_look(struct rf_fleet_seen *seen, const struct rf_fence *fence,
		   const struct rf_bank *rules, uint64_t now_ns)
{
	char text[TOLD_SIZE];

	*seen = (struct rf_fleet_seen){};
	if (!rf_fence_has_shares(fence))
		return;
	for (int i = 0; i < RF_LIMITS_MAX; i++)
		seen->limits += rules->policy[i].id && rules->policy[i].flags & RF_FLEET;
	if (!seen->limits)
		return;
	seen->standing = rf_fence_fleet(fence);
	if (read_text(fence->name, text, sizeof(text)))
		rf_agent_read(&seen->agent, text, now_ns);
}
