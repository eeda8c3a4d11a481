/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A fence: one loaded program and its maps, attached to one or more interfaces. Its functions print
 * nothing. A function that can fail returns 0 or a negative errno, and puts the message into an
 * rf_error. A function that failed has changed nothing. There are two exceptions: a commit that
 * fails after the switch reports that the new rules are active, and an upgrade of several
 * interfaces continues at the failed interface when it is run again.
 *
 * A fence is found through the program on its interface. A fence that `ip` attached, without any
 * pin, is therefore equivalent to a fence that `ringfence attach` attached.
 */
#ifndef RINGFENCE_FENCE_H
#define RINGFENCE_FENCE_H

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "kernel/interfaces.h"
#include "kernel/names.h"
#include "kernel/pins.h"
#include "kernel/program.h"
#include "ringfence/abi.h"
#include "rules/grammar.h"
#include "rules/ruleset.h"

struct rf_fence {
	char name[RF_NAME_SIZE];	/* an alien fence: of its interface */
	struct rf_interface *interface; /* its interfaces in this network namespace */
	int interfaces;
	uint32_t program_id;
	char pins[RF_PIN_PATH_SIZE]; /* the directory of its pins; "": none that we can see */
	bool read_only;		     /* opened by read-only pins */
	bool is_alien;		     /* not opened, since it is not as this build makes it */
	bool among_unknown;	     /* the only fence found, but some programs could not be read */
	uint32_t sources;	     /* slots of each family, the most windows */
	uint32_t source_size;	     /* bytes of a window; RF_SHARED_SOURCE_SIZE: it has shares */
	uint32_t leases;	     /* of all CPUs together */
	int map_fd[RF_MAP_COUNT];
	uint32_t map_id[RF_MAP_COUNT];
	/* Shared with the program, or copies where `read_only`: */
	void *memory[RF_MAP_COUNT]; /* NULL: not mapped */
	size_t memory_size[RF_MAP_COUNT];
	uint32_t memory_count[RF_MAP_COUNT]; /* values in each */
	struct rf_config *config;
	const struct rf_lease *lease; /* NULL where `read_only` */
	struct rf_ports *ports;	      /* of each bank */
	uint32_t known_filter_lines;  /* a power of two */
	void *aggregate;	/* RF_AGGREGATE_SETS of RF_AGGREGATES, of source_size bytes each */
	struct rf_ban_set *ban; /* RF_BAN_SETS */
};

#define RF_LEASES_LEAST (2 * RF_LEASE_WAYS) /* for each CPU */

#define RF_FENCE_NONE ((struct rf_fence){.map_fd = {[0 ... RF_MAP_COUNT - 1] = -1}})

/* ---- finding and reading (fence.c, find.c, rules.c) ---- */

/*
 * Opens the fence that `dev` names, see rf_dev_resolve(), or the only fence if `dev` is NULL.
 * `fence` is RF_FENCE_NONE before the call. Close it even after an error.
 */
int rf_fence_open(struct rf_fence *fence, const char *dev, struct rf_error *error);
/* Likewise, opens the fence on that interface. */
int rf_fence_open_on(struct rf_fence *fence, const char *interface_name, struct rf_error *error);
void rf_fence_close(struct rf_fence *fence);

/* May its limits be shared with other hosts? */
static inline bool rf_fence_has_shares(const struct rf_fence *fence)
{
	return fence->source_size == RF_SHARED_SOURCE_SIZE;
}

/* The directory of a fence's pins; "": it has none. */
struct rf_pin_path rf_fence_pins(const struct rf_fence *fence);
/* Makes a fence from the maps of an open program. The fence takes over the maps. */
int rf_fence_from_program(struct rf_fence *fence, struct rf_program *program,
			  struct rf_error *error);

/* Maps the shared maps of a fence into memory. The fence has their descriptors. */
int rf_fence_map_memory(struct rf_fence *fence, struct rf_error *error);

/*
 * 1: the fence is on an interface of this network namespace, also after an upgrade. 0: no longer.
 */
int rf_fence_is_attached(const struct rf_fence *fence, struct rf_error *error);
/* The same; `fence` then has the interfaces that it is on now. */
int rf_fence_find_interfaces(struct rf_fence *fence, struct rf_error *error);

/* Are the rules confirmed, can they still be, or were they not confirmed in time? */
enum rf_confirm_state {
	RF_CONFIRMED, /* confirmed, or applied without `confirm` */
	RF_PENDING,
	RF_REVERTED, /* not confirmed in time: the previous rules are active */
	RF_EXPIRED,  /* the attach was not confirmed in time: everything passes */
};

