// SPDX-License-Identifier: GPL-2.0
/*
 * Packet classes: by protocol and destination port, and where limits ask for more, by the packet's
 * shape. A class whose packets differ by shape is numbered from the top; `candidates` has the
 * limits that may match them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/classes.h"

#define NAMED_MAX 8 /* limits in an error */

/* What is known of the classes so far. */
struct draft {
	struct rf_bank *bank;
	struct rf_sets *classes;	 /* by their limits */
	struct rf_sets bases;		 /* those told apart by shape, by their candidates */
	unsigned int looks[RF_SETS_MAX]; /* of the packets of each base */
	uint32_t shaped;		 /* limits that ask for a shape */
};

/* ---- errors ---- */

/* Limits that some packets match and others do not, for what only these words tell. */
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

/* Where some limit has ports, packets that have them have classes of their own. */
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
	bank->class_of_syn = class;
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

/* Finds the sets of limits that shapes leave, and gives each a class. */
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
 * Credits are in the unit of the class's limits. Limits of different units get no credits. Those of
 * rate 0 count in none.
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

int rf_packet_classes_compile(struct rf_ruleset *ruleset, struct rf_compiled *compiled,
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
