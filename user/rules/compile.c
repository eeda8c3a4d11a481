// SPDX-License-Identifier: GPL-2.0
/*
 * Computes in advance the limits a packet is charged to. The protocol and port of a packet select
 * its packet class; its source address selects its prefix class. Each class is a bit set of limits,
 * and the packet is charged to the limits in both: the data path needs one `and`.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/classes.h"
#include "rules/policy.h"
#include "rules/private.h"
#include "rules/ruleset.h"

/* ---- packet classes ---- */

/*
 * Packet classes: by protocol and destination port, and by the packet's shape if limits require it.
 * A class whose packets differ by shape is numbered from the top; `candidates` has the limits that
 * can match them.
 */

#define NAMED_MAX 8 /* limits in an error */

/* The classes found so far. */
struct draft {
	struct rf_bank *bank;
	struct rf_sets *classes;	 /* by their limits */
	struct rf_sets bases;		 /* the classes divided by shape, by their candidates */
	unsigned int looks[RF_SETS_MAX]; /* of the packets of each base */
	uint32_t shaped;		 /* limits that require a shape */
};

/* ---- errors ---- */

/* Limits that match some packets and not others, distinguished only by these words. */
static uint32_t find_dividing(const struct draft *draft)
{
	const struct rf_bank *bank = draft->bank;
	uint32_t dividing = 0;

	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		if (bank->policy[slot].id &&
		    (bank->limit[slot].has_ports || draft->shaped >> slot & 1))
			dividing |= 1U << slot;
	return dividing;
}

static int fail_classes(const struct draft *draft, struct rf_error *error)
{
	char names[NAMED_MAX * (RF_NAME_SIZE + 4) + 32] = "";
	uint32_t left = find_dividing(draft);
	size_t length = 0;

	for (int named = 0; left && named < NAMED_MAX; named++, left &= left - 1)
		length += snprintf(names + length, sizeof(names) - length, "%s'%s'",
				   named ? ", " : "", draft->bank->limit[__builtin_ctz(left)].name);
	if (left)
		snprintf(names + length, sizeof(names) - length, " and %d more",
			 __builtin_popcount(left));
	return rf_error_failed(error, -ENOSPC,
			       "limits %s make more than %d kinds of packets that differ in their "
			       "limits; delete some, or let their ports, lengths, flags and 'to' "
			       "overlap less",
			       names, RF_PACKET_CLASSES_MAX - 1);
}

/* ---- by protocol and port ---- */

static bool fits_protocol(const struct rf_limit *limit, int protocol, bool is_syn)
{
	switch (limit->match) {
	case RF_MATCH_TCP:
		return protocol == RF_TCP;
	case RF_MATCH_SYN:
		return protocol == RF_TCP && is_syn;
	case RF_MATCH_UDP:
		return protocol == RF_UDP;
	case RF_MATCH_ICMP:
		return protocol == RF_ICMP || protocol == RF_ICMPV6;
	case RF_MATCH_PROTOCOL:
		return protocol == limit->protocol;
	case RF_MATCH_OTHER:
		return false;
	default:
		return true;
	}
}

static bool fits(const struct rf_limit *limit, int protocol, bool is_syn)
{
	if (limit->tcp_mask && protocol != RF_TCP)
		return false;
	if (limit->has_sports && protocol != RF_TCP && protocol != RF_UDP)
		return false;
	return fits_protocol(limit, protocol, is_syn);
}

/* The limits that may match a packet: either those with ports, or those without. */
static uint32_t find_limits(const struct rf_bank *bank, int protocol, bool is_syn, bool has_ports)
{
	uint32_t limits = 0;

	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		if (bank->policy[slot].id && bank->limit[slot].has_ports == has_ports &&
		    fits(&bank->limit[slot], protocol, is_syn))
			limits |= 1U << slot;
	return limits;
}

/* The class of packets with such looks that may match these limits. */
static int number_class(struct draft *draft, uint32_t limits, unsigned int looks,
			struct rf_error *error)
{
	int number;

