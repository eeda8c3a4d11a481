// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>

#include "cli/out.h"
#include "cli/own_check.h"
#include "cli/shadow_pairs.h"
#include "fence/own_networks.h"

/* A host whose addresses cannot be read must be able to deny a source all the same. */
static void read_own(struct rf_transaction *transaction)
{
	struct rf_error failed;

	if (!transaction->has_own &&
	    rf_fence_own_networks(&transaction->fence, &transaction->own, &failed))
		rf_out_note(failed.text);
	transaction->has_own = true;
}

static void read_gateways(struct rf_transaction *transaction)
{
	struct rf_error failed;

	if (!transaction->has_gateways &&
	    rf_fence_own_gateways(&transaction->fence, &transaction->own, &failed))
		rf_out_note(failed.text);
	transaction->has_gateways = true;
}

int rf_own_check_find(struct rf_transaction *transaction, struct rf_list_changes *changes,
		      struct rf_lockout_lists *found, struct rf_error *error)
{
	read_own(transaction);
	if (rf_lockout_needs_gateways(&transaction->own, changes))
		read_gateways(transaction);
	if (!rf_lockout_concerns(&transaction->own, changes))
		return 0;
	return rf_fence_find_lockouts(&transaction->fence, transaction->now, &transaction->own,
				      changes, found, error);
}

static const char *const kind_names[] = {
	[RF_OWN_PEER] = "ssh_peer",
	[RF_OWN_SUBNET] = "subnet",
	[RF_OWN_GATEWAY] = "gateway",
};

static void add_error_keys(const struct rf_own_network *network)
{
	char prefix[RF_PREFIX_TEXT_SIZE];

	rf_format_prefix(&network->prefix, prefix);
	rf_out_error_key(
		"own_network",
		json_pack("{s:s, s:s, s:o}", "prefix", prefix, "kind", kind_names[network->kind],
			  "interface",
			  *network->interface ? json_string(network->interface) : json_null()));
	rf_out_error_key("override", json_string("force"));
}

int rf_own_check_fail(const struct rf_list_changes *changes, const struct rf_lockout_list *found,
		      struct rf_error *error)
{
	add_error_keys(found->network);
	return rf_lockout_fail(changes, found, error);
}

void rf_own_check_leave_out(struct rf_list_changes *changes, const struct rf_lockout_lists *found,
			    struct rf_left_out *left_out)
{
	struct rf_error reason;

	for (size_t i = 0; i < found->count; i++) {
		if (rf_lockout_action(changes, &found->found[i]) != RF_ON_OWN_SKIP)
			continue;
		rf_lockout_fail(changes, &found->found[i], &reason);
		rf_left_out_add(left_out, rf_lockout_line(changes, &found->found[i]), &reason);
		rf_lockout_mark(changes, &found->found[i]);
	}
	rf_list_changes_leave_out(changes);
}

int rf_own_check_lists(struct rf_transaction *transaction, struct rf_list_changes *changes,
		       struct rf_left_out *left_out, struct rf_error *error)
{
	struct rf_lockout_lists found = {};
	int err = rf_own_check_find(transaction, changes, &found, error);

	for (size_t i = 0; i < found.count && !err; i++)
		if (rf_lockout_action(changes, &found.found[i]) == RF_ON_OWN_REFUSE)
			err = rf_own_check_fail(changes, &found.found[i], error);
	if (!err && found.count) {
		rf_own_check_leave_out(changes, &found, left_out);
		rf_left_out_end(left_out);
	}
	rf_lockout_free(&found);
	return err;
}

/* ---- limits ---- */

uint32_t rf_own_check_limits(struct rf_transaction *transaction, uint32_t slots)
{
	struct rf_lockout_limit found = {.slot = -1};
	uint32_t limits = 0;

	read_own(transaction);
	if (rf_lockout_has_rate0(&transaction->rules, slots))
		read_gateways(transaction);
	do {
		found = rf_lockout_by_limit(&transaction->own, &transaction->rules,
					    slots & ~limits);
		limits |= found.slot < 0 ? 0 : 1U << found.slot;
	} while (found.slot >= 0);
	return limits;
}

int rf_own_check_new_limits(struct rf_transaction *transaction, uint32_t slots, uint32_t before,
			    struct rf_error *error)
{
	const uint32_t limits = rf_own_check_limits(transaction, slots & ~before);
	struct rf_lockout_limit found;

	if (!limits)
		return 0;
	found = rf_lockout_by_limit(&transaction->own, &transaction->rules, limits);
	add_error_keys(found.network);
	return rf_lockout_fail_limit(&transaction->rules, &found, error);
}

#define UNDONE "with 'confirm 60s' such a change is undone unless 'ringfence confirm' runs in time"

void rf_own_check_note(struct rf_transaction *transaction, uint32_t slots)
{
	struct rf_lockout_limit found;
	char address[RF_PREFIX_TEXT_SIZE];
	struct rf_error note;

	read_own(transaction);
	found = rf_lockout_warning(&transaction->own, &transaction->rules, slots);
	if (found.slot < 0)
		return;
	rf_format_prefix(&found.network->prefix, address);
	rf_error_failed(&note, 0, "limit '%s': it applies to your SSH connection from %s; " UNDONE,
			transaction->rules.bank.limit[found.slot].name, address);
	rf_out_note(note.text);
}

/* ---- all rules ---- */

static void note_dropped(const char *what, const struct rf_own_network *network)
{
	char text[RF_OWN_NETWORK_TEXT_SIZE];
	struct rf_error note;

	rf_own_network_format(network, text);
	rf_error_failed(&note, 0, "%s drops %s; " UNDONE, what, text);
	rf_out_note(note.text);
}

void rf_own_check_note_rules(struct rf_transaction *transaction)
{
	const struct rf_ruleset *rules = &transaction->rules;
	const struct rf_own_network *denied;
	struct rf_lockout_limit limit;
	char what[RF_NAME_SIZE + 16];

	read_own(transaction);
	read_gateways(transaction);
	denied = rf_lockout_denied(&transaction->own, rules);
	limit = rf_lockout_by_limit(&transaction->own, rules, RF_ALL_SLOTS);
	if (denied) {
		note_dropped("the deny list", denied);
	} else if (limit.slot >= 0) {
		snprintf(what, sizeof(what), "limit '%s'", rules->bank.limit[limit.slot].name);
		note_dropped(what, limit.network);
	} else {
		rf_own_check_note(transaction, RF_ALL_SLOTS);
	}
}
