// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/time.h"
#include "base/units.h"
#include "cli/recorded_rules.h"
#include "cli/suggest_limit.h"
#include "rules/near.h"
#include "rules/policy.h"
#include "rules/probe_limit.h"

#define PROBE_BYTES 500000000 /* COUNT of a shadow that is to see peaks of bytes */

/* ---- which one ---- */

bool rf_sees_all(const struct rf_limit *limit)
{
	return limit->match == RF_MATCH_ANY && !limit->has_ports && !limit->has_sports &&
	       !limit->has_from && !limit->has_to && !limit->length_max && !limit->tcp_mask;
}

/* A limit of rate 0 has no windows, and the level of a bucket is not what came in a TIME. */
static bool has_peaks(const struct rf_limit *limit, uint64_t per_ns)
{
	return limit->rate && !rf_has_burst(limit) && (!per_ns || limit->window_ns == per_ns);
}

static int choose_slot(const struct rf_bank *rules, uint64_t per_ns)
{
	int slots[RF_LIMITS_MAX], chosen = -ENOENT;
	const int count = rf_bank_slots(rules, slots);

	for (int i = count - 1; i >= 0; i--)
		if (has_peaks(&rules->limit[slots[i]], per_ns))
			chosen = slots[i];
	for (int i = count - 1; i >= 0; i--)
		if (rf_sees_all(&rules->limit[slots[i]]) &&
		    has_peaks(&rules->limit[slots[i]], per_ns))
			chosen = slots[i];
	return chosen;
}

/* ---- where none will do ---- */

static int fail_no_time(uint64_t per_ns, struct rf_error *error)
{
	char time[RF_DURATION_TEXT_SIZE];

	rf_format_for(per_ns, time);
	return rf_error_failed(error, -ENODATA,
			       "'per %s': no limit has this TIME, and peaks are only known for the "
			       "TIME of a limit; add one as a shadow: ringfence limit add probe-%s "
			       "rate 50k/%s shadow",
			       time, time, time);
}

/* A sliding window with the packets of the limit and this TIME; NULL: there is no memory. */
static char *probe_command(const struct rf_ruleset *rules, const struct rf_definition *limit,
			   uint64_t per_ns)
{
	struct rf_definition probe = *limit;

	probe.limit.window_ns = per_ns;
	probe.limit.rate = probe.limit.unit == RF_BYTES ? PROBE_BYTES : RF_PROBE_COUNT;
	probe.limit.flags &= ~(RF_RATE_IN_BITS | RF_COUNT_REJECTED);
	if (rf_has_burst(&probe.limit)) {
		probe.limit.algorithm = RF_SLIDING;
		probe.limit.cells = rf_default_cells(&probe.limit);
		probe.limit.burst = 0;
	}
	return rf_shadow_command(rules, &probe, limit->limit.name);
}

/* The limit that is named shows no peaks: a window beside it would. */
static int fail_bucket(const struct rf_ruleset *rules, const struct rf_definition *limit,
		       uint64_t per_ns, struct rf_error *error)
{
	char *command = probe_command(rules, limit, per_ns ?: limit->limit.window_ns);
	const int err = rf_error_failed(
		error, command ? -ENODATA : -ENOMEM,
		"limit '%s': its 'algorithm %s' does not record peaks in TIME; add a sliding "
		"window as a shadow: ringfence %s",
		limit->limit.name, rf_algorithm_name(limit->limit.algorithm), command ?: "…");

	free(command);
	return err;
}

/* The limit that is named has another TIME: one with the same packets and this TIME would do. */
static int fail_other_time(const struct rf_ruleset *rules, const struct rf_definition *limit,
			   uint64_t per_ns, struct rf_error *error)
{
	char asked[RF_DURATION_TEXT_SIZE], its[RF_DURATION_TEXT_SIZE];
	char *command = probe_command(rules, limit, per_ns);
	int err;

	rf_format_for(per_ns, asked);
	rf_format_for(limit->limit.window_ns, its);
	if (!command)
		return fail_no_time(per_ns, error);
	err = rf_error_failed(error, -ENODATA,
			      "'per %s': the TIME of limit '%s' is %s, and peaks are only known "
			      "for that; leave out 'per', or add a shadow: ringfence %s",
			      asked, limit->limit.name, its, command);
	free(command);
	return err;
}

int rf_suggest_limit(const struct rf_ruleset *rules, const struct rf_suggest_asked *asked,
		     struct rf_definition *limit, struct rf_error *error)
{
	const int slot = asked->limit ? rf_bank_find(&rules->bank, asked->limit)
				      : choose_slot(&rules->bank, asked->per_ns);
	int err;

	if (slot < 0 && asked->limit)
		return rf_fail_no_limit(&rules->bank, asked->limit, "", error);
	if (slot < 0 && asked->per_ns)
		return fail_no_time(asked->per_ns, error);
	if (slot < 0 || !rules->bank.limit[slot].rate)
		return rf_error_failed(
			error, -ENODATA,
			"no limit records peaks: those of rate 0 and buckets do not; "
			"add another one as a shadow: ringfence limit add probe "
			"rate 50k/1s shadow");
	err = rf_limit_definition(rules, slot, limit, error);
	if (!err && rf_has_burst(&limit->limit))
		return fail_bucket(rules, limit, asked->per_ns, error);
	if (!err && asked->per_ns && limit->limit.window_ns != asked->per_ns)
		err = fail_other_time(rules, limit, asked->per_ns, error);
	return err;
}

/* ---- where no source is recorded ---- */

int rf_check_sources_kept(struct rf_reader *reader, const char *limit, uint64_t from_ns,
			  uint64_t to_ns, struct rf_error *error)
{
	static const char *const outcomes[] = {"passed", "dropped", "would_drop"};
	struct rf_recorded recorded;
	struct rf_error unused;
	uint64_t packets = 0;
	const int err = rf_reader_between(reader, from_ns, to_ns, &recorded, &unused);

	for (int i = 0; i < 3 && !err; i++)
		packets += rf_recorded_packets(&recorded, "limit", limit, outcomes[i]);
	rf_recorded_free(&recorded);
	if (!packets)
		return 0;
	return rf_error_failed(
		error, -ENODATA,
		"the history has %" PRIu64 " packets of limit '%s', but no source: "
		"sources are recorded every 10 s, and under 'sources none' never; "
		"write 'sources prefix' into /etc/ringfence/watch.conf and run "
		"'systemctl reload ringfence-watch', or watch now: ringfence suggest "
		"for 10m",
		packets, limit);
}
