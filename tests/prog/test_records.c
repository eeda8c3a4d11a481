// SPDX-License-Identifier: GPL-2.0
/*
 * The pinned iterators `active`, `active64` and `windows`: which windows they print, and that a
 * look-up finds the same; and `pending`, which prints the memory of leases. In real time, because
 * their clock is not injected.
 */
#include "pinned.h"

#include "tests/unit/unit.h"

#include "fence/pending.h"
#include "ringfence/slot.h"
#include "ringfence/window_record.h"

#define MANY 1200000
#define UNEVEN 100 /* slots, the last of which are fewer than an iterator reads per step */
#define SEEN_MAX UNEVEN

struct seen {
	size_t count;
	struct rf_window_sight sight[SEEN_MAX];
};

static int see(const struct rf_window_sight *sight, void *context)
{
	struct seen *seen = context;

	assert_true(seen->count < SEEN_MAX);
	seen->sight[seen->count++] = *sight;
	return 0;
}

static struct seen look(const struct program *program, enum rf_window_age age)
{
	struct seen seen = {};
	struct rf_error error = {};

	assert_done(rf_fence_each_record(&program->fence, age, see, &seen, &error), &error);
	return seen;
}

static int setup(void **state)
{
	return pinned_setup(state, SOURCES);
}

static int setup_uneven(void **state)
{
	return pinned_setup(state, UNEVEN);
}

static int setup_large(void **state)
{
	return pinned_setup(state, MANY + 10);
}

/* ---- printed windows ---- */

/* Looks each one up: it equals the printed record, except for the elapsed time. */
static void assert_as_looked_up(const struct program *program, const struct seen *seen)
{
	for (size_t i = 0; i < seen->count; i++) {
		const struct rf_window_sight *sight = &seen->sight[i];
		const int slot = rf_bank_find_id(program_bank(program), sight->limit_id);
		const struct rf_policy *policy = &program_bank(program)->policy[slot];
		struct rf_window_sight found;
		struct rf_source state;

		assert_true(slot >= 0);
		assert_int_equal(rf_fence_window(&program->fence, policy, &sight->source, &state),
				 0);
		rf_window_sight(&program->fence, policy, &sight->source, &state, &found);
		assert_int_equal(sight->stay, found.stay);
		assert_int_equal(sight->used, found.used);
		assert_int_equal(sight->lent, found.lent);
		assert_int_equal(sight->passed, found.passed);
		assert_int_equal(sight->dropped, found.dropped);
		assert_int_equal(sight->would_drop, found.would_drop);
		assert_true(sight->is_short && !found.is_short);
	}
}

static void records_are_what_a_look_up_finds(void **state)
{
	static const char *const rates[] = {
		"4/1h",
		"4/1h shadow",
		"4/1h count rejected",
		"4/1h edge weighted",
		"4/1h edge coarse",
		"4/1h algorithm fixed",
		"4/1h algorithm log",
		"4/1h algorithm token",
		"4/1h algorithm leaky",
		"4/1h ban 10s",
		"2k/1h bytes",
	};

	pinned_need_iterators();
	for (size_t i = 0; i < ARRAY_SIZE(rates); i++) {
		struct program *program = *state;
		struct seen seen;
		char text[128];

		snprintf(text, sizeof(text), "limit add any rate %s\n", rates[i]);
		program_apply(program, "");
		program_apply(program, text);
		pinned_send4(program, "192.0.2.1", 6);
		pinned_send4(program, "192.0.2.2", 2);
		pinned_send6(program, "2001:db8::1", 3);
		seen = look(program, RF_WINDOWS_4S);
		assert_int_equal(seen.count, 3);
		assert_as_looked_up(program, &seen);
		assert_true(seen.sight[0].used > 0);
	}
}

/* ---- which are printed ---- */

/*
 * A window on probation is touched every tick, and a lease hides it for a second; a resident's is
 * touched each 8 s, and a lease hides it for 16.
 */
static void windows_are_printed_by_their_age(void **state)
{
	static const struct {
		int seconds;
		bool is_resident, is_active, is_active64;
	} cases[] = {
		{0, false, true, true},	  {4, false, true, true},    {9, false, false, true},
		{64, false, false, true}, {70, false, false, false}, {9, true, true, true},
		{27, true, true, true},	  {33, true, false, true},   {86, true, false, true},
		{95, true, false, false},
	};
	struct program *program = *state;

	pinned_need_iterators();
	program_apply(program, "limit add any rate 4/1h\n");
	pinned_send4(program, "192.0.2.1", 1);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		pinned_age(program, "192.0.2.1", cases[i].is_resident, cases[i].seconds);
		assert_int_equal(look(program, RF_WINDOWS_4S).count, cases[i].is_active);
		assert_int_equal(look(program, RF_WINDOWS_64S).count, cases[i].is_active64);
		assert_int_equal(look(program, RF_WINDOWS_ALL).count, 1);
	}
	program_apply(program, "");
	assert_int_equal(look(program, RF_WINDOWS_ALL).count, 0);
}

