// SPDX-License-Identifier: GPL-2.0
/* attach, detach, adopt */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "attach/attach.h"
#include "base/time.h"
#include "cli/command.h"
#include "cli/out.h"
#include "cli/view.h"
#include "fence/fence.h"

static const char *const outcome_names[] = {
	[RF_ATTACHED] = "attached",	      [RF_UPGRADED] = "upgraded",
	[RF_CHANGED_ENTRY] = "changed_entry", [RF_REPAIRED] = "repaired",
	[RF_UNCHANGED] = "unchanged",
};

/* These commands have the interface as operand. */
static int refuse_dev(const struct rf_options *options, const char *command, struct rf_error *error)
{
	if (options->dev)
		return rf_error_usage(error, "'dev %s': %s takes its interface without 'dev'",
				      options->dev, command);
	return 0;
}

static void print_new(const struct rf_attached *attached)
{
	char memory[RF_MEMORY_TEXT_SIZE];

	rf_out_text("%s: attached in %s mode%s%s, fence '%s'\n", attached->interface,
		    rf_mode_name(attached->mode),
		    attached->frags ? " (frags, for its jumbo MTU)" : "",
		    attached->chained ? ", in a chain" : "", attached->fence);
	if (*attached->replaced)
		rf_out_text("%s: replaced %s\n", attached->interface, attached->replaced);
	if (attached->is_lost)
		rf_out_text("%s: its rules, windows and counters are gone; nothing is dropped "
			    "now; 'ringfence apply FILE' brings back rules that 'ringfence "
			    "save' kept\n",
			    attached->interface);
	rf_view_memory(attached->memory, memory);
	if (attached->memory)
		rf_out_text("fence '%s' takes %s of memory\n", attached->fence, memory);
}

static void print_repaired(const struct rf_attached *attached)
{
	char bypass[RF_BYPASS_TEXT_SIZE];

	rf_bypass_format(&attached->bypass, bypass);
	rf_out_text("%s: %s; the program was attached again in place, fence '%s'; rules, windows "
		    "and counters are kept\n",
		    attached->interface, bypass, attached->fence);
}

static void print_link_down(const char *name, const struct rf_link_down *down)
{
	if (down->is_down)
		rf_out_text("%s: the link went down, and is not back after %" PRIu64 " ms\n", name,
			    down->ms);
	else if (down->ms)
		rf_out_text("%s: the link was down for %" PRIu64 " ms: its driver restarts for a "
			    "program\n",
			    name, down->ms);
}

static json_t *link_down_json(const struct rf_link_down *down)
{
	return down->ms ? json_integer(down->ms) : json_null();
}

void rf_print_attached(const struct rf_attached *attached)
{
	switch (attached->outcome) {
	case RF_ATTACHED:
		print_new(attached);
		break;
	case RF_CHANGED_ENTRY:
		rf_out_text("%s: changed in place to the program %s, as its MTU requires, fence "
			    "'%s'; rules, windows and counters are kept\n",
			    attached->interface,
			    attached->frags ? "for frames in several buffers (xdp.frags)"
					    : "for frames in one buffer (xdp)",
			    attached->fence);
		break;
	case RF_REPAIRED:
		print_repaired(attached);
		break;
	case RF_UPGRADED:
		rf_out_text("%s: upgraded in place, fence '%s'; windows and counters are kept\n",
			    attached->interface, attached->fence);
		break;
	case RF_UNCHANGED:
		rf_out_text("%s: already attached, fence '%s'; nothing to do\n",
			    attached->interface, attached->fence);
		break;
	}
	print_link_down(attached->interface, &attached->link_down);
}

static json_t *attached_json(const struct rf_attached *attached)
{
	json_t *lost = attached->is_lost ? json_pack("[s, s, s]", "rules", "windows", "counters")
					 : json_array();

	return json_pack(
		"{s:o, s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "name",
		rf_json_text(attached->interface), "fence", rf_json_text(attached->fence), "mode",
		rf_mode_name(attached->mode), "outcome", outcome_names[attached->outcome],
		"replaced", *attached->replaced ? rf_json_text(attached->replaced) : json_null(),
		"replaced_abi", attached->lost_abi ? json_integer(attached->lost_abi) : json_null(),
		"lost", lost, "memory",
		attached->memory ? json_integer(attached->memory) : json_null(), "link_down_ms",
		link_down_json(&attached->link_down));
}

static int print_json(const struct rf_attached *attached, int count, struct rf_error *error)
{
	json_t *list = json_array();

	for (int i = 0; i < count; i++)
		json_array_append_new(list, attached_json(&attached[i]));
	return rf_out_json(json_pack("{s:o}", "interfaces", list), false, error);
}

int rf_cmd_attach(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	struct rf_attached attached[RF_INTERFACES_MAX];
	struct rf_attach attach;
	int err = refuse_dev(options, rf_syntax[RF_CMD_ATTACH].words, error);

	if (!err)
		err = rf_parse_attach(words, &attach, error);
	if (!err)
		err = rf_fence_attach(&attach, attached, error);
	if (err)
		return err;
	if (options->json)
		return print_json(attached, attach.interfaces, error);
	for (int i = 0; i < attach.interfaces; i++)
		rf_print_attached(&attached[i]);
	if (attach.confirm_ns) {
		char time[RF_DURATION_TEXT_SIZE];

		rf_format_left(attach.confirm_ns, time);
		rf_out_text(
			"on trial: in %s everything passes, unless 'ringfence confirm' keeps the "
			"fence\n",
			time);
	}
	if (attach.mode == RF_GENERIC)
		rf_out_text("generic mode counts what the kernel has merged (GRO) as one packet\n");
	return 0;
}

