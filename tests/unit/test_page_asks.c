// SPDX-License-Identifier: GPL-2.0
/* Which of the scanner's replies the page process caches. */
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/asks.h"
#include "daemon/gzip.h"

/* None is compressed here. */
char *rf_gzip(const void *text, size_t length, size_t *packed_length)
{
	(void)text, (void)length, (void)packed_length;
	return NULL;
}

static const struct rf_query query = {.kind = RF_QUERY_RECENT, .fence = "f"};

/* Sends a request to the scanner, which replies with those bytes. */
static struct rf_body *answer(const char *bytes, size_t length)
{
	struct rf_answer_head head = {.query = query, .status = 200};
	struct rf_feed_message message = {{RF_DOC_ANSWER, sizeof(head) + length, 1}, NULL};
	struct rf_body *body = NULL;
	int asked[2];

	assert_int_equal(pipe(asked), 0);
	assert_int_equal(rf_asks_find(&query, &body), RF_ASK_WAITS);
	rf_asks_turn(asked[1]);
	close(asked[0]);
	close(asked[1]);
	message.bytes = malloc(message.header.length + 1);
	memcpy(message.bytes, &head, sizeof(head));
	memcpy(message.bytes + sizeof(head), bytes, length);
	message.bytes[message.header.length] = '\0';
	assert_true(rf_asks_take(&message));
	assert_int_equal(rf_asks_find(&query, &body), RF_ASK_KNOWN);
	return body;
}

static void an_answer_with_a_zero_byte_is_kept_whole(void **state)
{
	static const char bytes[] = "{\"a\":1}\0{\"b\":2}";
	const struct rf_body *body = answer(bytes, sizeof(bytes) - 1);

	(void)state;
	assert_int_equal(body->length, sizeof(bytes) - 1);
	assert_memory_equal(body->text, bytes, body->length);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer_with_a_zero_byte_is_kept_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
