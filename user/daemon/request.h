/* SPDX-License-Identifier: GPL-2.0 */
/* The reply to a request. Pure. */
#ifndef RINGFENCE_REQUEST_H
#define RINGFENCE_REQUEST_H

#include <stddef.h>

#include "daemon/feed.h"
#include "daemon/query.h"
#include "daemon/settings.h"
#include "watch/page_files.h"

/* The page process's settings. */
struct rf_site {
	struct rf_listen listen;
	char host[RF_HOSTS_MAX][RF_HOST_SIZE];
	int hosts;
	char token[RF_TOKEN_SIZE]; /* "": none */
};

/* The fields of a request. Each can be NULL if the request lacks it. */
struct rf_request {
	const char *method, *path, *args, *host, *origin, *fetch_site, *authorization, *accept;
	bool has_body;
	bool has_header_twice; /* one of those that determine the requester and the end */
	bool on_socket;	       /* a Unix socket, where Host is the proxy's business */
};

enum rf_answer_kind {
	RF_ANSWER_TEXT,
	RF_ANSWER_DOCUMENT,
	RF_ANSWER_ASSET, /* a file of the page, of page.c */
	RF_ANSWER_QUERY,
};

struct rf_response {
	unsigned int status;
	enum rf_answer_kind kind;
	const char *text; /* of RF_ANSWER_TEXT, and the path of RF_ANSWER_ASSET */
	enum rf_document document;
	struct rf_query query;
};

struct rf_response rf_request_judge(const struct rf_site *site, const struct rf_request *request);

/*
 * Adds `more_ns` to the age of each scan in a document of metrics. The caller frees the text, which
 * is `*length` bytes long. NULL: no memory.
 */
char *rf_document_age(const char *text, uint64_t more_ns, size_t *length);

/* The files of the page, which were put into this program, compressed, when it was built. */

struct rf_asset {
	const char *path;	    /* of the URL */
	const char *type;	    /* Content-Type */
	const unsigned char *bytes; /* gzip */
	size_t length;
};

#endif /* RINGFENCE_REQUEST_H */