struct rf_standing {
	enum rf_confirm_state state;
	enum rf_fallback fallback; /* of the unconfirmed rules */
	uint64_t confirm_ns;	   /* until unconfirmed rules are reverted, or since */
	uint64_t active;	   /* rf_config.active, as it was read */
	uint64_t in_force;	   /* the active generation */
	uint64_t jiffies;	   /* now; 0 where RF_CONFIRMED */
	uint64_t paused_ns; /* how long no packet is dropped yet; 0: the fence is not paused */
};

struct rf_standing rf_fence_standing(const struct rf_fence *fence);

/*
 * Pauses the fence: for `time_ns` from now on no packet is dropped, under any rules, regardless of
 * an earlier pause; 0: ends the pause. It is not a rule: a change of the rules does not affect it,
 * and it takes no lock. The data path ends it; time in which the machine is suspended does not
 * count.
 */
void rf_fence_pause(const struct rf_fence *fence, uint64_t time_ns);

/*
 * Copies the active bank. After RF_EXPIRED, copies the bank that a confirmation would activate. An
 * error if no ringfence can have written the bank.
 */
int rf_fence_bank(const struct rf_fence *fence, struct rf_bank *bank, struct rf_error *error);
/*
 * Reads back all active rules, including prefixes that have expired. `ruleset` is RF_RULESET_NONE
 * before the call. Free it even after an error.
 */
int rf_fence_ruleset(const struct rf_fence *fence, struct rf_ruleset *ruleset,
		     struct rf_error *error);
/*
 * The same without unconfirmed rules: the rules that apply if no `confirm` follows. A fence whose
 * attach was not confirmed has none: everything passes.
 */
int rf_fence_ruleset_confirmed(const struct rf_fence *fence, struct rf_ruleset *ruleset,
			       struct rf_error *error);

/*
 * The value of a prefix in the tries: of its own entry, or else of the longest enclosing one,
 * regardless of entries inside it. All 0: the prefix is in no entry.
 */
int rf_fence_value_around(const struct rf_fence *fence, const struct rf_prefix *prefix,
			  struct rf_prefix_value *value, struct rf_error *error);
/*
 * The longest prefix of the source whose own entry on `list` expires at `until`, as stored in the
 * value of the source. -ENOENT: not found, because the lists have changed concurrently.
 */
int rf_fence_listed_prefix(const struct rf_fence *fence, const struct rf_address *source,
			   enum rf_list list, uint64_t until, struct rf_prefix *prefix,
			   struct rf_error *error);

/* The program's state of the fleet, in a fence with shares (shares.c). */
struct rf_fleet_standing {
	uint32_t alone; /* offline buckets of sources, of RF_BUCKETS */
	/* Until the first bucket goes offline, or since when one is; INT64_MIN: never connected. */
	int64_t left_ns;
	uint64_t asks, asks_lost;
};

struct rf_fleet_standing rf_fence_fleet(const struct rf_fence *fence);
/* Copies the state of each bucket; returns the jiffies after that. */
uint64_t rf_fence_hearing(const struct rf_fence *fence, struct rf_hearing bucket[RF_BUCKETS]);

/* The kernel's jiffies now. Only for a fence whose clock was measured. */
uint64_t rf_fence_jiffies(const struct rf_fence *fence);
/*
 * The jiffies at `time_ns` after `now`, rounded up; and the nanoseconds from `now` to a deadline.
 */
uint64_t rf_fence_deadline(const struct rf_fence *fence, uint64_t now, uint64_t time_ns);
uint64_t rf_fence_left_ns(const struct rf_fence *fence, uint64_t now, uint64_t deadline);
/* The time now, in the clock of `policy`. */
uint64_t rf_fence_time(const struct rf_fence *fence, const struct rf_policy *policy);
/* Converts a duration from units of the clock of `policy` to nanoseconds. */
uint64_t rf_fence_duration_ns(const struct rf_fence *fence, const struct rf_policy *policy,
			      uint64_t units);
/* For windows of cells: the length of a cell, and when one starts, by CLOCK_MONOTONIC. */
uint64_t rf_fence_cell_ns(const struct rf_fence *fence, const struct rf_policy *policy);
uint64_t rf_fence_cell_start_ns(const struct rf_fence *fence, const struct rf_policy *policy,
				uint64_t epoch);

/* ---- single values of the shared memory ---- */

