// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/limit_edit.h"
#include "cli/out.h"
#include "cli/view.h"
#include "rules/advice.h"
#include "rules/attribute.h"
#include "rules/policy.h"
#include "rules/rulefile.h"

static int check_new(const struct rf_bank *rules, const char *name, struct rf_error *error)
{
	if (rf_bank_find(rules, name) >= 0)
		return rf_error_failed(
			error, -EEXIST,
			"limit '%s': it exists already; to replace it, use 'limit set %s …'", name,
			name);
	if (rf_bank_count(rules) < RF_LIMITS_MAX)
		return 0;
	return rf_error_failed(error, -ENOSPC,
			       "limit '%s': a fence has %d limits at most; 'limit del NAME' makes "
			       "room",
			       name, RF_LIMITS_MAX);
}

static int check_there(const struct rf_bank *rules, const char *name, struct rf_error *error)
{
	if (rf_bank_find(rules, name) >= 0)
		return 0;
	return rf_fail_no_limit(rules, name, ", 'limit add' makes one", error);
}

int rf_limit_edit_slot(const struct rf_transaction *transaction, const char *name, bool is_new,
		       struct rf_error *error)
{
	const struct rf_bank *rules = &transaction->rules.bank;
	const int err = is_new ? check_new(rules, name, error) : check_there(rules, name, error);

	if (err)
		return err;
	return is_new ? rf_rulefile_slot(rules, &transaction->before) : rf_bank_find(rules, name);
}

int rf_limit_edit_put(struct rf_transaction *transaction, int slot,
		      const struct rf_definition *definition, struct rf_error *error)
{
	return rf_ruleset_put_limit(&transaction->rules, slot, definition, &transaction->before,
				    rf_fence_tick_ns(&transaction->fence), &transaction->next_id,
				    error);
}

int rf_limit_edit_del(struct rf_transaction *transaction, const char *name, struct rf_error *error)
{
	const int slot = rf_limit_edit_slot(transaction, name, false, error);

	if (slot < 0)
		return slot;
	rf_ruleset_del_limit(&transaction->rules, slot);
	return 0;
}

int rf_limit_edit_read(const struct rf_ruleset *rules, const struct rf_change *change,
		       struct rf_definition *definition, struct rf_error *error)
{
	int err = check_there(&rules->bank, change->name, error);
	const int slot = err ? -1 : rf_bank_find(&rules->bank, change->name);
	char *text = err ? NULL : rf_ruleset_format_limit(rules, slot);

	if (!err && !text)
		err = rf_error_failed(error, -ENOMEM, "limit '%s': out of memory", change->name);
	if (!err)
		err = rf_change_limit(change, &rules->bank.limit[slot], text, definition, error);
	free(text);
	return err;
}

/* ---- shadows ---- */

static int choose_all(const struct rf_bank *rules, uint32_t *chosen, struct rf_error *error)
{
	if (!rf_bank_count(rules))
		return rf_error_failed(error, -ENOENT, "no limits; 'limit add' makes one");
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		*chosen |= (uint32_t)(rules->policy[slot].id != 0) << slot;
	return 0;
}

static int choose(const struct rf_bank *rules, const struct rf_names *names, uint32_t *chosen,
		  struct rf_error *error)
{
	if (names->count == 1 && rf_name_is_all(names->name[0]))
		return choose_all(rules, chosen, error);
	for (int i = 0; i < names->count; i++) {
		const int slot = rf_bank_find(rules, names->name[i]);

		if (rf_name_is_all(names->name[i]))
			return rf_error_usage(
				error, "'all': it means every limit; write it without names");
		if (slot < 0 && rf_word_is_reserved(names->name[i]))
			return rf_error_usage(error,
					      "'%s': unexpected word; names of limits come here",
					      names->name[i]);
		if (slot < 0)
			return rf_fail_no_limit(rules, names->name[i], "", error);
		*chosen |= 1U << slot;
	}
	return 0;
}

/* Changes the limit in `slot`; its windows and counters continue. */
static int turn(struct rf_transaction *transaction, int slot, bool to_shadow,
		struct rf_error *error)
{
	struct rf_limit limit = transaction->rules.bank.limit[slot];

	if (to_shadow && limit.ban_ns)
		return rf_error_failed(error, -EINVAL,
				       "limit '%s': it bans, and a shadow limit bans no source; "
				       "first run 'ringfence limit change %s no ban'",
				       limit.name, limit.name);
	limit.flags ^= RF_SHADOW;
	rf_bank_put(&transaction->rules.bank, slot, &limit, rf_fence_tick_ns(&transaction->fence),
		    &transaction->next_id);
	return 0;
}

int rf_limit_edit_enforce(struct rf_transaction *transaction, const struct rf_names *names,
			  bool to_shadow, uint32_t *chosen, uint32_t *changed,
			  struct rf_error *error)
{
	int err;

	*chosen = *changed = 0;
	err = choose(&transaction->rules.bank, names, chosen, error);
	for (int slot = 0; slot < RF_LIMITS_MAX && !err; slot++) {
		const struct rf_limit *limit = &transaction->rules.bank.limit[slot];
		const bool is_shadow = limit->flags & RF_SHADOW;

		if (!(*chosen >> slot & 1) || is_shadow == to_shadow)
			continue;
		err = turn(transaction, slot, to_shadow, error);
		*changed |= 1U << slot;
	}
	return err;
}

