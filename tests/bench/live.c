// SPDX-License-Identifier: GPL-2.0
/*
 * The measurement of `live.sh`: floods several wires in turn, and reports the CPU time of their
 * receivers.
 *
 *   live cpu N family 4|6 sources N bytes N frames N rounds N [interval N] wire NAME DEV PID [wire
 * NAME DEV PID]...
 *
 * DEV is the near end of a veth pair; PID is the thread that runs the NAPI of its far end, or
 * PID,PID the threads of its two queues: then a second generator, on CPU `second`, fills the other
 * one. Frames sent on a CPU go into the queue of that number. Before the rounds each source sends a
 * few frames into each wire, to be known there; unless there are more than KNOWN_MOST, which are
 * all existing addresses: each is then a newcomer. Then the wires take turns: `frames` each, after
 * at least as many unmeasured ones; every turn prints a JSON object on a separate line.
 *
 * With `interval N`, in seconds, there is no flood: in each interval every source sends one frame,
 * in a single batch. If the wires are fast enough, each of them gets its batch in every interval;
 * otherwise the wires take turns of several intervals. The batches are paced, to fill no ring.
 *
 * A turn starts and ends at rest: all sent frames were handled, and the thread sleeps. Its CPU time
 * is then up to date, and includes only the counted frames. The kernel's own clock of a flood omits
 * the grace periods around it.
 */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "live.h"

#include "build/tests/live.skel.h"

#define WIRES_MOST 16
#define INADDR_NET_10 0x0a000000
#define BATCH_FRAMES 256     /* the most; with fewer, the generator gets fewer of them back */
#define WARM_BATCH_FRAMES 64 /* of what fits into the receiver's ring a quarter */
#define GAP_NS 1000
#define GAP_NS_MOST 4000
#define UNHEARD_MOST 100 /* one in this many */
#define FLOODS 4	 /* frames a source; one in e^4 gets none */
#define REALLY_ASLEEP_US 1000
#define PATIENCE_S 10

#define QUEUES_MOST 2

/* Of sources with an interval: */
#define PACED_GAP_NS_LEAST 800	 /* a ring must not fill before its thread has woken up */
#define PACED_FRAME_NS 1000	 /* of a wire, to decide whether all fit into an interval */
#define PACED_WARM_S 32		 /* sources become residents, and have loans for some seconds */
#define PACED_LEAD_S 6		 /* of a wire after the turns of others */
#define PACED_TURN_S 17		 /* includes an expiry of all loans */
#define PACED_STRIDE 2654435761U /* a prime */
#define LOAN_TICKS 4096		 /* from one expiry of all loans to the next, at 250 Hz */

struct wire {
	const char *name, *dev;
	unsigned int index;
	int thread[QUEUES_MOST];
	int threads;
	uint32_t gap_ns; /* between the frames of a batch */
};

struct reading {
	uint64_t sent;	    /* by the generator */
	uint64_t handled;   /* by the receiver */
	uint64_t lost;	    /* between them: its ring was full */
	uint32_t sunk;	    /* came as far as IPv4's routing, which refuses them; wraps */
	uint64_t cpu_ns;    /* of the receiver's thread */
	uint64_t waited_ns; /* the time it waited for its CPU */
};

#define LIVE_FRAME_MOST 1514 /* bytes, with the Ethernet header */
#define KNOWN_MOST (1U << 24)

struct bench {
	uint64_t cpu, second, family, sources, bytes, frames, rounds, interval;
	bool is_shared; /* an interval, by all wires */
	struct wire wire[WIRES_MOST];
	size_t wires_n;
	struct live_bpf *object;
	struct live_bpf *beside; /* the second generator; NULL: none */
	uint32_t header_sum;
	unsigned char frame[LIVE_FRAME_MOST];
};

