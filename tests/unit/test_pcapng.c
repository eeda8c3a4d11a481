// SPDX-License-Identifier: GPL-2.0
/* Packets as pcapng, read back by a reader written from the draft of the format. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ringfence/abi.h"
#include "watch/pcapng.h"

#define NOON_NS 1795435200123456789ULL

/* A reader's result. */
struct found {
	char *text;
	size_t size, at;
	uint32_t sections, interfaces, packets;
	uint32_t link[8], snap[8];
	char name[8][300];
	int resolution[8];
	uint32_t interface, captured, length;
	uint64_t time;
	const uint8_t *frame;
	char comment[300];
	char program[300];
};

static uint32_t word_at(const struct found *found, size_t at)
{
	uint32_t word;

	assert_true(at + sizeof(word) <= found->size);
	memcpy(&word, found->text + at, sizeof(word));
	return word;
}

/* The text of an option between two places, which has its length before it; "": none. */
static void find_option(const struct found *found, size_t at, size_t end, uint16_t wanted,
			char text[300])
{
	uint16_t head[2];

	text[0] = '\0';
	for (;; at += sizeof(head) + (head[1] + 3) / 4 * 4) {
		assert_true(at + sizeof(head) <= end);
		memcpy(head, found->text + at, sizeof(head));
		if (head[0] == 0)
			break;
		assert_true(at + sizeof(head) + head[1] <= end);
		if (head[0] != wanted)
			continue;
		memcpy(text, found->text + at + sizeof(head), head[1]);
		text[head[1]] = '\0';
	}
	assert_int_equal(head[1], 0);
	assert_int_equal(at + sizeof(head), end); /* the options end with the block */
}

static void read_interface(struct found *found, size_t body, size_t end)
{
	const uint32_t number = found->interfaces++ % 8;
	char resolution[300];
	uint16_t link;

	memcpy(&link, found->text + body, sizeof(link));
	found->link[number] = link;
	found->snap[number] = word_at(found, body + 4);
	find_option(found, body + 8, end, 2, found->name[number]);
	find_option(found, body + 8, end, 9, resolution);
	found->resolution[number] = resolution[0];
}

static void read_packet(struct found *found, size_t body, size_t end)
{
	found->packets++;
	found->interface = word_at(found, body);
	found->time = (uint64_t)word_at(found, body + 4) << 32 | word_at(found, body + 8);
	found->captured = word_at(found, body + 12);
	found->length = word_at(found, body + 16);
	found->frame = (const uint8_t *)found->text + body + 20;
	assert_true(found->interface < found->interfaces);
	find_option(found, body + 20 + (found->captured + 3) / 4 * 4, end, 1, found->comment);
}

/* Reads the next block; false after the last one. */
static bool read_block(struct found *found)
{
	const size_t at = found->at;
	uint32_t type, length;

	if (at == found->size)
		return false;
	type = word_at(found, at);
	length = word_at(found, at + 4);
	assert_int_equal(length % 4, 0);
	assert_int_equal(word_at(found, at + length - 4), length);
	found->at += length;
	if (type == 0x0a0d0d0a) {
		found->sections++;
		assert_int_equal(word_at(found, at + 8), 0x1a2b3c4d);
		find_option(found, at + 24, found->at - 4, 4, found->program);
	} else if (type == 1) {
		read_interface(found, at + 8, found->at - 4);
	} else {
		assert_int_equal(type, 6);
		read_packet(found, at + 8, found->at - 4);
	}
	return true;
}

static void read_all(struct found *found)
{
	while (read_block(found))
		;
}

static struct rf_pcapng_packet packet_of(uint32_t interface, uint32_t captured)
{
	static uint8_t frame[RF_SAMPLE_BYTES];

	for (size_t i = 0; i < sizeof(frame); i++)
		frame[i] = i + 1;
	return (struct rf_pcapng_packet){.interface = interface,
					 .name = "eth0",
					 .time_ns = NOON_NS,
					 .len_bytes = 1514,
					 .captured = captured,
					 .frame = frame,
					 .comment = "dropped: over_limit, limit dns"};
}

