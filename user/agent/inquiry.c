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
	char *answer = inquiry->question.compose(inquiry, inquiry->view);

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

static bool send_words(struct rf_piece *piece, uint32_t tag, int count, const char *const *words,
		       const size_t *lengths)
{
	struct rf_line *line = piece->inquiry->view->news;

	return rf_line_call(line, tag, count, words, lengths, take_answer, piece);
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
	}
	return false;
}

static uint32_t tag_of(const struct rf_piece *piece)
{
	if (piece->kind == RF_PIECE_HOST || piece->kind == RF_PIECE_TOP)
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

/* False: it is another question, or one that is wrong; then `why` says so. */
static bool read_question(struct rf_question *question, const char *text, char why[128])
{
	struct rf_error error = {};
	char by[16];

	*why = '\0';
	snprintf(question->text, sizeof(question->text), "%s", text);
	if (strcmp(text, "hosts") == 0)
		question->compose = rf_inquiry_hosts;
	else if (strncmp(text, "source ", 7) == 0)
		question->compose = rf_inquiry_source;
	else if (sscanf(text, "top %3u %15s", &question->number, by) == 2)
		question->compose = rf_inquiry_top;
	else if (sscanf(text, "gone %4u", &question->number) == 1)
		question->compose = rf_inquiry_gone;
	if (question->compose == rf_inquiry_source &&
	    rf_parse_address(text + 7, &question->address, &error))
		snprintf(why, 128, "%.127s", error.text);
	if (question->number > TOP_MOST && question->compose == rf_inquiry_top)
		question->number = TOP_MOST;
	return question->compose && !*why;
}

static void send_requests(struct rf_inquiry *inquiry)
{
	if (inquiry->question.compose == rf_inquiry_gone) {
		begin_in_each_bucket(inquiry, RF_PIECE_GONE);
	} else if (inquiry->question.compose == rf_inquiry_top) {
		begin_of_each_host(inquiry, RF_PIECE_TOP);
	} else {
		begin_in_each_bucket(inquiry, RF_PIECE_HOSTS);
		begin_of_each_host(inquiry, RF_PIECE_HOST);
	}
	if (inquiry->question.compose == rf_inquiry_source)
		begin_of_each_limit(inquiry, RF_PIECE_RECORD);
}

static bool is_any_ready(const struct rf_line *line)
{
	const uint64_t now = rf_time_awake();

	for (uint32_t i = 0; i < RF_TAGS; i++)
		if (rf_line_is_ready(line, i, now))
			return true;
	return false;
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
	char why[128];

	if (!read_question(&question, text, why))
		return *why ? say_error(why) : NULL;
	if (!inquiry)
		return say_error("too many questions at once; ask again");
	if (!is_any_ready(view->news))
		return say_error(*rf_line_trouble(view->news) ? rf_line_trouble(view->news)
							      : "the engine is not connected yet");
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
		} else if (rf_line_is_ready(inquiry->view->news, tag_of(piece), now)) {
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
