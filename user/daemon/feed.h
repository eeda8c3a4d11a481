/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Documents in transit from the scanner to the page process, by a pipe: a header with kind and
 * length, then the bytes. Of each kind the latest replaces earlier ones, and a reader that does not
 * read blocks no writer. Pure, except for the pipe.
 */
#ifndef RINGFENCE_FEED_H
#define RINGFENCE_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rf_document {
	RF_DOC_SITE,	       /* struct rf_site, the first one */
	RF_DOC_TEXT,	       /* metrics, in the text format 0.0.4 */
	RF_DOC_OPENMETRICS,    /* without exemplars */
	RF_DOC_WITH_EXEMPLARS, /* OpenMetrics with them: only who shows the token gets it */
	RF_DOC_LIVE,	       /* a line for each fence: its name, a tab, JSON */
	RF_DOC_ANSWER,	       /* struct rf_answer_head, then JSON */
	RF_DOCUMENTS,
};

#define RF_DOCUMENT_MAX (4U << 20)

struct rf_feed_header {
	uint32_t kind, length;
	uint64_t made_ns; /* when, by rf_time_awake() */
};

struct rf_feed_message {
	struct rf_feed_header header;
	char *bytes;
};

/* The writer's side. */
struct rf_feed {
	int fd; /* does not block */
	struct rf_feed_message next[RF_DOCUMENTS];
	struct rf_feed_message now; /* on its way; `bytes` is NULL: none is */
	size_t sent;		    /* of the message on its way, with its header */
};

/* Takes a copy of a document, instead of one of its kind that has not left. 0 or -ENOMEM. */
int rf_feed_put(struct rf_feed *feed, enum rf_document kind, const char *bytes, size_t length,
		uint64_t made_ns);
/* Writes as much as the pipe accepts. 1: more is left. 0: nothing is left. -EPIPE: no reader. */
int rf_feed_write(struct rf_feed *feed);
/* Drops all documents, where the reader was replaced. */
void rf_feed_clear(struct rf_feed *feed);

/* The reader's side. */
struct rf_feed_reader {
	int fd;
	struct rf_feed_message message; /* so far */
	size_t got;			/* of it, with its header */
};

/*
 * Reads the available bytes. 1: `message` is complete, and the caller takes ownership of its bytes.
 * 0: not yet. -EPIPE: the writer has exited. -EPROTO: not a document.
 */
int rf_feed_read(struct rf_feed_reader *reader, struct rf_feed_message *message);

#endif /* RINGFENCE_FEED_H */