static void a_packet_is_read_back(void **state)
{
	(void)state;
	for (uint32_t captured = 0; captured <= RF_SAMPLE_BYTES; captured++) {
		const struct rf_pcapng_packet packet = packet_of(7, captured);
		struct found found = {};
		FILE *file = open_memstream(&found.text, &found.size);
		struct rf_pcapng pcapng;

		assert_int_equal(rf_pcapng_begin(&pcapng, file), 0);
		assert_int_equal(rf_pcapng_add(&pcapng, &packet), 0);
		fclose(file);
		read_all(&found);
		assert_int_equal(found.sections, 1);
		assert_int_equal(found.interfaces, 1);
		assert_int_equal(found.packets, 1);
		assert_int_equal(found.link[0], 1);
		assert_int_equal(found.snap[0], RF_SAMPLE_BYTES);
		assert_int_equal(found.resolution[0], 9);
		assert_string_equal(found.name[0], "eth0");
		assert_true(found.time == NOON_NS);
		assert_int_equal(found.captured, captured);
		assert_int_equal(found.length, 1514);
		assert_memory_equal(found.frame, packet.frame, captured);
		assert_string_equal(found.comment, packet.comment);
		assert_memory_equal(found.program, "ringfence ", 10);
		free(found.text);
	}
}

static void an_interface_has_one_block(void **state)
{
	struct found found = {};
	FILE *file = open_memstream(&found.text, &found.size);
	struct rf_pcapng pcapng;

	(void)state;
	assert_int_equal(rf_pcapng_begin(&pcapng, file), 0);
	for (uint32_t i = 0; i < 3 * (RF_PCAPNG_INTERFACES + 4); i++) {
		const struct rf_pcapng_packet packet =
			packet_of(1 + i % (RF_PCAPNG_INTERFACES + 4), 60);

		assert_int_equal(rf_pcapng_add(&pcapng, &packet), 0);
	}
	fclose(file);
	read_all(&found);
	assert_int_equal(found.interfaces, RF_PCAPNG_INTERFACES);
	assert_int_equal(found.packets, 3 * (RF_PCAPNG_INTERFACES + 4));
	assert_int_equal(found.interface, RF_PCAPNG_INTERFACES - 1);
	free(found.text);
}

static void a_long_comment_is_cut(void **state)
{
	struct rf_pcapng_packet packet = packet_of(1, RF_SAMPLE_BYTES);
	struct found found = {};
	FILE *file = open_memstream(&found.text, &found.size);
	struct rf_pcapng pcapng;
	char text[2000];

	(void)state;
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	packet.comment = packet.name = text;
	assert_int_equal(rf_pcapng_begin(&pcapng, file), 0);
	assert_int_equal(rf_pcapng_add(&pcapng, &packet), 0);
	fclose(file);
	read_all(&found);
	assert_int_equal(strlen(found.comment), 255);
	assert_int_equal(strlen(found.name[0]), 255);
	free(found.text);
}

static void a_full_disk_is_an_error(void **state)
{
	const struct rf_pcapng_packet packet = packet_of(1, 60);
	FILE *file = fopen("/dev/full", "w");
	struct rf_pcapng pcapng;

	(void)state;
	assert_non_null(file);
	setvbuf(file, NULL, _IONBF, 0);
	assert_int_equal(rf_pcapng_begin(&pcapng, file), -ENOSPC);
	assert_int_equal(rf_pcapng_add(&pcapng, &packet), -ENOSPC);
	fclose(file);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_packet_is_read_back),
		cmocka_unit_test(an_interface_has_one_block),
		cmocka_unit_test(a_long_comment_is_cut),
		cmocka_unit_test(a_full_disk_is_an_error),
	};

	return cmocka_run_group_tests_name("pcapng", tests, NULL, NULL);
}
