// SPDX-License-Identifier: GPL-2.0
/*
 * Replies of a fleet server to an agent; the first byte selects the calls: queries (hosts, records,
 * news of hosts), bans, or heartbeats and reports. For any reply, each call yields one result, in
 * JSON; accepted bans are sound and bounded; claims stay within their limits. Heartbeats and
 * reports go through a ledger, and bytes of its replies are changed.
 */
#include <jansson.h>
#include <sys/random.h>

#include "agent/bans.h"
#include "agent/inquiry.h"
#include "base/say.h"
#include "base/time.h"
#include "replies.h"
#include "ringfence/share.h"
#include "tests/fleet/model/sums.h"
#include "tests/fleet/model/wire.h"

#define MS 1000000ULL
#define SENT_MOST 512
#define SOURCES 4
#define SLOT 5

static struct input input;
static uint64_t now;

/* The linker puts it in the place of the clock. */
uint64_t __wrap_rf_time_awake(void);
uint64_t __wrap_rf_time_awake(void)
{
	return now;
}

/* ---- the environment of the agent's parts, without network, fence and files ---- */

/* A pending call; `truth`: a ledger's reply to it. */
static struct {
	rf_link_answer answer;
	void *data;
	redisReply *truth;
} sent[SENT_MOST];
static uint32_t sent_count;
static bool is_cut;

static redisReply *ask_ledger(int count, const char *const *words, const size_t *lengths);

bool rf_line_call(struct rf_line *line, uint32_t tag, int count, const char *const *words,
		  const size_t *lengths, rf_link_answer answer, void *data)
{
	(void)line;
	REQUIRE(tag < RF_TAGS);
	if (is_cut || sent_count == SENT_MOST)
		return false;
	sent[sent_count].answer = answer;
	sent[sent_count].data = data;
	sent[sent_count++].truth = ask_ledger(count, words, lengths);
	return true;
}

bool rf_line_is_ready(const struct rf_line *line, uint32_t tag, uint64_t at)
{
	(void)line, (void)tag, (void)at;
	return !is_cut;
}

const char *rf_line_trouble(const struct rf_line *line)
{
	(void)line;
	return "";
}

const struct rf_link *rf_line_worst(const struct rf_line *line)
{
	return &line->link[0];
}

void rf_site_look_whether_alone(struct rf_site *site)
{
	(void)site;
}

/* The same input has the same nonces. */
ssize_t getrandom(void *bytes, size_t size, unsigned int flags)
{
	(void)flags;
	memset(bytes, 1, size);
	return size;
}

void rf_warn(const char *format, ...)
{
	(void)format;
}

void rf_say_once(struct rf_said *said, const char *before, const char *error, const char *recovered)
{
	(void)before, (void)recovered;
	snprintf(said->text, sizeof(said->text), "%s", error);
}

int rf_fleet_bans_write(const struct rf_fleet_bans *bans, struct rf_error *left_out,
			struct rf_error *error)
{
	(void)bans, (void)left_out, (void)error;
	return 0;
}

bool rf_fleet_bans_are_there(struct rf_fleet_bans *bans, const struct rf_fence *fence)
{
	(void)bans, (void)fence;
	return true;
}

void rf_kept_bans_read(struct rf_kept_bans *kept, const char *fence)
{
	(void)fence;
	*kept = (struct rf_kept_bans){};
}

void rf_kept_bans_write(const struct rf_kept_bans *kept, const char *fence)
{
	(void)kept, (void)fence;
}

void rf_kept_bans_store(const struct rf_kept_bans *kept, const char *fence)
{
	(void)kept, (void)fence;
}

int rf_site_windows(struct rf_site *site, struct rf_fleet_record *record, uint32_t count)
{
	(void)site, (void)record, (void)count;
	return -1;
}

static uint32_t answers; /* to the user who sends the query */

void rf_desk_reply(struct rf_desk *desk, uint64_t ticket, const char *answer)
{
	json_t *json = json_loads(answer, 0, NULL);

	(void)desk, (void)ticket;
	REQUIRE(json_is_object(json));
	json_decref(json);
	answers++;
}

/* ---- replies ---- */