/* What reads windows must not make them look used. */
static void reading_touches_nothing(void **state)
{
	struct program *program = *state;
	const uint32_t place = 0;
	const struct rf_key4 *key;
	struct rf_slot4 slot, after;
	struct rf_source before, now;

	pinned_need_iterators();
	program_apply(program, "limit add any rate 4/1h\n");
	pinned_send4(program, "192.0.2.1", 1);
	pinned_age(program, "192.0.2.1", false, 9);
	for (uint32_t i = place; i < SOURCES; i++) {
		assert_int_equal(
			bpf_map_lookup_elem(program->fence.map_fd[RF_MAP_SLOTS4], &i, &slot), 0);
		if (rf_slot_state(slot.word) == RF_SLOT_FREE)
			continue;
		key = &slot.key;
		assert_int_equal(
			bpf_map_lookup_elem(program->fence.map_fd[RF_MAP_WINDOWS4], key, &before),
			0);
		look(program, RF_WINDOWS_ALL);
		assert_int_equal(
			bpf_map_lookup_elem(program->fence.map_fd[RF_MAP_WINDOWS4], key, &now), 0);
		assert_memory_equal(&before, &now, sizeof(now));
		assert_int_equal(
			bpf_map_lookup_elem(program->fence.map_fd[RF_MAP_SLOTS4], &i, &after), 0);
		assert_int_equal(slot.word, after.word);
		return;
	}
	fail_msg("no slot has a window");
}

static struct rf_source find_window(const struct program *program, const char *source)
{
	const struct rf_key4 key = {inet_addr(source), program_policy(program)->id};
	struct rf_source found;

	assert_int_equal(bpf_map_lookup_elem(program->fence.map_fd[RF_MAP_WINDOWS4], &key, &found),
			 0);
	return found;
}

static void every_window_in_a_slot_is_printed(void **state)
{
	struct program *program = *state;
	struct seen seen;

	pinned_need_iterators();
	program_apply(program, "limit add any rate 4/1h\n");
	for (int i = 0; i < UNEVEN; i++) {
		char text[32];

		snprintf(text, sizeof(text), "192.0.2.%d", i);
		pinned_send4(program, text, 2);
	}
	seen = look(program, RF_WINDOWS_4S);
	assert_int_equal(seen.count, UNEVEN);
	assert_as_looked_up(program, &seen);
	assert_int_equal(look(program, RF_WINDOWS_ALL).count, UNEVEN);
}

/* Its memory may belong to another source by now, which has another slot reference. */
static void a_window_that_sits_elsewhere_is_not_printed(void **state)
{
	struct program *program = *state;
	const int fd = program->fence.map_fd[RF_MAP_WINDOWS4];
	struct rf_source window;
	struct rf_key4 key;
	uint64_t slot_ref;

	pinned_need_iterators();
	program_apply(program, "limit add any rate 4/1h\n");
	key = (struct rf_key4){inet_addr("192.0.2.1"), program_policy(program)->id};
	pinned_send4(program, "192.0.2.1", 1);
	window = find_window(program, "192.0.2.1");
	slot_ref = window.slot_ref;
	for (int bit = 18; bit < 64; bit++) { /* of the generation, and of the slot's number */
		window.slot_ref = slot_ref ^ 1ULL << bit;
		assert_int_equal(bpf_map_update_elem(fd, &key, &window, BPF_EXIST), 0);
		assert_int_equal(look(program, RF_WINDOWS_ALL).count, 0);
	}
	window.slot_ref = slot_ref;
	assert_int_equal(bpf_map_update_elem(fd, &key, &window, BPF_EXIST), 0);
	assert_int_equal(look(program, RF_WINDOWS_ALL).count, 1);
}

