// SPDX-License-Identifier: GPL-2.0
/* Conclusions from two readings of the counters of an interface and its program. */
#include "unit.h"

#include "fence/bypass.h"

/* A reading: its time, the interface's received packets, the program's count before and after. */
struct look {
	uint64_t at_s, received, before, after;
	enum rf_met met;
	bool is_doubtful;
};

#define LOOKS_MAX 6

struct row {
	const char *name;
	bool is_attach; /* the first look follows an attach */
	bool is_shared;
	int count;
	struct look look[LOOKS_MAX];
};

#define UNKNOWN RF_MET_UNKNOWN, false
#define DOUBT RF_MET_UNKNOWN, true
#define MET RF_MET, false
#define MET_LESS RF_MET, true
#define BYPASSED RF_BYPASSED, false

static const struct row rows[] = {
	{"an interface that receives nothing is not reported",
	 true,
	 false,
	 2,
	 {{1, 50, 0, 0, UNKNOWN}, {1000, 50, 0, 0, UNKNOWN}}},
	{"packets that the program counts are none of those that bypass it",
	 true,
	 false,
	 3,
	 {{1, 0, 0, 0, UNKNOWN}, {2, 1000, 990, 1000, MET}, {3, 2000, 2000, 2000, MET}}},
	{"packets after an attach that the program does not count bypass it",
	 true,
	 false,
	 2,
	 {{1, 50, 0, 0, UNKNOWN}, {2, 58, 0, 0, BYPASSED}}},
	{"fewer than eight packets may be under way",
	 true,
	 false,
	 3,
	 {{1, 50, 0, 0, UNKNOWN}, {2, 57, 0, 0, UNKNOWN}, {100, 57, 0, 0, UNKNOWN}}},
	{"few packets add up",
	 true,
	 false,
	 3,
	 {{1, 50, 0, 0, UNKNOWN}, {2, 54, 0, 0, UNKNOWN}, {100, 58, 0, 0, BYPASSED}}},
	{"a driver that counts a second late is not reported",
	 true,
	 false,
	 4,
	 {{1, 0, 0, 0, UNKNOWN},
	  {2, 0, 1000, 1000, MET},
	  {3, 1000, 1000, 1000, DOUBT},
	  {9, 1000, 1000, 1000, DOUBT}}},
	{"packets after the time in which a driver may be late bypass the program",
	 true,
	 false,
	 4,
	 {{1, 0, 0, 0, UNKNOWN},
	  {2, 0, 1000, 1000, MET},
	  {8, 1000, 1000, 1000, DOUBT},
	  {9, 1008, 1000, 1000, BYPASSED}}},
	{"a report goes on until the program counts again",
	 true,
	 false,
	 4,
	 {{1, 0, 0, 0, UNKNOWN},
	  {2, 20, 0, 0, BYPASSED},
	  {3, 20, 0, 0, BYPASSED},
	  {4, 30, 10, 10, MET_LESS}}},
	{"a driver that does not count what the program drops is not reported",
	 true,
	 false,
	 3,
	 {{1, 0, 0, 0, UNKNOWN}, {2, 10, 5000, 5000, MET}, {3, 10, 9000, 9000, MET}}},
	{"a program that has counted too little may have stopped",
	 true,
	 false,
	 2,
	 {{1, 0, 0, 0, UNKNOWN}, {60, 1000, 900, 900, MET_LESS}}},
	{"counted packets of other interfaces raise no doubt",
	 true,
	 true,
	 2,
	 {{1, 0, 0, 0, UNKNOWN}, {60, 1000, 900, 900, MET}}},
	{"the first look at a fence reports nothing",
	 false,
	 false,
	 3,
	 {{1, 5000, 0, 0, UNKNOWN}, {2, 5050, 0, 0, DOUBT}, {3, 5050, 0, 0, DOUBT}}},
	{"a card whose counters go back has received what they are now",
	 true,
	 false,
	 3,
	 {{10, 5000, 100, 100, UNKNOWN}, {11, 7, 100, 100, UNKNOWN}, {12, 20, 100, 100, BYPASSED}}},
	{"a card whose counters go back in traffic is doubtful",
	 true,
	 false,
	 3,
	 {{10, 5000, 0, 0, UNKNOWN}, {11, 5100, 100, 100, MET}, {12, 20, 100, 100, DOUBT}}},
	{"counters of the program that go back begin again",
	 true,
	 false,
	 2,
	 {{10, 5000, 100, 100, UNKNOWN}, {12, 5040, 0, 0, UNKNOWN}}},
	{"a look of the future is not used",
	 true,
	 false,
	 2,
	 {{1000, 0, 0, 0, UNKNOWN}, {10, 500, 0, 0, UNKNOWN}}},
};

static void looks_show(void **state)
{
	const struct row *row = *state;
	struct rf_interface_look kept = {.index = 3};
	struct rf_bypass bypass;

	for (int i = 0; i < row->count; i++) {
		const struct look *look = &row->look[i];
		const struct rf_bypass_sample sample = {
			.time_ns = look->at_s * SECOND,
			.counted_before = look->before,
			.rx_packets = look->received,
			.counted_after = look->after,
			.is_shared = row->is_shared,
		};

		if (!i && row->is_attach) {
			rf_bypass_begin(&kept, &sample, true);
			continue;
		}
		rf_bypass_judge(&kept, &sample, &bypass);
		if (bypass.met != look->met || bypass.is_doubtful != look->is_doubtful)
			fail_msg("look %d: met %d, doubtful %d", i, bypass.met, bypass.is_doubtful);
	}
}

static void a_report_has_packets_and_time(void **state)
{
	const struct rf_bypass bypass = {.met = RF_BYPASSED, .packets = 812, .for_ns = 12 * SECOND};
	char text[RF_BYPASS_TEXT_SIZE];

	(void)state;
	rf_bypass_format(&bypass, text);
	assert_string_equal(text,
			    "received 812 packets in the last 12s, and the program has seen none");
}

int main(void)
{
	struct CMUnitTest tests[UNIT_ARRAY_SIZE(rows) + 1] = {};

	for (size_t i = 0; i < UNIT_ARRAY_SIZE(rows); i++)
		tests[i] = (struct CMUnitTest)UNIT_ROW_OF(rows[i].name, looks_show, &rows[i]);
	tests[UNIT_ARRAY_SIZE(rows)] = (struct CMUnitTest)UNIT_ROW(
		"a report has the packets and the time", a_report_has_packets_and_time);
	return _cmocka_run_group_tests("bypass", tests, UNIT_ARRAY_SIZE(tests), NULL, NULL);
}
