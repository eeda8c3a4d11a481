// SPDX-License-Identifier: GPL-2.0
/* The page process: an HTTP server of the documents that the scanner sends. */
#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/say.h"
#include "base/time.h"
#include "base/units.h"
#include "build/page_assets.h"
#include "daemon/asks.h"
#include "daemon/confine.h"
#include "daemon/feed.h"
#include "daemon/gzip.h"
#include "daemon/page.h"
#include "daemon/request.h"

enum rf_responded {
	RF_RESPONDED,
	RF_RESPOND_LATER, /* the scanner has the request */
	RF_RESPOND_FAILED,
};

/* ---- files of the page ---- */

#define ASSET(path, type, name)                \
	{                                      \
		path, type, name, sizeof(name) \
	}

static const struct rf_asset assets[] = {
	ASSET("/", "text/html; charset=utf-8", page_html),
	ASSET("/page.css", "text/css; charset=utf-8", page_css),
	ASSET("/page.js", "text/javascript; charset=utf-8", page_js),
	ASSET("/plots.js", "text/javascript; charset=utf-8", plots_js),
	ASSET("/icon.svg", "image/svg+xml", icon_svg),
};

/* NULL: no document with this path. */
static const struct rf_asset *find_asset(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(assets); i++)
		if (strcmp(assets[i].path, path) == 0)
			return &assets[i];
	return NULL;
}

/* ---- responses ---- */

#define POLICY                                                                                  \
	"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src " \
	"'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/* The last document of each kind. */
static struct rf_feed_message documents[RF_DOCUMENTS];

/* A response that is being made. */
struct making {
	struct MHD_Connection *connection;
	struct MHD_Response *response;
	const char *type;
	unsigned int status;
	bool is_packed;	  /* with gzip */
	uint64_t made_ns; /* 0: no age */
};

/* Takes over a document. Returns whether who waits should be answered now. */
static bool take_document(const struct rf_feed_message *message)
{
	struct rf_feed_message *kept = &documents[message->header.kind];

	if (message->header.kind == RF_DOC_LIVE || message->header.kind == RF_DOC_ANSWER)
		return rf_asks_take(message);
	free(kept->bytes);
	*kept = *message;
	return false;
}

/* ---- headers ---- */

static void add_age(const struct making *making)
{
	char age[24];

	snprintf(age, sizeof(age), "%llu", (rf_time_awake() - making->made_ns) / RF_NS_PER_MS);
	MHD_add_response_header(making->response, "X-Age-Ms", age);
}

