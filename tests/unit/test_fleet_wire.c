// SPDX-License-Identifier: GPL-2.0
/* The messages between a host and the fleet server: known bytes, and everything that is refused. */
#include "unit.h"

#include "fleet/wire.h"
#include "ringfence/abi.h"
#include "tests/fleet/model/wire.h"

#define ROWS 20000

static struct rf_ledger_call sample_call = {
	.slot = 3,
	.nonce = 0x1122334455667788,
	.joined = 0xfffefdfcfbfaf9f8,
	.grace = 2000,
	.window = 10000,
};

static void names_keys(void **state)
{
	char key[RF_WIRE_KEY_SIZE];

	(void)state;
	rf_wire_slot_key(key, 15, 1023);
	assert_string_equal(key, "rf:{15}:h:1023");
	rf_wire_hosts_key(key, 0);
	assert_string_equal(key, "rf:{0}:hosts");
	rf_wire_record_key(key, 7, "dns", 0xabc, "192.0.2.1/32");
	assert_string_equal(key, "rf:{7}:l:dns-0000000000000abc:192.0.2.1/32");
}

static void the_longest_name_of_a_record_is_whole(void **state)
{
	char key[RF_WIRE_KEY_SIZE], name[RF_NAME_SIZE], source[64];
	const char *text = "ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255/128";

	(void)state;
	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	memset(source, 's', sizeof(source));
	source[sizeof(source) - 1] = '\0';
	rf_wire_record_key(key, RF_BUCKETS - 1, name, UINT64_MAX, source);
	assert_string_equal(key + strlen(key) - strlen(source), source);
	rf_wire_record_key(key, RF_BUCKETS - 1, name, UINT64_MAX, text);
	assert_string_equal(key + strlen(key) - strlen(text), text);
}

static void a_heartbeat_has_known_bytes(void **state)
{
	static const uint8_t known[] = {
		3,    0,    0,	  0,	0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0xf8, 0xf9,
		0xfa, 0xfb, 0xfc, 0xfd, 0xfe, 0xff, 0xd0, 0x07, 0,    0,    0x10, 0x27, 0,    0,
		1,    0,    8,	  7,	6,    5,    4,	  3,	2,    1,    5,	  0,	0xff, 3,
	};
	struct rf_ledger_beat beat = {.is_complete = true, .key = 0x0102030405060708};
	uint8_t bytes[RF_WIRE_BEAT_MAX];

	(void)state;
	rf_ledger_slots_add(&beat.known, 1023);
	rf_ledger_slots_add(&beat.known, 5);
	assert_int_equal(rf_wire_pack_beat(bytes, &sample_call, &beat), sizeof(known));
	assert_memory_equal(bytes, known, sizeof(known));
}

static void a_report_has_known_bytes(void **state)
{
	static const uint8_t known[RF_WIRE_REPORT_SIZE] = {
		1,    0,    0, 0, 2, 1, 0, 0, 3, 0, 0, 0, 0xff, 0xff,
		0xff, 0xff, 4, 0, 0, 0, 5, 0, 0, 0, 6, 0, 0,	0,
	};
	const struct rf_ledger_report report = {1, 0x102, 3, UINT32_MAX};
	const struct rf_ledger_limit limit = {4, 5, 6};
	uint8_t bytes[RF_WIRE_REPORT_SIZE];

	(void)state;
	rf_wire_pack_report(bytes, &limit, &report);
	assert_memory_equal(bytes, known, sizeof(known));
}

/* ---- there and back ---- */

static struct rf_ledger_slots some_slots(uint64_t *random)
{
	struct rf_ledger_slots slots = {{0}};
	const uint64_t density = 1 + unit_below(random, 100);

	for (int i = 0; i < RF_LEDGER_SLOTS; i++)
		if (!unit_below(random, density))
			rf_ledger_slots_add(&slots, i);
	return slots;
}

static struct rf_ledger_call some_call(uint64_t *random)
{
	return (struct rf_ledger_call){
		.slot = unit_below(random, RF_LEDGER_SLOTS),
		.nonce = unit_random(random) | 1,
		.joined = unit_random(random),
		.grace = 1 + unit_below(random, RF_WIRE_GRACE_MAX_MS),
		.window = 1 + unit_below(random, RF_WIRE_WINDOW_MAX_MS),
	};
}

