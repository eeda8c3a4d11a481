// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/publish.h"
#include "base/say.h"
#include "base/units.h"
#include "fleet/socket.h"

#define FILE_MODE 0640 /* the agent's group is that of those who may watch */

void rf_publisher_start(struct rf_publisher *publisher, const char *name)
{
	*publisher = (struct rf_publisher){};
	snprintf(publisher->path, sizeof(publisher->path), RF_AGENT_STATUS, name);
	snprintf(publisher->next, sizeof(publisher->next), "%s.new", publisher->path);
}

void rf_publisher_end(struct rf_publisher *publisher)
{
	if (*publisher->path)
		unlink(publisher->path);
}

static int write_text(const struct rf_publisher *publisher, const char *text)
{
	const int fd = open(publisher->next, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
			    FILE_MODE);
	const ssize_t length = strlen(text);
	int err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, length) != length || fchmod(fd, FILE_MODE))
		err = errno ? -errno : -EIO;
	close(fd);
	if (!err && rename(publisher->next, publisher->path))
		err = -errno;
	return err;
}

void rf_publisher_turn(struct rf_publisher *publisher, const struct rf_status_view *view,
		       uint64_t now)
{
	char *text;
	int err;

	if (now < publisher->at_ns)
		return;
	publisher->at_ns = now + RF_NS_PER_S;
	text = rf_status_answer(view, "status");
	errno = 0;
	err = text ? write_text(publisher, text) : -ENOMEM;
	if (err && err != publisher->said)
		rf_warn("%s: cannot write it: %s; who watches sees no agent", publisher->path,
			strerror(-err));
	publisher->said = err;
	free(text);
}