static void add_headers(const struct making *making)
{
	static const char *const headers[][2] = {
		{"X-Content-Type-Options", "nosniff"},
		{"Cache-Control", "no-store"},
		{"Referrer-Policy", "no-referrer"},
		{"Content-Security-Policy", POLICY},
		{"Cross-Origin-Resource-Policy", "same-origin"},
		{"Cross-Origin-Opener-Policy", "same-origin"},
		{"Connection", "close"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(headers); i++)
		MHD_add_response_header(making->response, headers[i][0], headers[i][1]);
	MHD_add_response_header(making->response, "Content-Type", making->type);
	if (making->is_packed)
		MHD_add_response_header(making->response, "Content-Encoding", "gzip");
	if (making->made_ns)
		add_age(making);
	if (making->status == 405)
		MHD_add_response_header(making->response, "Allow", "GET, HEAD");
	if (making->status == 401)
		MHD_add_response_header(making->response, "WWW-Authenticate", "Bearer");
	if (making->status == 503)
		MHD_add_response_header(making->response, "Retry-After", "1");
}

static enum rf_responded send_it(struct making *making)
{
	enum MHD_Result result;

	if (!making->response)
		return RF_RESPOND_FAILED;
	add_headers(making);
	result = MHD_queue_response(making->connection, making->status, making->response);
	MHD_destroy_response(making->response);
	return result == MHD_YES ? RF_RESPONDED : RF_RESPOND_FAILED;
}

static bool takes_gzip(struct MHD_Connection *connection)
{
	const char *accept =
		MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Accept-Encoding");

	return accept && strstr(accept, "gzip") && !strstr(accept, "gzip;q=0");
}

/* ---- bodies ---- */

static enum rf_responded send_text(struct making *making, unsigned int status, const char *text)
{
	making->status = status;
	making->type = "text/plain; charset=utf-8";
	making->response =
		MHD_create_response_from_buffer(strlen(text), (char *)text, MHD_RESPMEM_PERSISTENT);
	return send_it(making);
}

/* Takes ownership of `bytes`, which can be NULL. */
static void take_bytes(struct making *making, char *bytes, size_t length)
{
	if (bytes)
		making->response =
			MHD_create_response_from_buffer(length, bytes, MHD_RESPMEM_MUST_FREE);
	if (!making->response)
		free(bytes);
}

/* Metrics, with ages as of now. */
static enum rf_responded send_document(struct making *making, enum rf_document kind)
{
	const struct rf_feed_message *kept = &documents[kind];
	size_t length;
	char *text;

	if (!kept->bytes)
		return send_text(making, 503, "no scan has ended yet\n");
	making->type = kind == RF_DOC_TEXT
			       ? "text/plain; version=0.0.4; charset=utf-8"
			       : "application/openmetrics-text; version=1.0.0; charset=utf-8";
	text = rf_document_age(kept->bytes, rf_time_awake() - kept->header.made_ns, &length);
	take_bytes(making, text, length);
	return send_it(making);
}

static enum rf_responded send_asset(struct making *making, const char *path)
{
	const struct rf_asset *asset = find_asset(path);
	size_t length;

	if (!asset)
		return send_text(making, 404, "there is / and /metrics\n");
	making->type = asset->type;
	making->is_packed = takes_gzip(making->connection);
	if (making->is_packed) {
		making->response = MHD_create_response_from_buffer(
			asset->length, (void *)asset->bytes, MHD_RESPMEM_PERSISTENT);
	} else {
		char *plain = rf_gunzip(asset->bytes, asset->length, &length);

		take_bytes(making, plain, length);
	}
	return send_it(making);
}

/* A copy: a newer one may take its place while it is sent. */
static enum rf_responded send_body(struct making *making, struct rf_body *body)
{
	making->type = "application/json";
	making->status = body->status;
	making->made_ns = body->made_ns;
	making->is_packed = takes_gzip(making->connection) && rf_body_pack(body);
	making->response = MHD_create_response_from_buffer(
		making->is_packed ? body->packed_length : body->length,
		making->is_packed ? body->packed : body->text, MHD_RESPMEM_MUST_COPY);
	return send_it(making);
}

static enum rf_responded send_query(struct making *making, const struct rf_query *query)
{
	struct rf_body *body;

	switch (rf_asks_find(query, &body)) {
	case RF_ASK_KNOWN:
		return send_body(making, body);
	case RF_ASK_WAITS:
		return RF_RESPOND_LATER;
	case RF_ASK_NOT_YET:
		return send_text(making, 404, "no such fence is watched\n");
	case RF_ASK_SCANNING:
		return send_text(making, 503, "the first scan is under way\n");
	default:
		return send_text(making, 503, "too many questions at once\n");
	}
}

static enum rf_responded respond(struct MHD_Connection *connection,
				 const struct rf_response *answer)
{
	struct making making = {.connection = connection, .status = answer->status};

	switch (answer->kind) {
	case RF_ANSWER_TEXT:
		return send_text(&making, answer->status, answer->text);
	case RF_ANSWER_DOCUMENT:
		return send_document(&making, answer->document);
	case RF_ANSWER_ASSET:
		return send_asset(&making, answer->text);
	default:
		return send_query(&making, &answer->query);
	}
}

/* ---- the server ---- */

#define CONNECTIONS 64
#define CONNECTIONS_OF_ADDRESS 8
#define HEADER_BYTES 8192
#define HEADERS_ONCE 6
/* Of all connections: half-open ones never take the room of whole requests. */
#define INCOMPLETE_MOST (CONNECTIONS / 2)
/*
 * From accept to the end of the headers, and from there to the end of the reply. The library's own
 * time-out is of inactivity, which a byte a second would never reach.
 */
#define HEADERS_NS (2 * RF_NS_PER_S)
#define REPLY_NS (10 * RF_NS_PER_S)

struct connection {
	int fd; /* -1: free */
	uint64_t deadline_ns;
	bool is_whole; /* its request has come, and is not answered yet */
};

/* The state of a request until its reply. */
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

static struct connection *find_connection(struct rf_http *http, int fd)
{
	for (int i = 0; i < CONNECTIONS; i++)
		if (http->connection[i].fd == fd)
			return &http->connection[i];
	return NULL;
}

static void set_deadline(struct rf_http *http, int fd, bool is_whole)
{
	struct connection *found = find_connection(http, fd);

	if (!found)
		found = find_connection(http, -1);
	if (found)
		*found = (struct connection){
			fd, rf_time_awake() + (is_whole ? REPLY_NS : HEADERS_NS), is_whole};
}

static void end(struct connection *one)
{
	shutdown(one->fd, SHUT_RDWR); /* the library sees the end, and closes it */
	one->fd = -1;
}

/* Of too many connections without a complete request, the one that would expire first is closed. */
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
	found = find_connection(http, fd);
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

/* Copies the raw arguments of a URL. Overlong ones remain overlong. */
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
	struct connection *found = find_connection(context, fd_of(connection));

	(void)code;
	if (found)
		found->is_whole = false; /* it is persistent, and can be closed for another one */
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

/* The scanner has answered: who waits for it is looked at again. */
static void wake_http(struct rf_http *http)
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

/* Counts the headers that determine the requester and the end of the request. */
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

/* Two programs that parse such a request could each use a different one of the values. */
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
	struct rf_response answer;

	(void)version;
	(void)upload;
	(void)upload_size;
	if (!kept)
		return MHD_NO;
	if (!kept->is_known)
		set_deadline(http, fd_of(connection), true);
	kept->is_known = true;
	answer = rf_request_judge(http->site, &request);
	switch (respond(connection, &answer)) {
	case RF_RESPONDED:
		return MHD_YES;
	case RF_RESPOND_LATER:
		return wait(http, connection);
	default:
		return MHD_NO;
	}
}

