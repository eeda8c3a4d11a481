// SPDX-License-Identifier: GPL-2.0
/* fleet join, fleet leave, fleet hosts, fleet gone */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"
#include "base/time.h"
#include "base/units.h"
#include "cli/fleet_agent.h"
#include "cli/out.h"
#include "cli/transaction.h"
#include "ringfence/fleet.h"
#include "rules/grammar.h"
#include "rules/grammar_option.h"
#include "rules/policy.h"
#include "rules/settings.h"

/* ---- the settings of an agent ---- */

static const char *const setting_words[] = {
#define SETTING(id, words, ...) [RF_SET_##id] = words,
#include "schema/fleet_settings.def"
#undef SETTING
};

/* The text of the file; the caller frees it. NULL: no memory. */
static char *format(const struct rf_join *join)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);
	bool failed;

	if (!stream)
		return NULL;
	fputs("# written by 'ringfence fleet join'; the agent reads it when it starts\n", stream);
	for (int i = 0; i < RF_FLEET_SETTINGS; i++)
		if (join->value[i])
			rf_put(stream, "%s %s\n", setting_words[i], join->value[i]);
	failed = ferror(stream);
	if (fclose(stream) || failed) {
		free(text);
		return NULL;
	}
	return text;
}

static int write_all(int fd, const char *text)
{
	const size_t size = strlen(text);
	const ssize_t written = write(fd, text, size);

	if (written < 0)
		return -errno;
	if ((size_t)written < size)
		return -ENOSPC;
	return fsync(fd) ? -errno : 0;
}

/* Replaces any file that an earlier command left. */
static int write_new(const char *path, const char *text)
{
	int fd, err;

	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	err = write_all(fd, text);
	return close(fd) && !err ? -errno : err;
}

/* Writes it whole, or leaves it as it was. */
static int fleet_file_write(const struct rf_join *join, const char *path, struct rf_error *error)
{
	char new[RF_FLEET_FILE_SIZE + 8];
	char *text = format(join);
	int err = text ? 0 : -ENOMEM;

	snprintf(new, sizeof(new), "%s.new", path);
	if (!err && mkdir(RF_FLEET_DIRECTORY, 0755) && errno != EEXIST)
		err = -errno;
	if (!err)
		err = write_new(new, text);
	if (!err && rename(new, path))
		err = -errno;
	free(text);
	if (!err)
		return 0;
	unlink(new);
	return rf_error_failed(error, err, "%s: cannot write the settings: %s", path,
			       strerror(-err));
}

/* -ENOENT: no such file. */
static int fleet_file_remove(const char *path, struct rf_error *error)
{
	if (!unlink(path))
		return 0;
	return rf_error_failed(error, -errno, "%s: cannot remove the settings: %s", path,
			       strerror(errno));
}

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

/* The number of hosts first: if a limit does not accept it, no setting is written. */
static int join_fleet(struct rf_transaction *transaction, struct rf_join *join, const char *path,
		      struct rf_error *error)
{
	const char *password = join->value[RF_SET_PASSWORD], *key = join->value[RF_SET_KEY];
	int err = check_fence(&transaction->fence, error);

	if (!err && password)
		err = rf_secret_check(RF_PASSWORD, password, error);
	if (!err && key)
		err = rf_secret_check(RF_BUCKET_KEY, key, error);
	if (err)
		return err;
	if (transaction->rules.bank.hosts != join->hosts) {
		rf_bank_set_hosts(&transaction->rules.bank, join->hosts);
		err = rf_transaction_commit(transaction, NULL, error);
	}
	return err ? err : fleet_file_write(join, path, error);
}

struct joined {
	const char *fence, *file;
	uint32_t hosts;
};

static const struct rf_field joined_fields[] = {
	RF_FIELD("fence", struct joined, fence, "its name"),
	RF_FIELD("file", struct joined, file, "the settings of its agent"),
	RF_FIELD("hosts", struct joined, hosts, "hosts of the fleet"),
	{},
};

RF_RECORD(fleet_join, joined_fields);

