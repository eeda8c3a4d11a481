// SPDX-License-Identifier: GPL-2.0
/* The events that scans cause: each type, when it starts and ends, and omissions. */
#include "watch.h"

static int set_up(void **state)
{
	struct watch *watch = watch_begin();

	*state = watch;
	watch_scan(watch);
	return 0;
}

/* Lossless scans. */
static void be_quiet(struct watch *watch, int scans)
{
	watch->scan.sources.count = 0;
	while (scans--)
		feed(watch);
}

static void lose(struct watch *watch, size_t sources, uint64_t dropped)
{
	for (size_t i = 0; i < sources; i++)
		watch->row[i] = made_row(&watch->scan, i * 4, 0, dropped);
	watch->scan.sources.count = sources;
}

static void a_fence_that_is_found_was_attached(void **state)
{
	struct watch *watch = *state;

	expect(watch, RF_EVENT_ATTACHED, 1);
	be_quiet(watch, 100);
	assert_int_equal(watch->got.count, 1);
}

static void a_source_is_limited_and_released(void **state)
{
	struct watch *watch = *state;
	const struct rf_event *start, *end;
	char id[RF_EVENT_ID_SIZE];

	lose(watch, 1, 5120);
	feed(watch);
	start = made_last(&watch->got, RF_EVENT_SOURCE_LIMITED);
	assert_int_equal(start->dropped, 5120);
	assert_int_equal(start->first_seen_ns, watch->scan.time_ns - SECOND);
	assert_string_equal(start->limit, "any");
	assert_string_equal(start->rate, "20k/1s");
	assert_string_equal(start->reason, "over_limit");
	memcpy(id, start->id, sizeof(id));
	for (int i = 0; i < 60; i++)
		feed(watch);
	expect(watch, RF_EVENT_SOURCE_LIMITED, 1);
	be_quiet(watch, RF_EVENTS_QUIET_S - 1);
	expect(watch, RF_EVENT_SOURCE_RELEASED, 0);
	be_quiet(watch, 1);
	end = made_last(&watch->got, RF_EVENT_SOURCE_RELEASED);
	assert_string_equal(end->id, id);
	assert_int_equal(end->dropped, 61 * 5120);
	assert_int_equal(end->passed, 61 * 7);
	lose(watch, 1, 1);
	feed(watch);
	assert_string_not_equal(made_last(&watch->got, RF_EVENT_SOURCE_LIMITED)->id, id);
}

static void quiet_seconds_begin_anew_with_each_drop(void **state)
{
	struct watch *watch = *state;

	for (int i = 0; i < 5; i++) {
		lose(watch, 1, 1);
		feed(watch);
		be_quiet(watch, RF_EVENTS_QUIET_S - 1);
	}
	expect(watch, RF_EVENT_SOURCE_LIMITED, 1);
	expect(watch, RF_EVENT_SOURCE_RELEASED, 0);
}

static void a_clock_that_steps_ends_nothing(void **state)
{
	struct watch *watch = *state;

	lose(watch, 1, 1);
	feed(watch);
	watch->scan.time_ns += 3600 * SECOND;
	be_quiet(watch, 10);
	watch->scan.time_ns -= 7200 * SECOND;
	be_quiet(watch, 10);
	expect(watch, RF_EVENT_SOURCE_RELEASED, 0);
	be_quiet(watch, 10);
	expect(watch, RF_EVENT_SOURCE_RELEASED, 1);
}

static void a_burst_of_sources_is_bounded(void **state)
{
	struct watch *watch = *state;
	const struct rf_event *left_out;

	lose(watch, 250, 5);
	watch->row[200].new_dropped = 6; /* the worst one is reported */
	feed(watch);
	expect(watch, RF_EVENT_FLOOD_STARTED, 1);
	/* Each pays for its end as well, like the fence and the flood. */
	expect(watch, RF_EVENT_SOURCE_LIMITED, 43);
	assert_int_equal(watch->got.event[2].source.word[0], watch->row[200].source.word[0]);
	for (int i = 0; i < RF_EVENTS_SUPPRESSED_S; i++)
		feed(watch);
	expect(watch, RF_EVENT_SUPPRESSED, 1);
	left_out = made_last(&watch->got, RF_EVENT_SUPPRESSED);
	assert_int_equal(left_out->left_out[RF_EVENT_SOURCE_LIMITED], 250 - 43);
	assert_int_equal(left_out->worst_count, RF_EVENT_WORST);
	be_quiet(watch, RF_EVENTS_QUIET_S);
	expect(watch, RF_EVENT_SOURCE_RELEASED, 43);
}