/* Takes the operand of a command that has one interface. */
static const char *take_interface(enum rf_command_id command, const struct rf_options *options,
				  struct rf_words *words, struct rf_error *error)
{
	const char *dev;

	if (refuse_dev(options, rf_syntax[command].words, error))
		return NULL;
	dev = rf_take_operand(command, words, error);
	return dev && !rf_words_end(words, error) ? dev : NULL;
}

/* The words of `detach`, at least one. Returns their number. */
static int take_words(struct rf_words *words, const char *word[RF_INTERFACES_MAX],
		      struct rf_error *error)
{
	const char *next = rf_take_operand(RF_CMD_DETACH, words, error);
	int count = 0;

	if (!next)
		return -EINVAL;
	for (; next; next = rf_words_interface(words)) {
		if (!*next)
			return rf_error_usage(error, "'': no interface has an empty name");
		if (count == RF_INTERFACES_MAX)
			return rf_error_usage(error, "'%s': too many interfaces; %d at most", next,
					      RF_INTERFACES_MAX);
		word[count++] = next;
	}
	return count;
}

/* What was removed with the fence; prints nothing where nothing was. */
static void print_lost(const struct rf_lost *lost)
{
	if (*lost->fence)
		rf_out_text("fence '%s' was removed with %d limit%s, %zu allowed and %zu denied "
			    "prefixes, %zu ban%s and %" PRIu64 " window%s; 'ringfence save' before "
			    "'ringfence detach' keeps limits and lists\n",
			    lost->fence, lost->limits, lost->limits == 1 ? "" : "s",
			    lost->listed[RF_ALLOW], lost->listed[RF_DENY], lost->bans,
			    lost->bans == 1 ? "" : "s", lost->windows,
			    lost->windows == 1 ? "" : "s");
}

static void add_lost(const struct rf_lost *lost, json_t *list)
{
	if (*lost->fence)
		json_array_append_new(list,
				      json_pack("{s:o, s:i, s:I, s:I, s:I, s:I}", "fence",
						rf_json_text(lost->fence), "limits", lost->limits,
						"allow", (json_int_t)lost->listed[RF_ALLOW], "deny",
						(json_int_t)lost->listed[RF_DENY], "bans",
						(json_int_t)lost->bans, "windows",
						(json_int_t)lost->windows));
}

static void print_target(const struct rf_detached *target)
{
	rf_out_text(target->was_gone ? "%s: was no longer attached; the pins of its fence are "
				       "removed\n"
				     : "%s: detached\n",
		    target->name);
	print_link_down(target->name, &target->link_down);
	print_lost(&target->lost);
}

/* Prints what was detached. Of several failures, the last one is left in `error`. */
static int print_detached(const struct rf_detach *detach, bool json, struct rf_error *error)
{
	json_t *list = json_array(), *downs = json_object(), *lost = json_array();
	int err = 0;

	for (int i = 0; i < detach->count; i++) {
		const struct rf_detached *target = &detach->target[i];

		if (target->err && err)
			rf_out_error(error);
		if (target->err) {
			err = target->err;
			*error = target->error;
			continue;
		}
		json_array_append_new(list, rf_json_text(target->name));
		if (target->link_down.ms)
			json_object_set_new(downs, target->name,
					    link_down_json(&target->link_down));
		add_lost(&target->lost, lost);
		if (!json)
			print_target(target);
	}
	if (json) {
		struct rf_error unprinted;
		int printed = rf_out_json(json_pack("{s:o, s:o, s:o}", "detached", list,
						    "link_down_ms", downs, "lost", lost),
					  false, err ? &unprinted : error);

		return err ? err : printed;
	}
	json_decref(list);
	json_decref(downs);
	json_decref(lost);
	return err;
}

int rf_cmd_detach(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	const char *word[RF_INTERFACES_MAX];
	struct rf_detach detach = {};
	int err = refuse_dev(options, rf_syntax[RF_CMD_DETACH].words, error);
	int count = err ? err : take_words(words, word, error);

	err = count < 0 ? count : rf_fence_detach(word, count, &detach, error);
	if (!err)
		err = print_detached(&detach, options->json, error);
	free(detach.target);
	return err;
}

int rf_cmd_adopt(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	const char *dev = take_interface(RF_CMD_ADOPT, options, words, error);
	struct rf_adopted adopted;
	int err = dev ? rf_adopt(dev, &adopted, error) : -EINVAL;

	if (err)
		return err;
	if (options->json)
		return rf_out_json(json_pack("{s:o, s:o, s:s, s:b, s:b}", "name", rf_json_text(dev),
					     "fence", rf_json_text(adopted.fence), "pins",
					     adopted.pins, "new", adopted.is_new, "shared",
					     !adopted.refusal),
				   false, error);
	rf_out_text("%s: %s, fence '%s'\n", dev, adopted.is_new ? "adopted" : "has pins already",
		    adopted.fence);
	if (adopted.refusal)
		rf_out_text("group '%s' may not read it: %s\n", RF_GROUP, adopted.refusal);
	else
		rf_out_text("members of group '%s' may read it\n", RF_GROUP);
	return 0;
}
