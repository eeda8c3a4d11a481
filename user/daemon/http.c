// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "base/time.h"
#include "base/units.h"
#include "daemon/http.h"
#include "daemon/respond.h"

#define CONNECTIONS 64
#define CONNECTIONS_OF_ADDRESS 8
#define HEADER_BYTES 8192
#define HEADERS_ONCE 6
/* Of all connections, so that half-open ones never take the room of whole requests. */
#define INCOMPLETE_MOST (CONNECTIONS / 2)
/*
 * From accept to the end of the headers, and from there to the end of the reply. The library's own
 * time-out is of inactivity, and a byte a second would never meet it.
 */
#define HEADERS_NS (2 * RF_NS_PER_S)
#define REPLY_NS (10 * RF_NS_PER_S)

struct connection {
	int fd; /* -1: free */
	uint64_t deadline_ns;
	bool is_whole; /* its request has come, and is not answered yet */
};

/* What is kept of a request until it is answered. */
struct request {
	char args[RF_QUERY_ARGS_SIZE]; /* what follows '?' */
	bool is_known;		       /* its headers have come */
};

struct rf_http {
	struct MHD_Daemon *daemon;
	const struct rf_site *site;
	bool is_unix;
	struct connection connection[CONNECTIONS];
	struct MHD_Connection *waiting[CONNECTIONS]; /* for the scanner; NULL: none */
};

/* ---- deadlines ---- */

static int fd_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

	return info ? info->connect_fd : -1;
}

static struct connection *find(struct rf_http *http, int fd)
{
	for (int i = 0; i < CONNECTIONS; i++)
		if (http->connection[i].fd == fd)
			return &http->connection[i];
	return NULL;
}

static void set_deadline(struct rf_http *http, int fd, bool is_whole)
{
	struct connection *found = find(http, fd);

	if (!found)
		found = find(http, -1);
	if (found)
		*found = (struct connection){
			fd, rf_time_awake() + (is_whole ? REPLY_NS : HEADERS_NS), is_whole};
}

static void end(struct connection *one)
{
	shutdown(one->fd, SHUT_RDWR); /* the library sees the end, and closes it */
	one->fd = -1;
}

/* Of too many that have sent no whole request, the one that would end first makes room. */
static void end_incomplete(struct rf_http *http)
{
	struct connection *first = NULL;
	int incomplete = 0;

	for (int i = 0; i < CONNECTIONS; i++) {
		struct connection *one = &http->connection[i];

		if (one->fd < 0 || one->is_whole)
			continue;
		incomplete++;
		if (!first || one->deadline_ns < first->deadline_ns)
			first = one;
	}
	if (incomplete > INCOMPLETE_MOST)
		end(first);
}

static void note_connection(void *context, struct MHD_Connection *connection, void **ignored,
			    enum MHD_ConnectionNotificationCode what)
{
	struct rf_http *http = context;
	const int fd = fd_of(connection);
	struct connection *found;

	(void)ignored;
	if (fd < 0)
		return;
	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		set_deadline(http, fd, false);
		end_incomplete(http);
		return;
	}
	found = find(http, fd);
	if (found)
		found->fd = -1;
}

static void close_late(struct rf_http *http)
{
	const uint64_t now = rf_time_awake();

	for (int i = 0; i < CONNECTIONS; i++) {
		struct connection *one = &http->connection[i];

		if (one->fd >= 0 && now >= one->deadline_ns)
			end(one);
	}
}

/* ---- requests ---- */

/* Takes the arguments of a URL as they came. Too long ones stay too long. */
static void *begin_request(void *context, const char *uri, struct MHD_Connection *connection)
{
	struct request *request = calloc(1, sizeof(*request));
	const char *args = strchr(uri, '?');

	(void)context;
	(void)connection;
	if (request && args)
		snprintf(request->args, sizeof(request->args), "%s", args + 1);
	if (request && args && strlen(args + 1) >= sizeof(request->args))
		strcpy(request->args, "too-long");
	return request;
}

static void end_request(void *context, struct MHD_Connection *connection, void **request,
			enum MHD_RequestTerminationCode code)
{
	struct connection *found = find(context, fd_of(connection));

	(void)code;
	if (found)
		found->is_whole = false; /* it is kept alive, and may be ended for another one */
	free(*request);
	*request = NULL;
}

/* It is answered again once the scanner has. */
static enum MHD_Result wait(struct rf_http *http, struct MHD_Connection *connection)
{
	for (int i = 0; i < CONNECTIONS; i++) {
		if (http->waiting[i])
			continue;
		http->waiting[i] = connection;
		MHD_suspend_connection(connection);
		return MHD_YES;
	}
	return MHD_NO;
}