__attribute__((format(printf, 1, 2), noreturn)) static void die(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fputs("live: ", stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
	exit(EXIT_FAILURE);
}

static uint64_t parse_number(const char *key, const char *text)
{
	char *end;
	uint64_t value = strtoull(text, &end, 10);

	if (end == text || *end)
		die("%s '%s': invalid number", key, text);
	return value;
}

/* ---- counters ---- */

static FILE *open_file(const char *path)
{
	FILE *file = fopen(path, "r");

	if (!file)
		die("%s: cannot open: %s", path, strerror(errno));
	return file;
}

/*
 * veth counts on the near end the frames handled on the far end, and those that did not fit its
 * ring.
 */
static void read_device(const struct wire *wire, struct reading *reading)
{
	FILE *file = open_file("/proc/self/net/dev");
	char line[512], dev[64];

	while (fgets(line, sizeof(line), file))
		if (sscanf(line,
			   " %63[^:]: %*u %*u %*u %*u %*u %*u %*u %*u %*u %" SCNu64 " %*u %" SCNu64,
			   dev, &reading->handled, &reading->lost) == 3 &&
		    !strcmp(dev, wire->dev))
			break;
	if (feof(file))
		die("%s: cannot find it", wire->dev);
	fclose(file);
}

/* The sum over the wire's threads. */
static void read_threads(const struct wire *wire, struct reading *reading)
{
	for (int i = 0; i < wire->threads; i++) {
		uint64_t cpu_ns, waited_ns;
		char path[64];
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%d/schedstat", wire->thread[i]);
		file = open_file(path);
		if (fscanf(file, "%" SCNu64 " %" SCNu64, &cpu_ns, &waited_ns) != 2)
			die("%s: cannot read", path);
		fclose(file);
		reading->cpu_ns += cpu_ns;
		reading->waited_ns += waited_ns;
	}
}

static bool is_asleep(int thread)
{
	char path[64], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", thread);
	file = open_file(path);
	if (fscanf(file, "%*d %*[^)]) %c", &state) != 1)
		die("%s: cannot read", path);
	fclose(file);
	return state == 'S';
}

static bool are_asleep(const struct wire *wire)
{
	for (int i = 0; i < wire->threads; i++)
		if (!is_asleep(wire->thread[i]))
			return false;
	return true;
}

/* Of all namespaces and CPUs: a line of hexadecimal numbers for each CPU, under their names. */
static uint32_t read_sunk(void)
{
	FILE *file = open_file("/proc/self/net/stat/rt_cache");
	char line[512];
	uint32_t sum = 0, sunk;

	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%*x %*x %*x %*x %*x %*x %" SCNx32, &sunk) == 1)
			sum += sunk;
	fclose(file);
	return sum;
}

static struct reading read_all(const struct bench *bench, const struct wire *wire)
{
	struct reading reading = {.sent = bench->object->bss->sent, .sunk = read_sunk()};

	if (bench->beside)
		reading.sent += bench->beside->bss->sent;
	read_device(wire, &reading);
	read_threads(wire, &reading);
	return reading;
}

static struct reading wait_for_rest(const struct bench *bench, const struct wire *wire,
				    const struct reading *since)
{
	time_t end = time(NULL) + PATIENCE_S;
	struct reading now;

	do {
		if (time(NULL) > end)
			die("%s: not all frames came through", wire->dev);
		now = read_all(bench, wire);
	} while (now.sent - since->sent != now.handled - since->handled + now.lost - since->lost ||
		 !are_asleep(wire));
	usleep(REALLY_ASLEEP_US); /* it reports that slightly early */
	return read_all(bench, wire);
}

/* ---- the flood ---- */

/* Runs before other processes on its CPU. */
static void keep_to_cpu(uint64_t cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) || setpriority(PRIO_PROCESS, gettid(), -20))
		die("CPU %ju: cannot run there: %s", (uintmax_t)cpu, strerror(errno));
}

