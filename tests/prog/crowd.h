/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Crowds of sources, each with its pace, that send through a loaded program in simulated time: a
 * minute of ten thousand frames a second takes half a second. For watched sources, every packet is
 * followed; at the end their windows are compared with what they sent.
 */
#ifndef RINGFENCE_TESTS_CROWD_H
#define RINGFENCE_TESTS_CROWD_H

#include <stdbool.h>
#include <stdint.h>

#include "program.h"

#define CROWDS_MAX 8

/* Newcomers a second: for 65,536 windows it would be 2,000. */
#define GUARD 125
#define GUARDED "newcomers rate 125/1s then closed\n"

enum crowd_family {
	CROWD_IPV4,
	CROWD_IPV6,  /* /64s of one /47, so that random ones come again */
	CROWD_MIXED, /* every other one */
	CROWD_FAMILIES,
};

/* One source that is watched. */
struct member {
	uint32_t sent;
	uint32_t tries; /* packets that were refused as a newcomer's until the first that was not */
	uint32_t lost;	/* later ones that were refused as a newcomer's, or dropped */
	uint32_t windows; /* of limits in force that group by source */
	uint32_t unlike;  /* … that have not counted each packet after those, as passed */
	bool is_in;
};

struct crowd {
	enum crowd_family family;
	uint32_t first;	     /* numbers of its sources begin here */
	uint32_t sources;    /* that take turns; 0: always another one, at random */
	uint32_t times;	     /* packets of each random source; 0: one */
	uint32_t ramp_per_s; /* so many more of `sources` each second, from none; 0: all at once */
	uint64_t apart_ns;   /* from one packet of a source to its next */
	uint64_t rate;	     /* random: packets a second */
	uint64_t from_ns;    /* since the start; until_ns too */
	uint64_t until_ns;
	bool is_watched;
	uint8_t tcp_flags; /* the byte in its header; 0: UDP */
	uint16_t port;	   /* destination */

	uint64_t due_ns, n;
	uint64_t passed; /* of one that is not watched */
	struct member *member;
};

/*
 * One test. Loading the program takes longer than most tests, so tests share one program. Each test
 * begins an hour after the test before it, with the maps full of that test's leftovers, and has
 * addresses of its own.
 */
struct scene {
	struct program *program;
	uint32_t block; /* of addresses */
	uint64_t start_ns;
	struct crowd crowd[CROWDS_MAX];
	size_t crowds;
	uint64_t now_ns; /* since the start */
	bool is_shared;	 /* two CPUs send at once, and refusals are not counted by packet */
	bool follows;	 /* another one has the clock */
};

extern struct scene scene; /* of the test that runs */

/* Where there is such a CPU. */
void crowd_run_on(int cpu);

void scene_open(struct scene *scene, const char *rules);

/* For a test that needs a room in which nobody was. */
void scene_open_empty(struct scene *scene, const char *rules);

/* What a test tears down, and what a group does. */
int crowd_close(void **state);
int crowd_unload(void **state);

/* ---- who sends ---- */

/* A crowd that comes now, for so long. */
struct crowd *scene_add(struct scene *scene, struct crowd added, uint64_t for_ns);

/* Lets time pass until so long after the start. */
void scene_run(struct scene *scene, uint64_t until_ns);

/* One packet of a source of that number. Is it dropped? */
bool crowd_send(const struct scene *scene, const struct crowd *crowd, uint32_t number);

/* NULL: that source is not watched. */
struct member *find_member(struct scene *scene, const struct rf_address *address);

/* How many sources of a watched crowd had a packet that was not refused as a newcomer's. */
uint32_t count_in(const struct crowd *crowd);

/* ---- the known ---- */

#define KNOWN_FIRST 0xc0a80000U	  /* 192.168.0.0 */
#define ATTACK_FIRST 0x0a000000U  /* 10.0.0.0 */
#define SETTLE_NS (37 * NS_PER_S) /* the guard refuses some at first: then three packets more */
#define KNOWN_CROWDS 3

/* Most send every other second, some seldom, some through their leases. */
struct known {
	struct crowd *crowd[KNOWN_CROWDS];
};

struct known add_known(struct scene *scene, enum crowd_family family, uint64_t for_ns);

struct losses {
	uint32_t sources, lossy, evicted;
	uint64_t sent, lost;
};

void add_losses(struct scene *scene, struct crowd *crowd, struct losses *losses);
struct losses losses_of(struct scene *scene, const struct known *known);
void assert_nothing_lost(const struct losses *losses, const char *who);

#endif /* RINGFENCE_TESTS_CROWD_H */
