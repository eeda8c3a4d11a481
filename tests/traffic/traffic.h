/* SPDX-License-Identifier: GPL-2.0 */
/*
 * traffic: sends frames from many sources, and evaluates the frames that arrive behind the XDP
 * program. `send` is one socket, `flood` the redirect of an XDP program on several CPUs in
 * parallel.
 *
 * Each frame carries its send time in CLOCK_MONOTONIC, in host byte order: sender and receiver must
 * run under one kernel. `send` reads the clock before a frame is handed over and `recv` after it
 * was taken in: the program decided in between. That makes `max` sound: L + 1 frames that were all
 * sent at or after a and received by a + W were admitted within W. A stall anywhere can hide a
 * violation but never fake one.
 *
 * Times are ns, lengths are bytes with the Ethernet header. Exit status 0 done, 1 failed
 * (including: a frame that could not be sent, a drop at the receiving socket, a violation), 2 wrong
 * usage. An error terminates the process with one line on stderr; the kernel releases its
 * resources.
 */
#ifndef TRAFFIC_H
#define TRAFFIC_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <time.h>

#include "stamp.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define NS_PER_SEC 1000000000ull

#define FRAME_BYTES_MOST 10000
#define VLAN_TAG_BYTES 4
#define VLANS_MOST 2

enum proto { PROTO_UDP, PROTO_TCP, PROTO_SYN, PROTO_SYNACK, PROTO_ICMP, PROTO_NUMBER };
enum frag { FRAG_NONE, FRAG_FIRST, FRAG_LATER };

/*
 * An IPv4 address is the first four bytes, and the others are zero. Family 0: no address. No
 * padding.
 */
struct address {
	sa_family_t family;
	uint8_t bytes[16];
};

struct flow {
	struct address src, dst;
	uint64_t count, rate_pps, after_ns, len_bytes, sources;
	/*
	 * only for `flood`: the rate once it was signalled to start; new sources a second, from
	 * then on.
	 */
	uint64_t then_pps, ramp;
	bool is_staggered; /* the CPUs start at evenly spaced sources */
	uint32_t random;   /* only for `flood`: frames of each random source; 0: not random */
	uint16_t sport, dport;
	uint16_t vlan[VLANS_MOST]; /* outer first */
	size_t vlans;
	enum proto proto;
	uint8_t protocol; /* of PROTO_NUMBER, which has no header */
	enum frag frag;
	uint32_t number; /* its place on the command line */
	uint64_t sent;	 /* frames so far, which is the sequence number of the next */
	uint64_t begin_ns;
};

struct frame {
	size_t used; /* bytes laid out; zeros follow */
	uint8_t bytes[FRAME_BYTES_MOST];
};

struct max {
	uint64_t count, window_ns;
	const char *window_text;
};

/* One received frame. */
struct record {
	struct address source;
	uint32_t len_bytes;
	struct stamp stamp;
	struct stamp_ticks ticks; /* 0: none */
	uint64_t received_ns;
};

/*
 * When the program decided about frames of one source: not before sent, not after received. The sum
 * of a place is how much all frames before it count.
 */
struct times {
	uint64_t *sent, *received; /* both sorted: places and frames can differ */
	uint64_t *sent_sum, *received_sum;
	size_t n;
};

#define REPEAT_CPUS_MOST 64

/* A program that threads repeat, each on its CPU, with this frame. */
struct repeat {
	int program;
	const void *frame;
	size_t frame_bytes;
	uint64_t rest_ns; /* of each thread after some thousand frames */
	/*
	 * Frames of one system call; 0: the default. The kernel waits for grace periods in each
	 * call, for tens of milliseconds, and a thread stops only at the end of a call.
	 */
	uint32_t frames_a_call;
	bool stop;
	size_t cpus_n;
	struct repeat_thread {
		struct repeat *repeat;
		int cpu;
		pthread_t id;
	} threads[REPEAT_CPUS_MOST];
};

/* The cost of a frame. */
enum unit { UNIT_FRAMES, UNIT_BYTES };

/* main.c */
__attribute__((format(printf, 2, 3), noreturn)) void die(int status, const char *format, ...);
__attribute__((noreturn)) void die_of_usage(void);

/* common.c: a text that cannot be parsed terminates the process; @key is its option. */
uint64_t now_ns(void);
struct timespec timespec_of(uint64_t ns);
void *allocate(void *old, size_t count, size_t size);
uint64_t parse_number(const char *key, const char *text, uint64_t least, uint64_t most);
uint64_t parse_time(const char *key, const char *text);
struct max parse_max(const char *key, char *text);
struct address parse_address(const char *key, const char *text);
const char *address_text(const struct address *address);
struct address address_step(const struct address *first, uint64_t n);
uint64_t address_number(const struct address *address);
int socket_open(const char *dev, uint16_t protocol);

/* flow.c */
void flow_parse(struct flow *flow, uint32_t number, char *text);

/* frame.c */
void frame_build(struct frame *frame, const struct flow *flow);
bool frame_read(const uint8_t *bytes, size_t len, struct record *record);

/*
 * send.c, flood.c, recv.c, refusals.c, turns.c, tally.c, compose.c, forge.c, catch.c: the words
 * behind the command; the exit status.
 */
int command_send(char **words);
int command_flood(char **words);
int command_recv(char **words);
int command_judge(char **words);
int command_turns(char **words);
int command_tally(char **words);
int command_compose(char **words);
int command_forge(char **words);
int command_catch(char **words);

/* repeat.c */
void repeat_add_cpu(struct repeat *repeat, const char *text);
void repeat_start(struct repeat *repeat);
void repeat_stop(struct repeat *repeat);
void await_signals(void);
int signal_until(uint64_t end_ns);

/* judge.c: times_of() reorders the records */
void records_report(struct record *records, size_t n);
bool records_judge(struct record *records, size_t n, const struct max *max);
struct times times_of(struct record *records, size_t n, enum unit unit);
void times_free(struct times *times);
uint64_t most_within(const struct times *times, const struct max *max, uint64_t since_ns,
		     uint64_t until_ns);

#endif /* TRAFFIC_H */
