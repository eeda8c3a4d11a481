/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Questions of people that the engine has to answer, so that the answer comes later:
 *
 *   hosts           the members, what each says of itself, and where it differs from this host
 *   source ADDRESS  what the ledger and this host have of a source, under each limit
 *   top N BY        the sources that the hosts drop the most of; BY: drops, rate or hosts
 *   gone SLOT       that host will not come back
 *   ban MS PREFIX   adds a ban of this host to the fleet's; MS 0: removes it
 *
 * Each is a few requests, all sent at once; their answers are kept until the last is there. A link
 * answers each of its requests in time, or with nothing, so none stays forever. One whose keys are
 * on another node is sent again.
 */
#ifndef RINGFENCE_AGENT_INQUIRY_H
#define RINGFENCE_AGENT_INQUIRY_H

#include "agent/desk.h"
#include "agent/news.h"
#include "agent/status.h"
#include "base/prefix.h"

enum rf_piece_kind {
	RF_PIECE_HOSTS,	 /* who is a member: of a bucket */
	RF_PIECE_HOST,	 /* what a host says of itself: of a slot */
	RF_PIECE_TOP,	 /* its sources: of a slot */
	RF_PIECE_RECORD, /* the claims on the source: of a limit */
	RF_PIECE_GONE,	 /* of a bucket */
	RF_PIECE_BAN,
};

enum rf_question_kind {
	RF_QUESTION_NONE,
	RF_QUESTION_HOSTS,
	RF_QUESTION_SOURCE,
	RF_QUESTION_TOP,
	RF_QUESTION_GONE,
	RF_QUESTION_BAN,
	RF_QUESTIONS,
};

struct rf_inquiry;

/* One request and its answer. */
struct rf_piece {
	struct rf_inquiry *inquiry;
	enum rf_piece_kind kind;
	uint32_t index;
	bool waits;  /* it is to be sent again, see link.h */
	char *bytes; /* NULL: no answer, or none yet */
	size_t size;
};

/* What was asked. */
struct rf_question {
	enum rf_question_kind kind;
	struct rf_address address;
	struct rf_prefix prefix;
	char text[RF_DESK_QUESTION_SIZE];
	uint32_t number; /* N, SLOT or MS */
};

struct rf_inquiry {
	struct rf_desk *desk;
	uint64_t ticket; /* 0: not in use */
	const struct rf_status_view *view;
	struct rf_question question;
	struct rf_piece *piece;
	uint32_t pieces, room, left; /* `left` were not answered yet */
	uint64_t until_ns;	     /* requests are sent again until then */
};

struct rf_inquiries {
	struct rf_inquiry inquiry[RF_DESK_CLIENTS];
};

/*
 * Begins to answer a question that is one of these; `later` says that the answer comes by the desk.
 * Else returns an answer of the heap; NULL: it is another question, or no memory.
 */
char *rf_inquire(struct rf_inquiries *inquiries, struct rf_desk *desk, uint64_t ticket,
		 const char *question, const struct rf_status_view *view, bool *later);
/* Sends again what is to be. */
void rf_inquiries_turn(struct rf_inquiries *inquiries, uint64_t now);

/* ---- inquiry_answers.c ---- */

/* The answer, of the heap; NULL: no memory. */
char *rf_inquiry_answer(const struct rf_inquiry *inquiry);

#endif /* RINGFENCE_AGENT_INQUIRY_H */