static int print_joined(const struct rf_options *options, const char *fence, const char *path,
			uint32_t hosts, struct rf_error *error)
{
	if (options->json)
		return rf_out_record(joined_fields, &(struct joined){fence, path, hosts}, error);
	rf_out_text("%s: written; 'systemctl enable --now " UNIT
		    "' starts the agent, 'systemctl restart " UNIT
		    "' makes it reread the settings\n",
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
	int err = rf_parse_arguments(RF_CMD_FLEET_JOIN, words, &join, error);

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

static const struct rf_field left_fields[] = {
	RF_FIELD("fence", struct joined, fence, "its name"),
	RF_FIELD("file", struct joined, file, "that was removed"),
	{},
};

RF_RECORD(fleet_leave, left_fields);

/* The settings can outlive the fence. */
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
	err = fleet_file_remove(path, error);
	if (err)
		return err;
	if (options->json)
		return rf_out_record(left_fields, &(struct joined){.fence = fence, .file = path},
				     error);
	rf_out_text("%s: removed; 'systemctl disable --now " UNIT
		    "' stops the agent; each host then enforces its own limits\n",
		    path, fence);
	return 0;
}

/* ---- hosts ---- */

static const struct rf_field hosts_fields[] = {
	RF_FIELD("hosts", struct rf_bank, hosts, "hosts of the fleet; null: not set",
		 .if_any = true, .or_null = true),
	{},
};

RF_RECORD(fleet_hosts, hosts_fields);

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
		return rf_out_record(hosts_fields, &bank, error);
	if (bank.hosts)
		rf_out_text("the fleet has %" PRIu32 " hosts\n", bank.hosts);
	else
		rf_out_text("no fleet; 'ringfence fleet hosts N' sets how many hosts share "
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
	if (!err && options->json)
		err = rf_out_record(hosts_fields, &transaction.rules.bank, error);
	rf_transaction_end(&transaction);
	return err;
}

int rf_cmd_fleet_hosts(const struct rf_options *options, struct rf_words *words,
		       struct rf_error *error)
{
	uint32_t hosts;
	int err = rf_parse_arguments(RF_CMD_FLEET_HOSTS, words, &hosts, error);

	if (err)
		return err;
	return hosts ? set_hosts(options, hosts, error) : print_hosts(options, error);
}

/* ---- gone ---- */

/*
 * Finds the host by name. A restarted machine has a new slot: if several hosts have the name, this
 * is the host that has been silent longest.
 */
static const json_t *find_name(const json_t *hosts, const char *word)
{
	const json_t *host, *found = NULL;
	json_int_t longest_ms = -1;
	size_t i;

	json_array_foreach (hosts, i, host) {
		const char *name = json_string_value(json_object_get(host, "name"));
		const json_int_t silent_ms = rf_fleet_number(host, "silent_ms");

		if (!name || strcmp(name, word) != 0 || silent_ms <= longest_ms)
			continue;
		longest_ms = silent_ms;
		found = host;
	}
	return found;
}

/* A host by its name or else its number. NULL with an error. */
static const json_t *find_host(const json_t *hosts, const char *word, struct rf_error *error)
{
	const json_t *host, *found = find_name(hosts, word);
	struct rf_error none;
	uint32_t slot;
	size_t i;

	if (found || rf_parse_number(word, "number", 0, RF_FLEET_HOSTS_MAX - 1, &slot, &none))
		slot = RF_FLEET_HOSTS_MAX;
	json_array_foreach (hosts, i, host)
		if (rf_fleet_number(host, "slot") == slot)
			found = host;
	if (!found)
		rf_error_failed(error, -ENOENT,
				"'%s': no host of the fleet has this name or number; 'ringfence "
				"fleet status --json' lists them",
				word);
	return found;
}

static int refuse(const json_t *host, json_int_t left_ms, struct rf_error *error)
{
	char label[RF_HOST_LABEL_SIZE], silent[RF_DURATION_TEXT_SIZE], left[RF_DURATION_TEXT_SIZE];

	rf_fleet_label(host, label);
	rf_format_ms(rf_fleet_number(host, "silent_ms"), silent);
	rf_format_left(left_ms * RF_NS_PER_MS, left);
	return rf_error_failed(
		error, -EBUSY,
		"'%s': its last heartbeat was %s ago, so its claims still count; they "
		"expire in %s; stop its agent, if it runs, and try again then",
		label, silent, left);
}

struct gone {
	const char *fence;
	char host[RF_HOST_LABEL_SIZE];
	int64_t slot;
};

static const struct rf_field gone_fields[] = {
	RF_FIELD("fence", struct gone, fence, "its name"),
	RF_FIELD("host", struct gone, host, "that was removed"),
	RF_FIELD("slot", struct gone, slot, "it had"),
	{},
};

RF_RECORD(fleet_gone, gone_fields);

static int print_gone(const struct rf_options *options, const char *fence, const json_t *host,
		      struct rf_error *error)
{
	struct gone gone = {.fence = fence, .slot = rf_fleet_number(host, "slot")};

	rf_fleet_label(host, gone.host);
	if (options->json)
		return rf_out_record(gone_fields, &gone, error);
	rf_out_text("%s: removed; its claims had expired\n", gone.host);
	return 0;
}

static int forget(const struct rf_options *options, const char *fence, const json_t *host,
		  struct rf_error *error)
{
	char question[32];
	json_t *answer = NULL;
	int err, forgotten = 0;
	json_int_t left_ms = 0;

	if (json_is_true(json_object_get(host, "self")))
		return rf_error_failed(error, -EINVAL,
				       "that is this host; 'systemctl disable --now "
				       "ringfence-fleet@%s' removes it from the fleet",
				       fence);
	snprintf(question, sizeof(question), "gone %d", (int)rf_fleet_number(host, "slot"));
	err = rf_fleet_ask(fence, question, &answer, error);
	if (!err && json_unpack(answer, "{s:b, s:I}", "removed", &forgotten, "left_ms", &left_ms))
		err = rf_error_failed(error, -EPROTO, "fence '%s': invalid reply of its agent",
				      fence);
	if (!err)
		err = forgotten ? print_gone(options, fence, host, error)
				: refuse(host, left_ms, error);
	json_decref(answer);
	return err;
}

int rf_cmd_fleet_gone(const struct rf_options *options, struct rf_words *words,
		      struct rf_error *error)
{
	const char *word = rf_take_operand(RF_CMD_FLEET_GONE, words, error);
	int err = word ? rf_words_end(words, error) : -EINVAL;
	const json_t *host = NULL;
	char fence[RF_NAME_SIZE];
	json_t *answer = NULL;

	if (!err)
		err = rf_fleet_fence(options, NULL, fence, error);
	if (!err)
		err = rf_fleet_ask(fence, "hosts", &answer, error);
	if (!err) {
		host = find_host(json_object_get(answer, "hosts"), word, error);
		err = host ? forget(options, fence, host, error) : -ENOENT;
	}
	json_decref(answer);
	return err;
}