void rf_http_wake(struct rf_http *http)
{
	for (int i = 0; i < CONNECTIONS; i++) {
		struct MHD_Connection *connection = http->waiting[i];

		http->waiting[i] = NULL;
		if (connection)
			MHD_resume_connection(connection);
	}
}

static const char *header(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/* Counts the headers that decide who asks, and where the request ends. */
static enum MHD_Result count_header(void *context, enum MHD_ValueKind kind, const char *name,
				    const char *value)
{
	static const char *const once[HEADERS_ONCE] = {
		"Host",		 "Content-Length", "Transfer-Encoding",
		"Authorization", "Origin",	   "Sec-Fetch-Site",
	};
	unsigned int *count = context;

	(void)kind;
	(void)value;
	for (int i = 0; i < HEADERS_ONCE; i++)
		count[i] += strcasecmp(name, once[i]) == 0;
	return MHD_YES;
}

/* Two programs that read such a request may each take another one of the values. */
static bool has_header_twice(struct MHD_Connection *connection)
{
	unsigned int count[HEADERS_ONCE] = {};

	MHD_get_connection_values(connection, MHD_HEADER_KIND, count_header, count);
	for (int i = 0; i < HEADERS_ONCE; i++)
		if (count[i] > 1)
			return true;
	return false;
}

/* Called once the headers are complete, and again after waiting; what follows is never read. */
static enum MHD_Result answer_request(void *context, struct MHD_Connection *connection,
				      const char *path, const char *method, const char *version,
				      const char *upload, size_t *upload_size, void **per_request)
{
	struct rf_http *http = context;
	struct request *kept = *per_request;
	const char *length = header(connection, "Content-Length");
	const struct rf_request request = {
		.method = method,
		.path = path,
		.args = kept ? kept->args : NULL,
		.host = header(connection, "Host"),
		.origin = header(connection, "Origin"),
		.fetch_site = header(connection, "Sec-Fetch-Site"),
		.authorization = header(connection, "Authorization"),
		.accept = header(connection, "Accept"),
		.has_body = header(connection, "Transfer-Encoding") ||
			    (length && strcmp(length, "0") != 0),
		.has_header_twice = has_header_twice(connection),
		.on_socket = http->is_unix,
	};
	struct rf_answer answer;

	(void)version;
	(void)upload;
	(void)upload_size;
	if (!kept)
		return MHD_NO;
	if (!kept->is_known)
		set_deadline(http, fd_of(connection), true);
	kept->is_known = true;
	answer = rf_request_judge(http->site, &request);
	switch (rf_respond(connection, &answer)) {
	case RF_RESPONDED:
		return MHD_YES;
	case RF_RESPOND_LATER:
		return wait(http, connection);
	default:
		return MHD_NO;
	}
}

/* ---- the server ---- */

struct rf_http *rf_http_start(int fd, bool is_unix, const struct rf_site *site)
{
	struct rf_http *http = calloc(1, sizeof(*http));
	const struct MHD_OptionItem options[] = {
		{MHD_OPTION_LISTEN_SOCKET, fd, NULL},
		{MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS, NULL},
		{MHD_OPTION_PER_IP_CONNECTION_LIMIT, is_unix ? 0 : CONNECTIONS_OF_ADDRESS, NULL},
		{MHD_OPTION_CONNECTION_MEMORY_LIMIT, HEADER_BYTES, NULL},
		{MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)note_connection, http},
		{MHD_OPTION_URI_LOG_CALLBACK, (intptr_t)begin_request, NULL},
		{MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)end_request, http},
		{MHD_OPTION_END, 0, NULL},
	};

	if (!http)
		return NULL;
	http->site = site;
	http->is_unix = is_unix;
	for (int i = 0; i < CONNECTIONS; i++)
		http->connection[i].fd = -1;
	http->daemon =
		MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL,
				 answer_request, http, MHD_OPTION_ARRAY, options, MHD_OPTION_END);
	if (http->daemon)
		return http;
	free(http);
	return NULL;
}

int rf_http_fd(const struct rf_http *http)
{
	const union MHD_DaemonInfo *info =
		MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);

	return info ? info->epoll_fd : -1;
}

/* A second at most: deadlines are looked at then. */
int rf_http_timeout(struct rf_http *http)
{
	MHD_UNSIGNED_LONG_LONG timeout_ms;

	if (MHD_get_timeout(http->daemon, &timeout_ms) == MHD_YES && timeout_ms < 1000)
		return timeout_ms;
	return 1000;
}

void rf_http_turn(struct rf_http *http)
{
	close_late(http);
	MHD_run(http->daemon);
}
