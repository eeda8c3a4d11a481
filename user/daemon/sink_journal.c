// SPDX-License-Identifier: GPL-2.0
/* Events for the journal, in its native protocol: one datagram, a field a line. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/printable.h"
#include "base/time.h"
#include "daemon/sinks.h"

struct message {
	char text[4096];
	size_t length;
};

/* A value has no line ends, so a line is a field. */
__attribute__((format(printf, 3, 4))) static void add(struct message *message, const char *name,
						      const char *format, ...)
{
	char value[1024];
	va_list args;
	int written;

	va_start(args, format);
	vsnprintf(value, sizeof(value), format, args);
	va_end(args);
	if (!*value)
		return;
	rf_hide_controls(value, false);
	written = snprintf(message->text + message->length, sizeof(message->text) - message->length,
			   "%s=%s\n", name, value);
	if (message->length + written < sizeof(message->text))
		message->length += written;
}

static void add_sentence(struct message *message, const struct rf_event *event, const char *source)
{
	char limit[RF_NAME_SIZE + RF_RATE_TEXT_SIZE + 16] = "", packets[64] = "";

	if (*event->limit)
		snprintf(limit, sizeof(limit), ", limit %s %s", event->limit, event->rate);
	if (event->dropped)
		snprintf(packets, sizeof(packets), ", %" PRIu64 " packets dropped", event->dropped);
	add(message, "MESSAGE", "fence '%s': %s%s%s%s%s%s%s", event->fence,
	    rf_event_type_name(event->type), *source ? " " : "", source, limit, packets,
	    *event->detail ? ": " : "", event->detail);
}

static void write_fields(struct message *message, const struct rf_event *event)
{
	char source[RF_PREFIX_TEXT_SIZE] = "", time[RF_TIME_TEXT_SIZE];

	if (event->has_source)
		rf_format_prefix(&event->source, source);
	add_sentence(message, event, source);
	add(message, "MESSAGE_ID", "%s", rf_event_rows[event->type].message_id);
	add(message, "PRIORITY", "%d", rf_event_rows[event->type].priority);
	add(message, "SYSLOG_IDENTIFIER", "ringfence-watch");
	add(message, "RINGFENCE_EVENT", "%s", rf_event_type_name(event->type));
	add(message, "RINGFENCE_SEQ", "%" PRIu64, event->seq);
	add(message, "RINGFENCE_ID", "%s", event->id);
	add(message, "RINGFENCE_FENCE", "%s", event->fence);
	add(message, "RINGFENCE_LIMIT", "%s", event->limit);
	add(message, "RINGFENCE_SOURCE", "%s", source);
	add(message, "RINGFENCE_REASON", "%s", event->reason);
	add(message, "RINGFENCE_RATE", "%s", event->rate);
	if (event->first_seen_ns) {
		rf_format_utc(event->first_seen_ns, time);
		add(message, "RINGFENCE_DROPPED", "%" PRIu64, event->dropped);
		add(message, "RINGFENCE_PASSED", "%" PRIu64, event->passed);
		add(message, "RINGFENCE_FIRST_SEEN", "%s", time);
	}
	add(message, "RINGFENCE_DETAIL", "%s", event->detail);
}

int rf_sink_journal_write(const char *socket_path, const struct rf_event *event,
			  struct rf_error *error)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct message message = {.length = 0};
	int err = 0, fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return rf_error_failed(error, -errno, "journal: %s", strerror(errno));
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", socket_path);
	write_fields(&message, event);
	if (sendto(fd, message.text, message.length, MSG_NOSIGNAL, (struct sockaddr *)&address,
		   sizeof(address)) < 0)
		err = rf_error_failed(error, -errno, "journal: an event was not taken: %s",
				      strerror(errno));
	close(fd);
	return err;
}