static void heartbeats_come_back_the_same(void **state)
{
	uint64_t random = unit_seed();

	(void)state;
	for (int i = 0; i < ROWS / 10; i++) {
		struct rf_ledger_call call = some_call(&random), read;
		struct rf_ledger_beat beat = {unit_below(&random, 2), unit_below(&random, 2),
					      unit_random(&random), some_slots(&random)},
				      again;
		uint8_t bytes[RF_WIRE_BEAT_MAX];
		const size_t size = rf_wire_pack_beat(bytes, &call, &beat);

		assert_true(rf_wire_unpack_beat(&read, &again, bytes, size));
		assert_memory_equal(&read, &call, offsetof(struct rf_ledger_call, slot));
		assert_int_equal(read.slot, call.slot);
		assert_int_equal(again.is_complete, beat.is_complete);
		assert_int_equal(again.resumes, beat.resumes);
		assert_true(again.key == beat.key);
		assert_memory_equal(&again.known, &beat.known, sizeof(beat.known));
		assert_false(rf_wire_unpack_beat(&read, &again, bytes,
						 unit_below(&random, RF_WIRE_BEAT_LEAST)));
	}
}

static void answers_to_heartbeats_come_back_the_same(void **state)
{
	uint64_t random = unit_seed();

	(void)state;
	for (int i = 0; i < ROWS / 10; i++) {
		struct rf_ledger_heard heard = {.is_learning = unit_below(&random, 2)}, again;
		uint8_t bytes[RF_WIRE_HEARD_MAX];
		size_t size;
		static const enum rf_ledger_status of[] = {RF_LEDGER_DONE, RF_LEDGER_REFUSED,
							   RF_LEDGER_FOREIGN};

		heard.status = of[unit_below(&random, 3)];
		if (heard.status == RF_LEDGER_FOREIGN)
			heard.key = unit_random(&random);
		if (heard.status == RF_LEDGER_DONE) {
			heard.joined = unit_random(&random) | 1;
			heard.is_complete = unit_below(&random, 2);
			heard.members = some_slots(&random);
		}
		size = rf_wire_pack_heard(bytes, &heard);
		assert_true(rf_wire_unpack_heard(&again, bytes, size));
		assert_int_equal(again.status, heard.status);
		assert_true(again.joined == heard.joined);
		assert_true(again.key == heard.key);
		assert_int_equal(again.is_complete, heard.is_complete);
		assert_int_equal(again.is_learning, heard.is_learning);
		assert_memory_equal(&again.members, &heard.members, sizeof(heard.members));
		assert_false(rf_wire_unpack_heard(&again, bytes, unit_below(&random, 11)));
	}
}

static void reports_and_answers_come_back_the_same(void **state)
{
	uint64_t random = unit_seed();

	(void)state;
	for (int i = 0; i < ROWS; i++) {
		const struct rf_ledger_call call = some_call(&random);
		const struct rf_ledger_report report = {unit_random(&random), unit_random(&random),
							unit_random(&random), unit_random(&random)};
		const struct rf_ledger_limit limit = {unit_random(&random), unit_random(&random),
						      1 + unit_below(&random, call.window)};
		const uint32_t share = unit_random(&random);
		const struct rf_ledger_answer answer = {
			.seq = report.seq, .share = share, .lower_to = share / 2};
		uint8_t bytes[RF_WIRE_REPORT_SIZE], answered[RF_WIRE_ANSWER_SIZE];
		struct rf_ledger_report read;
		struct rf_ledger_limit of;
		struct rf_ledger_answer again;

		rf_wire_pack_report(bytes, &limit, &report);
		assert_true(rf_wire_unpack_report(&of, &read, &call, bytes, sizeof(bytes)));
		assert_memory_equal(&read, &report, sizeof(read));
		assert_memory_equal(&of, &limit, sizeof(of));
		assert_false(rf_wire_unpack_report(&of, &read, &call, bytes,
						   unit_below(&random, sizeof(bytes))));
		rf_wire_pack_answer(answered, &answer);
		assert_true(rf_wire_unpack_answer(&again, answered, sizeof(answered)));
		assert_memory_equal(&again, &answer, sizeof(again));
	}
}

/* ---- refusals ---- */

static void assert_call_refused(struct rf_ledger_call call)
{
	uint8_t bytes[RF_WIRE_CALL_SIZE];

	rf_wire_pack_call(bytes, &call);
	assert_false(rf_wire_unpack_call(&call, bytes, sizeof(bytes)));
}

#define CHANGED(of, field, value)        \
	({                               \
		typeof(of) changed = of; \
		changed.field = value;   \
		changed;                 \
	})