/* The length of a jiffy; 0: never measured, so no rule has a time. */
uint32_t rf_fence_tick_ns(const struct rf_fence *fence);
/* The number of residents of a family (0: IPv4, 1: IPv6), and its maximum. */
uint64_t rf_fence_residents(const struct rf_fence *fence, int family);
uint64_t rf_fence_residents_max(const struct rf_fence *fence);
/* Copies the bank that is not the bank of generation `in_force`. */
void rf_fence_other_bank(const struct rf_fence *fence, uint64_t in_force, struct rf_bank *bank);
/* The id that the next new limit gets. Written only with the lock held. */
uint32_t rf_fence_next_limit_id(const struct rf_fence *fence);
void rf_fence_keep_limit_id(struct rf_fence *fence, uint32_t next_id);
/*
 * Records programs in a configuration, before they are attached. The programs of the fence
 * `attached` remain recorded. Others, which might be attached in another network namespace, remain
 * as far as there is room. `attached` can be NULL.
 */
void rf_pinned_note(struct rf_pinned *pinned, const uint32_t id[RF_ENTRY_COUNT],
		    const struct rf_fence *attached);
/* The same in the configuration of that fence. */
void rf_fence_note_programs(const struct rf_fence *fence, const uint32_t id[RF_ENTRY_COUNT]);
/* Writes the fence's name, which can be that of its interface, into its configuration. */
void rf_fence_keep_name(const struct rf_fence *fence);

/* Sums over all CPUs. */
int rf_fence_counters(const struct rf_fence *fence, struct rf_counters *sum,
		      struct rf_error *error);
/* The number of windows in use. */
uint64_t rf_counters_windows(const struct rf_counters *sum, int family);
/* Of all limits in `bank`, which is active: their leases are read once. */
int rf_fence_limits_counters(const struct rf_fence *fence, const struct rf_bank *bank,
			     struct rf_limit_counters sum[RF_LIMITS_MAX], struct rf_error *error);

/*
 * The counters' values at the last reset; all 0 without one. A reader reads it after the counters,
 * and then subtracts it.
 */
void rf_fence_baseline(const struct rf_fence *fence, struct rf_baseline *baseline);
/* A sum can lag slightly behind the baseline: then the difference is 0. */
void rf_baseline_subtract(const struct rf_baseline *baseline, struct rf_counters *sum);
void rf_baseline_subtract_limit(const struct rf_baseline *baseline, const struct rf_policy *policy,
				struct rf_limit_counters *sum);
/* Resets the counters to 0, for readers. Only with the lock held. */
int rf_fence_reset(struct rf_fence *fence, struct rf_error *error);

/* The kernel memory of maps, in bytes. The maps of prefixes count with their tries. */
struct rf_memory {
	uint64_t bytes; /* all together */
	uint64_t map[RF_MAP_COUNT];
};

/* The memory of maps that hold no prefixes yet. */
void rf_memory_of(const int map_fd[RF_MAP_COUNT], struct rf_memory *memory);
/*
 * The memory of a fence's maps. The program, and two more maps of about a page, are not included.
 */
void rf_fence_memory(const struct rf_fence *fence, struct rf_memory *memory);

/* Masks `source` as the policy groups, and reads its state. -ENOENT: the source is a newcomer. */
int rf_fence_source(const struct rf_fence *fence, const struct rf_policy *policy,
		    struct rf_address *source, struct rf_source *state, struct rf_error *error);

/*
 * How much the window of a source, which is masked, can admit at `jiffies`, in units of the policy:
 * for a limit of the fleet, by its share and the state of its bucket; otherwise L. A window that
 * was removed has L.
 */
uint32_t rf_fence_room(const struct rf_fence *fence, const struct rf_policy *policy,
		       const struct rf_address *source, uint64_t jiffies);

/*
 * Is a source without a window under `policy` known by a window under another limit? Then the
 * newcomers rate does not apply to it.
 */
bool rf_fence_is_known(const struct rf_fence *fence, const struct rf_policy *policy,
		       const struct rf_address *source);
/* How long the newcomers rate of `bank` is used up, in ns; 0: the next newcomer gets a window. */
uint64_t rf_fence_guard_wait_ns(const struct rf_fence *fence, const struct rf_bank *bank);

/* Called for each window of every limit. A negative result stops the walk, which returns it. */
typedef int (*rf_source_visit)(const struct rf_address *source, uint32_t limit_id,
			       const struct rf_source *state, void *context);
