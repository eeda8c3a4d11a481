/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Crowds of sources, each with its pace, that send through a loaded program in simulated time: a
 * minute of ten thousand frames a second takes half a second. For watched sources, every packet is
 * tracked; finally their windows are compared with the packets they sent.
 */
#ifndef RINGFENCE_TESTS_CROWD_H
#define RINGFENCE_TESTS_CROWD_H

#include <stdbool.h>
#include <stdint.h>

#include "program.h"

#define CROWDS_MAX 8

/* Newcomers a second: for 65,536 windows it would be 2,000. */
#define GUARD 125
#define GUARDED "newcomers rate 125/1s then drop\n"

enum crowd_family {
	CROWD_IPV4,
	CROWD_IPV6,  /* /64s of one /47, small enough for random ones to repeat */
	CROWD_MIXED, /* every other one */
	CROWD_FAMILIES,
};

/* One source that is watched. */
struct member {
	uint32_t sent;
	uint32_t tries;	  /* packets refused as a newcomer's, before the first other verdict */
	uint32_t lost;	  /* later packets that were refused as a newcomer's, or dropped */
	uint32_t windows; /* under enforced limits that group by source */
	uint32_t unlike;  /* windows that did not count all later packets as passed */
	bool is_in;
};

struct crowd {
	enum crowd_family family;
	uint32_t first;	     /* the number of the first source */
	uint32_t sources;    /* sources that take turns; 0: random sources */
	uint32_t times;	     /* packets of each random source; 0: one */
	uint32_t ramp_per_s; /* new sources each second, up to `sources`; 0: all immediately */
	uint64_t apart_ns;   /* from one packet of a source to its next */
	uint64_t rate;	     /* random: packets a second */
	uint64_t from_ns;    /* since the start, like until_ns */
	uint64_t until_ns;
	bool is_watched;
	uint8_t tcp_flags; /* the byte in its header; 0: UDP */
	uint16_t port;	   /* destination */

	uint64_t due_ns, n;
	uint64_t passed; /* of a crowd that is not watched */
	struct member *member;
};

/*
 * One test. Loading the program takes longer than most tests, so tests share one program. Each test
 * starts an hour after the previous one, with the maps full of that test's leftovers, and uses
 * different addresses.
 */
struct scene {
	struct program *program;
	uint32_t block; /* of addresses */
	uint64_t start_ns;
	struct crowd crowd[CROWDS_MAX];
	size_t crowds;
	uint64_t now_ns; /* since the start */
	bool is_shared;	 /* two CPUs send concurrently, and refusals are not counted by packet */
	bool follows;	 /* another scene drives the clock */
};

extern struct scene scene; /* of the running test */

/* Runs on that CPU, if there is such a CPU. */
void crowd_run_on(int cpu);

void scene_open(struct scene *scene, const char *rules);

/* For a test that needs maps without any source. */
void scene_open_empty(struct scene *scene, const char *rules);

/* The teardown of a test, and of a group. */
int crowd_close(void **state);
int crowd_unload(void **state);

/* ---- sending ---- */

/* Adds a crowd that sends from now on, for `for_ns`. */
struct crowd *scene_add(struct scene *scene, struct crowd added, uint64_t for_ns);

/* Lets time pass until `until_ns` after the start. */
void scene_run(struct scene *scene, uint64_t until_ns);

/* Sends one packet of the source with that number, and returns whether the packet is dropped. */
bool crowd_send(const struct scene *scene, const struct crowd *crowd, uint32_t number);

/* The record of a source, or NULL if the source is not watched. */
struct member *find_member(struct scene *scene, const struct rf_address *address);

/* How many sources of a watched crowd had a packet that was not refused as a newcomer's. */
uint32_t count_in(const struct crowd *crowd);

/* ---- known sources ---- */

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
