/* SPDX-License-Identifier: GPL-2.0 */
/* A loaded program in real time, whose fence has pinned iterators, where the kernel allows them. */
#ifndef RINGFENCE_TESTS_PINNED_H
#define RINGFENCE_TESTS_PINNED_H

#include "program.h"

#include <sys/stat.h>

#include "kernel/needs.h"
#include "ringfence/slot.h"

/* Some kernels forbid iterators over maps, also to root. There, all is read by look-ups. */
static inline bool pinned_may_iterate(void)
{
	struct rf_features features;

	rf_features_probe(&features);
	return features.has[RF_FEATURE_ITERATORS] != RF_NOT_KNOWN;
}

/* At the beginning of a test of what iterators print. */
static inline void pinned_need_iterators(void)
{
	if (pinned_may_iterate())
		return;
	print_message("# this kernel forbids iterators over maps\n");
	skip();
}

static inline void pinned_remove(const struct rf_fence *fence)
{
	const struct rf_pin_path pins = rf_fence_pins(fence);

	for (int i = 0; i < RF_ITERATOR_COUNT; i++)
		unlink(rf_pins_entry(&pins, rf_iterator_pins[i]).text);
	rmdir(pins.text);
}

/* With its windows of IPv4. */
static inline int pinned_setup(void **state, uint32_t windows)
{
	struct program *program = calloc(1, sizeof(*program));
	struct rf_error error = {};
	struct rf_pin_path pins;

	assert_non_null(program);
	program_open(program);
	program->object->rodata->rf_rodata.injected_clock = 0;
	program_set_room(program->object, windows, SOURCES);
	program_load_only(program);
	assert_done(rf_fence_measure_clock(&program->fence, &error), &error);
	assert_done(rf_fence_make_leases(&program->fence, &error), &error);
	snprintf(program->fence.pins, sizeof(program->fence.pins), "/sys/fs/bpf/ringfence-test-%d",
		 getpid());
	pins = rf_fence_pins(&program->fence);
	assert_int_equal(mkdir(pins.text, 0700), 0);
	if (pinned_may_iterate())
		assert_int_equal(rf_iterators_pin(&pins, program->fence.map_fd), 0);
	*state = program;
	return 0;
}

static inline int pinned_teardown(void **state)
{
	pinned_remove(&((struct program *)*state)->fence);
	return program_teardown(state);
}

static inline void pinned_send4(struct program *program, const char *source, int packets)
{
	struct frame4 frame = frame4_from(inet_addr(source));

	for (int i = 0; i < packets; i++)
		program_run(program->object->progs.ringfence, &frame, sizeof(frame));
}

static inline void pinned_send6(struct program *program, const char *source, int packets)
{
	struct frame6 frame = frame6_from(source);

	for (int i = 0; i < packets; i++)
		program_run(program->object->progs.ringfence, &frame, sizeof(frame));
}

/* Sets the slot reference's tick of that source's window, under the first limit, that many seconds
 * back. */
static inline void pinned_age(struct program *program, const char *source, bool is_resident,
			      int seconds)
{
	const struct rf_config *config = program->config;
	const struct rf_policy *policy = program_policy(program);
	const struct rf_key4 key = {inet_addr(source), policy->id};
	const uint64_t tick_ns = (uint64_t)config->tick_ns << config->times.tick_shift;
	const uint64_t tick = rf_fence_jiffies(&program->fence) >> config->times.tick_shift;
	const int fd = program->fence.map_fd[RF_MAP_WINDOWS4];
	struct rf_source window;

	assert_int_equal(bpf_map_lookup_elem(fd, &key, &window), 0);
	window.slot_ref = rf_slot_ref(rf_slot_ref_slot(window.slot_ref),
				      rf_slot_ref_generation(window.slot_ref), is_resident,
				      tick - seconds * NS_PER_S / tick_ns);
	assert_int_equal(bpf_map_update_elem(fd, &key, &window, BPF_EXIST), 0);
}

#endif /* RINGFENCE_TESTS_PINNED_H */
