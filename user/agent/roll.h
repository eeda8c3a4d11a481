/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Who of the fleet is heard. A member keeps its slot until another host wants it, so a heartbeat's
 * answer also has those that are long gone. When each was heard is what the engine keeps of a
 * bucket, which is read now and then. For people alone: nothing is decided by it.
 */
#ifndef RINGFENCE_AGENT_ROLL_H
#define RINGFENCE_AGENT_ROLL_H

#include "agent/line.h"
#include "fleet/ledger.h"

struct rf_roll {
	struct rf_line *line;
	uint64_t grace_ms;
	uint64_t at_ns;	   /* when it is read next */
	uint64_t known_ns; /* when the answer came; 0: none yet */
	bool is_under_way;
	struct rf_ledger kept;	      /* of a bucket */
	struct rf_ledger_slots heard; /* not silent for G + W: their claims count */
};

void rf_roll_start(struct rf_roll *roll, struct rf_line *line, uint64_t grace_ns);
void rf_roll_turn(struct rf_roll *roll, uint64_t now);
/* False: not for some time. */
bool rf_roll_is_known(const struct rf_roll *roll, uint64_t now);

#endif /* RINGFENCE_AGENT_ROLL_H */
