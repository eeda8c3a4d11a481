// SPDX-License-Identifier: GPL-2.0
#include "agent/replies.h"

#include <stdlib.h>
#include <string.h>

#include "agent/news.h"
#include "base/json.h"
#include "base/prefix.h"
#include "base/sort.h"
#include "base/time.h"
#include "base/units.h"
#include "ringfence/share.h"
#include "schema/record.h"

/* ---- pieces ---- */

static const struct rf_piece *piece_of(const struct rf_inquiry *inquiry, enum rf_piece_kind kind,
				       uint32_t index)
{
	for (uint32_t i = 0; i < inquiry->pieces; i++)
		if (inquiry->piece[i].kind == kind && inquiry->piece[i].index == index)
			return inquiry->piece[i].bytes ? &inquiry->piece[i] : NULL;
	return NULL;
}

/* The description of a host; NULL: invalid. The caller frees it. */
static json_t *read_object(const char *text, size_t size)
{
	json_t *read = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);

	if (json_is_object(read))
		return read;
	json_decref(read);
	return NULL;
}

/* Its definition of a limit; NULL: no such limit. */
static const char *definition_of(const json_t *host, const char *limit)
{
	return json_string_value(json_object_get(json_object_get(host, "limits"), limit));
}

/* The description of a host; NULL: missing or invalid. The caller frees it. */
static json_t *host_of(const struct rf_inquiry *inquiry, uint32_t slot)
{
	const struct rf_piece *piece = piece_of(inquiry, RF_PIECE_HOST, slot);

	return piece ? read_object(piece->bytes, piece->size) : NULL;
}

/* Its name; "" if not reported. */
static void name_of(const json_t *host, char name[RF_HOST_NAME_SIZE])
{
	const char *said = json_string_value(json_object_get(host, "name"));

	rf_news_clean_name(said ? said : "", name);
}

static json_t *no_answer(const struct rf_inquiry *inquiry)
{
	const char *trouble = rf_line_trouble(inquiry->view->news);

	return rf_status_error(*trouble ? trouble : "the fleet server did not reply in time");
}

/* ---- hosts ---- */

#define DIFFERS_MOST 1000 /* of all hosts together: bounds the reply */

/* A limit that is not the same there. */
struct difference {
	const char *name, *how;
};

static const struct rf_field difference_fields[] = {
	RF_FIELD("name", struct difference, name, "the limit"),
	RF_FIELD("kind", struct difference, how, "other, missing here or missing there"),
	{},
};

/* A member, over all buckets: the longest silence of any of them. */
struct told_host {
	uint32_t slot;
	char name[RF_HOST_NAME_SIZE];
	bool is_member, is_this, is_complete;
	uint64_t silent_ms;
	json_t *grace_ms, *hosts, *version, *differs;
};

static const struct rf_field host_fields[] = {
	RF_FIELD("slot", struct told_host, slot, "of the host"),
	RF_FIELD("name", struct told_host, name, "of the host, as it reports", .if_any = true,
		 .or_null = true),
	RF_FIELD("self", struct told_host, is_this, "this host"),
	RF_FIELD("complete", struct told_host, is_complete, "it has reported all its claims"),
	RF_FIELD("silent_ms", struct told_host, silent_ms, "time since its last heartbeat"),
	RF_FIELD_READ("grace_ms", struct told_host, grace_ms, RF_FIELD_U64, NULL,
		      "its grace; null: not reported", .or_null = true),
	RF_FIELD_READ("hosts", struct told_host, hosts, RF_FIELD_U64, NULL,
		      "its number of hosts; null: not reported", .or_null = true),
	RF_FIELD_READ("version", struct told_host, version, RF_FIELD_TEXT, NULL,
		      "version of its agent; null: not reported", .or_null = true),
	RF_FIELD_READ("differences", struct told_host, differs, RF_FIELD_LIST, difference_fields,
		      "limits that differ there"),
	{},
};

/* As the command prints them: its record has the meaning. */
static const struct rf_field others_fields[] = {
	RF_FIELD_READ("others", struct told_host, differs, RF_FIELD_LIST, host_fields, NULL,
		      .or_null = true),
	{},
};
RF_RECORD(fleet_status, others_fields);

