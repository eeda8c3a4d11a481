// SPDX-License-Identifier: GPL-2.0
#include "agent/inquiry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/replies.h"
#include "base/prefix.h"
#include "base/time.h"
#include "base/units.h"
#include "fleet/wire.h"

#define TOP_MOST 100
#define PATIENCE_NS (2 * RF_NS_PER_S) /* less than the timeout of the command */
#define WHY_SIZE 128

struct question_row {
	const char *begins;
	/* Reads the rest. False: a different question, or an invalid one; then with an error. */
	bool (*read)(struct rf_question *question, const char *words, char why[WHY_SIZE]);
	void (*send)(struct rf_inquiry *inquiry);
};

/* One agent per process. */
static struct rf_inquiry inquiries[RF_DESK_CLIENTS];

/* ---- completion ---- */

static void end_inquiry(struct rf_inquiry *inquiry)
{
	for (uint32_t i = 0; i < inquiry->pieces; i++)
		free(inquiry->piece[i].bytes);
	free(inquiry->piece);
	*inquiry = (struct rf_inquiry){};
}

static void finish_inquiry(struct rf_inquiry *inquiry)
{
	char *answer = rf_status_text(rf_reply_compose(inquiry));

	rf_desk_reply(inquiry->desk, inquiry->ticket, answer);
	free(answer);
	end_inquiry(inquiry);
}

static void answered(struct rf_inquiry *inquiry)
{
	if (!--inquiry->left)
		finish_inquiry(inquiry);
}

static void take_answer(void *data, const redisReply *reply)
{
	struct rf_piece *piece = data;

	if (reply && reply->type == REDIS_REPLY_ERROR) {
		piece->waits = true;
		return;
	}
	if (reply && reply->type == REDIS_REPLY_STRING) {
		piece->bytes = malloc(reply->len + 1);
		piece->size = reply->len;
		if (piece->bytes)
			memcpy(piece->bytes, reply->str, reply->len + 1);
	}
	answered(piece->inquiry);
}

/* ---- requests ---- */

static struct rf_line *line_of(const struct rf_question *question,
			       const struct rf_status_view *view)
{
	return question->kind == RF_QUESTION_BAN ? view->bans->line : view->news;
}

static bool read_key(struct rf_piece *piece)
{
	const struct rf_inquiry *inquiry = piece->inquiry;
	char last[12];
	const char *const words[] = {"GETRANGE", piece->key, "0", last};

	snprintf(last, sizeof(last), "%u", piece->most);
	return rf_line_call(inquiry->view->news, piece->tag, ARRAY_SIZE(words), words, NULL,
			    take_answer, piece);
}

static bool send_gone(struct rf_piece *piece)
{
	const struct rf_inquiry *inquiry = piece->inquiry;
	const struct rf_ledger_call call = rf_calls_of(inquiry->view->calls, piece->index);
	uint8_t bytes[RF_WIRE_GONE_SIZE];

	rf_wire_pack_gone(bytes, &call, inquiry->question.number);
	return rf_calls_send(inquiry->view->news, piece->index, call.slot, "rf_gone", bytes,
			     sizeof(bytes), take_answer, piece);
}

static bool send_ban(struct rf_piece *piece)
{
	const struct rf_inquiry *inquiry = piece->inquiry;

	return rf_fleet_bans_tell(inquiry->view->bans, inquiry->view->claims->member[0].slot,
				  &inquiry->question.prefix, inquiry->question.number, take_answer,
				  piece);
}

/* False: cannot be sent now. */
static bool send_piece(struct rf_piece *piece)
{
	if (piece->kind == RF_PIECE_GONE)
		return send_gone(piece);
	if (piece->kind == RF_PIECE_BAN)
		return send_ban(piece);
	return read_key(piece);
}

/* The record of the source under a limit. */
static void name_record(struct rf_piece *piece)
{
	const struct rf_claims *claims = piece->inquiry->view->claims;
	const struct rf_fleet_limit *limit = &claims->limit[piece->index];
	const struct rf_claim_key of =
		rf_calls_key(claims, piece->index, &piece->inquiry->question.address);
	char source[RF_CALLS_SOURCE_SIZE];

	piece->tag = rf_claims_bucket(claims, of.source[0], of.source[1]);
	piece->most = RF_WIRE_RECORD_MAX;
	rf_calls_format_source(&of, limit, source);
	rf_wire_record_key(piece->key, piece->tag, limit->name, limit->definition, source);
}

