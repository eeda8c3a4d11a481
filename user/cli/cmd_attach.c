// SPDX-License-Identifier: GPL-2.0
/* attach, detach, adopt, repair, pause, resume */
#include <errno.h>
#include <inttypes.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/attach.h"
#include "base/time.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/out.h"
#include "cli/view.h"
#include "fence/by_interface.h"
#include "fence/bypass.h"
#include "fence/fence.h"
#include "fence/find.h"

static const char *const outcome_names[] = {
	[RF_ATTACHED] = "attached",	      [RF_UPGRADED] = "upgraded",
	[RF_CHANGED_ENTRY] = "changed_entry", [RF_REPAIRED] = "repaired",
	[RF_UNCHANGED] = "unchanged",
};

/* These commands have the interface as operand. */
static int refuse_dev(const struct rf_options *options, const char *command, struct rf_error *error)
{
	if (options->dev)
		return rf_error_usage(error, "'dev %s': %s takes its interface without 'dev'",
				      options->dev, command);
	return 0;
}

static void print_new(const struct rf_attached *attached)
{
	char memory[RF_MEMORY_TEXT_SIZE];

	rf_out_text("%s: attached in %s mode%s%s, fence '%s'\n", attached->interface,
		    rf_mode_name(attached->mode),
		    attached->frags ? " (frags, for its jumbo MTU)" : "",
		    attached->chained ? ", in a chain" : "", attached->fence);
	if (*attached->replaced)
		rf_out_text("%s: replaced %s\n", attached->interface, attached->replaced);
	if (attached->is_lost)
		rf_out_text(
			"%s: its rules, windows and counters were removed; it drops no packets "
			"now; 'ringfence apply FILE' restores rules that 'ringfence save' wrote\n",
			attached->interface);
	rf_view_memory(attached->memory, memory);
	if (attached->memory)
		rf_out_text("fence '%s' uses %s of memory\n", attached->fence, memory);
}

static void print_repaired(const struct rf_attached *attached)
{
	char bypass[RF_BYPASS_TEXT_SIZE];

	rf_bypass_format(&attached->bypass, bypass);
	rf_out_text("%s: %s; the program was attached again in place, fence '%s'; rules, windows "
		    "and counters are preserved\n",
		    attached->interface, bypass, attached->fence);
}

static void print_link_down(const char *name, const struct rf_link_down *down)
{
	if (down->is_down)
		rf_out_text("%s: the link went down, and is not back after %" PRIu64 " ms\n", name,
			    down->ms);
	else if (down->ms)
		rf_out_text("%s: the link was down for %" PRIu64 " ms: its driver restarts for a "
			    "program\n",
			    name, down->ms);
}

static void print_attached(const struct rf_attached *attached)
{
	switch (attached->outcome) {
	case RF_ATTACHED:
		print_new(attached);
		break;
	case RF_CHANGED_ENTRY:
		rf_out_text("%s: changed in place to the program %s, as its MTU requires, fence "
			    "'%s'; rules, windows and counters are preserved\n",
			    attached->interface,
			    attached->frags ? "for frames in several buffers (xdp.frags)"
					    : "for frames in one buffer (xdp)",
			    attached->fence);
		break;
	case RF_REPAIRED:
		print_repaired(attached);
		break;
	case RF_UPGRADED:
		rf_out_text(
			"%s: upgraded in place, fence '%s'; windows and counters are preserved\n",
			attached->interface, attached->fence);
		break;
	case RF_UNCHANGED:
		rf_out_text("%s: already attached, fence '%s'; nothing to do\n",
			    attached->interface, attached->fence);
		break;
	}
	print_link_down(attached->interface, &attached->link_down);
}

static json_t *make_mode(const void *of)
{
	return json_string(rf_mode_name(((const struct rf_attached *)of)->mode));
}

static const void *lost_at(const void *of, size_t i)
{
	static const char *const lost[] = {"rules", "windows", "counters"};

	return ((const struct rf_attached *)of)->is_lost && i < ARRAY_SIZE(lost) ? &lost[i] : NULL;
}

