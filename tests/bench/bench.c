// SPDX-License-Identifier: GPL-2.0
/*
 * The cost that the program adds to a packet, compared with floor programs in the same run. The
 * figures do not fail a test, but `make bench` fails if a row exceeds its bound in
 * tests/bench/budget.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define BUDGET_FILE "tests/bench/budget"
#define REPEAT (1 << 19)
#define REPEAT_QUICK (1 << 17)
#define ROUNDS_QUICK 5

static const char help[] =
	"usage: bench [--quick] [--only TEXT] [--users] [--rounds N] [--turns N]\n"
	"             [--json] [--keep FILE] [--budget FILE]\n"
	"\n"
	"Measures by BPF_PROG_TEST_RUN what ringfence adds to a packet. Attaches nothing; wants "
	"root.\n"
	"\n"
	"  --quick        fewer rounds and packets, and fewer sets of sources\n"
	"  --only TEXT    the groups whose name has TEXT in it: ipv4, /1k, new, two-cpus, parts\n"
	"  --users        in place of users-*: every combination of their limits, rates, numbers "
	"of\n"
	"                 sources, guards and list changes; about half an hour\n"
	"  --rounds N     of each row, up to 15\n"
	"  --turns N      of all rounds, at most, where others disturb a group: up to 3\n"
	"  --json         the same figures as JSON\n"
	"  --keep FILE    … and as JSON into FILE\n"
	"  --budget FILE  bounds, a line `GROUP/ROW over|ratio BOUND` each (" BUDGET_FILE ")\n"
	"\n"
	"Sources: 1, 1k, 128k and 1M are powers of two; they come in random order.\n"
	"Exit status: 0 done, 1 failed or a row is over its bound, 2 wrong usage.\n";

static int parse_number(const char *option, const char *text, int most)
{
	char *end;
	const long number = strtol(text, &end, 10);

	if (end == text || *end || number < 1 || number > most)
		die("%s '%s': not a number from 1 to %d", option, text, most);
	return number;
}

static void parse_options(int argc, char **argv, struct bench_options *options)
{
	static const struct option known[] = {
		{"quick", no_argument, NULL, 'q'},	  {"only", required_argument, NULL, 'o'},
		{"users", no_argument, NULL, 'u'},	  {"json", no_argument, NULL, 'j'},
		{"budget", required_argument, NULL, 'b'}, {"turns", required_argument, NULL, 't'},
		{"keep", required_argument, NULL, 'k'},	  {"rounds", required_argument, NULL, 'r'},
		{"help", no_argument, NULL, 'h'},	  {},
	};
	int option;

	while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		if (option == 'q') {
			options->quick = true;
			options->rounds = ROUNDS_QUICK;
			options->turns = 1;
			options->repeat = REPEAT_QUICK;
		} else if (option == 'o') {
			options->only = optarg;
		} else if (option == 'u') {
			options->all_users = true;
		} else if (option == 'r') {
			options->rounds = parse_number("--rounds", optarg, ROUNDS_MAX);
		} else if (option == 't') {
			options->turns = parse_number("--turns", optarg, TURNS_MAX);
		} else if (option == 'j') {
			options->json = true;
		} else if (option == 'k') {
			options->keep = optarg;
		} else if (option == 'b') {
			options->budget = optarg;
		} else {
			fputs(help, option == 'h' ? stdout : stderr);
			exit(option == 'h' ? 0 : 2);
		}
	}
	if (optind < argc) {
		fputs(help, stderr);
		exit(2);
	}
}

static void keep_report(const struct report *report, const char *path)
{
	FILE *file = fopen(path, "w");

	if (!file)
		die("%s: cannot write: %s", path, strerror(errno));
	table_json(report, file);
	if (fclose(file))
		die("%s: cannot write: %s", path, strerror(errno));
}

int main(int argc, char **argv)
{
	struct bench_options options = {
		.budget = BUDGET_FILE, .repeat = REPEAT, .rounds = ROUNDS_MAX, .turns = TURNS_MAX};
	static struct report report;

	parse_options(argc, argv, &options);
	report.rounds = options.rounds;
	if (!options.json)
		table_begin(&options);
	measure_all(&report, &options);
	if (!report.groups)
		die("'--only %s': no group has that in its name", options.only);
	if (options.json)
		table_json(&report, stdout);
	else
		table_end(&report);
	if (options.keep)
		keep_report(&report, options.keep);
	if (fflush(stdout))
		die("cannot write the figures");
	return budget_check(&report, &options) ? EXIT_FAILURE : EXIT_SUCCESS;
}
