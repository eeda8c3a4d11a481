// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/inquiry.h"
#include "base/json.h"
#include "base/units.h"
#include "fleet/wire.h"
#include "ringfence/share.h"

#define TOP_MOST 100

static char *say_error(const char *text)
{
	json_t *error = json_pack("{s:i, s:o}", "schema", 1, "error", rf_json_text(text));
	char *answer = error ? json_dumps(error, JSON_COMPACT) : NULL;

	json_decref(error);
	return answer;
}

/* ---- the end of one ---- */

static void end(struct rf_inquiry *inquiry)
{
	for (uint32_t i = 0; i < inquiry->pieces; i++)
		free(inquiry->piece[i].bytes);
	free(inquiry->piece);
	*inquiry = (struct rf_inquiry){};
}

static void finish(struct rf_inquiry *inquiry)
{
	char *answer = inquiry->question.compose(inquiry, inquiry->view);

	rf_desk_reply(inquiry->desk, inquiry->ticket, answer);
	free(answer);
	end(inquiry);
}

static void take_answer(void *data, const redisReply *reply)
{
	struct rf_piece *piece = data;

	if (reply && reply->type == REDIS_REPLY_STRING) {
		piece->bytes = malloc(reply->len + 1);
		piece->size = reply->len;
		if (piece->bytes)
			memcpy(piece->bytes, reply->str, reply->len + 1);
	}
	if (!--piece->inquiry->left)
		finish(piece->inquiry);
}

/* ---- requests ---- */

static void send_words(struct rf_inquiry *inquiry, enum rf_piece_kind kind, uint32_t index,
		       int count, const char *const *words, const size_t *lengths)
{
	struct rf_piece *piece = &inquiry->piece[inquiry->pieces];

	if (inquiry->pieces == inquiry->room)
		return;
	*piece = (struct rf_piece){.inquiry = inquiry, .kind = kind, .index = index};
	inquiry->pieces++;
	if (rf_link_call(inquiry->view->news, count, words, lengths, take_answer, piece))
		inquiry->left++;
}

/* No more of it than makes sense. */
static void get(struct rf_inquiry *inquiry, enum rf_piece_kind kind, uint32_t index,
		const char *key, uint32_t most)
{
	char last[12];
	const char *const words[] = {"GETRANGE", key, "0", last};
	size_t lengths[ARRAY_SIZE(words)];

	snprintf(last, sizeof(last), "%u", most);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		lengths[i] = strlen(words[i]);
	send_words(inquiry, kind, index, ARRAY_SIZE(words), words, lengths);
}

static void get_hosts(struct rf_inquiry *inquiry)
{
	char key[RF_WIRE_KEY_SIZE];

	for (uint32_t i = 0; i < RF_BUCKETS; i++) {
		rf_wire_hosts_key(key, i);
		get(inquiry, RF_PIECE_HOSTS, i, key, RF_WIRE_HOSTS_MAX);
	}
}

/* Of all slots that a host may have; those of no member are asked for in vain. */
static void get_each(struct rf_inquiry *inquiry, enum rf_piece_kind kind, uint32_t most,
		     void (*name)(char *key, uint32_t slot))
{
	char key[RF_WIRE_KEY_SIZE];

	for (uint32_t slot = 0; slot < RF_FLEET_HOSTS_MAX; slot++)
		for (int i = 0; i < RF_BUCKETS; i++)
			if (rf_ledger_slots_has(&inquiry->view->claims->member[i].members, slot)) {
				name(key, slot);
				get(inquiry, kind, slot, key, most);
				break;
			}
}

static void get_records(struct rf_inquiry *inquiry)
{
	const struct rf_claims *claims = inquiry->view->claims;

	for (int i = 0; i < RF_FLEET_LIMITS_MAX; i++) {
		const struct rf_fleet_limit *limit = &claims->limit[i];
		char key[RF_WIRE_KEY_SIZE], source[RF_CALLS_SOURCE_SIZE];
		struct rf_claim_key of;

		if (!limit->in_force)
			continue;
		of = rf_status_key(claims, i, &inquiry->question.address);
		rf_calls_format_source(&of, limit, source);
		rf_wire_record_key(key, rf_bucket(of.source[0], of.source[1]), limit->name,
				   limit->definition, source);
		get(inquiry, RF_PIECE_RECORD, i, key, RF_WIRE_RECORD_MAX);
	}
}

static void send_gone(struct rf_inquiry *inquiry)
{
	char slot_key[RF_WIRE_KEY_SIZE], hosts_key[RF_WIRE_KEY_SIZE];

	for (uint32_t i = 0; i < RF_BUCKETS; i++) {
		const struct rf_ledger_call call = rf_calls_of(inquiry->view->calls, i);
		uint8_t bytes[RF_WIRE_GONE_SIZE];
		const char *const words[] = {"FCALL",  "rf_gone", "2",
					     slot_key, hosts_key, (const char *)bytes};
		size_t lengths[ARRAY_SIZE(words)];

		rf_wire_slot_key(slot_key, i, call.slot);
		rf_wire_hosts_key(hosts_key, i);
		rf_wire_pack_gone(bytes, &call, inquiry->question.number);
		for (size_t j = 0; j < ARRAY_SIZE(words) - 1; j++)
			lengths[j] = strlen(words[j]);
		lengths[ARRAY_SIZE(words) - 1] = sizeof(bytes);
		send_words(inquiry, RF_PIECE_GONE, i, ARRAY_SIZE(words), words, lengths);
	}
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
	if (inquiry->question.compose == rf_inquiry_gone)
		send_gone(inquiry);
	else if (inquiry->question.compose == rf_inquiry_top)
		get_each(inquiry, RF_PIECE_TOP, RF_NEWS_TOP_MAX, rf_wire_top_key);
	else {
		get_hosts(inquiry);
		get_each(inquiry, RF_PIECE_HOST, RF_NEWS_HOST_MAX, rf_wire_host_key);
	}
	if (inquiry->question.compose == rf_inquiry_source)
		get_records(inquiry);
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
	if (view->news->state != RF_LINK_READY)
		return say_error(*view->news->trouble ? view->news->trouble
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
	send_requests(inquiry);
	*later = true;
	if (!--inquiry->left)
		finish(inquiry);
	return NULL;
}