static const struct rf_field attached_fields[] = {
	RF_FIELD("name", struct rf_attached, interface, "of the interface"),
	RF_FIELD("fence", struct rf_attached, fence, "its fence"),
	RF_FIELD_MADE("mode", RF_FIELD_TEXT, make_mode, "native, generic or offload"),
	RF_FIELD_OF_ENUM("outcome", struct rf_attached, outcome, outcome_names,
			 "attached, upgraded, repaired \\&..."),
	RF_FIELD("replaced", struct rf_attached, replaced, "the program before; null: none",
		 .if_any = true, .or_null = true),
	RF_FIELD("replaced_abi", struct rf_attached, lost_abi,
		 "map ABI of the lost fence; null: no number", .if_any = true, .or_null = true),
	RF_FIELD_MADE("lost", RF_FIELD_LIST, NULL, "what that fence has lost", .item = lost_at,
		      .element = RF_FIELD_WORD),
	RF_FIELD("memory", struct rf_attached, memory, "bytes of a new fence; else null",
		 .if_any = true, .or_null = true),
	RF_FIELD("link_down_ms", struct rf_attached, link_down.ms, "how long the link was down",
		 .if_any = true, .or_null = true),
	{},
};

struct attached_all {
	struct rf_attached of[RF_INTERFACES_MAX];
	uint32_t count;
};

static const struct rf_field attached_all_fields[] = {
	RF_FIELD_OBJECTS("interfaces", struct attached_all, of, count, attached_fields,
			 "the named interfaces"),
	{},
};

RF_RECORD(attach, attached_all_fields);

int rf_cmd_attach(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	struct attached_all attached;
	struct rf_attach attach;
	int err = refuse_dev(options, rf_syntax[RF_CMD_ATTACH].words, error);

	if (!err)
		err = rf_parse_attach(words, &attach, error);
	if (!err)
		err = rf_fence_attach(&attach, attached.of, error);
	if (err)
		return err;
	attached.count = attach.interfaces;
	if (options->json)
		return rf_out_record(attached_all_fields, &attached, error);
	for (int i = 0; i < attach.interfaces; i++)
		print_attached(&attached.of[i]);
	if (attach.confirm_ns) {
		char time[RF_DURATION_TEXT_SIZE];

		rf_format_left(attach.confirm_ns, time);
		rf_out_text(
			"unconfirmed: everything passes in %s unless 'ringfence confirm' runs\n",
			time);
	}
	if (attach.mode == RF_GENERIC)
		rf_out_text(
			"generic mode counts packets merged by the kernel (GRO) as one packet\n");
	return 0;
}

/* Parses the operand of a command that accepts one interface. */
static const char *take_interface(enum rf_command_id command, const struct rf_options *options,
				  struct rf_words *words, struct rf_error *error)
{
	const char *dev;

	if (refuse_dev(options, rf_syntax[command].words, error))
		return NULL;
	dev = rf_take_operand(command, words, error);
	return dev && !rf_words_end(words, error) ? dev : NULL;
}

/* The words of `detach`, at least one. Returns their number. */
static int take_words(struct rf_words *words, const char *word[RF_INTERFACES_MAX],
		      struct rf_error *error)
{
	const char *next = rf_take_operand(RF_CMD_DETACH, words, error);
	int count = 0;

	if (!next)
		return -EINVAL;
	for (; next; next = rf_words_interface(words)) {
		if (!*next)
			return rf_error_usage(error, "'': no interface has an empty name");
		if (count == RF_INTERFACES_MAX)
			return rf_error_usage(error, "'%s': too many interfaces; %d at most", next,
					      RF_INTERFACES_MAX);
		word[count++] = next;
	}
	return count;
}

/* Prints the state that was removed with the fence, if any. */
static void print_lost(const struct rf_lost *lost)
{
	if (*lost->fence)
		rf_out_text("fence '%s' was removed with %d limit%s, %zu allowed and %zu denied "
			    "prefixes, %zu ban%s and %" PRIu64
			    " window%s; 'ringfence save' before 'ringfence detach' preserves "
			    "limits and lists\n",
			    lost->fence, lost->limits, lost->limits == 1 ? "" : "s",
			    lost->listed[RF_ALLOW], lost->listed[RF_DENY], lost->bans,
			    lost->bans == 1 ? "" : "s", lost->windows,
			    lost->windows == 1 ? "" : "s");
}

static void print_target(const struct rf_detached *target)
{
	rf_out_text(target->was_gone ? "%s: was no longer attached; the pins of its fence are "
				       "removed\n"
				     : "%s: detached\n",
		    target->name);
	print_link_down(target->name, &target->link_down);
	print_lost(&target->lost);
}

/* The `i`th of the targets that were detached and for which `is` returns true. */
static const struct rf_detached *find_target(const struct rf_detach *detach, size_t i,
					     bool (*is)(const struct rf_detached *target))
{
	for (int k = 0; k < detach->count; k++)
		if (!detach->target[k].err && is(&detach->target[k]) && !i--)
			return &detach->target[k];
	return NULL;
}

