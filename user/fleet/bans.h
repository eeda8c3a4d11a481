/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bans that a host tells the others, and what it takes of theirs. Pure. docs/fleet-proof.md says
 * what they are worth.
 *
 *   FCALL rf_ban  2 SLOT-KEY BANS-KEY  SLOT u32, time u32 (0: the ban ends), prefix
 *   FCALL rf_bans 1 BANS-KEY           STAMP u64
 *
 * rf_ban answers one byte, an enum rf_ban_answer. rf_bans answers the newest stamp, then each ban
 * that has a newer stamp than the one that was asked for: stamp u64, slot u16, left u32 (0: it has
 * ended), prefix. A prefix is its version, its length and its address. Times are milliseconds.
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

/* A ban as the engine tells it. */
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
	RF_BAN_IS_WIDE,	   /* a shorter prefix than those that are taken */
	RF_BAN_IS_GARBAGE, /* bits after the length, a slot that cannot be */
	RF_BAN_FAULTS,
};

/* Returns the length. */
size_t rf_fleet_bans_pack_call(uint8_t bytes[RF_BAN_CALL_MAX], uint32_t slot, uint32_t time_ms,
			       const struct rf_prefix *prefix);
void rf_fleet_bans_pack_from(uint8_t bytes[RF_BANS_FROM_SIZE], uint64_t stamp);

/* An answer of rf_bans that is read one ban after the other. */
struct rf_told_bans {
	const uint8_t *at, *end;
	uint64_t newest;
};

/* False: it is no such answer. */
bool rf_fleet_bans_read(struct rf_told_bans *told, const void *bytes, size_t size);
/* False: there is none left, or the rest makes no sense. */
bool rf_fleet_bans_next(struct rf_told_bans *told, struct rf_told_ban *ban);
enum rf_ban_fault rf_fleet_bans_judge(const struct rf_told_ban *ban);

#define RF_OWN_NUMBERS 4 /* of which a host remembers what it told */

/* Of the bans that this host told under a number: the newest one's stamp. */
struct rf_own_bans {
	uint32_t slot;
	uint64_t newest; /* 0: none */
};

/* What an agent started again takes none of. */
struct rf_kept_bans {
	uint64_t flushed;			/* the stamp up to which bans were flushed */
	struct rf_own_bans own[RF_OWN_NUMBERS]; /* from the newest */
};

/* The newest stamp that they name; an engine with an older one has forgotten. */
uint64_t rf_kept_bans_newest(const struct rf_kept_bans *kept);
/* This host has told a ban with that stamp, under that number. False: that was known. */
bool rf_kept_bans_note(struct rf_kept_bans *kept, uint32_t slot, uint64_t stamp);

#endif /* RF_FLEET_BANS_H */