/* False: no bucket replied. */
static bool look_at_hosts(const struct rf_inquiry *inquiry, struct told_host *seen,
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

static bool has_limit(const struct rf_claims *claims, const char *name)
{
	for (int i = 0; i < RF_FLEET_LIMITS_MAX; i++)
		if (claims->limit[i].in_force && strcmp(claims->limit[i].name, name) == 0)
			return true;
	return false;
}

static void add_difference(json_t *differs, const char *name, const char *how, size_t *left)
{
	const struct difference difference = {name, how};

	if (*left &&
	    !json_array_append_new(differs, rf_record_json(difference_fields, &difference)))
		--*left;
}

/* The limits that this host and that one define differently, or that only one of them has. */
static json_t *differences(const struct rf_claims *claims, const json_t *host, size_t *left)
{
	json_t *differs = json_array(), *definition;
	const char *name;

	for (int i = 0; i < RF_FLEET_LIMITS_MAX && host; i++) {
		const struct rf_fleet_limit *limit = &claims->limit[i];
		const char *theirs = definition_of(host, limit->name);

		if (!limit->in_force || (theirs && strtoull(theirs, NULL, 16) == limit->definition))
			continue;
		add_difference(differs, limit->name, theirs ? "other" : "missing there", left);
	}
	json_object_foreach (json_object_get(host, "limits"), name, definition)
		if (strlen(name) < RF_NAME_SIZE && !has_limit(claims, name))
			add_difference(differs, name, "missing here", left);
	return differs;
}

static json_t *number_of(const json_t *host, const char *key)
{
	json_t *number = json_object_get(host, key);

	return json_is_integer(number) ? number : NULL;
}

static json_t *text_of(const json_t *host, const char *key)
{
	json_t *text = json_object_get(host, key);

	return json_string_length(text) && json_string_length(text) < RF_HOST_NAME_SIZE ? text
											: NULL;
}

static json_t *host_json(const struct rf_inquiry *inquiry, uint32_t slot, struct told_host *told,
			 size_t *left)
{
	const struct rf_claims *claims = inquiry->view->claims;
	json_t *host = host_of(inquiry, slot), *json;

	told->slot = slot;
	told->is_this = slot == claims->member[0].slot;
	told->grace_ms = number_of(host, "grace_ms");
	told->hosts = number_of(host, "hosts");
	told->version = text_of(host, "version");
	told->differs = differences(claims, host, left);
	name_of(host, told->name);
	json = rf_record_json(host_fields, told);
	json_decref(told->differs);
	json_decref(host);
	return json;
}

static json_t *compose_hosts(const struct rf_inquiry *inquiry)
{
	struct told_host *told = calloc(RF_LEDGER_SLOTS, sizeof(*told));
	json_t *hosts = json_array();
	size_t left = DIFFERS_MOST;
	uint64_t window_ms = 0;
	const bool any = told && look_at_hosts(inquiry, told, &window_ms);

	for (uint32_t slot = 0; slot < RF_LEDGER_SLOTS && any; slot++)
		if (told[slot].is_member)
			json_array_append_new(hosts, host_json(inquiry, slot, &told[slot], &left));
	free(told);
	if (!any) {
		json_decref(hosts);
		return no_answer(inquiry);
	}
	return json_pack(
		"{s:o, s:I}", "hosts", hosts, "expires_after_ms",
		(json_int_t)(inquiry->view->settings->grace_ns / RF_NS_PER_MS + window_ms));
}

/* ---- gone ---- */

/* In all buckets, or refused for as long as the last of them takes. */
static json_t *compose_gone(const struct rf_inquiry *inquiry)
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
		return no_answer(inquiry);
	return json_pack("{s:b, s:I}", "removed", !refused, "left_ms", (json_int_t)left_ms);
}

/* ---- a ban of this host ---- */

static json_t *compose_ban(const struct rf_inquiry *inquiry)
{
	const struct rf_piece *piece = piece_of(inquiry, RF_PIECE_BAN, 0);
	const char *error = rf_fleet_bans_told(inquiry->view->bans, piece ? piece->bytes : NULL,
					       piece ? piece->size : 0, !inquiry->question.number);

	return error ? rf_status_error(error) : json_object();
}

/* ---- top: the sources of all hosts ---- */

#define TOLD_MOST (RF_FLEET_HOSTS_MAX * RF_NEWS_SOURCES)

/* The sources that hosts drop the most of, added up. All zeros: none yet. */
struct top {
	struct rf_told_source *source;
	uint32_t sources;
	uint32_t asked, told; /* hosts */
};

static const struct rf_field sum_fields[] = {
	RF_FIELDS_ALSO(rf_told_fields),
	RF_FIELD("hosts", struct rf_told_source, hosts, "hosts that report it"),
	{},
};

