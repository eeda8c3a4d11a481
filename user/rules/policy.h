/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Turns limits as the user wrote them into their policies in the bank that the data path reads.
 * Pure: no kernel object, no file, no output. The divisions of the limiter are done here, once.
 */
#ifndef RINGFENCE_POLICY_H
#define RINGFENCE_POLICY_H

#include <stdint.h>

#include "base/error.h"
#include "base/prefix.h"
#include "ringfence/abi.h"

/*
 * Compiles the policy of `limit` under `id`. With the strict edge a cell is (W + one clock tick) /
 * (cells - 1), rounded up: any interval of length W, both ends included, lies within `cells`
 * consecutive epochs. With the coarse edge it is W / cells, with the weighted edge W / (cells - 1),
 * and with the fixed algorithm W. A cell is measured in jiffies if it is at least
 * RF_JIFFIES_CELL_MIN ticks long, because reading jiffies is free. A shorter cell is measured in
 * ns: rounded up to whole ticks, it would cost senders of an even rate up to a third of L.
 * `tick_ns` > 0.
 */
void rf_policy_compile(const struct rf_limit *limit, uint32_t id, uint32_t tick_ns,
		       struct rf_policy *policy);

/*
 * How much of its rate a source may send evenly and lose nothing, in 1/1000, rounded down. Of a
 * ring, L passes in N cells, which are longer than the window.
 */
uint32_t rf_policy_steady(const struct rf_limit *limit, uint32_t tick_ns);

/* The slot of the limit called `name`, or -ENOENT. */
int rf_bank_find(const struct rf_bank *bank, const char *name);
/* The slot of the limit with this id, or -ENOENT. */
int rf_bank_find_id(const struct rf_bank *bank, uint32_t id);
/* A slot without a limit, or -ENOSPC. */
int rf_bank_free_slot(const struct rf_bank *bank);
int rf_bank_count(const struct rf_bank *bank);
/* The slots of the limits, in the order of their creation. Returns the number of limits. */
int rf_bank_slots(const struct rf_bank *bank, int slots[RF_LIMITS_MAX]);

/*
 * Puts `limit` into `slot`. The slot retains its id, and therefore its windows, unless the meaning
 * of a window has changed: then the id is taken from `*next_id`, which counts up. The slot always
 * retains its index of counters and its place in the order; a new limit is the last. A policy with
 * a new id has no `since_generation` yet: the commit sets it.
 */
void rf_bank_put(struct rf_bank *bank, int slot, const struct rf_limit *limit, uint32_t tick_ns,
		 uint32_t *next_id);
void rf_bank_del(struct rf_bank *bank, int slot);

/* The fleet's terms for a limit, in the limit's unit. */
struct rf_fleet_terms {
	uint64_t first; /* the initial allowance of a source on a host; capped at L */
	uint64_t alone; /* L while the fleet server is unreachable, at least `first` */
	uint32_t tag;	/* of the definition */
};

/* `first` of a limit of the fleet, as it was written or as it follows from the bank's `hosts`. */
uint64_t rf_bank_first(const struct rf_bank *bank, const struct rf_limit *limit);
/* Sets a new number of hosts, which changes the `first` of limits without an explicit one. */
void rf_bank_set_hosts(struct rf_bank *bank, uint32_t hosts);
/* The slots of the fleet's limits. */
uint32_t rf_bank_fleet(const struct rf_bank *bank);
/*
 * An error if a fleet cannot share a limit, or if all hosts together would pass too much of it;
 * `refused` is its slot's bit then. While `hosts` is 0 the latter is unknown.
 */
int rf_bank_check_fleet(const struct rf_bank *bank, uint32_t *refused, struct rf_error *error);
/* Why a fleet cannot share that limit, and how to fix it; NULL: it can. */
const char *rf_policy_no_fleet(const struct rf_limit *limit, const struct rf_policy *policy);
/*
 * Makes a policy that was just put one of the fleet. `before`: the previous policy of its slot.
 * Windows that were filled under that policy are clipped by the largest L from then on.
 */
void rf_policy_join_fleet(struct rf_policy *policy, const struct rf_policy *before,
			  const struct rf_fleet_terms *terms);

/*
 * Raises the `clip` of each policy in `bank` to the clip of the same id in `next`. If a limit
 * grows, all CPUs must clip by the larger L before any CPU admits under it: a CPU that still clips
 * by the smaller L would forget packets that another CPU admitted. The same holds for any change of
 * a limit of the fleet: from then on it is clipped by the largest L. Returns true if a clip was
 * raised: then `bank` must be active before `next`.
 */
int rf_bank_raise_clips(struct rf_bank *bank, const struct rf_bank *next);

/* ---- how a limit groups sources ---- */

/* The bits by which `per` and `per6` distinguish this source; ringfence/grouping.h. */
unsigned int rf_group_length(unsigned int per4, unsigned int per6, const struct rf_address *source);
/* The same of a limit, for a source or a network. */
unsigned int rf_limit_length(const struct rf_limit *limit, const struct rf_prefix *source);
/* The network of a limit's source, whose address has been masked as in the keys of windows. */
struct rf_prefix rf_limit_source(const struct rf_limit *limit, const struct rf_address *masked);
/* Masks an address as it is in the keys of windows and bans. */
void rf_policy_mask(const struct rf_policy *policy, struct rf_address *address);

#endif /* RINGFENCE_POLICY_H */
