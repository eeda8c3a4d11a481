// SPDX-License-Identifier: GPL-2.0
/* The answers: about hosts, the worst sources of all of them, one source, and a host that is gone.
 */
#include "agent/inquiry.h"

#include <stdlib.h>
#include <string.h>

#include "agent/site.h"
#include "base/json.h"
#include "base/sort.h"
#include "base/time.h"
#include "base/units.h"
#include "fleet/wire.h"
#include "ringfence/share.h"

/* ---- what was answered ---- */

static const struct rf_piece *piece_of(const struct rf_inquiry *inquiry, enum rf_piece_kind kind,
				       uint32_t index)
{
	for (uint32_t i = 0; i < inquiry->pieces; i++)
		if (inquiry->piece[i].kind == kind && inquiry->piece[i].index == index)
			return inquiry->piece[i].bytes ? &inquiry->piece[i] : NULL;
	return NULL;
}

/* What a host says of itself; NULL: nothing that makes sense. The caller frees it. */
static json_t *host_of(const struct rf_inquiry *inquiry, uint32_t slot)
{
	const struct rf_piece *piece = piece_of(inquiry, RF_PIECE_HOST, slot);

	return piece ? rf_news_read(piece->bytes, piece->size) : NULL;
}

/* Its name, as JSON; null where it said none. */
static json_t *name_of(const json_t *host)
{
	const char *name = json_string_value(json_object_get(host, "name"));
	char clean[RF_HOST_NAME_SIZE];

	if (!name || !*name)
		return json_null();
	rf_news_clean_name(name, clean);
	return json_string(clean);
}

#define DIFFERS_MOST 1000 /* of all hosts together: an answer has an end */

static char *dump_answer(json_t *answer)
{
	char *text = answer ? json_dumps(answer, JSON_COMPACT) : NULL;

	json_decref(answer);
	return text;
}

static char *no_answer(const struct rf_status_view *view)
{
	const char *trouble = rf_line_trouble(view->news);

	return dump_answer(
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
		const struct rf_piece *piece = piece_of(inquiry, RF_PIECE_HOSTS, i);

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
	json_t *host = host_of(inquiry, slot);
	json_t *differs = host ? differences(claims, host, left) : json_array();
	json_t *json;

	if (host)
		add_missing_here(claims, host, differs, left);
	json = json_pack("{s:I, s:o, s:b, s:b, s:I, s:o, s:o, s:o, s:o}", "slot", (json_int_t)slot,
			 "name", name_of(host), "this", slot == claims->member[0].slot, "complete",
			 seen->is_complete, "silent_ms", (json_int_t)seen->silent_ms, "grace_ms",
			 number_of(host, "grace_ms"), "hosts", number_of(host, "hosts"), "version",
			 text_of(host, "version"), "differs", differs);
	json_decref(host);
	return json;
}

static char *answer_hosts(const struct rf_inquiry *inquiry, const struct rf_status_view *view)
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
	return dump_answer(
		json_pack("{s:i, s:o, s:I}", "schema", 1, "hosts", hosts, "void_after_ms",
			  (json_int_t)(view->settings->grace_ns / RF_NS_PER_MS + window_ms)));
}

/* ---- gone ---- */

