/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Do the packets of an interface reach the fence's program? A driver can lose the program while the
 * kernel still reports it as attached (vmxnet3 does, when its rings are recreated). The check does
 * not depend on drivers: the interface receives packets, and the program counts none.
 *
 * Packets can be counted as received late: bnxt_en reads its counters once a second. Packets that
 * an interface receives therefore count only RF_BYPASS_LATE_NS after the last packet that the
 * program counted.
 */
#ifndef RINGFENCE_BYPASS_H
#define RINGFENCE_BYPASS_H

#include "base/units.h"
#include "fence/by_interface.h"
#include "fence/fence.h"

#define RF_BYPASS_LEAST 8 /* packets; fewer might have been in flight */
#define RF_BYPASS_LATE_NS (5 * RF_NS_PER_S)
#define RF_BYPASS_WATCH_NS (1200 * RF_NS_PER_MS) /* the longest second look */

/* Counters of an interface and of the program, read in this order. */
struct rf_bypass_sample {
	uint64_t time_ns;
	uint64_t counted_before;
	uint64_t rx_packets;
	uint64_t counted_after;
	bool is_shared; /* counted packets can come from other interfaces */
};

enum rf_met {
	RF_MET_UNKNOWN,
	RF_BYPASSED, /* packets do not meet the program */
	RF_MET,
};

struct rf_bypass {
	enum rf_met met;
	uint64_t packets; /* received in `for_ns`, none of which the program counted */
	uint64_t for_ns;
	bool is_doubtful; /* rf_bypass_watch() can determine more */
};

/* Pure: compares a sample with the look before, and makes it the next look. */
void rf_bypass_judge(struct rf_interface_look *look, const struct rf_bypass_sample *sample,
		     struct rf_bypass *bypass);
/* Makes a sample the first look. `is_settled`: no packet of before is counted late. */
void rf_bypass_begin(struct rf_interface_look *look, const struct rf_bypass_sample *sample,
		     bool is_settled);

/*
 * Can it be determined for this interface at all? Not in a chain after another program, which might
 * have consumed the packets, and not for a program on the card.
 */
bool rf_bypass_applies(const struct rf_fence *fence, const struct rf_interface *interface);
/*
 * The packets that count for an interface. `is_shared`: packets of other interfaces are among them.
 * Until all members of a bond have places, all packets of the fence count for the bond.
 */
uint64_t rf_bypass_count(const struct rf_fence *fence, const struct rf_interface *interface,
			 const struct rf_counters *counters, const struct rf_by_interface *sums,
			 bool *is_shared);
int rf_bypass_sample(const struct rf_fence *fence, const struct rf_interface *interface,
		     struct rf_bypass_sample *sample);
/* The reading that the fence stores; an empty one if it has none. */
void rf_bypass_load(const struct rf_fence *fence, unsigned int index,
		    struct rf_interface_look *look);

/*
 * Compares with the reading that the fence stores, and stores the present one if the fence is
 * writable. If the result is uncertain, watches the counters for RF_BYPASS_WATCH_NS at most; only
 * until the program counts a packet.
 */
void rf_bypass_look(const struct rf_fence *fence, const struct rf_interface *interface,
		    struct rf_bypass *bypass);
/* After an attach or a repair: from now on every packet has to meet the program. */
void rf_bypass_start(const struct rf_fence *fence, const struct rf_interface *interface);

#define RF_BYPASS_TEXT_SIZE 96

/* "received 812 packets in the last 12s, and the program has seen none of them" */
void rf_bypass_format(const struct rf_bypass *bypass, char text[RF_BYPASS_TEXT_SIZE]);

#endif /* RINGFENCE_BYPASS_H */
