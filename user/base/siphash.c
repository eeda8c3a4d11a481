// SPDX-License-Identifier: GPL-2.0
#include "base/siphash.h"
#include "ringfence/siphash.h"

/* The lowest byte first, on every machine. */
static uint64_t read_word(const uint8_t *data, size_t size)
{
	uint64_t word = 0;

	for (size_t i = 0; i < size; i++)
		word |= (uint64_t)data[i] << 8 * i;
	return word;
}

uint64_t rf_siphash(const uint64_t key[2], const void *data, size_t size)
{
	const __u64 words[2] = {key[0], key[1]};
	struct rf_sip sip = rf_sip_begin(words);
	const uint8_t *at = data;
	size_t left = size;

	for (; left >= 8; at += 8, left -= 8)
		rf_sip_add(&sip, read_word(at, 8));
	rf_sip_add(&sip, read_word(at, left) | (uint64_t)size << 56);
	return rf_sip_end(&sip);
}
