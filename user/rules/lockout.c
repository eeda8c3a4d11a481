// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "rules/attribute.h"
#include "rules/classes.h"
#include "rules/lockout.h"

/* ---- changes of lists ---- */

static bool is_deny(const struct rf_list_change *change)
{
	return change->list == RF_DENY && change->until;
}

static bool is_unallow(const struct rf_list_change *change)
{
	return change->list == RF_ALLOW && !change->until;
}

/* Is it a change that can be refused? */
static bool is_checked(const struct rf_list_change *change)
{
	return change->on_own != RF_ON_OWN_FORCE && (is_deny(change) || is_unallow(change));
}

static bool concerns(const struct rf_list_change *change, const struct rf_own_network *network)
{
	return is_checked(change) && rf_prefix_contains(&change->prefix, &network->prefix);
}

/* May a gateway lie in the prefix? It lies in a subnet, unless the host has addresses without one.
 */
static bool may_have_gateway(const struct rf_own_networks *own, const struct rf_prefix *prefix)
{
	if (own->has_host[prefix->version == 6])
		return true;
	for (size_t i = 0; i < own->count; i++)
		if (own->network[i].kind == RF_OWN_SUBNET &&
		    (rf_prefix_contains(prefix, &own->network[i].prefix) ||
		     rf_prefix_contains(&own->network[i].prefix, prefix)))
			return true;
	return false;
}

bool rf_lockout_needs_gateways(const struct rf_own_networks *own,
			       const struct rf_list_changes *changes)
{
	for (size_t i = 0; i < changes->releases; i++)
		if (changes->release[i].list == RF_ALLOW &&
		    changes->release[i].on_own != RF_ON_OWN_FORCE)
			return true;
	for (size_t i = 0; i < changes->count; i++)
		if (is_checked(&changes->change[i]) &&
		    may_have_gateway(own, &changes->change[i].prefix))
			return true;
	return false;
}

bool rf_lockout_concerns(const struct rf_own_networks *own, const struct rf_list_changes *changes)
{
	for (size_t i = 0; own->count && i < changes->releases; i++)
		if (changes->release[i].list == RF_ALLOW &&
		    changes->release[i].on_own != RF_ON_OWN_FORCE)
			return true;
	for (size_t i = 0; i < changes->count; i++)
		for (size_t j = 0; j < own->count; j++)
			if (concerns(&changes->change[i], &own->network[j]))
				return true;
	return false;
}

static int add_found(struct rf_lockout_lists *lockout, const struct rf_lockout_list *found,
		     struct rf_error *error)
{
	if (lockout->count == lockout->capacity) {
		const size_t capacity = lockout->capacity ? 2 * lockout->capacity : 16;
		struct rf_lockout_list *grown =
			reallocarray(lockout->found, capacity, sizeof(*grown));

		if (!grown)
			return rf_error_failed(error, -ENOMEM, "out of memory for the prefixes");
		lockout->found = grown;
		lockout->capacity = capacity;
	}
	lockout->found[lockout->count++] = *found;
	return 0;
}

/* Until when a network is on each list. */
struct listed {
	uint64_t until[RF_LIST_COUNT];
};

/* The lists at each own network, before and after the changes. */
struct networks {
	const struct rf_own_networks *own;
	struct listed *before, *after;
};

/*
 * Would an entry that was there drop the network now? A deny that the same changes add is refused
 * for itself.
 */
static bool loses_protection(const struct networks *networks, size_t i)
{
	const struct listed *before = &networks->before[i], *after = &networks->after[i];
	const uint64_t denied = before->until[RF_DENY] < after->until[RF_DENY]
					? before->until[RF_DENY]
					: after->until[RF_DENY];

	return before->until[RF_ALLOW] > after->until[RF_ALLOW] && denied > after->until[RF_ALLOW];
}

static const struct rf_own_network *cut_off_by(const struct networks *networks,
					       const struct rf_list_change *change)
{
	for (size_t i = 0; i < networks->own->count; i++) {
		if (!concerns(change, &networks->own->network[i]))
			continue;
		if (is_deny(change) ? change->until > networks->after[i].until[RF_ALLOW]
				    : loses_protection(networks, i))
			return &networks->own->network[i];
	}
	return NULL;
}

static const struct rf_own_network *released_by(const struct networks *networks,
						const struct rf_list_release *release)
{
	if (release->list != RF_ALLOW || release->on_own == RF_ON_OWN_FORCE)
		return NULL;
	for (size_t i = 0; i < networks->own->count; i++)
		if (loses_protection(networks, i))
			return &networks->own->network[i];
	return NULL;
}

static int find(const struct networks *networks, const struct rf_list_changes *changes,
		struct rf_lockout_lists *lockout, struct rf_error *error)
{
	int err = 0;

