// SPDX-License-Identifier: GPL-2.0
#include "fleet/wire.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fleet/bytes.h"

/* ---- names of keys ---- */

void rf_wire_slot_key(char key[RF_WIRE_KEY_SIZE], uint32_t bucket, uint32_t slot)
{
	snprintf(key, RF_WIRE_KEY_SIZE, "rf:{%u}:h:%u", bucket, slot);
}

void rf_wire_hosts_key(char key[RF_WIRE_KEY_SIZE], uint32_t bucket)
{
	snprintf(key, RF_WIRE_KEY_SIZE, "rf:{%u}:hosts", bucket);
}

void rf_wire_format_definition(char text[RF_WIRE_DEFINITION_SIZE], uint64_t definition)
{
	snprintf(text, RF_WIRE_DEFINITION_SIZE, "%016" PRIx64, definition);
}

void rf_wire_record_key(char key[RF_WIRE_KEY_SIZE], uint32_t bucket, const char *limit,
			uint64_t definition, const char *source)
{
	char hash[RF_WIRE_DEFINITION_SIZE];

	rf_wire_format_definition(hash, definition);
	snprintf(key, RF_WIRE_KEY_SIZE, "rf:{%u}:l:%s-%s:%s", bucket, limit, hash, source);
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

/* ---- calls ---- */

static void put_call(struct rf_bytes_writer *to, const struct rf_ledger_call *call)
{
	rf_bytes_put(to, 4, call->slot);
	rf_bytes_put(to, 8, call->nonce);
	rf_bytes_put(to, 8, call->joined);
	rf_bytes_put(to, 4, call->grace);
	rf_bytes_put(to, 4, call->window);
}

size_t rf_wire_pack_beat(uint8_t bytes[RF_WIRE_BEAT_MAX], const struct rf_ledger_call *call,
			 const struct rf_ledger_beat *beat)
{
	struct rf_bytes_writer to = {bytes};

	put_call(&to, call);
	rf_bytes_put(&to, 1, beat->is_complete);
	rf_bytes_put(&to, 1, beat->resumes);
	rf_bytes_put(&to, 8, beat->key);
	rf_bytes_put_slots(&to, &beat->known);
	return to.at - bytes;
}

void rf_wire_pack_call(uint8_t bytes[RF_WIRE_CALL_SIZE], const struct rf_ledger_call *call)
{
	put_call(&(struct rf_bytes_writer){bytes}, call);
}

void rf_wire_pack_report(uint8_t bytes[RF_WIRE_REPORT_SIZE], const struct rf_ledger_limit *limit,
			 const struct rf_ledger_report *report)
{
	struct rf_bytes_writer to = {bytes};

	rf_bytes_put(&to, 4, report->seq);
	rf_bytes_put(&to, 4, report->used);
	rf_bytes_put(&to, 4, report->has);
	rf_bytes_put(&to, 4, report->wants);
	rf_bytes_put(&to, 4, limit->pool);
	rf_bytes_put(&to, 4, limit->first);
	rf_bytes_put(&to, 4, limit->window);
}

/* ---- replies ---- */

bool rf_wire_unpack_heard(struct rf_ledger_heard *heard, const void *bytes, size_t size)
{
	struct rf_bytes_reader from = rf_bytes_reader_of(bytes, size);
	bool is_done;

	heard->status = rf_bytes_get(&from, 1);
	heard->joined = rf_bytes_get(&from, 8);
	heard->is_complete = rf_bytes_get_flag(&from);
	heard->is_learning = rf_bytes_get_flag(&from);
	is_done = heard->status == RF_LEDGER_DONE;
	rf_bytes_require(&from, is_done || heard->status == RF_LEDGER_REFUSED ||
					heard->status == RF_LEDGER_FOREIGN);
	heard->key = heard->status == RF_LEDGER_FOREIGN ? rf_bytes_get(&from, 8) : 0;
	rf_bytes_require(&from,
			 is_done ? heard->joined != 0 : !heard->joined && !heard->is_complete);
	rf_bytes_require(&from, is_done || from.at == from.end);
	heard->members = rf_bytes_get_slots(&from);
	return rf_bytes_are_whole(&from);
}

bool rf_wire_unpack_answer(struct rf_ledger_answer *answer, const void *bytes, size_t size)
{
	struct rf_bytes_reader from = rf_bytes_reader_of(bytes, size);

	answer->status = rf_bytes_get(&from, 1);
	answer->seq = rf_bytes_get(&from, 4);
	answer->share = rf_bytes_get(&from, 4);
	answer->lower_to = rf_bytes_get(&from, 4);
	rf_bytes_require(&from, answer->status <= RF_LEDGER_GARBAGE &&
					answer->status != RF_LEDGER_REFUSED);
	rf_bytes_require(&from, answer->lower_to <= answer->share);
	rf_bytes_require(&from, answer->status == RF_LEDGER_DONE || !answer->share);
	return rf_bytes_are_whole(&from);
}

/* ---- received units ---- */

void rf_wire_pack_sum(uint8_t bytes[RF_WIRE_SUM_SIZE], const struct rf_sum_report *report)
{
	struct rf_bytes_writer to = {bytes};

	rf_bytes_put(&to, 8, report->from_ms);
	rf_bytes_put(&to, 4, report->units);
	rf_bytes_put(&to, 4, report->window_ms);
}

bool rf_wire_unpack_summed(struct rf_sum_answer *answer, const void *bytes, size_t size)
{
	struct rf_bytes_reader from = rf_bytes_reader_of(bytes, size);

	answer->status = rf_bytes_get(&from, 1);
	answer->sum = rf_bytes_get(&from, 4);
	answer->now_ms = rf_bytes_get(&from, 8);
	rf_bytes_require(&from, answer->status == RF_LEDGER_DONE ||
					answer->status == RF_LEDGER_STRANGER ||
					answer->status == RF_LEDGER_GARBAGE);
	rf_bytes_require(&from, answer->status == RF_LEDGER_DONE || !answer->sum);
	return rf_bytes_are_whole(&from);
}

/* ---- a removed host ---- */

void rf_wire_pack_gone(uint8_t bytes[RF_WIRE_GONE_SIZE], const struct rf_ledger_call *call,
		       uint32_t slot)
{
	struct rf_bytes_writer to = {bytes + RF_WIRE_CALL_SIZE};

	rf_wire_pack_call(bytes, call);
	rf_bytes_put(&to, 2, slot);
}

bool rf_wire_unpack_left(struct rf_ledger_left *left, const void *bytes, size_t size)
{
	struct rf_bytes_reader from = rf_bytes_reader_of(bytes, size);

	left->status = rf_bytes_get(&from, 1);
	left->left = rf_bytes_get(&from, 4);
	rf_bytes_require(&from, left->status == RF_LEDGER_DONE ? !left->left
							       : left->status == RF_LEDGER_REFUSED);
	return rf_bytes_are_whole(&from);
}

/* ---- records on the server: only displayed, no decision depends on them ---- */

#define HEAD_SIZE 51
#define HOST_SIZE 29
#define CLAIM_SIZE 12
#define SHORT_SIZE 8 /* the head of a record with up to FEW claims */
#define LONG_SIZE 26
#define FEW 3
#define IN_VAIN (1U << 31)

static bool take_host(struct rf_ledger *ledger, const uint8_t *bytes)
{
	const uint32_t slot = rf_bytes_number(bytes, 2);
	const uint8_t flags = bytes[4];

	if (slot >= RF_LEDGER_SLOTS || flags > 3)
		return false;
	ledger->host[slot] = (struct rf_ledger_host){
		.generation = rf_bytes_number(bytes + 2, 2),
		.is_complete = flags & 1,
		.is_expected = flags & 2,
		.nonce = rf_bytes_number(bytes + 5, 8),
		.joined = rf_bytes_number(bytes + 13, 8),
		.heard = rf_bytes_number(bytes + 21, 8),
	};
	return true;
}

bool rf_wire_unpack_hosts(struct rf_ledger *ledger, const void *from, size_t size)
{
	const uint8_t *bytes = from;

	memset(ledger, 0, sizeof(*ledger));
	if (size < HEAD_SIZE || (size - HEAD_SIZE) % HOST_SIZE)
		return false;
	ledger->run = rf_bytes_number(bytes, 8);
	ledger->newest = rf_bytes_number(bytes + 8, 8);
	ledger->learns_from = rf_bytes_number(bytes + 16, 8);
	ledger->window = rf_bytes_number(bytes + 24, 4);
	ledger->is_learning = bytes[30];
	ledger->key = rf_bytes_number(bytes + 35, 8);
	for (size_t at = HEAD_SIZE; at < size; at += HOST_SIZE)
		if (!take_host(ledger, bytes + at))
			return false;
	return true;
}

bool rf_wire_unpack_record(struct rf_ledger_source *source, const void *from, size_t size)
{
	const uint8_t *bytes = from;
	const size_t head = size <= SHORT_SIZE + FEW * CLAIM_SIZE ? SHORT_SIZE : LONG_SIZE;

	memset(source, 0, sizeof(*source));
	if (!size)
		return true;
	if (size < head || size > RF_WIRE_RECORD_MAX || (size - head) % CLAIM_SIZE)
		return false;
	source->contested_until = rf_bytes_number(bytes, 8);
	for (size_t at = head; at < size; at += CLAIM_SIZE) {
		const uint32_t whose = rf_bytes_number(bytes + at, 4);

		source->claim[source->count++] = (struct rf_ledger_claim){
			.slot = (whose & ~IN_VAIN) >> 16,
			.generation = whose,
			.claim = rf_bytes_number(bytes + at + 4, 4),
			.seq = rf_bytes_number(bytes + at + 8, 4),
			.in_vain = whose & IN_VAIN,
		};
	}
	return true;
}
