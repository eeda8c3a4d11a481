// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>

#include "base/time.h"
#include "cli/out.h"
#include "cli/transaction.h"
#include "fence/lists.h"

int rf_transaction_read(struct rf_transaction *transaction, struct rf_error *error)
{
	struct rf_standing standing;
	int err = rf_fence_ruleset(&transaction->fence, &transaction->rules, error);

	if (err)
		return err;
	standing = rf_fence_standing(&transaction->fence);
	transaction->present = transaction->rules.bank;
	rf_fence_other_bank(&transaction->fence, standing.in_force, &transaction->before);
	err = rf_bank_check(&transaction->before, error);
	if (err)
		return err;
	transaction->next_id = rf_fence_next_limit_id(&transaction->fence);
	rf_ruleset_expire(&transaction->rules, transaction->now);
	return 0;
}

int rf_transaction_open(struct rf_transaction *transaction, const struct rf_options *options,
			struct rf_error *error)
{
	int err = rf_fence_open_to_change(&transaction->fence, options->dev, error);

	if (!err)
		err = rf_fence_measure_clock(&transaction->fence, error);
	if (!err)
		err = rf_fence_make_leases(&transaction->fence, error);
	if (!err)
		transaction->now = rf_fence_jiffies(&transaction->fence);
	return err;
}

int rf_transaction_begin(struct rf_transaction *transaction, const struct rf_options *options,
			 struct rf_error *error)
{
	int err = rf_transaction_open(transaction, options, error);

	if (!err)
		err = rf_fence_check_settled(&transaction->fence, error);
	return err ? err : rf_transaction_read(transaction, error);
}

static void report(void *context, size_t done, size_t total)
{
	(void)context;
	rf_out_progress(done, total);
}

static void note_open(const struct rf_fence *fence)
{
	if (rf_fence_standing(fence).state == RF_EXPIRED)
		rf_out_note("the attach was not confirmed, so everything passes; 'ringfence "
			    "confirm' activates the rules");
}

void rf_transaction_set_times(const struct rf_transaction *transaction,
			      const struct rf_list_changes *changes)
{
	for (size_t i = 0; i < changes->count; i++) {
		struct rf_list_change *change = &changes->change[i];

		if (change->time_ns)
			change->until = rf_fence_deadline(&transaction->fence, transaction->now,
							  change->time_ns);
	}
}

int rf_transaction_check_lists(struct rf_transaction *transaction, struct rf_list_changes *changes,
			       struct rf_list_refused *refused, struct rf_error *error)
{
	rf_transaction_set_times(transaction, changes);
	return rf_fence_check_lists(&transaction->fence, changes, refused, error);
}

static int commit_lists(struct rf_transaction *transaction, struct rf_list_changes *changes,
			uint64_t confirm_ns, struct rf_lists_outcome *outcome,
			struct rf_error *error)
{
	const struct rf_confirm confirm = {.time_ns = confirm_ns};
	struct rf_list_refused refused;
	size_t first;
	int err = rf_fence_join_changes(&transaction->fence, changes, error);

	transaction->rules.owners = transaction->fence.config->owners;
	if (!err)
		err = rf_ruleset_change(&transaction->rules, changes, &first, &refused, error);
	if (!err && first < changes->count)
		err = rf_list_fail(&changes->change[first], &refused, &changes->owners, error);
	if (!err)
		err = rf_transaction_commit(transaction, &confirm, error);
	*outcome = (struct rf_lists_outcome){};
	for (int list = 0; list < RF_LIST_COUNT; list++)
		outcome->listed[list] = transaction->rules.bank.listed[list];
	return err;
}

int rf_transaction_change_lists(struct rf_transaction *transaction, struct rf_list_changes *changes,
				uint64_t confirm_ns, struct rf_lists_outcome *outcome,
				struct rf_error *error)
{
	const struct rf_progress progress = {.report = report};
	int err;

	if (confirm_ns)
		return commit_lists(transaction, changes, confirm_ns, outcome, error);
	err = rf_fence_change_lists(&transaction->fence, changes, &progress, outcome, error);
	if (!err)
		note_open(&transaction->fence);
	return err;
}

int rf_transaction_commit(struct rf_transaction *transaction, const struct rf_confirm *confirm,
			  struct rf_error *error)
{
	const struct rf_progress progress = {.report = report};
	int err = rf_fence_check_challenge(&transaction->fence, &transaction->rules.bank,
					   &transaction->present, error);
	if (err)
		return err;
	/* Stored first: no id is assigned twice, even if this process is killed here. */
	rf_fence_keep_limit_id(&transaction->fence, transaction->next_id);
	err = rf_fence_commit(&transaction->fence, &transaction->rules, confirm, &progress, error);
	if (!err)
		note_open(&transaction->fence);
	return err;
}

void rf_transaction_end(struct rf_transaction *transaction)
{
	rf_own_networks_free(&transaction->own);
	rf_ruleset_free(&transaction->rules);
	rf_fence_close(&transaction->fence);
}

/* ---- changes that are left out ---- */

#define SHOWN 10

void rf_left_out_add(struct rf_left_out *left_out, size_t line, const struct rf_error *reason)
{
	struct rf_error note;

	if (left_out->count++ >= SHOWN)
		return;
	if (line)
		rf_error_failed(&note, 0, "%s:%zu: skipped: %s", left_out->name, line,
				reason->text);
	else
		rf_error_failed(&note, 0, "%s: skipped: %s", left_out->name, reason->text);
	rf_out_note(note.text);
}

