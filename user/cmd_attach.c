// SPDX-License-Identifier: GPL-2.0
/* attach, detach */
#include <errno.h>

#include "command.h"
#include "fence.h"
#include "out.h"

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

int rf_cmd_attach(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	struct rf_attached attached[RF_INTERFACES_MAX];
	struct rf_attach attach;
	int err = rf_parse_attach(words, &attach, error);

	(void)options;
	if (!err)
		err = rf_fence_attach(&attach, attached, error);
	if (err)
		return err;
	for (int i = 0; i < attach.interfaces; i++)
		print_attached(&attached[i]);
	if (attach.mode == RF_GENERIC)
		rf_out("generic mode counts what the kernel has merged (GRO) as one packet\n");
	return 0;
}

int rf_cmd_detach(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	const char *dev = rf_words_next(words);
	int err;

	(void)options;
	if (!dev)
		return rf_error_usage(error, "the interface is missing; write detach IF");
	err = rf_words_end(words, error);
	if (!err)
		err = rf_fence_detach(dev, error);
	if (!err)
		rf_out("%s: detached\n", dev);
	return err;
}
