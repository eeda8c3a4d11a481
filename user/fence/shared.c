// SPDX-License-Identifier: GPL-2.0
/* The single values of a fence's shared memory that other folders read or write. */
#include <string.h>

#include "fence/fence.h"
#include "ringfence/atomic.h"

uint32_t rf_fence_tick_ns(const struct rf_fence *fence)
{
	return __atomic_load_n(&fence->config->tick_ns, __ATOMIC_RELAXED);
}

uint64_t rf_fence_residents(const struct rf_fence *fence, int family)
{
	return rf_load(&fence->config->room[family].residents);
}

uint64_t rf_fence_residents_max(const struct rf_fence *fence)
{
	return fence->config->times.residents_max;
}

void rf_fence_other_bank(const struct rf_fence *fence, uint64_t in_force, struct rf_bank *bank)
{
	*bank = fence->config->bank[~in_force & 1];
}

uint32_t rf_fence_next_limit_id(const struct rf_fence *fence)
{
	const uint32_t id = __atomic_load_n(&fence->config->next_limit_id, __ATOMIC_RELAXED);

	return id ? id : 1;
}

void rf_fence_keep_limit_id(struct rf_fence *fence, uint32_t next_id)
{
	__atomic_store_n(&fence->config->next_limit_id, next_id, __ATOMIC_RELAXED);
}

/* ---- programs ---- */

static void note_program(uint32_t known[RF_PINNED_PROGRAMS], uint32_t id)
{
	for (int i = 0; i < RF_PINNED_PROGRAMS && id; i++) {
		if (known[i] == id)
			return;
		if (known[i])
			continue;
		known[i] = id;
		return;
	}
}

void rf_pinned_note(struct rf_pinned *pinned, const uint32_t id[RF_ENTRY_COUNT],
		    const struct rf_fence *attached)
{
	uint32_t known[RF_PINNED_PROGRAMS] = {};

	for (int i = 0; i < RF_ENTRY_COUNT; i++)
		note_program(known, id[i]);
	for (int i = 0; attached && i < attached->interfaces; i++)
		note_program(known, attached->interface[i].program_id);
	for (int i = 0; i < RF_PINNED_PROGRAMS; i++)
		note_program(known, pinned->program_id[i]);
	pinned->magic = RF_ABI_MAGIC;
	pinned->abi = RF_ABI_VERSION;
	pinned->layout = RF_ABI_LAYOUT;
	memcpy(pinned->program_id, known, sizeof(known));
}

void rf_fence_note_programs(const struct rf_fence *fence, const uint32_t id[RF_ENTRY_COUNT])
{
	rf_pinned_note(&fence->config->pinned, id, fence);
}

void rf_fence_keep_name(const struct rf_fence *fence)
{
	memcpy(fence->config->name, fence->name, sizeof(fence->config->name));
}
