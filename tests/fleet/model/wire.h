/* SPDX-License-Identifier: GPL-2.0 */
/* The other half of fleet/wire.h: reads calls, and packs replies, like user/fleet/library/. */
#ifndef RF_MODEL_WIRE_H
#define RF_MODEL_WIRE_H

#include "fleet/wire.h"

size_t rf_wire_pack_heard(uint8_t bytes[RF_WIRE_HEARD_MAX], const struct rf_ledger_heard *heard);
void rf_wire_pack_answer(uint8_t bytes[RF_WIRE_ANSWER_SIZE], const struct rf_ledger_answer *answer);
void rf_wire_pack_summed(uint8_t bytes[RF_WIRE_SUMMED_SIZE], const struct rf_sum_answer *answer);

/* False: it makes no sense, and nothing that was read of it is to be used. */
bool rf_wire_unpack_beat(struct rf_ledger_call *call, struct rf_ledger_beat *beat,
			 const void *bytes, size_t size);
bool rf_wire_unpack_call(struct rf_ledger_call *call, const void *bytes, size_t size);
/* `call`: the one that contains it. */
bool rf_wire_unpack_report(struct rf_ledger_limit *limit, struct rf_ledger_report *report,
			   const struct rf_ledger_call *call, const void *bytes, size_t size);
bool rf_wire_unpack_sum(struct rf_sum_report *report, const struct rf_ledger_call *call,
			const void *bytes, size_t size);

#endif /* RF_MODEL_WIRE_H */