/* Returns the CPU time, without the grace periods before and after. */
static uint64_t send_by(const struct bench *bench, struct live_bpf *object, const struct wire *wire,
			uint32_t count, uint32_t batch)
{
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = bench->frame, .data_size_in = bench->bytes,
		    .repeat = count, .flags = BPF_F_TEST_XDP_LIVE_FRAMES, .batch_size = batch);
	int err;

	object->bss->to = wire->index;
	err = bpf_prog_test_run_opts(bpf_program__fd(object->progs.generate), &run);
	if (err)
		die("%s: cannot send: %s", wire->dev, strerror(-err));
	return (uint64_t)run.duration * count;
}

struct sending {
	const struct bench *bench;
	const struct wire *wire;
	uint32_t count, batch;
};

static void *send_beside(void *context)
{
	const struct sending *sending = context;

	keep_to_cpu(sending->bench->second);
	send_by(sending->bench, sending->bench->beside, sending->wire, sending->count,
		sending->batch);
	return NULL;
}

/* Sends all frames in one call of each generator; of two generators, each sends half. */
static uint64_t send_frames(struct bench *bench, const struct wire *wire, uint32_t count,
			    uint32_t batch)
{
	struct sending half = {bench, wire, count / 2, batch};
	pthread_t thread;
	uint64_t took_ns;

	if (!bench->beside)
		return send_by(bench, bench->object, wire, count, batch);
	if (pthread_create(&thread, NULL, send_beside, &half))
		die("cannot start a second generator");
	took_ns = send_by(bench, bench->object, wire, count - half.count, batch);
	pthread_join(thread, NULL);
	return took_ns;
}

static void set_gap(struct bench *bench, uint32_t gap_ns)
{
	bench->object->bss->gap_ns = gap_ns;
	if (bench->beside)
		bench->beside->bss->gap_ns = gap_ns;
}

/*
 * Sends until the receiver got a frame of nearly every source, and more slowly after a round in
 * which it lost too many. Then sends from random sources, as in the measurement: only the second
 * packet of a source can exceed the limit.
 */
static void warm_up(struct bench *bench, const struct wire *wire)
{
	struct reading before, after;

	bench->object->bss->stride = 1;
	for (uint32_t gap_ns = GAP_NS; gap_ns <= GAP_NS_MOST; gap_ns *= 2) {
		before = read_all(bench, wire);
		set_gap(bench, gap_ns);
		/* each of two generators to each source */
		send_frames(bench, wire, bench->sources * wire->threads, WARM_BATCH_FRAMES);
		after = wait_for_rest(bench, wire, &before);
		if (after.lost - before.lost <= bench->sources / UNHEARD_MOST)
			break;
	}
	if (bench->interval)
		return;
	set_gap(bench, 0);
	before = read_all(bench, wire);
	send_frames(bench, wire, FLOODS * bench->sources, BATCH_FRAMES);
	wait_for_rest(bench, wire, &before);
}

/*
 * The number of frames before a turn that are not measured. They fill the caches again after the
 * other wires' turns, and come from nearly every source, as in a flood that lasts: during those
 * turns the sources were silent for longer than a lease lives.
 */
static uint32_t lead_frames(const struct bench *bench)
{
	const uint64_t floods = bench->sources > KNOWN_MOST ? 0 : FLOODS * bench->sources;

	return floods > bench->frames ? floods : bench->frames;
}

/* A part of a turn, or the sum of several. */
struct turn {
	uint64_t sent, handled, lost, sunk, cpu_ns, waited_ns, took_ns;
	uint64_t late;	   /* intervals that were longer */
	uint64_t expiries; /* of all loans */
};

static void add_to_turn(struct turn *turn, const struct reading *before,
			const struct reading *after, uint64_t took_ns)
{
	turn->sent += after->sent - before->sent;
	turn->handled += after->handled - before->handled;
	turn->lost += after->lost - before->lost;
	turn->sunk += (uint32_t)(after->sunk - before->sunk);
	turn->cpu_ns += after->cpu_ns - before->cpu_ns;
	turn->waited_ns += after->waited_ns - before->waited_ns;
	turn->took_ns += took_ns;
}

