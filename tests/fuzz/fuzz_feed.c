// SPDX-License-Identifier: GPL-2.0
/*
 * The pipes between the daemon's processes. The input is the scanner's output on one pipe: a byte
 * for the kind, two for the length, then the document; or, if the first byte is odd, raw bytes. For
 * any bytes: every document read is complete, it is the same after forwarding, and each reply has
 * its announced length. Requests on the other pipe are sound.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/time.h"
#include "daemon/asks.h"
#include "daemon/feed.h"
#include "daemon/query.h"
#include "require.h"

#define RAW 1
#define STREAM_BYTES (32 << 10) /* less than a pipe takes */

static uint64_t now = 1000000000000;
static int feed[2] = {-1, -1}, again[2], asks[2];
static struct rf_query asked;

uint64_t __wrap_rf_time_awake(void);
uint64_t __wrap_rf_time_awake(void)
{
	return now;
}

static void open_pipes(void)
{
	if (feed[0] >= 0)
		return;
	REQUIRE(!pipe2(feed, O_NONBLOCK) && !pipe2(again, O_NONBLOCK) && !pipe2(asks, O_NONBLOCK));
	fcntl(again[1], F_SETPIPE_SZ, 1 << 20);
}

static void put(const void *bytes, size_t size)
{
	REQUIRE(write(feed[1], bytes, size) == (ssize_t)size);
}

/* A document; a reply starts with its request, except for a flag in its kind. */
static void put_document(const uint8_t *bytes, size_t size, uint32_t kind)
{
	struct rf_answer_head head = {.query = asked, .status = 200};
	const bool has_head = kind % 8 == RF_DOC_ANSWER && !(kind & 8);
	struct rf_feed_header header = {kind % 8, size + (has_head ? sizeof(head) : 0), now};

	put(&header, sizeof(header));
	if (has_head)
		put(&head, sizeof(head));
	if (size)
		put(bytes, size);
}

static void put_documents(const uint8_t *at, const uint8_t *end)
{
	size_t left = STREAM_BYTES;

	while (end - at >= 3 && left > 1024) {
		size_t length = at[1] | at[2] << 8;

		if (length > (size_t)(end - at) - 3)
			length = end - at - 3;
		if (length > left - 512)
			length = left - 512;
		put_document(at + 3, length, at[0]);
		at += 3 + length;
		left -= length + 512;
	}
}

/* Sends it on, and reads it again. */
static void send_on(const struct rf_feed_message *message)
{
	struct rf_feed writer = {.fd = again[1]};
	struct rf_feed_reader reader = {.fd = again[0]};
	struct rf_feed_message copy;

	REQUIRE(!rf_feed_put(&writer, message->header.kind, message->bytes, message->header.length,
			     message->header.made_ns));
	REQUIRE(!rf_feed_write(&writer));
	REQUIRE(rf_feed_read(&reader, &copy) == 1);
	REQUIRE(!memcmp(&copy.header, &message->header, sizeof(copy.header)));
	REQUIRE(!memcmp(copy.bytes, message->bytes, copy.header.length));
	free(copy.bytes);
	rf_feed_clear(&writer);
}

/* All of it is present and readable. */
static void check_body(const struct rf_body *body)
{
	char *copy = malloc(body->length + 1);

	memcpy(copy, body->text, body->length);
	REQUIRE(!memchr(copy, '\0', body->length) || !body->text[body->length]);
	free(copy);
}

static void ask(enum rf_query_kind kind, const char *fence)
{
	struct rf_query query = {.kind = kind};
	struct rf_body *body = NULL;

	snprintf(query.fence, sizeof(query.fence), "%s", fence);
	if (rf_asks_find(&query, &body) == RF_ASK_KNOWN)
		check_body(body);
	rf_asks_turn(asks[1]);
	while (read(asks[0], &query, sizeof(query)) == sizeof(query)) {
		REQUIRE(rf_query_is_sound(&query) && query.kind != RF_QUERY_LIVE);
		asked = query;
	}
}

static void take(const struct rf_feed_message *message)
{
	const uint32_t kind = message->header.kind;

	REQUIRE(kind < RF_DOCUMENTS && message->header.length <= RF_DOCUMENT_MAX);
	REQUIRE(!message->bytes[message->header.length]);
	if (message->header.length < STREAM_BYTES)
		send_on(message);
	if (kind == RF_DOC_LIVE || kind == RF_DOC_ANSWER)
		rf_asks_take(message);
	else
		free(message->bytes);
	ask(RF_QUERY_LIVE, "");
	ask(RF_QUERY_LIVE, "f");
	ask(RF_QUERY_RECENT, "f");
	now += 1000000000;
}

/* The next input finds nothing of this one. */
static void forget(void)
{
	char rest[4096];
	struct rf_feed_message none = {{RF_DOC_LIVE, 0, 0}, strdup("")};

	while (read(feed[0], rest, sizeof(rest)) > 0)
		;
	rf_asks_take(&none);
	now += 60000000000;
	rf_asks_turn(asks[1]);
	while (read(asks[0], rest, sizeof(rest)) > 0)
		;
	asked = (struct rf_query){};
}

/* The page process can write anything into the other pipe. */
static void judge_query(const uint8_t *data, size_t size)
{
	struct rf_query query = {};

	memcpy(&query, data, size < sizeof(query) ? size : sizeof(query));
	if (!rf_query_is_sound(&query))
		return;
	REQUIRE(query.kind < RF_QUERY_KINDS && query.has_source <= 1);
	REQUIRE(strnlen(query.fence, sizeof(query.fence)) < sizeof(query.fence));
	REQUIRE(strnlen(query.source, sizeof(query.source)) < sizeof(query.source));
	REQUIRE(!query.from_ms || !query.to_ms || query.from_ms < query.to_ms);
	REQUIRE(!strchr(query.fence, '/'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rf_feed_reader reader = {};
	struct rf_feed_message message;
	int result;

	open_pipes();
	reader.fd = feed[0];
	if (!size || size > STREAM_BYTES)
		return 0;
	ask(RF_QUERY_RECENT, "f");
	if (data[0] & RAW) {
		judge_query(data + 1, size - 1);
		put(data + 1, size - 1);
	} else {
		put_documents(data + 1, data + size);
	}
	while ((result = rf_feed_read(&reader, &message)) == 1)
		take(&message);
	REQUIRE(!result || result == -EPROTO);
	free(reader.message.bytes);
	forget();
	return 0;
}
