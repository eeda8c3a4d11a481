// SPDX-License-Identifier: GPL-2.0
/* Reads what the engine keeps. Nothing is decided by it: it is shown to people. */
#include <string.h>

#include "fleet/wire.h"

#define HEAD_SIZE 51
#define HOST_SIZE 29
#define CLAIM_SIZE 12
#define SHORT_SIZE 8 /* the head of a record with up to FEW claims */
#define LONG_SIZE 26
#define FEW 3
#define IN_VAIN (1U << 31)

static uint64_t number(const uint8_t *bytes, int size)
{
	uint64_t number = 0;

	for (int i = 0; i < size; i++)
		number |= (uint64_t)bytes[i] << 8 * i;
	return number;
}

static bool take_host(struct rf_ledger *ledger, const uint8_t *bytes)
{
	const uint32_t slot = number(bytes, 2);
	const uint8_t flags = bytes[4];

	if (slot >= RF_LEDGER_SLOTS || flags > 3)
		return false;
	ledger->host[slot] = (struct rf_ledger_host){
		.generation = number(bytes + 2, 2),
		.is_complete = flags & 1,
		.is_expected = flags & 2,
		.nonce = number(bytes + 5, 8),
		.joined = number(bytes + 13, 8),
		.heard = number(bytes + 21, 8),
	};
	return true;
}

bool rf_wire_unpack_hosts(struct rf_ledger *ledger, const void *from, size_t size)
{
	const uint8_t *bytes = from;

	memset(ledger, 0, sizeof(*ledger));
	if (size < HEAD_SIZE || (size - HEAD_SIZE) % HOST_SIZE)
		return false;
	ledger->run = number(bytes, 8);
	ledger->newest = number(bytes + 8, 8);
	ledger->learns_from = number(bytes + 16, 8);
	ledger->window = number(bytes + 24, 4);
	ledger->is_learning = bytes[30];
	ledger->key = number(bytes + 35, 8);
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
	source->contested_until = number(bytes, 8);
	for (size_t at = head; at < size; at += CLAIM_SIZE) {
		const uint32_t whose = number(bytes + at, 4);

		source->claim[source->count++] = (struct rf_ledger_claim){
			.slot = (whose & ~IN_VAIN) >> 16,
			.generation = whose,
			.claim = number(bytes + at + 4, 4),
			.seq = number(bytes + at + 8, 4),
			.in_vain = whose & IN_VAIN,
		};
	}
	return true;
}
