// SPDX-License-Identifier: GPL-2.0
/*
 * Reads back the rules of a fence. There are two banks of rules, and one word selects the active
 * bank. Each bank has its own classes of ports and its own tries of prefixes. Past a deadline the
 * other bank is active, or none, although nothing was written.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fence/private.h"
#include "fence/tries.h"

#define PORT_WORDS (RF_PORTS / 64)
#define READS_MAX 100 /* attempts to read rules that are switched concurrently */
#define PAUSES_MAX 20 /* attempts to read tries that are changed concurrently */
#define PAUSE_NS 1000000

static bool has_moved(const struct rf_fence *fence, const struct rf_standing *standing)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	rf_map_refresh(fence, RF_MAP_CONFIG);
	return __atomic_load_n(&fence->config->active, __ATOMIC_RELAXED) != standing->active;
}

/* Only a process that wants to hold up others switches rules so often. */
static int fail_moving(struct rf_error *error)
{
	return rf_error_failed(error, -EAGAIN,
			       "the rules change faster than they can be read; find the process "
			       "that changes them, or detach the fence");
}

int rf_fence_bank(const struct rf_fence *fence, struct rf_bank *bank, struct rf_error *error)
{
	struct rf_standing standing;

	/* A bank is written only after the other one was made active. */
	for (int i = 0; i < READS_MAX; i++) {
		standing = rf_fence_standing(fence);
		*bank = fence->config->bank[standing.in_force & 1];
		if (!has_moved(fence, &standing))
			return rf_bank_check(bank, error);
	}
	return fail_moving(error);
}

/* ---- ports ---- */

/* Adds a port to the sets of these limits, if they have one; `limits` is a bit set of slots. */
static void ports_note(uint64_t *ports[RF_LIMITS_MAX], uint32_t port, uint32_t slots)
{
	for (; slots; slots &= slots - 1) {
		uint64_t *set = ports[__builtin_ctz(slots)];

		if (set)
			set[port / 64] |= 1ULL << port % 64;
	}
}

/* The limits that can match packets of a class, of any shape. */
static uint32_t limits_of(const struct rf_bank *bank, uint8_t class)
{
	return bank->packet_class[class].limits | bank->shapes.candidates[class];
}

static void read_ports(struct rf_ruleset *ruleset, const struct rf_ports *ports)
{
	const struct rf_bank *bank = &ruleset->bank;

	for (uint32_t port = 0; port < RF_PORTS; port++)
		ports_note(ruleset->ports, port,
			   limits_of(bank, ports->packet_class[RF_PORTS_TCP][port]) |
				   limits_of(bank, ports->packet_class[RF_PORTS_SYN][port]) |
				   limits_of(bank, ports->packet_class[RF_PORTS_UDP][port]));
}

static void read_sports(struct rf_ruleset *ruleset, const struct rf_shape_tables *tables)
{
	const struct rf_shapes *shapes = &ruleset->bank.shapes;

	for (uint32_t port = 0; port < RF_PORTS; port++)
		ports_note(ruleset->sports, port, shapes->sport_limits[tables->sport[port]]);
}

/* Makes empty bit sets of ports for the limits that have ports. */
static int ports_make(struct rf_ruleset *ruleset)
{
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
		const struct rf_limit *limit = &ruleset->bank.limit[slot];

		if (!ruleset->bank.policy[slot].id)
			continue;
		if (limit->has_ports)
			ruleset->ports[slot] = calloc(PORT_WORDS, sizeof(uint64_t));
		if (limit->has_sports)
			ruleset->sports[slot] = calloc(PORT_WORDS, sizeof(uint64_t));
		if ((limit->has_ports && !ruleset->ports[slot]) ||
		    (limit->has_sports && !ruleset->sports[slot]))
			return -ENOMEM;
	}
	return 0;
}

/* ---- prefixes ---- */

static int read_prefixes(struct rf_ruleset *ruleset, const struct rf_tries *tries,
			 struct rf_error *error)
{
	struct rf_trie_content content[RF_FAMILIES] = {};
	struct rf_listed *listed = NULL;
	int err = 0;

	for (int i = 0; i < RF_FAMILIES && !err; i++)
		err = rf_trie_read(tries->fd[i], i, &content[i], error);
	if (!err && content[0].count + content[1].count) {
		listed = calloc(content[0].count + content[1].count, sizeof(*listed));
		if (!listed)
			err = rf_error_failed(error, -ENOMEM, "cannot read the prefixes: %s",
					      strerror(ENOMEM));
	}
	for (int i = 0; i < RF_FAMILIES && !err; i++)
		for (size_t j = 0; j < content[i].count; j++)
			listed[ruleset->listed_count++] = rf_listed_of(&content[i].entry[j]);
	ruleset->listed = listed;
	free(content[0].entry);
	free(content[1].entry);
	return err;
}

/* After the prefixes, since a name is written before the first claim by it. */
static void read_owners(const struct rf_fence *fence, struct rf_owners *owners)
{
	*owners = fence->config->owners;
	for (int i = 0; i < RF_OWNERS_MAX - RF_OWNERS_FIXED; i++)
		if (!rf_owner_name_is_valid(owners->name[i]))
			memset(owners->name[i], 0, RF_OWNER_SIZE);
}

