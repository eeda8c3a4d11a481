// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/time.h"
#include "base/units.h"
#include "daemon/http.h"

#define CONNECTIONS 64
#define CONNECTIONS_OF_ADDRESS 8
#define HEADER_BYTES 8192
/*
 * From accept to the whole request, and from there to the end of the reply. The library's own
 * time-out is of inactivity, and a byte a second would never meet it.
 */
#define DEADLINE_NS (10 * RF_NS_PER_S)

struct connection {
	int fd; /* -1: free */
	uint64_t deadline_ns;
};

struct rf_http {
	struct MHD_Daemon *daemon;
	const struct rf_site *site;
	bool is_unix;
	struct connection connection[CONNECTIONS];
};

/* The last document of each kind. */
static struct rf_feed_message documents[RF_DOCUMENTS];

void rf_http_take(const struct rf_feed_message *message)
{
	struct rf_feed_message *kept = &documents[message->header.kind];

	free(kept->bytes);
	*kept = *message;
}

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

static void set_deadline(struct rf_http *http, int fd)
{
	struct connection *found = find(http, fd);

	if (!found)
		found = find(http, -1);
	if (found)
		*found = (struct connection){fd, rf_time_awake() + DEADLINE_NS};
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
		set_deadline(http, fd);
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

		if (one->fd < 0 || now < one->deadline_ns)
			continue;
		shutdown(one->fd, SHUT_RDWR); /* the library sees the end, and closes it */
		one->fd = -1;
	}
}

/* ---- answers ---- */

static const char *content_type(const struct rf_answer *answer)
{
	if (answer->text)
		return "text/plain; charset=utf-8";
	return answer->document == RF_DOC_TEXT
		       ? "text/plain; version=0.0.4; charset=utf-8"
		       : "application/openmetrics-text; version=1.0.0; charset=utf-8";
}

static struct MHD_Response *respond_text(const char *text)
{
	return MHD_create_response_from_buffer(strlen(text), (char *)text, MHD_RESPMEM_PERSISTENT);
}

/* The document with ages as of now; NULL: there is none yet, or no memory. */
static struct MHD_Response *respond_document(enum rf_document kind)
{
	const struct rf_feed_message *kept = &documents[kind];
	struct MHD_Response *response;
	size_t length;
	char *text;

	if (!kept->bytes)
		return NULL;
	text = rf_document_age(kept->bytes, rf_time_awake() - kept->header.made_ns, &length);
	if (!text)
		return NULL;
	response = MHD_create_response_from_buffer(length, text, MHD_RESPMEM_MUST_FREE);
	if (!response)
		free(text);
	return response;
}

static void add_headers(struct MHD_Response *response, const struct rf_answer *answer)
{
	static const char *const headers[][2] = {
		{"X-Content-Type-Options", "nosniff"},
		{"Cache-Control", "no-store"},
		{"Referrer-Policy", "no-referrer"},
		{"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"},
		{"Cross-Origin-Resource-Policy", "same-origin"},
		{"Connection", "close"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(headers); i++)
		MHD_add_response_header(response, headers[i][0], headers[i][1]);
	MHD_add_response_header(response, "Content-Type", content_type(answer));
	if (answer->status == 405)
		MHD_add_response_header(response, "Allow", "GET, HEAD");
	if (answer->status == 401)
		MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
}

static enum MHD_Result send_answer(struct MHD_Connection *connection, struct rf_answer answer)
{
	struct MHD_Response *response =
		answer.text ? respond_text(answer.text) : respond_document(answer.document);
	enum MHD_Result result;

	if (!response && !answer.text) {
		answer = (struct rf_answer){.status = 503, .text = "no scan has ended yet\n"};
		response = respond_text(answer.text);
	}
	if (!response)
		return MHD_NO;
	add_headers(response, &answer);
	result = MHD_queue_response(connection, answer.status, response);
	MHD_destroy_response(response);
	return result;
}

static const char *header(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/* Called once the headers are complete; what follows them is never read. */
static enum MHD_Result answer_request(void *context, struct MHD_Connection *connection,
				      const char *path, const char *method, const char *version,
				      const char *upload, size_t *upload_size, void **per_request)
{
	struct rf_http *http = context;
	const char *length = header(connection, "Content-Length");
	const struct rf_request request = {
		.method = method,
		.path = path,
		.host = header(connection, "Host"),
		.origin = header(connection, "Origin"),
		.fetch_site = header(connection, "Sec-Fetch-Site"),
		.authorization = header(connection, "Authorization"),
		.accept = header(connection, "Accept"),
		.has_body = header(connection, "Transfer-Encoding") ||
			    (length && strcmp(length, "0") != 0),
		.on_socket = http->is_unix,
	};

	(void)version;
	(void)upload;
	(void)upload_size;
	(void)per_request;
	set_deadline(http, fd_of(connection));
	return send_answer(connection, rf_request_judge(http->site, &request));
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
		{MHD_OPTION_END, 0, NULL},
	};

	if (!http)
		return NULL;
	http->site = site;
	http->is_unix = is_unix;
	for (int i = 0; i < CONNECTIONS; i++)
		http->connection[i].fd = -1;
	http->daemon = MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, answer_request, http,
					MHD_OPTION_ARRAY, options, MHD_OPTION_END);
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
