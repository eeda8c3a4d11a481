// SPDX-License-Identifier: GPL-2.0
/* fleet hosts */
#include <inttypes.h>

#include "cli/out.h"
#include "cli/transaction.h"
#include "rules/policy.h"

static int print_hosts(const struct rf_options *options, struct rf_error *error)
{
	struct rf_fence fence = RF_FENCE_NONE;
	struct rf_bank bank;
	int err = rf_fence_open(&fence, options->dev, error);

	if (!err)
		err = rf_fence_bank(&fence, &bank, error);
	rf_fence_close(&fence);
	if (err)
		return err;
	if (options->json)
		return rf_out_json(json_pack("{s:o}", "hosts",
					     bank.hosts ? json_integer(bank.hosts) : json_null()),
				   false, error);
	if (bank.hosts)
		rf_out_text("the fleet has %" PRIu32 " hosts\n", bank.hosts);
	else
		rf_out_text("no fleet; 'ringfence fleet hosts N' says how many hosts share "
			    "limits\n");
	return 0;
}

static int set_hosts(const struct rf_options *options, uint32_t hosts, struct rf_error *error)
{
	struct rf_transaction transaction = RF_TRANSACTION_NONE;
	int err = rf_transaction_begin(&transaction, options, error);

	if (!err) {
		rf_bank_set_hosts(&transaction.rules.bank, hosts);
		err = rf_transaction_commit(&transaction, NULL, error);
	}
	rf_transaction_end(&transaction);
	if (err || !options->json)
		return err;
	return rf_out_json(json_pack("{s:I}", "hosts", (json_int_t)hosts), false, error);
}

int rf_cmd_fleet_hosts(const struct rf_options *options, struct rf_words *words,
		       struct rf_error *error)
{
	uint32_t hosts;
	int err = rf_parse_hosts(words, &hosts, error);

	if (err)
		return err;
	return hosts ? set_hosts(options, hosts, error) : print_hosts(options, error);
}
