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

int rf_desk_open(struct rf_desk *desk, const char *name, int epoll_fd,
		 const struct rf_desk_port *port, struct rf_error *error)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	*desk = (struct rf_desk){.epoll_fd = epoll_fd, .fd = -1, .port = *port};
	for (int i = 0; i < RF_DESK_CLIENTS; i++)
		desk->client[i].fd = -1;
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

static void drop_client(struct rf_desk_client *client)
{
	if (client->fd >= 0)
		close(client->fd);
	client->fd = -1;
}

static void take_client(struct rf_desk *desk)
{
	const int fd = accept4(desk->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	const int room = RF_AGENT_ANSWER_SIZE / 2; /* the kernel doubles it */
	struct rf_desk_client *client = &desk->client[desk->next];

	if (fd < 0)
		return;
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	drop_client(client);
	*client = (struct rf_desk_client){.fd = fd, .ticket = ++desk->tickets};
	desk->next = (desk->next + 1) % RF_DESK_CLIENTS;
	if (watch(desk, fd, client))
		drop_client(client);
}

/* All of it or nothing: a client that does not read waits in vain. */
static void reply(struct rf_desk_client *client, const char *answer)
{
	static const char too_long[] = "{\"schema\":1,\"error\":\"the answer is too long\"}";

	if (answer && send(client->fd, answer, strlen(answer), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		send(client->fd, too_long, strlen(too_long), MSG_DONTWAIT | MSG_NOSIGNAL);
	drop_client(client);
}

/* It has asked already: then it has hung up, or says more than it may. */
static void hear_client(struct rf_desk *desk, struct rf_desk_client *client)
{
	char question[RF_DESK_QUESTION_SIZE];
	const ssize_t length = recv(client->fd, question, sizeof(question) - 1, MSG_DONTWAIT);
	bool later = false;
	char *answer;

	if (client->has_asked || length <= 0) {
		drop_client(client);
		return;
	}
	question[length] = '\0';
	client->has_asked = true;
	answer = desk->port.answer(desk->port.context, question, client->ticket, &later);
	if (!later)
		reply(client, answer);
	free(answer);
}

void rf_desk_reply(struct rf_desk *desk, uint64_t ticket, const char *answer)
{
	for (int i = 0; i < RF_DESK_CLIENTS; i++)
		if (desk->client[i].fd >= 0 && desk->client[i].ticket == ticket)
			reply(&desk->client[i], answer);
}

bool rf_desk_serve(struct rf_desk *desk, const void *of)
{
	if (of == desk) {
		take_client(desk);
		return true;
	}
	for (int i = 0; i < RF_DESK_CLIENTS; i++)
		if (of == &desk->client[i]) {
			if (desk->client[i].fd >= 0)
				hear_client(desk, &desk->client[i]);
			return true;
		}
	return false;
}

void rf_desk_close(struct rf_desk *desk)
{
	if (desk->fd < 0)
		return;
	for (int i = 0; i < RF_DESK_CLIENTS; i++)
		drop_client(&desk->client[i]);
	close(desk->fd);
	unlink(desk->path);
	desk->fd = -1;
}