/* The ledger's reply with one byte of it changed. */
static void change(redisReply *truth)
{
	const size_t at = input_byte(&input);

	if (truth->elements)
		change(truth->element[at % truth->elements]);
	else if (truth->len)
		truth->str[at % truth->len] ^= input_byte(&input);
}

static void reply_to(uint32_t i)
{
	const uint32_t how = input_is_over(&input) ? 0 : input_byte(&input);
	redisReply *reply = sent[i].truth;

	sent[i].truth = NULL;
	if (reply && how & 3) {
		if ((how & 3) == 2)
			change(reply);
	} else {
		if (reply)
			freeReplyObject(reply);
		reply = how & 4 || input_is_over(&input) ? NULL : input_reply(&input, 0);
	}
	sent[i].answer(sent[i].data, reply);
	if (reply)
		freeReplyObject(reply);
}

/* Also to messages sent concurrently. */
static void reply_to_all(void)
{
	for (uint32_t i = 0; i < sent_count; i++)
		reply_to(i);
	sent_count = 0;
}

/* ---- claims, and the ledger that they are in ---- */

static struct rf_claims claims;
static struct rf_ledger ledger[RF_BUCKETS];
static struct rf_ledger_source record;
static struct rf_sum sum;
static struct rf_calls calls;
static const struct rf_agent_settings settings = {.grace_ns = 2000 * MS};
static struct rf_line beats, reports;
static bool is_settling;

static redisReply *reply_of(const void *bytes, size_t size)
{
	redisReply *reply = calloc(1, sizeof(*reply));

	reply->type = REDIS_REPLY_STRING;
	reply->len = size;
	reply->str = malloc(size + 1);
	memcpy(reply->str, bytes, size);
	reply->str[size] = '\0';
	return reply;
}

static void enter(struct rf_ledger_call *call)
{
	static uint64_t stamp;

	call->now = now / MS;
	call->run = 1;
	call->stamp = ++stamp;
}

/* A ledger for each bucket, which keys name: rf:{BUCKET}:… */
static struct rf_ledger *ledger_of(const char *key)
{
	return &ledger[strtoul(strchr(key, '{') + 1, NULL, 10) % RF_BUCKETS];
}

static redisReply *ask_for_beat(const char *key, const void *bytes, size_t size)
{
	uint8_t heard[RF_WIRE_HEARD_MAX];
	struct rf_ledger_call call;
	struct rf_ledger_beat beat;
	struct rf_ledger_heard says;

	REQUIRE(rf_wire_unpack_beat(&call, &beat, bytes, size));
	enter(&call);
	says = rf_ledger_beat(ledger_of(key), &call, &beat);
	return reply_of(heard, rf_wire_pack_heard(heard, &says));
}

static redisReply *ask_for_report(struct rf_ledger *of, const struct rf_ledger_call *call,
				  const void *bytes, size_t size)
{
	uint8_t answer[RF_WIRE_ANSWER_SIZE];
	struct rf_ledger_report report;
	struct rf_ledger_limit limit;
	struct rf_ledger_answer says;

	REQUIRE(rf_wire_unpack_report(&limit, &report, call, bytes, size));
	says = rf_ledger_report(of, &record, call, &limit, &report);
	rf_wire_pack_answer(answer, &says);
	return reply_of(answer, sizeof(answer));
}

static redisReply *ask_for_sum(struct rf_ledger *of, const struct rf_ledger_call *call,
			       const void *bytes, size_t size)
{
	uint8_t answer[RF_WIRE_SUMMED_SIZE];
	struct rf_sum_report report;
	struct rf_sum_answer says;

	REQUIRE(rf_wire_unpack_sum(&report, call, bytes, size));
	says = rf_sum_add(&sum, of, call, &report);
	rf_wire_pack_summed(answer, &says);
	return reply_of(answer, sizeof(answer));
}

typedef redisReply *(*ask_for_item)(struct rf_ledger *of, const struct rf_ledger_call *call,
				    const void *bytes, size_t size);

