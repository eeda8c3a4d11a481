// SPDX-License-Identifier: GPL-2.0
/*
 * The parts of `watch.sh` that send and scan.
 *
 *   scans send PIN 4|6 SOURCES    one packet a second of each source, through the program at PIN
 *   scans scan INTERFACE SCANS    one scan a second of the fence there, as the daemon scans
 *   scans pairs PIN INTERFACE PAIRS  a packet of one source, with and without scans on CPU 1
 *
 * `send` prints a line when each source has sent, and continues until it is stopped. `scan` prints
 * an object of JSON: medians of the CPU time of a scan, and of reading the same records and
 * discarding them, which is the kernel's part. The clock is the process's own: it is exact, while
 * the kernel separates its own part from the process's by ticks only.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/units.h"
#include "bench.h"
#include "snapshot/snapshot.h"

#define FIRST_SCANS 2 /* read all windows and learn them: they do not count */
#define SCANS_MAX 600
#define SLICES 10 /* of a second: packets arrive continuously, not together */

/* ---- sending ---- */

static void send_packets(const struct target *target, struct frame *frame, uint32_t count)
{
	uint32_t size;
	void *bytes = frame_bytes(frame, &size);
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = bytes, .data_size_in = size,
		    .data_out = bytes, .data_size_out = size, .repeat = count);

	if (bpf_prog_test_run_opts(target->fd[frame->family], &run))
		die("cannot run the program: %s", strerror(errno));
}

static int send_all(const char *pin, const char *family, const char *text)
{
	const uint32_t sources = parse_count(text, 1 << 24);
	const int fd = bpf_obj_get(pin);
	uint64_t at_ns = clock_ns(CLOCK_MONOTONIC);
	struct target target = {};
	struct frame frame;

	if (fd < 0)
		die("%s: %s", pin, strerror(errno));
	if (sources & (sources - 1))
		die("%u sources: expects a power of two", sources);
	target_open(&target, fd);
	frame_set(&frame, *family == '4' ? IPV4 : IPV6, 0x0a000000, sources, 1);
	for (uint64_t second = 0;; second++) {
		for (uint32_t slice = 0; slice < SLICES; slice++) {
			send_packets(&target, &frame,
				     sources / SLICES + (slice < sources % SLICES));
			at_ns += SECOND / SLICES;
			sleep_until(at_ns);
		}
		if (second)
			continue;
		printf("%u sources have sent\n", sources);
		fflush(stdout);
	}
}

/* ---- scanning ---- */

struct figures {
	double scan_ms[SCANS_MAX], kernel_ms[SCANS_MAX], rows[SCANS_MAX];
};