/* As the command prints them: its record has the meaning. */
static const struct rf_field top_fields[] = {
	RF_FIELD_OBJECTS("sources", struct top, source, sources, sum_fields, "the worst ones"),
	RF_FIELD("reported", struct top, told, NULL),
	RF_FIELD("members", struct top, asked, NULL),
	{},
};
RF_RECORD(fleet_top, top_fields);

/* A source as reported by a host. False: invalid. */
static bool read_source(json_t *from, struct rf_told_source *told)
{
	const char *address, *limit;
	json_int_t passed, dropped, rate;
	struct rf_prefix prefix;
	struct rf_error error;

	if (json_unpack(from, "{s:s, s:s, s:I, s:I, s:I}", "source", &address, "limit", &limit,
			"passed", &passed, "dropped", &dropped, "rate", &rate))
		return false;
	if (rf_parse_prefix(address, &prefix, &error) || !*limit || strlen(limit) >= RF_NAME_SIZE ||
	    passed < 0 || dropped < 0 || rate < 0)
		return false;
	*told = (struct rf_told_source){
		.passed = passed, .dropped = dropped, .rate = rate, .hosts = 1};
	rf_format_prefix(&prefix, told->source);
	strcpy(told->limit, limit);
	return true;
}

static void top_add(struct top *top, const char *bytes, size_t size)
{
	json_t *all = bytes ? read_object(bytes, size) : NULL, *source;
	size_t i;

	top->asked++;
	top->told += all != NULL;
	if (!top->source)
		top->source = calloc(TOLD_MOST, sizeof(*top->source));
	json_array_foreach (json_object_get(all, "sources"), i, source)
		if (top->source && i < RF_NEWS_SOURCES && top->sources < TOLD_MOST &&
		    read_source(source, &top->source[top->sources]))
			top->sources++;
	json_decref(all);
}

static int by_source(const void *one, const void *other)
{
	const struct rf_told_source *a = one, *b = other;
	const int order = strcmp(a->source, b->source);

	return order ? order : strcmp(a->limit, b->limit);
}

static void merge_sources(struct top *top)
{
	uint32_t kept = 0;

	rf_sort(top->source, top->sources, sizeof(*top->source), by_source);
	for (uint32_t i = 0; i < top->sources; i++) {
		const struct rf_told_source *told = &top->source[i];
		struct rf_told_source *last = kept ? &top->source[kept - 1] : NULL;

		if (!last || by_source(last, told)) {
			top->source[kept++] = *told;
			continue;
		}
		last->passed += told->passed;
		last->dropped += told->dropped;
		last->rate += told->rate;
		last->hosts++;
	}
	top->sources = kept;
}

static int falling(uint64_t a, uint64_t b)
{
	return a < b ? 1 : a > b ? -1 : 0;
}

static int by_drops(const void *one, const void *other)
{
	const struct rf_told_source *a = one, *b = other;
	const int order = falling(a->dropped, b->dropped);

	return order ? order : by_source(a, b);
}

static int by_rate(const void *one, const void *other)
{
	const struct rf_told_source *a = one, *b = other;
	const int order = falling(a->rate, b->rate);

	return order ? order : by_drops(a, b);
}

static int by_hosts(const void *one, const void *other)
{
	const struct rf_told_source *a = one, *b = other;
	const int order = falling(a->hosts, b->hosts);

	return order ? order : by_drops(a, b);
}

static json_t *top_json(struct top *top, const char *by, uint32_t most)
{
	json_t *json;

	merge_sources(top);
	rf_sort(top->source, top->sources, sizeof(*top->source),
		strcmp(by, "rate") == 0	   ? by_rate
		: strcmp(by, "hosts") == 0 ? by_hosts
					   : by_drops);
	if (top->sources > most)
		top->sources = most;
	json = rf_record_json(top_fields, top);
	free(top->source);
	return json;
}

static json_t *compose_top(const struct rf_inquiry *inquiry)
{
	struct top top = {};

	for (uint32_t i = 0; i < inquiry->pieces; i++)
		top_add(&top, inquiry->piece[i].bytes, inquiry->piece[i].size);
	return top_json(&top, inquiry->question.by, inquiry->question.number);
}

/* ---- source: the claims of all hosts ---- */

struct told_claim {
	uint32_t slot;
	char name[RF_HOST_NAME_SIZE];
	bool is_this, in_vain;
	uint32_t claim;
	uint64_t silent_ms;
};