	if (limits & draft->shaped) {
		number = rf_sets_number(&draft->bases, limits);
		if (number >= 0)
			draft->looks[number] |= looks;
		number = number < 0 ? number : RF_SETS_MAX - 1 - number;
	} else {
		number = rf_sets_number(draft->classes, limits);
	}
	if (number < 0 || draft->classes->count + draft->bases.count > RF_PACKET_CLASSES_MAX)
		return fail_classes(draft, error);
	return number;
}

static unsigned int looks_of(int protocol)
{
	return RF_LOOK_BARE | (protocol == RF_TCP   ? RF_LOOK_TCP
			       : protocol == RF_UDP ? RF_LOOK_UDP
						    : 0);
}

/* If some limit has ports, packets with ports have separate classes. */
static int compile_protocols(struct draft *draft, bool are_bare, struct rf_error *error)
{
	struct rf_bank *bank = draft->bank;
	int class;

	for (int protocol = 0; protocol < 256; protocol++) {
		class = number_class(draft, find_limits(bank, protocol, false, false),
				     are_bare ? RF_LOOK_BARE : looks_of(protocol), error);
		if (class < 0)
			return class;
		bank->class_of_protocol[protocol] = class;
	}
	class = number_class(draft, find_limits(bank, RF_TCP, true, false), RF_LOOK_SYN, error);
	if (class < 0)
		return class;
	bank->class_of_ports[RF_PORTS_SYN] = class;
	bank->class_of_ports[RF_PORTS_TCP] = bank->class_of_protocol[RF_TCP];
	bank->class_of_ports[RF_PORTS_UDP] = bank->class_of_protocol[RF_UDP];
	return 0;
}

/* The limits among `limits` that match a port. */
static uint32_t find_limits_of_port(const struct rf_ruleset *ruleset, uint32_t limits, int port)
{
	uint32_t found = 0;

	for (uint32_t left = limits; left; left &= left - 1) {
		int slot = __builtin_ctz(left);

		if (ruleset->ports[slot][port / 64] >> port % 64 & 1)
			found |= 1U << slot;
	}
	return found;
}

static int compile_ports_of(const struct rf_ruleset *ruleset, enum rf_ports_of of,
			    struct draft *draft, __u8 class_of[RF_PORTS], struct rf_error *error)
{
	static const unsigned int looks[] = {[RF_PORTS_TCP] = RF_LOOK_TCP,
					     [RF_PORTS_SYN] = RF_LOOK_SYN,
					     [RF_PORTS_UDP] = RF_LOOK_UDP};
	const int protocol = of == RF_PORTS_UDP ? RF_UDP : RF_TCP;
	const bool is_syn = of == RF_PORTS_SYN;
	const uint32_t without = find_limits(draft->bank, protocol, is_syn, false);
	const uint32_t with = find_limits(draft->bank, protocol, is_syn, true);

	for (int port = 0; port < RF_PORTS; port++) {
		int class = number_class(draft, without | find_limits_of_port(ruleset, with, port),
					 looks[of], error);

		if (class < 0)
			return class;
		class_of[port] = class;
	}
	return 0;
}

static int compile_ports(const struct rf_ruleset *ruleset, struct draft *draft,
			 struct rf_ports *ports, struct rf_error *error)
{
	int err = 0;

	for (int of = 0; !err && of < RF_PORTS_OF_COUNT; of++)
		err = compile_ports_of(ruleset, of, draft, ports->packet_class[of], error);
	return err;
}

/* ---- by shape ---- */

/* Finds the sets of limits that remain for each shape, and assigns a class to each. */
static int compile_bases(struct draft *draft, struct rf_error *error)
{
	struct rf_shapes *shapes = &draft->bank->shapes;
	struct rf_sets left = {};

	for (int i = 0; i < draft->bases.count; i++) {
		const int class = RF_SETS_MAX - 1 - i;

		shapes->candidates[class] = draft->bases.set[i];
		draft->bank->packet_class[class].by_shape =
			rf_shapes_parts(shapes, draft->bases.set[i]);
		if (rf_shapes_combine(shapes, draft->bases.set[i], draft->looks[i], &left))
			return fail_classes(draft, error);
	}
	for (int i = 0; i < left.count; i++)
		if (rf_sets_number(draft->classes, left.set[i]) < 0)
			return fail_classes(draft, error);
	if (draft->classes->count + draft->bases.count > RF_PACKET_CLASSES_MAX)
		return fail_classes(draft, error);
	return rf_shapes_name(shapes, &left, draft->classes, error);
}

