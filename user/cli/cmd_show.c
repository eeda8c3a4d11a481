// SPDX-License-Identifier: GPL-2.0
/* show */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "cli/command.h"
#include "cli/out.h"
#include "cli/recorded.h"
#include "cli/show.h"
#include "cli/show_network.h"
#include "fence/fence.h"
#include "snapshot/records.h"
#include "snapshot/shown.h"

#define RECENT_MS 1000

/* When the limit alone lets a packet pass; of a shadow limit, when it would. */
static void print_passes_again(const struct rf_shown_limit *one)
{
	const char *what = one->limit->flags & RF_SHADOW ? "would pass  " : "passes again";
	char wait[RF_DURATION_TEXT_SIZE], frame[32] = "";

	if (one->limit->unit == RF_BYTES) /* a shorter frame may pass earlier */
		snprintf(frame, sizeof(frame), ", a frame of %d bytes", RF_FRAME_BYTES);
	rf_format_ms(one->passes_again_ms, wait);
	rf_out_text("  %s  %s%s%s\n", what, one->passes_again_ms > 0 ? "in " : "",
		    one->passes_again_ms == RF_WAIT_FOREVER ? "never"
		    : one->passes_again_ms		    ? wait
							    : "now",
		    frame);
}

static void print_used(const struct rf_shown_limit *one)
{
	const struct rf_limit *limit = one->limit;
	bool bucket = rf_has_burst(limit);

	rf_out_text("  used          %" PRIu64 " of %s%" PRIu64 "%s\n", one->used,
		    bucket ? "burst " : "", (uint64_t)(bucket ? limit->burst : limit->rate),
		    limit->unit == RF_BYTES ? " bytes" : "");
}

static void print_cells(const struct rf_shown_limit *one)
{
	if (!one->cells)
		return;
	rf_out_text("  cells        ");
	for (int i = 0; i < one->cells; i++)
		rf_out_text(" %" PRIu64, one->cell[i]);
	rf_out_text(" (oldest first)\n");
}

static void print_ban(const struct rf_shown_limit *one)
{
	char ban[RF_DURATION_TEXT_SIZE];

	if (!one->banned_ns)
		return;
	rf_format_left(one->banned_ns, ban);
	rf_out_text("  banned        for another %s%s\n", ban,
		    one->limit->flags & RF_BAN_ALL ? ", all its packets" : "");
}

static void print_limit(const struct rf_shown_limit *one, bool limits_decide)
{
	char rate[RF_RATE_TEXT_SIZE];

	rf_format_limit_rate(one->limit, rate);
	if (!one->limit->rate) {
		rf_out_text("limit %s (%s): %s all that it matches\n", one->limit->name, rate,
			    one->limit->flags & RF_SHADOW ? "would drop" : "drops");
		return;
	}
	rf_out_text("source %s, limit %s (%s)%s\n", one->source, one->limit->name, rate,
		    one->newcomer ? ": no window" : "");
	if (one->newcomer) {
		print_ban(one);
		return;
	}
	print_used(one);
	if (one->limit->flags & RF_FLEET)
		rf_out_text("  on this host  %" PRIu64 ", as the fleet has it\n", one->room);
	print_cells(one);
	rf_out_text("  passed        %" PRIu64 "\n", (uint64_t)one->state.passed);
	rf_out_text("  dropped       %" PRIu64 "\n", (uint64_t)one->state.dropped);
	if (one->limit->flags & RF_SHADOW || rf_shown_would_drop(one))
		rf_out_text("  would drop    %" PRIu64 "\n", rf_shown_would_drop(one));
	print_ban(one);
	if (limits_decide && !one->banned_ns)
		print_passes_again(one);
}

static void print_verdict(const struct rf_case *its)
{
	char *text = rf_verdict_text(its);

	rf_out_text("%s\n", text ? text : strerror(ENOMEM));
	free(text);
}

static void print_shown(const struct rf_shown *shown)
{
	const struct rf_case *its = &shown->its;
	const bool limits_decide = !rf_verdict_is_early(its);

	print_verdict(its);
	for (int i = 0; i < its->answers; i++)
		print_limit(&shown->limit[i], limits_decide);
}

static struct rf_prefix whole(const struct rf_address *source)
{
	struct rf_prefix prefix = {
		.version = source->version,
		.length = source->version == 6 ? 128 : 32,
	};

	memcpy(prefix.word, source->word, sizeof(prefix.word));
	return prefix;
}

/* Reads it again after a second, if that tells whether packets are dropped now. */
static int read_recent(const struct rf_fence *fence, const struct rf_prefix *source,
		       struct rf_shown **shown, struct rf_error *error)
{
	struct rf_shown *const before = *shown;
	const uint64_t start = rf_time_awake();
	int err;

	if (!rf_verdict_wants_recent(&before->its))
		return 0;
	poll(NULL, 0, RECENT_MS);
	err = rf_shown_read(fence, source, shown, error);
	if (!err)
		rf_shown_since(*shown, before, (rf_time_awake() - start) / RF_NS_PER_MS);
	rf_shown_free(before);
	return err;
}

/* With `json` NULL, prints it. */
static int show_source(const struct rf_fence *fence, const struct rf_address *asked, bool may_wait,
		       json_t **json, struct rf_error *error)
{
	const struct rf_prefix source = whole(asked);
	struct rf_shown *shown = NULL;
	int err = rf_shown_read(fence, &source, &shown, error);

	if (!err && may_wait)
		err = read_recent(fence, &source, &shown, error);
	if (!err && json)
		*json = rf_record_json(rf_shown_fields, shown);
	else if (!err)
		print_shown(shown);
	rf_shown_free(shown);
	return err;
}

int rf_show_json(const struct rf_fence *fence, const struct rf_address *source, json_t **json,
		 struct rf_error *error)
{
	return show_source(fence, source, false, json, error);
}

static int show_address(const struct rf_fence *fence, const struct rf_address *source,
			const struct rf_options *options, struct rf_error *error)
{
	json_t *json = NULL;
	const int err = show_source(fence, source, true, options->json ? &json : NULL, error);

	return !err && options->json ? rf_out_json(json, false, error) : err;
}

int rf_cmd_show(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	struct rf_fence fence = RF_FENCE_NONE;
	const char *text = rf_take_operand(RF_CMD_SHOW, words, error);
	const bool is_network = text && strchr(text, '/');
	struct rf_address source;
	struct rf_prefix prefix;
	uint64_t at_ns = 0;
	int err;

	if (!text)
		return -EINVAL;
	err = is_network ? rf_parse_prefix(text, &prefix, error)
			 : rf_parse_address(text, &source, error);
	if (!err)
		err = rf_parse_at(words, &at_ns, error);
	if (!err && at_ns && !is_network)
		err = rf_parse_prefix(text, &prefix, error);
	if (!err && at_ns)
		return rf_show_at(options, &prefix, at_ns, error);
	if (!err)
		err = rf_fence_open(&fence, options->dev, error);
	if (!err)
		err = is_network ? rf_show_network(&fence, &prefix, options->json, error)
				 : show_address(&fence, &source, options, error);
	rf_fence_close(&fence);
	return err;
}
