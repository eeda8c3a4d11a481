// SPDX-License-Identifier: GPL-2.0
/*
 * As machine.c for windows: the call of a CPU is repeated from the start on private memory, with
 * the recorded results as input, and stopped one operation later. Compiled for each program, whose
 * struct memory and struct local are in SCENE.
 */
#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>

#include SCENE

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

void pick_up(int index, const struct local *begun)
{
	hands[index].begun = hands[index].local = *begun;
}

bool operate(int index)
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

void put_down(int index)
{
	hands[index] = (struct hand){.packet = hands[index].packet + 1};
}
