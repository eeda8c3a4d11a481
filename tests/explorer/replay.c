/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One operation of one CPU at a time, for any code that works on a `struct memory` by the
 * operations of atomic.h: as machine.h has it for windows. What a CPU has in hand is called again
 * from the start on memory of its own, fed the values of the past, and stopped one operation later.
 * One file of a program includes this, since its struct memory is its own.
 */
#ifndef RINGFENCE_EXPLORER_REPLAY_H
#define RINGFENCE_EXPLORER_REPLAY_H

#include "hands.h"

#define OPERATIONS_MAX 256
#define PACKETS_MAX 8

struct memory shared;
struct hand hands[CPUS_MAX];
static __u64 returned[CPUS_MAX][PACKETS_MAX][OPERATIONS_MAX];

static struct memory scratch;
static struct local scratch_local;
static const __u64 *replayed; /* NULL: not exploring, operations just happen */
static int replay_index, replay_length;
static __u64 live_value;
static jmp_buf replay_end;

void yield(__u64 *word)
{
	if (!replayed)
		return;
	if (replay_index < replay_length) {
		*word = replayed[replay_index++];
	} else if (replay_index == replay_length) {
		scratch = shared;
		live_value = *word;
		replay_index++;
	} else {
		longjmp(replay_end, 1);
	}
}

static __attribute__((noinline)) bool call_ends(int index)
{
	if (setjmp(replay_end))
		return false;
	run_call(&scratch, &scratch_local, index);
	return true;
}

static void pick_up(int index, const struct local *begun)
{
	hands[index].begun = hands[index].local = *begun;
}

/* Moves a CPU by one operation; true when that was the last one of its call. */
static bool operate(int index)
{
	struct hand *hand = &hands[index];
	bool ends;

	replayed = returned[index][hand->packet];
	replay_index = 0;
	replay_length = hand->operations;
	scratch_local = hand->begun;
	ends = call_ends(index);
	replayed = NULL;
	returned[index][hand->packet][hand->operations++] = live_value;
	hand->history = (hand->history ^ live_value) * 0x9e3779b97f4a7c15ULL;
	hand->history ^= hand->history >> 29;
	hand->local = scratch_local;
	shared = scratch;
	return ends;
}

/* Its packet is over. */
static void put_down(int index)
{
	hands[index] = (struct hand){.packet = hands[index].packet + 1};
}

#endif /* RINGFENCE_EXPLORER_REPLAY_H */