static void the_worst_sources_are_kept(void **state)
{
	struct watch *watch = *state;
	bool is_told = false;

	lose(watch, RF_EVENTS_SOURCES, 10);
	feed(watch);
	watch->row[RF_EVENTS_SOURCES] = made_row(&watch->scan, 4 * RF_EVENTS_SOURCES, 0, 11);
	watch->scan.sources.count = RF_EVENTS_SOURCES + 1;
	for (int i = 0; i < 20; i++)
		feed(watch);
	for (size_t i = 0; i < watch->got.count; i++)
		is_told |= watch->got.event[i].dropped == 11;
	assert_false(is_told); /* that is not worse by far */
	watch->row[RF_EVENTS_SOURCES].new_dropped = 1000;
	feed(watch);
	assert_int_equal(made_last(&watch->got, RF_EVENT_SOURCE_LIMITED)->dropped, 1000);
}

static void one_source_is_a_flood(void **state)
{
	struct watch *watch = *state;

	lose(watch, 1, 20000);
	watch->scan.sums.counters.reason[RF_OVER_LIMIT].packets += 20000;
	feed(watch);
	expect(watch, RF_EVENT_FLOOD_STARTED, 1);
	assert_string_equal(made_last(&watch->got, RF_EVENT_FLOOD_STARTED)->detail,
			    "1 source over a limit");
}

/* Most of them random sources, which have no windows. */
static void many_newcomers_are_one_flood(void **state)
{
	struct watch *watch = *state;
	const struct rf_event *flood;

	watch->scan.bans.rules.newcomers =
		(struct rf_newcomers){.rate = 5000, .window_ns = SECOND, .then = RF_NEWCOMERS_DROP};
	for (int i = 0; i < 60; i++) {
		watch->scan.sums.counters.reason[RF_NEWCOMER_DROP].packets += 1000000;
		feed(watch);
	}
	expect(watch, RF_EVENT_FLOOD_STARTED, 1);
	flood = made_last(&watch->got, RF_EVENT_FLOOD_STARTED);
	assert_string_equal(flood->reason, "newcomer_drop");
	assert_string_equal(made_last(&watch->got, RF_EVENT_NEWCOMERS_LIMITED)->rate, "5k/1s");
	assert_int_equal(watch->got.count, 3);
	be_quiet(watch, RF_EVENTS_QUIET_S);
	expect(watch, RF_EVENT_FLOOD_ENDED, 1);
	expect(watch, RF_EVENT_NEWCOMERS_RELEASED, 1);
	assert_int_equal(made_last(&watch->got, RF_EVENT_FLOOD_ENDED)->dropped, 60000000);
}

static void challenge(struct watch *watch, uint64_t challenged, uint64_t proven,
		      uint64_t established)
{
	struct rf_count *reason = watch->scan.sums.counters.reason;

	reason[RF_CHALLENGED].packets += challenged;
	reason[RF_PROVEN].packets += proven;
	reason[RF_ESTABLISHED].packets += established;
	feed(watch);
}