/* Fills all slots with windows as that one. */
static void put_windows(const struct program *program, const struct rf_source *like)
{
	const uint32_t id = program_policy(program)->id, tick = like->slot_ref & RF_SLOT_REF_TICKS;
	struct rf_slot4 *slots = calloc(MANY, sizeof(*slots));
	struct rf_source *windows = calloc(MANY, sizeof(*windows));
	struct rf_key4 *keys = calloc(MANY, sizeof(*keys));
	uint32_t *places = calloc(MANY, sizeof(*places)), count = MANY;

	assert_true(slots && windows && keys && places);
	for (uint32_t i = 0; i < MANY; i++) {
		places[i] = i;
		keys[i] = (struct rf_key4){htonl(0x0a000000 + i), id};
		slots[i] = (struct rf_slot4){keys[i], rf_slot_word(1, RF_SLOT_PROBATION, 0, tick)};
		windows[i] = *like;
		windows[i].slot_ref = rf_slot_ref(i, 1, 0, tick);
	}
	assert_int_equal(bpf_map_update_batch(program->fence.map_fd[RF_MAP_WINDOWS4], keys, windows,
					      &count, NULL),
			 0);
	count = MANY;
	assert_int_equal(bpf_map_update_batch(program->fence.map_fd[RF_MAP_SLOTS4], places, slots,
					      &count, NULL),
			 0);
	free(slots);
	free(windows);
	free(keys);
	free(places);
}

/* A read can return no record if many windows are idle: the reader continues. */
static void an_active_window_among_a_million_is_found(void **state)
{
	struct program *program = *state;
	struct rf_source copy;
	struct seen seen;

	pinned_need_iterators();
	program_apply(program, "limit add any rate 4/1h\n");
	pinned_send4(program, "192.0.2.1", 1);
	pinned_age(program, "192.0.2.1", false, 9);
	copy = find_window(program, "192.0.2.1");
	put_windows(program, &copy);
	assert_int_equal(look(program, RF_WINDOWS_4S).count, 0);
	pinned_send4(program, "192.0.2.9", 3);
	seen = look(program, RF_WINDOWS_4S);
	assert_int_equal(seen.count, 1);
	assert_int_equal(seen.sight[0].source.word[0], inet_addr("192.0.2.9"));
}

/*
 * An older fence has older iterators under these names: a reader misinterprets them. A different
 * layout therefore has different names.
 */
static void the_names_stand_for_this_layout(void **state)
{
	(void)state;
	assert_string_equal(rf_iterator_pins[RF_SHOW_ACTIVE4], "active");
	assert_string_equal(rf_iterator_pins[RF_SHOW_ACTIVE64_6], "active64_v6");
	assert_string_equal(rf_iterator_pins[RF_SHOW_WINDOWS6], "windows_v6");
	assert_int_equal(sizeof(struct rf_window_record), 44);
	assert_int_equal(offsetof(struct rf_window_record, limit_id), 16);
	assert_int_equal(offsetof(struct rf_window_record, stay), 20);
	assert_int_equal(offsetof(struct rf_window_record, used), 24);
	assert_int_equal(offsetof(struct rf_window_record, passed), 28);
	assert_int_equal(offsetof(struct rf_window_record, dropped), 32);
	assert_int_equal(offsetof(struct rf_window_record, would_drop), 36);
	assert_int_equal(offsetof(struct rf_window_record, lent), 40);
	assert_string_equal(rf_iterator_pins[RF_SHOW_PENDING], "pending");
	assert_int_equal(sizeof(struct rf_lease), 32);
}

/* As of a fence that an older version attached. */
static void a_fence_may_lack_some_iterators(void **state)
{
	struct program *program = *state;
	const struct rf_pin_path pins = rf_fence_pins(&program->fence);

	pinned_need_iterators();
	assert_false(rf_fence_lacks_iterators(&program->fence));
	assert_int_equal(unlink(rf_pins_entry(&pins, rf_iterator_pins[RF_SHOW_PENDING]).text), 0);
	assert_true(rf_fence_lacks_iterators(&program->fence));
	assert_int_equal(rf_iterators_pin(&pins, program->fence.map_fd), 0);
	assert_false(rf_fence_lacks_iterators(&program->fence));
	pinned_remove(&program->fence); /* if the kernel has none, there is nothing to fix */
	assert_false(rf_fence_lacks_iterators(&program->fence));
}

static void without_pins_there_are_no_records(void **state)
{
	struct program *program = *state;
	struct rf_error error = {};
	struct seen seen = {};

	pinned_remove(&program->fence);
	assert_int_equal(rf_fence_each_record(&program->fence, RF_WINDOWS_4S, see, &seen, &error),
			 -ENOENT);
	*program->fence.pins = '\0';
	assert_int_equal(rf_fence_each_record(&program->fence, RF_WINDOWS_4S, see, &seen, &error),
			 -ENOENT);
}

