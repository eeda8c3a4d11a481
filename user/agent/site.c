// SPDX-License-Identifier: GPL-2.0
#include "agent/site.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "base/time.h"
#include "ringfence/fleet.h"
#include "ringfence/share.h"

/* ---- writing shares and deadlines into the fence ---- */

static void log_write(struct rf_site *site, const char *error)
{
	char recovered[RF_NAME_SIZE + 64];

	snprintf(recovered, sizeof(recovered), "fence '%s': shares can be written again",
		 site->name);
	rf_say_once(&site->said_write, "", error, recovered);
}

int rf_site_windows(struct rf_site *site, struct rf_fleet_record *record, uint32_t count)
{
	struct rf_fleet_batch *batch = site->shares.batch;
	struct rf_error error = {};
	int err;

	if (!site->is_open)
		return -ENODEV;
	for (int i = 0; i < RF_BUCKETS; i++)
		batch->heard[i].ends = site->claims->ended >> i & 1;
	if (count)
		memcpy(batch->record, record, count * sizeof(*record));
	batch->count = count;
	err = rf_shares_call(&site->shares, &error);
	log_write(site, err ? error.text : "");
	if (err)
		return err;
	site->claims->ended =
		0; /* only after success: shares that were to expire must not survive a failure */
	if (count)
		memcpy(record, batch->record, count * sizeof(*record));
	return 0;
}

void rf_site_tell(struct rf_site *site)
{
	bool has_news = site->claims->ended;

	if (!site->is_open)
		return;
	for (int i = 0; i < RF_BUCKETS; i++) {
		const uint64_t until_ns = site->claims->member[i].deadline;

		if (until_ns == site->told_ns[i])
			continue;
		site->shares.batch->heard[i] = (struct rf_fleet_heard){
			.until_ns = until_ns,
			.window_ns = rf_claims_window_ns(site->claims),
		};
		site->told_ns[i] = until_ns;
		has_news = true;
	}
	if (!has_news)
		return;
	rf_site_windows(site, NULL, 0);
	rf_site_look_whether_alone(site);
}

/* Reads the deadlines of the fence, to count offline time. */
static struct rf_alone_seen read_hearing(const struct rf_site *site)
{
	struct rf_alone_seen seen = {
		.tick_ns = rf_fence_tick_ns(&site->fence),
		.before_ns = rf_time_awake(),
	};

	seen.jiffies = rf_fence_hearing(&site->fence, seen.bucket);
	seen.now = rf_time_awake();
	return seen;
}

void rf_site_look_whether_alone(struct rf_site *site)
{
	struct rf_alone_seen seen;

	if (!site->alone.began_ns)
		return;
	seen = read_hearing(site);
	rf_alone_look(&site->alone, &seen);
}

/* ---- limits ---- */

static struct rf_fleet_limit limit_from(const struct rf_site *site, const struct rf_limit *limit,
					const struct rf_policy *policy)
{
	struct rf_fleet_limit of = {
		.definition = limit->definition,
		.limit_id = policy->id,
		.tag = policy->tag,
		.limit = policy->limit,
		.first = policy->first,
		.pool = rf_fleet_pool(policy->limit, site->hosts, policy->first),
		.window_ns = limit->window_ns,
		.per4 = limit->per4,
		.per6 = limit->per6,
		.bans = policy->flags & RF_BANS_BY_SUM,
	};

	memcpy(of.name, limit->name, sizeof(of.name));
	of.name[sizeof(of.name) - 1] = '\0';
	return of;
}

/* Without a limit of the fleet no bucket is offline. */
static void count_time_alone(struct rf_site *site)
{
	const struct rf_alone_seen seen = read_hearing(site);

	if (site->limits && !site->alone.began_ns) {
		rf_alone_begin(&site->alone, &seen);
	} else if (!site->limits && site->alone.began_ns) {
		rf_alone_look(&site->alone, &seen);
		rf_alone_end(&site->alone, seen.now);
	}
}

/* Reads the enforced limits of the fleet and passes them to the claims. */
static int read_limits(struct rf_site *site, uint64_t now, struct rf_error *error)
{
	const uint64_t in_force = rf_fence_standing(&site->fence).in_force;
	struct rf_fleet_limit limits[RF_LIMITS_MAX];
	struct rf_bank bank;
	uint32_t count = 0;
	int err = rf_fence_bank(&site->fence, &bank, error);

	if (err)
		return err;
	site->hosts = bank.hosts;
	for (int i = 0; i < RF_LIMITS_MAX; i++)
		if (bank.policy[i].id && bank.policy[i].flags & RF_FLEET)
			limits[count++] = limit_from(site, &bank.limit[i], &bank.policy[i]);
	site->in_force = in_force; /* read first: a concurrent change is read again */
	site->limits = count;
	count_time_alone(site);
	rf_claims_take_limits(site->claims, now, limits, count);
	return 0;
}