int rf_fence_ruleset_of(const struct rf_fence *fence, int bank, struct rf_ruleset *ruleset,
			struct rf_error *error)
{
	struct rf_tries tries = RF_TRIES_NONE;
	int err;

	ruleset->bank = fence->config->bank[bank];
	err = rf_bank_check(&ruleset->bank, error);
	if (err)
		return err;
	err = ports_make(ruleset);
	if (err)
		return rf_error_failed(error, err, "cannot read the rules: %s", strerror(-err));
	rf_map_refresh(fence, RF_MAP_PORTS);
	if (ruleset->bank.flags & RF_BANK_PORTS)
		read_ports(ruleset, &fence->ports[bank]);
	if (ruleset->bank.flags & RF_BANK_SHAPES)
		read_sports(ruleset, &fence->config->shape_tables[bank]);
	if (ruleset->bank.flags & (RF_BANK_PREFIXES4 | RF_BANK_PREFIXES6))
		err = rf_tries_open(fence, bank, &tries, error);
	if (!err)
		err = read_prefixes(ruleset, &tries, error);
	read_owners(fence, &ruleset->owners);
	rf_tries_close(&tries);
	return err;
}

/*
 * Are the tries being changed? That is brief, unless the command that changed them was killed: then
 * the entries remain in their present state.
 */
static bool in_doubt(const struct rf_fence *fence, int bank)
{
	const __u32 *flags = &fence->config->bank[bank].flags;

	return __atomic_load_n(flags, __ATOMIC_RELAXED) & RF_BANK_IN_DOUBT;
}

/* The bank of either; -1: there are no rules. */
static int standing_bank(const struct rf_standing *standing, bool confirmed)
{
	if (confirmed && (standing->state == RF_EXPIRED ||
			  (standing->state == RF_PENDING && standing->fallback == RF_FALL_OPEN)))
		return -1;
	return (standing->in_force ^ (confirmed && standing->state == RF_PENDING)) & 1;
}

static int read_ruleset(const struct rf_fence *fence, bool confirmed, struct rf_ruleset *ruleset,
			struct rf_error *error)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	struct rf_standing standing;
	bool was_in_doubt;
	int err, bank;

	for (int i = 0; i < READS_MAX; i++) {
		rf_ruleset_free(ruleset);
		*ruleset = RF_RULESET_NONE;
		standing = rf_fence_standing(fence);
		bank = standing_bank(&standing, confirmed);
		if (bank < 0)
			return 0;
		was_in_doubt = in_doubt(fence, bank);
		err = rf_fence_ruleset_of(fence, bank, ruleset, error);
		if (has_moved(fence, &standing))
			continue;
		/* -ESTALE: a trie is in place, and its pin is about to be, or the reverse. */
		if (i >= PAUSES_MAX || (err != -ESTALE && !was_in_doubt && !in_doubt(fence, bank)))
			return err;
		nanosleep(&pause, NULL);
	}
	return fail_moving(error);
}

int rf_fence_ruleset(const struct rf_fence *fence, struct rf_ruleset *ruleset,
		     struct rf_error *error)
{
	return read_ruleset(fence, false, ruleset, error);
}

int rf_fence_ruleset_confirmed(const struct rf_fence *fence, struct rf_ruleset *ruleset,
			       struct rf_error *error)
{
	return read_ruleset(fence, true, ruleset, error);
}

int rf_fence_value_around(const struct rf_fence *fence, const struct rf_prefix *prefix,
			  struct rf_prefix_value *value, struct rf_error *error)
{
	const int family = prefix->version == 6;
	struct rf_standing standing;
	struct rf_tries tries;
	int err;

	for (int i = 0; i < READS_MAX; i++) {
		standing = rf_fence_standing(fence);
		err = rf_tries_open(fence, standing.in_force & 1, &tries, error);
		if (!err && rf_trie_find(tries.fd[family], prefix->word, prefix->length, value))
			err = rf_error_failed(error, -errno, "cannot read the prefixes: %s",
					      strerror(errno));
		rf_tries_close(&tries);
		if (!has_moved(fence, &standing))
			return err;
	}
	return fail_moving(error);
}

/*
 * The trie finds the longest prefix of at most the requested length. The length at which a prefix
 * is found first is therefore its own.
 */
int rf_fence_listed_prefix(const struct rf_fence *fence, const struct rf_address *source,
			   enum rf_list list, uint64_t until, struct rf_prefix *prefix,
			   struct rf_error *error)
{
	const int family = source->version == 6;
	const int bank = rf_fence_standing(fence).in_force & 1;
	struct rf_prefix_value value;
	struct rf_tries tries;
	int err = rf_tries_open(fence, bank, &tries, error);

	*prefix = (struct rf_prefix){.version = source->version};
	while (!err) {
		if (rf_trie_find(tries.fd[family], source->word, prefix->length, &value))
			err = rf_error_failed(error, -errno, "cannot read the prefixes: %s",
					      strerror(errno));
		else if (rf_list_claims_until(value.own_claim, list) == until)
			break;
		else if (prefix->length++ == RF_LENGTH_MAX(family))
			err = -ENOENT;
	}
	for (unsigned int i = 0; !err && i < 4; i++)
		prefix->word[i] = source->word[i] & rf_prefix_mask(prefix->length, i);
	rf_tries_close(&tries);
	return err;
}