static void challenges_start_and_end_with_their_counts(void **state)
{
	struct watch *watch = *state;
	const struct rf_event *start, *end;

	watch->scan.bans.rules.newcomers = (struct rf_newcomers){
		.rate = 5000, .window_ns = SECOND, .then = RF_NEWCOMERS_CHALLENGE};
	challenge(watch, 0, 0, 7);
	expect(watch, RF_EVENT_CHALLENGES_STARTED, 0);
	challenge(watch, 300, 20, 1);
	start = made_last(&watch->got, RF_EVENT_CHALLENGES_STARTED);
	assert_string_equal(start->detail, "300 challenged, 20 proven, 1 established");
	assert_string_equal(start->reason, "challenged");
	assert_string_equal(start->rate, "5k/1s");
	assert_int_equal(start->dropped, 300);
	assert_int_equal(start->passed, 21);
	for (int i = 0; i < 5; i++) {
		challenge(watch, 0, 0, 3);
		be_quiet(watch, RF_EVENTS_QUIET_S - 2);
		challenge(watch, 1, 2, 0);
		restart(watch, RF_TELL_NONE);
		feed(watch);
	}
	be_quiet(watch, RF_EVENTS_QUIET_S - 1);
	expect(watch, RF_EVENT_CHALLENGES_STARTED, 1);
	expect(watch, RF_EVENT_CHALLENGES_ENDED, 0);
	be_quiet(watch, 1);
	end = made_last(&watch->got, RF_EVENT_CHALLENGES_ENDED);
	assert_string_equal(end->id, made_last(&watch->got, RF_EVENT_CHALLENGES_STARTED)->id);
	assert_string_equal(end->detail, "305 challenged, 30 proven, 16 established");
	assert_int_equal(end->dropped, 305);
	assert_int_equal(end->passed, 46);
	challenge(watch, 2, 1, 0);
	rf_events_gone(watch->events, watch->scan.time_ns, made_keep, &watch->got);
	assert_string_equal(made_last(&watch->got, RF_EVENT_CHALLENGES_ENDED)->detail,
			    "2 challenged, 1 proven, 0 established");
}

/* Each with a window, and each over its limit. */
static void a_million_sources_make_few_lines(void **state)
{
	enum { SOURCES = 1000000, SCANS = 15 };
	struct watch *watch = *state;
	struct rf_source_row *row = calloc(SOURCES, sizeof(*row));

	assert_non_null(row);
	watch->scan.sources.row = row;
	watch->scan.sources.count = SOURCES;
	for (int scan = 0; scan < SCANS; scan++) {
		for (uint32_t i = 0; i < SOURCES; i++) {
			row[i] = made_row(&watch->scan, 0, 0, 1 + (i * 7919U + scan) % 1000);
			row[i].source.word[0] = htonl(i * 4 + scan % 4);
		}
		feed(watch);
	}
	expect(watch, RF_EVENT_FLOOD_STARTED, 1);
	assert_in_range(watch->got.count, 10, RF_EVENTS_BURST + SCANS + 5);
	watch->scan.sources.row = watch->row;
	be_quiet(watch, 300);
	assert_int_equal(made_count(&watch->got, RF_EVENT_SOURCE_LIMITED),
			 made_count(&watch->got, RF_EVENT_SOURCE_RELEASED));
	expect(watch, RF_EVENT_FLOOD_ENDED, 1);
	free(row);
}

static void ban(struct watch *watch, size_t bans)
{
	for (size_t i = 0; i < bans; i++) {
		const struct rf_prefix source = made_source(i * 4);

		watch->ban[i] = (struct rf_ban_row){
			.source = {.version = 4, .word = {source.word[0]}},
			.limit_id = 1,
			.limit = &watch->scan.bans.rules.limit[0],
			.since = watch->scan.bans.now + 50,
		};
	}
	watch->scan.bans.count = bans;
}

static void a_ban_starts_and_ends(void **state)
{
	struct watch *watch = *state;

	ban(watch, 1);
	feed(watch);
	feed(watch);
	expect(watch, RF_EVENT_BAN_STARTED, 1);
	assert_string_equal(made_last(&watch->got, RF_EVENT_BAN_STARTED)->detail, "for 1m");
	expect(watch, RF_EVENT_BAN_ENDED, 0);
	watch->scan.bans.count = 0;
	feed(watch);
	assert_string_equal(made_last(&watch->got, RF_EVENT_BAN_ENDED)->id,
			    made_last(&watch->got, RF_EVENT_BAN_STARTED)->id);
}

static void more_bans_than_have_state_are_counted_once(void **state)
{
	struct watch *watch = *state;
	uint64_t left_out = 0;
	int told;

	ban(watch, 1000);
	for (int i = 0; i < 20; i++)
		feed(watch);
	told = made_count(&watch->got, RF_EVENT_BAN_STARTED);
	for (size_t i = 0; i < watch->got.count; i++)
		left_out += watch->got.event[i].left_out[RF_EVENT_BAN_STARTED];
	assert_int_equal(told + left_out, 1000);
	watch->scan.bans.count = 0;
	for (int i = 0; i < 200; i++)
		feed(watch);
	expect(watch, RF_EVENT_BAN_ENDED, told);
}