static void name_key(struct rf_piece *piece)
{
	piece->tag = RF_TAG_OF_ALL;
	switch (piece->kind) {
	case RF_PIECE_HOSTS:
		piece->tag = piece->index;
		piece->most = RF_WIRE_HOSTS_MAX;
		rf_wire_hosts_key(piece->key, piece->index);
		break;
	case RF_PIECE_HOST:
		piece->most = RF_NEWS_HOST_MAX;
		rf_wire_host_key(piece->key, piece->index);
		break;
	case RF_PIECE_TOP:
		piece->most = RF_NEWS_TOP_MAX;
		rf_wire_top_key(piece->key, piece->index);
		break;
	case RF_PIECE_RECORD:
		name_record(piece);
		break;
	case RF_PIECE_GONE:
		piece->tag = piece->index;
		break;
	case RF_PIECE_BAN:
		break;
	}
}

static void begin_piece(struct rf_inquiry *inquiry, enum rf_piece_kind kind, uint32_t index)
{
	struct rf_piece *piece = &inquiry->piece[inquiry->pieces];

	if (inquiry->pieces == inquiry->room)
		return;
	*piece = (struct rf_piece){.inquiry = inquiry, .kind = kind, .index = index};
	name_key(piece);
	inquiry->pieces++;
	piece->waits = !send_piece(piece);
	inquiry->left++;
}

static void begin_in_each_bucket(struct rf_inquiry *inquiry, enum rf_piece_kind kind)
{
	for (uint32_t i = 0; i < RF_BUCKETS; i++)
		begin_piece(inquiry, kind, i);
}

/* For each slot of a member; a slot without a host gets an empty reply. */
static void begin_of_each_host(struct rf_inquiry *inquiry, enum rf_piece_kind kind)
{
	for (uint32_t slot = 0; slot < RF_FLEET_HOSTS_MAX; slot++)
		for (int i = 0; i < RF_BUCKETS; i++)
			if (rf_ledger_slots_has(&inquiry->view->claims->member[i].members, slot)) {
				begin_piece(inquiry, kind, slot);
				break;
			}
}

static bool read_nothing(struct rf_question *question, const char *words, char why[WHY_SIZE])
{
	(void)question, (void)why;
	return !*words;
}

static void send_hosts(struct rf_inquiry *inquiry)
{
	begin_in_each_bucket(inquiry, RF_PIECE_HOSTS);
	begin_of_each_host(inquiry, RF_PIECE_HOST);
}

/* ---- gone ---- */

static bool read_slot(struct rf_question *question, const char *words, char why[WHY_SIZE])
{
	(void)why;
	return sscanf(words, "%4u", &question->number) == 1;
}

static void send_all_gone(struct rf_inquiry *inquiry)
{
	begin_in_each_bucket(inquiry, RF_PIECE_GONE);
}

/* ---- a ban of this host ---- */

/* MS PREFIX */
static bool read_ban(struct rf_question *question, const char *words, char why[WHY_SIZE])
{
	char *prefix;
	const unsigned long time_ms = strtoul(words, &prefix, 10);
	struct rf_told_ban ban = {.left_ms = time_ms};
	struct rf_error ignored = {};

	if (*prefix == ' ' && time_ms <= RF_FLEET_BAN_MOST_MS &&
	    !rf_parse_prefix(prefix + 1, &ban.prefix, &ignored) && !rf_fleet_bans_judge(&ban)) {
		question->number = time_ms;
		question->prefix = ban.prefix;
		return true;
	}
	snprintf(why, WHY_SIZE, "the fleet takes no such ban");
	return false;
}

static void send_the_ban(struct rf_inquiry *inquiry)
{
	begin_piece(inquiry, RF_PIECE_BAN, 0);
}

/* ---- top ---- */

static bool read_top(struct rf_question *question, const char *words, char why[WHY_SIZE])
{
	(void)why;
	if (sscanf(words, "%3u %15s", &question->number, question->by) != 2)
		return false;
	if (question->number > TOP_MOST)
		question->number = TOP_MOST;
	return true;
}

static void send_top(struct rf_inquiry *inquiry)
{
	begin_of_each_host(inquiry, RF_PIECE_TOP);
}

static bool read_source(struct rf_question *question, const char *words, char why[WHY_SIZE])
{
	struct rf_error error = {};

	if (rf_parse_address(words, &question->address, &error))
		snprintf(why, WHY_SIZE, "%.*s", WHY_SIZE - 1, error.text);
	return !*why;
}