static bool is_any(const struct rf_detached *target)
{
	(void)target;
	return true;
}

static bool has_lost(const struct rf_detached *target)
{
	return *target->lost.fence;
}

static const void *name_at(const void *of, size_t i)
{
	const struct rf_detached *target = find_target(of, i, is_any);

	return target ? target->name : NULL;
}

static const void *detached_lost_at(const void *of, size_t i)
{
	const struct rf_detached *target = find_target(of, i, has_lost);

	return target ? &target->lost : NULL;
}

static json_t *make_link_downs(const void *of)
{
	const struct rf_detach *detach = of;
	json_t *downs = json_object();

	for (int i = 0; i < detach->count; i++)
		if (!detach->target[i].err && detach->target[i].link_down.ms)
			json_object_set_new(downs, detach->target[i].name,
					    json_integer(detach->target[i].link_down.ms));
	return downs;
}

static const struct rf_field lost_fields[] = {
	RF_FIELD("fence", struct rf_lost, fence, "its name"),
	RF_FIELD("limits", struct rf_lost, limits, "limits"),
	RF_FIELD("allow", struct rf_lost, listed[RF_ALLOW], "allowed prefixes"),
	RF_FIELD("deny", struct rf_lost, listed[RF_DENY], "denied prefixes"),
	RF_FIELD("bans", struct rf_lost, bans, "bans by limits"),
	RF_FIELD("windows", struct rf_lost, windows, "windows"),
	{},
};

static const struct rf_field detached_fields[] = {
	RF_FIELD_MADE("detached", RF_FIELD_LIST, NULL, "interfaces", .item = name_at,
		      .element = RF_FIELD_TEXT),
	RF_FIELD_MADE("link_down_ms", RF_FIELD_NAMED, make_link_downs,
		      "how long the link of NAME was down, of those whose link went down",
		      .element = RF_FIELD_U64),
	RF_FIELD_LIST_OF("lost", detached_lost_at, lost_fields, "fences removed with their rules"),
	{},
};

RF_RECORD(detach, detached_fields);

/* Prints the detached interfaces. If several failed, the last error is returned in `error`. */
static int print_detached(const struct rf_detach *detach, bool json, struct rf_error *error)
{
	struct rf_error unprinted;
	int err = 0, printed;

	for (int i = 0; i < detach->count; i++) {
		const struct rf_detached *target = &detach->target[i];

		rf_out_keep_last(target->err, &target->error, &err, error);
		if (!target->err && !json)
			print_target(target);
	}
	if (!json)
		return err;
	printed = rf_out_record(detached_fields, detach, err ? &unprinted : error);
	return err ? err : printed;
}

int rf_cmd_detach(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	const char *word[RF_INTERFACES_MAX];
	struct rf_detach detach = {};
	int err = refuse_dev(options, rf_syntax[RF_CMD_DETACH].words, error);
	int count = err ? err : take_words(words, word, error);

	err = count < 0 ? count : rf_fence_detach(word, count, &detach, error);
	if (!err)
		err = print_detached(&detach, options->json, error);
	free(detach.target);
	return err;
}

/* An interface whose fence was pinned. */
struct adopting {
	const char *name;
	struct rf_adopted adopted;
	bool is_shared;
};

static const struct rf_field adopting_fields[] = {
	RF_FIELD("name", struct adopting, name, "of the interface"),
	RF_FIELD("fence", struct adopting, adopted.fence, "its fence"),
	RF_FIELD("pins", struct adopting, adopted.pins, "their directory"),
	RF_FIELD("new", struct adopting, adopted.is_new, "false: it was pinned before"),
	RF_FIELD("shared", struct adopting, is_shared, "pinned for the group as well"),
	{},
};

RF_RECORD(adopt, adopting_fields);

int rf_cmd_adopt(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	struct adopting adopting = {.name = take_interface(RF_CMD_ADOPT, options, words, error)};
	struct rf_adopted *adopted = &adopting.adopted;
	int err = adopting.name ? rf_adopt(adopting.name, adopted, error) : -EINVAL;

	if (err)
		return err;
	adopting.is_shared = !adopted->refusal;
	if (options->json)
		return rf_out_record(adopting_fields, &adopting, error);
	rf_out_text("%s: %s, fence '%s'\n", adopting.name,
		    adopted->is_new ? "adopted" : "has pins already", adopted->fence);
	if (adopted->refusal)
		rf_out_text("group '%s' cannot read it: %s\n", RF_GROUP, adopted->refusal);
	else
		rf_out_text("members of group '%s' can read it\n", RF_GROUP);
	return 0;
}

