// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "daemon/feed.h"

int rf_feed_put(struct rf_feed *feed, enum rf_document kind, const char *bytes, size_t length,
		uint64_t made_ns)
{
	struct rf_feed_message *next = &feed->next[kind];
	char *copy = length <= RF_DOCUMENT_MAX ? malloc(length + 1) : NULL;

	if (!copy)
		return -ENOMEM;
	memcpy(copy, bytes, length);
	free(next->bytes);
	*next = (struct rf_feed_message){{kind, length, made_ns}, copy};
	return 0;
}

/* Takes the next document, in the order of kinds. */
static bool begin_next(struct rf_feed *feed)
{
	for (int kind = 0; kind < RF_DOCUMENTS && !feed->now.bytes; kind++) {
		feed->now = feed->next[kind];
		feed->next[kind].bytes = NULL;
	}
	feed->sent = 0;
	return feed->now.bytes;
}

static ssize_t write_now(struct rf_feed *feed)
{
	const size_t head = sizeof(feed->now.header);
	const size_t of_head = feed->sent < head ? head - feed->sent : 0;
	const size_t of_bytes = of_head ? 0 : feed->sent - head;
	const struct iovec parts[] = {
		{(char *)&feed->now.header + (head - of_head), of_head},
		{feed->now.bytes + of_bytes, feed->now.header.length - of_bytes},
	};

	return writev(feed->fd, parts, 2);
}

int rf_feed_write(struct rf_feed *feed)
{
	ssize_t written;

	while (feed->now.bytes || begin_next(feed)) {
		written = write_now(feed);
		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return errno == EAGAIN ? 1 : -EPIPE;
		feed->sent += written;
		if (feed->sent < sizeof(feed->now.header) + feed->now.header.length)
			continue;
		free(feed->now.bytes);
		feed->now.bytes = NULL;
	}
	return 0;
}

void rf_feed_clear(struct rf_feed *feed)
{
	for (int kind = 0; kind < RF_DOCUMENTS; kind++)
		free(feed->next[kind].bytes);
	free(feed->now.bytes);
	*feed = (struct rf_feed){.fd = -1};
}

/* ---- reading ---- */

/* The place of the next byte, and how many may follow. */
static char *next_place(struct rf_feed_reader *reader, size_t *left)
{
	struct rf_feed_header *header = &reader->message.header;

	if (reader->got < sizeof(*header)) {
		*left = sizeof(*header) - reader->got;
		return (char *)header + reader->got;
	}
	*left = sizeof(*header) + header->length - reader->got;
	return reader->message.bytes + (reader->got - sizeof(*header));
}

static int take_header(struct rf_feed_reader *reader)
{
	const struct rf_feed_header *header = &reader->message.header;

	if (header->kind >= RF_DOCUMENTS || header->length > RF_DOCUMENT_MAX)
		return -EPROTO;
	reader->message.bytes = malloc(header->length + 1);
	return reader->message.bytes ? 0 : -ENOMEM;
}

int rf_feed_read(struct rf_feed_reader *reader, struct rf_feed_message *message)
{
	const size_t head = sizeof(reader->message.header);

	while (reader->got < head || reader->got < head + reader->message.header.length) {
		size_t left;
		char *place = next_place(reader, &left);
		const ssize_t got = read(reader->fd, place, left);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 && errno == EAGAIN)
			return 0;
		if (got <= 0)
			return -EPIPE;
		reader->got += got;
		if (reader->got == head && take_header(reader))
			return -EPROTO;
	}
	*message = reader->message;
	message->bytes[message->header.length] = '\0';
	reader->message = (struct rf_feed_message){};
	reader->got = 0;
	return 1;
}