/* ---- shares of an earlier agent ---- */

/* Windows are read in batches. */
struct taking {
	struct rf_site *site;
	uint64_t now;
	struct rf_fleet_record record[RF_FLEET_BATCH];
	uint32_t count;
	uint32_t taken; /* shares */
};

static const struct rf_fleet_limit *limit_of(const struct rf_site *site, uint32_t limit_id)
{
	for (int i = 0; i < RF_FLEET_LIMITS_MAX; i++)
		if (site->claims->limit[i].in_force && site->claims->limit[i].limit_id == limit_id)
			return &site->claims->limit[i];
	return NULL;
}

static void note_used(struct taking *taking, const struct rf_fleet_record *record)
{
	const struct rf_fleet_ask window = {
		.source = {record->source[0], record->source[1]},
		.limit_id = record->limit_id,
		.tag = record->tag,
		.incarnation = rf_given_incarnation(record->given),
		.is_ipv6 = record->is_ipv6,
	};

	rf_claims_found(taking->site->claims, taking->now, &window);
}

/* A window created before its limit joined the fleet has no incarnation. */
static void keep_shared(struct taking *taking)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < taking->count; i++) {
		struct rf_fleet_record *record = &taking->record[i];

		if (record->result != RF_SHARE_DONE || !rf_given_incarnation(record->given))
			continue;
		if (record->used > limit_of(taking->site, record->limit_id)->first)
			note_used(taking, record);
		if (!rf_given_share(record->given))
			continue;
		record->incarnation = rf_given_incarnation(record->given);
		record->writes = 1;
		taking->record[kept++] = *record;
	}
	taking->count = kept;
}

static int take_batch(struct taking *taking)
{
	int err = rf_site_windows(taking->site, taking->record, taking->count);

	if (!err)
		keep_shared(taking);
	taking->taken += taking->count;
	if (!err && taking->count)
		err = rf_site_windows(taking->site, taking->record, taking->count);
	taking->count = 0;
	return err;
}

static int note_window(const struct rf_address *source, uint32_t limit_id,
		       const struct rf_source *state, void *context)
{
	struct taking *taking = context;
	const struct rf_fleet_limit *limit = limit_of(taking->site, limit_id);
	struct rf_fleet_record *record = &taking->record[taking->count];

	(void)state;
	if (!limit)
		return 0;
	*record = (struct rf_fleet_record){
		.limit_id = limit_id,
		.tag = limit->tag,
		.is_ipv6 = source->version == 6,
	};
	memcpy(record->source, source->word, sizeof(record->source));
	return ++taking->count == RF_FLEET_BATCH ? take_batch(taking) : 0;
}

/* No window is created with the old key after this: all wrong ones exist and can be moved. */
static int set_key(struct rf_site *site, struct rf_error *error)
{
	struct rf_fleet_batch *batch = site->shares.batch;
	int err;

	memcpy(batch->key, site->claims->key, sizeof(batch->key));
	batch->sets_key = 1;
	err = rf_site_windows(site, NULL, 0);
	return err ? err : rf_wait_for_programs(error);
}

/*
 * Revokes all shares granted by an earlier agent, and makes claims of their use. Otherwise they
 * would be enforced again as soon as the server replies.
 */
static int take_over(struct rf_site *site, uint64_t now, struct rf_error *error)
{
	struct taking *taking = calloc(1, sizeof(*taking));
	int err;

	if (!taking)
		return rf_error_failed(error, -ENOMEM, "cannot read the windows: %s",
				       strerror(ENOMEM));
	taking->site = site;
	taking->now = now;
	site->claims->ended = (1U << RF_BUCKETS) - 1; /* with the first call */
	err = set_key(site, error);
	if (!err)
		err = rf_fence_each_source(&site->fence, note_window, taking, error);
	if (!err)
		err = take_batch(taking);
	if (!err && taking->taken)
		err = rf_wait_for_programs(error);
	if (err && !*error->text)
		rf_error_failed(error, err, "cannot take back the shares of fence '%s': %s",
				site->name, strerror(-err));
	free(taking);
	return err;
}

/* ---- requests of sources ---- */

static int take_ask(void *context, void *data, size_t size)
{
	struct rf_site *site = context;
	struct rf_fleet_ask ask;

	if (size < sizeof(ask))
		return 0;
	memcpy(&ask, data, sizeof(ask));
	if (!rf_claims_ask(site->claims, rf_time_awake(), &ask))
		site->rules_are_old = true;
	return --site->asks_left > 0 ? 0 : -EAGAIN;
}

static void note_asks(void *context, uint32_t events)
{
	struct rf_site *site = context;

	(void)events;
	site->has_asks = true;
}

bool rf_site_take_asks(struct rf_site *site)
{
	if (!site->has_asks)
		return true;
	site->asks_left = RF_SITE_ASKS;
	site->has_asks = site->is_open && ring_buffer__consume(site->ring) == -EAGAIN;
	return !site->has_asks;
}

