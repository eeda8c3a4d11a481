// SPDX-License-Identifier: GPL-2.0
#include "hash.h"

#include <string.h>

#include "machine.h"
#include "seen.h"

static void hash_lease(__u64 hash[2], const struct cpu *cpu)
{
	hash_pair(hash, (__u64)cpu->call << 32 | cpu->given,
		  (__u64)cpu->credits << 32 | (__u32)cpu->credits_epoch);
	hash_words(hash, &cpu->lease, sizeof(cpu->lease));
}

void hash_state(__u64 hash[2])
{
	__u64 cpu[CPUS_MAX][2];

	hash[0] = 1;
	hash[1] = 2;
	hash_words(hash, &state.window, offsetof(struct rf_window, cell[ring_cells]));
	hash_words(hash, state.admitted, sizeof(state.admitted));
	if (rf_counts_rejected(&policy) || row->leases)
		hash_words(hash, state.offered, sizeof(state.offered));
	if (rf_is_bucket(&policy))
		hash_words(hash, &state.tokens, sizeof(state.tokens));
	for (int i = 0; i < CPUS_MAX; i++) {
		const struct cpu *of = &state.cpu[i];

		cpu[i][0] = cpu[i][1] = 3;
		hash_pair(cpu[i],
			  (__u64)row->takes[i] << 56 | (__u64)of->taken << 48 |
				  (__u64)of->operations << 32 | of->charged << 25 |
				  of->was_full << 24 | of->limit << 8 | of->time,
			  of->history);
		if (row->leases && of->taken < row->takes[i])
			hash_lease(cpu[i], of);
		for (int j = i; j > 0 && cpu[j][0] < cpu[j - 1][0]; j--) {
			__u64 swap[2];

			memcpy(swap, cpu[j], sizeof(swap));
			memcpy(cpu[j], cpu[j - 1], sizeof(swap));
			memcpy(cpu[j - 1], swap, sizeof(swap));
		}
	}
	hash_words(hash, cpu, sizeof(cpu));
	hash[1] = mix(hash[1], state.displaced);
	hash[0] |= 1;
}
