// SPDX-License-Identifier: GPL-2.0
/* fleet show: what the engine and this host have of one source */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/prefix.h"
#include "base/printable.h"
#include "base/time.h"
#include "cli/agent.h"
#include "cli/fleet_agent.h"
#include "cli/out.h"
#include "cli/source_bans.h"
#include "cli/table.h"
#include "rules/grammar_option.h"

static json_int_t number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

/* ---- the hosts with a claim ---- */

static void print_ago(json_int_t ms, char *text, size_t size)
{
	char time[RF_DURATION_TEXT_SIZE];

	rf_format_ms(ms, time);
	snprintf(text, size, "%s", time);
}

static void fill_host(const void *context, size_t row, struct rf_cells *cells)
{
	const json_t *host = json_array_get(context, row);
	char label[RF_HOST_LABEL_SIZE];

	rf_fleet_label(host, label);
	snprintf(cells->text[0], RF_CELL_SIZE, "%s%s", label,
		 json_is_true(json_object_get(host, "this")) ? " (this host)" : "");
	snprintf(cells->text[1], RF_CELL_SIZE, "%lld", (long long)number(host, "claim"));
	snprintf(cells->text[2], RF_CELL_SIZE, "%s",
		 json_is_true(json_object_get(host, "in_vain")) ? "yes" : "no");
	print_ago(number(host, "silent_ms"), cells->text[3], RF_CELL_SIZE);
}

static void print_hosts(const json_t *hosts)
{
	static const struct rf_column columns[] = {{"host", false, 12},
						   {"claim", true, 8},
						   {"wants more", false, 0},
						   {"heard ago", true, 0}};
	const struct rf_table table = {columns, 4, 1, json_array_size(hosts), hosts, fill_host};

	if (table.rows)
		rf_table_print(&table);
}

/* ---- a limit ---- */

static void print_here(const json_t *here)
{
	const json_t *used = json_object_get(here, "used"),
		     *since = json_object_get(here, "since_ms");
	char time[RF_DURATION_TEXT_SIZE];

	if (!json_is_integer(used)) {
		rf_out_text("  here: the source has no window\n");
		return;
	}
	rf_out_text("  here: %lld used, share %lld, claim %lld",
		    (long long)json_integer_value(used), (long long)number(here, "share"),
		    (long long)number(here, "claim"));
	if (json_is_integer(since)) {
		rf_format_ms(json_integer_value(since), time);
		rf_out_text(", since %s", time);
	}
	rf_out_text("%s\n", json_is_true(json_object_get(here, "in_vain"))
				    ? "; it wants more than there is"
				    : "");
}

static void print_limit(const json_t *limit)
{
	const json_t *ledger = json_object_get(limit, "ledger");
	char name[RF_NAME_SIZE], source[RF_PREFIX_TEXT_SIZE], time[RF_DURATION_TEXT_SIZE];

	rf_fleet_text(limit, "name", name, sizeof(name));
	rf_fleet_text(limit, "source", source, sizeof(source));
	rf_format_ms(number(limit, "window_ms"), time);
	rf_out_text("limit '%s', %lld/%s: source %s\n", name, (long long)number(limit, "count"),
		    time, source);
	print_here(json_object_get(limit, "here"));
	if (!json_is_object(ledger)) {
		rf_out_text("  the engine's claims could not be read\n");
		return;
	}
	rf_out_text("  all hosts: claims of %lld out of %lld%s%s\n",
		    (long long)number(ledger, "claimed"), (long long)number(limit, "pool"),
		    number(ledger, "contested_ms") ? "; contested, so all get less" : "",
		    json_is_true(json_object_get(ledger, "learning"))
			    ? "; the engine learns, and gives nothing"
			    : "");
	print_hosts(json_object_get(ledger, "hosts"));
}

/* What the fence on this host has of its bans is added to the answer. */
static int add_bans(const char *name, const struct rf_address *source, json_t *answer,
		    struct rf_error *error)
{
	struct rf_fence fence = RF_FENCE_NONE;
	struct rf_error ignored = {};
	char word[RF_NAME_SIZE + 8];
	json_t *bans = NULL;
	int err;

	snprintf(word, sizeof(word), "fence:%s", name);
	err = rf_fence_open(&fence, word, error);
	if (!err && rf_agent_ask(name, "bans", &bans, &ignored))
		bans = NULL;
	if (!err)
		err = rf_source_bans_read(&fence, source, bans, answer, error);
	json_decref(bans);
	rf_fence_close(&fence);
	return err;
}

static int print_source(const struct rf_options *options, const char *fence, const char *address,
			const json_t *answer, struct rf_error *error)
{
	json_t *limits = json_object_get(answer, "limits");
	size_t i;
	json_t *limit;

	if (options->json)
		return rf_out_json(json_pack("{s:o, s:s, s:O, s:O, s:O}", "fence",
					     rf_json_text(fence), "address", address, "limits",
					     limits, "allowed", json_object_get(answer, "allowed"),
					     "bans", json_object_get(answer, "bans")),
				   false, error);
	rf_source_bans_print(answer);
	json_array_foreach (limits, i, limit)
		print_limit(limit);
	if (!i)
		rf_out_text("no limit has the word 'fleet'; 'ringfence limit add NAME rate "
			    "COUNT/TIME fleet' adds one\n");
	return 0;
}

int rf_cmd_fleet_show(const struct rf_options *options, struct rf_words *words,
		      struct rf_error *error)
{
	const char *address = rf_take_operand(RF_CMD_FLEET_SHOW, words, error);
	char fence[RF_NAME_SIZE], question[96];
	struct rf_address parsed;
	json_t *answer = NULL;
	int err = address ? rf_words_end(words, error) : -EINVAL;

	if (!err)
		err = rf_parse_address(address, &parsed, error);
	if (!err)
		err = rf_fleet_fence(options, NULL, fence, error);
	if (err)
		return err;
	snprintf(question, sizeof(question), "source %s", address);
	err = rf_fleet_ask(fence, question, &answer, error);
	if (!err)
		err = add_bans(fence, &parsed, answer, error);
	if (!err)
		err = print_source(options, fence, address, answer, error);
	json_decref(answer);
	return err;
}
