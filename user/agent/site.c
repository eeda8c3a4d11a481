// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "agent/private.h"
#include "base/say.h"
#include "base/time.h"

/* ---- asks ---- */

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
		return rf_error_failed(error, -errno, "cannot read what the fence asks: %s",
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
		err = rf_site_read_limits(site, now, &error);
	}
	if (!err)
		err = rf_site_take_over(site, now, &error);
	if (err) {
		rf_site_fail(site, err, &error);
		close_site(site);
		return;
	}
	site->said = (struct rf_error){};
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
	const char *text = "waiting for the fence";

	if (strcmp(site->said.text, text) != 0)
		rf_say("fence '%s': waiting for it", site->name);
	rf_error_failed(&site->said, 0, "%s", text);
}

static void look(struct rf_site *site, uint64_t now)
{
	const uint32_t config_id = config_now(site);

	site->look_at_ns = now + RF_SITE_LOOK_NS;
	if (site->is_open && config_id != site->fence.map_id[RF_MAP_CONFIG]) {
		rf_say("fence '%s': it is gone", site->name);
		close_site(site);
		rf_claims_lose_all(site->claims, now);
	}
	if (!site->is_open && config_id)
		open_site(site, now);
	else if (!site->is_open)
		say_waiting(site);
}

static void look_at_rules(struct rf_site *site, uint64_t now)
{
	struct rf_error error = {};

	site->rules_at_ns = now + RF_SITE_RULES_NS;
	if (!site->rules_are_old && rf_fence_standing(&site->fence).in_force == site->in_force)
		return;
	site->rules_are_old = false;
	if (rf_site_read_limits(site, now, &error))
		rf_site_fail(site, 0, &error);
}

void rf_site_turn(struct rf_site *site, uint64_t now)
{
	if (now >= site->look_at_ns)
		look(site, now);
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
