// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the windows of a fence, and the packets that leases hold for them: by the pinned iterators,
 * in batches, or one window by its key.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/sort.h"
#include "fence/by_interface.h"
#include "fence/pending.h"
#include "fence/private.h"
#include "ringfence/lease_read.h"
#include "ringfence/share.h"
#include "ringfence/window_read.h"
#include "ringfence/window_record.h"
#include "rules/policy.h"
#include "schema/reasons.h"

/* ---- pinned iterators ---- */

/* Reads the pinned iterators, each of which prints records of one size. */

#define READ_SIZE 65536	  /* the kernel returns 32 KiB at most */
#define IN_VAIN_MAX 10000 /* reads that looked at a million entries each, and printed none */

/* A nonzero result stops the visit. The record is aligned as its size and a word allow. */
typedef int (*record_visit)(const void *record, void *context);

static int open_iterator(const struct rf_fence *fence, enum rf_iterator iterator)
{
	const struct rf_pin_path pins = rf_fence_pins(fence);
	int fd;

	if (!*pins.text)
		return -ENOENT;
	fd = open(rf_pins_entry(&pins, rf_iterator_pins[iterator]).text, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -ENOENT : fd;
}

bool rf_fence_lacks_iterators(const struct rf_fence *fence)
{
	const struct rf_pin_path pins = rf_fence_pins(fence);
	int found = 0;

	for (int i = 0; i < RF_ITERATOR_COUNT && *pins.text; i++)
		found += !access(rf_pins_entry(&pins, rf_iterator_pins[i]).text, F_OK);
	return found && found < RF_ITERATOR_COUNT;
}

/* A read stops after a million entries without output: then it is continued. */
static ssize_t read_on(int fd, void *buffer, size_t size)
{
	ssize_t got = -1;

	for (int i = 0; i < IN_VAIN_MAX && got < 0; i++) {
		got = read(fd, buffer, size);
		if (got < 0 && errno != EAGAIN && errno != EINTR)
			break;
	}
	return got < 0 ? -errno : got;
}

static int read_records(int fd, size_t size, record_visit visit, void *context)
{
	char buffer[READ_SIZE] __attribute__((aligned(8)));
	size_t filled = 0;
	int err = 0;

	while (!err) {
		const ssize_t got = read_on(fd, buffer + filled, sizeof(buffer) - filled);
		size_t at = 0;

		if (got <= 0)
			return got < 0 ? got : filled ? -EPROTO : 0;
		filled += got;
		for (; filled - at >= size && !err; at += size)
			err = visit(buffer + at, context);
		filled -= at;
		memmove(buffer, buffer + at, filled);
	}
	return err;
}

/*
 * Visits the records of `size` bytes that the iterator prints. -ENOENT: the fence has none, or it
 * cannot be opened.
 */
static int each_printed(const struct rf_fence *fence, enum rf_iterator iterator, size_t size,
			record_visit visit, void *context)
{
	const int fd = open_iterator(fence, iterator);
	int err;

	if (fd < 0)
		return fd;
	err = read_records(fd, size, visit, context);
	close(fd);
	return err;
}

/* ---- one window ---- */

/* A window, with the members that only a fence with shares has. */
union window {
	struct rf_source state;
	struct {
		unsigned char before[RF_SOURCE_SIZE];
		struct rf_share share;
		uint64_t received;
	};
};

_Static_assert(sizeof(union window) == RF_SHARED_SOURCE_SIZE, "the kernel copies a whole window");

/* Reads the window of a source, which is masked, under a limit. -ENOENT if not found. */
static int read_window(const struct rf_fence *fence, const struct rf_policy *policy,
		       const struct rf_address *source, union window *window)
{
	const struct rf_key4 key4 = {source->word[0], policy->id};
	struct rf_key6 key6 = {.limit_id = policy->id};
	const int fd = fence->map_fd[source->version == 4 ? RF_MAP_WINDOWS4 : RF_MAP_WINDOWS6];

	memcpy(key6.source, source->word, sizeof(key6.source));
	return bpf_map_lookup_elem(fd, source->version == 4 ? (const void *)&key4 : &key6, window)
		       ? -errno
		       : 0;
}

int rf_fence_window(const struct rf_fence *fence, const struct rf_policy *policy,
		    const struct rf_address *source, struct rf_source *state)
{
	union window window;
	const int err = read_window(fence, policy, source, &window);

	if (!err)
		*state = window.state;
	return err;
}

/* As rf_shared_limit() has it in the program. */
static uint32_t room_of(const struct rf_policy *policy, const struct rf_share *share,
			const struct rf_fleet *fleet, uint64_t jiffies)
{
	const uint32_t incarnation = rf_given_incarnation(share->given);
	const struct rf_hearing *hearing = &fleet->bucket[incarnation % RF_BUCKETS];

	if (!incarnation)
		return policy->limit;
	if (jiffies >= hearing->deadline)
		return policy->alone;
	if (rf_whose_tag(share->whose) != rf_tag_in(policy->tag, hearing->generation))
		return policy->first;
	return rf_limit_by(policy, rf_given_share(share->given));
}

uint32_t rf_fence_room(const struct rf_fence *fence, const struct rf_policy *policy,
		       const struct rf_address *source, uint64_t jiffies)
{
	union window window;

	if (!(policy->flags & RF_FLEET) || !rf_fence_has_shares(fence) ||
	    read_window(fence, policy, source, &window))
		return policy->limit;
	return room_of(policy, &window.share, &fence->config->fleet, jiffies);
}

/* ---- windows as a watcher sees them ---- */

static const enum rf_iterator window_iterators[RF_WINDOW_AGES][2] = {
	[RF_WINDOWS_4S] = {RF_SHOW_ACTIVE4, RF_SHOW_ACTIVE6},
	[RF_WINDOWS_64S] = {RF_SHOW_ACTIVE64_4, RF_SHOW_ACTIVE64_6},
	[RF_WINDOWS_ALL] = {RF_SHOW_WINDOWS4, RF_SHOW_WINDOWS6},
};

uint32_t rf_record_parts(uint32_t slots)
{
	return (slots + RF_PART_SLOTS - 1) / RF_PART_SLOTS;
}

uint32_t rf_lease_parts(uint32_t sets)
{
	return (sets + RF_PART_SETS - 1) / RF_PART_SETS;
}

struct visiting {
	int family;
	rf_window_visit visit;
	void *context;
};

static int visit_record(const void *printed, void *context)
{
	const struct rf_window_record *record = printed;
	const struct visiting *visiting = context;
	struct rf_window_sight sight = {
		.source.version = visiting->family ? 6 : 4,
		.limit_id = record->limit_id,
		.stay = record->stay,
		.used = record->used,
		.lent = record->lent,
		.passed = record->passed,
		.dropped = record->dropped,
		.would_drop = record->would_drop,
		.is_short = true,
	};

	memcpy(sight.source.word, record->source, sizeof(sight.source.word));
	return visiting->visit(&sight, visiting->context);
}

int rf_fence_each_record(const struct rf_fence *fence, enum rf_window_age age,
			 rf_window_visit visit, void *context, struct rf_error *error)
{
	int err = 0;

	for (int family = 0; family < 2 && !err; family++) {
		struct visiting visiting = {family, visit, context};

		err = each_printed(fence, window_iterators[age][family],
				   sizeof(struct rf_window_record), visit_record, &visiting);
		if (err && err != -ENOENT)
			rf_error_failed(error, err, "cannot read the pin '%s': %s",
					rf_iterator_pins[window_iterators[age][family]],
					strerror(-err));
	}
	return err;
}

void rf_window_sight(const struct rf_fence *fence, const struct rf_policy *policy,
		     const struct rf_address *source, const struct rf_source *state,
		     struct rf_window_sight *sight)
{
	const uint64_t time = rf_fence_time(fence, policy);

	*sight = (struct rf_window_sight){
		.source = *source,
		.limit_id = policy->id,
		.stay = rf_window_stay(state->slot_ref),
		.used = rf_used(&state->window, policy, time),
		.lent = rf_lent_read(&state->window, policy, time),
		.passed = state->passed,
		.dropped = state->dropped,
		.would_drop = policy->ban ? 0 : state->would_drop,
	};
}

/* ---- leases that hold packets ---- */

/*
 * Leases are read from the memory that is shared with the program, or, where
 * the fence may only be read, by the pinned iterator, or else in batches of all leases.
 */

#define LEASES_BATCH 1024 /* sets, 256 KiB */

/* Stores a lease if it holds packets. */
static int keep(struct rf_leases *leases, const struct rf_lease *shared)
{
	struct rf_lease lease, *of;

	if (!rf_lease_read(&lease, shared))
		return 0;
	of = rf_grow(leases->of, leases->count, &leases->capacity, sizeof(*of), 256);
	if (!of)
		return -ENOMEM;
	leases->of = of;
	leases->of[leases->count++] = lease;
	return 0;
}

static int keep_all(struct rf_leases *leases, const struct rf_lease *lease, size_t count)
{
	int err = 0;

	for (size_t i = 0; i < count && !err; i++)
		err = keep(leases, &lease[i]);
	return err;
}

static int keep_record(const void *record, void *context)
{
	return keep(context, record);
}

/* In order, as they lie in the map. */
static int read_lease_batches(const struct rf_fence *fence, struct rf_leases *leases)
{
	const uint32_t sets = fence->leases / RF_LEASE_WAYS;
	struct rf_lease_set *set = calloc(LEASES_BATCH, sizeof(*set));
	__u32 keys[LEASES_BATCH], position, done = 0;
	int err = set ? 0 : -ENOMEM;

	while (done < sets && !err) {
		__u32 count = sets - done < LEASES_BATCH ? sets - done : LEASES_BATCH;

		/* ENOENT comes with the last values. */
		if (bpf_map_lookup_batch(fence->map_fd[RF_MAP_LEASES], done ? &position : NULL,
					 &position, keys, set, &count, NULL) &&
		    (errno != ENOENT || !count))
			err = -errno;
		else
			err = keep_all(leases, set->way, (size_t)count * RF_LEASE_WAYS);
		done += count;
	}
	free(set);
	return err;
}

int rf_leases_read(const struct rf_fence *fence, struct rf_leases *leases)
{
	int err;

	*leases = (struct rf_leases){};
	if (fence->lease)
		return keep_all(leases, fence->lease, fence->leases);
	err = each_printed(fence, RF_SHOW_PENDING, sizeof(struct rf_lease), keep_record, leases);
	return err == -ENOENT ? read_lease_batches(fence, leases) : err;
}

void rf_leases_free(struct rf_leases *leases)
{
	free(leases->of);
	*leases = (struct rf_leases){};
}

/* ---- pending packets ---- */

/*
 * The pending packets in leases: a CPU has handled these packets by a lease, and has not added them
 * to any counter yet. Readers add them to the sums.
 *
 * A reader reads the counters first, and then the leases. Packets of a lease that is flushed in
 * between are missing from that sum, and included in the next one. Sums are therefore never too
 * high, and they are exact once traffic stops.
 */

/* ---- which limits they count for ---- */

/*
 * Does the lease count for the limit that has `slot` now? Not if another limit had the slot when
 * the lease was made. The program decides in the same way.
 */
static bool is_of_limit(const struct rf_lease *lease, const struct rf_bank *bank, uint32_t slot)
{
	return bank->policy[slot].id &&
	       rf_rules_are_since(lease->rules, bank->limit[slot].since_generation);
}

/*
 * The bank of rules that were rolled back, if the lease was made under them; else NULL. They have
 * later generations than the active rules, but can have had other windows.
 */
static const struct rf_bank *fallen_rules(const struct rf_fence *fence,
					  const struct rf_standing *standing,
					  const struct rf_lease *lease)
{
	const struct rf_bank *reverted = &fence->config->bank[standing->active & 1];

	if (standing->state != RF_REVERTED ||
	    rf_rules_bank(lease->rules) != (standing->active & 1) ||
	    !rf_rules_are_since(lease->rules, reverted->since_generation))
		return NULL;
	return reverted;
}

static bool is_of_windows(const struct rf_lease *lease, const struct rf_bank *bank,
			  const struct rf_bank *fallen, uint32_t slot)
{
	if (fallen && fallen->policy[slot].id != bank->policy[slot].id)
		return false;
	return bank->policy[slot].id &&
	       rf_rules_are_since(lease->rules, bank->policy[slot].since_generation);
}

static void add_pending_count(struct rf_count *sum, const struct rf_lease *lease)
{
	sum->packets += lease->packets;
	sum->bytes += lease->bytes;
}

/* ---- counters ---- */

void rf_leases_add_counters(const struct rf_leases *leases, struct rf_counters *sum)
{
	for (size_t i = 0; i < leases->count; i++)
		add_pending_count(&sum->reason[leases->of[i].reason], &leases->of[i]);
}

static void add_pending_limit(const struct rf_lease *lease, enum rf_reason reason,
			      struct rf_limit_counters *sum)
{
	if (rf_reason_is_drop(reason))
		add_pending_count(&sum->dropped, lease);
	else if (reason == RF_SHADOW_OVER)
		add_pending_count(&sum->would_drop, lease);
	else
		add_pending_count(&sum->passed, lease);
}

void rf_leases_add_limits(const struct rf_leases *leases, const struct rf_bank *bank,
			  struct rf_limit_counters sum[RF_LIMITS_MAX])
{
	__u32 slot[RF_CHARGED_MAX];

	for (size_t i = 0; i < leases->count; i++) {
		const struct rf_lease *lease = &leases->of[i];
		const int count = rf_lease_slots(lease, slot);

		for (int j = 0; j < count; j++)
			if (is_of_limit(lease, bank, slot[j]))
				add_pending_limit(lease, rf_lease_reason(lease, j), &sum[slot[j]]);
	}
}

/* ---- by source ---- */

static void pack_address(const struct rf_address *address, __u64 source[2])
{
	for (int i = 0; i < 2; i++)
		source[i] = address->word[2 * i] | (uint64_t)address->word[2 * i + 1] << 32;
}

static uint64_t mask_source(uint64_t source, const struct rf_policy *policy, bool is_ipv6)
{
	if (!is_ipv6)
		return source & policy->mask4;
	return source & (policy->mask6[0] | (uint64_t)policy->mask6[1] << 32);
}

static int compare_pending(const void *a, const void *b)
{
	const struct rf_pending_row *left = a, *right = b;

	if (left->source != right->source)
		return left->source < right->source ? -1 : 1;
	if (left->slot != right->slot)
		return (int)left->slot - (int)right->slot;
	return (int)left->is_ipv6 - (int)right->is_ipv6;
}

static int add_row(struct rf_pending *pending, const struct rf_pending_row *row)
{
	struct rf_pending_row *grown =
		rf_grow(pending->row, pending->count, &pending->capacity, sizeof(*grown), 1024);

	if (!grown)
		return -ENOMEM;
	pending->row = grown;
	pending->row[pending->count++] = *row;
	return 0;
}

/* Adds a row for each limit of a lease, since the lease counts for one window of each. */
static int add_rows(struct rf_pending *pending, const struct rf_lease *lease,
		    const struct rf_bank *bank, const struct rf_bank *fallen)
{
	const bool is_ipv6 = rf_rules_are_ipv6(lease->rules);
	__u32 slots[RF_CHARGED_MAX];
	int count = rf_lease_slots(lease, slots), err = 0;

	for (int i = 0; i < count && !err; i++) {
		struct rf_pending_row row = {
			.source = mask_source(lease->source, &bank->policy[slots[i]], is_ipv6),
			.packets = lease->packets,
			.slot = slots[i],
			.is_ipv6 = is_ipv6,
			.reason = rf_lease_reason(lease, i),
		};

		if (is_of_windows(lease, bank, fallen, slots[i]))
			err = add_row(pending, &row);
	}
	return err;
}

int rf_leases_list(const struct rf_fence *fence, const struct rf_leases *leases,
		   const struct rf_bank *bank, struct rf_pending *pending)
{
	const struct rf_standing standing = rf_fence_standing(fence);
	int err = 0;

	*pending = (struct rf_pending){};
	for (size_t i = 0; i < leases->count && !err; i++)
		err = add_rows(pending, &leases->of[i], bank,
			       fallen_rules(fence, &standing, &leases->of[i]));
	if (!err && pending->count)
		rf_sort(pending->row, pending->count, sizeof(*pending->row), compare_pending);
	return err;
}

int rf_leases_snapshot(const struct rf_fence *fence, const struct rf_bank *bank,
		       struct rf_pending *pending)
{
	struct rf_leases leases;
	int err = rf_leases_read(fence, &leases);

	*pending = (struct rf_pending){};
	if (!err)
		err = rf_leases_list(fence, &leases, bank, pending);
	rf_leases_free(&leases);
	return err;
}

static void add_pending_of(const struct rf_pending *pending, const struct rf_address *source,
			   const struct rf_bank *bank, int slot, struct rf_source *state)
{
	struct rf_pending_row key = {.slot = slot, .is_ipv6 = source->version == 6};
	const struct rf_pending_row *end = pending->row + pending->count, *found;
	__u64 words[2];

	pack_address(source, words);
	key.source = words[0];
	/* A lease distinguishes sources by a /64 at most: longer prefixes have no leases. */
	if (!pending->count || words[1])
		return;
	found = rf_search(&key, pending->row, pending->count, sizeof(key), compare_pending);
	while (found && found > pending->row && !compare_pending(found - 1, &key))
		found--;
	for (; found && found < end && !compare_pending(found, &key); found++) {
		if (rf_reason_is_drop(found->reason))
			state->dropped += found->packets;
		else if (found->reason != RF_SHADOW_OVER)
			state->passed += found->packets;
		else if (!bank->policy[slot].ban)
			state->would_drop += found->packets;
	}
}

/* ---- sources ---- */

/* How windows are visited: the callback, and the pending packets that are added to each window. */
struct visitor {
	struct rf_bank rules;
	struct rf_pending pending;
	rf_source_visit visit;
	void *context;
	bool without_leases;
};

/*
 * Reads the pending packets after the windows were read. A packet that a lease hands over in
 * between is missing from the sum, rather than counted twice.
 */
static int read_pending(struct visitor *visitor, const struct rf_fence *fence)
{
	struct rf_error ignored;
	int err;

	if (visitor->without_leases)
		return 0;
	err = rf_fence_bank(fence, &visitor->rules, &ignored);
	if (err)
		return err;
	free(visitor->pending.row);
	return rf_leases_snapshot(fence, &visitor->rules, &visitor->pending);
}

static void add_pending(const struct visitor *visitor, const struct rf_address *source,
			uint32_t limit_id, struct rf_source *state)
{
	int slot = visitor->without_leases ? -1 : rf_bank_find_id(&visitor->rules, limit_id);

	if (slot >= 0)
		add_pending_of(&visitor->pending, source, &visitor->rules, slot, state);
}

int rf_fence_source(const struct rf_fence *fence, const struct rf_policy *policy,
		    struct rf_address *source, struct rf_source *state, struct rf_error *error)
{
	struct visitor visitor = {};
	int err;

	rf_policy_mask(policy, source);
	err = rf_fence_window(fence, policy, source, state);
	if (err)
		return err == -ENOENT ? err
				      : rf_fence_fail_map(error,
							  source->version == 4 ? RF_MAP_WINDOWS4
									       : RF_MAP_WINDOWS6,
							  err);
	err = read_pending(&visitor, fence);
	if (!err)
		add_pending(&visitor, source, policy->id, state);
	free(visitor.pending.row);
	return err ? rf_fence_fail_map(error, RF_MAP_LEASES, err) : 0;
}

/*
 * A walk over one windows map, in batches. Batches are large, since all leases are read for each.
 */
#define WINDOWS_BATCH 65536

struct walk {
	enum rf_map map;
	size_t key_size;
	__u32 capacity; /* entries of a batch */
	unsigned char *keys;
	size_t value_size;
	unsigned char *values;
};

/* A batch must hold the largest bucket of the hash; the kernel returns ENOSPC until it does. */
static int resize_walk(struct walk *walk, __u32 capacity)
{
	free(walk->keys);
	free(walk->values);
	walk->capacity = capacity;
	walk->keys = calloc(capacity, walk->key_size);
	walk->values = calloc(capacity, walk->value_size);
	return walk->keys && walk->values ? 0 : -ENOMEM;
}

static int visit_batch(const struct walk *walk, __u32 count, const struct visitor *visitor)
{
	int err = 0;

	for (__u32 i = 0; i < count && !err; i++) {
		const unsigned char *key = walk->keys + i * walk->key_size;
		struct rf_source *state = (void *)(walk->values + i * walk->value_size);
		struct rf_address source = {.version = walk->map == RF_MAP_WINDOWS4 ? 4 : 6};
		size_t length = source.version == 4 ? sizeof(__be32) : sizeof(source.word);
		__u32 limit_id;

		memcpy(source.word, key, length);
		memcpy(&limit_id, key + length, sizeof(limit_id));
		add_pending(visitor, &source, limit_id, state);
		err = visitor->visit(&source, limit_id, state, visitor->context);
	}
	return err < 0 ? err : 0;
}

static int walk_map(const struct rf_fence *fence, struct walk *walk, struct visitor *visitor)
{
	const int fd = fence->map_fd[walk->map];
	__u32 in, out;
	bool first = true, last = false;
	int err;

	walk->value_size = fence->source_size;
	err = resize_walk(walk, WINDOWS_BATCH);

	while (!err && !last) {
		__u32 count = walk->capacity;

		err = bpf_map_lookup_batch(fd, first ? NULL : &in, &out, walk->keys, walk->values,
					   &count, NULL)
			      ? -errno
			      : 0;
		if (err == -ENOSPC) {
			err = resize_walk(walk, walk->capacity * 2);
			continue;
		}
		if (err && err != -ENOENT)
			return err;
		last = err == -ENOENT; /* ENOENT comes with the last entries */
		err = read_pending(visitor, fence);
		if (!err)
			err = visit_batch(walk, count, visitor);
		in = out;
		first = false;
	}
	return err;
}

static int walk_all(const struct rf_fence *fence, struct visitor *visitor, struct rf_error *error)
{
	struct walk walks[] = {{.map = RF_MAP_WINDOWS4, .key_size = sizeof(struct rf_key4)},
			       {.map = RF_MAP_WINDOWS6, .key_size = sizeof(struct rf_key6)}};
	int err = 0;

	for (int i = 0; i < 2 && !err; i++) {
		err = walk_map(fence, &walks[i], visitor);
		free(walks[i].keys);
		free(walks[i].values);
		if (err)
			rf_fence_fail_map(error, walks[i].map, err);
	}
	free(visitor->pending.row);
	return err;
}

int rf_fence_each_source(const struct rf_fence *fence, rf_source_visit visit, void *context,
			 struct rf_error *error)
{
	struct visitor visitor = {.visit = visit, .context = context};

	return walk_all(fence, &visitor, error);
}

/* A walk that shows windows without what leases hold. */
struct sighting {
	const struct rf_fence *fence;
	const struct rf_bank *rules;
	rf_window_visit visit;
	void *context;
};

static int visit_sight(const struct rf_address *source, uint32_t limit_id,
		       const struct rf_source *state, void *context)
{
	const struct sighting *sighting = context;
	const int slot = rf_bank_find_id(sighting->rules, limit_id);
	struct rf_window_sight sight;

	if (slot < 0)
		return 0;
	rf_window_sight(sighting->fence, &sighting->rules->policy[slot], source, state, &sight);
	return sighting->visit(&sight, sighting->context);
}

int rf_fence_each_window(const struct rf_fence *fence, const struct rf_bank *rules,
			 rf_window_visit visit, void *context, struct rf_error *error)
{
	struct sighting sighting = {fence, rules, visit, context};
	struct visitor visitor = {
		.visit = visit_sight,
		.context = &sighting,
		.without_leases = true,
	};

	return walk_all(fence, &visitor, error);
}
