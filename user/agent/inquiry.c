// SPDX-License-Identifier: GPL-2.0
#include "agent/inquiry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/news.h"
#include "base/json.h"
#include "base/prefix.h"
#include "base/time.h"
#include "base/units.h"
#include "fleet/wire.h"
#include "ringfence/share.h"
#include "schema/record.h"

#define TOP_MOST 100
#define PATIENCE_NS (2 * RF_NS_PER_S) /* less than the patience of the command that asks */
#define WHY_SIZE 128

enum piece_kind {
	PIECE_HOSTS,  /* the members of a bucket */
	PIECE_HOST,   /* what the host of a slot says of itself */
	PIECE_TOP,    /* its sources */
	PIECE_RECORD, /* the claims on the source, of a limit */
	PIECE_GONE,   /* of a bucket */
	PIECE_BAN,
};

/* A request and its answer. */
struct piece {
	struct inquiry *inquiry;
	enum piece_kind kind;
	uint32_t index;
	uint32_t tag; /* of its keys */
	/* Of a request that reads a key. More bytes make no sense. */
	char key[RF_WIRE_KEY_SIZE];
	uint32_t most;
	bool waits;  /* it is to be sent again, see link.h */
	char *bytes; /* NULL: no answer, or none yet */
	size_t size;
};

struct question {
	const struct question_kind *kind;
	struct rf_address address;
	struct rf_prefix prefix;
	uint32_t number; /* N, SLOT or MS */
	char by[16];
};

struct inquiry {
	struct rf_desk *desk;
	uint64_t ticket; /* 0: not in use */
	const struct rf_status_view *view;
	struct question question;
	struct piece *piece;
	uint32_t pieces, room, left; /* `left` were not answered yet */
	uint64_t until_ns;	     /* requests are sent again until then */
};

struct question_kind {
	const char *begins;
	/* Reads the rest. False: it is another question, or an invalid one; then `why` says so. */
	bool (*read)(struct question *question, const char *words, char why[WHY_SIZE]);
	void (*send)(struct inquiry *inquiry);
	/* The answer once each piece has one, or is not going to have one. */
	json_t *(*compose)(const struct inquiry *inquiry);
};

/* Of the agent, which is one in a process. */
static struct inquiry inquiries[RF_DESK_CLIENTS];

/* ---- the end of an inquiry ---- */

static void end_inquiry(struct inquiry *inquiry)
{
	for (uint32_t i = 0; i < inquiry->pieces; i++)
		free(inquiry->piece[i].bytes);
	free(inquiry->piece);
	*inquiry = (struct inquiry){};
}

static void finish_inquiry(struct inquiry *inquiry)
{
	char *answer = rf_status_text(inquiry->question.kind->compose(inquiry));

	rf_desk_reply(inquiry->desk, inquiry->ticket, answer);
	free(answer);
	end_inquiry(inquiry);
}

static void answered(struct inquiry *inquiry)
{
	if (!--inquiry->left)
		finish_inquiry(inquiry);
}

static void take_answer(void *data, const redisReply *reply)
{
	struct piece *piece = data;

	if (reply && reply->type == REDIS_REPLY_ERROR) {
		piece->waits = true;
		return;
	}
	if (reply && reply->type == REDIS_REPLY_STRING) {
		piece->bytes = malloc(reply->len + 1);
		piece->size = reply->len;
		if (piece->bytes)
			memcpy(piece->bytes, reply->str, reply->len + 1);
	}
	answered(piece->inquiry);
}

/* ---- requests ---- */

static const struct question_kind ban_kind;

static struct rf_line *line_of(const struct question *question, const struct rf_status_view *view)
{
	return question->kind == &ban_kind ? view->bans->line : view->news;
}

