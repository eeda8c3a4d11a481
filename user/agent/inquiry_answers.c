// SPDX-License-Identifier: GPL-2.0
/* The answers about hosts, and about the worst sources of all of them. */
#include <stdlib.h>
#include <string.h>

#include "agent/inquiry.h"
#include "base/json.h"
#include "base/sort.h"
#include "base/units.h"
#include "fleet/wire.h"

#define DIFFERS_MOST 1000 /* of all hosts together: an answer has an end */

static char *dump(json_t *answer)
{
	char *text = answer ? json_dumps(answer, JSON_COMPACT) : NULL;

	json_decref(answer);
	return text;
}

static char *no_answer(const struct rf_status_view *view)
{
	const char *trouble = rf_line_trouble(view->news);

	return dump(
		json_pack("{s:i, s:o}", "schema", 1, "error",
			  rf_json_text(*trouble ? trouble : "the engine did not answer in time")));
}

/* ---- hosts ---- */

/* A member, over all buckets: the longest that one of them has not heard it. */
struct seen_host {
	bool is_member, is_complete;
	uint64_t silent_ms;
};

/* False: no bucket has answered. */
static bool look_at_hosts(const struct rf_inquiry *inquiry, struct seen_host *seen,
			  uint64_t *window_ms)
{
	struct rf_ledger *ledger = malloc(sizeof(*ledger));
	bool any = false;

	*window_ms = 0;
	for (uint32_t i = 0; i < RF_BUCKETS && ledger; i++) {
		const struct rf_piece *piece = rf_inquiry_piece(inquiry, RF_PIECE_HOSTS, i);

		if (!piece || !rf_wire_unpack_hosts(ledger, piece->bytes, piece->size))
			continue;
		any = true;
		if (ledger->window > *window_ms)
			*window_ms = ledger->window;
		for (uint32_t slot = 0; slot < RF_LEDGER_SLOTS; slot++) {
			const struct rf_ledger_host *host = &ledger->host[slot];
			const uint64_t silent = ledger->newest - host->heard;

			if (!host->nonce)
				continue;
			seen[slot].is_complete =
				(!seen[slot].is_member || seen[slot].is_complete) &&
				host->is_complete;
			seen[slot].is_member = true;
			if (silent > seen[slot].silent_ms)
				seen[slot].silent_ms = silent;
		}
	}
	free(ledger);
	return any;
}

/* The limits that this host and that one define differently, or that one of them has alone. */
static json_t *differences(const struct rf_claims *claims, const json_t *host, size_t *left)
{
	json_t *differs = json_array();

	for (int i = 0; i < RF_FLEET_LIMITS_MAX && *left; i++) {
		const struct rf_fleet_limit *limit = &claims->limit[i];
		const char *theirs = rf_news_definition(host, limit->name);

		if (!limit->in_force)
			continue;
		if (theirs && strtoull(theirs, NULL, 16) == limit->definition)
			continue;
		json_array_append_new(differs,
				      json_pack("{s:o, s:s}", "name", rf_json_text(limit->name),
						"how", theirs ? "other" : "missing there"));
		--*left;
	}
	return differs;
}

static bool has_limit(const struct rf_claims *claims, const char *name)
{
	for (int i = 0; i < RF_FLEET_LIMITS_MAX; i++)
		if (claims->limit[i].in_force && strcmp(claims->limit[i].name, name) == 0)
			return true;
	return false;
}

static void add_missing_here(const struct rf_claims *claims, json_t *host, json_t *differs,
			     size_t *left)
{
	const char *name;
	json_t *definition;

	json_object_foreach (json_object_get(host, "limits"), name, definition)
		if (*left && strlen(name) < RF_NAME_SIZE && !has_limit(claims, name)) {
			json_array_append_new(differs,
					      json_pack("{s:o, s:s}", "name", rf_json_text(name),
							"how", "missing here"));
			--*left;
		}
}

static json_t *number_of(const json_t *host, const char *key)
{
	const json_t *number = json_object_get(host, key);

	return json_is_integer(number) ? json_integer(json_integer_value(number)) : json_null();
}