static void windows_that_cannot_be_made_are_told_once(void **state)
{
	struct watch *watch = *state;

	for (int i = 0; i < 5; i++) {
		watch->scan.sums.counters.map_error[RF_NO_IDLE_SLOT] += 12;
		watch->scan.sums.counters.map_error[RF_INSERT_BUSY] += 3;
		feed(watch);
	}
	expect(watch, RF_EVENT_WINDOWS_FULL, 1);
	expect(watch, RF_EVENT_MAP_ERRORS, 1);
	assert_string_equal(made_last(&watch->got, RF_EVENT_WINDOWS_FULL)->detail,
			    "no_idle_slot 12");
	assert_string_equal(made_last(&watch->got, RF_EVENT_MAP_ERRORS)->detail, "insert_busy 3");
	be_quiet(watch, RF_EVENTS_QUIET_S);
	watch->scan.sums.counters.map_error[RF_NO_IDLE_SLOT]++;
	feed(watch);
	expect(watch, RF_EVENT_WINDOWS_FULL, 2);
}

/* The state of the only interface, in one scan. */
static void meet(struct watch *watch, enum rf_met met)
{
	watch->scan.interfaces = 1;
	watch->scan.interface[0] = (struct rf_interface_seen){
		.name = "eth0",
		.bypass = {.met = met, .packets = 812, .for_ns = 12 * SECOND},
	};
	feed(watch);
}

static void packets_that_bypass_the_program_are_told_until_it_counts(void **state)
{
	struct watch *watch = *state;
	char id[RF_EVENT_ID_SIZE];

	meet(watch, RF_MET);
	expect(watch, RF_EVENT_BYPASS_STARTED, 0);
	meet(watch, RF_BYPASSED);
	assert_string_equal(made_last(&watch->got, RF_EVENT_BYPASS_STARTED)->detail,
			    "eth0: received 812 packets in the last 12s, and the program has seen "
			    "none");
	memcpy(id, made_last(&watch->got, RF_EVENT_BYPASS_STARTED)->id, sizeof(id));
	meet(watch, RF_BYPASSED);
	meet(watch, RF_MET_UNKNOWN);
	expect(watch, RF_EVENT_BYPASS_STARTED, 1);
	expect(watch, RF_EVENT_BYPASS_ENDED, 0);
	meet(watch, RF_MET);
	assert_string_equal(made_last(&watch->got, RF_EVENT_BYPASS_ENDED)->id, id);
	meet(watch, RF_BYPASSED);
	expect(watch, RF_EVENT_BYPASS_STARTED, 2);
}

static void rules_that_change_are_described(void **state)
{
	struct watch *watch = *state;
	struct rf_bank *rules = &watch->scan.bans.rules;

	watch->scan.standing.active = watch->scan.standing.in_force = 3;
	rules->limit[0].rate = 30000;
	strcpy(rules->limit[1].name, "dns");
	feed(watch);
	assert_string_equal(
		made_last(&watch->got, RF_EVENT_RULES_CHANGED)->detail,
		"changed any from 20k/1s to 30k/1s; added dns 100/1s; deleted syn 100/1s");
	feed(watch);
	expect(watch, RF_EVENT_RULES_CHANGED, 1);
	watch->scan.standing.active = watch->scan.standing.in_force = 4;
	rules->newcomers = (struct rf_newcomers){.rate = 5000,
						 .window_ns = SECOND,
						 .then = RF_NEWCOMERS_DROP,
						 .except_established = 1};
	feed(watch);
	assert_string_equal(made_last(&watch->got, RF_EVENT_RULES_CHANGED)->detail,
			    "newcomers rate 5k/1s then drop except established");
	watch->scan.standing.active = watch->scan.standing.in_force = 5;
	rules->newcomers = (struct rf_newcomers){};
	feed(watch);
	assert_string_equal(made_last(&watch->got, RF_EVENT_RULES_CHANGED)->detail,
			    "newcomers off");
}