/* ---- leases ---- */

static struct rf_leases read_leases(const struct rf_fence *fence)
{
	struct rf_leases leases;

	assert_int_equal(rf_leases_read(fence, &leases), 0);
	return leases;
}

static void assert_same_leases(const struct rf_leases *one, struct rf_leases other)
{
	assert_int_equal(one->count, other.count);
	assert_memory_equal(one->of, other.of, one->count * sizeof(*one->of));
	rf_leases_free(&other);
}

/* By root's memory, as a reader by the iterator, and by batches without an iterator. */
static size_t assert_read_alike(const struct program *program)
{
	struct rf_fence reader = program->fence;
	struct rf_leases leases = read_leases(&program->fence);
	const size_t count = leases.count;

	reader.lease = NULL;
	assert_same_leases(&leases, read_leases(&reader));
	*reader.pins = '\0';
	assert_same_leases(&leases, read_leases(&reader));
	rf_leases_free(&leases);
	return count;
}

static void leases_are_read_alike_in_all_ways(void **state)
{
	struct program *program = *state;

	program_run_on(0);
	program_apply(program, "limit add udp rate 4/1h match udp\nlimit add any rate 90k/1h\n");
	assert_int_equal(assert_read_alike(program), 0);
	for (int i = 0; i < 250; i++) {
		char text[32];

		snprintf(text, sizeof(text), "192.0.2.%d", i);
		pinned_send4(program, text, i % 40);
		snprintf(text, sizeof(text), "2001:db8:0:%x::1", i);
		pinned_send6(program, text, i % 30);
	}
	assert_in_range(assert_read_alike(program), 200, 500);
}

static uint64_t sent_in(const struct rf_leases *leases)
{
	uint64_t packets = 0;

	for (size_t i = 0; i < leases->count; i++)
		packets += leases->of[i].packets;
	return packets;
}

/* Of leases in the first set and in the last one, which an iterator reads in different calls. */
static void the_last_set_is_read(void **state)
{
	struct program *program = *state;
	const int fd = program->fence.map_fd[RF_MAP_LEASES],
		  tags_fd = program->fence.map_fd[RF_MAP_LEASE_TAGS];
	const uint32_t last = program->fence.leases / RF_LEASE_WAYS - 1, sets[] = {0, last};
	struct rf_fence reader = program->fence;
	struct rf_leases leases;

	for (size_t i = 0; i < ARRAY_SIZE(sets); i++) {
		struct rf_lease_set set = {};
		const uint64_t tags = 1ULL << 8 * (RF_LEASE_WAYS - 1);

		set.way[RF_LEASE_WAYS - 1] = (struct rf_lease){.source = 1, .packets = 5};
		assert_int_equal(bpf_map_update_elem(fd, &sets[i], &set, BPF_ANY), 0);
		assert_int_equal(bpf_map_update_elem(tags_fd, &sets[i], &tags, BPF_ANY), 0);
	}
	reader.lease = NULL;
	leases = read_leases(&reader);
	assert_int_equal(leases.count, 2);
	assert_int_equal(sent_in(&leases), 10);
	rf_leases_free(&leases);
	assert_int_equal(assert_read_alike(program), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(records_are_what_a_look_up_finds, setup,
						pinned_teardown),
		cmocka_unit_test_setup_teardown(windows_are_printed_by_their_age, setup,
						pinned_teardown),
		cmocka_unit_test_setup_teardown(reading_touches_nothing, setup, pinned_teardown),
		cmocka_unit_test_setup_teardown(every_window_in_a_slot_is_printed, setup_uneven,
						pinned_teardown),
		cmocka_unit_test_setup_teardown(a_window_that_sits_elsewhere_is_not_printed, setup,
						pinned_teardown),
		cmocka_unit_test_setup_teardown(an_active_window_among_a_million_is_found,
						setup_large, pinned_teardown),
		cmocka_unit_test_setup_teardown(leases_are_read_alike_in_all_ways, setup,
						pinned_teardown),
		cmocka_unit_test_setup_teardown(the_last_set_is_read, setup, pinned_teardown),
		cmocka_unit_test(the_names_stand_for_this_layout),
		cmocka_unit_test_setup_teardown(a_fence_may_lack_some_iterators, setup,
						pinned_teardown),
		cmocka_unit_test_setup_teardown(without_pins_there_are_no_records, setup,
						pinned_teardown),
	};

	return cmocka_run_group_tests_name("records", tests, NULL, NULL);
}