static json_t *text_of(const json_t *host, const char *key)
{
	const char *text = json_string_value(json_object_get(host, key));

	return text && strlen(text) < RF_HOST_NAME_SIZE ? rf_json_text(text) : json_null();
}

static json_t *host_json(const struct rf_inquiry *inquiry, uint32_t slot,
			 const struct seen_host *seen, size_t *left)
{
	const struct rf_claims *claims = inquiry->view->claims;
	json_t *host = rf_inquiry_host(inquiry, slot);
	json_t *differs = host ? differences(claims, host, left) : json_array();
	json_t *json;

	if (host)
		add_missing_here(claims, host, differs, left);
	json = json_pack("{s:I, s:o, s:b, s:b, s:I, s:o, s:o, s:o, s:o}", "slot", (json_int_t)slot,
			 "name", rf_inquiry_host_name(host), "this", slot == claims->member[0].slot,
			 "complete", seen->is_complete, "silent_ms", (json_int_t)seen->silent_ms,
			 "grace_ms", number_of(host, "grace_ms"), "hosts", number_of(host, "hosts"),
			 "version", text_of(host, "version"), "differs", differs);
	json_decref(host);
	return json;
}

char *rf_inquiry_hosts(const struct rf_inquiry *inquiry, const struct rf_status_view *view)
{
	struct seen_host *seen = calloc(RF_LEDGER_SLOTS, sizeof(*seen));
	json_t *hosts = json_array();
	size_t left = DIFFERS_MOST;
	uint64_t window_ms = 0;
	const bool any = seen && look_at_hosts(inquiry, seen, &window_ms);

	for (uint32_t slot = 0; slot < RF_LEDGER_SLOTS && any; slot++)
		if (seen[slot].is_member)
			json_array_append_new(hosts, host_json(inquiry, slot, &seen[slot], &left));
	free(seen);
	if (!any) {
		json_decref(hosts);
		return no_answer(view);
	}
	return dump(json_pack("{s:i, s:o, s:I}", "schema", 1, "hosts", hosts, "void_after_ms",
			      (json_int_t)(view->settings->grace_ns / RF_NS_PER_MS + window_ms)));
}

/* ---- gone ---- */

/* In all buckets, or refused for as long as the last of them takes. */
char *rf_inquiry_gone(const struct rf_inquiry *inquiry, const struct rf_status_view *view)
{
	uint64_t left_ms = 0;
	uint32_t done = 0, refused = 0;

	for (uint32_t i = 0; i < RF_BUCKETS; i++) {
		const struct rf_piece *piece = rf_inquiry_piece(inquiry, RF_PIECE_GONE, i);
		struct rf_ledger_left left;

		if (!piece || !rf_wire_unpack_left(&left, piece->bytes, piece->size))
			continue;
		done += left.status == RF_LEDGER_DONE;
		refused += left.status == RF_LEDGER_REFUSED;
		if (left.left > left_ms)
			left_ms = left.left;
	}
	if (done + refused < RF_BUCKETS)
		return no_answer(view);
	return dump(json_pack("{s:i, s:b, s:I}", "schema", 1, "forgotten", !refused, "left_ms",
			      (json_int_t)left_ms));
}

/* ---- top ---- */

struct row {
	char source[RF_PREFIX_TEXT_SIZE], limit[RF_NAME_SIZE];
	uint64_t passed, dropped, rate, hosts;
};

struct rows {
	struct row *row;
	size_t count, room;
};

/* What a host tells of a source. False: it makes no sense. */
static bool read_row(json_t *source, struct row *row)
{
	const char *address, *limit;
	json_int_t passed, dropped, rate;
	struct rf_prefix prefix;
	struct rf_error error;

	if (json_unpack(source, "{s:s, s:s, s:I, s:I, s:I}", "source", &address, "limit", &limit,
			"passed", &passed, "dropped", &dropped, "rate", &rate))
		return false;
	if (rf_parse_prefix(address, &prefix, &error) || !*limit || strlen(limit) >= RF_NAME_SIZE ||
	    passed < 0 || dropped < 0 || rate < 0)
		return false;
	*row = (struct row){.passed = passed, .dropped = dropped, .rate = rate, .hosts = 1};
	rf_format_prefix(&prefix, row->source);
	strcpy(row->limit, limit);
	return true;
}