static void a_pause_is_told_until_it_is_over(void **state)
{
	struct watch *watch = *state;
	char id[RF_EVENT_ID_SIZE];

	watch->scan.standing.paused_ns = 90 * SECOND;
	feed(watch);
	assert_string_equal(made_last(&watch->got, RF_EVENT_PAUSED)->detail,
			    "nothing is dropped, 1m 30s left");
	memcpy(id, made_last(&watch->got, RF_EVENT_PAUSED)->id, sizeof(id));
	watch->scan.standing.paused_ns = 89 * SECOND;
	feed(watch);
	restart(watch, RF_TELL_FULL);
	feed(watch);
	expect(watch, RF_EVENT_PAUSED, 1);
	expect(watch, RF_EVENT_RESUMED, 0);
	watch->scan.standing.paused_ns = 0;
	feed(watch);
	feed(watch);
	expect(watch, RF_EVENT_RESUMED, 1);
	assert_string_equal(made_last(&watch->got, RF_EVENT_RESUMED)->id, id);
}

static void unconfirmed_rules_are_confirmed_or_reverted(void **state)
{
	struct watch *watch = *state;
	struct rf_standing *standing = &watch->scan.standing;

	*standing = (struct rf_standing){RF_PENDING, RF_FALL_BACK, 60 * SECOND, 3, 3, 1, 0};
	feed(watch);
	assert_string_equal(made_last(&watch->got, RF_EVENT_RULES_CHANGED)->detail,
			    "unconfirmed, 1m left");
	*standing = (struct rf_standing){RF_REVERTED, RF_FALL_BACK, SECOND, 3, 2, 1, 0};
	feed(watch);
	feed(watch);
	expect(watch, RF_EVENT_CONFIRMATION_EXPIRED, 1);
	expect(watch, RF_EVENT_RULES_CHANGED, 1);
	*standing = (struct rf_standing){RF_PENDING, RF_FALL_BACK, 60 * SECOND, 5, 5, 1, 0};
	feed(watch);
	*standing = (struct rf_standing){.active = 5, .in_force = 5};
	feed(watch);
	assert_string_equal(made_last(&watch->got, RF_EVENT_CONFIRMED)->detail,
			    "the rules were confirmed");
	/* Set and reverted between two scans. */
	*standing = (struct rf_standing){RF_REVERTED, RF_FALL_BACK, SECOND, 7, 6, 1, 0};
	feed(watch);
	expect(watch, RF_EVENT_RULES_CHANGED, 3);
	expect(watch, RF_EVENT_CONFIRMATION_EXPIRED, 2);
}

static void a_fence_that_goes_ends_all(void **state)
{
	struct watch *watch = *state;

	ban(watch, 3);
	lose(watch, 200, 200);
	feed(watch);
	rf_events_gone(watch->events, watch->scan.time_ns, made_keep, &watch->got);
	rf_events_gone(watch->events, watch->scan.time_ns, made_keep, &watch->got);
	expect(watch, RF_EVENT_DETACHED, 1);
	expect(watch, RF_EVENT_FLOOD_ENDED, 1);
	expect(watch, RF_EVENT_BAN_ENDED, 3);
	expect(watch, RF_EVENT_SOURCE_RELEASED, made_count(&watch->got, RF_EVENT_SOURCE_LIMITED));
	expect(watch, RF_EVENT_SUPPRESSED, 1);
}

static void a_fence_made_anew_is_another_one(void **state)
{
	struct watch *watch = *state;

	lose(watch, 1, 1);
	feed(watch);
	restart(watch, RF_TELL_FULL);
	strcpy(watch->scan.identity, "boot-2");
	watch->scan.sources.count = 0;
	feed(watch);
	expect(watch, RF_EVENT_SOURCE_RELEASED, 1);
	expect(watch, RF_EVENT_DETACHED, 1);
	expect(watch, RF_EVENT_ATTACHED, 2);
}