/* ---- repair ---- */

/*
 * repair: watches an attached interface, and repairs it whenever necessary. Each repair runs in a
 * child process, because the command lock is held until the process exits.
 */

#define CHECK_MS 2000
#define EVENT_MS 500 /* after a link event, while drivers restart */
#define EVENT_NS (10 * RF_NS_PER_S)
#define RETRY_NS (2 * RF_NS_PER_S) /* doubled with each repair that does not help */
#define RETRY_MAX_NS (300 * RF_NS_PER_S)
#define EXIT_STALE 3 /* of a child: the program is of another build */

struct watch {
	const char *name;
	int links;
	uint64_t event_ns; /* of the last link event */
	uint64_t retry_ns; /* no repair before */
	uint64_t pause_ns; /* after the next repair */
};

/* ---- repair: checking ---- */

enum need {
	NEEDS_NOTHING,
	NEEDS_REPAIR,
	WORKS, /* the program has just counted packets */
};

/* A member joined after the fence started counting by interface. */
static bool lacks_members(const struct rf_fence *fence, const struct rf_interface *interface)
{
	return fence->interfaces > 1 && !rf_by_interface_is_whole(fence, interface->index);
}

static enum need check(const char *name)
{
	struct rf_fence fence = RF_FENCE_NONE;
	enum need need = NEEDS_NOTHING;
	struct rf_interface interface;
	struct rf_bypass bypass;
	struct rf_error ignored;

	if (rf_interface_query(name, &interface, &ignored) || !interface.program_id)
		return NEEDS_NOTHING;
	if (!rf_fence_open_on(&fence, name, &ignored)) {
		rf_bypass_look(&fence, &interface, &bypass);
		if (bypass.met == RF_BYPASSED || rf_entry_suits(&interface) == RF_NO ||
		    lacks_members(&fence, &interface))
			need = NEEDS_REPAIR;
		else if (bypass.met == RF_MET)
			need = WORKS;
	}
	rf_fence_close(&fence);
	return need;
}

/* ---- repair: repairing ---- */

static int repair(const char *name)
{
	struct rf_attached attached;
	struct rf_error error = {};
	const int err = rf_fence_repair(name, &attached, &error);

	if (err && err != -ENOENT) /* it was detached concurrently */
		rf_out_error(&error);
	else if (!err && attached.outcome != RF_UNCHANGED)
		print_attached(&attached);
	rf_out_flush();
	return err == -ESTALE ? EXIT_STALE : err != 0;
}

/* The exit status of the child. */
static int repair_in_child(const char *name)
{
	int status = 0;
	pid_t child;

	rf_out_flush();
	child = fork();
	if (!child)
		_exit(repair(name));
	if (child < 0)
		return EXIT_FAILURE;
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
}

static int check_and_repair(struct watch *watch, struct rf_error *error)
{
	const enum need need = check(watch->name);
	const uint64_t now = rf_time_awake();

	if (need == WORKS)
		watch->pause_ns = RETRY_NS;
	if (need != NEEDS_REPAIR || now < watch->retry_ns)
		return 0;
	if (repair_in_child(watch->name) == EXIT_STALE)
		return rf_error_failed(error, -ESTALE,
				       "%s: its program is of another build; run 'systemctl "
				       "restart ringfence-repair@%s'",
				       watch->name, watch->name);
	watch->retry_ns = rf_time_awake() + watch->pause_ns;
	if (watch->pause_ns < RETRY_MAX_NS)
		watch->pause_ns *= 2;
	return 0;
}

/* ---- repair: waiting ---- */

/* A socket that can be read when an interface has changed. */
static int listen_for_links(void)
{
	const struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK};
	const int links =
		socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);

	if (links >= 0 && bind(links, (const struct sockaddr *)&address, sizeof(address))) {
		close(links);
		return -1;
	}
	return links;
}

/* Of any interface: a check costs little. */
static void wait_for_link(struct watch *watch)
{
	struct pollfd links = {.fd = watch->links, .events = POLLIN};
	const bool is_recent = watch->event_ns && rf_time_awake() - watch->event_ns < EVENT_NS;
	char buffer[8192];

	if (poll(&links, 1, is_recent ? EVENT_MS : CHECK_MS) <= 0)
		return;
	watch->event_ns = rf_time_awake();
	while (recv(watch->links, buffer, sizeof(buffer), 0) > 0)
		;
	poll(NULL, 0, EVENT_MS); /* a burst of events is one */
}

