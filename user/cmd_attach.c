// SPDX-License-Identifier: GPL-2.0
/* attach, detach */
#include <errno.h>

#include "command.h"
#include "fence.h"
#include "out.h"

static const char *const outcome_names[] = {
	[RF_ATTACHED] = "attached",
	[RF_UPGRADED] = "upgraded",
	[RF_UNCHANGED] = "unchanged",
};

/* Both name their interfaces themselves. */
static int refuse_dev(const struct rf_options *options, const char *command, struct rf_error *error)
{
	if (options->dev)
		return rf_error_usage(error, "'dev %s': %s takes its interface without 'dev'",
				      options->dev, command);
	return 0;
}

static void print_attached(const struct rf_attached *attached)
{
	switch (attached->outcome) {
	case RF_ATTACHED:
		rf_out("%s: attached in %s mode%s, fence '%s'\n", attached->interface,
		       rf_mode_name(attached->mode),
		       attached->frags ? " (frags, for its jumbo MTU)" : "", attached->fence);
		break;
	case RF_UPGRADED:
		rf_out("%s: upgraded in place, fence '%s'; windows and counters are kept\n",
		       attached->interface, attached->fence);
		break;
	case RF_UNCHANGED:
		rf_out("%s: already attached, fence '%s'; nothing to do\n", attached->interface,
		       attached->fence);
		break;
	}
}

static int print_json(const struct rf_attached *attached, int count, struct rf_error *error)
{
	json_t *list = json_array();

	for (int i = 0; i < count; i++)
		json_array_append_new(list, json_pack("{s:o, s:o, s:s, s:s}", "name",
						      rf_json_text(attached[i].interface), "fence",
						      rf_json_text(attached[i].fence), "mode",
						      rf_mode_name(attached[i].mode), "outcome",
						      outcome_names[attached[i].outcome]));
	return rf_out_json(json_pack("{s:o}", "interfaces", list), false, error);
}

int rf_cmd_attach(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	struct rf_attached attached[RF_INTERFACES_MAX];
	struct rf_attach attach;
	int err = refuse_dev(options, "attach", error);

	if (!err)
		err = rf_parse_attach(words, &attach, error);
	if (!err)
		err = rf_fence_attach(&attach, attached, error);
	if (err)
		return err;
	if (options->json)
		return print_json(attached, attach.interfaces, error);
	for (int i = 0; i < attach.interfaces; i++)
		print_attached(&attached[i]);
	if (attach.confirm_ns) {
		char time[RF_DURATION_TEXT_SIZE];

		rf_format_left(attach.confirm_ns, time);
		rf_out("on trial for %s: then everything passes, unless 'ringfence confirm' keeps "
		       "it\n",
		       time);
	}
	if (attach.mode == RF_GENERIC)
		rf_out("generic mode counts what the kernel has merged (GRO) as one packet\n");
	return 0;
}

int rf_cmd_detach(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	const char *dev = rf_words_next(words);
	int err = refuse_dev(options, "detach", error);

	if (!err && !dev)
		err = rf_error_usage(error, "the interface is missing; write detach IF");
	if (!err)
		err = rf_words_end(words, error);
	if (!err)
		err = rf_fence_detach(dev, error);
	if (err < 0)
		return err;
	if (options->json)
		return rf_out_json(json_pack("{s:o}", "detached", rf_json_text(dev)), false, error);
	rf_out(err ? "%s: was not attached any more; the pins of its fence are removed\n"
		   : "%s: detached\n",
	       dev);
	return 0;
}