/* ---- all classes ---- */

/*
 * Credits are in the unit of the class's limits. Limits of different units get no credits. Limits
 * with rate 0 have no unit.
 */
static struct rf_packet_class class_of_limits(const struct rf_bank *bank, uint32_t limits)
{
	struct rf_packet_class class = {.limits = limits};
	bool is_first = true;

	for (uint32_t left = limits; left; left &= left - 1) {
		const struct rf_policy *policy = &bank->policy[__builtin_ctz(left)];

		if (!bank->limit[__builtin_ctz(left)].rate)
			continue;
		if (is_first) {
			class.unit = policy->unit;
			class.unit_shift = policy->unit_shift;
		} else if (class.unit != policy->unit || class.unit_shift != policy->unit_shift) {
			return (struct rf_packet_class){
				.limits = limits, .unit = RF_BYTES, .is_mixed = 1};
		}
		is_first = false;
	}
	return class;
}

/* Notes in the bank's flags which tables the data path reads. */
static int make_tables(struct rf_bank *bank, struct rf_compiled *compiled, struct rf_error *error)
{
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
		const struct rf_limit *limit = &bank->limit[slot];

		if (!bank->policy[slot].id)
			continue;
		if (limit->has_ports)
			bank->flags |= RF_BANK_PORTS;
		if (limit->has_sports || limit->length_max)
			bank->flags |= RF_BANK_SHAPES;
	}
	if (bank->flags & RF_BANK_PORTS)
		compiled->ports = calloc(1, sizeof(*compiled->ports));
	if (bank->flags & RF_BANK_SHAPES)
		compiled->tables = calloc(1, sizeof(*compiled->tables));
	if ((bank->flags & RF_BANK_PORTS && !compiled->ports) ||
	    (bank->flags & RF_BANK_SHAPES && !compiled->tables))
		return rf_error_failed(error, -ENOMEM, "out of memory for the ports");
	return 0;
}

/* Fills the packet classes of the bank. `classes`: the limits of each. */
static int packet_classes_compile(struct rf_ruleset *ruleset, struct rf_compiled *compiled,
				  struct rf_sets *classes, struct rf_error *error)
{
	struct rf_bank *bank = &ruleset->bank;
	struct draft draft = {.bank = bank, .classes = classes, .shaped = rf_shapes_limits(bank)};
	int err;

	memset(bank->packet_class, 0, sizeof(bank->packet_class));
	rf_sets_number(classes, 0); /* the class that no limit matches */
	err = make_tables(bank, compiled, error);
	if (!err)
		err = rf_shapes_compile(ruleset, &bank->shapes, compiled->tables, error);
	if (!err)
		err = compile_protocols(&draft, bank->flags & RF_BANK_PORTS, error);
	if (!err && bank->flags & RF_BANK_PORTS)
		err = compile_ports(ruleset, &draft, compiled->ports, error);
	if (!err)
		err = compile_bases(&draft, error);
	for (int i = 0; !err && i < classes->count; i++)
		bank->packet_class[i] = class_of_limits(bank, classes->set[i]);
	return err;
}

/* ---- places: groups ---- */

/* Do both limits match and group packets in the same way, except for their `from`? */
static bool match_alike(const struct rf_ruleset *ruleset, int a, int b)
{
	const struct rf_limit *one = &ruleset->bank.limit[a], *other = &ruleset->bank.limit[b];

	if (one->match != other->match || one->protocol != other->protocol ||
	    one->per4 != other->per4 || one->per6 != other->per6 ||
	    one->has_ports != other->has_ports || !rf_shapes_are_alike(ruleset, a, b))
		return false;
	return !one->has_ports || memcmp(ruleset->ports[a], ruleset->ports[b], RF_PORTS / 8) == 0;
}

/* The largest burst that passes: of a bucket its burst, otherwise a full window. */
static uint64_t at_once(const struct rf_limit *limit)
{
	return rf_has_burst(limit) ? limit->burst : limit->rate;
}

