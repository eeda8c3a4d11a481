// SPDX-License-Identifier: GPL-2.0
#include <errno.h>

#include "cli/fences.h"
#include "cli/out.h"
#include "fence/find.h"

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

/* All fences, while they are shown one after the other. */
struct all {
	rf_show show;
	const void *context;
	bool has_heading;
	bool is_only; /* there is one fence */
	json_t *list; /* NULL: print text */
};

/* Which of several fences could not be shown. */
static int name_fence(const struct rf_found *found, int err, struct rf_error *error)
{
	const struct rf_error failure = *error;

	return rf_error_failed(error, err, "fence '%s': %.440s", found->name, failure.text);
}

static int show_found(const struct all *all, const struct rf_found *found, struct rf_error *error)
{
	struct rf_fence fence = RF_FENCE_NONE;
	json_t *json = NULL;
	int err = rf_fence_open_on(&fence, found->interface, error);

	if (!err && !all->list && !all->has_heading && !all->is_only)
		rf_out("fence %s\n", found->name);
	if (!err)
		err = all->show(&fence, all->context, all->list ? &json : NULL, error);
	if (err)
		json = json_pack("{s:o, s:o}", "fence", rf_json_text(found->name), "error",
				 rf_json_text(error->text));
	if (all->list && json_array_append_new(all->list, json))
		err = rf_error_failed(error, -ENOMEM, "cannot make JSON");
	else if (!all->list)
		json_decref(json);
	rf_fence_close(&fence);
	return err && !all->is_only ? name_fence(found, err, error) : err;
}

/* The last error is left in `error`; those before are printed here. */
static int show_each(const struct all *all, const struct rf_fences *fences, struct rf_error *error)
{
	int result = 0;

	for (int i = 0; i < fences->count; i++) {
		struct rf_error failure = {};
		int err;

		if (i && !all->list)
			rf_out("\n");
		err = show_found(all, &fences->fence[i], &failure);
		if (err && result)
			rf_out_error(error);
		if (err) {
			result = err;
			*error = failure;
		}
	}
	return result;
}

static int show_all(const struct rf_options *options, rf_show show, bool has_heading,
		    const void *context, json_t *more, struct rf_error *error)
{
	struct all all = {.show = show, .context = context, .has_heading = has_heading};
	struct rf_fences fences;
	struct rf_error unprinted;
	int err = rf_fences_find(&fences, error);
	const bool found = !err;

	all.is_only = fences.count == 1;
	if (options->json)
		all.list = json_array();
	if (found)
		err = show_each(&all, &fences, error);
	if (found && options->json) {
		json_t *json = json_pack("{s:o}", "fences", all.list);
		int printed;

		if (more)
			json_object_update(json, more);
		printed = rf_out_json(json, false, err ? &unprinted : error);
		err = err ? err : printed;
	} else {
		json_decref(all.list);
	}
	rf_fences_free(&fences);
	return err;
}

int rf_show_fences_with(const struct rf_options *options, rf_show show, bool has_heading,
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

int rf_show_fences(const struct rf_options *options, rf_show show, bool has_heading,
		   const void *context, struct rf_error *error)
{
	return rf_show_fences_with(options, show, has_heading, context, NULL, error);
}