static bool read_key(struct piece *piece)
{
	const struct inquiry *inquiry = piece->inquiry;
	char last[12];
	const char *const words[] = {"GETRANGE", piece->key, "0", last};

	snprintf(last, sizeof(last), "%u", piece->most);
	return rf_line_call(inquiry->view->news, piece->tag, ARRAY_SIZE(words), words, NULL,
			    take_answer, piece);
}

static bool send_gone(struct piece *piece)
{
	const struct inquiry *inquiry = piece->inquiry;
	const struct rf_ledger_call call = rf_calls_of(inquiry->view->calls, piece->index);
	uint8_t bytes[RF_WIRE_GONE_SIZE];

	rf_wire_pack_gone(bytes, &call, inquiry->question.number);
	return rf_calls_send(inquiry->view->news, piece->index, call.slot, "rf_gone", bytes,
			     sizeof(bytes), take_answer, piece);
}

static bool send_ban(struct piece *piece)
{
	const struct inquiry *inquiry = piece->inquiry;

	return rf_fleet_bans_tell(inquiry->view->bans, inquiry->view->claims->member[0].slot,
				  &inquiry->question.prefix, inquiry->question.number, take_answer,
				  piece);
}

/* False: it cannot be sent now. */
static bool send_piece(struct piece *piece)
{
	if (piece->kind == PIECE_GONE)
		return send_gone(piece);
	if (piece->kind == PIECE_BAN)
		return send_ban(piece);
	return read_key(piece);
}

/* Of a limit, what the source of the question has. */
static void name_record(struct piece *piece)
{
	const struct rf_claims *claims = piece->inquiry->view->claims;
	const struct rf_fleet_limit *limit = &claims->limit[piece->index];
	const struct rf_claim_key of =
		rf_calls_key(claims, piece->index, &piece->inquiry->question.address);
	char source[RF_CALLS_SOURCE_SIZE];

	piece->tag = rf_claims_bucket(claims, of.source[0], of.source[1]);
	piece->most = RF_WIRE_RECORD_MAX;
	rf_calls_format_source(&of, limit, source);
	rf_wire_record_key(piece->key, piece->tag, limit->name, limit->definition, source);
}

static void name_key(struct piece *piece)
{
	piece->tag = RF_TAG_OF_ALL;
	switch (piece->kind) {
	case PIECE_HOSTS:
		piece->tag = piece->index;
		piece->most = RF_WIRE_HOSTS_MAX;
		rf_wire_hosts_key(piece->key, piece->index);
		break;
	case PIECE_HOST:
		piece->most = RF_NEWS_HOST_MAX;
		rf_wire_host_key(piece->key, piece->index);
		break;
	case PIECE_TOP:
		piece->most = RF_NEWS_TOP_MAX;
		rf_wire_top_key(piece->key, piece->index);
		break;
	case PIECE_RECORD:
		name_record(piece);
		break;
	case PIECE_GONE:
		piece->tag = piece->index;
		break;
	case PIECE_BAN:
		break;
	}
}

static void begin_piece(struct inquiry *inquiry, enum piece_kind kind, uint32_t index)
{
	struct piece *piece = &inquiry->piece[inquiry->pieces];

	if (inquiry->pieces == inquiry->room)
		return;
	*piece = (struct piece){.inquiry = inquiry, .kind = kind, .index = index};
	name_key(piece);
	inquiry->pieces++;
	piece->waits = !send_piece(piece);
	inquiry->left++;
}

static void begin_in_each_bucket(struct inquiry *inquiry, enum piece_kind kind)
{
	for (uint32_t i = 0; i < RF_BUCKETS; i++)
		begin_piece(inquiry, kind, i);
}

/* Of all slots that a host may have; those of no member are asked for in vain. */
static void begin_of_each_host(struct inquiry *inquiry, enum piece_kind kind)
{
	for (uint32_t slot = 0; slot < RF_FLEET_HOSTS_MAX; slot++)
		for (int i = 0; i < RF_BUCKETS; i++)
			if (rf_ledger_slots_has(&inquiry->view->claims->member[i].members, slot)) {
				begin_piece(inquiry, kind, slot);
				break;
			}
}