static void calls_that_make_no_sense_are_refused(void **state)
{
	struct rf_ledger_call call = sample_call;
	uint8_t bytes[RF_WIRE_CALL_SIZE + 1] = {0};

	(void)state;
	rf_wire_pack_call(bytes, &call);
	assert_true(rf_wire_unpack_call(&call, bytes, RF_WIRE_CALL_SIZE));
	assert_false(rf_wire_unpack_call(&call, bytes, RF_WIRE_CALL_SIZE + 1));
	assert_call_refused(CHANGED(sample_call, slot, RF_LEDGER_SLOTS));
	assert_call_refused(CHANGED(sample_call, nonce, 0));
	assert_call_refused(CHANGED(sample_call, grace, 0));
	assert_call_refused(CHANGED(sample_call, grace, RF_WIRE_GRACE_MAX_MS + 1));
	assert_call_refused(CHANGED(sample_call, window, 0));
	assert_call_refused(CHANGED(sample_call, window, RF_WIRE_WINDOW_MAX_MS + 1ULL));
}

static void assert_beat_refused(const uint8_t *tail, size_t size)
{
	uint8_t bytes[RF_WIRE_CALL_SIZE + 16];
	struct rf_ledger_call call;
	struct rf_ledger_beat beat;

	rf_wire_pack_call(bytes, &sample_call);
	memcpy(bytes + RF_WIRE_CALL_SIZE, tail, size);
	assert_false(rf_wire_unpack_beat(&call, &beat, bytes, RF_WIRE_CALL_SIZE + size));
}

#define KEY 1, 2, 3, 4, 5, 6, 7, 8
#define BEAT_REFUSED(...) \
	assert_beat_refused((const uint8_t[]){__VA_ARGS__}, sizeof((uint8_t[]){__VA_ARGS__}))

static void heartbeats_that_make_no_sense_are_refused(void **state)
{
	(void)state;
	BEAT_REFUSED(1);
	BEAT_REFUSED(1, 0, 1, 2, 3, 4, 5, 6, 7);
	BEAT_REFUSED(2, 0, KEY);
	BEAT_REFUSED(0, 255, KEY);
	BEAT_REFUSED(0, 0, KEY, 1);
	BEAT_REFUSED(0, 0, KEY, 0, 4);	     /* no such slot */
	BEAT_REFUSED(0, 0, KEY, 5, 0, 5, 0); /* twice */
	BEAT_REFUSED(0, 0, KEY, 5, 0, 4, 0); /* not in order */
}

static void a_report_with_a_longer_window_than_its_call_is_refused(void **state)
{
	const struct rf_ledger_report report = {1, 2, 3, 4};
	struct rf_ledger_limit limit = {5, 6, sample_call.window + 1};
	struct rf_ledger_report read;
	uint8_t bytes[RF_WIRE_REPORT_SIZE];

	(void)state;
	rf_wire_pack_report(bytes, &limit, &report);
	assert_false(rf_wire_unpack_report(&limit, &read, &sample_call, bytes, sizeof(bytes)));
	limit.window = 0;
	rf_wire_pack_report(bytes, &limit, &report);
	assert_false(rf_wire_unpack_report(&limit, &read, &sample_call, bytes, sizeof(bytes)));
}

static void assert_answer_refused(struct rf_ledger_answer answer)
{
	uint8_t bytes[RF_WIRE_ANSWER_SIZE];

	rf_wire_pack_answer(bytes, &answer);
	assert_false(rf_wire_unpack_answer(&answer, bytes, sizeof(bytes)));
}

static void answers_that_make_no_sense_are_refused(void **state)
{
	(void)state;
	assert_answer_refused((struct rf_ledger_answer){.share = 1, .lower_to = 2});
	assert_answer_refused((struct rf_ledger_answer){.status = RF_LEDGER_REFUSED});
	assert_answer_refused((struct rf_ledger_answer){.status = RF_LEDGER_GARBAGE + 1});
	assert_answer_refused((struct rf_ledger_answer){.status = RF_LEDGER_OLD, .share = 1});
}

static void assert_heard_refused(struct rf_ledger_heard heard, bool has_member)
{
	uint8_t bytes[RF_WIRE_HEARD_MAX];

	if (has_member)
		rf_ledger_slots_add(&heard.members, 1);
	assert_false(rf_wire_unpack_heard(&heard, bytes, rf_wire_pack_heard(bytes, &heard)));
}

static void answers_to_heartbeats_that_make_no_sense_are_refused(void **state)
{
	struct rf_ledger_heard refused = {.status = RF_LEDGER_REFUSED};

	(void)state;
	assert_heard_refused((struct rf_ledger_heard){.joined = 0}, true);
	assert_heard_refused((struct rf_ledger_heard){.status = RF_LEDGER_STRANGER}, false);
	assert_heard_refused(CHANGED(refused, joined, 5), false);
	assert_heard_refused(CHANGED(refused, is_complete, true), false);
	assert_heard_refused(refused, true);
}

