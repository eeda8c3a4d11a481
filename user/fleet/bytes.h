/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Little-endian numbers of fixed width, for messages to the server and records on it. After an
 * error a reader returns 0.
 */
#ifndef RF_FLEET_BYTES_H
#define RF_FLEET_BYTES_H

#include <stddef.h>

#include "fleet/ledger.h"

/* Where writing, or reading, has come to. */
struct rf_bytes_writer {
	uint8_t *at;
};

struct rf_bytes_reader {
	const uint8_t *at, *end;
	bool failed; /* too short, or something in it makes no sense */
};

static inline uint64_t rf_bytes_number(const uint8_t *bytes, int size)
{
	uint64_t number = 0;

	for (int i = 0; i < size; i++)
		number |= (uint64_t)bytes[i] << 8 * i;
	return number;
}

static inline void rf_bytes_put(struct rf_bytes_writer *to, int size, uint64_t number)
{
	for (int i = 0; i < size; i++)
		*to->at++ = number >> 8 * i;
}

static inline struct rf_bytes_reader rf_bytes_reader_of(const void *bytes, size_t size)
{
	return (struct rf_bytes_reader){.at = bytes, .end = (const uint8_t *)bytes + size};
}

static inline uint64_t rf_bytes_get(struct rf_bytes_reader *from, int size)
{
	if (from->failed || from->end - from->at < size) {
		from->failed = true;
		return 0;
	}
	from->at += size;
	return rf_bytes_number(from->at - size, size);
}

static inline bool rf_bytes_get_flag(struct rf_bytes_reader *from)
{
	const uint64_t flag = rf_bytes_get(from, 1);

	from->failed |= flag > 1;
	return flag;
}

static inline void rf_bytes_require(struct rf_bytes_reader *from, bool holds)
{
	from->failed |= !holds;
}

static inline bool rf_bytes_are_whole(const struct rf_bytes_reader *from)
{
	return !from->failed && from->at == from->end;
}

/* ---- slots: their numbers, from the lowest to the highest ---- */

static inline void rf_bytes_put_slots(struct rf_bytes_writer *to,
				      const struct rf_ledger_slots *slots)
{
	for (int i = 0; i < RF_LEDGER_SLOTS; i++)
		if (rf_ledger_slots_has(slots, i))
			rf_bytes_put(to, 2, i);
}

/* All that is left. */
static inline struct rf_ledger_slots rf_bytes_get_slots(struct rf_bytes_reader *from)
{
	struct rf_ledger_slots slots = {{0}};
	uint32_t least = 0;

	while (!from->failed && from->at != from->end) {
		const uint32_t slot = rf_bytes_get(from, 2);

		rf_bytes_require(from, slot >= least && slot < RF_LEDGER_SLOTS);
		if (from->failed)
			break;
		rf_ledger_slots_add(&slots, slot);
		least = slot + 1;
	}
	return slots;
}

#endif /* RF_FLEET_BYTES_H */
