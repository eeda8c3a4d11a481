/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages about bans that hosts report and accept. Pure. docs/fleet-proof.md states their
 * guarantees.
 *
 *   FCALL rf_ban  2 SLOT-KEY BANS-KEY  SLOT u32, time u32 (0: remove the ban), prefix
 *   FCALL rf_bans 1 BANS-KEY           STAMP u64
 *
 * rf_ban replies with one byte, an enum rf_ban_answer. rf_bans replies with the latest stamp, then
 * each ban with a later stamp than requested: stamp u64, slot u16, left u32 (0: removed), prefix. A
 * prefix is its version, its length and its address. Times are in milliseconds.
 */
#ifndef RF_FLEET_BANS_H
#define RF_FLEET_BANS_H

#include <stddef.h>
#include <stdint.h>

#include "base/prefix.h"
#include "ringfence/fleet.h"

#define RF_BANS_KEY "rf:{m}:bans"
#define RF_BANS_SLOT_KEY "rf:{m}:h:%u" /* never stored: it ties a user to a slot */
#define RF_BAN_CALL_MAX 26
#define RF_BANS_FROM_SIZE 8

enum rf_ban_answer {
	RF_BAN_DONE,
	RF_BAN_HOST_IS_FULL,
	RF_BAN_FLEET_IS_FULL,
	RF_BAN_IS_NOT_THERE,
	RF_BAN_ANSWERS,
};

/* A ban as stored on the server. */
struct rf_told_ban {
	uint64_t stamp;
	uint32_t slot;
	uint32_t left_ms; /* 0: it has ended */
	struct rf_prefix prefix;
};

/* Why a ban is not taken. */
enum rf_ban_fault {
	RF_BAN_IS_FINE,
	RF_BAN_IS_LONG,	   /* longer than RF_FLEET_BAN_MOST_MS */
	RF_BAN_IS_WIDE,	   /* a shorter prefix than accepted */
	RF_BAN_IS_GARBAGE, /* bits after the length, a slot that cannot be */
	RF_BAN_FAULTS,
};

/* Returns the length. */
size_t rf_fleet_bans_pack_call(uint8_t bytes[RF_BAN_CALL_MAX], uint32_t slot, uint32_t time_ms,
			       const struct rf_prefix *prefix);
void rf_fleet_bans_pack_from(uint8_t bytes[RF_BANS_FROM_SIZE], uint64_t stamp);

/* A reply of rf_bans, read one ban at a time. */
struct rf_told_bans {
	const uint8_t *at, *end;
	uint64_t newest;
};

/* False: not a valid reply. */
bool rf_fleet_bans_read(struct rf_told_bans *told, const void *bytes, size_t size);
/* False: no more, or the rest is invalid. */
bool rf_fleet_bans_next(struct rf_told_bans *told, struct rf_told_ban *ban);
enum rf_ban_fault rf_fleet_bans_judge(const struct rf_told_ban *ban);

#define RF_OWN_NUMBERS 4 /* slots whose reports a host remembers */

/* The latest stamp of the bans that this host reported in a slot. */
struct rf_own_bans {
	uint32_t slot;
	uint64_t newest; /* 0: none */
};

/* Bans that a restarted agent ignores. */
struct rf_kept_bans {
	uint64_t flushed;			/* the stamp up to which bans were flushed */
	struct rf_own_bans own[RF_OWN_NUMBERS]; /* latest first */
};

/* The latest stamp in it; a server with an older one has lost its data. */
uint64_t rf_kept_bans_newest(const struct rf_kept_bans *kept);
/* Notes a ban that this host reported in that slot. False: already known. */
bool rf_kept_bans_note(struct rf_kept_bans *kept, uint32_t slot, uint64_t stamp);

#endif /* RF_FLEET_BANS_H */
