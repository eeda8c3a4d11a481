/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Replies to the inquiries of inquiry.h: composed from the pieces that the fleet server sent, and
 * from the state of this host.
 */
#ifndef RINGFENCE_AGENT_REPLIES_H
#define RINGFENCE_AGENT_REPLIES_H

#include "agent/desk.h"
#include "agent/status.h"
#include "fleet/wire.h"

enum rf_piece_kind {
	RF_PIECE_HOSTS,	 /* the members of a bucket */
	RF_PIECE_HOST,	 /* the description of the host of a slot */
	RF_PIECE_TOP,	 /* its sources */
	RF_PIECE_RECORD, /* the claims on the source, of a limit */
	RF_PIECE_GONE,	 /* of a bucket */
	RF_PIECE_BAN,
};

/* A request to the fleet server and its reply. */
struct rf_piece {
	struct rf_inquiry *inquiry;
	enum rf_piece_kind kind;
	uint32_t index;
	uint32_t tag; /* of its keys */
	/* Of a request that reads a key, and the most bytes of a valid reply. */
	char key[RF_WIRE_KEY_SIZE];
	uint32_t most;
	bool waits;  /* to be sent again, see link.h */
	char *bytes; /* NULL: no reply, or not yet */
	size_t size;
};

enum rf_question_kind {
	RF_QUESTION_HOSTS,
	RF_QUESTION_SOURCE,
	RF_QUESTION_TOP,
	RF_QUESTION_GONE,
	RF_QUESTION_BAN,
	RF_QUESTIONS,
};

struct rf_question {
	enum rf_question_kind kind;
	struct rf_address address;
	struct rf_prefix prefix;
	uint32_t number; /* N, SLOT or MS */
	char by[16];
};

struct rf_inquiry {
	struct rf_desk *desk;
	uint64_t ticket; /* 0: not in use */
	const struct rf_status_view *view;
	struct rf_question question;
	struct rf_piece *piece;
	uint32_t pieces, room, left; /* `left`: requests without a reply yet */
	uint64_t until_ns;	     /* requests are sent again until then */
};

/* The reply, once each piece is complete or has failed. */
json_t *rf_reply_compose(const struct rf_inquiry *inquiry);

#endif /* RINGFENCE_AGENT_REPLIES_H */
