// SPDX-License-Identifier: GPL-2.0
/* Which histories a command reads. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/out.h"
#include "cli/recorded.h"
#include "fence/find.h"

static int find_name(const struct rf_recorded_fences *fences, const char *name)
{
	for (int i = 0; i < fences->count; i++)
		if (!strcmp(fences->name[i], name))
			return i;
	return -1;
}

/* Appends the names of all fences that have a history. */
static int fail_unknown(const struct rf_recorded_fences *fences, const char *what,
			struct rf_error *error)
{
	char names[256] = "";

	for (int i = 0; i < fences->count; i++) {
		const size_t length = strlen(names);

		snprintf(names + length, sizeof(names) - length, "%s%s", i ? ", " : "",
			 fences->name[i]);
	}
	return rf_error_failed(error, -ENOENT, "%s; there are: %s", what, names);
}

/* The only one that is attached now, of those with a history; -1: none is, or several are. */
static int find_attached(const struct rf_recorded_fences *fences)
{
	struct rf_fences attached;
	struct rf_error unused;
	int found = -1, count = 0;

	if (!rf_fences_find(&attached, &unused))
		for (int i = 0; i < attached.count; i++) {
			const int one = find_name(fences, attached.fence[i].name);

			found = one < 0 ? found : one;
			count += one >= 0;
		}
	rf_fences_free(&attached);
	return count == 1 ? found : -1;
}

/* `dev` is the name of a fence, or an interface that has one now. */
static int find_dev(const struct rf_recorded_fences *fences, const char *dev,
		    struct rf_error *error)
{
	struct rf_fence fence = RF_FENCE_NONE;
	int found = find_name(fences, dev);
	struct rf_error unused;
	char what[128];

	if (found < 0 && !rf_fence_open(&fence, dev, &unused))
		found = find_name(fences, fence.name);
	rf_fence_close(&fence);
	if (found >= 0)
		return found;
	snprintf(what, sizeof(what), "'%.64s': no fence of that name has a history", dev);
	return fail_unknown(fences, what, error);
}

int rf_recorded_open(const struct rf_options *options, struct rf_reader **reader,
		     char fence[RF_NAME_SIZE], struct rf_error *error)
{
	struct rf_recorded_fences fences;
	int found = 0, err = rf_recorded_fences(&fences, error);

	*reader = NULL;
	if (err)
		return err;
	if (options->dev)
		found = find_dev(&fences, options->dev, error);
	else if (fences.count > 1)
		found = find_attached(&fences);
	if (found < 0 && !options->dev)
		found = fail_unknown(&fences, "several fences have a history; name one with 'dev'",
				     error);
	if (found < 0)
		return found;
	memcpy(fence, fences.name[found], RF_NAME_SIZE);
	return rf_reader_open(reader, fences.directory, fence, error);
}

static int show_one(const struct rf_options *options, rf_show_recorded show, const void *context,
		    struct rf_error *error)
{
	struct rf_reader *reader;
	char fence[RF_NAME_SIZE];
	json_t *json = NULL;
	int err = rf_recorded_open(options, &reader, fence, error);

	if (!err)
		err = show(reader, fence, context, options->json ? &json : NULL, error);
	if (!err && options->json)
		err = rf_out_json(json, false, error);
	else
		json_decref(json);
	rf_reader_close(reader);
	return err;
}

/* A history that cannot be shown has {"fence","error"} in the list. */
static int show_listed(const char *directory, const char *fence, rf_show_recorded show,
		       const void *context, json_t *list, struct rf_error *error)
{
	struct rf_reader *reader;
	json_t *json = NULL;
	int err = rf_reader_open(&reader, directory, fence, error);

	if (!err)
		err = show(reader, fence, context, list ? &json : NULL, error);
	rf_reader_close(reader);
	if (!list)
		return err;
	if (err) {
		json_decref(json);
		json = json_pack("{s:o, s:o}", "fence", rf_json_text(fence), "error",
				 rf_json_text(error->text));
	}
	return json_array_append_new(list, json)
		       ? rf_error_failed(error, -ENOMEM, "cannot make JSON")
		       : err;
}

/* The last error is left in `error`; those before are printed here. */
static int show_each(const struct rf_recorded_fences *fences, rf_show_recorded show,
		     bool has_heading, const void *context, json_t *list, struct rf_error *error)
{
	int result = 0;

	for (int i = 0; i < fences->count; i++) {
		struct rf_error failure = {};
		int err;

		if (i && !list && !has_heading)
			rf_out("\n");
		if (!list && !has_heading && fences->count > 1)
			rf_out("fence %s\n", fences->name[i]);
		err = show_listed(fences->directory, fences->name[i], show, context, list,
				  &failure);
		if (err && result)
			rf_out_error(error);
		if (err) {
			result = err;
			*error = failure;
		}
	}
	return result;
}

int rf_show_histories(const struct rf_options *options, rf_show_recorded show, bool has_heading,
		      const void *context, struct rf_error *error)
{
	struct rf_recorded_fences fences;
	struct rf_error unprinted;
	json_t *list;
	int err, printed;

	if (options->dev)
		return show_one(options, show, context, error);
	err = rf_recorded_fences(&fences, error);
	if (err)
		return err;
	list = options->json ? json_array() : NULL;
	err = show_each(&fences, show, has_heading, context, list, error);
	if (!list)
		return err;
	printed = rf_out_json(json_pack("{s:o}", "fences", list), false, err ? &unprinted : error);
	return err ? err : printed;
}