int rf_cmd_repair(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	struct watch watch = {.name = rf_take_operand(RF_CMD_REPAIR, words, error),
			      .pause_ns = RETRY_NS};
	int err = watch.name ? rf_words_end(words, error) : -EINVAL;

	if (!err)
		err = refuse_dev(options, rf_syntax[RF_CMD_REPAIR].words, error);
	if (!err && !if_nametoindex(watch.name))
		err = rf_error_failed(error, -ENODEV,
				      "%s: no such interface; 'ip link' lists the interfaces",
				      watch.name);
	if (err)
		return err;
	watch.links = listen_for_links();
	if (watch.links < 0)
		return rf_error_failed(error, -errno, "cannot listen for link events: %s",
				       strerror(errno));
	rf_out_until_interrupt(false);
	while (!err && !rf_out_is_interrupted() && if_nametoindex(watch.name)) {
		err = check_and_repair(&watch, error);
		if (!err && !rf_out_is_interrupted())
			wait_for_link(&watch);
	}
	close(watch.links);
	return err;
}

/* ---- pause, resume ---- */

/* Neither waits for the lock: both work while another command holds it. */
struct pausing {
	int (*open)(struct rf_fence *fence, const char *dev, struct rf_error *error);
	const char *dev[RF_INTERFACES_MAX]; /* as they were typed; none: every fence */
	int count;
	uint64_t time_ns; /* 0: resume */
	json_t *list;	  /* NULL: print text */
};

/* A fence that was paused or resumed. */
struct paused {
	const char *fence;
	uint64_t time_ns, before_ns;
};

static const struct rf_field paused_fields[] = {
	RF_FIELD("fence", struct paused, fence, "its name"),
	RF_FIELD_OF_NS("paused_ms", struct paused, time_ns,
		       "until the pause expires; 0: not paused"),
	RF_FIELD_OF_NS("before_ms", struct paused, before_ns, "left of an earlier pause; 0: none"),
	{},
};

RF_RECORD(pause, paused_fields);

static void print_paused(const struct paused *paused)
{
	char time[RF_DURATION_TEXT_SIZE];

	rf_format_left(paused->time_ns, time);
	if (paused->time_ns)
		rf_out_text("fence %s: paused: drops nothing for %s; 'ringfence resume' resumes it "
			    "now\n",
			    paused->fence, time);
	else if (paused->before_ns)
		rf_out_text("fence %s: resumed: the rules drop again\n", paused->fence);
	else
		rf_out_text("fence %s: it is not paused\n", paused->fence);
}

static int pause_one(const struct pausing *pausing, const char *dev, struct rf_error *error)
{
	struct rf_fence fence = RF_FENCE_NONE;
	int err = pausing->open(&fence, dev, error);

	if (!err)
		err = rf_fence_check_may_change(&fence, dev, error);
	if (!err) {
		const struct paused paused = {fence.name, pausing->time_ns,
					      rf_fence_standing(&fence).paused_ns};

		rf_fence_pause(&fence, pausing->time_ns);
		if (pausing->list)
			json_array_append_new(pausing->list,
					      rf_record_json(paused_fields, &paused));
		else
			print_paused(&paused);
	}
	rf_fence_close(&fence);
	return err;
}

/* Pauses all fences even if some fail. Returns the last error in `error`. */
static int pause_all(const struct pausing *pausing, struct rf_error *error)
{
	struct rf_fences fences;
	int result = rf_fences_find(&fences, error);
	const int count = result ? 0 : fences.count;

	for (int i = 0; i < count; i++) {
		struct rf_error failure = {};
		int err = pause_one(pausing, fences.fence[i].interface, &failure);

		rf_out_keep_last(err, &failure, &result, error);
	}
	rf_fences_free(&fences);
	return result;
}

/* If any of the names is invalid, no fence is paused. */
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
	struct rf_each each = {.error = error};

	pausing->list = options->json ? json_array() : NULL;
	pausing->open = pausing->count ? rf_fence_open : rf_fence_open_on;
	each.result = pausing->count ? pause_named(pausing, error) : pause_all(pausing, error);
	each.list = pausing->list;
	if (each.list && each.result && !json_array_size(each.list)) {
		json_decref(each.list);
		each.list = NULL;
	}
	return rf_each_end(&each, NULL);
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
		err = rf_parse_arguments(RF_CMD_PAUSE, words, &pausing.time_ns, error);
	return err ? err : run(options, &pausing, error);
}

int rf_cmd_resume(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	struct pausing pausing = {};
	int err = take_names(RF_CMD_RESUME, options, words, &pausing, error);

	return err ? err : run(options, &pausing, error);
}