static void send_source(struct rf_inquiry *inquiry)
{
	send_hosts(inquiry);
	for (uint32_t i = 0; i < RF_FLEET_LIMITS_MAX; i++)
		if (inquiry->view->claims->limit[i].in_force)
			begin_piece(inquiry, RF_PIECE_RECORD, i);
}

/* ---- questions ---- */

static const struct question_row rows[RF_QUESTIONS] = {
	[RF_QUESTION_HOSTS] = {"hosts", read_nothing, send_hosts},
	[RF_QUESTION_SOURCE] = {"source ", read_source, send_source},
	[RF_QUESTION_TOP] = {"top ", read_top, send_top},
	[RF_QUESTION_GONE] = {"gone ", read_slot, send_all_gone},
	[RF_QUESTION_BAN] = {"ban ", read_ban, send_the_ban},
};

/* False: a different question, or an invalid one; then `why` has the error. */
static bool read_question(struct rf_question *question, const char *text, char why[WHY_SIZE])
{
	*why = '\0';
	for (int i = 0; i < RF_QUESTIONS; i++) {
		const size_t length = strlen(rows[i].begins);

		question->kind = i;
		if (strncmp(text, rows[i].begins, length) == 0)
			return rows[i].read(question, text + length, why);
	}
	return false;
}

/* Can one of the requests be sent? */
static bool is_ready(const struct rf_line *line, const struct rf_question *question)
{
	const uint64_t now = rf_time_awake();

	if (question->kind == RF_QUESTION_BAN)
		return rf_line_is_ready(line, RF_TAG_OF_ALL, now);
	for (uint32_t i = 0; i < RF_TAGS; i++)
		if (rf_line_is_ready(line, i, now))
			return true;
	return false;
}

static char *refuse_for_now(const struct rf_line *line, const struct rf_question *question)
{
	const char *trouble = rf_line_trouble(line);
	char text[RF_ENGINE_TEXT_SIZE + 32];

	snprintf(text, sizeof(text), "%s%s",
		 question->kind == RF_QUESTION_BAN ? "not connected to the fleet server: " : "",
		 *trouble ? trouble : "no connection to the fleet server yet");
	return rf_status_text(rf_status_error(text));
}

static struct rf_inquiry *free_one(void)
{
	for (int i = 0; i < RF_DESK_CLIENTS; i++)
		if (!inquiries[i].ticket)
			return &inquiries[i];
	return NULL;
}

char *rf_inquire(struct rf_desk *desk, uint64_t ticket, const char *text,
		 const struct rf_status_view *view, bool *later)
{
	const uint32_t room = 2 * RF_FLEET_HOSTS_MAX + RF_BUCKETS + RF_FLEET_LIMITS_MAX;
	struct rf_inquiry *inquiry = free_one();
	struct rf_question question = {};
	char why[WHY_SIZE];

	if (!read_question(&question, text, why))
		return *why ? rf_status_text(rf_status_error(why)) : NULL;
	if (!inquiry)
		return rf_status_text(rf_status_error("too many concurrent requests; try again"));
	if (!is_ready(line_of(&question, view), &question))
		return refuse_for_now(line_of(&question, view), &question);
	*inquiry = (struct rf_inquiry){
		.desk = desk,
		.ticket = ticket,
		.view = view,
		.question = question,
		.piece = calloc(room, sizeof(*inquiry->piece)),
		.left = 1, /* this function */
	};
	inquiry->room = inquiry->piece ? room : 0;
	inquiry->until_ns = rf_time_awake() + PATIENCE_NS;
	rows[question.kind].send(inquiry);
	*later = true;
	answered(inquiry);
	return NULL;
}

/* ---- sending again ---- */

static void send_again(struct rf_inquiry *inquiry, uint64_t now)
{
	const uint64_t ticket = inquiry->ticket;

	for (uint32_t i = 0; i < inquiry->pieces; i++) {
		struct rf_piece *piece = &inquiry->piece[i];

		if (!piece->waits)
			continue;
		if (now >= inquiry->until_ns) {
			piece->waits = false;
			answered(inquiry);
		} else if (rf_line_is_ready(line_of(&inquiry->question, inquiry->view), piece->tag,
					    now)) {
			piece->waits = !send_piece(piece);
		}
		if (inquiry->ticket != ticket)
			return;
	}
}

void rf_inquiries_turn(uint64_t now)
{
	for (int i = 0; i < RF_DESK_CLIENTS; i++)
		if (inquiries[i].ticket)
			send_again(&inquiries[i], now);
}