/* Is it no stricter than `other`, neither in its largest burst nor in the long run? */
static bool allows_at_least(const struct rf_limit *limit, const struct rf_limit *other)
{
	if (!other->rate)
		return true;
	return limit->unit == other->unit && at_once(limit) >= at_once(other) &&
	       (unsigned __int128)limit->rate * other->window_ns >=
		       (unsigned __int128)other->rate * limit->window_ns;
}

/* Compares the limits of two slots. */
static void find_pair(const struct rf_ruleset *ruleset, int a, int b, struct rf_places *places)
{
	const struct rf_limit *one = &ruleset->bank.limit[a], *other = &ruleset->bank.limit[b];

	if (a == b || !ruleset->bank.policy[b].id || !match_alike(ruleset, a, b))
		return;
	places->group[a] |= 1U << b;
	if (!(one->flags & RF_SHADOW) || allows_at_least(one, other))
		places->hides[a] |= 1U << b;
	if (allows_at_least(other, one))
		places->at_most[a] |= 1U << b;
}

/* Starts with the place that is everywhere. */
static void places_start(struct rf_places *places, const struct rf_ruleset *ruleset)
{
	const struct rf_bank *bank = &ruleset->bank;
	uint32_t everywhere = 0;

	*places = (struct rf_places){.depth = 1};
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
		if (!bank->policy[slot].id)
			continue;
		if (bank->limit[slot].flags & RF_SHADOW)
			places->shadows |= 1U << slot;
		if (!bank->limit[slot].has_from && bank->limit[slot].match != RF_MATCH_OTHER)
			everywhere |= 1U << slot;
		for (int other = 0; other < RF_LIMITS_MAX; other++)
			find_pair(ruleset, slot, other, places);
	}
	places->place[0].from = places->place[0].limits = everywhere;
}

/* ---- places ---- */

/* A walk from the narrowest limits of a place to the widest; bit sets of slots. */
struct walk {
	uint32_t seen;	     /* limits that name a prefix around the place */
	uint32_t applied;    /* those among them that apply */
	uint32_t hidden;     /* by an applied limit */
	uint32_t overridden; /* by an applied and enforced limit */
	uint32_t whole;	     /* shadows whose prefix is the whole family: as wide as no `from` */
};

/* The limits that the limit in `slot` hides if they are wider. */
static uint32_t hidden_by(const struct rf_places *places, const struct walk *walk, int slot)
{
	const uint32_t hides = places->hides[slot];

	return walk->whole >> slot & 1 ? hides & ~places->place[0].from : hides;
}

/* Records the effect of the shadows so far on a wider enforced limit. */
static void note_pairs(struct rf_places *places, const struct walk *walk, int in_force)
{
	const uint32_t shadows = walk->applied & places->shadows & places->group[in_force];
	const uint32_t bit = 1U << in_force;

	for (uint32_t left = shadows; left; left &= left - 1) {
		const int shadow = __builtin_ctz(left);

		if (hidden_by(places, walk, shadow) & bit)
			places->pairs.exempts[shadow] |= bit;
		else if (!(walk->hidden & bit) && !(places->at_most[shadow] & bit))
			places->pairs.leaves[shadow] |= bit;
	}
}

/* Limits that name the same prefix: they hide none of each other. */
static void walk_on(struct rf_places *places, struct walk *walk, const struct rf_place *place)
{
	const uint32_t layer = place->from & ~walk->seen, now = layer & ~walk->hidden;
	const uint32_t in_force = layer & ~places->shadows & ~walk->overridden;

	for (uint32_t left = in_force; left; left &= left - 1)
		note_pairs(places, walk, __builtin_ctz(left));
	if (place->prefix && !place->prefix->length)
		walk->whole = now & places->shadows;
	for (uint32_t left = now; left; left &= left - 1) {
		const int slot = __builtin_ctz(left);

		walk->hidden |= hidden_by(places, walk, slot);
		if (!(places->shadows >> slot & 1))
			walk->overridden |= places->group[slot];
	}
	walk->seen |= layer;
	walk->applied |= now;
}

