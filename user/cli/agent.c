// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/agent.h"
#include "fleet/socket.h"

#define PATIENCE_S 5

static int fail_to_ask(const char *fence, int err, struct rf_error *error)
{
	if (err == -ENOENT || err == -ECONNREFUSED)
		return rf_error_failed(error, err,
				       "fence '%s': no agent serves it; 'systemctl enable --now "
				       "ringfence-fleet@%s' starts one",
				       fence, fence);
	return rf_error_failed(error, err, "fence '%s': cannot ask its agent: %s%s", fence,
			       strerror(-err), err == -EACCES ? "; it takes root" : "");
}

static int connect_to(const char *fence)
{
	const struct timeval patience = {.tv_sec = PATIENCE_S};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	int err = fd < 0 ? -errno : 0;

	snprintf(address.sun_path, sizeof(address.sun_path), RF_AGENT_SOCKET, fence);
	if (!err) {
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
		if (connect(fd, (const struct sockaddr *)&address, sizeof(address)))
			err = -errno;
	}
	if (err && fd >= 0)
		close(fd);
	return err ? err : fd;
}

int rf_agent_ask(const char *fence, const char *question, json_t **answer, struct rf_error *error)
{
	char *text = malloc(RF_AGENT_ANSWER_SIZE);
	int fd = text ? connect_to(fence) : -ENOMEM, err = fd < 0 ? fd : 0;
	ssize_t length = 0;

	if (!err && send(fd, question, strlen(question), MSG_NOSIGNAL) < 0)
		err = -errno;
	if (!err)
		length = recv(fd, text, RF_AGENT_ANSWER_SIZE, 0);
	if (!err && length <= 0)
		err = length ? -errno : -ECONNRESET;
	if (!err) {
		*answer = json_loadb(text, length, 0, NULL);
		err = *answer ? 0 : -EPROTO;
	}
	if (fd >= 0)
		close(fd);
	free(text);
	return err ? fail_to_ask(fence, err, error) : 0;
}
