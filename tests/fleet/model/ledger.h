/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A model of the ledger of a fleet, one bucket of sources at a time: the rules of
 * user/fleet/library/, in C. Walks and searches use the model, and tests/engine compares it with
 * the library call by call. Pure: the caller passes the time, the run of the server and the
 * records, and stores the results. The library has the rules and their reasons.
 */
#ifndef RF_MODEL_LEDGER_H
#define RF_MODEL_LEDGER_H

#include "fleet/ledger.h"

struct rf_ledger_heard rf_ledger_beat(struct rf_ledger *ledger, const struct rf_ledger_call *call,
				      const struct rf_ledger_beat *beat);
struct rf_ledger_answer rf_ledger_report(struct rf_ledger *ledger, struct rf_ledger_source *source,
					 const struct rf_ledger_call *call,
					 const struct rf_ledger_limit *limit,
					 const struct rf_ledger_report *report);

/*
 * The host of `slot` is no longer a member, if it was silent for G + W: then its claims are already
 * void, and only its name is forgotten. Before, the packets that it passed in W are unknown.
 */
struct rf_ledger_left rf_ledger_gone(struct rf_ledger *ledger, const struct rf_ledger_call *call,
				     uint32_t slot);

/* What every call does first; and may it do more? */
void rf_ledger_open(struct rf_ledger *ledger, const struct rf_ledger_call *call);
bool rf_ledger_is_member(const struct rf_ledger *ledger, const struct rf_ledger_call *call);

/* The sum of the claims that are not void. */
uint64_t rf_ledger_claimed(const struct rf_ledger *ledger, const struct rf_ledger_source *source,
			   const struct rf_ledger_call *call, const struct rf_ledger_limit *limit);

#endif /* RF_MODEL_LEDGER_H */