/* ---- how a new definition changes a limit ---- */

#define FROM_SHOWN 2 /* prefixes; of more, the number is shown */

/* FNV-1a. */
static uint64_t hash(uint64_t sum, const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		sum = (sum ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3;
	return sum;
}

/* Appends the next item; false: it does not fit. */
static bool append_item(char *shown, size_t size, const char *item, size_t length)
{
	const size_t at = strlen(shown);

	if (at + length + sizeof(",…") > size)
		return false;
	snprintf(shown + at, size - at, "%s%.*s", at ? "," : "", (int)length, item);
	return true;
}

/* Of many ports the first, and "…". */
static void show_ports(const char *text, char shown[RF_LIMIT_PART_SIZE])
{
	*shown = '\0';
	for (size_t length; *text; text += length + (text[length] == ',')) {
		length = strcspn(text, ",");
		if (!append_item(shown, RF_PORTS_TEXT_SIZE, text, length)) {
			strcat(shown, "…");
			return;
		}
	}
}

/* Of many networks, how many. */
static void show_from(const char *text, char shown[RF_LIMIT_PART_SIZE])
{
	size_t count = 1;

	for (const char *at = text; *at; at++)
		count += *at == ',';
	if (count > FROM_SHOWN)
		snprintf(shown, RF_LIMIT_PART_SIZE, "%zu prefixes", count);
	else
		snprintf(shown, RF_LIMIT_PART_SIZE, "%s", text);
}

static void read_part(const struct rf_ruleset *rules, int slot, enum rf_limit_option part,
		      struct rf_limit_parts *parts)
{
	char *written = rf_attribute_text(part, rules, slot), *shown = parts->text[part];
	const char *text = written ?: "out of memory";

	parts->hash[part] = hash(0xcbf29ce484222325, text, strlen(text));
	if (!*text)
		text = rf_attributes[part].none;
	if (rf_limit_options[part].kind == RF_KIND_PORTS)
		show_ports(text, shown);
	else if (part == RF_OPT_FROM)
		show_from(text, shown);
	else
		snprintf(shown, RF_LIMIT_PART_SIZE, "%s", text);
	free(written);
}

void rf_limit_parts_read(const struct rf_ruleset *rules, int slot, struct rf_limit_parts *parts)
{
	const struct rf_limit *limit = &rules->bank.limit[slot];

	*parts = (struct rf_limit_parts){.id = rules->bank.policy[slot].id};
	for (int part = 0; part < RF_LIMIT_OPTIONS; part++) {
		if (!rf_attributes[part].write)
			continue;
		read_part(rules, slot, part, parts);
		if (rf_attributes[part].of_algorithm && rf_attribute_is_default(part, limit))
			parts->is_default |= 1U << part;
	}
}

static bool differ(const struct rf_limit_parts *before, const struct rf_limit_parts *after,
		   int part)
{
	/* Another algorithm has its own default of burst and cells. */
	if ((before->is_default & after->is_default) >> part & 1 &&
	    before->hash[RF_OPT_ALGORITHM] != after->hash[RF_OPT_ALGORITHM])
		return false;
	return before->hash[part] != after->hash[part];
}

static const char *name_of(int part)
{
	return rf_attributes[part].name ?: rf_limit_options[part].word;
}

bool rf_limit_parts_compare(struct rf_limit_changes *changes)
{
	const struct rf_limit_parts *before = &changes->before, *after = &changes->after;

	changes->count = 0;
	changes->keeps_windows = before->id == after->id;
	for (int i = 0; i < RF_LIMIT_OPTIONS; i++) {
		const bool is_same_text = strcmp(before->text[i], after->text[i]) == 0;

		if (differ(before, after, i))
			changes->change[changes->count++] = (struct rf_part_change){
				.part = name_of(i),
				.before = before->text[i],
				.after = is_same_text ? "others" : after->text[i],
				.is_clear = rf_limit_options[i].kind == RF_KIND_NONE,
			};
	}
	return changes->count || !changes->keeps_windows;
}

void rf_limit_changes_print(const struct rf_limit_changes *changes)
{
	rf_out_text("limit '%s': ", changes->limit);
	for (int i = 0; i < changes->count; i++) {
		const struct rf_part_change *change = &changes->change[i];

		rf_out_text("%s%s%s%s → %s", i ? "; " : "", change->is_clear ? "" : change->part,
			    change->is_clear ? "" : " ", change->before, change->after);
	}
	rf_out_text("%s%s\n", changes->count ? "" : "nothing changed",
		    changes->keeps_windows ? "" : "; its windows start afresh");
}

static const struct rf_field change_fields[] = {
	RF_FIELD("option", struct rf_part_change, part, "rate, from, match, mode \\&..."),
	RF_FIELD("before", struct rf_part_change, before, "in words"),
	RF_FIELD("after", struct rf_part_change, after, "in words"),
	{},
};

const struct rf_field rf_limit_changes_fields[] = {
	RF_FIELD("limit", struct rf_limit_changes, limit, "its name"),
	RF_FIELD_OBJECTS("changes", struct rf_limit_changes, change, count, change_fields,
			 "parts that differ"),
	RF_FIELD("windows_kept", struct rf_limit_changes, keeps_windows,
		 "false: they start afresh"),
	{},
};