/* Enters a prefix. Prefixes are sorted: each follows the prefixes that contain it. */
static const struct rf_place *places_enter(struct rf_places *places, const struct rf_listed *listed)
{
	struct rf_place *place;
	struct walk walk = {};

	while (places->depth > 1 &&
	       !rf_prefix_contains(places->place[places->depth - 1].prefix, &listed->prefix))
		places->depth--;
	place = &places->place[places->depth++];
	*place = place[-1];
	place->prefix = &listed->prefix;
	place->from = listed->from;
	for (int list = 0; list < RF_LIST_COUNT; list++)
		if (rf_listed_until(listed, list) > place->until[list])
			place->until[list] = rf_listed_until(listed, list);
	if (!listed->from)
		return place;
	for (int i = places->depth - 1; i >= 0; i--)
		if (places->place[i].from)
			walk_on(places, &walk, &places->place[i]);
	place->limits = walk.applied;
	return place;
}

struct rf_place rf_place_of(const struct rf_ruleset *ruleset, const struct rf_prefix *prefix)
{
	struct rf_places places;

	places_start(&places, ruleset);
	for (unsigned int length = 0; length <= prefix->length; length++) {
		struct rf_prefix outer = {.version = prefix->version, .length = length};
		const struct rf_listed *listed;

		for (unsigned int i = 0; i < 4; i++)
			outer.word[i] = prefix->word[i] & rf_prefix_mask(length, i);
		listed = rf_ruleset_find(ruleset, &outer);
		if (listed)
			places_enter(&places, listed);
	}
	return places.place[places.depth - 1];
}

void rf_ruleset_find_pairs(const struct rf_ruleset *ruleset, struct rf_pairs *pairs)
{
	struct rf_places places;

	places_start(&places, ruleset);
	for (size_t i = 0; i < ruleset->listed_count; i++)
		places_enter(&places, &ruleset->listed[i]);
	*pairs = places.pairs;
}

/* ---- the complete rule set ---- */

#define LEASE6_BITS 64

#define PAIR_SIZE 160

/* ---- prefix classes ---- */

struct prefix_classes {
	struct rf_sets sets;
	struct rf_places places;
};

static int compile_value(const struct rf_ruleset *ruleset, size_t i,
			 struct prefix_classes *prefix_classes, struct rf_prefix_value *value,
			 struct rf_error *error)
{
	const struct rf_listed *listed = &ruleset->listed[i];
	const struct rf_place *place = places_enter(&prefix_classes->places, listed);
	int prefix_class = rf_sets_number(&prefix_classes->sets, place->limits);

	if (prefix_class < 0)
		return rf_error_failed(error, -ENOSPC,
				       "there are more than %d kinds of sources that differ in "
				       "their limits; use fewer limits with 'from', or fewer "
				       "prefixes of theirs that overlap",
				       RF_PREFIX_CLASSES_MAX);
	*value = (struct rf_prefix_value){
		.allow_until = place->until[RF_ALLOW],
		.deny_until = place->until[RF_DENY],
		.own_from = listed->from,
		.prefix_class = prefix_class,
		.is_divided = rf_ruleset_is_divided(ruleset, i),
		.length = listed->prefix.length,
	};
	memcpy(value->own_claim, listed->claim, sizeof(value->own_claim));
	return 0;
}

static int compile_prefix_classes(struct rf_ruleset *ruleset, struct rf_compiled *compiled,
				  struct prefix_classes *prefix_classes, struct rf_error *error)
{
	struct rf_bank *bank = &ruleset->bank;
	int err = rf_ruleset_add_divided(ruleset, error);

	if (err)
		return err;
	places_start(&prefix_classes->places, ruleset);
	rf_sets_number(&prefix_classes->sets, prefix_classes->places.place[0].limits);
	compiled->value = calloc(ruleset->listed_count + 1, sizeof(*compiled->value));
	if (!compiled->value)
		return rf_error_failed(error, -ENOMEM, "out of memory for %zu prefixes",
				       ruleset->listed_count);
	for (size_t i = 0; !err && i < ruleset->listed_count; i++)
		err = compile_value(ruleset, i, prefix_classes, &compiled->value[i], error);
	memcpy(bank->prefix_class, prefix_classes->sets.set, sizeof(bank->prefix_class));
	return err;
}

