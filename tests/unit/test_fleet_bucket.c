// SPDX-License-Identifier: GPL-2.0
/* The bucket of a source, and with it the node of the engine that has its claims. */
#include "unit.h"

#include <arpa/inet.h>

#include "base/siphash.h"
#include "ringfence/share.h"

#define KEYS 200
#define SOURCES 4096
#define MOST (SOURCES / RF_BUCKETS + 7 * 16) /* 7 standard deviations beyond an even part */

static void without_a_key_buckets_are_as_ever(void **state)
{
	static const __u64 none[2];

	(void)state;
	assert_int_equal(rf_bucket_by(none, inet_addr("192.0.2.1"), 0), 12);
	assert_int_equal(rf_bucket_by(none, inet_addr("192.0.2.2"), 0), 5);
	assert_int_equal(rf_bucket_by(none, 0, rf_address_word(1)), 4);
}

/* Of the reference's vectors, the one of the bytes 0 to 15: 0x3f2acc7f57c29bdb. */
static void a_key_chooses_the_bucket_by_siphash(void **state)
{
	static const uint64_t words[2] = {0x0706050403020100, 0x0f0e0d0c0b0a0908};
	const __u64 key[2] = {words[0], words[1]};
	uint64_t random = unit_seed();

	(void)state;
	assert_true(rf_siphash(words, words, sizeof(words)) == 0x3f2acc7f57c29bdb);
	assert_int_equal(rf_bucket_by(key, words[0], words[1]), 3);
	for (int i = 0; i < 1000; i++) {
		const uint64_t of[2] = {unit_random(&random), unit_random(&random)};
		const uint64_t source[2] = {unit_random(&random), unit_random(&random)};

		assert_int_equal(rf_bucket_by((__u64[]){of[0], of[1]}, source[0], source[1]),
				 rf_siphash(of, source, sizeof(source)) >> 60);
	}
}

static uint32_t most_in_a_bucket(const __u64 key[2], const __be32 source[SOURCES])
{
	uint32_t count[RF_BUCKETS] = {0}, most = 0;

	for (int i = 0; i < SOURCES; i++)
		count[rf_bucket_by(key, source[i], 0)]++;
	for (int i = 0; i < RF_BUCKETS; i++)
		if (count[i] > most)
			most = count[i];
	return most;
}

/* Sources that come to one bucket without a key, as who has read this code would choose them. */
static void sources_cannot_be_aimed_at_a_bucket(void **state)
{
	static __be32 aimed[SOURCES], next[SOURCES];
	uint64_t random = unit_seed();
	uint32_t address = 0x0a000000;

	(void)state;
	for (int i = 0; i < SOURCES; i++) {
		next[i] = htonl(0x0a000000 + i);
		while (rf_bucket(htonl(++address), 0) != 5)
			;
		aimed[i] = htonl(address);
	}
	assert_int_equal(most_in_a_bucket((__u64[]){0, 0}, aimed), SOURCES);
	for (int i = 0; i < KEYS; i++) {
		const __u64 key[2] = {unit_random(&random), unit_random(&random)};

		assert_in_range(most_in_a_bucket(key, aimed), SOURCES / RF_BUCKETS, MOST);
		assert_in_range(most_in_a_bucket(key, next), SOURCES / RF_BUCKETS, MOST);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_key_buckets_are_as_ever),
		cmocka_unit_test(a_key_chooses_the_bucket_by_siphash),
		cmocka_unit_test(sources_cannot_be_aimed_at_a_bucket),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
