// SPDX-License-Identifier: GPL-2.0
#include "fleet/wire.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- names of keys ---- */

void rf_wire_slot_key(char key[RF_WIRE_KEY_SIZE], uint32_t bucket, uint32_t slot)
{
	snprintf(key, RF_WIRE_KEY_SIZE, "rf:{%u}:h:%u", bucket, slot);
}

void rf_wire_hosts_key(char key[RF_WIRE_KEY_SIZE], uint32_t bucket)
{
	snprintf(key, RF_WIRE_KEY_SIZE, "rf:{%u}:hosts", bucket);
}

void rf_wire_record_key(char key[RF_WIRE_KEY_SIZE], uint32_t bucket, const char *limit,
			uint64_t definition, const char *source)
{
	snprintf(key, RF_WIRE_KEY_SIZE, "rf:{%u}:l:%s-%016" PRIx64 ":%s", bucket, limit, definition,
		 source);
}

void rf_wire_sum_key(char key[RF_WIRE_KEY_SIZE], uint32_t bucket, const char *limit,
		     uint64_t definition, const char *source)
{
	size_t length;

	rf_wire_record_key(key, bucket, limit, definition, source);
	length = strlen(key);
	snprintf(key + length, RF_WIRE_KEY_SIZE - length, ":sum");
}

void rf_wire_host_key(char key[RF_WIRE_KEY_SIZE], uint32_t slot)
{
	snprintf(key, RF_WIRE_KEY_SIZE, "rf:{m}:host:%u", slot);
}

void rf_wire_top_key(char key[RF_WIRE_KEY_SIZE], uint32_t slot)
{
	snprintf(key, RF_WIRE_KEY_SIZE, "rf:{m}:top:%u", slot);
}

/* ---- numbers ---- */

/* Where writing, or reading, has come to. */
struct cursor {
	uint8_t *at;
};

struct reader {
	const uint8_t *at, *end;
	bool failed; /* too short, or something in it makes no sense */
};

static void put(struct cursor *to, int size, uint64_t number)
{
	for (int i = 0; i < size; i++)
		*to->at++ = number >> 8 * i;
}

static uint64_t get(struct reader *from, int size)
{
	uint64_t number = 0;

	if (from->failed || from->end - from->at < size) {
		from->failed = true;
		return 0;
	}
	for (int i = 0; i < size; i++)
		number |= (uint64_t)*from->at++ << 8 * i;
	return number;
}

static bool get_flag(struct reader *from)
{
	const uint64_t flag = get(from, 1);

	from->failed |= flag > 1;
	return flag;
}

static void require(struct reader *from, bool holds)
{
	from->failed |= !holds;
}

static bool is_whole(const struct reader *from)
{
	return !from->failed && from->at == from->end;
}

static struct reader reader_of(const void *bytes, size_t size)
{
	return (struct reader){.at = bytes, .end = (const uint8_t *)bytes + size};
}

/* ---- slots: their numbers, from the lowest to the highest ---- */

static void put_slots(struct cursor *to, const struct rf_ledger_slots *slots)
{
	for (int i = 0; i < RF_LEDGER_SLOTS; i++)
		if (rf_ledger_slots_has(slots, i))
			put(to, 2, i);
}

/* All that is left. */
static struct rf_ledger_slots get_slots(struct reader *from)
{
	struct rf_ledger_slots slots = {{0}};
	uint32_t least = 0;

	while (!from->failed && from->at != from->end) {
		const uint32_t slot = get(from, 2);

		require(from, slot >= least && slot < RF_LEDGER_SLOTS);
		if (from->failed)
			break;
		rf_ledger_slots_add(&slots, slot);
		least = slot + 1;
	}
	return slots;
}

/* ---- calls ---- */

static void put_call(struct cursor *to, const struct rf_ledger_call *call)
{
	put(to, 4, call->slot);
	put(to, 8, call->nonce);
	put(to, 8, call->joined);
	put(to, 4, call->grace);
	put(to, 4, call->window);
}

