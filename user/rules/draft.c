// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "rules/draft.h"

static int check_unit(struct rf_draft *draft, struct rf_error *error)
{
	if (draft->rate_in_bits && rf_has_given(draft, RF_OPT_PACKETS) &&
	    draft->made.limit.unit == RF_PACKETS)
		return rf_error_usage(
			error, "'%s': invalid rate: bits are counted as bytes; leave out 'packets'",
			draft->rate);
	if (draft->rate_in_bits)
		draft->made.limit.unit = RF_BYTES;
	draft->made.limit.flags |= draft->rate_in_bits ? RF_RATE_IN_BITS : 0;
	if (draft->burst_in_bits && draft->made.limit.unit == RF_PACKETS)
		return rf_error_usage(
			error,
			"'%s': invalid burst: bits are counted as bytes, and the limit "
			"is in packets; add 'bytes', or write it like 100 or 20k",
			draft->burst);
	return 0;
}

/* Cells and an edge say that it is sliding. */
static void choose_algorithm(struct rf_draft *draft)
{
	const bool is_sliding =
		rf_has_given(draft, RF_OPT_CELLS) || rf_has_given(draft, RF_OPT_EDGE);

	if (!rf_has_given(draft, RF_OPT_ALGORITHM))
		draft->made.limit.algorithm =
			is_sliding ? RF_SLIDING : rf_default_algorithm(&draft->made.limit);
}

/* An error where an option has no meaning for the algorithm. */
static int check_algorithm(const struct rf_draft *draft, struct rf_error *error)
{
	const struct rf_limit *limit = &draft->made.limit;
	const char *name = rf_algorithm_name(limit->algorithm);
	const bool has_cells = rf_has_given(draft, RF_OPT_CELLS);

	if (limit->algorithm != RF_SLIDING && (has_cells || rf_has_given(draft, RF_OPT_EDGE)))
		return rf_error_usage(error,
				      "'%s': 'algorithm %s' does not take it; only sliding has "
				      "cells and an edge",
				      has_cells ? "cells" : "edge", name);
	if (!rf_has_burst(limit) && rf_has_given(draft, RF_OPT_BURST))
		return rf_error_usage(error,
				      "'burst': 'algorithm %s' does not take it; only token and "
				      "leaky have a burst",
				      name);
	if (limit->algorithm == RF_LOG && limit->unit == RF_BYTES)
		return rf_error_usage(error,
				      "'algorithm log': it keeps the times of packets, and does "
				      "not count bytes; use 'algorithm sliding'");
	return 0;
}

/* `text` is how the count was written, `what` is for the message. */
static int check_range(const char *text, const char *what, const struct rf_limit *limit,
		       uint64_t count, uint64_t max, struct rf_error *error)
{
	if (limit->unit == RF_PACKETS && (count < 1 || count > max))
		return rf_error_usage(error, "'%s': invalid %s: the count must be 1-%" PRIu64, text,
				      what, max);
	if (limit->unit == RF_BYTES && (count < RF_FRAME_BYTES || count > max))
		return rf_error_usage(error,
				      "'%s': invalid %s: the count must be %d-%" PRIu64 " bytes; "
				      "with less, no Ethernet frame of full size would ever pass",
				      text, what, RF_FRAME_BYTES, max);
	return 0;
}

/* A limit that drops all packets has no window: what says how to count stays, without effect. */
static int check_rate0(const struct rf_limit *limit, struct rf_error *error)
{
	if (limit->match == RF_MATCH_OTHER)
		return rf_error_usage(error,
				      "'match other': rate 0 would drop ARP and cut the machine "
				      "off; write a rate like 100/1s");
	if (limit->ban_ns)
		return rf_error_usage(error,
				      "'ban': rate 0 drops all packets and bans nobody; leave out "
				      "'ban', or write a rate like 1/1h");
	if (limit->flags & RF_FLEET)
		return rf_error_usage(error, "'fleet': rate 0 passes nothing that hosts could "
					     "share; leave out 'fleet'");
	return 0;
}

static int check_rate(const struct rf_draft *draft, struct rf_error *error)
{
	const struct rf_limit *limit = &draft->made.limit;
	uint64_t max = RF_LIMIT_MAX;

	if (!limit->rate)
		return check_rate0(limit, error);
	if (limit->algorithm == RF_LOG && (limit->rate < 1 || limit->rate > RF_LOG_MAX))
		return rf_error_usage(error,
				      "'%s': invalid rate: the count must be 1-%d, since "
				      "'algorithm log' keeps a time for each packet; use "
				      "'algorithm sliding'",
				      draft->rate, RF_LOG_MAX);
	if (limit->unit == RF_BYTES)
		max <<= RF_UNIT_SHIFT_MAX;
	return check_range(draft->rate, "rate", limit, limit->rate, max, error);
}

