/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Shared by the parts of the bench: a row is one program under one traffic, a group is the rows
 * that were measured in turns together with one floor, the report is all groups.
 *
 *   bench.c   options, and the exit status
 *   rows.c    the list of rows           target.c     loads the measured programs
 *   shapes.c  … of limits with `sport`, `to`, `length`, `flags`
 *   crowd.c   … of many that pass        group.c      assembles groups
 *   users.c   … of many, as users have   habit.c      are packets in the expected state?
 *   newcomers.c  … of new sources            challenge.c  … that are examined
 *   run.c     measures, in turns         pair.c       while another CPU does the same
 *   table.c   prints                     budget.c     checks against bounds
 *   quiet.c   was the machine quiet?     machine.c    identifies the machine
 */
#ifndef RINGFENCE_BENCH_H
#define RINGFENCE_BENCH_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "frame.h"
#include "ringfence/abi.h"
#include "tool.h"

#define NAME_SIZE 48
#define ROUNDS_MAX 15
#define ROWS_MAX 12   /* of a group */
#define GROUPS_MAX 64 /* of a report */

#define MS 1000000ULL
#define SECOND (1000 * MS)
#define MINUTE (60 * SECOND) /* a cell of it outlasts the turns of all rows */
#define HOUR (60 * MINUTE)

#define ALL_SOURCES (1ULL << 32)
#define KNOWN_PASS LIMIT(RF_LIMIT_MAX, SECOND, STRICT(16))

struct bench_options {
	bool quick;
	bool json;
	bool all_users;	  /* every combination of users.c */
	const char *only; /* groups that have this in their name; NULL: all */
	const char *budget;
	const char *keep; /* a file that gets the report as JSON; NULL: none */
	uint32_t repeat;  /* packets in a round */
	int rounds;
	int turns; /* of a group that is disturbed, at most */
};

enum family { IPV4, IPV6, FAMILIES };

/* A program, and the walk in front of it. */
struct target {
	int fd[FAMILIES];	     /* of the walk */
	struct ringfence_bpf *fence; /* NULL: the measured program is no fence */
	struct rf_fence *view;	     /* of the fence, as the command line has it */
	bool denies;		     /* the prefix of target_change_list() */
	struct walk_bpf *walk;
};

struct frame {
	enum family family;
	union {
		struct frame4 v4;
		struct frame6 v6;
	};
};

/* In ns a packet. */
struct summary {
	double median, min, max;
	/* The base: medians of what each round's difference and ratio are. */
	double over, ratio;
};

/* The work of another CPU at the same time. */
enum beside {
	ALONE,
	SAME,  /* the same, with the same sources */
	APART, /* the same, with other sources */
};

/* The state of the windows that the packets of a round find. */
enum meets {
	MEETS_ANYTHING,
	MEETS_LEASE,   /* mostly a lease, and no window: the row prints the share */
	MEETS_PRESENT, /* a head in the same cell */
	MEETS_OLDER,   /* one of a cell before, in the window */
	MEETS_PASSED,  /* one older than the window */
};

struct row {
	char name[NAME_SIZE];
	const char *says; /* the same in words */
	struct target *target;
	struct frame frame;
	int verdict;	   /* the required verdict of the program; with any other the figure is
			      meaningless */
	uint32_t repeat;   /* packets in a round; 0: from the options */
	uint32_t warm;	   /* packets before the first round, in a different order */
	uint32_t lead;	   /* packets before each round that are not measured, in the same walk */
	uint32_t rest_ms;  /* … between these and the round */
	uint32_t slices;   /* of a round, and of its lead; 0: one */
	uint32_t pause_ms; /* between them */
	enum meets meets;
	uint32_t pace;	   /* packets/s of each source, by the injected clock; 0: as fast as it runs
			    */
	uint32_t walks;	   /* of a row with `pace`, until now */
	bool changes_list; /* once a second of that clock */
	uint32_t settle_s; /* before the first round, to let its sources become residents */
	enum beside beside;
	int base;		  /* the row of the group that it is compared with */
	uint32_t sampled, leased; /* sources of `meets`; those that a lease answered */
	double ns[ROUNDS_MAX];
	struct summary summary;
};

