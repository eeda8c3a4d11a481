// SPDX-License-Identifier: GPL-2.0
/* What two looks at the counters show. Pure. */
#include <inttypes.h>
#include <stdio.h>

#include "base/time.h"
#include "fence/bypass.h"

void rf_bypass_begin(struct rf_interface_look *look, const struct rf_bypass_sample *sample,
		     bool is_settled)
{
	look->time_ns = sample->time_ns;
	look->rx_packets = sample->rx_packets;
	look->counted = sample->counted_before;
	look->is_settled = is_settled;
}

/* The program's counters go back where a fence was made again. */
static bool is_usable(const struct rf_interface_look *look, const struct rf_bypass_sample *sample)
{
	return look->time_ns && look->time_ns <= sample->time_ns &&
	       look->counted <= sample->counted_before;
}

/*
 * Since the look. A driver that resets the card sets its counters to 0, as vmxnet3 does when it
 * loses the program: then at least what they are now was received.
 */
static uint64_t received_since(const struct rf_interface_look *look,
			       const struct rf_bypass_sample *sample)
{
	if (sample->rx_packets < look->rx_packets)
		return sample->rx_packets;
	return sample->rx_packets - look->rx_packets;
}

/* The program has counted since the look before, but less than was received: it may have stopped.
 */
static void judge_counting(struct rf_interface_look *look, const struct rf_bypass_sample *sample,
			   struct rf_bypass *bypass)
{
	const uint64_t received = received_since(look, sample);
	const uint64_t counted = sample->counted_after - look->counted;

	bypass->met = RF_MET;
	bypass->is_doubtful = !sample->is_shared &&
			      sample->counted_before == sample->counted_after &&
			      received >= counted + RF_BYPASS_LEAST;
	rf_bypass_begin(look, sample, false);
}

static void judge_silent(struct rf_interface_look *look, const struct rf_bypass_sample *sample,
			 struct rf_bypass *bypass)
{
	const uint64_t received = received_since(look, sample);
	const uint64_t for_ns = sample->time_ns - look->time_ns;

	if (received < RF_BYPASS_LEAST) {
		if (!look->is_settled && for_ns >= RF_BYPASS_LATE_NS)
			rf_bypass_begin(look, sample, true);
		return;
	}
	if (look->is_settled) {
		*bypass = (struct rf_bypass){
			.met = RF_BYPASSED, .packets = received, .for_ns = for_ns};
		return;
	}
	bypass->is_doubtful = true;
	if (for_ns >= RF_BYPASS_LATE_NS)
		rf_bypass_begin(look, sample, true);
}

void rf_bypass_judge(struct rf_interface_look *look, const struct rf_bypass_sample *sample,
		     struct rf_bypass *bypass)
{
	*bypass = (struct rf_bypass){};
	if (!is_usable(look, sample))
		rf_bypass_begin(look, sample, false);
	else if (sample->counted_after != look->counted)
		judge_counting(look, sample, bypass);
	else
		judge_silent(look, sample, bypass);
}

void rf_bypass_format(const struct rf_bypass *bypass, char text[RF_BYPASS_TEXT_SIZE])
{
	char time[RF_DURATION_TEXT_SIZE];

	rf_format_left(bypass->for_ns, time);
	snprintf(text, RF_BYPASS_TEXT_SIZE,
		 "received %" PRIu64 " packets in the last %s, and the program has seen none",
		 bypass->packets, time);
}