	for (size_t i = 0; i < changes->count && !err; i++) {
		const struct rf_lockout_list found = {
			.number = i,
			.network = cut_off_by(networks, &changes->change[i]),
		};

		if (found.network)
			err = add_found(lockout, &found, error);
	}
	for (size_t i = 0; i < changes->releases && !err; i++) {
		const struct rf_lockout_list found = {
			.is_release = true,
			.number = i,
			.network = released_by(networks, &changes->release[i]),
		};

		if (found.network)
			err = add_found(lockout, &found, error);
	}
	return err;
}

static void read_listed(const struct rf_own_networks *own, const struct rf_ruleset *ruleset,
			struct listed *listed)
{
	for (size_t i = 0; i < own->count; i++) {
		const struct rf_place place = rf_place_of(ruleset, &own->network[i].prefix);

		for (int list = 0; list < RF_LIST_COUNT; list++)
			listed[i].until[list] = place.until[list];
	}
}

int rf_lockout_find(const struct rf_own_networks *own, const struct rf_list_changes *changes,
		    struct rf_ruleset *ruleset, struct rf_lockout_lists *lockout,
		    struct rf_error *error)
{
	struct listed *listed = calloc(2 * own->count + 1, sizeof(*listed));
	const struct networks networks = {own, listed, listed + own->count};
	struct rf_list_refused refused;
	size_t first;
	int err;

	if (!listed)
		return rf_error_failed(error, -ENOMEM, "out of memory for the prefixes");
	read_listed(own, ruleset, networks.before);
	err = rf_ruleset_change(ruleset, changes, &first, &refused, error);
	if (!err) {
		read_listed(own, ruleset, networks.after);
		err = find(&networks, changes, lockout, error);
	}
	free(listed);
	return err;
}

enum rf_on_own rf_lockout_action(const struct rf_list_changes *changes,
				 const struct rf_lockout_list *found)
{
	return found->is_release ? changes->release[found->number].on_own
				 : changes->change[found->number].on_own;
}

size_t rf_lockout_line(const struct rf_list_changes *changes, const struct rf_lockout_list *found)
{
	return found->is_release ? changes->release[found->number].line
				 : changes->change[found->number].line;
}

void rf_lockout_mark(struct rf_list_changes *changes, const struct rf_lockout_list *found)
{
	if (found->is_release)
		changes->release[found->number].is_left_out = true;
	else
		changes->change[found->number].is_left_out = true;
}

int rf_lockout_fail(const struct rf_list_changes *changes, const struct rf_lockout_list *found,
		    struct rf_error *error)
{
	char network[RF_OWN_NETWORK_TEXT_SIZE], prefix[RF_PREFIX_TEXT_SIZE];

	rf_own_network_format(found->network, network);
	if (found->is_release)
		return rf_error_failed(error, -EADDRINUSE,
				       "without these entries of the allow list, the deny list "
				       "drops %s; add 'force' to remove them nevertheless",
				       network);
	rf_format_prefix(&changes->change[found->number].prefix, prefix);
	if (is_deny(&changes->change[found->number]))
		return rf_error_failed(error, -EADDRINUSE,
				       "'%s': it covers %s; add 'force' to deny it nevertheless",
				       prefix, network);
	return rf_error_failed(error, -EADDRINUSE,
			       "'%s': without this entry of the allow list, the deny list drops "
			       "%s; add 'force' to remove it nevertheless",
			       prefix, network);
}

void rf_lockout_free(struct rf_lockout_lists *lockout)
{
	free(lockout->found);
	*lockout = (struct rf_lockout_lists){};
}

const struct rf_own_network *rf_lockout_denied(const struct rf_own_networks *own,
					       const struct rf_ruleset *ruleset)
{
	for (size_t i = 0; i < own->count; i++) {
		const struct rf_place place = rf_place_of(ruleset, &own->network[i].prefix);

		if (place.until[RF_DENY] > place.until[RF_ALLOW])
			return &own->network[i];
	}
	return NULL;
}

/* ---- limits ---- */

/* Limits of rate 0 that lock the host out, and limits that apply to the own SSH connection. */

#define SYN 0x02
#define PSH 0x08
#define ACK 0x10

/* Lengths of frames that carry TCP: from a bare acknowledgement to the maximum of Ethernet. */
#define TCP_FRAME_MIN 54
#define TCP_FRAME_MAX 1514

/* ---- the SSH connection ---- */

static bool has_port(const uint64_t *ports, uint16_t port)
{
	return !ports || !port || ports[port / 64] >> port % 64 & 1;
}

static bool matches_to(const struct rf_ruleset *ruleset, int slot, const struct rf_peer *peer)
{
	struct rf_prefix to;
	int at = 0;

	if (!ruleset->bank.limit[slot].has_to || !peer->has_own)
		return true;
	while (rf_to_next(&ruleset->bank.shapes, slot, &at, &to))
		if (rf_prefix_contains(&to, &peer->own))
			return true;
	return false;
}