/* Other activity of the machine during the measurement; quiet.c defines the permitted amount. */
struct noise {
	double seconds;
	double others; /* CPU time of other processes, in CPUs */
	double stolen; /* CPUs that the host gave to other guests */
	double slow;   /* rounds of the floor that were slow, as a part of all */
};

#define TURNS_MAX 3 /* of a group that is disturbed */

struct group {
	char name[NAME_SIZE];
	struct row row[ROWS_MAX]; /* the first is the floor */
	int rows;
	struct target target[ROWS_MAX];
	int targets;
	const char *skipped; /* why; NULL: it was not */
	int seconds;	     /* of a round, by the injected clock, in turns; 0: no row has `pace` */
	int rounds_most;     /* 0: from the options, as `turns_most` */
	struct noise noise;  /* of the quietest turn, whose figures are the rows' */
	int turns;
	int turns_most;	     /* 0: from the options */
	char disturbed[192]; /* that turn, in words; empty: the machine was quiet */
};

struct machine {
	char cpu[128];
	char kernel[80];
	int cpus;
	bool is_virtual;
	long l2_kib, l3_kib; /* 0: not known */
};

struct report {
	struct group group[GROUPS_MAX];
	int groups;
	int rounds;
};

#define LIMITS_STACKED 4

/* The active rules of a fence. */
struct load {
	struct rf_limit limit;	     /* of each, by other names; rate 0: none */
	uint32_t limits;	     /* that are stacked on every packet; 0: one */
	uint32_t allowed;	     /* prefixes on the allow list, /24 or /48, of other sources */
	uint32_t from;		     /* … in the `from` of another limit */
	enum rf_newcomers_then then; /* a guard; off: none */
	uint64_t newcomers;	     /* of the guard, in a second; 0: one an hour */
	bool injects_clock;	     /* time comes from target_pass_time() */
	bool no_leases;		     /* every packet goes to the windows */
	const char *words;	     /* of a limit, in place of `limit`: "any rate 1/1h"; or NULL */
};

/* ---- target.c ---- */

void target_open(struct target *target, int fd);
/*
 * A fence with room for `sources` windows of that family, `leases` for all CPUs together, and that
 * load.
 */
void target_open_fence(struct target *target, enum family family, uint32_t sources, uint32_t leases,
		       const struct load *load);
void target_close(struct target *target);
/* Lets the walk write the headers of that frame before each packet, for programs that change them.
 */
void target_restore(struct target *target, const struct frame *frame);
/* Advances the injected clock. */
void target_pass_time(struct target *target, uint64_t ns);
/* Denies a prefix without sources, or removes it again, as the command line would. */
void target_change_list(struct target *target, enum family family);
/* Properties of the first limit of a fence. */
uint32_t target_limit_id(const struct target *target);
/* Reads the window of a source of the walk, by its number, from the map; false if not found. */
bool target_window(const struct target *target, enum family family, uint32_t number,
		   struct rf_source *source);
/*
 * Adds up passed and dropped packets so far; false if the program is no fence and counts nothing.
 */
bool target_count(const struct target *target, uint64_t *passed, uint64_t *dropped);
/* `sources` and `hold`, the packets of a source in a row, are powers of two. */
void frame_set(struct frame *frame, enum family family, uint32_t first, uint64_t sources,
	       uint32_t hold);
/* Makes it TCP with ACK, from port 53 to port 53, to 203.0.113.1 or 2001:db8:1::1. */
void frame_make_tcp(struct frame *frame);
struct walk *frame_walk(struct frame *frame);
/* The offset of the frame itself. */
void *frame_bytes(struct frame *frame, uint32_t *size);

/* ---- run.c, pair.c ---- */

/*
 * Pins this thread to the nth of its permitted CPUs, from the last one, because the first gets more
 * interrupts; false: fewer CPUs exist.
 */