/* FCALL rf_report KEYS SLOT-KEY HOSTS-KEY RECORD-KEY… CALL REPORT…, or rf_sums in the same way */
static redisReply *ask_for_items(ask_for_item ask, int count, const char *const *words,
				 const size_t *lengths)
{
	redisReply *reply = calloc(1, sizeof(*reply));
	struct rf_ledger_call call;
	const int items = (count - 6) / 2;

	REQUIRE(rf_wire_unpack_call(&call, words[5 + items], lengths[5 + items]));
	enter(&call);
	reply->type = REDIS_REPLY_ARRAY;
	reply->elements = items;
	reply->element = calloc(items, sizeof(reply->element[0]));
	for (int i = 0; i < items; i++)
		reply->element[i] = ask(ledger_of(words[4]), &call, words[6 + items + i],
					lengths[6 + items + i]);
	return reply;
}

/* NULL: the reply comes only from the input. */
static redisReply *ask_ledger(int count, const char *const *words, const size_t *lengths)
{
	if (count < 6 || strcmp(words[0], "FCALL") != 0)
		return NULL;
	if (strcmp(words[1], "rf_beat") == 0)
		return ask_for_beat(words[4], words[5], lengths[5]);
	if (strcmp(words[1], "rf_report") == 0)
		return ask_for_items(ask_for_report, count, words, lengths);
	if (strcmp(words[1], "rf_sums") == 0)
		return ask_for_items(ask_for_sum, count, words, lengths);
	return NULL;
}

static uint32_t byte_of(uint64_t source)
{
	return source * 37 + now / MS;
}

static int read_windows(void *context, struct rf_fleet_record *windows, uint32_t count)
{
	(void)context;
	for (uint32_t i = 0; i < count; i++) {
		REQUIRE(!windows[i].writes || windows[i].share <= 1000);
		REQUIRE(!windows[i].bans || windows[i].limit_id == 2);
		windows[i].result = RF_SHARE_DONE;
		windows[i].used = byte_of(windows[i].source[0]) % 1000;
		windows[i].received = now / MS;
	}
	return 0;
}

static bool settle(void *context)
{
	(void)context;
	REQUIRE(!is_settling);
	is_settling = true;
	return true;
}

static bool send_report(void *context, struct rf_report_batch *batch)
{
	return rf_calls_report(context, batch);
}

static bool send_sums(void *context, struct rf_sum_batch *batch)
{
	return rf_calls_sum(context, batch);
}

static void start_claims(void)
{
	static const uint64_t key[2] = {1, 2};
	static const struct rf_fleet_limit limits[] = {
		{.name = "all",
		 .definition = 7,
		 .limit_id = 1,
		 .tag = 1,
		 .limit = 1000,
		 .first = 100,
		 .pool = 700,
		 .window_ns = 1000 * MS,
		 .per4 = 32,
		 .per6 = 64},
		{.name = "dns",
		 .definition = 8,
		 .limit_id = 2,
		 .tag = 2,
		 .limit = 500,
		 .first = 50,
		 .pool = 350,
		 .window_ns = 60000 * MS,
		 .per4 = 24,
		 .per6 = 48,
		 .bans = true},
	};

	now = 1000000 * MS;
	is_settling = is_cut = false;
	sent_count = answers = 0;
	REQUIRE(!rf_claims_make(&claims, SOURCES * 2, key, now));
	claims.ports =
		(struct rf_claims_ports){&calls, read_windows, settle, send_report, send_sums};
	claims.asks_each_s = 5000;
	rf_claims_take_limits(&claims, now, limits, 2);
	rf_calls_start(&calls, &settings, &claims, &beats, &reports);
	rf_claims_take_slot(&claims, SLOT, 99, settings.grace_ns);
	calls.hosts = RF_FLEET_HOSTS_MAX; /* it therefore retains that slot */
}

static void check_claims(void)
{
	struct rf_claimant *claimant = NULL;

	while ((claimant = rf_claim_table_next(&claims.table, claimant))) {
		const struct rf_fleet_limit *limit = &claims.limit[claimant->key.limit];

		REQUIRE(claimant->claim.share <= claimant->claim.has);
		REQUIRE(claimant->claim.has <= limit->limit);
	}
}