/* ---- what was answered ---- */

static const struct piece *piece_of(const struct inquiry *inquiry, enum piece_kind kind,
				    uint32_t index)
{
	for (uint32_t i = 0; i < inquiry->pieces; i++)
		if (inquiry->piece[i].kind == kind && inquiry->piece[i].index == index)
			return inquiry->piece[i].bytes ? &inquiry->piece[i] : NULL;
	return NULL;
}

/* What a host says of itself; NULL: nothing that makes sense. The caller frees it. */
static json_t *host_of(const struct inquiry *inquiry, uint32_t slot)
{
	const struct piece *piece = piece_of(inquiry, PIECE_HOST, slot);

	return piece ? rf_news_read(piece->bytes, piece->size) : NULL;
}

/* Its name; "" if it has not sent any. */
static void name_of(const json_t *host, char name[RF_HOST_NAME_SIZE])
{
	const char *said = json_string_value(json_object_get(host, "name"));

	rf_news_clean_name(said ? said : "", name);
}

static json_t *no_answer(const struct inquiry *inquiry)
{
	const char *trouble = rf_line_trouble(inquiry->view->news);

	return rf_status_error(*trouble ? trouble : "the engine did not answer in time");
}

/* ---- hosts ---- */

#define DIFFERS_MOST 1000 /* of all hosts together: an answer has an end */

/* A limit that is not the same there. */
struct difference {
	const char *name, *how;
};

static const struct rf_field difference_fields[] = {
	RF_FIELD("name", struct difference, name, "the limit"),
	RF_FIELD("kind", struct difference, how, "other, missing here or missing there"),
	{},
};

/* A member, over all buckets: the longest that one of them has not heard it. */
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

