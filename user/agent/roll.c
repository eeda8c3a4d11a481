// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "agent/roll.h"
#include "base/time.h"
#include "base/units.h"
#include "fleet/wire.h"

#define BUCKET 0 /* that is read, of all */
#define READ_NS (2 * RF_NS_PER_S)
#define KNOWN_NS (3 * READ_NS)

void rf_roll_start(struct rf_roll *roll, struct rf_line *line, uint64_t grace_ns)
{
	*roll = (struct rf_roll){.line = line, .grace_ms = grace_ns / RF_NS_PER_MS};
}

static void note_heard(struct rf_roll *roll)
{
	const struct rf_ledger *kept = &roll->kept;

	roll->heard = (struct rf_ledger_slots){};
	for (uint32_t slot = 0; slot < RF_LEDGER_SLOTS; slot++)
		if (kept->host[slot].nonce &&
		    kept->newest - kept->host[slot].heard < roll->grace_ms + kept->window)
			rf_ledger_slots_add(&roll->heard, slot);
}

static void take_hosts(void *data, const redisReply *reply)
{
	struct rf_roll *roll = data;

	roll->is_under_way = false;
	if (!reply || reply->type != REDIS_REPLY_STRING ||
	    !rf_wire_unpack_hosts(&roll->kept, reply->str, reply->len))
		return;
	roll->known_ns = rf_time_awake();
	note_heard(roll);
}

void rf_roll_turn(struct rf_roll *roll, uint64_t now)
{
	char key[RF_WIRE_KEY_SIZE];
	const char *const words[] = {"GETRANGE", key, "0", "-1"};
	size_t lengths[ARRAY_SIZE(words)];

	if (now < roll->at_ns || roll->is_under_way)
		return;
	roll->at_ns = now + READ_NS;
	rf_wire_hosts_key(key, BUCKET);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		lengths[i] = strlen(words[i]);
	roll->is_under_way = rf_line_call(roll->line, BUCKET, ARRAY_SIZE(words), words, lengths,
					  take_hosts, roll);
}

bool rf_roll_is_known(const struct rf_roll *roll, uint64_t now)
{
	return roll->known_ns && now - roll->known_ns < KNOWN_NS;
}
