// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>

#include "base/json.h"
#include "cli/out.h"
#include "cli/view.h"
#include "doctor/diagnose.h"
#include "fence/find.h"

void rf_view_memory(uint64_t bytes, char text[RF_MEMORY_TEXT_SIZE])
{
	snprintf(text, RF_MEMORY_TEXT_SIZE, "%.1f MiB", bytes / 1048576.0);
}

/* ---- a limit of rules ---- */

struct rf_limit_view rf_limit_view(const struct rf_ruleset *rules, int slot)
{
	return (struct rf_limit_view){rules, &rules->bank.limit[slot], slot};
}

/* `object` with the keys of `more`, which is freed; NULL if out of memory. */
static json_t *merge(json_t *object, json_t *more)
{
	if (json_object_update(object, more)) {
		json_decref(object);
		object = NULL;
	}
	json_decref(more);
	return object;
}

/* ---- lists ---- */

const char *const rf_view_list_names[RF_LIST_COUNT] = {
	[RF_ALLOW] = "allow",
	[RF_DENY] = "deny",
};

/* ---- a fence and its rules ---- */

int rf_view_open(struct rf_view *view, const char *dev, enum rf_rules_which which,
		 struct rf_error *error)
{
	int err = rf_fence_open(&view->fence, dev, error);

	return err ? err : rf_fence_rules_read(&view->fence, which, &view->rules, error);
}

void rf_view_close(struct rf_view *view)
{
	rf_fence_rules_free(&view->rules);
	rf_fence_close(&view->fence);
}

/* ---- one fence, or all of them ---- */

static int show_one(const struct rf_options *options, rf_show show, const void *context,
		    struct rf_error *error)
{
	struct rf_fence fence = RF_FENCE_NONE;
	json_t *json = NULL;
	int err = rf_fence_open(&fence, options->dev, error);

	if (!err)
		err = show(&fence, context, options->json ? &json : NULL, error);
	if (!err && options->json)
		err = rf_out_json(json, false, error);
	rf_fence_close(&fence);
	return err;
}

struct failed {
	const char *fence, *error;
};

static const struct rf_field failed_fields[] = {
	RF_FIELD("fence", struct failed, fence, "its name"),
	RF_FIELD("error", struct failed, error, "why it is not shown"),
	{},
};

static const struct rf_field each_fields[] = {
	RF_FIELD_READ("fences", struct rf_each, list, RF_FIELD_LIST, NULL, ""),
	{},
};

void rf_each_add(struct rf_each *each, const char *fence, json_t *json, int err,
		 const struct rf_error *failure)
{
	const struct failed failed = {fence, failure->text};
	struct rf_error named = *failure;

	if (err && each->list) {
		json_decref(json);
		json = rf_record_json(failed_fields, &failed);
	}
	if (err && each->names_fence)
		rf_error_failed(&named, err, "fence '%s': %.440s", fence, failure->text);
	if (each->list && json_array_append_new(each->list, json))
		err = rf_error_failed(&named, -ENOMEM, "cannot make JSON");
	rf_out_keep_last(err, &named, &each->result, each->error);
}

int rf_each_end(struct rf_each *each, json_t *more)
{
	struct rf_error unprinted;
	json_t *json;
	int printed;

	if (!each->list)
		return each->result;
	json = rf_record_json(each_fields, each);
	json_decref(each->list);
	if (more)
		json = merge(json, more);
	printed = rf_out_json(json, false, each->result ? &unprinted : each->error);
	return each->result ? each->result : printed;
}

static int show_found(const struct rf_found *found, rf_show show, bool has_heading,
		      const void *context, json_t **json, struct rf_error *error)
{
	struct rf_fence fence = RF_FENCE_NONE;
	int err = rf_fence_open_on(&fence, found->interface, error);

	if (!err && has_heading)
		rf_out("fence %s\n", found->name);
	if (!err)
		err = show(&fence, context, json, error);
	rf_fence_close(&fence);
	return err;
}

static int show_all(const struct rf_options *options, rf_show show, bool has_heading,
		    const void *context, json_t *more, struct rf_error *error)
{
	struct rf_each each = {.error = error};
	struct rf_fences fences;
	const int err = rf_fences_find(&fences, error);

	each.names_fence = fences.count > 1;
	if (!err && options->json)
		each.list = json_array();
	for (int i = 0; i < fences.count && !err; i++) {
		const struct rf_found *found = &fences.fence[i];
		struct rf_error failure = {};
		json_t *json = NULL;
		int failed;

		if (i && !each.list)
			rf_out("\n");
		failed = show_found(found, show, !each.list && !has_heading && each.names_fence,
				    context, each.list ? &json : NULL, &failure);
		rf_each_add(&each, found->name, json, failed, &failure);
	}
	rf_fences_free(&fences);
	return err ? err : rf_each_end(&each, json_incref(more));
}

int rf_show_fences(const struct rf_options *options, rf_show show, bool has_heading,
		   const void *context, json_t *more, struct rf_error *error)
{
	int err;

	if (options->dev)
		err = show_one(options, show, context, error);
	else
		err = show_all(options, show, has_heading, context, more, error);
	json_decref(more);
	return err;
}

/* ---- findings ---- */

void rf_findings_print(const char *title, const struct rf_findings *findings)
{
	rf_out("%s\n", title);
	for (int i = 0; i < findings->count; i++) {
		const struct rf_finding *finding = &findings->finding[i];

		const int column = 2 + 7 + 2 + 14 + 2;
		char text[sizeof(finding->text) + sizeof(finding->command) + 16];

		snprintf(text, sizeof(text), "%s%s%s%s", finding->text,
			 *finding->command ? "; run '" : "", finding->command,
			 *finding->command ? "'" : "");
		rf_out("  %-7s  %-14s  ", rf_level_name(finding->level), finding->check);
		rf_out_wrapped(text, column, column);
	}
}

static json_t *make_level(const void *of)
{
	return json_string(rf_level_name(((const struct rf_finding *)of)->level));
}

static const struct rf_field finding_fields[] = {
	RF_FIELD("check", struct rf_finding, check, "its name"),
	RF_FIELD_MADE("level", RF_FIELD_TEXT, make_level, "ok, note or problem"),
	RF_FIELD("text", struct rf_finding, text, "the finding"),
	RF_FIELD("command", struct rf_finding, command, "how to fix it; null: no command does",
		 .if_any = true, .or_null = true),
	{},
};

const struct rf_field rf_findings_fields[] = {
	RF_FIELD_OBJECTS("checks", struct rf_findings, finding, count, finding_fields,
			 "one after another"),
	{},
};
