// SPDX-License-Identifier: GPL-2.0
#include "tests/fleet/model/wire.h"

#include "fleet/bytes.h"

static struct rf_ledger_call get_call(struct rf_bytes_reader *from)
{
	struct rf_ledger_call call = {0};

	call.slot = rf_bytes_get(from, 4);
	call.nonce = rf_bytes_get(from, 8);
	call.joined = rf_bytes_get(from, 8);
	call.grace = rf_bytes_get(from, 4);
	call.window = rf_bytes_get(from, 4);
	rf_bytes_require(from, call.slot < RF_LEDGER_SLOTS && call.nonce);
	rf_bytes_require(from, call.grace && call.grace <= RF_WIRE_GRACE_MAX_MS);
	rf_bytes_require(from, call.window && call.window <= RF_WIRE_WINDOW_MAX_MS);
	return call;
}

bool rf_wire_unpack_beat(struct rf_ledger_call *call, struct rf_ledger_beat *beat,
			 const void *bytes, size_t size)
{
	struct rf_bytes_reader from = rf_bytes_reader_of(bytes, size);

	*call = get_call(&from);
	beat->is_complete = rf_bytes_get_flag(&from);
	beat->resumes = rf_bytes_get_flag(&from);
	beat->key = rf_bytes_get(&from, 8);
	beat->known = rf_bytes_get_slots(&from);
	return rf_bytes_are_whole(&from);
}

bool rf_wire_unpack_call(struct rf_ledger_call *call, const void *bytes, size_t size)
{
	struct rf_bytes_reader from = rf_bytes_reader_of(bytes, size);

	*call = get_call(&from);
	return rf_bytes_are_whole(&from);
}

/* Members are void after the longest reported window, so no limit can have a longer one. */
bool rf_wire_unpack_report(struct rf_ledger_limit *limit, struct rf_ledger_report *report,
			   const struct rf_ledger_call *call, const void *bytes, size_t size)
{
	struct rf_bytes_reader from = rf_bytes_reader_of(bytes, size);

	report->seq = rf_bytes_get(&from, 4);
	report->used = rf_bytes_get(&from, 4);
	report->has = rf_bytes_get(&from, 4);
	report->wants = rf_bytes_get(&from, 4);
	limit->pool = rf_bytes_get(&from, 4);
	limit->first = rf_bytes_get(&from, 4);
	limit->window = rf_bytes_get(&from, 4);
	rf_bytes_require(&from, limit->window && limit->window <= call->window);
	return rf_bytes_are_whole(&from);
}

size_t rf_wire_pack_heard(uint8_t bytes[RF_WIRE_HEARD_MAX], const struct rf_ledger_heard *heard)
{
	struct rf_bytes_writer to = {bytes};

	rf_bytes_put(&to, 1, heard->status);
	rf_bytes_put(&to, 8, heard->joined);
	rf_bytes_put(&to, 1, heard->is_complete);
	rf_bytes_put(&to, 1, heard->is_learning);
	if (heard->status == RF_LEDGER_FOREIGN)
		rf_bytes_put(&to, 8, heard->key);
	rf_bytes_put_slots(&to, &heard->members);
	return to.at - bytes;
}

void rf_wire_pack_answer(uint8_t bytes[RF_WIRE_ANSWER_SIZE], const struct rf_ledger_answer *answer)
{
	struct rf_bytes_writer to = {bytes};

	rf_bytes_put(&to, 1, answer->status);
	rf_bytes_put(&to, 4, answer->seq);
	rf_bytes_put(&to, 4, answer->share);
	rf_bytes_put(&to, 4, answer->lower_to);
}

bool rf_wire_unpack_sum(struct rf_sum_report *report, const struct rf_ledger_call *call,
			const void *bytes, size_t size)
{
	struct rf_bytes_reader from = rf_bytes_reader_of(bytes, size);

	report->from_ms = rf_bytes_get(&from, 8);
	report->units = rf_bytes_get(&from, 4);
	report->window_ms = rf_bytes_get(&from, 4);
	rf_bytes_require(&from, report->window_ms && report->window_ms <= call->window);
	return rf_bytes_are_whole(&from);
}

void rf_wire_pack_summed(uint8_t bytes[RF_WIRE_SUMMED_SIZE], const struct rf_sum_answer *answer)
{
	struct rf_bytes_writer to = {bytes};

	rf_bytes_put(&to, 1, answer->status);
	rf_bytes_put(&to, 4, answer->sum);
	rf_bytes_put(&to, 8, answer->now_ms);
}