int rf_fence_each_source(const struct rf_fence *fence, rf_source_visit visit, void *context,
			 struct rf_error *error);

/* Which windows: those that might have been charged recently, or all. */
enum rf_window_age {
	RF_WINDOWS_4S,
	RF_WINDOWS_64S,
	RF_WINDOWS_ALL,
};

#define RF_WINDOW_AGES 3

/* A window's data for readers, without packets that leases hold, which are not in it yet. */
struct rf_window_sight {
	struct rf_address source;
	uint32_t limit_id;
	uint32_t stay; /* changes if it was evicted and created again */
	uint64_t used; /* in the policy's units, with what is lent to CPUs */
	uint64_t lent; /* of `used` */
	uint64_t passed, dropped, would_drop;
	bool is_short; /* the counters are modulo 2^32 */
};

typedef int (*rf_window_visit)(const struct rf_window_sight *sight, void *context);
/*
 * Does an iterator lack, though others are pinned, as of a fence that an older version attached?
 * Then all is read in other ways, which take longer; `adopt` pins them.
 */
bool rf_fence_lacks_iterators(const struct rf_fence *fence);
/*
 * The number of parts of the iterators: for this many slots of a family, for this many sets of
 * leases.
 */
uint32_t rf_record_parts(uint32_t slots);
uint32_t rf_lease_parts(uint32_t sets);
/*
 * Visits windows by the pinned iterators. -ENOENT: the fence has none, or they cannot be opened.
 * Windows that are created or removed concurrently can be missed, or visited twice.
 */
int rf_fence_each_record(const struct rf_fence *fence, enum rf_window_age age,
			 rf_window_visit visit, void *context, struct rf_error *error);
/* Visits all windows by batches, of limits in `rules`. */
int rf_fence_each_window(const struct rf_fence *fence, const struct rf_bank *rules,
			 rf_window_visit visit, void *context, struct rf_error *error);
/* Looks one up. -ENOENT if not found. `source` is masked as the policy groups. */
int rf_fence_window(const struct rf_fence *fence, const struct rf_policy *policy,
		    const struct rf_address *source, struct rf_source *state);
/* A window's data for readers, read at this time. */
void rf_window_sight(const struct rf_fence *fence, const struct rf_policy *policy,
		     const struct rf_address *source, const struct rf_source *state,
		     struct rf_window_sight *sight);

/*
 * Called for each window that newcomers over the newcomers rate share, of limits in `rules`, with
 * the prefix that was charged last and its place among all of them; visits none if only the group
 * can read.
 */
typedef int (*rf_aggregate_visit)(const struct rf_prefix *prefix, int slot, int place,
				  const struct rf_source *state, void *context);
int rf_fence_each_aggregate(const struct rf_fence *fence, const struct rf_bank *rules,
			    rf_aggregate_visit visit, void *context);

/* ---- bans (bans.c) ---- */

struct rf_ban_row {
	struct rf_address source; /* masked as its limit groups */
	uint32_t limit_id;
	const struct rf_limit *limit;
	uint64_t until, since; /* jiffies */
	uint64_t left_ns, lasted_ns;
	uint32_t place; /* index in the table */
	uint64_t word;	/* the ban's word, as it was read */
};

/* The bans that have not expired, of active limits, sorted by source. */
struct rf_bans {
	struct rf_ban_row *row;
	size_t count;
	uint64_t now; /* jiffies */
	struct rf_bank rules;
};

/* Reads the bans. Free them even after an error. */
int rf_fence_bans(const struct rf_fence *fence, struct rf_bans *bans, struct rf_error *error);
void rf_bans_free(struct rf_bans *bans);
/*
 * Finds the ban of a source, masked as the limit groups. NULL: the limit does not ban the source.
 */
const struct rf_ban_row *rf_bans_find(const struct rf_bans *bans, const struct rf_address *source,
				      uint32_t limit_id);
/* The banned source, as a prefix. */
struct rf_prefix rf_ban_prefix(const struct rf_ban_row *row);
/* Whose bans to lift: of sources that are in `prefix` or contain it, or all. */
struct rf_unban {
	struct rf_prefix prefix;
	bool all;
	int bans; /* that it lifted, or would lift */
};

/*
 * Lifts many bans, at the cost of reading the bans once; unless `ends`, only counts them. Every CPU
 * applies it within RF_BAN_LEASE_NS. Only for a writable fence.
 */
int rf_fence_unban(const struct rf_fence *fence, struct rf_unban *unban, size_t count, bool ends,
		   struct rf_error *error);
