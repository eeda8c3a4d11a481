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

static const char *const message_ids[RF_EVENT_TYPES] = {
	[RF_EVENT_SOURCE_LIMITED] = "c28b94c8c936422f830f601f265ffa5d",
	[RF_EVENT_SOURCE_RELEASED] = "2af5ba11a8da4f5ea5befba47fdb5845",
	[RF_EVENT_BAN_STARTED] = "b828506e359a44f5853f62d6445d0e38",
	[RF_EVENT_BAN_ENDED] = "581701c407c1458cb2c240f886cf5764",
	[RF_EVENT_NEWCOMERS_LIMITED] = "1db5d38ba4da40c5a20edf336b8427f8",
	[RF_EVENT_NEWCOMERS_RELEASED] = "ae6df12699804ca3a14c7a48ef701f35",
	[RF_EVENT_FLOOD_STARTED] = "98281fb1de064d27b501490bb2ff0954",
	[RF_EVENT_FLOOD_ENDED] = "ac7c376f329f40ba8c513aee2e9f3581",
	[RF_EVENT_WINDOWS_FULL] = "2a20210f3bf949b188b59e7209b31f82",
	[RF_EVENT_MAP_ERRORS] = "18c594919db34531bde7c14d65b355f0",
	[RF_EVENT_RULES_CHANGED] = "3992851017984f12bc8faea9b021b11f",
	[RF_EVENT_TRIAL_REVERTED] = "3ff6de3ee33c425f98b48ef1d3b57149",
	[RF_EVENT_ATTACHED] = "b6f81512f3194b8e822f11b26759acab",
	[RF_EVENT_DETACHED] = "19e1209c3d9b4da18ce52bbef08a46fc",
	[RF_EVENT_ACTION] = "287a2de1e6fb42098201d4c600842fa5",
	[RF_EVENT_FLEET_ALONE] = "d183ace72ce04bf79fabb67a382c4cb1",
	[RF_EVENT_FLEET_BACK] = "55a6e52ddbb0449f8072a21a24d49471",
	[RF_EVENT_MEMBER_GONE] = "cbaadca4dab441f0b007cba073e03a61",
	[RF_EVENT_BYPASS_STARTED] = "a69d649bb9d04ac59e5d6ca2e9e5d60a",
	[RF_EVENT_BYPASS_ENDED] = "330c7e862a83417db03d92ae9333322a",
	[RF_EVENT_PAUSED] = "d717b65fb82241bfb39db5a53f56e65d",
	[RF_EVENT_RESUMED] = "94213ebe28fd418a829899dc18d64d8d",
	[RF_EVENT_SUPPRESSED] = "db1ab5adf24f433aafeea0fb5920e5e8",
};

const char *rf_event_message_id(enum rf_event_type type)
{
	return message_ids[type];
}

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

/* As syslog counts: 4 is a warning, 5 notable, 6 for information. */
static int priority(enum rf_event_type type)
{
	switch (type) {
	case RF_EVENT_FLOOD_STARTED:
	case RF_EVENT_WINDOWS_FULL:
	case RF_EVENT_MAP_ERRORS:
	case RF_EVENT_TRIAL_REVERTED:
		return 4;
	case RF_EVENT_SOURCE_RELEASED:
	case RF_EVENT_BAN_ENDED:
	case RF_EVENT_NEWCOMERS_RELEASED:
	case RF_EVENT_FLOOD_ENDED:
		return 6;
	default:
		return 5;
	}
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
	add(message, "MESSAGE_ID", "%s", message_ids[event->type]);
	add(message, "PRIORITY", "%d", priority(event->type));
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
