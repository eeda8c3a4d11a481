// SPDX-License-Identifier: GPL-2.0
/* FIPS 180-4. Both work on blocks of 64 bytes, big-endian, and differ in what a block does. */
#include <string.h>

#include "base/sha.h"

#define BLOCK 64

/* Mixes the words of a block into the state. */
typedef void (*mix)(uint32_t state[8], const uint32_t word[16]);

static uint32_t left(uint32_t x, int bits)
{
	return x << bits | x >> (32 - bits);
}

static uint32_t right(uint32_t x, int bits)
{
	return x >> bits | x << (32 - bits);
}

static uint32_t sha1_part(int i, uint32_t b, uint32_t c, uint32_t d)
{
	static const uint32_t constants[4] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
	const uint32_t constant = constants[i / 20];

	if (i < 20)
		return ((b & c) | (~b & d)) + constant;
	if (i >= 40 && i < 60)
		return ((b & c) | (b & d) | (c & d)) + constant;
	return (b ^ c ^ d) + constant;
}

static void mix_sha1(uint32_t state[8], const uint32_t word[16])
{
	uint32_t w[80], s[5];

	memcpy(w, word, BLOCK);
	for (int i = 16; i < 80; i++)
		w[i] = left(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
	memcpy(s, state, sizeof(s));
	for (int i = 0; i < 80; i++) {
		uint32_t next = left(s[0], 5) + sha1_part(i, s[1], s[2], s[3]) + s[4] + w[i];

		memmove(&s[1], &s[0], 4 * sizeof(*s));
		s[0] = next;
		s[2] = left(s[2], 30);
	}
	for (int i = 0; i < 5; i++)
		state[i] += s[i];
}

static const uint32_t sha256_constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static void mix_sha256(uint32_t state[8], const uint32_t word[16])
{
	uint32_t w[64], s[8];

	memcpy(w, word, BLOCK);
	for (int i = 16; i < 64; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];

		w[i] = w[i - 16] + (right(a, 7) ^ right(a, 18) ^ a >> 3) + w[i - 7] +
		       (right(b, 17) ^ right(b, 19) ^ b >> 10);
	}
	memcpy(s, state, sizeof(s));
	for (int i = 0; i < 64; i++) {
		uint32_t high = right(s[4], 6) ^ right(s[4], 11) ^ right(s[4], 25);
		uint32_t low = right(s[0], 2) ^ right(s[0], 13) ^ right(s[0], 22);
		uint32_t one =
			s[7] + high + ((s[4] & s[5]) ^ (~s[4] & s[6])) + sha256_constants[i] + w[i];
		uint32_t two = low + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));

		memmove(&s[1], &s[0], 7 * sizeof(*s));
		s[4] += one;
		s[0] = one + two;
	}
	for (int i = 0; i < 8; i++)
		state[i] += s[i];
}

static void mix_block(uint32_t state[8], const uint8_t *block, mix mix)
{
	uint32_t word[16];

	for (int i = 0; i < 16; i++, block += 4)
		word[i] = (uint32_t)block[0] << 24 | block[1] << 16 | block[2] << 8 | block[3];
	mix(state, word);
}

static void hash(uint32_t state[8], const void *data, size_t size, mix mix, uint8_t *digest,
		 size_t digest_size)
{
	const size_t rest = size % BLOCK, last = rest < BLOCK - 8 ? BLOCK : 2 * BLOCK;
	const uint8_t *bytes = data;
	uint8_t tail[2 * BLOCK] = {};

	for (size_t at = 0; at + BLOCK <= size; at += BLOCK)
		mix_block(state, bytes + at, mix);
	if (rest)
		memcpy(tail, bytes + size - rest, rest);
	tail[rest] = 0x80;
	for (int i = 0; i < 8; i++)
		tail[last - 1 - i] = (uint64_t)size * 8 >> 8 * i;
	for (size_t at = 0; at < last; at += BLOCK)
		mix_block(state, tail + at, mix);
	for (size_t i = 0; i < digest_size; i++)
		digest[i] = state[i / 4] >> (24 - 8 * (i % 4));
}

void rf_sha1(const void *data, size_t size, uint8_t digest[RF_SHA1_SIZE])
{
	uint32_t state[8] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};

	hash(state, data, size, mix_sha1, digest, RF_SHA1_SIZE);
}

void rf_sha256(const void *data, size_t size, uint8_t digest[RF_SHA256_SIZE])
{
	uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
			     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

	hash(state, data, size, mix_sha256, digest, RF_SHA256_SIZE);
}