/* The error for a source without a ban to lift. */
int rf_fail_not_banned(const struct rf_unban *unban, struct rf_error *error);

/* ---- changing rules (lock.c, clock.c, commit.c) ---- */

/*
 * An error unless the caller can change the fence. It cannot if its pins are read-only for it, or
 * belong to a different user. Nor can it if `dev` is NULL and some program, which might be another
 * fence, could not be read.
 */
int rf_fence_check_may_change(const struct rf_fence *fence, const char *dev,
			      struct rf_error *error);
#define RF_LOCK_SECONDS 30

/*
 * How long a command waits for the lock: RINGFENCE_LOCK_SECONDS of the environment, or the default.
 */
unsigned int rf_lock_seconds(void);
/*
 * Takes the lock, which serializes all commands that make changes. Waits for other commands, for
 * rf_lock_seconds() at most. Holds the lock until this process exits. After a second of waiting,
 * `note` is called with the name of the process that holds the lock.
 */
int rf_fence_lock(struct rf_error *error);
/* For a command that changes a fence: takes the lock, opens the fence, checks that we may. */
int rf_fence_open_to_change(struct rf_fence *fence, const char *dev, struct rf_error *error);
void rf_fence_set_note(void (*note)(const char *text));
/* Measures both clocks at the start of a jiffy, and the length of a jiffy. */
int rf_clock_measure(struct rf_clock_reading *base, uint32_t *tick_ns, struct rf_error *error);
/* Measures the length of a jiffy and ties jiffies to CLOCK_MONOTONIC, once for a fence. */
int rf_fence_measure_clock(struct rf_fence *fence, struct rf_error *error);
/*
 * Assigns each CPU its part of the leases. Creates the random key that places sources in the leases
 * and in the filter. Once for a fence.
 */
int rf_fence_make_leases(struct rf_fence *fence, struct rf_error *error);
/* An error while unconfirmed rules can be reverted: no rules can be changed then. */
int rf_fence_check_settled(const struct rf_fence *fence, struct rf_error *error);
/* Sets counters to 0. Neither the active rules nor the rules before them use this index. */
int rf_fence_clear_limit_counters(struct rf_fence *fence, int index, struct rf_error *error);

/* How long new rules remain active unless they are confirmed. */
struct rf_confirm {
	uint64_t time_ns;
};

/* `report` is called while prefixes are written, which may take seconds. */
struct rf_progress {
	void (*report)(void *context, size_t done, size_t total);
	void *context;
};

/*
 * Where newcomers are examined, stores the Ethernet addresses of this network namespace again; if
 * they cannot be read, the stored ones remain. Only with the lock held.
 */
void rf_fence_renew_macs(const struct rf_fence *fence);
/* Copies the stored addresses; returns their number. */
int rf_fence_own_macs(const struct rf_fence *fence, uint64_t mac[RF_OWN_MACS_MAX]);
/* Reads the addresses that it would store now; returns their number. */
int rf_fence_read_macs(const struct rf_fence *fence, uint64_t mac[RF_OWN_MACS_MAX],
		       struct rf_error *error);
/*
 * An error if the rules in `bank` newly challenge newcomers, unlike those in `present`, and the
 * network namespace of this process does not let them: without SYN cookies for all connections
 * nobody could prove an address.
 */
int rf_fence_check_challenge(const struct rf_fence *fence, const struct rf_bank *bank,
			     const struct rf_bank *present, struct rf_error *error);
/*
 * Compiles `ruleset` and activates it atomically. For its newcomers, the caller sets what
 * rf_bank_set_newcomers() does. `confirm` and `progress` can be NULL. Only with the lock held, the
 * clock measured and the leases made.
 */
int rf_fence_commit(struct rf_fence *fence, struct rf_ruleset *ruleset,
		    const struct rf_confirm *confirm, const struct rf_progress *progress,
		    struct rf_error *error);
/*
 * Confirms the active rules. `before` gets the previous state. An error if no rules are
 * unconfirmed, or if the old rules are already restored.
 */
int rf_fence_confirm(struct rf_fence *fence, struct rf_standing *before, struct rf_error *error);
/*
 * Restores the previous rules immediately, as if the time to confirm had expired. An error if no
 * rules are unconfirmed, or if an attach is, because no rules precede it.
 */
int rf_fence_revert(struct rf_fence *fence, struct rf_error *error);

#endif /* RINGFENCE_FENCE_H */