static struct rf_ledger_call get_call(struct reader *from)
{
	struct rf_ledger_call call = {0};

	call.slot = get(from, 4);
	call.nonce = get(from, 8);
	call.joined = get(from, 8);
	call.grace = get(from, 4);
	call.window = get(from, 4);
	require(from, call.slot < RF_LEDGER_SLOTS && call.nonce);
	require(from, call.grace && call.grace <= RF_WIRE_GRACE_MAX_MS);
	require(from, call.window && call.window <= RF_WIRE_WINDOW_MAX_MS);
	return call;
}

size_t rf_wire_pack_beat(uint8_t bytes[RF_WIRE_BEAT_MAX], const struct rf_ledger_call *call,
			 const struct rf_ledger_beat *beat)
{
	struct cursor to = {bytes};

	put_call(&to, call);
	put(&to, 1, beat->is_complete);
	put(&to, 1, beat->resumes);
	put(&to, 8, beat->key);
	put_slots(&to, &beat->known);
	return to.at - bytes;
}

bool rf_wire_unpack_beat(struct rf_ledger_call *call, struct rf_ledger_beat *beat,
			 const void *bytes, size_t size)
{
	struct reader from = reader_of(bytes, size);

	*call = get_call(&from);
	beat->is_complete = get_flag(&from);
	beat->resumes = get_flag(&from);
	beat->key = get(&from, 8);
	beat->known = get_slots(&from);
	return is_whole(&from);
}

void rf_wire_pack_call(uint8_t bytes[RF_WIRE_CALL_SIZE], const struct rf_ledger_call *call)
{
	put_call(&(struct cursor){bytes}, call);
}

bool rf_wire_unpack_call(struct rf_ledger_call *call, const void *bytes, size_t size)
{
	struct reader from = reader_of(bytes, size);

	*call = get_call(&from);
	return is_whole(&from);
}

void rf_wire_pack_report(uint8_t bytes[RF_WIRE_REPORT_SIZE], const struct rf_ledger_limit *limit,
			 const struct rf_ledger_report *report)
{
	struct cursor to = {bytes};

	put(&to, 4, report->seq);
	put(&to, 4, report->used);
	put(&to, 4, report->has);
	put(&to, 4, report->wants);
	put(&to, 4, limit->pool);
	put(&to, 4, limit->first);
	put(&to, 4, limit->window);
}

/* Members are void after the longest window that was told, so no limit may have a longer one. */
bool rf_wire_unpack_report(struct rf_ledger_limit *limit, struct rf_ledger_report *report,
			   const struct rf_ledger_call *call, const void *bytes, size_t size)
{
	struct reader from = reader_of(bytes, size);

	report->seq = get(&from, 4);
	report->used = get(&from, 4);
	report->has = get(&from, 4);
	report->wants = get(&from, 4);
	limit->pool = get(&from, 4);
	limit->first = get(&from, 4);
	limit->window = get(&from, 4);
	require(&from, limit->window && limit->window <= call->window);
	return is_whole(&from);
}

/* ---- answers ---- */

size_t rf_wire_pack_heard(uint8_t bytes[RF_WIRE_HEARD_MAX], const struct rf_ledger_heard *heard)
{
	struct cursor to = {bytes};

	put(&to, 1, heard->status);
	put(&to, 8, heard->joined);
	put(&to, 1, heard->is_complete);
	put(&to, 1, heard->is_learning);
	if (heard->status == RF_LEDGER_FOREIGN)
		put(&to, 8, heard->key);
	put_slots(&to, &heard->members);
	return to.at - bytes;
}

