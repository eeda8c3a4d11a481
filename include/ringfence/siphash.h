/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The steps of SipHash-2-4, a keyed hash that does not reveal its key: Aumasson and Bernstein,
 * "SipHash: a fast short-input PRF", 2012. user/base/siphash.h has the hash of any data.
 */
#ifndef RINGFENCE_SIPHASH_STEPS_H
#define RINGFENCE_SIPHASH_STEPS_H

#include "atomic.h"

struct rf_sip {
	__u64 v[4];
};

RF_INLINE __u64 rf_sip_rotate(__u64 word, int bits)
{
	return word << bits | word >> (64 - bits);
}

RF_INLINE void rf_sip_round(struct rf_sip *sip)
{
	__u64 *v = sip->v;

	v[0] += v[1];
	v[1] = rf_sip_rotate(v[1], 13) ^ v[0];
	v[0] = rf_sip_rotate(v[0], 32);
	v[2] += v[3];
	v[3] = rf_sip_rotate(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = rf_sip_rotate(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = rf_sip_rotate(v[1], 17) ^ v[2];
	v[2] = rf_sip_rotate(v[2], 32);
}

RF_INLINE struct rf_sip rf_sip_begin(const __u64 key[2])
{
	return (struct rf_sip){{
		key[0] ^ 0x736f6d6570736575ULL,
		key[1] ^ 0x646f72616e646f6dULL,
		key[0] ^ 0x6c7967656e657261ULL,
		key[1] ^ 0x7465646279746573ULL,
	}};
}

/* The last word has the length of the data in its highest byte. */
RF_INLINE void rf_sip_add(struct rf_sip *sip, __u64 word)
{
	sip->v[3] ^= word;
	rf_sip_round(sip);
	rf_sip_round(sip);
	sip->v[0] ^= word;
}

RF_INLINE __u64 rf_sip_end(struct rf_sip *sip)
{
	sip->v[2] ^= 0xff;
	rf_sip_round(sip);
	rf_sip_round(sip);
	rf_sip_round(sip);
	rf_sip_round(sip);
	return sip->v[0] ^ sip->v[1] ^ sip->v[2] ^ sip->v[3];
}

#endif /* RINGFENCE_SIPHASH_STEPS_H */
