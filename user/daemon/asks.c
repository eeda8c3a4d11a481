// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/time.h"
#include "base/units.h"
#include "daemon/asks.h"
#include "daemon/gzip.h"

#define SLOTS 32
#define FENCES 256
#define FRESH_NS (2 * RF_NS_PER_S) /* how long a reply is reused */
#define PATIENCE_NS (6 * RF_NS_PER_S)

enum state { FREE, WANTED, SENT, KNOWN };

struct slot {
	enum state state;
	struct rf_query query;
	struct rf_body body;
	uint64_t since_ns; /* it is in this state */
};

struct live {
	char *fence;	  /* in the text of the document */
	bool is_scanning; /* for the first time: the scanner sends no replies while it scans */
	struct rf_body body;
};

static struct slot slots[SLOTS];
static struct live lives[FENCES];
static int live_count;
static char *live_text;

/* ---- texts ---- */

bool rf_body_pack(struct rf_body *body)
{
	if (!body->packed)
		body->packed = rf_gzip(body->text, body->length, &body->packed_length);
	return body->packed;
}

static void clear(struct rf_body *body)
{
	free(body->text);
	free(body->packed);
	*body = (struct rf_body){};
}

/* ---- the last scan ---- */

/* Lines of a name, 1 or 0 for `is_scanning`, and JSON. */
static void take_live(const struct rf_feed_message *message)
{
	for (int i = 0; i < live_count; i++)
		free(lives[i].body.packed); /* the texts are parts of the document */
	free(live_text);
	live_text = message->bytes;
	live_count = 0;
	for (char *line = live_text, *next; live_count < FENCES && *line; line = next) {
		char *end = strchrnul(line, '\n'), *tab = strchr(line, '\t');

		next = end + (*end != '\0');
		*end = '\0';
		if (!tab || end - tab < 3)
			continue;
		*tab = '\0';
		lives[live_count++] = (struct live){line,
						    tab[1] == '1',
						    {.text = tab + 3,
						     .length = end - tab - 3,
						     .made_ns = message->header.made_ns,
						     .status = 200}};
	}
}

/* NULL: no scan has begun, or there is no such fence. */
static struct live *find_live(const char *fence)
{
	for (int i = 0; i < live_count; i++)
		if (!*fence || strcmp(fence, lives[i].fence) == 0)
			return &lives[i];
	return NULL;
}

/* ---- questions ---- */

static void set_state(struct slot *slot, enum state state)
{
	slot->state = state;
	slot->since_ns = rf_time_awake();
}

static struct slot *find_slot(const struct rf_query *query)
{
	for (int i = 0; i < SLOTS; i++)
		if (slots[i].state != FREE && rf_query_equal(&slots[i].query, query))
			return &slots[i];
	return NULL;
}

/* One without a waiting viewer: the oldest reply is dropped. */
static struct slot *make_room(void)
{
	struct slot *oldest = NULL;

	for (int i = 0; i < SLOTS; i++) {
		if (slots[i].state == FREE)
			return &slots[i];
		if (slots[i].state == KNOWN && (!oldest || slots[i].since_ns < oldest->since_ns))
			oldest = &slots[i];
	}
	return oldest;
}

static bool is_fresh(const struct slot *slot)
{
	return slot->state == KNOWN && rf_time_awake() - slot->since_ns < FRESH_NS;
}

static struct slot *ask(const struct rf_query *query)
{
	struct slot *slot = find_slot(query) ?: make_room();

	if (!slot)
		return NULL;
	clear(&slot->body);
	slot->query = *query;
	set_state(slot, WANTED);
	return slot;
}

enum rf_asked rf_asks_find(const struct rf_query *query, struct rf_body **body)
{
	struct live *live = find_live(query->fence);
	struct slot *slot;

	if (query->kind == RF_QUERY_LIVE) {
		*body = live ? &live->body : NULL;
		return live ? RF_ASK_KNOWN : RF_ASK_NOT_YET;
	}
	if (live && live->is_scanning)
		return RF_ASK_SCANNING;
	slot = find_slot(query);
	if (slot && is_fresh(slot)) {
		*body = &slot->body;
		return RF_ASK_KNOWN;
	}
	if (!slot || slot->state == KNOWN)
		slot = ask(query);
	return slot ? RF_ASK_WAITS : RF_ASK_BUSY;
}

/* Complete: a text's length comes from the message, even if it contains a zero byte. */
static char *text_of(const struct rf_feed_message *message, size_t length)
{
	char *text = malloc(length + 1);

	if (text)
		memcpy(text, message->bytes + message->header.length - length, length + 1);
	return text;
}

static bool take_answer(const struct rf_feed_message *message)
{
	const size_t length = message->header.length;
	struct rf_answer_head head;
	struct slot *slot;

	if (length < sizeof(head))
		return false;
	memcpy(&head, message->bytes, sizeof(head));
	slot = find_slot(&head.query);
	if (!slot || slot->state != SENT)
		return false;
	slot->body = (struct rf_body){
		.text = text_of(message, length - sizeof(head)),
		.length = length - sizeof(head),
		.made_ns = message->header.made_ns,
		.status = head.status,
	};
	set_state(slot, slot->body.text ? KNOWN : FREE);
	return true;
}

bool rf_asks_take(const struct rf_feed_message *message)
{
	bool has_answer;

	if (message->header.kind == RF_DOC_LIVE) {
		take_live(message);
		return false;
	}
	has_answer = take_answer(message);
	free(message->bytes);
	return has_answer;
}

/* It gets a reply that reports this, which is not cached for long. */
static bool give_up(struct slot *slot)
{
	static const char text[] = "{\"schema\":1,\"error\":\"the scanner does not answer\"}";

	slot->body = (struct rf_body){.text = strdup(text),
				      .length = strlen(text),
				      .made_ns = rf_time_awake(),
				      .status = 504};
	set_state(slot, slot->body.text ? KNOWN : FREE);
	return true;
}

bool rf_asks_turn(int fd)
{
	const uint64_t now = rf_time_awake();
	struct slot *next = NULL;
	bool gave_up = false;

	for (int i = 0; i < SLOTS; i++) {
		struct slot *slot = &slots[i];

		if (slot->state != SENT && slot->state != WANTED)
			continue;
		if (now - slot->since_ns > PATIENCE_NS)
			gave_up = give_up(slot);
		else if (slot->state == SENT)
			return gave_up; /* one at a time */
		else if (!next || slot->since_ns < next->since_ns)
			next = slot;
	}
	if (next && write(fd, &next->query, sizeof(next->query)) == sizeof(next->query))
		set_state(next, SENT);
	return gave_up;
}