/* False: no bucket has answered. */
static bool look_at_hosts(const struct inquiry *inquiry, struct told_host *seen,
			  uint64_t *window_ms)
{
	struct rf_ledger *ledger = malloc(sizeof(*ledger));
	bool any = false;

	*window_ms = 0;
	for (uint32_t i = 0; i < RF_BUCKETS && ledger; i++) {
		const struct piece *piece = piece_of(inquiry, PIECE_HOSTS, i);

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
		const char *theirs = rf_news_definition(host, limit->name);

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

static json_t *host_json(const struct inquiry *inquiry, uint32_t slot, struct told_host *told,
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

static json_t *compose_hosts(const struct inquiry *inquiry)
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

static bool read_nothing(struct question *question, const char *words, char why[WHY_SIZE])
{
	(void)question, (void)why;
	return !*words;
}

static void send_hosts(struct inquiry *inquiry)
{
	begin_in_each_bucket(inquiry, PIECE_HOSTS);
	begin_of_each_host(inquiry, PIECE_HOST);
}

/* ---- gone ---- */

static bool read_slot(struct question *question, const char *words, char why[WHY_SIZE])
{
	(void)why;
	return sscanf(words, "%4u", &question->number) == 1;
}

static void send_all_gone(struct inquiry *inquiry)
{
	begin_in_each_bucket(inquiry, PIECE_GONE);
}

/* In all buckets, or refused for as long as the last of them takes. */
static json_t *compose_gone(const struct inquiry *inquiry)
{
	uint64_t left_ms = 0;
	uint32_t done = 0, refused = 0;

	for (uint32_t i = 0; i < RF_BUCKETS; i++) {
		const struct piece *piece = piece_of(inquiry, PIECE_GONE, i);
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

/* MS PREFIX */
static bool read_ban(struct question *question, const char *words, char why[WHY_SIZE])
{
	char *prefix;
	const unsigned long time_ms = strtoul(words, &prefix, 10);
	struct rf_told_ban ban = {.left_ms = time_ms};
	struct rf_error ignored = {};

	if (*prefix == ' ' && time_ms <= RF_FLEET_BAN_MOST_MS &&
	    !rf_parse_prefix(prefix + 1, &ban.prefix, &ignored) && !rf_fleet_bans_judge(&ban)) {
		question->number = time_ms;
		question->prefix = ban.prefix;
		return true;
	}
	snprintf(why, WHY_SIZE, "the fleet takes no such ban");
	return false;
}

static void send_the_ban(struct inquiry *inquiry)
{
	begin_piece(inquiry, PIECE_BAN, 0);
}

static json_t *compose_ban(const struct inquiry *inquiry)
{
	const struct piece *piece = piece_of(inquiry, PIECE_BAN, 0);
	const char *error = rf_fleet_bans_told(inquiry->view->bans, piece ? piece->bytes : NULL,
					       piece ? piece->size : 0, !inquiry->question.number);

	return error ? rf_status_error(error) : json_object();
}

static const struct question_kind ban_kind = {"ban ", read_ban, send_the_ban, compose_ban};

/* ---- top ---- */

static bool read_top(struct question *question, const char *words, char why[WHY_SIZE])
{
	(void)why;
	if (sscanf(words, "%3u %15s", &question->number, question->by) != 2)
		return false;
	if (question->number > TOP_MOST)
		question->number = TOP_MOST;
	return true;
}

static void send_top(struct inquiry *inquiry)
{
	begin_of_each_host(inquiry, PIECE_TOP);
}

static json_t *compose_top(const struct inquiry *inquiry)
{
	struct rf_news_top top = {};

	for (uint32_t i = 0; i < inquiry->pieces; i++)
		rf_news_top_add(&top, inquiry->piece[i].bytes, inquiry->piece[i].size);
	return rf_news_top_json(&top, inquiry->question.by, inquiry->question.number);
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

static bool read_kept(const struct inquiry *inquiry, int limit, struct kept *kept)
{
	const struct piece *record = piece_of(inquiry, PIECE_RECORD, limit);
	const struct piece *hosts = record ? piece_of(inquiry, PIECE_HOSTS, record->tag) : NULL;

	return hosts && rf_wire_unpack_hosts(&kept->ledger, hosts->bytes, hosts->size) &&
	       rf_wire_unpack_record(&kept->source, record->bytes, record->size);
}

static bool is_void(const struct kept *kept, const struct rf_ledger_claim *claim, uint64_t life_ms)
{
	const struct rf_ledger_host *host = &kept->ledger.host[claim->slot % RF_LEDGER_SLOTS];

	return !host->nonce || host->generation != claim->generation ||
	       kept->ledger.newest - host->heard >= life_ms;
}

static void add_claim(const struct inquiry *inquiry, const struct rf_ledger_claim *claim,
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
static bool look_at_ledger(const struct inquiry *inquiry, int number, struct kept *kept)
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

/* ---- source: the answer ---- */

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

static json_t *limit_json(const struct inquiry *inquiry, int number)
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

static json_t *compose_source(const struct inquiry *inquiry)
{
	json_t *limits = json_array();

	for (int i = 0; i < RF_FLEET_LIMITS_MAX; i++)
		if (inquiry->view->claims->limit[i].in_force)
			json_array_append_new(limits, limit_json(inquiry, i));
	return json_pack("{s:o}", "limits", limits);
}

static bool read_source(struct question *question, const char *words, char why[WHY_SIZE])
{
	struct rf_error error = {};

	if (rf_parse_address(words, &question->address, &error))
		snprintf(why, WHY_SIZE, "%.*s", WHY_SIZE - 1, error.text);
	return !*why;
}

static void send_source(struct inquiry *inquiry)
{
	send_hosts(inquiry);
	for (uint32_t i = 0; i < RF_FLEET_LIMITS_MAX; i++)
		if (inquiry->view->claims->limit[i].in_force)
			begin_piece(inquiry, PIECE_RECORD, i);
}

/* ---- questions ---- */

static const struct question_kind kinds[] = {
	{"hosts", read_nothing, send_hosts, compose_hosts},
	{"source ", read_source, send_source, compose_source},
	{"top ", read_top, send_top, compose_top},
	{"gone ", read_slot, send_all_gone, compose_gone},
};

/* False: it is another question, or an invalid one; then `why` has the error. */
static bool read_question(struct question *question, const char *text, char why[WHY_SIZE])
{
	*why = '\0';
	question->kind = &ban_kind;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strncmp(text, kinds[i].begins, strlen(kinds[i].begins)) == 0)
			question->kind = &kinds[i];
	if (strncmp(text, question->kind->begins, strlen(question->kind->begins)) != 0)
		return false;
	return question->kind->read(question, text + strlen(question->kind->begins), why);
}

/* Can one of the requests be sent? */
static bool is_ready(const struct rf_line *line, const struct question *question)
{
	const uint64_t now = rf_time_awake();

	if (question->kind == &ban_kind)
		return rf_line_is_ready(line, RF_TAG_OF_ALL, now);
	for (uint32_t i = 0; i < RF_TAGS; i++)
		if (rf_line_is_ready(line, i, now))
			return true;
	return false;
}

static char *refuse_for_now(const struct rf_line *line, const struct question *question)
{
	const char *trouble = rf_line_trouble(line);
	char text[RF_ENGINE_TEXT_SIZE + 32];

	snprintf(text, sizeof(text), "%s%s",
		 question->kind == &ban_kind ? "it does not hear the engine: " : "",
		 *trouble ? trouble : "the engine is not connected yet");
	return rf_status_text(rf_status_error(text));
}

static struct inquiry *free_one(void)
{
	for (int i = 0; i < RF_DESK_CLIENTS; i++)
		if (!inquiries[i].ticket)
			return &inquiries[i];
	return NULL;
}

char *rf_inquire(struct rf_desk *desk, uint64_t ticket, const char *text,
		 const struct rf_status_view *view, bool *later)
{
	const uint32_t room = 2 * RF_FLEET_HOSTS_MAX + RF_BUCKETS + RF_FLEET_LIMITS_MAX;
	struct inquiry *inquiry = free_one();
	struct question question = {};
	char why[WHY_SIZE];

	if (!read_question(&question, text, why))
		return *why ? rf_status_text(rf_status_error(why)) : NULL;
	if (!inquiry)
		return rf_status_text(rf_status_error("too many questions at once; ask again"));
	if (!is_ready(line_of(&question, view), &question))
		return refuse_for_now(line_of(&question, view), &question);
	*inquiry = (struct inquiry){
		.desk = desk,
		.ticket = ticket,
		.view = view,
		.question = question,
		.piece = calloc(room, sizeof(*inquiry->piece)),
		.left = 1, /* this function */
	};
	inquiry->room = inquiry->piece ? room : 0;
	inquiry->until_ns = rf_time_awake() + PATIENCE_NS;
	question.kind->send(inquiry);
	*later = true;
	answered(inquiry);
	return NULL;
}

/* ---- sending again ---- */

static void send_again(struct inquiry *inquiry, uint64_t now)
{
	const uint64_t ticket = inquiry->ticket;

	for (uint32_t i = 0; i < inquiry->pieces; i++) {
		struct piece *piece = &inquiry->piece[i];

		if (!piece->waits)
			continue;
		if (now >= inquiry->until_ns) {
			piece->waits = false;
			answered(inquiry);
		} else if (rf_line_is_ready(line_of(&inquiry->question, inquiry->view), piece->tag,
					    now)) {
			piece->waits = !send_piece(piece);
		}
		if (inquiry->ticket != ticket)
			return;
	}
}

void rf_inquiries_turn(uint64_t now)
{
	for (int i = 0; i < RF_DESK_CLIENTS; i++)
		if (inquiries[i].ticket)
			send_again(&inquiries[i], now);
}
