// SPDX-License-Identifier: GPL-2.0
/* fleet check: what is wrong, and what to type */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/findings.h"
#include "cli/fleet_agent.h"
#include "cli/fleet_file.h"
#include "cli/fleet_findings.h"
#include "cli/out.h"

/* What is looked at, and why something of it could not be. */
struct look {
	char file[RF_FLEET_FILE_SIZE];
	struct rf_fence fence;
	struct rf_bank bank;
	json_t *probe, *status, *hosts;
	struct rf_error fence_error, probe_error, status_error, hosts_error;
};

static void look_at_fence(const char *fence, struct look *look, struct rf_fleet_facts *facts)
{
	char word[RF_NAME_SIZE + 8];
	int err;

	snprintf(word, sizeof(word), "fence:%s", fence);
	err = rf_fence_open(&look->fence, word, &look->fence_error);
	if (!err)
		err = rf_fence_bank(&look->fence, &look->bank, &look->fence_error);
	facts->open = err ? NULL : &look->fence;
	facts->open_error = look->fence_error.text;
	facts->bank = &look->bank;
}

/* Nobody else is asked where there are no settings. */
static void look_at_all(const char *fence, struct look *look, struct rf_fleet_facts *facts)
{
	rf_fleet_file_path(fence, look->file);
	facts->fence = fence;
	facts->settings_file = access(look->file, F_OK) ? NULL : look->file;
	look_at_fence(fence, look, facts);
	if (facts->settings_file && rf_fleet_probe(fence, &look->probe, &look->probe_error))
		facts->probe_error = look->probe_error.text;
	facts->probe = look->probe;
	if (rf_fleet_ask(fence, "status", &look->status, &look->status_error))
		facts->status_error = look->status_error.text;
	else
		rf_fleet_ask(fence, "hosts", &look->hosts, &look->hosts_error);
	facts->status = look->status;
	facts->hosts = look->hosts;
}

static int print_findings(const struct rf_options *options, const char *fence,
			  const struct rf_findings *findings, struct rf_error *error)
{
	const int problems = rf_findings_count(findings, RF_PROBLEM);
	char title[RF_NAME_SIZE + 16];
	int err;

	snprintf(title, sizeof(title), "fence '%s'", fence);
	if (options->json) {
		err = rf_out_json(json_pack("{s:o, s:i, s:o}", "fence", rf_json_text(fence),
					    "problems", problems, "checks",
					    rf_findings_json(findings)),
				  false, error);
		if (err)
			return err;
	} else
		rf_findings_print(title, findings);
	if (!problems)
		return 0;
	return rf_error_failed(error, -ENOEXEC, "fence '%s': %d problem%s", fence, problems,
			       problems == 1 ? "; its line says what to do"
					     : "s; their lines say what to do");
}

int rf_cmd_fleet_check(const struct rf_options *options, struct rf_words *words,
		       struct rf_error *error)
{
	const char *given = rf_words_peek(words) ? rf_words_next(words) : NULL;
	struct look look = {.fence = RF_FENCE_NONE};
	struct rf_fleet_facts facts = {};
	struct rf_findings findings = {};
	char fence[RF_NAME_SIZE];
	int err = rf_words_end(words, error);

	if (!err)
		err = rf_fleet_fence(options, given, fence, error);
	if (err)
		return err;
	look_at_all(fence, &look, &facts);
	rf_fleet_check_settings(&facts, &findings);
	rf_fleet_check_fence(&facts, &findings);
	rf_fleet_check_agent(&facts, &findings);
	rf_fleet_check_engine(&facts, &findings);
	rf_fleet_check_hosts(&facts, &findings);
	rf_fleet_check_bans(&facts, &findings);
	err = print_findings(options, fence, &findings, error);
	json_decref(look.probe);
	json_decref(look.status);
	json_decref(look.hosts);
	rf_fence_close(&look.fence);
	return err;
}
