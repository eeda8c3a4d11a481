// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/private.h"
#include "ringfence/share.h"

/* Windows are read a batch at a time. */
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

/* A window that was made before its limit was one of the fleet has no incarnation. */
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

/* No window is made by the key of before after this: all that are wrong are there to be moved. */
static int set_key(struct rf_site *site, struct rf_error *error)
{
	struct rf_fleet_batch *batch = site->shares.batch;
	int err;

	memcpy(batch->key, site->claims->key, sizeof(batch->key));
	batch->sets_key = 1;
	err = rf_site_windows(site, NULL, 0);
	return err ? err : rf_wait_for_programs(error);
}

int rf_site_take_over(struct rf_site *site, uint64_t now, struct rf_error *error)
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
