// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/bans.h"
#include "base/json.h"
#include "base/say.h"
#include "base/time.h"
#include "base/units.h"
#include "schema/record.h"

#define LOOK_NS (5 * RF_NS_PER_S)     /* after a ban was found missing */
#define SWEEP_NS (3600 * RF_NS_PER_S) /* beyond the longest ban */

/* ---- own bans ---- */

static bool is_own(const struct rf_fleet_bans *bans, const struct rf_told_ban *ban)
{
	const struct rf_own_bans *own = bans->kept.own;

	for (int i = 0; i < RF_OWN_NUMBERS; i++)
		if (own[i].slot == ban->slot && own[i].newest >= ban->stamp)
			return true;
	return ban->slot == bans->slot;
}

/* ---- accepted bans ---- */

static struct rf_taken_ban *taken_find(struct rf_fleet_bans *bans, const struct rf_told_ban *ban)
{
	for (uint32_t i = 0; i < bans->count; i++)
		if (bans->taken[i].slot == ban->slot &&
		    !rf_prefix_compare(&bans->taken[i].prefix, &ban->prefix))
			return &bans->taken[i];
	return NULL;
}

static bool is_full(const struct rf_fleet_bans *bans, uint32_t slot)
{
	uint32_t of_slot = 0;

	for (uint32_t i = 0; i < bans->count; i++)
		of_slot += bans->taken[i].slot == slot && bans->taken[i].until_ns;
	return bans->count == RF_FLEET_BANS_MAX || of_slot >= RF_FLEET_BANS_OF_HOST;
}

/* Does it cover a node of the fleet server? */
static bool has_engine(const struct rf_fleet_bans *bans, const struct rf_prefix *prefix)
{
	const struct rf_node *node = bans->line->cluster->node;
	struct rf_prefix engine;
	struct rf_error ignored;

	for (uint32_t i = 0; i < RF_NODES_MOST; i++)
		if (node[i].id && !rf_parse_prefix(node[i].server.address, &engine, &ignored) &&
		    rf_prefix_contains(prefix, &engine))
			return true;
	return false;
}

static void take_ban(struct rf_fleet_bans *bans, const struct rf_told_ban *ban, uint64_t now)
{
	struct rf_taken_ban *taken = taken_find(bans, ban);
	const int fault = has_engine(bans, &ban->prefix) ? (int)RF_BAN_OF_ENGINE
							 : (int)rf_fleet_bans_judge(ban);

	if ((!ban->left_ms && !taken) || is_own(bans, ban))
		return;
	if (fault || (!taken && is_full(bans, ban->slot))) {
		bans->refused[fault ? fault : (int)RF_BAN_TOO_MANY]++;
		return;
	}
	if (!taken) {
		taken = &bans->taken[bans->count++];
		*taken = (struct rf_taken_ban){.prefix = ban->prefix, .slot = ban->slot};
	}
	taken->until_ns = ban->left_ms ? now + ban->left_ms * RF_NS_PER_MS : 0;
	bans->is_dirty = true;
}

static void end_ban(struct rf_fleet_bans *bans, struct rf_taken_ban *ban)
{
	ban->until_ns = 0;
	bans->is_dirty = true;
}

/* The fence expires them itself; this also removes them from the list. */
static void end_old(struct rf_fleet_bans *bans, uint64_t now)
{
	for (uint32_t i = 0; i < bans->count; i++)
		if (bans->taken[i].until_ns && bans->taken[i].until_ns <= now)
			end_ban(bans, &bans->taken[i]);
}

/* A node of the fleet server can become known after a ban that covers it was accepted. */
static void end_those_of_nodes(struct rf_fleet_bans *bans)
{
	const uint32_t nodes = bans->line->cluster->ids;

	if (bans->nodes == nodes)
		return;
	bans->nodes = nodes;
	for (uint32_t i = 0; i < bans->count; i++)
		if (bans->taken[i].until_ns && has_engine(bans, &bans->taken[i].prefix)) {
			bans->refused[RF_BAN_OF_ENGINE]++;
			end_ban(bans, &bans->taken[i]);
		}
}

static void forget_ended(struct rf_fleet_bans *bans, bool are_written)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < bans->count; i++) {
		if (are_written && bans->taken[i].is_told && !bans->taken[i].until_ns)
			continue;
		bans->taken[kept] = bans->taken[i];
		bans->taken[kept++].is_told = false;
	}
	bans->count = kept;
}

/* ---- the writer ---- */