static void a_host_that_is_gone_has_known_bytes(void **state)
{
	static const uint8_t refused[] = {1, 0x10, 0x27, 0, 0}, odd[] = {0, 1, 0, 0, 0},
			     strange[] = {2, 0, 0, 0, 0};
	uint8_t bytes[RF_WIRE_GONE_SIZE];
	struct rf_ledger_left left;

	(void)state;
	rf_wire_pack_gone(bytes, &sample_call, 0x3fe);
	assert_int_equal(bytes[RF_WIRE_CALL_SIZE], 0xfe);
	assert_int_equal(bytes[RF_WIRE_CALL_SIZE + 1], 3);
	assert_true(rf_wire_unpack_left(&left, refused, sizeof(refused)));
	assert_int_equal(left.left, 10000);
	assert_false(rf_wire_unpack_left(&left, refused, sizeof(refused) - 1));
	assert_false(rf_wire_unpack_left(&left, odd, sizeof(odd)));
	assert_false(rf_wire_unpack_left(&left, strange, sizeof(strange)));
}

static void what_is_kept_is_read_and_rubbish_is_refused(void **state)
{
	static struct rf_ledger ledger;
	static struct rf_ledger_source source;
	uint8_t hosts[51 + 29] = {[8] = 9,  [24] = 7, [30] = 1, [35] = 8, [51] = 3,
				  [53] = 2, [55] = 1, [56] = 5, [72] = 4};
	const uint8_t record[20] = {[0] = 6, [8] = 2, [10] = 3, [11] = 0x80, [12] = 60, [16] = 1};

	(void)state;
	assert_true(rf_wire_unpack_hosts(&ledger, hosts, sizeof(hosts)));
	assert_int_equal(ledger.newest, 9);
	assert_int_equal(ledger.window, 7);
	assert_int_equal(ledger.key, 8);
	assert_true(ledger.is_learning && ledger.host[3].is_complete);
	assert_int_equal(ledger.host[3].generation, 2);
	assert_int_equal(ledger.host[3].nonce, 5);
	assert_int_equal(ledger.host[3].heard, 4);
	assert_false(rf_wire_unpack_hosts(&ledger, hosts, sizeof(hosts) - 1));
	hosts[52] = 4; /* slot 1027 */
	assert_false(rf_wire_unpack_hosts(&ledger, hosts, sizeof(hosts)));
	assert_true(rf_wire_unpack_record(&source, record, sizeof(record)));
	assert_int_equal(source.contested_until, 6);
	assert_int_equal(source.count, 1);
	assert_int_equal(source.claim[0].slot, 3);
	assert_int_equal(source.claim[0].generation, 2);
	assert_int_equal(source.claim[0].claim, 60);
	assert_true(source.claim[0].in_vain);
	assert_false(rf_wire_unpack_record(&source, record, sizeof(record) - 1));
	assert_true(rf_wire_unpack_record(&source, record, 0));
	assert_int_equal(source.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		UNIT_ROW("names keys", names_keys),
		UNIT_ROW("the longest name of a record is whole",
			 the_longest_name_of_a_record_is_whole),
		UNIT_ROW("a heartbeat has known bytes", a_heartbeat_has_known_bytes),
		UNIT_ROW("a report has known bytes", a_report_has_known_bytes),
		UNIT_ROW("heartbeats come back the same, and cut short they are refused",
			 heartbeats_come_back_the_same),
		UNIT_ROW("answers to heartbeats come back the same",
			 answers_to_heartbeats_come_back_the_same),
		UNIT_ROW("reports and answers come back the same",
			 reports_and_answers_come_back_the_same),
		UNIT_ROW("calls that make no sense are refused",
			 calls_that_make_no_sense_are_refused),
		UNIT_ROW("heartbeats that make no sense are refused",
			 heartbeats_that_make_no_sense_are_refused),
		UNIT_ROW("a report with a longer window than its call is refused",
			 a_report_with_a_longer_window_than_its_call_is_refused),
		UNIT_ROW("answers that make no sense are refused",
			 answers_that_make_no_sense_are_refused),
		UNIT_ROW("a host that is gone has known bytes",
			 a_host_that_is_gone_has_known_bytes),
		UNIT_ROW("what is kept is read, and rubbish is refused",
			 what_is_kept_is_read_and_rubbish_is_refused),
		UNIT_ROW("answers to heartbeats that make no sense are refused",
			 answers_to_heartbeats_that_make_no_sense_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