static void print_turn(const struct wire *wire, uint64_t round, const struct turn *turn)
{
	printf("{\"variant\": \"%s\", \"round\": %ju, \"sent\": %ju, \"handled\": %ju, "
	       "\"lost\": %ju, \"sunk\": %ju, \"cpu_ns\": %ju, \"waited_ns\": %ju, "
	       "\"took_ns\": %ju, \"late\": %ju, \"expiries\": %ju}\n",
	       wire->name, (uintmax_t)round, (uintmax_t)turn->sent, (uintmax_t)turn->handled,
	       (uintmax_t)turn->lost, (uintmax_t)turn->sunk, (uintmax_t)turn->cpu_ns,
	       (uintmax_t)turn->waited_ns, (uintmax_t)turn->took_ns, (uintmax_t)turn->late,
	       (uintmax_t)turn->expiries);
}

static void take_turn(struct bench *bench, const struct wire *wire, uint64_t round)
{
	struct reading before = read_all(bench, wire), after;
	struct turn turn = {};
	uint64_t took_ns;

	send_frames(bench, wire, lead_frames(bench), BATCH_FRAMES);
	before = wait_for_rest(bench, wire, &before);
	took_ns = send_frames(bench, wire, bench->frames, BATCH_FRAMES);
	after = wait_for_rest(bench, wire, &before);
	add_to_turn(&turn, &before, &after, took_ns);
	print_turn(wire, round, &turn);
}

/* ---- sources with an interval ---- */

/* With it, the frames of a wire take an interval, less the time to set up the batch. */
static uint32_t longest_gap(const struct bench *bench)
{
	const uint64_t gap_ns = bench->interval * 1000000000 / bench->sources * 7 / 8;

	return gap_ns < GAP_NS_MOST ? gap_ns : GAP_NS_MOST;
}

/*
 * Slightly more than the receiver needed for the batch before. Without wires in the same interval,
 * there is time for the longest gap.
 */
static void choose_gap(const struct bench *bench, struct wire *wire, const struct turn *batch)
{
	wire->gap_ns = longest_gap(bench);
	if (bench->is_shared && batch->handled &&
	    wire->gap_ns > batch->cpu_ns / batch->handled * 5 / 4)
		wire->gap_ns = batch->cpu_ns / batch->handled * 5 / 4;
	if (wire->gap_ns < PACED_GAP_NS_LEAST)
		wire->gap_ns = PACED_GAP_NS_LEAST;
}

/*
 * Counts a batch as if no frame was lost: otherwise the one after an expiry of all loans, which
 * costs most and fills the ring, would count less than the others. A receiver that lost half of a
 * batch was kept from its CPU.
 */
static void add_batch(struct turn *turn, struct turn *batch)
{
	turn->lost += batch->lost;
	turn->took_ns += batch->took_ns;
	turn->waited_ns += batch->waited_ns;
	turn->sent += batch->sent;
	if (batch->lost > batch->sent / 2)
		return;
	turn->cpu_ns += batch->cpu_ns * batch->sent / batch->handled;
	turn->sunk += batch->sunk * batch->sent / batch->handled;
	turn->handled += batch->sent;
}

/* One frame of every source. */
static void send_batch(struct bench *bench, struct wire *wire, struct turn *turn)
{
	struct reading before = read_all(bench, wire), after;
	struct turn batch = {};
	uint64_t took_ns;

	set_gap(bench, wire->gap_ns);
	took_ns = send_frames(bench, wire, bench->sources, WARM_BATCH_FRAMES);
	after = wait_for_rest(bench, wire, &before);
	add_to_turn(&batch, &before, &after, took_ns);
	add_batch(turn, &batch);
	choose_gap(bench, wire, &batch);
}

/* Waits for the next interval; 1: it is late. */
static uint64_t wait_for_interval(const struct bench *bench, struct timespec *due)
{
	struct timespec now;

	due->tv_sec += bench->interval;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (now.tv_sec > due->tv_sec || (now.tv_sec == due->tv_sec && now.tv_nsec > due->tv_nsec)) {
		*due = now;
		return 1;
	}
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, due, NULL) == EINTR)
		;
	return 0;
}