/* Of the flags without which no connection works, does it match any? */
static bool matches_flags(const struct rf_limit *limit)
{
	static const uint8_t used[] = {SYN, ACK, PSH | ACK};

	for (size_t i = 0; i < sizeof(used); i++)
		if ((used[i] & limit->tcp_mask) == limit->tcp_flags &&
		    (limit->match != RF_MATCH_SYN || used[i] == SYN))
			return true;
	return false;
}

static bool matches_peer(const struct rf_ruleset *ruleset, int slot, const struct rf_peer *peer)
{
	const struct rf_limit *limit = &ruleset->bank.limit[slot];

	if (limit->match == RF_MATCH_PROTOCOL
		    ? limit->protocol != RF_TCP
		    : limit->match != RF_MATCH_ANY && limit->match != RF_MATCH_TCP &&
			      limit->match != RF_MATCH_SYN)
		return false;
	if (limit->length_max &&
	    (limit->length_max < TCP_FRAME_MIN || limit->length_min > TCP_FRAME_MAX))
		return false;
	return has_port(ruleset->ports[slot], peer->own_port) &&
	       has_port(ruleset->sports[slot], peer->port) && matches_flags(limit) &&
	       matches_to(ruleset, slot, peer);
}

/* ---- subnets and gateways ---- */

static bool matches_all(const struct rf_limit *limit)
{
	return limit->match == RF_MATCH_ANY && !limit->has_ports && !limit->has_sports &&
	       !limit->has_to && !limit->length_max && !limit->tcp_mask;
}

/* The limits among `slots` that are enforced and match the packets of the network. */
static uint32_t find_matching(const struct rf_own_networks *own, const struct rf_ruleset *ruleset,
			      const struct rf_own_network *network, uint32_t slots)
{
	const struct rf_place place = rf_place_of(ruleset, &network->prefix);
	/* A limit does not expire, therefore only an entry without an expiry time protects. */
	const bool is_allowed = place.until[RF_ALLOW] == RF_FOREVER;
	const struct rf_bank *bank = &ruleset->bank;
	uint32_t matching = 0;

	for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
		const struct rf_limit *limit = &bank->limit[slot];

		if (is_allowed || !((slots & place.limits) >> slot & 1) || limit->flags & RF_SHADOW)
			continue;
		if (network->kind == RF_OWN_PEER ? matches_peer(ruleset, slot, &own->peer)
						 : matches_all(limit))
			matching |= 1U << slot;
	}
	return matching;
}

/* ---- the complete check ---- */

static uint32_t rate0_of(const struct rf_bank *bank)
{
	uint32_t rate0 = 0;

	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		if (bank->policy[slot].id && !bank->limit[slot].rate)
			rate0 |= 1U << slot;
	return rate0;
}

bool rf_lockout_has_rate0(const struct rf_ruleset *ruleset, uint32_t slots)
{
	return slots & rate0_of(&ruleset->bank);
}

struct rf_lockout_limit rf_lockout_by_limit(const struct rf_own_networks *own,
					    const struct rf_ruleset *ruleset, uint32_t slots)
{
	const uint32_t rate0 = slots & rate0_of(&ruleset->bank);

	for (size_t i = 0; rate0 && i < own->count; i++) {
		const uint32_t found = find_matching(own, ruleset, &own->network[i], rate0);

		if (found)
			return (struct rf_lockout_limit){__builtin_ctz(found), &own->network[i]};
	}
	return (struct rf_lockout_limit){.slot = -1};
}

struct rf_lockout_limit rf_lockout_warning(const struct rf_own_networks *own,
					   const struct rf_ruleset *ruleset, uint32_t slots)
{
	uint32_t found = 0;

	if (own->count && own->network[0].kind == RF_OWN_PEER)
		found = find_matching(own, ruleset, &own->network[0], slots);
	if (!found)
		return (struct rf_lockout_limit){.slot = -1};
	return (struct rf_lockout_limit){__builtin_ctz(found), &own->network[0]};
}

/* The longest of its `from` around the network. */
static void format_from(const struct rf_ruleset *ruleset, const struct rf_lockout_limit *found,
			char text[RF_PREFIX_TEXT_SIZE])
{
	snprintf(text, RF_PREFIX_TEXT_SIZE, "any source");
	for (size_t i = 0; i < ruleset->listed_count; i++)
		if (ruleset->listed[i].from >> found->slot & 1 &&
		    rf_prefix_contains(&ruleset->listed[i].prefix, &found->network->prefix))
			rf_format_prefix(&ruleset->listed[i].prefix, text);
}

int rf_lockout_fail_limit(const struct rf_ruleset *ruleset, const struct rf_lockout_limit *found,
			  struct rf_error *error)
{
	char from[RF_PREFIX_TEXT_SIZE], network[RF_OWN_NETWORK_TEXT_SIZE];

	format_from(ruleset, found, from);
	rf_own_network_format(found->network, network);
	return rf_error_failed(error, -EADDRINUSE,
			       "limit '%s': rate 0 from %s covers %s; add 'force' to drop it "
			       "nevertheless",
			       ruleset->bank.limit[found->slot].name, from, network);
}