static bool add_rows(struct rows *rows, const struct rf_piece *piece)
{
	json_t *top = rf_news_read(piece->bytes, piece->size), *source;
	size_t i;

	json_array_foreach (json_object_get(top, "sources"), i, source)
		if (i < RF_NEWS_SOURCES && rows->count < rows->room &&
		    read_row(source, &rows->row[rows->count]))
			rows->count++;
	json_decref(top);
	return top;
}

static int by_source(const void *one, const void *other)
{
	const struct row *a = one, *b = other;
	const int order = strcmp(a->source, b->source);

	return order ? order : strcmp(a->limit, b->limit);
}

static void merge(struct rows *rows)
{
	size_t kept = 0;

	rf_sort(rows->row, rows->count, sizeof(*rows->row), by_source);
	for (size_t i = 0; i < rows->count; i++) {
		struct row *row = &rows->row[i], *last = kept ? &rows->row[kept - 1] : NULL;

		if (!last || by_source(last, row)) {
			rows->row[kept++] = *row;
			continue;
		}
		last->passed += row->passed;
		last->dropped += row->dropped;
		last->rate += row->rate;
		last->hosts++;
	}
	rows->count = kept;
}

static int falling(uint64_t a, uint64_t b)
{
	return a < b ? 1 : a > b ? -1 : 0;
}

static int by_drops(const void *one, const void *other)
{
	const struct row *a = one, *b = other;
	const int order = falling(a->dropped, b->dropped);

	return order ? order : by_source(a, b);
}

static int by_rate(const void *one, const void *other)
{
	const struct row *a = one, *b = other;
	const int order = falling(a->rate, b->rate);

	return order ? order : by_drops(a, b);
}

static int by_hosts(const void *one, const void *other)
{
	const struct row *a = one, *b = other;
	const int order = falling(a->hosts, b->hosts);

	return order ? order : by_drops(a, b);
}

static void sort(struct rows *rows, const char *question)
{
	const char *by = strrchr(question, ' ');
	int (*order)(const void *, const void *) = by_drops;

	if (by && strcmp(by, " rate") == 0)
		order = by_rate;
	if (by && strcmp(by, " hosts") == 0)
		order = by_hosts;
	rf_sort(rows->row, rows->count, sizeof(*rows->row), order);
}

static json_t *rows_json(const struct rows *rows, size_t most)
{
	json_t *list = json_array();

	for (size_t i = 0; i < rows->count && i < most; i++) {
		const struct row *row = &rows->row[i];

		json_array_append_new(
			list,
			json_pack("{s:s, s:o, s:I, s:I, s:I, s:I}", "source", row->source, "limit",
				  rf_json_text(row->limit), "passed", (json_int_t)row->passed,
				  "dropped", (json_int_t)row->dropped, "rate",
				  (json_int_t)row->rate, "hosts", (json_int_t)row->hosts));
	}
	return list;
}

char *rf_inquiry_top(const struct rf_inquiry *inquiry, const struct rf_status_view *view)
{
	struct rows rows = {.room = (size_t)RF_FLEET_HOSTS_MAX * RF_NEWS_SOURCES};
	uint32_t told = 0, asked = 0;
	json_t *sources;

	(void)view;
	rows.row = calloc(rows.room, sizeof(*rows.row));
	for (uint32_t i = 0; i < inquiry->pieces && rows.row; i++) {
		asked += inquiry->piece[i].kind == RF_PIECE_TOP;
		if (inquiry->piece[i].kind == RF_PIECE_TOP && inquiry->piece[i].bytes)
			told += add_rows(&rows, &inquiry->piece[i]);
	}
	merge(&rows);
	sort(&rows, inquiry->question.text);
	sources = rows_json(&rows, inquiry->question.number);
	free(rows.row);
	return dump(json_pack("{s:i, s:o, s:I, s:I}", "schema", 1, "sources", sources, "told",
			      (json_int_t)told, "members", (json_int_t)asked));
}