bool rf_wire_unpack_heard(struct rf_ledger_heard *heard, const void *bytes, size_t size)
{
	struct reader from = reader_of(bytes, size);
	bool is_done;

	heard->status = get(&from, 1);
	heard->joined = get(&from, 8);
	heard->is_complete = get_flag(&from);
	heard->is_learning = get_flag(&from);
	is_done = heard->status == RF_LEDGER_DONE;
	require(&from, is_done || heard->status == RF_LEDGER_REFUSED ||
			       heard->status == RF_LEDGER_FOREIGN);
	heard->key = heard->status == RF_LEDGER_FOREIGN ? get(&from, 8) : 0;
	require(&from, is_done ? heard->joined != 0 : !heard->joined && !heard->is_complete);
	require(&from, is_done || from.at == from.end);
	heard->members = get_slots(&from);
	return is_whole(&from);
}

void rf_wire_pack_answer(uint8_t bytes[RF_WIRE_ANSWER_SIZE], const struct rf_ledger_answer *answer)
{
	struct cursor to = {bytes};

	put(&to, 1, answer->status);
	put(&to, 4, answer->seq);
	put(&to, 4, answer->share);
	put(&to, 4, answer->lower_to);
}

bool rf_wire_unpack_answer(struct rf_ledger_answer *answer, const void *bytes, size_t size)
{
	struct reader from = reader_of(bytes, size);

	answer->status = get(&from, 1);
	answer->seq = get(&from, 4);
	answer->share = get(&from, 4);
	answer->lower_to = get(&from, 4);
	require(&from, answer->status <= RF_LEDGER_GARBAGE && answer->status != RF_LEDGER_REFUSED);
	require(&from, answer->lower_to <= answer->share);
	require(&from, answer->status == RF_LEDGER_DONE || !answer->share);
	return is_whole(&from);
}

/* ---- what was received ---- */

void rf_wire_pack_sum(uint8_t bytes[RF_WIRE_SUM_SIZE], const struct rf_sum_report *report)
{
	struct cursor to = {bytes};

	put(&to, 8, report->from_ms);
	put(&to, 4, report->units);
	put(&to, 4, report->window_ms);
}

bool rf_wire_unpack_sum(struct rf_sum_report *report, const struct rf_ledger_call *call,
			const void *bytes, size_t size)
{
	struct reader from = reader_of(bytes, size);

	report->from_ms = get(&from, 8);
	report->units = get(&from, 4);
	report->window_ms = get(&from, 4);
	require(&from, report->window_ms && report->window_ms <= call->window);
	return is_whole(&from);
}

void rf_wire_pack_summed(uint8_t bytes[RF_WIRE_SUMMED_SIZE], const struct rf_sum_answer *answer)
{
	struct cursor to = {bytes};

	put(&to, 1, answer->status);
	put(&to, 4, answer->sum);
	put(&to, 8, answer->now_ms);
}

bool rf_wire_unpack_summed(struct rf_sum_answer *answer, const void *bytes, size_t size)
{
	struct reader from = reader_of(bytes, size);

	answer->status = get(&from, 1);
	answer->sum = get(&from, 4);
	answer->now_ms = get(&from, 8);
	require(&from, answer->status == RF_LEDGER_DONE || answer->status == RF_LEDGER_STRANGER ||
			       answer->status == RF_LEDGER_GARBAGE);
	require(&from, answer->status == RF_LEDGER_DONE || !answer->sum);
	return is_whole(&from);
}

/* ---- a host that is gone ---- */

void rf_wire_pack_gone(uint8_t bytes[RF_WIRE_GONE_SIZE], const struct rf_ledger_call *call,
		       uint32_t slot)
{
	struct cursor to = {bytes + RF_WIRE_CALL_SIZE};

	rf_wire_pack_call(bytes, call);
	put(&to, 2, slot);
}

bool rf_wire_unpack_left(struct rf_ledger_left *left, const void *bytes, size_t size)
{
	struct reader from = reader_of(bytes, size);

	left->status = get(&from, 1);
	left->left = get(&from, 4);
	require(&from,
		left->status == RF_LEDGER_DONE ? !left->left : left->status == RF_LEDGER_REFUSED);
	return is_whole(&from);
}