static const struct rf_field claim_fields[] = {
	RF_FIELD("slot", struct told_claim, slot, "of the host"),
	RF_FIELD("name", struct told_claim, name, "of the host, as it reports", .if_any = true,
		 .or_null = true),
	RF_FIELD("self", struct told_claim, is_this, "this host"),
	RF_FIELD("claim", struct told_claim, claim,
		 "what it can pass, or has passed, beyond initial"),
	RF_FIELD("unsatisfied", struct told_claim, in_vain, "it requests more than is left"),
	RF_FIELD("silent_ms", struct told_claim, silent_ms, "time since its last heartbeat"),
	{},
};

/* The ledger's bucket, and the claims of the source in it. */
struct kept {
	struct rf_ledger ledger;
	struct rf_ledger_source source;
	uint64_t claimed, contested_ms;
	struct told_claim host[RF_LEDGER_SLOTS];
	uint32_t hosts;
};

static const struct rf_field ledger_fields[] = {
	RF_FIELD("claimed", struct kept, claimed, "by all hosts"),
	RF_FIELD("contested_ms", struct kept, contested_ms,
		 "hosts get less for that long; 0: not contested"),
	RF_FIELD("learning", struct kept, ledger.is_learning,
		 "it grants nothing until it has learned the claims again"),
	RF_FIELD_OBJECTS("hosts", struct kept, host, hosts, claim_fields, "hosts with a claim"),
	{},
};

static bool read_kept(const struct rf_inquiry *inquiry, int limit, struct kept *kept)
{
	const struct rf_piece *record = piece_of(inquiry, RF_PIECE_RECORD, limit);
	const struct rf_piece *hosts =
		record ? piece_of(inquiry, RF_PIECE_HOSTS, record->tag) : NULL;

	return hosts && rf_wire_unpack_hosts(&kept->ledger, hosts->bytes, hosts->size) &&
	       rf_wire_unpack_record(&kept->source, record->bytes, record->size);
}

static bool is_void(const struct kept *kept, const struct rf_ledger_claim *claim, uint64_t life_ms)
{
	const struct rf_ledger_host *host = &kept->ledger.host[claim->slot % RF_LEDGER_SLOTS];

	return !host->nonce || host->generation != claim->generation ||
	       kept->ledger.newest - host->heard >= life_ms;
}

static void add_claim(const struct rf_inquiry *inquiry, const struct rf_ledger_claim *claim,
		      struct kept *kept)
{
	const uint32_t slot = claim->slot % RF_LEDGER_SLOTS;
	struct told_claim *told = &kept->host[kept->hosts++];
	json_t *host = host_of(inquiry, slot);

	kept->claimed += claim->claim;
	*told = (struct told_claim){
		.slot = slot,
		.is_this = slot == inquiry->view->claims->member[0].slot,
		.claim = claim->claim,
		.in_vain = claim->in_vain,
		.silent_ms = kept->ledger.newest - kept->ledger.host[slot].heard,
	};
	name_of(host, told->name);
	json_decref(host);
}

/* False: nothing of it could be read. */
static bool look_at_ledger(const struct rf_inquiry *inquiry, int number, struct kept *kept)
{
	const struct rf_status_view *view = inquiry->view;
	const uint64_t life_ms =
		(view->settings->grace_ns + view->claims->limit[number].window_ns) / RF_NS_PER_MS;

	if (!kept || !read_kept(inquiry, number, kept))
		return false;
	for (uint32_t i = 0; i < kept->source.count; i++)
		if (!is_void(kept, &kept->source.claim[i], life_ms))
			add_claim(inquiry, &kept->source.claim[i], kept);
	if (kept->source.contested_until > kept->ledger.newest)
		kept->contested_ms = kept->source.contested_until - kept->ledger.newest;
	return true;
}

/* ---- source: this host ---- */

struct here {
	bool has_window, in_vain;
	uint32_t used, share, wants;
	uint64_t claim, since_ns;
};

static bool has_window(const void *of)
{
	return ((const struct here *)of)->has_window;
}

static bool has_claim(const void *of)
{
	return ((const struct here *)of)->since_ns;
}

static const struct rf_field here_fields[] = {
	RF_FIELD("used", struct here, used, "in TIME; null: no window", .has = has_window,
		 .or_null = true),
	RF_FIELD("share", struct here, share, "what it can pass beyond initial"),
	RF_FIELD("claim", struct here, claim, "its last claim on the fleet server"),
	RF_FIELD("requested", struct here, wants, "the share that it requests"),
	RF_FIELD("unsatisfied", struct here, in_vain, "it requests more than is left"),
	RF_FIELD_OF_NS("since_ms", struct here, since_ns, "age of its claim; null: no claim",
		       .has = has_claim, .or_null = true),
	{},
};

