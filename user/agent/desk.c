// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent/desk.h"
#include "fleet/socket.h"

#define FLAGS (SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK)

static int watch(const struct rf_desk *desk, int fd, const void *of)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = (void *)of};

	return epoll_ctl(desk->epoll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

/* The socket of an agent that is gone refuses; one that answers is another agent's. */
static bool is_taken(const struct sockaddr_un *address)
{
	const int fd = socket(AF_UNIX, FLAGS, 0);
	bool answers;

	if (fd < 0)
		return false;
	answers = !connect(fd, (const struct sockaddr *)address, sizeof(*address));
	close(fd);
	return answers;
}

static int listen_at(const struct sockaddr_un *address)
{
	const mode_t mask = umask(0177);
	const int fd = socket(AF_UNIX, FLAGS, 0);
	int err = 0;

	unlink(address->sun_path);
	if (fd < 0 || bind(fd, (const struct sockaddr *)address, sizeof(*address)) ||
	    listen(fd, RF_DESK_CLIENTS))
		err = -errno;
	umask(mask);
	if (err && fd >= 0)
		close(fd);
	return err ? err : fd;
}

int rf_desk_open(struct rf_desk *desk, const char *name, int epoll_fd, struct rf_error *error)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	*desk = (struct rf_desk){.epoll_fd = epoll_fd, .fd = -1};
	for (int i = 0; i < RF_DESK_CLIENTS; i++)
		desk->client[i] = -1;
	snprintf(desk->path, sizeof(desk->path), RF_AGENT_SOCKET, name);
	memcpy(address.sun_path, desk->path, sizeof(address.sun_path));
	mkdir(RF_AGENT_DIRECTORY, 0755);
	if (is_taken(&address))
		return rf_error_failed(
			error, -EADDRINUSE,
			"fence '%s': another ringfence-fleet serves it; end that one "
			"first",
			name);
	desk->fd = listen_at(&address);
	if (desk->fd < 0)
		return rf_error_failed(error, desk->fd, "%s: cannot listen there: %s", desk->path,
				       strerror(-desk->fd));
	return watch(desk, desk->fd, desk);
}

static void drop_client(struct rf_desk *desk, int place)
{
	if (desk->client[place] >= 0)
		close(desk->client[place]);
	desk->client[place] = -1;
}

static void take_client(struct rf_desk *desk)
{
	const int fd = accept4(desk->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	const int place = desk->next;

	if (fd < 0)
		return;
	drop_client(desk, place);
	desk->client[place] = fd;
	desk->next = (place + 1) % RF_DESK_CLIENTS;
	if (watch(desk, fd, &desk->client[place]))
		drop_client(desk, place);
}

static void answer_client(struct rf_desk *desk, int place, const struct rf_status_view *view)
{
	char question[RF_STATUS_QUESTION_SIZE + 1];
	const ssize_t length =
		recv(desk->client[place], question, RF_STATUS_QUESTION_SIZE, MSG_DONTWAIT);
	char *answer;

	if (length > 0) {
		question[length] = '\0';
		answer = rf_status_answer(view, question);
		if (answer)
			send(desk->client[place], answer, strlen(answer),
			     MSG_DONTWAIT | MSG_NOSIGNAL);
		free(answer);
	}
	drop_client(desk, place);
}

bool rf_desk_serve(struct rf_desk *desk, const void *of, const struct rf_status_view *view)
{
	if (of == desk) {
		take_client(desk);
		return true;
	}
	for (int i = 0; i < RF_DESK_CLIENTS; i++)
		if (of == &desk->client[i]) {
			if (desk->client[i] >= 0)
				answer_client(desk, i, view);
			return true;
		}
	return false;
}

void rf_desk_close(struct rf_desk *desk)
{
	if (desk->fd < 0)
		return;
	for (int i = 0; i < RF_DESK_CLIENTS; i++)
		drop_client(desk, i);
	close(desk->fd);
	unlink(desk->path);
	desk->fd = -1;
}