/* An error where the limit cannot work with its default burst. */
static int check_default_burst(const struct rf_limit *limit, struct rf_error *error)
{
	if (limit->algorithm == RF_LEAKY && limit->unit == RF_BYTES)
		return rf_error_usage(error,
				      "'algorithm leaky': in bytes the burst must hold a frame of "
				      "%d bytes; add 'burst COUNT'",
				      RF_FRAME_BYTES);
	return 0;
}

static int check_burst(struct rf_draft *draft, struct rf_error *error)
{
	struct rf_limit *limit = &draft->made.limit;
	int err;

	if (!draft->burst) {
		limit->burst = rf_default_burst(limit);
		return check_default_burst(limit, error);
	}
	if (draft->burst_in_bits && limit->burst != rf_default_burst(limit))
		limit->flags |= RF_BURST_IN_BITS; /* else it is left out when it is printed */
	err = check_range(draft->burst, "burst", limit, limit->burst, RF_LIMIT_MAX, error);
	if (err)
		return err;
	/* burst * TIME / COUNT, without the rounding of a division */
	if (limit->rate && (unsigned __int128)limit->burst * limit->window_ns >
				   (unsigned __int128)limit->rate * RF_WINDOW_MAX_NS)
		return rf_error_usage(
			error,
			"'%s': invalid burst: at the rate '%s' the burst takes longer than "
			"8784h; lower the burst, or raise the rate",
			draft->burst, draft->rate);
	return 0;
}

/* ---- the fleet ---- */

static int check_no_fleet_words(const struct rf_draft *draft, struct rf_error *error)
{
	const bool is_first = rf_has_given(draft, RF_OPT_FIRST);

	if (!is_first && !rf_has_given(draft, RF_OPT_ALONE))
		return 0;
	return rf_error_usage(error,
			      "'%s': only a limit of the fleet takes it; add 'fleet', or leave it "
			      "out",
			      rf_limit_options[is_first ? RF_OPT_FIRST : RF_OPT_ALONE].word);
}

/* `first` is a part of COUNT, in its unit. */
static int check_first(const struct rf_draft *draft, struct rf_error *error)
{
	const struct rf_limit *limit = &draft->made.limit;

	if (draft->first_in_bits && limit->unit == RF_PACKETS)
		return rf_error_usage(error,
				      "'%s': invalid 'first': the limit is in packets; write it "
				      "like 100 or 20k",
				      draft->first);
	if (limit->first > limit->rate)
		return rf_error_usage(error,
				      "'%s': invalid 'first': it must be 0-%" PRIu64
				      ", a part of the rate",
				      draft->first, (uint64_t)limit->rate);
	return 0;
}

static int check_alone(struct rf_draft *draft, struct rf_error *error)
{
	struct rf_limit *limit = &draft->made.limit;
	char rate[RF_RATE_TEXT_SIZE];

	if (!draft->alone)
		return 0;
	rf_format_rate(limit->rate, limit->window_ns, rate);
	if (draft->alone_rate.window_ns != limit->window_ns)
		return rf_error_usage(error,
				      "'%s': invalid 'alone': its TIME must be that of the rate, "
				      "as in %s",
				      draft->alone, rate);
	if (draft->alone_rate.in_bits && limit->unit == RF_PACKETS)
		return rf_error_usage(error,
				      "'%s': invalid 'alone': the limit is in packets; write it "
				      "like %s",
				      draft->alone, rate);
	if (!draft->alone_rate.count || draft->alone_rate.count > limit->rate)
		return rf_error_usage(error,
				      "'%s': invalid 'alone': the count must be 1-%" PRIu64
				      "; for what passes unasked, write 'alone first'",
				      draft->alone, (uint64_t)limit->rate);
	if (draft->alone_rate.count < limit->first)
		return rf_error_usage(error,
				      "'%s': invalid 'alone': it is less than 'first %s'; write "
				      "'alone first'",
				      draft->alone, draft->first);
	/* All of the limit is the default. */
	limit->alone = draft->alone_rate.count < limit->rate ? draft->alone_rate.count : 0;
	return 0;
}

static int check_fleet(struct rf_draft *draft, struct rf_error *error)
{
	int err;

	if (!(draft->made.limit.flags & RF_FLEET))
		return check_no_fleet_words(draft, error);
	err = check_first(draft, error);
	return err ? err : check_alone(draft, error);
}

int rf_draft_check(struct rf_draft *draft, struct rf_error *error)
{
	int err = check_unit(draft, error);

	if (!err)
		choose_algorithm(draft);
	if (!err)
		err = check_algorithm(draft, error);
	if (!err)
		err = check_rate(draft, error);
	if (!err)
		err = check_burst(draft, error);
	if (!err)
		err = check_fleet(draft, error);
	if (!err)
		err = rf_check_match(&draft->made, draft->given, error);
	return err;
}
