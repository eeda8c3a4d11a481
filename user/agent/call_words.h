/* SPDX-License-Identifier: GPL-2.0 */
/* A call with items, each about a separate key: rf_report and rf_sums. Its words, and its reply. */
#ifndef RINGFENCE_AGENT_CALL_WORDS_H
#define RINGFENCE_AGENT_CALL_WORDS_H

#include <hiredis/hiredis.h>

#include "fleet/claims.h"
#include "fleet/wire.h"

#define RF_CALL_COUNT_SIZE 12
#define RF_CALL_ITEM_SIZE RF_WIRE_REPORT_SIZE /* of the longest */

struct rf_call_words {
	char count[RF_CALL_COUNT_SIZE];
	char slot_key[RF_WIRE_KEY_SIZE], hosts_key[RF_WIRE_KEY_SIZE];
	char key[RF_REPORT_ITEMS][RF_WIRE_KEY_SIZE];
	uint8_t call[RF_WIRE_CALL_SIZE], item[RF_REPORT_ITEMS][RF_CALL_ITEM_SIZE];
	const char *word[2 * RF_REPORT_ITEMS + 6];
	size_t length[2 * RF_REPORT_ITEMS + 6];
	int words;
};

/* The words from `key` and `item`, of which the caller has filled the first `items`. */
void rf_call_words_make(struct rf_call_words *words, const struct rf_ledger_call *call,
			uint32_t bucket, const char *function, uint32_t items, size_t item_size);
/* Does the reply have a string for each item? Otherwise it cannot be read, and is no answer. */
bool rf_call_is_answered(const redisReply *reply, uint32_t items);

#endif /* RINGFENCE_AGENT_CALL_WORDS_H */
