/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A fence: one loaded program and its maps, attached to one or more interfaces. The only user of
 * libbpf. Silent: what is wrong goes into an rf_error, and every function that can fail returns 0
 * or a negative errno. What failed has changed nothing, but for an upgrade of several interfaces,
 * which goes on where it stopped when it is asked for again.
 *
 * A fence is found through the program on its interface, so that one attached by `ip`, without any
 * pin, is as good as one attached by `ringfence attach`.
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
	char name[RF_NAME_SIZE];
	struct rf_interface *interface; /* those of this network namespace */
	int interfaces;
	uint32_t program_id;
	char pins[RF_PIN_PATH_SIZE]; /* the directory of its pins; "": none that we can see */
	bool read_only;		     /* by pins that we may not write */
	bool is_alien;		     /* it is not as this build makes it, so that it did not open */
	bool among_unknown;	     /* it is the only one, as far as we may look at programs */
	uint32_t sources;	     /* capacity of each windows map */
	uint32_t leases;	     /* of all CPUs together */
	int map_fd[RF_MAP_COUNT];
	uint32_t map_id[RF_MAP_COUNT];
	/* Shared with the program, or copies where `read_only`: */
	void *memory[RF_MAP_COUNT]; /* NULL: not mapped */
	size_t memory_size[RF_MAP_COUNT];
	uint32_t memory_count[RF_MAP_COUNT]; /* values in there */
	struct rf_config *config;
	const struct rf_lease *lease;
	struct rf_ports *ports;	     /* of each bank */
	uint32_t known_filter_lines; /* a power of two */
	struct rf_source *aggregate; /* RF_AGGREGATE_SETS of RF_AGGREGATES */
	struct rf_ban_set *ban;	     /* RF_BAN_SETS */
};

#define RF_LEASES_LEAST (2 * RF_LEASE_WAYS) /* of a CPU */

#define RF_FENCE_NONE ((struct rf_fence){.map_fd = {[0 ... RF_MAP_COUNT - 1] = -1}})

/* ---- finding and reading (fence.c, counters.c, rules.c) ---- */

/*
 * Opens the fence on interface `dev`, or the only one there is where `dev` is NULL. `fence` is
 * RF_FENCE_NONE before. Close it whether this succeeded or not.
 */
int rf_fence_open(struct rf_fence *fence, const char *dev, struct rf_error *error);
void rf_fence_close(struct rf_fence *fence);

/* The directory of a fence that has pins; "": it has none. */
struct rf_pin_path rf_fence_pins(const struct rf_fence *fence);
/* Makes a fence of an open program's maps, which it takes over. */
int rf_fence_from_program(struct rf_fence *fence, struct rf_program *program,
			  struct rf_error *error);

/* Maps the maps whose descriptors it has into memory, as far as they are shared. */
int rf_fence_map_memory(struct rf_fence *fence, struct rf_error *error);

/* 1 while it is on an interface here, which an upgrade leaves so; 0 when it is not any more. */
int rf_fence_is_attached(const struct rf_fence *fence, struct rf_error *error);

/* How the rules in force came to be so. */
enum rf_trial_state {
	RF_SETTLED, /* confirmed, or never on trial */
	RF_ON_TRIAL,
	RF_FELL_BACK, /* the trial is over: the rules before it are in force */
	RF_FELL_OPEN, /* the attach was not confirmed in time: everything passes */
};

struct rf_standing {
	enum rf_trial_state state;
	enum rf_fallback fallback; /* of the rules on trial */
	uint64_t trial_ns;	   /* until it ends, or since it did */
	uint64_t active;	   /* rf_config.active, as it was read */
	uint64_t in_force;	   /* the generation */
	uint64_t jiffies;	   /* now; 0 where RF_SETTLED */
};

struct rf_standing rf_fence_standing(const struct rf_fence *fence);

/*
 * A copy of the bank in force: after RF_FELL_OPEN the one that would be, were it confirmed. An
 * error where no ringfence has written it so.
 */
