// SPDX-License-Identifier: GPL-2.0
#include "compare.h"

struct rf_ledger_call call_of(const struct member *member)
{
	return (struct rf_ledger_call){
		.now = now,
		.run = run,
		.grace = dice(10) ? GRACE : GRACE / 2 + dice(GRACE),
		.window = WINDOW,
		.nonce = member->nonce,
		.joined = dice(30) ? member->joined : dice(3),
		.slot = member->slot,
	};
}

size_t garble(uint8_t *bytes, size_t size, uint64_t seldom)
{
	if (dice(seldom))
		return size;
	if (!dice(3))
		return dice(size + 4);
	bytes[dice(size)] = dice(2) ? dice(256) : dice(2) * 255;
	return size;
}

void send_begin(void)
{
	engine_send(redis, "SET now:s %llu", (unsigned long long)now / 1000);
	engine_send(redis, "SET now:us %llu", (unsigned long long)(now % 1000 * 1000 + dice(1000)));
	engine_send(redis, "TIME");
}

uint64_t get_begin(void)
{
	freeReplyObject(engine_get(redis));
	freeReplyObject(engine_get(redis));
	return engine_get_time_ms(redis);
}