/* ---- all limits together ---- */

static bool share_prefix(const struct rf_ruleset *ruleset, uint32_t pair)
{
	for (size_t i = 0; i < ruleset->listed_count; i++)
		if ((ruleset->listed[i].from & pair) == pair)
			return true;
	return false;
}

/*
 * Of two limits that differ only in `from` and apply to one packet, the narrower is a shadow. When
 * enforced, it would hide the other, unless both name the same prefix.
 */
static void name_pair(const struct rf_ruleset *ruleset, const struct rf_places *places,
		      uint32_t limits, char text[PAIR_SIZE])
{
	const struct rf_limit *limit = ruleset->bank.limit;

	*text = '\0';
	for (int i = 0; i < RF_LIMITS_MAX * RF_LIMITS_MAX && !*text; i++) {
		const int a = i / RF_LIMITS_MAX, b = i % RF_LIMITS_MAX;
		const uint32_t pair = 1U << a | 1U << b;

		if ((limits & pair) == pair && places->group[a] >> b & 1 &&
		    limit[a].has_from + limit[b].has_from && !share_prefix(ruleset, pair))
			snprintf(text, PAIR_SIZE,
				 ", or enforce the narrower of '%s' and '%s', which then replaces "
				 "the other",
				 limit[a].name, limit[b].name);
	}
}

/* Names one limit more than the maximum: even these are too many. */
static int fail_charged(const struct rf_ruleset *ruleset, const struct rf_places *places,
			uint32_t limits, uint32_t *refused, struct rf_error *error)
{
	char pair[PAIR_SIZE];
	char names[(RF_CHARGED_MAX + 1) * (RF_NAME_SIZE + 8)] = "";
	const char *before = "";
	size_t length = 0;

	name_pair(ruleset, places, limits, pair);
	for (int named = 0; named <= RF_CHARGED_MAX; named++) {
		length += snprintf(names + length, sizeof(names) - length, "%s'%s'", before,
				   ruleset->bank.limit[__builtin_ctz(limits)].name);
		before = named + 1 < RF_CHARGED_MAX ? ", " : " and ";
		*refused |= limits & -limits;
		limits &= limits - 1;
	}
	return rf_error_failed(
		error, -ENOSPC,
		"limits %s: at most %d limits can apply to a packet, but all of these apply to "
		"some packets; delete one, or make it match fewer packets%s",
		names, RF_CHARGED_MAX, pair);
}

static int check_charged(const struct rf_ruleset *ruleset, const struct rf_sets *classes,
			 const struct prefix_classes *prefix_classes, uint32_t *refused,
			 struct rf_error *error)
{
	for (int i = 0; i < classes->count; i++)
		for (int j = 0; j < prefix_classes->sets.count; j++) {
			uint32_t limits = classes->set[i] & prefix_classes->sets.set[j];

			if (__builtin_popcount(limits) > RF_CHARGED_MAX)
				return fail_charged(ruleset, &prefix_classes->places, limits,
						    refused, error);
		}
	return 0;
}

static void raise_length(unsigned int *length, unsigned int other)
{
	if (other > *length)
		*length = other;
}

/* One lease covers all sources that no limit and no prefix distinguishes. */
static void compile_lease_masks(struct rf_ruleset *ruleset)
{
	struct rf_bank *bank = &ruleset->bank;
	unsigned int length4 = 0, length6 = 0;

	for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
		if (!bank->policy[slot].id || bank->limit[slot].match == RF_MATCH_OTHER ||
		    !bank->limit[slot].rate)
			continue;
		raise_length(&length4, bank->limit[slot].per4);
		raise_length(&length6, bank->limit[slot].per6);
		if (bank->limit[slot].per6 > LEASE6_BITS)
			bank->flags |= RF_BANK_NO_LEASE6;
	}
	for (size_t i = 0; i < ruleset->listed_count; i++) {
		const struct rf_prefix *prefix = &ruleset->listed[i].prefix;

		raise_length(prefix->version == 4 ? &length4 : &length6, prefix->length);
		bank->flags |= prefix->version == 4 ? RF_BANK_PREFIXES4 : RF_BANK_PREFIXES6;
	}
	if (length6 > LEASE6_BITS)
		length6 = LEASE6_BITS;
	bank->lease_mask4 = rf_prefix_mask(length4, 0);
	bank->lease_mask6 = rf_prefix_mask(length6, 0) | (__u64)rf_prefix_mask(length6, 1) << 32;
}

