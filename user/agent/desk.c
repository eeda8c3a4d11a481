// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent/desk.h"
#include "fleet/socket.h"

#define FLAGS (SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK)

/* The socket of a dead agent refuses connections; otherwise a different agent serves it. */
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

static void drop_client(struct rf_desk_client *client)
{
	if (client->socket.fd < 0)
		return;
	rf_loop_unwatch(client->desk->loop, &client->socket);
	close(client->socket.fd);
	client->socket.fd = -1;
}

/* All or nothing: the agent does not wait for a client that does not read. */
static void reply(struct rf_desk_client *client, const char *answer)
{
	static const char too_long[] = "{\"schema\":1,\"error\":\"the answer is too long\"}";

	if (answer &&
	    send(client->socket.fd, answer, strlen(answer), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		send(client->socket.fd, too_long, strlen(too_long), MSG_DONTWAIT | MSG_NOSIGNAL);
	drop_client(client);
}

/* A second request or a hangup closes the connection. */
static void hear_client(void *context, uint32_t events)
{
	struct rf_desk_client *client = context;
	const struct rf_desk_port *port = &client->desk->port;
	char question[RF_DESK_QUESTION_SIZE];
	const ssize_t length =
		recv(client->socket.fd, question, sizeof(question) - 1, MSG_DONTWAIT);
	bool later = false;
	char *answer;

	(void)events;
	if (client->has_asked || length <= 0) {
		drop_client(client);
		return;
	}
	question[length] = '\0';
	client->has_asked = true;
	answer = port->answer(port->context, question, client->ticket, &later);
	if (!later)
		reply(client, answer);
	free(answer);
}

static void take_client(void *context, uint32_t events)
{
	struct rf_desk *desk = context;
	const int fd = accept4(desk->listens.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	const int room = RF_AGENT_ANSWER_SIZE / 2; /* the kernel doubles it */
	struct rf_desk_client *client = &desk->client[desk->next];

	(void)events;
	if (fd < 0)
		return;
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	drop_client(client);
	*client = (struct rf_desk_client){
		.desk = desk,
		.socket = {.ready = hear_client, .context = client, .fd = fd},
		.ticket = ++desk->tickets,
	};
	desk->next = (desk->next + 1) % RF_DESK_CLIENTS;
	if (rf_loop_watch(desk->loop, &client->socket, EPOLLIN))
		drop_client(client);
}

int rf_desk_open(struct rf_desk *desk, const char *name, struct rf_loop *loop,
		 const struct rf_desk_port *port, struct rf_error *error)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	*desk = (struct rf_desk){
		.loop = loop,
		.listens = {.ready = take_client, .context = desk, .fd = -1},
		.port = *port,
	};
	for (int i = 0; i < RF_DESK_CLIENTS; i++)
		desk->client[i].socket.fd = -1;
	snprintf(desk->path, sizeof(desk->path), RF_AGENT_SOCKET, name);
	memcpy(address.sun_path, desk->path, sizeof(address.sun_path));
	mkdir(RF_AGENT_DIRECTORY, 0755);
	if (is_taken(&address))
		return rf_error_failed(
			error, -EADDRINUSE,
			"fence '%s': another ringfence-fleet serves it; end that one "
			"first",
			name);
	desk->listens.fd = listen_at(&address);
	if (desk->listens.fd < 0)
		return rf_error_failed(error, desk->listens.fd, "%s: cannot listen there: %s",
				       desk->path, strerror(-desk->listens.fd));
	return rf_loop_watch(loop, &desk->listens, EPOLLIN);
}

void rf_desk_reply(struct rf_desk *desk, uint64_t ticket, const char *answer)
{
	for (int i = 0; i < RF_DESK_CLIENTS; i++)
		if (desk->client[i].socket.fd >= 0 && desk->client[i].ticket == ticket)
			reply(&desk->client[i], answer);
}

void rf_desk_close(struct rf_desk *desk)
{
	if (desk->listens.fd < 0)
		return;
	for (int i = 0; i < RF_DESK_CLIENTS; i++)
		drop_client(&desk->client[i]);
	rf_loop_unwatch(desk->loop, &desk->listens);
	close(desk->listens.fd);
	unlink(desk->path);
	desk->listens.fd = -1;
}
