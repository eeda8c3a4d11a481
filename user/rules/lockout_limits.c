// SPDX-License-Identifier: GPL-2.0
/* Limits of rate 0 that lock the host out, and limits that apply to the own SSH connection. */
#include <errno.h>
#include <stdio.h>

#include "rules/classes.h"
#include "rules/destination.h"
#include "rules/lockout.h"
#include "rules/places.h"

#define SYN 0x02
#define PSH 0x08
#define ACK 0x10

/* Lengths of frames that carry TCP: from a bare acknowledgement to what an Ethernet holds. */
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
	/* A limit has no end, so only an entry without one protects. */
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

/* ---- all of it ---- */

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
