// SPDX-License-Identifier: GPL-2.0
/* fleet join, fleet leave, fleet hosts */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "cli/fleet_file.h"
#include "cli/out.h"
#include "cli/transaction.h"
#include "rules/grammar_option.h"
#include "rules/policy.h"
#include "rules/secret.h"

#define UNIT "ringfence-fleet@%s"

/* The options, with the fence that the operand names. */
static int name_fence(const struct rf_options *options, const char *fence, struct rf_options *named,
		      struct rf_error *error)
{
	*named = *options;
	named->dev = fence;
	if (!options->dev || strcmp(options->dev, fence) == 0)
		return 0;
	return rf_error_usage(error, "'dev': the fence is '%s' already; leave 'dev' out", fence);
}

/* ---- join ---- */

static int check_fence(const struct rf_fence *fence, struct rf_error *error)
{
	if (rf_fence_has_shares(fence))
		return 0;
	return rf_error_failed(error, -EINVAL,
			       "fence '%s': it was attached without 'fleet'; save its rules, "
			       "detach, and attach again with the word 'fleet'",
			       fence->name);
}

/* The number of hosts first: where a limit cannot have it, no setting is written. */
static int join_fleet(struct rf_transaction *transaction, struct rf_join *join, const char *path,
		      struct rf_error *error)
{
	int err = check_fence(&transaction->fence, error);

	if (!err && join->password_file)
		err = rf_secret_check(RF_PASSWORD, join->password_file, error);
	if (!err && join->key_file)
		err = rf_secret_check(RF_BUCKET_KEY, join->key_file, error);
	if (err)
		return err;
	if (transaction->rules.bank.hosts != join->hosts) {
		rf_bank_set_hosts(&transaction->rules.bank, join->hosts);
		err = rf_transaction_commit(transaction, NULL, error);
	}
	return err ? err : rf_fleet_file_write(join, path, error);
}

static int print_joined(const struct rf_options *options, const char *fence, const char *path,
			uint32_t hosts, struct rf_error *error)
{
	if (options->json)
		return rf_out_json(json_pack("{s:s, s:s, s:I}", "fence", fence, "file", path,
					     "hosts", (json_int_t)hosts),
				   false, error);
	rf_out_text("%s: written; 'systemctl enable --now " UNIT
		    "' starts the agent, 'systemctl restart " UNIT "' tells it\n",
		    path, fence, fence);
	return 0;
}

int rf_cmd_fleet_join(const struct rf_options *options, struct rf_words *words,
		      struct rf_error *error)
{
	struct rf_transaction transaction = RF_TRANSACTION_NONE;
	char path[RF_FLEET_FILE_SIZE] = "";
	struct rf_options named;
	struct rf_join join;
	int err = rf_parse_join(words, &join, error);

	if (!err)
		err = name_fence(options, join.fence, &named, error);
	if (!err)
		err = rf_transaction_begin(&transaction, &named, error);
	if (!err) {
		rf_fleet_file_path(transaction.fence.name, path);
		err = join_fleet(&transaction, &join, path, error);
	}
	if (!err)
		err = print_joined(options, transaction.fence.name, path, join.hosts, error);
	rf_transaction_end(&transaction);
	return err;
}

/* ---- leave ---- */

/* The fence may be gone, and its settings still be there. */
int rf_cmd_fleet_leave(const struct rf_options *options, struct rf_words *words,
		       struct rf_error *error)
{
	const char *fence = rf_take_operand(RF_CMD_FLEET_LEAVE, words, error);
	char path[RF_FLEET_FILE_SIZE];
	struct rf_options named;
	int err = fence ? rf_words_end(words, error) : -EINVAL;

	if (!err)
		err = name_fence(options, fence, &named, error);
	if (err)
		return err;
	if (strchr(fence, '/') || strlen(fence) >= RF_NAME_SIZE)
		return rf_error_usage(error, "'%s': no fence has such a name", fence);
	rf_fleet_file_path(fence, path);
	if (access(path, F_OK) && errno == ENOENT)
		return rf_error_failed(error, -ENOENT,
				       "fence '%s': it is in no fleet: there is no %s", fence,
				       path);
	err = rf_fleet_file_remove(path, error);
	if (err)
		return err;
	if (options->json)
		return rf_out_json(json_pack("{s:s, s:s}", "fence", fence, "file", path), false,
				   error);
	rf_out_text("%s: removed; 'systemctl disable --now " UNIT
		    "' stops the agent, and each host holds its limits alone\n",
		    path, fence);
	return 0;
}

/* ---- hosts ---- */

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