/* Does not return. Killed together with the agent. */
static void run_writer(const struct rf_fleet_bans *bans, int fd)
{
	struct rf_error error = {}, left_out = {};
	const char *said;
	sigset_t none;
	int err;

	sigemptyset(&none);
	signal(SIGTERM, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	err = rf_fleet_bans_write(bans, &left_out, &error);
	said = err ? error.text : left_out.text;
	if (*said && write(fd, said, strlen(said)) < 0)
		_exit(2);
	_exit(err ? 1 : 0);
}

static void log_taking(struct rf_fleet_bans *bans, const char *what, const char *error)
{
	char before[RF_NAME_SIZE + 64], recovered[RF_NAME_SIZE + 64];

	snprintf(before, sizeof(before), "fence '%s': cannot take %s: ", bans->settings->name,
		 what);
	snprintf(recovered, sizeof(recovered), "fence '%s': takes all bans again",
		 bans->settings->name);
	rf_say_once(&bans->logged, before, error, recovered);
}

/* A removed fence gets them once it is attached again. */
static void reap_writer(struct rf_fleet_bans *bans)
{
	char said[sizeof(bans->trouble)] = "";
	ssize_t length;
	int status = 0;

	if (bans->writer < 0)
		return;
	length = read(bans->said.fd, said, sizeof(said) - 1);
	waitpid(bans->writer, &status, 0);
	rf_loop_unwatch(bans->loop, &bans->said);
	close(bans->said.fd);
	bans->writer = bans->said.fd = -1;
	if (length <= 0 && status)
		snprintf(said, sizeof(said), "the process that writes them was killed");
	log_taking(bans, status ? "bans" : "a ban", said);
	memcpy(bans->trouble, said, sizeof(said));
	bans->is_dirty |= status != 0;
	if (status && bans->sweeps)
		bans->sweep_at_ns = 0;
	bans->write_at_ns = status ? rf_time_awake() + RF_BANS_ASK_NS : 0;
	forget_ended(bans, !status);
}

/* It wrote an error, or exited. */
static void take_said(void *context, uint32_t events)
{
	(void)events;
	reap_writer(context);
}

static void start_writer(struct rf_fleet_bans *bans)
{
	int ends[2];

	bans->write_at_ns = rf_time_awake() + RF_BANS_ASK_NS; /* if it fails */
	bans->sweeps = rf_time_awake() >= bans->sweep_at_ns;
	if (pipe2(ends, O_CLOEXEC))
		return;
	bans->writer = fork();
	if (!bans->writer) {
		close(ends[0]);
		run_writer(bans, ends[1]);
	}
	close(ends[1]);
	bans->said.fd = ends[0];
	if (bans->writer < 0) {
		close(ends[0]);
		return;
	}
	bans->is_dirty = false;
	if (bans->sweeps)
		bans->sweep_at_ns = rf_time_awake() + SWEEP_NS;
	for (uint32_t i = 0; i < bans->count; i++)
		bans->taken[i].is_told = !bans->taken[i].until_ns;
	if (rf_loop_watch(bans->loop, &bans->said, EPOLLIN))
		reap_writer(bans); /* waits for it */
}

/* ---- requests ---- */

/* The latest stamp of a server went back: it lost its data, and accepted bans expire regularly. */
static void take_told(void *data, const redisReply *reply)
{
	const uint64_t now = rf_time_awake();
	struct rf_fleet_bans *bans = data;
	struct rf_told_bans told;
	struct rf_told_ban ban;
	bool is_news = false;

	bans->is_asking = false;
	if (!reply || reply->type != REDIS_REPLY_STRING ||
	    !rf_fleet_bans_read(&told, reply->str, reply->len))
		return;
	if (told.newest < bans->newest || told.newest < rf_kept_bans_newest(&bans->kept)) {
		bans->newest = 0;
		bans->kept = (struct rf_kept_bans){};
		bans->ask_at_ns = now;
		return;
	}
	while (rf_fleet_bans_next(&told, &ban)) {
		if (ban.stamp > bans->kept.flushed)
			take_ban(bans, &ban, now);
		if (ban.slot == bans->slot)
			is_news |= rf_kept_bans_note(&bans->kept, ban.slot, ban.stamp);
	}
	if (is_news)
		rf_kept_bans_write(&bans->kept, bans->settings->name);
	bans->refused[RF_BAN_IS_GARBAGE] += told.at != told.end;
	bans->newest = told.newest;
}

static void ask_for_bans(struct rf_fleet_bans *bans)
{
	uint8_t from[RF_BANS_FROM_SIZE];
	const char *const words[] = {"FCALL", "rf_bans", "1", RF_BANS_KEY, (const char *)from};
	const size_t lengths[] = {5, 7, 1, strlen(RF_BANS_KEY), sizeof(from)};

	rf_fleet_bans_pack_from(from, bans->newest);
	bans->is_asking = rf_line_call(bans->line, RF_TAG_OF_ALL, ARRAY_SIZE(words), words, lengths,
				       take_told, bans);
}

/* ---- reporting ---- */

/* sparse: success needs no text */
static const char *const answers[RF_BAN_ANSWERS] = {
	[RF_BAN_HOST_IS_FULL] =
		"this host has as many bans in the fleet as it may, 128; wait until "
		"one ends, or end one by 'deny del PREFIX fleet'",
	[RF_BAN_FLEET_IS_FULL] = "the fleet has as many bans as it may, 1024; wait until some end",
	[RF_BAN_IS_NOT_THERE] = "this host reported no such ban to the fleet",
};

bool rf_fleet_bans_tell(const struct rf_fleet_bans *bans, uint32_t slot,
			const struct rf_prefix *prefix, uint32_t time_ms, rf_link_answer answer,
			void *data)
{
	char slot_key[32];
	uint8_t call[RF_BAN_CALL_MAX];
	const char *const words[] = {"FCALL",  "rf_ban",    "2",
				     slot_key, RF_BANS_KEY, (const char *)call};
	const size_t lengths[] = {5,
				  6,
				  1,
				  snprintf(slot_key, sizeof(slot_key), RF_BANS_SLOT_KEY, slot),
				  strlen(RF_BANS_KEY),
				  rf_fleet_bans_pack_call(call, slot, time_ms, prefix)};

	return rf_line_call(bans->line, RF_TAG_OF_ALL, ARRAY_SIZE(words), words, lengths, answer,
			    data);
}

const char *rf_fleet_bans_told(struct rf_fleet_bans *bans, const void *bytes, size_t size,
			       bool is_end)
{
	const uint8_t answer = size == 1 ? *(const uint8_t *)bytes : RF_BAN_ANSWERS;

	bans->ask_at_ns = 0; /* to read and store its stamp */
	bans->told += answer == RF_BAN_DONE && !is_end;
	if (answer == RF_BAN_DONE)
		return NULL;
	if (answer < RF_BAN_ANSWERS)
		return answers[answer];
	return *rf_line_trouble(bans->line) ? rf_line_trouble(bans->line)
					    : "the fleet server did not reply in time";
}

/* Forgets the accepted bans and ignores them from now on. False: a writer is running. */
static bool flush_bans(struct rf_fleet_bans *bans)
{
	if (bans->writer >= 0)
		return false;
	bans->kept.flushed = bans->newest;
	bans->count = 0;
	bans->is_dirty = false;
	rf_kept_bans_write(&bans->kept, bans->settings->name);
	return true;
}

/* ---- time ---- */

static bool may_write(const struct rf_fleet_bans *bans)
{
	return bans->is_dirty && bans->config_id && bans->writer < 0;
}

/* The fence was replaced or emptied, or contains expired bans. */
static void look_at_fence(struct rf_fleet_bans *bans, const struct rf_fence *fence, uint64_t now)
{
	const uint32_t config_id = fence ? fence->map_id[RF_MAP_CONFIG] : 0;

	if (config_id != bans->config_id)
		bans->sweep_at_ns = 0;
	bans->config_id = config_id;
	if (now >= bans->sweep_at_ns)
		bans->is_dirty = true;
}

/* A ban that cannot be enforced must not cause a write twice per second. */
static void look_for_bans(struct rf_fleet_bans *bans, const struct rf_fence *fence, uint64_t now)
{
	if (!fence || bans->is_dirty || bans->writer >= 0 || now < bans->look_at_ns ||
	    rf_fleet_bans_are_there(bans, fence))
		return;
	bans->is_dirty = true;
	bans->look_at_ns = now + LOOK_NS;
}

void rf_fleet_bans_turn(struct rf_fleet_bans *bans, const struct rf_fence *fence, uint32_t slot,
			uint64_t now)
{
	if (slot != RF_BANS_NO_SLOT)
		bans->slot = slot;
	if (!bans->settings->takes_bans)
		return;
	look_at_fence(bans, fence, now);
	if (now >= bans->ask_at_ns) {
		bans->ask_at_ns = now + RF_BANS_ASK_NS;
		end_old(bans, now);
		end_those_of_nodes(bans);
		look_for_bans(bans, fence, now);
		if (!bans->is_asking && slot != RF_BANS_NO_SLOT)
			ask_for_bans(bans);
	}
	if (may_write(bans) && now >= bans->write_at_ns)
		start_writer(bans);
}

uint64_t rf_fleet_bans_due_ns(const struct rf_fleet_bans *bans)
{
	if (!bans->settings->takes_bans)
		return UINT64_MAX;
	return may_write(bans) && bans->write_at_ns < bans->ask_at_ns ? bans->write_at_ns
								      : bans->ask_at_ns;
}

/* ---- start and stop ---- */

void rf_fleet_bans_start(struct rf_fleet_bans *bans, const struct rf_agent_settings *settings,
			 struct rf_line *line, struct rf_loop *loop)
{
	*bans = (struct rf_fleet_bans){
		.settings = settings,
		.line = line,
		.loop = loop,
		.writer = -1,
		.said = {.ready = take_said, .context = bans, .fd = -1},
	};
	rf_kept_bans_read(&bans->kept, settings->name);
}

/* If a writer is interrupted, the next change of the lists repairs them. */
void rf_fleet_bans_end(struct rf_fleet_bans *bans)
{
	if (bans->settings && bans->settings->takes_bans)
		rf_kept_bans_store(&bans->kept, bans->settings->name);
	if (bans->writer < 0)
		return;
	kill(bans->writer, SIGTERM);
	reap_writer(bans);
}

/* ---- control socket ---- */

static json_t *make_taken(const void *of)
{
	const struct rf_fleet_bans *bans = of;
	json_int_t count = 0;

	for (uint32_t i = 0; i < bans->count; i++)
		count += bans->taken[i].until_ns != 0;
	return json_integer(count);
}

/* Without accepting bans the server is called rarely, so the error can be outdated. */
static json_t *make_engine_trouble(const void *of)
{
	const struct rf_fleet_bans *bans = of;
	const char *trouble = bans->settings->takes_bans ? rf_line_trouble(bans->line) : "";

	return *trouble ? rf_json_text(trouble) : json_null();
}

#define REFUSED(key, reason, meaning) RF_FIELD(key, struct rf_fleet_bans, refused[reason], meaning)
static const struct rf_field refused_fields[] = {
	REFUSED("too_long", RF_BAN_IS_LONG, "longer than a ban can last"),
	REFUSED("too_wide", RF_BAN_IS_WIDE, "prefixes that are too short"),
	REFUSED("malformed", RF_BAN_IS_GARBAGE, "malformed"),
	REFUSED("fleet_server", RF_BAN_OF_ENGINE, "with the address of the fleet server"),
	REFUSED("too_many", RF_BAN_TOO_MANY, "more than the host accepts"),
	{},
};

static const struct rf_field settings_fields[] = {
	RF_FIELD("accepts", struct rf_agent_settings, takes_bans,
		 "bans of other hosts are accepted"),
	{},
};

const struct rf_field rf_fleet_bans_fields[] = {
	RF_FIELDS_VIA(struct rf_fleet_bans, settings, settings_fields),
	RF_FIELD_MADE("accepted", RF_FIELD_U64, make_taken, "bans of other hosts, enforced here"),
	RF_FIELD("reported", struct rf_fleet_bans, told,
		 "bans reported to them since the agent started"),
	RF_FIELD_GROUP("refused", refused_fields, "bans of other hosts that are not enforced"),
	RF_FIELD("last_error", struct rf_fleet_bans, trouble, "why bans are not enforced here",
		 .if_any = true, .or_null = true),
	RF_FIELD_MADE("server_error", RF_FIELD_TEXT, make_engine_trouble,
		      "why bans are not received", .or_null = true),
	{},
};

/* [PREFIX, SLOT] of each. */
static json_t *make_list(const void *of)
{
	const struct rf_fleet_bans *bans = of;
	json_t *list = json_array();

	for (uint32_t i = 0; i < bans->count; i++) {
		char text[RF_PREFIX_TEXT_SIZE];

		if (!bans->taken[i].until_ns)
			continue;
		rf_format_prefix(&bans->taken[i].prefix, text);
		json_array_append_new(list,
				      json_pack("[s, I]", text, (json_int_t)bans->taken[i].slot));
	}
	return list;
}

static const struct rf_field list_fields[] = {
	RF_FIELDS_VIA(struct rf_fleet_bans, settings, settings_fields),
	RF_FIELD_MADE("bans", RF_FIELD_LIST, make_list, "PREFIX and SLOT of each"),
	{},
};

json_t *rf_fleet_bans_answer(struct rf_fleet_bans *bans, const char *question)
{
	if (strcmp(question, "bans") == 0)
		return rf_record_json(list_fields, bans);
	if (strcmp(question, "flush") == 0)
		return json_pack("{s:b}", "busy", !flush_bans(bans));
	return NULL;
}