/* Intervals of at least that time, for these wires. */
static void send_intervals(struct bench *bench, struct wire *wire, size_t wires, uint64_t seconds,
			   struct turn turn[WIRES_MOST])
{
	uint64_t since = 0, late = 0;
	struct timespec due;

	memset(turn, 0, wires * sizeof(*turn));
	clock_gettime(CLOCK_MONOTONIC, &due);
	for (uint64_t s = 0; s < seconds; s += bench->interval) {
		for (size_t i = 0; i < wires; i++)
			send_batch(bench, &wire[i], &turn[i]);
		late += wait_for_interval(bench, &due);
		since = since ? since : bench->object->bss->jiffies;
	}
	for (size_t i = 0; i < wires; i++) {
		turn[i].late = late;
		turn[i].expiries = bench->object->bss->jiffies / LOAN_TICKS - since / LOAN_TICKS;
	}
}

/*
 * All rounds; `wires` at a time get their batches in the same intervals. If that is not all of
 * them, each has a pause before its turn, in which its sources become residents, and loans expire.
 */
static void take_paced_turns(struct bench *bench, size_t wires)
{
	const uint64_t warm_s = wires < bench->wires_n ? PACED_LEAD_S : PACED_WARM_S;
	struct turn turn[WIRES_MOST];

	bench->object->bss->stride = PACED_STRIDE;
	bench->is_shared = wires == bench->wires_n;
	for (size_t i = 0; i < bench->wires_n; i++)
		bench->wire[i].gap_ns = longest_gap(bench);
	for (size_t i = 0; i < bench->wires_n; i += wires)
		send_intervals(bench, &bench->wire[i], wires, warm_s, turn);
	for (uint64_t round = 0; round < bench->rounds; round++)
		for (size_t i = 0; i < bench->wires_n; i += wires) {
			if (wires < bench->wires_n)
				send_intervals(bench, &bench->wire[i], wires, PACED_LEAD_S, turn);
			send_intervals(bench, &bench->wire[i], wires, PACED_TURN_S, turn);
			for (size_t n = 0; n < wires; n++)
				print_turn(&bench->wire[i + n], round, &turn[n]);
		}
}

static void take_turns(struct bench *bench)
{
	const uint64_t batches_ns = bench->wires_n * bench->sources * PACED_FRAME_NS;

	if (bench->interval) {
		take_paced_turns(bench,
				 batches_ns < bench->interval * 1000000000 ? bench->wires_n : 1);
		return;
	}
	for (uint64_t round = 0; round < bench->rounds; round++)
		for (size_t i = 0; i < bench->wires_n; i++)
			take_turn(bench, &bench->wire[i], round);
}

/* ---- setting up ---- */

static uint32_t sum_words(const void *bytes, size_t len)
{
	const unsigned char *byte = bytes;
	uint32_t sum = 0;

	for (size_t i = 0; i < len; i += 2)
		sum += byte[i] << 8 | byte[i + 1];
	return sum;
}

/*
 * To a loopback address: IPv4 refuses that on a wire, behind the raw hooks and before a route. IPv6
 * refuses it before these hooks, so its frames go to a multicast group without members.
 */
static void build_frame(struct bench *bench)
{
	struct ethhdr *eth = (void *)bench->frame;
	struct iphdr *ip4 = (void *)(eth + 1);
	struct ipv6hdr *ip6 = (void *)(eth + 1);

	memcpy(eth->h_dest, (const unsigned char[]){2, 0, 0, 0, 0, 2}, ETH_ALEN);
	memcpy(eth->h_source, (const unsigned char[]){2, 0, 0, 0, 0, 1}, ETH_ALEN);
	if (bench->family == 6) {
		eth->h_proto = htons(ETH_P_IPV6);
		ip6->version = 6;
		ip6->payload_len = htons(bench->bytes - ETH_HLEN - sizeof(*ip6));
		ip6->nexthdr = IPPROTO_UDP;
		ip6->hop_limit = 64;
		ip6->saddr.s6_addr32[0] = htonl(0x20010db8);
		ip6->daddr.s6_addr32[0] = htonl(0xff0e0000);
		ip6->daddr.s6_addr32[3] = htonl(1);
		return;
	}
	eth->h_proto = htons(ETH_P_IP);
	ip4->version = 4;
	ip4->ihl = sizeof(*ip4) / 4;
	ip4->tot_len = htons(bench->bytes - ETH_HLEN);
	ip4->ttl = 64;
	ip4->protocol = IPPROTO_UDP;
	ip4->daddr = htonl(INADDR_LOOPBACK);
	bench->header_sum = sum_words(ip4, sizeof(*ip4));
}