/* ---- the server ---- */

/* Serves on a socket that listens. NULL: it cannot. */
static struct rf_http *start_http(int fd, bool is_unix, const struct rf_site *site)
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

/* The descriptor to wait on. */
static int http_fd(const struct rf_http *http)
{
	const union MHD_DaemonInfo *info =
		MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);

	return info ? info->epoll_fd : -1;
}

/* How long to wait, in ms; a second at most: deadlines are looked at then. */
static int http_timeout(struct rf_http *http)
{
	MHD_UNSIGNED_LONG_LONG timeout_ms;

	if (MHD_get_timeout(http->daemon, &timeout_ms) == MHD_YES && timeout_ms < 1000)
		return timeout_ms;
	return 1000;
}

/* Runs due work, and closes connections that have expired. */
static void turn_http(struct rf_http *http)
{
	close_late(http);
	MHD_run(http->daemon);
}

/* ---- the process ---- */

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
	/* Before the first server opens files. */
	const bool has[SERVERS] = {is_open(RF_PAGE_TCP), is_open(RF_PAGE_UNIX)};
	int servers = 0;

	for (int i = 0; i < SERVERS; i++) {
		if (!has[i])
			continue;
		server[servers] = start_http(RF_PAGE_TCP + i, i == 1, site);
		if (!server[servers++])
			return -1;
	}
	return servers;
}

/* Takes the available documents. False: the scanner has exited. */
static bool take_documents(struct rf_feed_reader *reader, bool *has_answers)
{
	struct rf_feed_message message;
	int got;

	while ((got = rf_feed_read(reader, &message)) == 1)
		*has_answers = take_document(&message) || *has_answers;
	return !got;
}

/* Serves pending requests. Returns for how long there is no work, in ms. */
static int turn(struct rf_http *const server[SERVERS], int servers, bool has_answers)
{
	int timeout = 1000;

	for (int i = 0; i < servers; i++) {
		if (has_answers)
			wake_http(server[i]);
		turn_http(server[i]);
		if (http_timeout(server[i]) < timeout)
			timeout = http_timeout(server[i]);
	}
	return timeout;
}

static void serve(struct rf_feed_reader *reader, struct rf_http *const server[SERVERS], int servers)
{
	struct pollfd wait[1 + SERVERS] = {{.fd = reader->fd, .events = POLLIN}};
	bool has_answers = false;

	for (int i = 0; i < servers; i++)
		wait[1 + i] = (struct pollfd){.fd = http_fd(server[i]), .events = POLLIN};
	while (take_documents(reader, &has_answers)) {
		const int timeout = turn(server, servers, has_answers);

		has_answers = rf_asks_turn(RF_PAGE_ASK);
		poll(wait, 1 + servers, has_answers ? 0 : timeout);
	}
}

/* A terminal sends signals to both processes: the scanner decides when to exit. */
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
