// SPDX-License-Identifier: GPL-2.0
/*
 * The cost of a screen of `top`: a pseudo-terminal of 200 × 60, and synthetic scans of many sources
 * whose rates all change. Prints the median and the worst time for updating the model, painting,
 * and writing, and the bytes that each second writes.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/time.h"
#include "base/units.h"
#include "screen/paint.h"
#include "screen/terminal.h"

#define ROWS 60
#define COLUMNS 200
#define SECONDS 200

static FILE *report; /* standard output is the terminal */
static volatile uint64_t received;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void *drain(void *context)
{
	char part[65536];
	ssize_t length;

	while ((length = read(*(int *)context, part, sizeof(part))) > 0)
		received += length;
	return NULL;
}

/* Makes standard input and output a terminal, whose other end a thread reads. */
static void make_terminal(void)
{
	const struct winsize size = {.ws_row = ROWS, .ws_col = COLUMNS};
	static int master;
	pthread_t thread;
	int slave;

	report = fdopen(dup(STDOUT_FILENO), "w");
	master = posix_openpt(O_RDWR | O_NOCTTY);
	if (!report || master < 0 || grantpt(master) || unlockpt(master))
		fail("posix_openpt");
	slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	if (slave < 0 || ioctl(slave, TIOCSWINSZ, &size) || dup2(slave, STDIN_FILENO) < 0 ||
	    dup2(slave, STDOUT_FILENO) < 0)
		fail("the terminal");
	if (pthread_create(&thread, NULL, drain, &master))
		fail("pthread_create");
	setenv("TERM", "xterm-256color", 1);
	setenv("LC_ALL", "C.UTF-8", 1);
}

/* ---- scans ---- */

static void make_scan(struct rf_snapshot *scan, struct rf_source_row *rows, int count)
{
	struct rf_limit *limit = &scan->bans.rules.limit[0];

	scan->bans.rules.policy[0].id = 1;
	strcpy(limit->name, "any");
	limit->rate = 1000;
	limit->window_ns = RF_NS_PER_S;
	for (int i = 0; i < count; i++)
		rows[i] = (struct rf_source_row){
			.source = {4, 32, {htonl(0x0a000000 + i)}}, .limit = limit, .limit_id = 1};
	scan->sources = (struct rf_source_rows){rows, count, count};
}

/* A second later every source has another rate. */
static void change_scan(struct rf_snapshot *scan, int second)
{
	scan->awake_ns += RF_NS_PER_S;
	scan->time_ns += RF_NS_PER_S;
	scan->since_ns = second ? RF_NS_PER_S : 0;
	for (size_t i = 0; i < scan->sources.count; i++) {
		struct rf_source_row *row = &scan->sources.row[i];
		const double noise = 0.9 + 0.2 * (rand() % 1000) / 1000;

		row->used = rand() % 1001;
		row->new_passed = 1000 * noise;
		row->new_dropped = i % 7 ? 0 : (10000 + 37 * (i % 1000)) * noise;
		scan->counters.reason[RF_UNDER_LIMIT].packets += row->new_passed;
		scan->counters.reason[RF_OVER_LIMIT].packets += row->new_dropped;
	}
}

/* ---- figures ---- */

struct figure {
	const char *name, *unit;
	double value[SECONDS];
};

static int compare(const void *a, const void *b)
{
	const double left = *(const double *)a, right = *(const double *)b;

	return left < right ? -1 : left > right;
}

static void print(struct figure *figure)
{
	qsort(figure->value, SECONDS, sizeof(*figure->value), compare);
	fprintf(report, "%-8s median %8.2f %s, most %8.2f %s\n", figure->name,
		figure->value[SECONDS / 2], figure->unit, figure->value[SECONDS - 1], figure->unit);
}

static void run(int count)
{
	static struct figure take = {"model", "ms", {}}, paint = {"paint", "ms", {}},
			     write_out = {"write", "ms", {}}, bytes = {"bytes", "B/s", {}};
	struct rf_source_row *rows = calloc(count, sizeof(*rows));
	struct rf_snapshot *scan = calloc(1, sizeof(*scan));
	const struct rf_top asked = {.order = RF_BY_DROPS};
	struct rf_canvas canvas = {};
	struct rf_error error = {};
	struct rf_model model;
	struct rf_view view = {.fence = "eth0", .mode = "native", .model = &model, .message = ""};

	if (!rows || !scan || rf_terminal_open(&canvas, &error))
		fail("the screen");
	make_scan(scan, rows, count);
	rf_model_start(&model, &asked);
	for (int i = 0; i < SECONDS; i++) {
		const uint64_t before = received;
		uint64_t time[4];

		change_scan(scan, i);
		time[0] = rf_time_awake();
		if (rf_model_take(&model, scan))
			fail("the model");
		time[1] = rf_time_awake();
		rf_paint_list(&canvas, &view);
		time[2] = rf_time_awake();
		rf_terminal_show(&canvas);
		time[3] = rf_time_awake();
		usleep(2000); /* the reader comes after */
		take.value[i] = (time[1] - time[0]) / 1e6;
		paint.value[i] = (time[2] - time[1]) / 1e6;
		write_out.value[i] = (time[3] - time[2]) / 1e6;
		bytes.value[i] = received - before;
	}
	rf_terminal_close();
	fprintf(report, "%d sources, 200 x 60, all rates change each second:\n", count);
	print(&take);
	print(&paint);
	print(&write_out);
	print(&bytes);
	rf_canvas_free(&canvas);
	rf_model_free(&model);
	free(rows);
	free(scan);
}

int main(int argc, char **argv)
{
	make_terminal();
	run(argc > 1 ? atoi(argv[1]) : 10000);
	return fclose(report) != 0;
}