static void a_restart_goes_on(void **state)
{
	static const enum rf_told all[] = {RF_TELL_NONE, RF_TELL_PREFIX, RF_TELL_FULL};
	struct watch *watch = *state;

	ban(watch, 20);
	lose(watch, 20, 5);
	feed(watch);
	for (size_t i = 0; i < 3 * UNIT_ARRAY_SIZE(all); i++) {
		restart(watch, all[i % UNIT_ARRAY_SIZE(all)]);
		feed(watch);
		feed(watch);
	}
	watch->scan.standing.active = watch->scan.standing.in_force = 4;
	restart(watch, RF_TELL_FULL);
	feed(watch);
	assert_string_equal(made_last(&watch->got, RF_EVENT_RULES_CHANGED)->detail,
			    "while no daemon ran");
	assert_int_equal(watch->got.count, 1 + 20 + 20 + 1);
	watch->scan.bans.count = 0;
	be_quiet(watch, RF_EVENTS_QUIET_S + 1);
	expect(watch, RF_EVENT_SOURCE_RELEASED, 20);
	expect(watch, RF_EVENT_BAN_ENDED, 20);
}

static void what_is_remembered_tells_no_more_than_it_may(void **state)
{
	struct watch *watch = *state;
	char *text;

	lose(watch, 250, 5);
	feed(watch);
	text = rf_events_state(watch->events, RF_TELL_FULL);
	assert_non_null(strstr(text, "10.0.0.4\""));
	free(text);
	text = rf_events_state(watch->events, RF_TELL_PREFIX);
	assert_null(strstr(text, "10.0.0.4\""));
	assert_non_null(strstr(text, "10.0.0.0/24"));
	free(text);
	text = rf_events_state(watch->events, RF_TELL_NONE);
	assert_null(strstr(text, "10.0"));
	free(text);
}

static void a_state_that_is_damaged_is_none(void **state)
{
	struct watch *watch = *state;
	uint64_t random = unit_seed();
	char *text;
	size_t length;

	ban(watch, 5);
	lose(watch, 120, 5);
	feed(watch);
	text = rf_events_state(watch->events, RF_TELL_FULL);
	length = strlen(text);
	for (int i = 0; i < 2000; i++) {
		char *copy = strdup(text);
		struct rf_events *events;

		if (i % 2)
			copy[unit_below(&random, length)] = '\0';
		else
			copy[unit_below(&random, length)] =
				"\"[]{},0159/.x"[unit_below(&random, 13)];
		events = rf_events_open(copy);
		rf_events_feed(events, &watch->scan, made_keep, &watch->got);
		rf_events_close(events);
		free(copy);
	}
	free(text);
}

static void a_stretched_interval_is_named(void **state)
{
	struct watch *watch = *state;

	lose(watch, 1, 1);
	watch->scan.awake_ns += 7 * SECOND;
	feed(watch);
	assert_int_equal(made_last(&watch->got, RF_EVENT_SOURCE_LIMITED)->interval_ns, 8 * SECOND);
}

#define ROW(function) cmocka_unit_test_setup_teardown(function, set_up, watch_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROW(a_fence_that_is_found_was_attached),
		ROW(a_source_is_limited_and_released),
		ROW(quiet_seconds_begin_anew_with_each_drop),
		ROW(a_clock_that_steps_ends_nothing),
		ROW(a_burst_of_sources_is_bounded),
		ROW(the_worst_sources_are_kept),
		ROW(one_source_is_a_flood),
		ROW(many_newcomers_are_one_flood),
		ROW(challenges_start_and_end_with_their_counts),
		ROW(a_million_sources_make_few_lines),
		ROW(a_ban_starts_and_ends),
		ROW(more_bans_than_have_state_are_counted_once),
		ROW(windows_that_cannot_be_made_are_told_once),
		ROW(packets_that_bypass_the_program_are_told_until_it_counts),
		ROW(rules_that_change_are_described),
		ROW(a_pause_is_told_until_it_is_over),
		ROW(unconfirmed_rules_are_confirmed_or_reverted),
		ROW(a_fence_that_goes_ends_all),
		ROW(a_fence_made_anew_is_another_one),
		ROW(a_restart_goes_on),
		ROW(what_is_remembered_tells_no_more_than_it_may),
		ROW(a_state_that_is_damaged_is_none),
		ROW(a_stretched_interval_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
