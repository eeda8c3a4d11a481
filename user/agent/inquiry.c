// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/inquiry.h"
#include "base/json.h"
#include "base/time.h"
#include "base/units.h"
#include "fleet/wire.h"
#include "ringfence/share.h"

#define TOP_MOST 100
#define PATIENCE_NS (2 * RF_NS_PER_S) /* less than that of who asks */

static char *say_error(const char *text)
{
	json_t *error = json_pack("{s:i, s:o}", "schema", 1, "error", rf_json_text(text));
	char *answer = error ? json_dumps(error, JSON_COMPACT) : NULL;

	json_decref(error);
	return answer;
}

/* ---- the end of one ---- */

static void end_inquiry(struct rf_inquiry *inquiry)
{
	for (uint32_t i = 0; i < inquiry->pieces; i++)
		free(inquiry->piece[i].bytes);
	free(inquiry->piece);
	*inquiry = (struct rf_inquiry){};
}

static void finish_inquiry(struct rf_inquiry *inquiry)
{
	char *answer = rf_inquiry_answer(inquiry);

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

static bool send_words(struct rf_piece *piece, uint32_t tag, int count, const char *const *words,
		       const size_t *lengths)
{
	const struct rf_inquiry *inquiry = piece->inquiry;

	return rf_line_call(line_of(&inquiry->question, inquiry->view), tag, count, words, lengths,
			    take_answer, piece);
}

/* No more of it than makes sense. */
static bool get_key(struct rf_piece *piece, uint32_t tag, const char *key, uint32_t most)
{
	char last[12];
	const char *const words[] = {"GETRANGE", key, "0", last};
	size_t lengths[ARRAY_SIZE(words)];

	snprintf(last, sizeof(last), "%u", most);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		lengths[i] = strlen(words[i]);
	return send_words(piece, tag, ARRAY_SIZE(words), words, lengths);
}

/* Of a limit, what the source of the question has. */
static uint32_t bucket_of_record(const struct rf_inquiry *inquiry, uint32_t limit)
{
	const struct rf_claim_key key =
		rf_calls_key(inquiry->view->claims, limit, &inquiry->question.address);

	return rf_claims_bucket(inquiry->view->claims, key.source[0], key.source[1]);
}

static bool get_record(struct rf_piece *piece)
{
	const struct rf_claims *claims = piece->inquiry->view->claims;
	const struct rf_fleet_limit *limit = &claims->limit[piece->index];
	const struct rf_claim_key of =
		rf_calls_key(claims, piece->index, &piece->inquiry->question.address);
	const uint32_t bucket = bucket_of_record(piece->inquiry, piece->index);
	char key[RF_WIRE_KEY_SIZE], source[RF_CALLS_SOURCE_SIZE];

	rf_calls_format_source(&of, limit, source);
	rf_wire_record_key(key, bucket, limit->name, limit->definition, source);
	return get_key(piece, bucket, key, RF_WIRE_RECORD_MAX);
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

/* False: it cannot be sent now. */
static bool send_piece(struct rf_piece *piece)
{
	char key[RF_WIRE_KEY_SIZE];

	switch (piece->kind) {
	case RF_PIECE_HOSTS:
		rf_wire_hosts_key(key, piece->index);
		return get_key(piece, piece->index, key, RF_WIRE_HOSTS_MAX);
	case RF_PIECE_HOST:
		rf_wire_host_key(key, piece->index);
		return get_key(piece, RF_TAG_OF_ALL, key, RF_NEWS_HOST_MAX);
	case RF_PIECE_TOP:
		rf_wire_top_key(key, piece->index);
		return get_key(piece, RF_TAG_OF_ALL, key, RF_NEWS_TOP_MAX);
	case RF_PIECE_RECORD:
		return get_record(piece);
	case RF_PIECE_GONE:
		return send_gone(piece);
	case RF_PIECE_BAN:
		return send_ban(piece);
	}
	return false;
}

static uint32_t tag_of(const struct rf_piece *piece)
{
	if (piece->kind == RF_PIECE_HOST || piece->kind == RF_PIECE_TOP ||
	    piece->kind == RF_PIECE_BAN)
		return RF_TAG_OF_ALL;
	if (piece->kind == RF_PIECE_RECORD)
		return bucket_of_record(piece->inquiry, piece->index);
	return piece->index;
}

static void begin_piece(struct rf_inquiry *inquiry, enum rf_piece_kind kind, uint32_t index)
{
	struct rf_piece *piece = &inquiry->piece[inquiry->pieces];

	if (inquiry->pieces == inquiry->room)
		return;
	*piece = (struct rf_piece){.inquiry = inquiry, .kind = kind, .index = index};
	inquiry->pieces++;
	piece->waits = !send_piece(piece);
	inquiry->left++;
}

static void begin_in_each_bucket(struct rf_inquiry *inquiry, enum rf_piece_kind kind)
{
	for (uint32_t i = 0; i < RF_BUCKETS; i++)
		begin_piece(inquiry, kind, i);
}

/* Of all slots that a host may have; those of no member are asked for in vain. */
static void begin_of_each_host(struct rf_inquiry *inquiry, enum rf_piece_kind kind)
{
	for (uint32_t slot = 0; slot < RF_FLEET_HOSTS_MAX; slot++)
		for (int i = 0; i < RF_BUCKETS; i++)
			if (rf_ledger_slots_has(&inquiry->view->claims->member[i].members, slot)) {
				begin_piece(inquiry, kind, slot);
				break;
			}
}

static void begin_of_each_limit(struct rf_inquiry *inquiry, enum rf_piece_kind kind)
{
	for (uint32_t i = 0; i < RF_FLEET_LIMITS_MAX; i++)
		if (inquiry->view->claims->limit[i].in_force)
			begin_piece(inquiry, kind, i);
}

/* ---- questions ---- */

static const struct {
	const char *begins;
	enum rf_question_kind kind;
} kinds[] = {
	{"hosts", RF_QUESTION_HOSTS}, {"source ", RF_QUESTION_SOURCE}, {"top ", RF_QUESTION_TOP},
	{"gone ", RF_QUESTION_GONE},  {"ban ", RF_QUESTION_BAN},
};

/* MS PREFIX */
static bool read_ban(struct rf_question *question, const char *words, char why[128])
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
	snprintf(why, 128, "the fleet takes no such ban");
	return false;
}

static bool read_operands(struct rf_question *question, const char *words, char why[128])
{
	struct rf_error error = {};
	char by[16];

	switch (question->kind) {
	case RF_QUESTION_HOSTS:
		return !*words;
	case RF_QUESTION_SOURCE:
		if (rf_parse_address(words, &question->address, &error))
			snprintf(why, 128, "%.127s", error.text);
		return !*why;
	case RF_QUESTION_TOP:
		if (sscanf(words, "%3u %15s", &question->number, by) != 2)
			return false;
		if (question->number > TOP_MOST)
			question->number = TOP_MOST;
		return true;
	case RF_QUESTION_GONE:
		return sscanf(words, "%4u", &question->number) == 1;
	case RF_QUESTION_BAN:
		return read_ban(question, words, why);
	default:
		return false;
	}
}

/* False: it is another question, or an invalid one; then `why` has the error. */
static bool read_question(struct rf_question *question, const char *text, char why[128])
{
	*why = '\0';
	snprintf(question->text, sizeof(question->text), "%s", text);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const size_t length = strlen(kinds[i].begins);

		if (strncmp(text, kinds[i].begins, length) != 0)
			continue;
		question->kind = kinds[i].kind;
		return read_operands(question, text + length, why);
	}
	return false;
}

