// SPDX-License-Identifier: GPL-2.0
/* fleet gone: a host that will not come back */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/time.h"
#include "base/units.h"
#include "cli/fleet_agent.h"
#include "cli/out.h"
#include "ringfence/fleet.h"
#include "rules/grammar_option.h"

/*
 * The host of that name. A machine that was started anew has another number than before: of several
 * that have the name, it is the one that was silent for the longest.
 */
static const json_t *find_name(const json_t *hosts, const char *word)
{
	const json_t *host, *found = NULL;
	json_int_t longest_ms = -1;
	size_t i;

	json_array_foreach (hosts, i, host) {
		const char *name = json_string_value(json_object_get(host, "name"));
		const json_int_t silent_ms = json_integer_value(json_object_get(host, "silent_ms"));

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
		if (json_integer_value(json_object_get(host, "slot")) == slot)
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
	rf_format_ms(json_integer_value(json_object_get(host, "silent_ms")), silent);
	rf_format_left(left_ms * RF_NS_PER_MS, left);
	return rf_error_failed(
		error, -EBUSY,
		"'%s': it was heard %s ago, so what it passed still counts; its "
		"claims end by themselves in %s; stop its agent, if it runs, and try "
		"again then",
		label, silent, left);
}

static int print_gone(const struct rf_options *options, const char *fence, const json_t *host,
		      struct rf_error *error)
{
	char label[RF_HOST_LABEL_SIZE];

	rf_fleet_label(host, label);
	if (options->json)
		return rf_out_json(json_pack("{s:o, s:o, s:O}", "fence", rf_json_text(fence),
					     "host", rf_json_text(label), "slot",
					     json_object_get(host, "slot")),
				   false, error);
	rf_out_text("%s: forgotten; its claims were void\n", label);
	return 0;
}

static int forget(const struct rf_options *options, const char *fence, const json_t *host,
		  struct rf_error *error)
{
	char question[32];
	json_t *answer = NULL;
	int err, forgotten = 0;
	json_int_t left_ms = 0;

	if (json_is_true(json_object_get(host, "this")))
		return rf_error_failed(error, -EINVAL,
				       "that is this host; 'systemctl disable --now "
				       "ringfence-fleet@%s' ends its membership",
				       fence);
	snprintf(question, sizeof(question), "gone %d",
		 (int)json_integer_value(json_object_get(host, "slot")));
	err = rf_fleet_ask(fence, question, &answer, error);
	if (!err && json_unpack(answer, "{s:b, s:I}", "forgotten", &forgotten, "left_ms", &left_ms))
		err = rf_error_failed(error, -EPROTO, "fence '%s': its agent makes no sense",
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
