/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages between a host and the server: names of keys, calls of the functions rf_beat, rf_report
 * and rf_sums, and their replies. Pure. docs/fleet-proof.md has the layout, user/fleet/library/ the
 * server side.
 *
 *   FCALL rf_beat   2 SLOT-KEY HOSTS-KEY            CALL+BEAT
 *   FCALL rf_report N SLOT-KEY HOSTS-KEY RECORD-KEY…  CALL REPORT…
 *   FCALL rf_sums   N SLOT-KEY HOSTS-KEY SUM-KEY…     CALL SUM…
 *   FCALL rf_gone   2 SLOT-KEY HOSTS-KEY            CALL+SLOT
 *
 * rf_beat and rf_gone reply with one string, rf_report with an array of one string per report. A
 * malformed call, or one whose slot differs from its key, gets an error and has no effect. A
 * malformed report, or one with a malformed record, gets RF_LEDGER_GARBAGE and does not affect the
 * others.
 *
 * Numbers are little-endian and of fixed width, times are in milliseconds. Readers check
 * everything, and each value has a single encoding: writing a read message reproduces it.
 */
#ifndef RF_FLEET_WIRE_H
#define RF_FLEET_WIRE_H

#include <stddef.h>

#include "fleet/ledger.h"
#include "ringfence/source.h"

#define RF_WIRE_GRACE_MAX_MS 60000
#define RF_WIRE_WINDOW_MAX_MS 2592000000U /* 30 days: of limits of a fleet */
/*
 * The server stores the hosts of a bucket for this much longer than G + W after the latest
 * heartbeat, and a claim for rf_wire_kept_ms() longer than that after its latest report: at least
 * four times the report interval of claims.h. A host whose reports are not answered has released
 * its claims earlier, even tens of thousands.
 */
#define RF_WIRE_KEPT_MS 600000
#define RF_WIRE_SPARE_MS 60000
/* A source without a claim that is still requested is stored this much longer than G + W; an idle
 * source this long in total. */
#define RF_WIRE_IDLE_MS 10000
#define RF_WIRE_LEFT_MS 500

static inline uint64_t rf_wire_kept_ms(uint64_t window_ms)
{
	const uint64_t kept_ms = window_ms + RF_WIRE_SPARE_MS;

	return kept_ms < RF_WIRE_KEPT_MS ? kept_ms : RF_WIRE_KEPT_MS;
}

#define RF_WIRE_KEY_SIZE 160 /* of a name, with the final NUL */
#define RF_WIRE_CALL_SIZE 28
#define RF_WIRE_BEAT_LEAST (RF_WIRE_CALL_SIZE + 10)
#define RF_WIRE_BEAT_MAX (RF_WIRE_BEAT_LEAST + 2 * RF_LEDGER_SLOTS)
#define RF_WIRE_HEARD_MAX (11 + 2 * RF_LEDGER_SLOTS)
#define RF_WIRE_REPORT_SIZE 28
#define RF_WIRE_ANSWER_SIZE 13
#define RF_WIRE_SUM_SIZE 16
#define RF_WIRE_SUMMED_SIZE 13
#define RF_WIRE_GONE_SIZE (RF_WIRE_CALL_SIZE + 2)
#define RF_WIRE_LEFT_SIZE 5
#define RF_WIRE_REPORTS_MAX 64 /* in a call: so the engine never works for long on one */

/* `bucket` is rf_bucket() of the source, below RF_BUCKETS. */
void rf_wire_slot_key(char key[RF_WIRE_KEY_SIZE], uint32_t bucket, uint32_t slot);
void rf_wire_hosts_key(char key[RF_WIRE_KEY_SIZE], uint32_t bucket);
/* A hash of the full definition of a limit, as text for keys and JSON. */
#define RF_WIRE_DEFINITION_SIZE 17
void rf_wire_format_definition(char text[RF_WIRE_DEFINITION_SIZE], uint64_t definition);
/* `source`: ADDRESS/LENGTH. */
void rf_wire_record_key(char key[RF_WIRE_KEY_SIZE], uint32_t bucket, const char *limit,
			uint64_t definition, const char *source);
/* Of what all hosts received of that source. */
void rf_wire_sum_key(char key[RF_WIRE_KEY_SIZE], uint32_t bucket, const char *limit,
		     uint64_t definition, const char *source);

/* The description of a host and its top sources, by slot, for operators. */
void rf_wire_host_key(char key[RF_WIRE_KEY_SIZE], uint32_t slot);
void rf_wire_top_key(char key[RF_WIRE_KEY_SIZE], uint32_t slot);

/* Of a call go over the wire: slot, nonce, joined, grace and window. These return the length. */
size_t rf_wire_pack_beat(uint8_t bytes[RF_WIRE_BEAT_MAX], const struct rf_ledger_call *call,
			 const struct rf_ledger_beat *beat);
void rf_wire_pack_gone(uint8_t bytes[RF_WIRE_GONE_SIZE], const struct rf_ledger_call *call,
		       uint32_t slot);
void rf_wire_pack_call(uint8_t bytes[RF_WIRE_CALL_SIZE], const struct rf_ledger_call *call);
void rf_wire_pack_report(uint8_t bytes[RF_WIRE_REPORT_SIZE], const struct rf_ledger_limit *limit,
			 const struct rf_ledger_report *report);
void rf_wire_pack_sum(uint8_t bytes[RF_WIRE_SUM_SIZE], const struct rf_sum_report *report);

/* False: it makes no sense, and nothing that was read of it is to be used. */
bool rf_wire_unpack_heard(struct rf_ledger_heard *heard, const void *bytes, size_t size);
bool rf_wire_unpack_answer(struct rf_ledger_answer *answer, const void *bytes, size_t size);
bool rf_wire_unpack_summed(struct rf_sum_answer *answer, const void *bytes, size_t size);
bool rf_wire_unpack_left(struct rf_ledger_left *left, const void *bytes, size_t size);

/* ---- records on the server, as packed by user/fleet/library/, for display ---- */

#define RF_WIRE_HOSTS_MAX (51 + 29 * RF_LEDGER_SLOTS)
#define RF_WIRE_RECORD_MAX (26 + 12 * RF_LEDGER_SLOTS)

/* The hosts of a bucket; of a slot that no host had, all is 0. */
bool rf_wire_unpack_hosts(struct rf_ledger *ledger, const void *bytes, size_t size);
/* No bytes: no claims. */
bool rf_wire_unpack_record(struct rf_ledger_source *source, const void *bytes, size_t size);

#endif /* RF_FLEET_WIRE_H */
