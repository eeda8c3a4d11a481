// SPDX-License-Identifier: GPL-2.0
/* pause, resume */
#include "base/time.h"
#include "cli/command.h"
#include "cli/out.h"
#include "fence/find.h"

/* Neither waits for the lock, so that both work while another command holds it. */
struct pausing {
	int (*open)(struct rf_fence *fence, const char *dev, struct rf_error *error);
	const char *dev[RF_INTERFACES_MAX]; /* as they were typed; none: every fence */
	int count;
	uint64_t time_ns; /* 0: resume */
	json_t *list;	  /* NULL: print text */
};

static void print_paused(const struct rf_fence *fence, uint64_t time_ns, uint64_t before_ns)
{
	char time[RF_DURATION_TEXT_SIZE];

	rf_format_left(time_ns, time);
	if (time_ns)
		rf_out_text(
			"fence %s: paused: drops nothing for %s; 'ringfence resume' ends that\n",
			fence->name, time);
	else if (before_ns)
		rf_out_text("fence %s: resumed: the rules drop again\n", fence->name);
	else
		rf_out_text("fence %s: it is not paused\n", fence->name);
}

static int pause_one(const struct pausing *pausing, const char *dev, struct rf_error *error)
{
	struct rf_fence fence = RF_FENCE_NONE;
	int err = pausing->open(&fence, dev, error);
	uint64_t before_ns;

	if (!err)
		err = rf_fence_check_may_change(&fence, dev, error);
	if (!err) {
		before_ns = rf_fence_standing(&fence).paused_ns;
		rf_fence_pause(&fence, pausing->time_ns);
		if (pausing->list)
			json_array_append_new(
				pausing->list,
				json_pack("{s:o, s:I, s:I}", "fence", rf_json_text(fence.name),
					  "paused_ms",
					  (json_int_t)(pausing->time_ns / RF_NS_PER_MS),
					  "before_ms", (json_int_t)(before_ns / RF_NS_PER_MS)));
		else
			print_paused(&fence, pausing->time_ns, before_ns);
	}
	rf_fence_close(&fence);
	return err;
}

/* Whatever fails on one fence, the others are paused. Leaves the last error in `error`. */
static int pause_all(const struct pausing *pausing, struct rf_error *error)
{
	struct rf_fences fences;
	int result = rf_fences_find(&fences, error);
	const int count = result ? 0 : fences.count;

	for (int i = 0; i < count; i++) {
		struct rf_error failure = {};
		int err = pause_one(pausing, fences.fence[i].interface, &failure);

		if (err && result)
			rf_out_error(error);
		if (err) {
			result = err;
			*error = failure;
		}
	}
	rf_fences_free(&fences);
	return result;
}

/* If any of the names is wrong, nothing is paused. */
static int pause_named(const struct pausing *pausing, struct rf_error *error)
{
	int err = 0;

	for (int i = 0; i < pausing->count && !err; i++) {
		struct rf_fence fence = RF_FENCE_NONE;

		err = pausing->open(&fence, pausing->dev[i], error);
		if (!err)
			err = rf_fence_check_may_change(&fence, pausing->dev[i], error);
		rf_fence_close(&fence);
	}
	for (int i = 0; i < pausing->count && !err; i++)
		err = pause_one(pausing, pausing->dev[i], error);
	return err;
}

static int run(const struct rf_options *options, struct pausing *pausing, struct rf_error *error)
{
	struct rf_error unprinted;
	int err, printed;

	if (options->json)
		pausing->list = json_array();
	pausing->open = pausing->count ? rf_fence_open : rf_fence_open_on;
	err = pausing->count ? pause_named(pausing, error) : pause_all(pausing, error);
	if (!pausing->list)
		return err;
	if (err && !json_array_size(pausing->list)) {
		json_decref(pausing->list);
		return err;
	}
	printed = rf_out_json(json_pack("{s:o}", "fences", pausing->list), false,
			      err ? &unprinted : error);
	return err ? err : printed;
}

/* The names, up to the first option. */
static int take_names(enum rf_command_id command, const struct rf_options *options,
		      struct rf_words *words, struct pausing *pausing, struct rf_error *error)
{
	const char *next;

	if (options->dev)
		pausing->dev[pausing->count++] = options->dev;
	while ((next = rf_words_peek(words)) &&
	       rf_option_find(rf_syntax[command].options, next) < 0) {
		if (!*next)
			return rf_error_usage(error, "'': no interface has an empty name");
		if (pausing->count == RF_INTERFACES_MAX)
			return rf_error_usage(error, "'%s': too many names; %d at most", next,
					      RF_INTERFACES_MAX);
		pausing->dev[pausing->count++] = rf_words_next(words);
	}
	return 0;
}

int rf_cmd_pause(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	struct pausing pausing = {};
	int err = take_names(RF_CMD_PAUSE, options, words, &pausing, error);

	if (!err)
		err = rf_parse_pause(words, &pausing.time_ns, error);
	return err ? err : run(options, &pausing, error);
}

int rf_cmd_resume(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	struct pausing pausing = {};
	int err = take_names(RF_CMD_RESUME, options, words, &pausing, error);

	return err ? err : run(options, &pausing, error);
}