/* Two generators send the same sources, in different orders. */
static struct live_bpf *load_generator(const struct bench *bench, uint64_t seed)
{
	struct live_bpf *object = live_bpf__open_and_load();

	if (!object)
		die("cannot load the generator: %s", strerror(errno));
	object->bss->random_state = seed;
	object->bss->header_sum = bench->header_sum;
	object->bss->first = bench->sources > KNOWN_MOST ? 0 : INADDR_NET_10;
	object->bss->sources = bench->sources;
	return object;
}

static void add_wire(struct bench *bench, char **words)
{
	struct wire *wire = &bench->wire[bench->wires_n++];

	if (bench->wires_n > WIRES_MOST || !words[0] || !words[1] || !words[2])
		die("wire: needs NAME DEV PID, %d times at most", WIRES_MOST);
	wire->name = words[0];
	wire->dev = words[1];
	wire->index = if_nametoindex(wire->dev);
	wire->threads = sscanf(words[2], "%d,%d", &wire->thread[0], &wire->thread[1]);
	if (wire->threads < 1)
		die("wire '%s': no PID", words[2]);
	if (!wire->index)
		die("%s: no such device", wire->dev);
}

static uint64_t *find_number(struct bench *bench, const char *key)
{
	const struct {
		const char *key;
		uint64_t *value;
	} numbers[] = {
		{"cpu", &bench->cpu},	    {"second", &bench->second},
		{"family", &bench->family}, {"sources", &bench->sources},
		{"frames", &bench->frames}, {"rounds", &bench->rounds},
		{"bytes", &bench->bytes},   {"interval", &bench->interval},
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (!strcmp(key, numbers[i].key))
			return numbers[i].value;
	die("'%s': unknown word", key);
}

static void parse_words(struct bench *bench, char **words)
{
	while (words[0] && words[1])
		if (!strcmp(words[0], "wire")) {
			add_wire(bench, words + 1);
			words += 4;
		} else {
			*find_number(bench, words[0]) = parse_number(words[0], words[1]);
			words += 2;
		}
	if (words[0])
		die("'%s': needs a value", words[0]);
}

int main(int argc, char **argv)
{
	static struct bench bench = {.family = 4,
				     .sources = 1,
				     .bytes = LIVE_FRAME_LEAST,
				     .frames = 100000,
				     .rounds = 1};

	if (argc < 2)
		die("wrong usage");
	parse_words(&bench, argv + 1);
	if (bench.bytes < LIVE_FRAME_LEAST || bench.bytes > LIVE_FRAME_MOST)
		die("bytes %ju: from %d to %d", (uintmax_t)bench.bytes, LIVE_FRAME_LEAST,
		    LIVE_FRAME_MOST);
	keep_to_cpu(bench.cpu);
	build_frame(&bench);
	bench.object = load_generator(&bench, 0);
	if (bench.wires_n && bench.wire[0].threads > 1)
		bench.beside = load_generator(&bench, 1);
	for (size_t i = 0; i < bench.wires_n && bench.sources <= KNOWN_MOST; i++)
		warm_up(&bench, &bench.wire[i]);
	take_turns(&bench);
	live_bpf__destroy(bench.beside);
	live_bpf__destroy(bench.object);
	return 0;
}