void rf_left_out_end(const struct rf_left_out *left_out)
{
	struct rf_error note;

	if (left_out->count <= SHOWN)
		return;
	rf_error_failed(&note, 0, "%s: skipped: %zu more, for such reasons", left_out->name,
			left_out->count - SHOWN);
	rf_out_note(note.text);
}

/* ---- the report about a change ---- */

#define TEXT_SIZE 320

struct warning {
	const char *shadow, *limit, *effect;
	char text[TEXT_SIZE];
};

static const struct rf_field warning_fields[] = {
	RF_FIELD("shadow", struct warning, shadow, "the limit that is a shadow"),
	RF_FIELD("limit", struct warning, limit, "the wider limit"),
	RF_FIELD("effect", struct warning, effect, "exempts or leaves"),
	RF_FIELD("text", struct warning, text, "in words"),
	{},
};

static void warn(const char *shadow, const char *limit, bool is_exempt, json_t *list)
{
	struct warning warning = {shadow, limit, is_exempt ? "exempts" : "leaves", ""};

	if (is_exempt)
		snprintf(warning.text, sizeof(warning.text),
			 "limit '%s' is a shadow, and exempts its sources from '%s' already: "
			 "neither drops their packets until 'ringfence limit enforce %s'",
			 shadow, limit, shadow);
	else
		snprintf(warning.text, sizeof(warning.text),
			 "limit '%s' is a shadow, and leaves its sources to '%s': until "
			 "'ringfence limit enforce %s', '%s' may drop what '%s' would pass",
			 shadow, limit, shadow, limit, shadow);
	if (list)
		json_array_append_new(list, rf_record_json(warning_fields, &warning));
	else
		rf_out_note(warning.text);
}

/* Warns of pairs with one of the slots in it: in the list, or on standard error without one. */
static void warn_of_pairs(const struct rf_done *done, json_t *list)
{
	const struct rf_limit *limit = done->rules->bank.limit;
	struct rf_pairs pairs;

	rf_ruleset_find_pairs(done->rules, &pairs);
	for (int i = 0; i < RF_LIMITS_MAX * RF_LIMITS_MAX; i++) {
		const int shadow = i / RF_LIMITS_MAX, other = i % RF_LIMITS_MAX;

		if (!((done->slots >> shadow | done->slots >> other) & 1))
			continue;
		if (pairs.exempts[shadow] >> other & 1)
			warn(limit[shadow].name, limit[other].name, true, list);
		if (pairs.leaves[shadow] >> other & 1)
			warn(limit[shadow].name, limit[other].name, false, list);
	}
}

static bool has_rules(const void *of)
{
	return ((const struct rf_done *)of)->rules;
}

static json_t *make_warnings(const void *of)
{
	json_t *list = json_array();

	warn_of_pairs(of, list);
	return list;
}

const struct rf_field rf_unconfirmed_fields[] = {
	RF_FIELD_OF_NS("unconfirmed_ms", struct rf_done, confirm_ns, "time to confirm the change",
		       .if_any = true),
	{},
};

const struct rf_field rf_warnings_fields[] = {
	RF_FIELD_MADE("warnings", RF_FIELD_LIST, make_warnings, "unexpected effects of the rules",
		      .has = has_rules),
	{},
};

const struct rf_field rf_done_fields[] = {
	RF_FIELDS_ALSO(rf_unconfirmed_fields),
	RF_FIELDS_ALSO(rf_warnings_fields),
	{},
};

void rf_done_print(const char *before, const struct rf_done *done)
{
	char time[RF_DURATION_TEXT_SIZE];

	rf_format_left(done->confirm_ns, time);
	if (done->confirm_ns)
		rf_out_text("%sunconfirmed: reverted in %s unless 'ringfence confirm' runs\n",
			    before, time);
	if (done->rules)
		warn_of_pairs(done, NULL);
}

/* ---- own networks ---- */

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

struct refused {
	struct rf_prefix prefix;
	const char *kind, *interface, *override;
};

static const struct rf_field own_network_fields[] = {
	RF_FIELD_OF_PREFIX("prefix", struct refused, prefix, "its prefix"),
	RF_FIELD("kind", struct refused, kind, "ssh_peer, subnet or gateway"),
	RF_FIELD("interface", struct refused, interface,
		 "the interface that has it; null: the SSH connection", .if_any = true,
		 .or_null = true),
	{},
};

static const struct rf_field refused_fields[] = {
	RF_FIELD_GROUP("own_network", own_network_fields, "the network that the change would drop"),
	RF_FIELD("override", struct refused, override, "the word that makes the change anyway"),
	{},
};

RF_RECORD(errors, refused_fields);

static void add_error_keys(const struct rf_own_network *network)
{
	const struct refused refused = {network->prefix, kind_names[network->kind],
					network->interface, "force"};

	rf_out_error_more(refused_fields, &refused);
}

/* The error of one of them, with further keys for --json. */
static int own_check_fail(const struct rf_list_changes *changes,
			  const struct rf_lockout_list *found, struct rf_error *error)
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
			err = own_check_fail(changes, &found.found[i], error);
	if (!err && found.count) {
		rf_own_check_leave_out(changes, &found, left_out);
		rf_left_out_end(left_out);
	}
	rf_lockout_free(&found);
	return err;
}

/* ---- own networks: limits ---- */

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

/* ---- own networks: all rules ---- */

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
