/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The server's functions compared with tests/fleet/model/ledger.c, call by call: shared by the
 * files of that comparison. All is drawn by one generator, so a seed yields the same calls again.
 */
#ifndef RINGFENCE_ENGINE_COMPARE_H
#define RINGFENCE_ENGINE_COMPARE_H

#include "client.h"
#include "tests/fleet/model/sums.h"
#include "tests/fleet/model/wire.h"

#define BUCKETS 2
#define MEMBERS 7
#define SOURCES 4
#define GRACE 2000
#define WINDOW 3000

struct member {
	uint32_t slot;
	uint64_t nonce, joined;
	uint32_t seq, share[SOURCES];
	uint64_t quiet_until; /* no heartbeat comes before */
};

/* The server's state according to the rules. */
struct bucket {
	struct rf_ledger ledger;
	struct rf_ledger_source source[SOURCES];
	uint64_t ends[SOURCES]; /* when the record does; 0: none */
	struct rf_sum sum[SOURCES];
	char sum_key[SOURCES][RF_WIRE_KEY_SIZE];
	bool is_new; /* the server has lost its hosts: it determines where generations start */
	struct member member[MEMBERS];
	char key[SOURCES][RF_WIRE_KEY_SIZE], hosts_key[RF_WIRE_KEY_SIZE];
	uint32_t number;
	uint64_t says_key; /* of buckets: what most heartbeats bring */
};

/* What came of the calls. */
struct seen {
	uint64_t beats, refused, learning, done, old, stranger, garbage, grown, lowered, errors;
	uint64_t gone, forgotten, foreign, sums;
};

extern struct bucket buckets[BUCKETS];
extern const uint32_t slots[MEMBERS];
extern const struct rf_ledger_limit limits[SOURCES];
extern redisContext *redis;
extern uint64_t now, run, calls;
extern struct seen seen;

/* The engine and the rules differ; does not return. */
__attribute__((format(printf, 1, 2), noreturn)) void differs(const char *format, ...);
/* A number below `bound`. */
uint64_t dice(uint64_t bound);
/* Sends a command whose reply does not matter. */
void command(const char *format, const char *key);

/* ---- compare_fate.c: what befalls the engine ---- */

/* The library whose time comes from two keys. */
void take_library(const char *path);
void load_library(void);
void lose_all(void);
void lose_hosts(struct bucket *bucket);
void lose_record(struct bucket *bucket, int source);
void lose_sum(struct bucket *bucket, int source);
/* Time passes; seldom state is lost, or a host restarts or falls silent. */
void happen(struct bucket *bucket);

/* ---- compare_kept.c: the server's stored state ---- */

void compare_hosts(const struct rf_ledger *is, const struct rf_ledger *wanted,
		   const struct rf_ledger_slots *listed);
void compare_record(const struct rf_ledger_source *is, const struct rf_ledger_source *wanted);
/* The times of the server's real clock before and after the call, and when a key expires. */
void check_expiry(uint64_t before, uint64_t after, int64_t ends, uint64_t life);
/*
 * The hosts as they are stored now; the start of generations is taken from a server that lost its
 * hosts.
 */
bool get_hosts(struct bucket *bucket, struct rf_ledger *ledger, struct rf_ledger_slots *listed);

/* ---- compare_calls.c: what all calls have ---- */

struct rf_ledger_call call_of(const struct member *member);
/* Changes bytes at times, which can make them invalid. */
size_t garble(uint8_t *bytes, size_t size, uint64_t seldom);
/* Sets the time; the replies are read by get_begin(), which returns the server's real time. */
void send_begin(void);
uint64_t get_begin(void);

/* ---- the calls: compare_members.c, compare_reports.c, compare_sums.c ---- */

void beat(struct bucket *bucket, struct member *member);
void gone(struct bucket *bucket, struct member *member);
void report(struct bucket *bucket, struct member *member);
void add_sums(struct bucket *bucket, struct member *member);

#endif /* RINGFENCE_ENGINE_COMPARE_H */