/* What its window has used in W. */
static void read_used(const struct rf_status_view *view, const struct rf_claim_key *key,
		      const struct rf_fleet_limit *limit, struct here *here)
{
	struct rf_fleet_record record = {
		.source = {key->source[0], key->source[1]},
		.limit_id = limit->limit_id,
		.tag = limit->tag,
		.is_ipv6 = key->is_ipv6,
	};

	here->has_window = !rf_site_windows(view->site, &record, 1) &&
			   record.result != RF_SHARE_GONE && record.result != RF_SHARE_NO_LIMIT;
	here->used = record.used;
}

static void look_here(const struct rf_status_view *view, const struct rf_claim_key *key,
		      const struct rf_fleet_limit *limit, struct here *here)
{
	const struct rf_claimant *claimant = rf_claim_table_find(&view->claims->table, key);

	if (claimant)
		*here = (struct here){
			.share = claimant->claim.share,
			.claim = rf_claim_total(&claimant->claim),
			.wants = claimant->wants,
			.in_vain = claimant->vain_since_ns,
			.since_ns = claimant->since_ns ? rf_time_awake() - claimant->since_ns : 0,
		};
	read_used(view, key, limit, here);
}

/* ---- source: the reply ---- */

struct source_limit {
	const struct rf_fleet_limit *limit;
	char source[RF_CALLS_SOURCE_SIZE];
	struct here here;
	const struct kept *kept; /* NULL: not read */
};

static const struct rf_field fleet_limit_fields[] = {
	RF_FIELD("name", struct rf_fleet_limit, name, "the limit"),
	RF_FIELD("count", struct rf_fleet_limit, limit, "COUNT"),
	RF_FIELD_OF_NS("window_ms", struct rf_fleet_limit, window_ns, "TIME"),
	RF_FIELD("initial", struct rf_fleet_limit, first, "what a host passes by default"),
	RF_FIELD("pool", struct rf_fleet_limit, pool, "the most that claims can hold"),
	{},
};

static const struct rf_field limit_fields[] = {
	RF_FIELDS_VIA(struct source_limit, limit, fleet_limit_fields),
	RF_FIELD("source", struct source_limit, source,
		 "the network that the limit groups the address into"),
	RF_FIELD_IN("local", struct source_limit, here, here_fields, "this host"),
	RF_FIELD_LINK("ledger", struct source_limit, kept, ledger_fields,
		      "on the fleet server; null: not read", .or_null = true),
	{},
};

static const struct rf_field limits_fields[] = {
	RF_FIELD_READ("limits", struct told_host, differs, RF_FIELD_LIST, limit_fields, NULL),
	{},
};
RF_RECORD(fleet_show, limits_fields);

static json_t *limit_json(const struct rf_inquiry *inquiry, int number)
{
	const struct rf_status_view *view = inquiry->view;
	const struct rf_claim_key key =
		rf_calls_key(view->claims, number, &inquiry->question.address);
	struct source_limit limit = {.limit = &view->claims->limit[number]};
	struct kept *kept = calloc(1, sizeof(*kept));
	json_t *json;

	rf_calls_format_source(&key, limit.limit, limit.source);
	look_here(view, &key, limit.limit, &limit.here);
	if (look_at_ledger(inquiry, number, kept))
		limit.kept = kept;
	json = rf_record_json(limit_fields, &limit);
	free(kept);
	return json;
}

static json_t *compose_source(const struct rf_inquiry *inquiry)
{
	json_t *limits = json_array();

	for (int i = 0; i < RF_FLEET_LIMITS_MAX; i++)
		if (inquiry->view->claims->limit[i].in_force)
			json_array_append_new(limits, limit_json(inquiry, i));
	return json_pack("{s:o}", "limits", limits);
}

/* ---- dispatch ---- */

json_t *rf_reply_compose(const struct rf_inquiry *inquiry)
{
	static json_t *(*const compose[RF_QUESTIONS])(const struct rf_inquiry *inquiry) = {
		[RF_QUESTION_HOSTS] = compose_hosts, [RF_QUESTION_SOURCE] = compose_source,
		[RF_QUESTION_TOP] = compose_top,     [RF_QUESTION_GONE] = compose_gone,
		[RF_QUESTION_BAN] = compose_ban,
	};

	return compose[inquiry->question.kind](inquiry);
}
