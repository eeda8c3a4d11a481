// SPDX-License-Identifier: GPL-2.0
/*
 * Messages between a host and the fleet server, selected by the first byte: for any bytes, a
 * message that was read is written again as the same bytes, and the ledger accepts every call.
 */
#include <string.h>

#include "require.h"
#include "tests/fleet/model/sums.h"
#include "tests/fleet/model/wire.h"

static void beat(const uint8_t *data, size_t size)
{
	static struct rf_ledger ledger;
	uint8_t bytes[RF_WIRE_BEAT_MAX];
	struct rf_ledger_heard heard, again;
	struct rf_ledger_call call;
	struct rf_ledger_beat says;

	if (!rf_wire_unpack_beat(&call, &says, data, size))
		return;
	REQUIRE(rf_wire_pack_beat(bytes, &call, &says) == size);
	REQUIRE(!memcmp(bytes, data, size));
	call.now = ledger.newest + (call.joined & 4095);
	call.run = 1 + (call.nonce & 1);
	call.stamp = ledger.newest + 1;
	heard = rf_ledger_beat(&ledger, &call, &says);
	REQUIRE(rf_wire_unpack_heard(&again, bytes, rf_wire_pack_heard(bytes, &heard)));
}

static void heard(const uint8_t *data, size_t size)
{
	uint8_t bytes[RF_WIRE_HEARD_MAX];
	struct rf_ledger_heard says;

	if (!rf_wire_unpack_heard(&says, data, size))
		return;
	REQUIRE(rf_wire_pack_heard(bytes, &says) == size);
	REQUIRE(!memcmp(bytes, data, size));
}

/* A call with one report. */
static void report(const uint8_t *data, size_t size)
{
	uint8_t bytes[RF_WIRE_REPORT_SIZE];
	struct rf_ledger_report says;
	struct rf_ledger_limit limit;
	struct rf_ledger_call call;

	if (size < RF_WIRE_CALL_SIZE || !rf_wire_unpack_call(&call, data, RF_WIRE_CALL_SIZE))
		return;
	rf_wire_pack_call(bytes, &call);
	REQUIRE(!memcmp(bytes, data, RF_WIRE_CALL_SIZE));
	data += RF_WIRE_CALL_SIZE;
	size -= RF_WIRE_CALL_SIZE;
	if (!rf_wire_unpack_report(&limit, &says, &call, data, size))
		return;
	rf_wire_pack_report(bytes, &limit, &says);
	REQUIRE(size == sizeof(bytes) && !memcmp(bytes, data, size));
	REQUIRE(limit.window <= call.window);
}

static void answer(const uint8_t *data, size_t size)
{
	uint8_t bytes[RF_WIRE_ANSWER_SIZE];
	struct rf_ledger_answer says;

	if (!rf_wire_unpack_answer(&says, data, size))
		return;
	rf_wire_pack_answer(bytes, &says);
	REQUIRE(size == sizeof(bytes) && !memcmp(bytes, data, size));
}

/* A call with the sums received from one source. */
static void sum(const uint8_t *data, size_t size)
{
	static struct rf_ledger ledger;
	static struct rf_sum sums;
	uint8_t bytes[RF_WIRE_SUM_SIZE], answered[RF_WIRE_SUMMED_SIZE];
	struct rf_sum_answer answer, again;
	struct rf_sum_report says;
	struct rf_ledger_call call;

	if (size < RF_WIRE_CALL_SIZE || !rf_wire_unpack_call(&call, data, RF_WIRE_CALL_SIZE))
		return;
	data += RF_WIRE_CALL_SIZE;
	size -= RF_WIRE_CALL_SIZE;
	if (!rf_wire_unpack_sum(&says, &call, data, size))
		return;
	rf_wire_pack_sum(bytes, &says);
	REQUIRE(size == sizeof(bytes) && !memcmp(bytes, data, size));
	call.now = ledger.newest + (call.joined & 255);
	call.run = 1;
	ledger.host[call.slot].nonce = call.nonce;
	rf_ledger_open(&ledger, &call);
	ledger.host[call.slot].joined = call.joined;
	answer = rf_sum_add(&sums, &ledger, &call, &says);
	rf_wire_pack_summed(answered, &answer);
	REQUIRE(rf_wire_unpack_summed(&again, answered, sizeof(answered)));
}

static void summed(const uint8_t *data, size_t size)
{
	uint8_t bytes[RF_WIRE_SUMMED_SIZE];
	struct rf_sum_answer says;

	if (!rf_wire_unpack_summed(&says, data, size))
		return;
	rf_wire_pack_summed(bytes, &says);
	REQUIRE(size == sizeof(bytes) && !memcmp(bytes, data, size));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const kinds[])(const uint8_t *, size_t) = {beat,	 heard, report,
								 answer, sum,	summed};

	if (size)
		kinds[*data % 6](data + 1, size - 1);
	return 0;
}