static void ask(uint32_t byte)
{
	const struct rf_fleet_ask says = {
		.source = {byte % SOURCES},
		.limit_id = 1 + (byte >> 4) % 2,
		.tag = 1 + (byte >> 4) % 2,
		.incarnation = 1 + byte % SOURCES,
		.used = byte_of(byte % SOURCES) % 1000,
		.passed = now / MS,
		.received = now / MS,
		.dropped = byte,
		.time_ns = now,
	};

	rf_claims_ask(&claims, now, &says);
}

/* ---- heartbeats and reports ---- */

static void beat(void)
{
	calls.beat_at_ns = now;
	rf_calls_turn(&calls, RF_FLEET_HOSTS_MAX, now);
}

static void fuzz_calls(void)
{
	memset(ledger, 0, sizeof(ledger));
	memset(&record, 0, sizeof(record));
	memset(&sum, 0, sizeof(sum));
	while (!input_is_over(&input)) {
		const uint32_t byte = input_byte(&input);

		now += (byte >> 2) * MS;
		if (byte & 1)
			ask(input_byte(&input));
		if (byte & 2)
			beat();
		rf_claims_turn(&claims, now);
		reply_to_all();
		if (is_settling) {
			is_settling = false;
			rf_claims_settled(&claims, byte & 4, now);
		}
		check_claims();
	}
	reply_to_all();
}

/* ---- questions ---- */

static struct rf_fleet_bans bans;

static void fuzz_questions(void)
{
	static const char *const questions[] = {"hosts", "source 192.0.2.1", "top 10 rate",
						"gone 7", "ban 1000 192.0.2.1"};
	static struct rf_line news;
	const struct rf_status_view view = {.settings = &settings,
					    .claims = &claims,
					    .calls = &calls,
					    .news = &news,
					    .bans = &bans};
	const uint32_t which = input_byte(&input);
	bool later = false;

	rf_fleet_bans_start(&bans, &settings, &news, NULL);
	for (uint32_t slot = 4; slot < 8; slot++)
		rf_ledger_slots_add(&claims.member[0].members, slot);
	REQUIRE(!rf_inquire(NULL, 1, questions[which % 5], &view, &later));
	REQUIRE(later);
	reply_to_all();
	is_cut = which & 4;
	now += 10 * MS;
	rf_inquiries_turn(now);
	reply_to_all();
	is_cut = false;
	now += 10000 * MS;
	rf_inquiries_turn(now);
	reply_to_all();
	REQUIRE(answers == 1);
}

/* ---- bans ---- */

static void check_bans(const struct rf_cluster *cluster)
{
	struct rf_prefix engine;
	struct rf_error error;

	REQUIRE(!rf_parse_prefix(cluster->node[0].server.address, &engine, &error));
	REQUIRE(bans.count <= RF_FLEET_BANS_MAX);
	for (uint32_t i = 0; i < bans.count; i++) {
		const struct rf_taken_ban *ban = &bans.taken[i];

		REQUIRE(ban->slot < RF_FLEET_HOSTS_MAX && ban->slot != SLOT);
		REQUIRE(ban->prefix.version == 4 || ban->prefix.version == 6);
		REQUIRE(ban->prefix.length >= RF_FLEET_BAN_LEAST4);
		REQUIRE(!rf_prefix_contains(&ban->prefix, &engine));
		REQUIRE(ban->until_ns <= now + RF_FLEET_BAN_MOST_MS * MS);
	}
}

static void fuzz_bans(void)
{
	static const struct rf_agent_settings takes = {.takes_bans = true};
	static struct rf_cluster cluster = {.node[0] = {.id = 1, .server.address = "203.0.113.1"}};
	static struct rf_line line = {.cluster = &cluster};
	static struct rf_loop loop = RF_LOOP_NONE;

	rf_fleet_bans_start(&bans, &takes, &line, &loop);
	while (!input_is_over(&input)) {
		now += RF_BANS_ASK_NS;
		rf_fleet_bans_turn(&bans, NULL, SLOT, now);
		reply_to_all();
		check_bans(&cluster);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const kinds[])(void) = {fuzz_questions, fuzz_bans, fuzz_calls};

	input = (struct input){data, data + size};
	start_claims();
	kinds[input_byte(&input) % 3]();
	rf_claims_free(&claims);
	return 0;
}