/* In all buckets, or refused for as long as the last of them takes. */
static char *answer_gone(const struct rf_inquiry *inquiry, const struct rf_status_view *view)
{
	uint64_t left_ms = 0;
	uint32_t done = 0, refused = 0;

	for (uint32_t i = 0; i < RF_BUCKETS; i++) {
		const struct rf_piece *piece = piece_of(inquiry, RF_PIECE_GONE, i);
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
	return dump_answer(json_pack("{s:i, s:b, s:I}", "schema", 1, "forgotten", !refused,
				     "left_ms", (json_int_t)left_ms));
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

static void merge_rows(struct rows *rows)
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

static void sort_rows(struct rows *rows, const char *question)
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

static char *answer_top(const struct rf_inquiry *inquiry, const struct rf_status_view *view)
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
	merge_rows(&rows);
	sort_rows(&rows, inquiry->question.text);
	sources = rows_json(&rows, inquiry->question.number);
	free(rows.row);
	return dump_answer(json_pack("{s:i, s:o, s:I, s:I}", "schema", 1, "sources", sources,
				     "told", (json_int_t)told, "members", (json_int_t)asked));
}

/* ---- one source: the claims of all hosts ---- */

/* The ledger's bucket, and the claims of the source in it. */
struct kept {
	struct rf_ledger ledger;
	struct rf_ledger_source source;
};

static bool read_kept(const struct rf_inquiry *inquiry, int limit, uint32_t bucket,
		      struct kept *kept)
{
	const struct rf_piece *hosts = piece_of(inquiry, RF_PIECE_HOSTS, bucket);
	const struct rf_piece *record = piece_of(inquiry, RF_PIECE_RECORD, limit);

	return hosts && record && rf_wire_unpack_hosts(&kept->ledger, hosts->bytes, hosts->size) &&
	       rf_wire_unpack_record(&kept->source, record->bytes, record->size);
}

static bool is_void(const struct kept *kept, const struct rf_ledger_claim *claim, uint64_t life_ms)
{
	const struct rf_ledger_host *host = &kept->ledger.host[claim->slot % RF_LEDGER_SLOTS];

	return !host->nonce || host->generation != claim->generation ||
	       kept->ledger.newest - host->heard >= life_ms;
}

static json_t *claim_json(const struct rf_inquiry *inquiry, const struct kept *kept,
			  const struct rf_ledger_claim *claim)
{
	const uint32_t slot = claim->slot % RF_LEDGER_SLOTS;
	const struct rf_ledger_host *of = &kept->ledger.host[slot];
	json_t *host = host_of(inquiry, slot);
	json_t *json =
		json_pack("{s:I, s:o, s:b, s:I, s:b, s:I}", "slot", (json_int_t)slot, "name",
			  name_of(host), "this", slot == inquiry->view->claims->member[0].slot,
			  "claim", (json_int_t)claim->claim, "in_vain", claim->in_vain, "silent_ms",
			  (json_int_t)(kept->ledger.newest - of->heard));

	json_decref(host);
	return json;
}

/* Null where nothing of it could be read. */
static json_t *ledger_json(const struct rf_inquiry *inquiry, const struct rf_fleet_limit *limit,
			   int number, uint32_t bucket)
{
	const uint64_t life_ms =
		(inquiry->view->settings->grace_ns + limit->window_ns) / RF_NS_PER_MS;
	struct kept *kept = calloc(1, sizeof(*kept));
	json_t *hosts, *json;
	uint64_t claimed = 0, contested_ms = 0;

	if (!kept || !read_kept(inquiry, number, bucket, kept)) {
		free(kept);
		return json_null();
	}
	hosts = json_array();
	for (uint32_t i = 0; i < kept->source.count; i++) {
		if (is_void(kept, &kept->source.claim[i], life_ms))
			continue;
		claimed += kept->source.claim[i].claim;
		json_array_append_new(hosts, claim_json(inquiry, kept, &kept->source.claim[i]));
	}
	if (kept->source.contested_until > kept->ledger.newest)
		contested_ms = kept->source.contested_until - kept->ledger.newest;
	json = json_pack("{s:I, s:I, s:b, s:o}", "claimed", (json_int_t)claimed, "contested_ms",
			 (json_int_t)contested_ms, "learning", kept->ledger.is_learning, "hosts",
			 hosts);
	free(kept);
	return json;
}

/* ---- one source: this host ---- */

/* What its window has used in W; -1: it has no window. */
static json_int_t read_used(const struct rf_status_view *view, const struct rf_claim_key *key,
			    const struct rf_fleet_limit *limit)
{
	struct rf_fleet_record record = {
		.source = {key->source[0], key->source[1]},
		.limit_id = limit->limit_id,
		.tag = limit->tag,
		.is_ipv6 = key->is_ipv6,
	};

	if (rf_site_windows(view->site, &record, 1) || record.result == RF_SHARE_GONE ||
	    record.result == RF_SHARE_NO_LIMIT)
		return -1;
	return record.used;
}

static json_t *here_json(const struct rf_status_view *view, const struct rf_claim_key *key,
			 const struct rf_fleet_limit *limit)
{
	const struct rf_claimant *claimant = rf_claim_table_find(&view->claims->table, key);
	const struct rf_claim none = {}, *claim = claimant ? &claimant->claim : &none;
	const json_int_t used = read_used(view, key, limit);

	return json_pack(
		"{s:o, s:I, s:I, s:I, s:b, s:o}", "used",
		used < 0 ? json_null() : json_integer(used), "share", (json_int_t)claim->share,
		"claim", (json_int_t)rf_claim_total(claim), "wants",
		(json_int_t)(claimant ? claimant->wants : 0), "in_vain",
		claimant && claimant->vain_since_ns, "since_ms",
		claimant && claimant->since_ns
			? json_integer((rf_time_awake() - claimant->since_ns) / RF_NS_PER_MS)
			: json_null());
}

/* ---- one source: the answer ---- */

static json_t *limit_json(const struct rf_inquiry *inquiry, int number)
{
	const struct rf_status_view *view = inquiry->view;
	const struct rf_fleet_limit *limit = &view->claims->limit[number];
	const struct rf_claim_key key =
		rf_calls_key(view->claims, number, &inquiry->question.address);
	char source[RF_CALLS_SOURCE_SIZE];

	rf_calls_format_source(&key, limit, source);
	return json_pack(
		"{s:o, s:s, s:I, s:I, s:I, s:I, s:o, s:o}", "name", rf_json_text(limit->name),
		"source", source, "count", (json_int_t)limit->limit, "window_ms",
		(json_int_t)(limit->window_ns / RF_NS_PER_MS), "first", (json_int_t)limit->first,
		"pool", (json_int_t)limit->pool, "here", here_json(view, &key, limit), "ledger",
		ledger_json(inquiry, limit, number,
			    rf_claims_bucket(view->claims, key.source[0], key.source[1])));
}

static char *answer_source(const struct rf_inquiry *inquiry, const struct rf_status_view *view)
{
	json_t *limits = json_array();

	for (int i = 0; i < RF_FLEET_LIMITS_MAX; i++)
		if (view->claims->limit[i].in_force)
			json_array_append_new(limits, limit_json(inquiry, i));
	return dump_answer(json_pack("{s:i, s:o}", "schema", 1, "limits", limits));
}

/* ---- a ban of this host ---- */

static char *answer_ban(const struct rf_inquiry *inquiry, const struct rf_status_view *view)
{
	const struct rf_piece *piece = piece_of(inquiry, RF_PIECE_BAN, 0);
	const char *error = rf_fleet_bans_told(view->bans, piece ? piece->bytes : NULL,
					       piece ? piece->size : 0, !inquiry->question.number);

	if (error)
		return dump_answer(
			json_pack("{s:i, s:o}", "schema", 1, "error", rf_json_text(error)));
	return dump_answer(json_pack("{s:i}", "schema", 1));
}

/* ---- all of them ---- */

char *rf_inquiry_answer(const struct rf_inquiry *inquiry)
{
	static char *(*const answers[RF_QUESTIONS])(const struct rf_inquiry *,
						    const struct rf_status_view *) = {
		[RF_QUESTION_NONE] = NULL,
		[RF_QUESTION_HOSTS] = answer_hosts,
		[RF_QUESTION_SOURCE] = answer_source,
		[RF_QUESTION_TOP] = answer_top,
		[RF_QUESTION_GONE] = answer_gone,
		[RF_QUESTION_BAN] = answer_ban,
	};

	return answers[inquiry->question.kind](inquiry, inquiry->view);
}
