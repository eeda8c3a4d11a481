// SPDX-License-Identifier: GPL-2.0
/* What the agent writes into the fence: shares and deadlines. */
#include <errno.h>
#include <string.h>

#include "agent/private.h"
#include "base/say.h"
#include "base/time.h"

int rf_site_fail(struct rf_site *site, int err, const struct rf_error *error)
{
	if (strcmp(site->said.text, error->text) != 0)
		rf_warn("%s", error->text);
	site->said = *error;
	return err;
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
	if (err)
		return rf_site_fail(site, err, &error);
	site->claims->ended =
		0; /* not before: shares that were to end must not outlive a failure */
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

struct rf_alone_seen rf_site_hearing(const struct rf_site *site)
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
	seen = rf_site_hearing(site);
	rf_alone_look(&site->alone, &seen);
}
