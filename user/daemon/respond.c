// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "base/units.h"
#include "daemon/asks.h"
#include "daemon/assets.h"
#include "daemon/gzip.h"
#include "daemon/respond.h"

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
	uint64_t made_ns; /* 0: it has no age */
};

bool rf_respond_take(const struct rf_feed_message *message)
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

/* Takes over `bytes`, which may be NULL. */
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
	const struct rf_asset *asset = rf_asset_find(path);
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

enum rf_responded rf_respond(struct MHD_Connection *connection, const struct rf_answer *answer)
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