int rf_fence_bank(const struct rf_fence *fence, struct rf_bank *bank, struct rf_error *error);
/*
 * The rules in force, read back from the fence as a whole; prefixes that have expired are still
 * among them. `ruleset` is RF_RULESET_NONE before; free it in any case.
 */
int rf_fence_ruleset(const struct rf_fence *fence, struct rf_ruleset *ruleset,
		     struct rf_error *error);

/* What the tries say of a source; all 0 where it lies in no prefix. */
int rf_fence_prefix_value(const struct rf_fence *fence, const struct rf_address *source,
			  struct rf_prefix_value *value, struct rf_error *error);

/* The kernel's count of jiffies, now. Only of a fence whose clock was measured. */
uint64_t rf_fence_jiffies(const struct rf_fence *fence);
/* The time that is a duration from now, rounded up, and what is left until a time, in ns. */
uint64_t rf_fence_deadline(const struct rf_fence *fence, uint64_t now, uint64_t time_ns);
uint64_t rf_fence_left_ns(const struct rf_fence *fence, uint64_t now, uint64_t deadline);
/* Now, in the clock of `policy`. */
uint64_t rf_fence_time(const struct rf_fence *fence, const struct rf_policy *policy);
/* A duration in the clock of `policy`, in nanoseconds. */
uint64_t rf_fence_duration_ns(const struct rf_fence *fence, const struct rf_policy *policy,
			      uint64_t units);

/* ---- single values of the shared memory (shared.c) ---- */

/* The length of a jiffy; 0: never measured, so no rule has a time. */
uint32_t rf_fence_tick_ns(const struct rf_fence *fence);
/* Windows of a family, 0 or 1, whose sources stay, and how many at most may. */
uint64_t rf_fence_residents(const struct rf_fence *fence, int family);
uint64_t rf_fence_residents_max(const struct rf_fence *fence);
/* A copy of the bank that is not the one of generation `in_force`. */
void rf_fence_other_bank(const struct rf_fence *fence, uint64_t in_force, struct rf_bank *bank);
/* The id that the next new limit gets. Written only with the lock held. */
uint32_t rf_fence_next_limit_id(const struct rf_fence *fence);
void rf_fence_keep_limit_id(struct rf_fence *fence, uint32_t next_id);
/*
 * Notes programs in a configuration, before they are attached. The programs of the fence `attached`
 * stay known. Others, which may be attached in another network namespace, stay known as far as
 * there is room. `attached` may be NULL.
 */
void rf_pinned_note(struct rf_pinned *pinned, const uint32_t id[RF_ENTRY_COUNT],
		    const struct rf_fence *attached);
/* The same in the configuration of that fence. */
void rf_fence_note_programs(const struct rf_fence *fence, const uint32_t id[RF_ENTRY_COUNT]);
/* Writes the fence's name, which may be that of its interface, into its configuration. */
void rf_fence_keep_name(const struct rf_fence *fence);

/* Sums over all CPUs. */
int rf_fence_counters(const struct rf_fence *fence, struct rf_counters *sum,
		      struct rf_error *error);
int rf_fence_limit_counters(const struct rf_fence *fence, int slot, struct rf_limit_counters *sum,
			    struct rf_error *error);

/* What maps take of the kernel's memory, in bytes; those of prefixes, with their tries. */
struct rf_memory {
	uint64_t bytes; /* all of them together */
	uint64_t map[RF_MAP_COUNT];
};

/* Of maps that hold no prefixes yet. */
void rf_memory_of(const int map_fd[RF_MAP_COUNT], struct rf_memory *memory);
/* Of all but the program itself, and two maps of its own of a page or so. */
void rf_fence_memory(const struct rf_fence *fence, struct rf_memory *memory);

/* The state of `source`, which it masks as the policy says; -ENOENT for a newcomer. */
int rf_fence_source(const struct rf_fence *fence, const struct rf_policy *policy,
		    struct rf_address *source, struct rf_source *state, struct rf_error *error);

/* Called for each window of any limit; a negative return ends the walk with that. */
typedef int (*rf_source_visit)(const struct rf_address *source, uint32_t limit_id,
			       const struct rf_source *state, void *context);
int rf_fence_each_source(const struct rf_fence *fence, rf_source_visit visit, void *context,
			 struct rf_error *error);