static int compare(const void *a, const void *b)
{
	const double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static double median(double *value, uint32_t count)
{
	qsort(value, count, sizeof(*value), compare);
	return value[count / 2];
}

static int ignore(const struct rf_window_sight *sight, void *context)
{
	*(uint64_t *)context += sight->passed;
	return 0;
}

static double read_alone(const struct rf_fence *fence)
{
	const uint64_t before = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	struct rf_error error = {};
	uint64_t sum = 0;

	if (rf_fence_each_record(fence, RF_WINDOWS_4S, ignore, &sum, &error))
		die("cannot read the windows: %s", error.text);
	return (double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - before) / MS;
}

static double scan_once(struct rf_scanner *scanner, struct rf_snapshot *snapshot)
{
	const uint64_t before = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	struct rf_error error = {};

	rf_snapshot_free(snapshot);
	if (rf_scan(scanner, snapshot, &error))
		die("%s", error.text);
	return (double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - before) / MS;
}

static int scan_all(const char *interface, const char *text)
{
	static struct figures figures;
	static struct rf_snapshot snapshot;
	const uint32_t scans = parse_count(text, SCANS_MAX);
	const __u64 key[3] = {0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb};
	uint64_t at_ns = clock_ns(CLOCK_MONOTONIC);
	struct rf_error error = {};
	struct rf_scanner *scanner = rf_scanner_open(interface, &error);
	double scan_ms, kernel_ms;

	if (!scanner)
		die("%s", error.text);
	rf_scanner_follow(scanner, key);
	for (uint32_t i = 0; i < scans + FIRST_SCANS; i++) {
		const uint32_t at = i < FIRST_SCANS ? 0 : i - FIRST_SCANS;

		sleep_until(at_ns += SECOND);
		figures.scan_ms[at] = scan_once(scanner, &snapshot);
		figures.rows[at] = snapshot.sources.count;
		sleep_until(at_ns + SECOND / 2);
		figures.kernel_ms[at] = read_alone(rf_scanner_fence(scanner));
	}
	scan_ms = median(figures.scan_ms, scans);
	kernel_ms = median(figures.kernel_ms, scans);
	printf("{\"rows\": %.0f, \"scan_ms\": %.2f, \"kernel_ms\": %.2f, \"own_ms\": %.2f, "
	       "\"most_ms\": %.2f}\n",
	       median(figures.rows, scans), scan_ms, kernel_ms, scan_ms - kernel_ms,
	       figures.scan_ms[scans - 1]);
	rf_snapshot_free(&snapshot);
	rf_scanner_close(scanner);
	return 0;
}

/* ---- a packet during scans ---- */

#define TURN_MS 1000
#define BURST 100000 /* packets of a call */

static void keep_to_cpu(int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		die("CPU %d: %s", cpu, strerror(errno));
}

/* Scans each second while requested, all windows too, until it is killed. */
static void scan_beside(const char *interface, const volatile bool *scans)
{
	struct rf_error error = {};
	struct rf_scanner *scanner = rf_scanner_open(interface, &error);
	struct rf_snapshot snapshot = {};
	uint64_t sum = 0;

	if (!scanner)
		die("%s", error.text);
	keep_to_cpu(1);
	for (;;) {
		sleep_until(clock_ns(CLOCK_MONOTONIC) + TURN_MS * MS / 4);
		if (!*scans)
			continue;
		scan_once(scanner, &snapshot);
		rf_fence_each_record(rf_scanner_fence(scanner), RF_WINDOWS_ALL, ignore, &sum,
				     &error);
		sleep_until(clock_ns(CLOCK_MONOTONIC) + TURN_MS * MS / 2);
	}
}

/* CPU time of a packet, in ns. */
static double run_turn(const struct target *target, struct frame *frame)
{
	const uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + TURN_MS * MS;
	const uint64_t before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	uint64_t packets = 0;

	for (; clock_ns(CLOCK_MONOTONIC) < end_ns; packets += BURST)
		send_packets(target, frame, BURST);
	return (double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - before) / packets;
}

/* The least number of values below which lies the median of all with less than 1 in 40. */
static uint32_t sign_rank(uint32_t count)
{
	double part = 1, sum;
	uint32_t rank = 0;

	for (uint32_t i = 0; i < count; i++)
		part /= 2;
	for (sum = part; sum < 0.025; sum += part) {
		part *= (double)(count - rank) / (rank + 1);
		rank++;
	}
	return rank;
}

static void print_pairs(double *ratio, double *alone, uint32_t pairs)
{
	const uint32_t rank = sign_rank(pairs);

	qsort(ratio, pairs, sizeof(*ratio), compare);
	printf("{\"pairs\": %u, \"alone_ns\": %.2f, \"ratio\": %.4f, \"low\": %.4f, "
	       "\"high\": %.4f, \"quarter\": %.4f, \"three_quarters\": %.4f}\n",
	       pairs, median(alone, pairs), (ratio[(pairs - 1) / 2] + ratio[pairs / 2]) / 2,
	       ratio[rank - 1], ratio[pairs - rank], ratio[pairs / 4],
	       ratio[pairs - 1 - pairs / 4]);
}

static int measure_pairs(const char *pin, const char *interface, const char *text)
{
	static double ratio[SCANS_MAX], alone[SCANS_MAX];
	const uint32_t pairs = parse_count(text, SCANS_MAX);
	const uint32_t pairs_least = 6; /* of fewer, nothing can be said with 95 % */
	volatile bool *scans = mmap(NULL, sizeof(*scans), PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const int fd = bpf_obj_get(pin);
	struct target target = {};
	struct frame frame;
	pid_t child;

	if (fd < 0 || scans == MAP_FAILED)
		die("%s: %s", pin, strerror(errno));
	if (pairs < pairs_least)
		die("%u pairs: expects %u or more", pairs, pairs_least);
	child = fork();
	if (!child)
		scan_beside(interface, scans);
	keep_to_cpu(0);
	target_open(&target, fd);
	frame_set(&frame, IPV4, 0x0a000001, 1, 1);
	run_turn(&target, &frame);
	for (uint32_t i = 0; i < pairs; i++) {
		double ns[2];

		for (int turn = 0; turn < 2; turn++) { /* which of both is first changes */
			*scans = (turn + i) % 2;
			ns[*scans] = run_turn(&target, &frame);
		}
		ratio[i] = ns[1] / ns[0];
		alone[i] = ns[0];
	}
	kill(child, SIGKILL);
	print_pairs(ratio, alone, pairs);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "send"))
		return send_all(argv[2], argv[3], argv[4]);
	if (argc == 4 && !strcmp(argv[1], "scan"))
		return scan_all(argv[2], argv[3]);
	if (argc == 5 && !strcmp(argv[1], "pairs"))
		return measure_pairs(argv[2], argv[3], argv[4]);
	die("wrong usage; watch.sh says how");
}