bool run_on_cpu(int nth);
/* CPU time of one call, in ns, for any verdict of the program. */
double run_call(const struct target *target, struct frame *frame, uint32_t repeat, int *verdict);
/* Runs all rounds of all rows in turns, and computes the results. */
void run_group(struct group *group, const struct bench_options *options);
/* The same for a row, in the middle of another CPU's call. */
double pair_call(struct row *row, int *verdict);

/* ---- group.c ---- */

struct bpf_program;

extern struct floor_bpf *floors;
extern struct sketch_bpf *sketches;

/* NULL if not requested. */
struct group *group_begin(struct report *report, const struct bench_options *options,
			  enum family family, const char *name);
struct target *group_add_target(struct group *group);
struct row *group_add_row(struct group *group, const char *name, const char *says,
			  struct target *target, int verdict);
/* A row whose program drops everything. */
struct row *group_add_program(struct group *group, const char *name, const char *says,
			      const struct bpf_program *program);
struct row *group_add_floor(struct group *group, enum family family);
/* Over an array with as many entries as a CPU has leases for these sources. */
struct row *group_add_sketch(struct group *group, enum family family, uint32_t sources);
#define SETTLE_S 11 /* sources become residents when they are seen again after ten seconds */

/* How many leases and windows a fence needs for this many sources. */
uint32_t group_leases(uint32_t sources);
uint32_t group_room(uint32_t sources);
/* Is there memory for this many windows? Else the group is skipped. */
bool group_has_memory(struct group *group, uint64_t windows);
/* Measures the group, unless it is skipped, closes its programs and prints it. */
void group_end(struct group *group, const struct bench_options *options);

/* ---- habit.c ---- */

#define SAMPLES 256

/* Some windows of a row, before packets of their sources. */
struct sample {
	uint32_t count;
	uint32_t number[SAMPLES];
	uint64_t head[SAMPLES];
	uint64_t passed[SAMPLES]; /* packets */
	char wrong[192];
};

/* Chooses sources of the next packets. */
void habit_begin(struct sample *sample, const struct row *row, uint32_t packets);
/*
 * Were these packets in the state that the row describes? If not, records it in the sample: a
 * process that was kept from its CPU can be late.
 */
bool habit_end(struct sample *sample, struct row *row);

/* ---- rows.c, shapes.c, crowd.c, users.c, newcomers.c, challenge.c ---- */

void measure_all(struct report *report, const struct bench_options *options);
void measure_shapes(struct report *report, const struct bench_options *options, enum family family);
void measure_crowds(struct report *report, const struct bench_options *options, enum family family);
/* Looks up the windows of that fence and reads their rings. */
struct row *crowd_add_ring(struct group *group, const struct target *fence, enum family family);
void measure_users(struct report *report, const struct bench_options *options, enum family family);
/* The program that newcomers are compared with; `fill`: as in a full map of this many windows. */
struct row *crowd_add_insert(struct group *group, const char *name, enum family family,
			     uint32_t windows, bool fill);
void measure_newcomers(struct report *report, const struct bench_options *options,
		       enum family family);
void measure_challenges(struct report *report, const struct bench_options *options,
			enum family family);

/* ---- quiet.c ---- */

/* Start and end of a group's turn, and the disturbances in between. */
void quiet_begin(void);
struct noise quiet_end(const struct group *group, int rounds);
/* Is one turn quieter than the other? */
bool quiet_is_better(const struct noise *one, const struct noise *other);
/* Prints the noise in words, empty if the machine was quiet; returns false if it was not. */
bool quiet_judge(const struct noise *noise, char *words, size_t size);
/* Of all groups. */
struct noise quiet_sum(const struct report *report);
int quiet_disturbed(const struct report *report);

/* ---- machine.c ---- */

struct machine machine_read(void);

/* ---- table.c, budget.c ---- */

void table_begin(const struct bench_options *options);
void table_group(const struct group *group);
void table_end(const struct report *report);
void table_json(const struct report *report, FILE *file);
/* Names each row over its bound, on stderr; returns how many there are. */
int budget_check(const struct report *report, const struct bench_options *options);

#endif /* RINGFENCE_BENCH_H */