/* ---- opening and closing ---- */

void rf_site_start(struct rf_site *site, const char *name, struct rf_claims *claims,
		   struct rf_loop *loop)
{
	*site = (struct rf_site){
		.claims = claims,
		.loop = loop,
		.asks = {.ready = note_asks, .context = site},
		.fence = RF_FENCE_NONE,
		.shares = RF_SHARES_NONE,
	};
	snprintf(site->name, sizeof(site->name), "%s", name);
}

static void close_site(struct rf_site *site)
{
	rf_site_look_whether_alone(site);
	rf_alone_end(&site->alone, rf_time_awake());
	if (site->ring) {
		rf_loop_unwatch(site->loop, &site->asks);
		ring_buffer__free(site->ring);
	}
	site->ring = NULL;
	rf_shares_close(&site->shares);
	rf_fence_close(&site->fence);
	site->is_open = false;
	site->limits = 0;
	memset(site->told_ns, 0, sizeof(site->told_ns));
}

static int open_fence(struct rf_site *site, struct rf_error *error)
{
	char word[RF_NAME_SIZE + 8];
	struct rf_pin_path pins;
	int err;

	snprintf(word, sizeof(word), "fence:%s", site->name);
	err = rf_fence_open(&site->fence, word, error);
	if (err)
		return err;
	if (!rf_fence_has_shares(&site->fence))
		return rf_error_failed(error, -ENOTSUP,
				       "fence '%s' was attached without 'fleet'; run 'ringfence "
				       "detach %s', then attach it with 'fleet'",
				       site->name, site->fence.interface[0].name);
	pins = rf_fence_pins(&site->fence);
	err = rf_shares_open(&site->shares, &pins, error);
	if (err)
		return err;
	site->ring = ring_buffer__new(site->shares.asks_fd, take_ask, site, NULL);
	if (!site->ring)
		return rf_error_failed(error, -errno, "cannot read the requests of the fence: %s",
				       strerror(errno));
	return 0;
}

static void open_site(struct rf_site *site, uint64_t now)
{
	struct rf_error error = {};
	int err = open_fence(site, &error);

	site->is_open = !err;
	if (!err) {
		site->asks.fd = ring_buffer__epoll_fd(site->ring);
		rf_loop_watch(site->loop, &site->asks, EPOLLIN);
		err = read_limits(site, now, &error);
	}
	if (!err)
		err = take_over(site, now, &error);
	if (err) {
		rf_say_once(&site->said_open, "", error.text, NULL);
		close_site(site);
		return;
	}
	site->said_open = (struct rf_said){};
	rf_say("fence '%s': %u limits of the fleet", site->name, site->limits);
}

/* ---- time ---- */

static uint32_t config_now(const struct rf_site *site)
{
	const struct rf_pin_path pins = rf_pins_directory(site->name);

	return rf_pins_config_id(&pins);
}

static void say_waiting(struct rf_site *site)
{
	if (!site->is_waiting)
		rf_say("fence '%s': waiting for it", site->name);
	site->is_waiting = true;
	site->said_open = (struct rf_said){};
}

static void look_for_fence(struct rf_site *site, uint64_t now)
{
	const uint32_t config_id = config_now(site);

	site->look_at_ns = now + RF_SITE_LOOK_NS;
	if (site->is_open && config_id != site->fence.map_id[RF_MAP_CONFIG]) {
		rf_say("fence '%s': it is gone", site->name);
		close_site(site);
		rf_claims_lose_all(site->claims, now);
	}
	if (config_id)
		site->is_waiting = false;
	if (!site->is_open && config_id)
		open_site(site, now);
	else if (!site->is_open)
		say_waiting(site);
}

static void look_at_rules(struct rf_site *site, uint64_t now)
{
	char recovered[RF_NAME_SIZE + 64];
	struct rf_error error = {};

	site->rules_at_ns = now + RF_SITE_RULES_NS;
	if (!site->rules_are_old && rf_fence_standing(&site->fence).in_force == site->in_force)
		return;
	site->rules_are_old = false;
	read_limits(site, now, &error);
	snprintf(recovered, sizeof(recovered), "fence '%s': its limits can be read again",
		 site->name);
	rf_say_once(&site->said_limits, "", error.text, recovered);
}

void rf_site_turn(struct rf_site *site, uint64_t now)
{
	if (now >= site->look_at_ns)
		look_for_fence(site, now);
	if (site->is_open && (now >= site->rules_at_ns || site->rules_are_old))
		look_at_rules(site, now);
}

uint64_t rf_site_due_ns(const struct rf_site *site)
{
	if (site->is_open && site->rules_at_ns < site->look_at_ns)
		return site->rules_at_ns;
	return site->look_at_ns;
}

void rf_site_end(struct rf_site *site)
{
	close_site(site);
}