static void send_requests(struct rf_inquiry *inquiry)
{
	switch (inquiry->question.kind) {
	case RF_QUESTION_BAN:
		begin_piece(inquiry, RF_PIECE_BAN, 0);
		return;
	case RF_QUESTION_GONE:
		begin_in_each_bucket(inquiry, RF_PIECE_GONE);
		return;
	case RF_QUESTION_TOP:
		begin_of_each_host(inquiry, RF_PIECE_TOP);
		return;
	default:
		begin_in_each_bucket(inquiry, RF_PIECE_HOSTS);
		begin_of_each_host(inquiry, RF_PIECE_HOST);
	}
	if (inquiry->question.kind == RF_QUESTION_SOURCE)
		begin_of_each_limit(inquiry, RF_PIECE_RECORD);
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
		 question->kind == RF_QUESTION_BAN ? "it does not hear the engine: " : "",
		 *trouble ? trouble : "the engine is not connected yet");
	return say_error(text);
}

static struct rf_inquiry *free_one(struct rf_inquiries *inquiries)
{
	for (int i = 0; i < RF_DESK_CLIENTS; i++)
		if (!inquiries->inquiry[i].ticket)
			return &inquiries->inquiry[i];
	return NULL;
}

char *rf_inquire(struct rf_inquiries *inquiries, struct rf_desk *desk, uint64_t ticket,
		 const char *text, const struct rf_status_view *view, bool *later)
{
	const uint32_t room = 2 * RF_FLEET_HOSTS_MAX + RF_BUCKETS + RF_FLEET_LIMITS_MAX;
	struct rf_inquiry *inquiry = free_one(inquiries);
	struct rf_question question = {};
	const struct rf_line *line;
	char why[128];

	if (!read_question(&question, text, why))
		return *why ? say_error(why) : NULL;
	if (!inquiry)
		return say_error("too many questions at once; ask again");
	line = line_of(&question, view);
	if (!is_ready(line, &question))
		return refuse_for_now(line, &question);
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
	send_requests(inquiry);
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
		} else if (rf_line_is_ready(line_of(&inquiry->question, inquiry->view),
					    tag_of(piece), now)) {
			piece->waits = !send_piece(piece);
		}
		if (inquiry->ticket != ticket)
			return;
	}
}

void rf_inquiries_turn(struct rf_inquiries *inquiries, uint64_t now)
{
	for (int i = 0; i < RF_DESK_CLIENTS; i++)
		if (inquiries->inquiry[i].ticket)
			send_again(&inquiries->inquiry[i], now);
}
