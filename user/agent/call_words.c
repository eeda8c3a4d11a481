// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include "agent/call_words.h"

static void add_word(struct rf_call_words *words, const void *word, size_t length)
{
	words->word[words->words] = word;
	words->length[words->words++] = length;
}

static void add_text(struct rf_call_words *words, const char *text)
{
	add_word(words, text, strlen(text));
}

void rf_call_words_make(struct rf_call_words *words, const struct rf_ledger_call *call,
			uint32_t bucket, const char *function, uint32_t items, size_t item_size)
{
	words->words = 0;
	snprintf(words->count, sizeof(words->count), "%u", items + 2);
	rf_wire_slot_key(words->slot_key, bucket, call->slot);
	rf_wire_hosts_key(words->hosts_key, bucket);
	rf_wire_pack_call(words->call, call);
	add_text(words, "FCALL");
	add_text(words, function);
	add_text(words, words->count);
	add_text(words, words->slot_key);
	add_text(words, words->hosts_key);
	for (uint32_t i = 0; i < items; i++)
		add_text(words, words->key[i]);
	add_word(words, words->call, sizeof(words->call));
	for (uint32_t i = 0; i < items; i++)
		add_word(words, words->item[i], item_size);
}

bool rf_call_is_answered(const redisReply *reply, uint32_t items)
{
	if (!reply || reply->type != REDIS_REPLY_ARRAY || reply->elements != items)
		return false;
	for (uint32_t i = 0; i < items; i++)
		if (reply->element[i]->type != REDIS_REPLY_STRING)
			return false;
	return true;
}
