/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Replies of a server, as hiredis returns them, made from the bytes of an input: a byte for the
 * type, then its contents. Every change of an input is therefore a different reply, and none is
 * lost to the protocol's lengths. freeReplyObject() frees them.
 */
#ifndef RINGFENCE_TESTS_FUZZ_REPLIES_H
#define RINGFENCE_TESTS_FUZZ_REPLIES_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <string.h>

#include "require.h"

#define REPLY_DEPTH 4

struct input {
	const uint8_t *at, *end;
};

static inline uint32_t input_byte(struct input *input)
{
	return input->at < input->end ? *input->at++ : 0;
}

static inline bool input_is_over(const struct input *input)
{
	return input->at >= input->end;
}

/* Up to `most` bytes, as a separate text: AddressSanitizer detects reads past its end. */
static inline char *input_text(struct input *input, size_t most, size_t *length)
{
	const size_t left = input->end - input->at;
	char *text;

	*length = most < left ? most : left;
	text = malloc(*length + 1);
	REQUIRE(text);
	memcpy(text, input->at, *length);
	text[*length] = '\0';
	input->at += *length;
	return text;
}

/*
 * The three lowest bits are the type, the others a number: of elements, of bytes of an integer, or
 * the length of a text, where 31 means that the length follows in two bytes.
 */
static inline redisReply *input_reply(struct input *input, int depth)
{
	static const int types[] = {
		REDIS_REPLY_STRING, REDIS_REPLY_ERROR,	 REDIS_REPLY_STATUS, REDIS_REPLY_NIL,
		REDIS_REPLY_ARRAY,  REDIS_REPLY_INTEGER, REDIS_REPLY_STRING, REDIS_REPLY_ARRAY,
	};
	const uint32_t byte = input_byte(input);
	redisReply *reply = calloc(1, sizeof(*reply));
	size_t number = byte >> 3;

	REQUIRE(reply);
	reply->type = types[byte & 7];
	if (number == 31) {
		number = input_byte(input);
		number |= input_byte(input) << 8;
	}
	if (number > (size_t)(input->end - input->at)) /* each element was some bytes */
		number = input->end - input->at;
	if (reply->type == REDIS_REPLY_ARRAY && depth < REPLY_DEPTH && number) {
		reply->element = calloc(number, sizeof(reply->element[0]));
		reply->elements = number;
		REQUIRE(reply->element);
		for (size_t i = 0; i < number; i++)
			reply->element[i] = input_reply(input, depth + 1);
	} else if (reply->type == REDIS_REPLY_INTEGER) {
		for (size_t i = 0; i < number % 9; i++)
			reply->integer = (uint64_t)reply->integer << 8 | input_byte(input);
	} else if (reply->type != REDIS_REPLY_NIL && reply->type != REDIS_REPLY_ARRAY) {
		reply->str = input_text(input, number, &reply->len);
	}
	return reply;
}

#endif /* RINGFENCE_TESTS_FUZZ_REPLIES_H */