static void compile_sets(struct rf_bank *bank)
{
	bank->shadows = bank->rate0 = bank->truncates = 0;
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
		if (!bank->policy[slot].id)
			continue;
		if (bank->limit[slot].flags & RF_SHADOW)
			bank->shadows |= 1U << slot;
		if (!bank->limit[slot].rate)
			bank->rate0 |= 1U << slot;
		if (bank->limit[slot].truncate_one_in && !(bank->limit[slot].flags & RF_SHADOW))
			bank->truncates |= 1U << slot;
	}
}

/* A packet without a source is charged to one limit at most. */
static int compile_other(struct rf_bank *bank, uint32_t *refused, struct rf_error *error)
{
	bank->other = 0;
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
		if (!bank->policy[slot].id || bank->limit[slot].match != RF_MATCH_OTHER)
			continue;
		*refused = bank->other ? 1U << slot : 0;
		if (*refused)
			return rf_error_failed(error, -EEXIST,
					       "limits '%s' and '%s': only one limit can have "
					       "'match other'; delete one",
					       bank->limit[bank->other - 1].name,
					       bank->limit[slot].name);
		bank->other = slot + 1;
	}
	return 0;
}

/* Can a limit or the deny list drop packets? Then packets of unknown limits are dropped, too. */
static void compile_in_force(struct rf_ruleset *ruleset)
{
	struct rf_bank *bank = &ruleset->bank;

	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		if (bank->policy[slot].id && !(bank->limit[slot].flags & RF_SHADOW))
			bank->flags |= RF_BANK_IN_FORCE;
	if (bank->listed[RF_DENY])
		bank->flags |= RF_BANK_IN_FORCE;
}

static void count_listed(struct rf_ruleset *ruleset)
{
	for (int list = 0; list < RF_LIST_COUNT; list++) {
		ruleset->bank.listed[list] = 0;
		for (size_t i = 0; i < ruleset->listed_count; i++)
			ruleset->bank.listed[list] +=
				rf_listed_until(&ruleset->listed[i], list) != 0;
	}
}

static void compile_bans(struct rf_bank *bank)
{
	bank->bans = bank->bans_all = 0;
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++) {
		const struct rf_limit *limit = &bank->limit[slot];

		if (!bank->policy[slot].id || !limit->ban_ns)
			continue;
		bank->bans |= 1U << slot;
		if (limit->flags & RF_BAN_ALL)
			bank->bans_all |= 1U << slot;
	}
	if (bank->bans_all)
		bank->flags |= RF_BANK_BANS_ALL;
}

int rf_ruleset_compile(struct rf_ruleset *ruleset, struct rf_compiled *compiled,
		       struct rf_error *error)
{
	struct rf_bank *bank = &ruleset->bank;
	struct rf_sets classes = {};
	struct prefix_classes prefix_classes = {};
	int err;

	*compiled = (struct rf_compiled){};
	bank->flags = 0;
	err = packet_classes_compile(ruleset, compiled, &classes, error);
	if (!err)
		err = compile_prefix_classes(ruleset, compiled, &prefix_classes, error);
	if (!err)
		err = check_charged(ruleset, &classes, &prefix_classes, &compiled->refused, error);
	if (!err)
		err = compile_other(bank, &compiled->refused, error);
	if (!err)
		err = rf_bank_check_fleet(bank, &compiled->refused, error);
	if (err)
		return err;
	compile_lease_masks(ruleset);
	compile_sets(bank);
	count_listed(ruleset);
	compile_in_force(ruleset);
	compile_bans(bank);
	return 0;
}

void rf_compiled_free(struct rf_compiled *compiled)
{
	free(compiled->ports);
	free(compiled->tables);
	free(compiled->value);
	*compiled = (struct rf_compiled){};
}
