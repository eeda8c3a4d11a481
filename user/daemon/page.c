// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/say.h"
#include "daemon/asks.h"
#include "daemon/confine.h"
#include "daemon/http.h"
#include "daemon/page.h"
#include "daemon/respond.h"

#define SERVERS 2

/* The site comes first. It has the token, so it is not on the command line. */
static int read_site(struct rf_feed_reader *reader, struct rf_site *site)
{
	struct rf_feed_message message;
	const int got = rf_feed_read(reader, &message);

	if (got != 1)
		return -EPROTO;
	if (message.header.kind != RF_DOC_SITE || message.header.length != sizeof(*site))
		return -EPROTO;
	memcpy(site, message.bytes, sizeof(*site));
	free(message.bytes);
	return 0;
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

/* Starts a server on each socket. Returns their number, or -1. */
static int start_servers(struct rf_http *server[SERVERS], const struct rf_site *site)
{
	/* Before the first server opens files of its own. */
	const bool has[SERVERS] = {is_open(RF_PAGE_TCP), is_open(RF_PAGE_UNIX)};
	int servers = 0;

	for (int i = 0; i < SERVERS; i++) {
		if (!has[i])
			continue;
		server[servers] = rf_http_start(RF_PAGE_TCP + i, i == 1, site);
		if (!server[servers++])
			return -1;
	}
	return servers;
}

/* Takes the documents that are there. False: the scanner is gone. */
static bool take_documents(struct rf_feed_reader *reader, bool *has_answers)
{
	struct rf_feed_message message;
	int got;

	while ((got = rf_feed_read(reader, &message)) == 1)
		*has_answers = rf_respond_take(&message) || *has_answers;
	return !got;
}

/* Serves what has come. Returns for how long there is nothing to do, in ms. */
static int turn(struct rf_http *const server[SERVERS], int servers, bool has_answers)
{
	int timeout = 1000;

	for (int i = 0; i < servers; i++) {
		if (has_answers)
			rf_http_wake(server[i]);
		rf_http_turn(server[i]);
		if (rf_http_timeout(server[i]) < timeout)
			timeout = rf_http_timeout(server[i]);
	}
	return timeout;
}

static void serve(struct rf_feed_reader *reader, struct rf_http *const server[SERVERS], int servers)
{
	struct pollfd wait[1 + SERVERS] = {{.fd = reader->fd, .events = POLLIN}};
	bool has_answers = false;

	for (int i = 0; i < servers; i++)
		wait[1 + i] = (struct pollfd){.fd = rf_http_fd(server[i]), .events = POLLIN};
	while (take_documents(reader, &has_answers)) {
		const int timeout = turn(server, servers, has_answers);

		has_answers = rf_asks_turn(RF_PAGE_ASK);
		poll(wait, 1 + servers, has_answers ? 0 : timeout);
	}
}

/* A terminal sends signals to both processes: the scanner decides when to end. */
static void ignore_signals(void)
{
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
}

int rf_page_run(void)
{
	struct rf_feed_reader reader = {.fd = RF_PAGE_FEED};
	struct rf_http *server[SERVERS];
	struct rf_error error = {};
	struct rf_site site;
	int servers;

	ignore_signals();
	if (!is_open(RF_PAGE_FEED) || !is_open(RF_PAGE_ASK) || read_site(&reader, &site)) {
		rf_warn("'" RF_PAGE_WORD "': only the daemon itself starts this");
		return 2;
	}
	tzset(); /* reads a file, which is not possible later */
	servers = start_servers(server, &site);
	if (servers < 0) {
		rf_warn("the page process cannot serve");
		return EXIT_FAILURE;
	}
	if (rf_confine(&error)) {
		rf_warn("%s", error.text);
		return EXIT_FAILURE;
	}
	fcntl(reader.fd, F_SETFL, O_NONBLOCK);
	fcntl(RF_PAGE_ASK, F_SETFL, O_NONBLOCK);
	serve(&reader, server, servers);
	return EXIT_SUCCESS;
}