/* ---- bans (bans.c) ---- */

struct rf_ban_row {
	struct rf_address source; /* masked as its limit has it */
	uint32_t limit_id;
	const struct rf_limit *limit;
	uint64_t until, since; /* jiffies */
	uint32_t place;	       /* in the table, */
	uint64_t word;	       /* … and as it was read there */
};

/* Those that stand, by limits in force, sorted by source. */
struct rf_bans {
	struct rf_ban_row *row;
	size_t count;
	uint64_t now; /* jiffies */
	struct rf_bank rules;
};

/* Reads them. Free them in any case. */
int rf_fence_bans(const struct rf_fence *fence, struct rf_bans *bans, struct rf_error *error);
void rf_bans_free(struct rf_bans *bans);
/* The ban of a source, masked as the limit has it; NULL: it is not banned by that. */
const struct rf_ban_row *rf_bans_find(const struct rf_bans *bans, const struct rf_address *source,
				      uint32_t limit_id);
/* Whom it bans, as a prefix. */
struct rf_prefix rf_ban_prefix(const struct rf_ban_row *row);
/*
 * Ends the bans of what lies in `prefix`, or in which that lies; NULL: all of them. Returns how
 * many; within RF_BAN_LEASE_NS every CPU knows it. Only where the fence may be changed.
 */
int rf_fence_unban(const struct rf_fence *fence, const struct rf_prefix *prefix,
		   struct rf_error *error);

/* ---- changing rules (lock.c, clock.c, commit.c) ---- */

/*
 * An error unless we may change it: its pins are to be read only, or another user's, or it was not
 * named by `dev`, and there are programs that may be fences as well.
 */
int rf_fence_check_may_change(const struct rf_fence *fence, const char *dev,
			      struct rf_error *error);
#define RF_LOCK_SECONDS 30

/* How long a command waits for another one: that, or what the environment says. */
unsigned int rf_lock_seconds(void);
/*
 * One change at a time: waits for other commands, for RF_LOCK_SECONDS at most, and holds the lock
 * until this process ends. `note` is told, after a second, for whom it waits.
 */
int rf_fence_lock(struct rf_error *error);
void rf_fence_set_note(void (*note)(const char *text));
/* The start of a jiffy, and the length of one. */
int rf_clock_measure(struct rf_clock_reading *base, uint32_t *tick_ns, struct rf_error *error);
/* Measures the length of a jiffy and ties jiffies to CLOCK_MONOTONIC, once for a fence. */
int rf_fence_measure_clock(struct rf_fence *fence, struct rf_error *error);
/*
 * Gives each CPU its part of the leases, and makes a key to their places and those of the filter;
 * once for a fence.
 */
int rf_fence_make_leases(struct rf_fence *fence, struct rf_error *error);
/* An error while rules are on trial that fall back: nothing else may be changed then. */
int rf_fence_check_settled(const struct rf_fence *fence, struct rf_error *error);
/* Sets counters to 0, of an index that no rules in force, or before, have. */
int rf_fence_clear_limit_counters(struct rf_fence *fence, int index, struct rf_error *error);

/* For how long the rules hold unless they are confirmed. */
struct rf_trial {
	uint64_t time_ns;
};

/* Told while prefixes are written, which may take seconds. */
struct rf_progress {
	void (*report)(void *context, size_t done, size_t total);
	void *context;
};

/*
 * Puts `ruleset` in force, all at once, compiling it first; `trial` and `progress` may be NULL. Of
 * its newcomers it wants rate, window and `then`. Only with the lock held, the clock measured and
 * the leases made.
 */
int rf_fence_commit(struct rf_fence *fence, struct rf_ruleset *ruleset,
		    const struct rf_trial *trial, const struct rf_progress *progress,
		    struct rf_error *error);
/*
 * Ends a trial: its rules stay. `before` says how they stood. An error where there was none, or
 * where the old rules are back already.
 */
int rf_fence_confirm(struct rf_fence *fence, struct rf_standing *before, struct rf_error *error);

#endif /* RINGFENCE_FENCE_H */
