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
		rf_out_text("%s: its rules, windows and counters are gone; nothing is dropped "
			    "now; 'ringfence apply FILE' brings back rules that 'ringfence "
			    "save' kept\n",
			    attached->interface);
	rf_view_memory(attached->memory, memory);
	if (attached->memory)
		rf_out_text("fence '%s' takes %s of memory\n", attached->fence, memory);
}

static void print_repaired(const struct rf_attached *attached)
{
	char bypass[RF_BYPASS_TEXT_SIZE];

	rf_bypass_format(&attached->bypass, bypass);
	rf_out_text("%s: %s; the program was attached again in place, fence '%s'; rules, windows "
		    "and counters are kept\n",
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

static json_t *link_down_json(const struct rf_link_down *down)
{
	return down->ms ? json_integer(down->ms) : json_null();
}

static void print_attached(const struct rf_attached *attached)
{
	switch (attached->outcome) {
	case RF_ATTACHED:
		print_new(attached);
		break;
	case RF_CHANGED_ENTRY:
		rf_out_text("%s: changed in place to the program %s, as its MTU requires, fence "
			    "'%s'; rules, windows and counters are kept\n",
			    attached->interface,
			    attached->frags ? "for frames in several buffers (xdp.frags)"
					    : "for frames in one buffer (xdp)",
			    attached->fence);
		break;
	case RF_REPAIRED:
		print_repaired(attached);
		break;
	case RF_UPGRADED:
		rf_out_text("%s: upgraded in place, fence '%s'; windows and counters are kept\n",
			    attached->interface, attached->fence);
		break;
	case RF_UNCHANGED:
		rf_out_text("%s: already attached, fence '%s'; nothing to do\n",
			    attached->interface, attached->fence);
		break;
	}
	print_link_down(attached->interface, &attached->link_down);
}

static json_t *attached_json(const struct rf_attached *attached)
{
	json_t *lost = attached->is_lost ? json_pack("[s, s, s]", "rules", "windows", "counters")
					 : json_array();

	return json_pack(
		"{s:o, s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "name",
		rf_json_text(attached->interface), "fence", rf_json_text(attached->fence), "mode",
		rf_mode_name(attached->mode), "outcome", outcome_names[attached->outcome],
		"replaced", *attached->replaced ? rf_json_text(attached->replaced) : json_null(),
		"replaced_abi", attached->lost_abi ? json_integer(attached->lost_abi) : json_null(),
		"lost", lost, "memory",
		attached->memory ? json_integer(attached->memory) : json_null(), "link_down_ms",
		link_down_json(&attached->link_down));
}

static int print_json(const struct rf_attached *attached, int count, struct rf_error *error)
{
	json_t *list = json_array();

	for (int i = 0; i < count; i++)
		json_array_append_new(list, attached_json(&attached[i]));
	return rf_out_json(json_pack("{s:o}", "interfaces", list), false, error);
}

int rf_cmd_attach(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	struct rf_attached attached[RF_INTERFACES_MAX];
	struct rf_attach attach;
	int err = refuse_dev(options, rf_syntax[RF_CMD_ATTACH].words, error);

	if (!err)
		err = rf_parse_attach(words, &attach, error);
	if (!err)
		err = rf_fence_attach(&attach, attached, error);
	if (err)
		return err;
	if (options->json)
		return print_json(attached, attach.interfaces, error);
	for (int i = 0; i < attach.interfaces; i++)
		print_attached(&attached[i]);
	if (attach.confirm_ns) {
		char time[RF_DURATION_TEXT_SIZE];

		rf_format_left(attach.confirm_ns, time);
		rf_out_text(
			"on trial: in %s everything passes, unless 'ringfence confirm' keeps the "
			"fence\n",
			time);
	}
	if (attach.mode == RF_GENERIC)
		rf_out_text("generic mode counts what the kernel has merged (GRO) as one packet\n");
	return 0;
}

/* Takes the operand of a command that has one interface. */
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

/* What was removed with the fence; prints nothing where nothing was. */
static void print_lost(const struct rf_lost *lost)
{
	if (*lost->fence)
		rf_out_text("fence '%s' was removed with %d limit%s, %zu allowed and %zu denied "
			    "prefixes, %zu ban%s and %" PRIu64 " window%s; 'ringfence save' before "
			    "'ringfence detach' keeps limits and lists\n",
			    lost->fence, lost->limits, lost->limits == 1 ? "" : "s",
			    lost->listed[RF_ALLOW], lost->listed[RF_DENY], lost->bans,
			    lost->bans == 1 ? "" : "s", lost->windows,
			    lost->windows == 1 ? "" : "s");
}

static void add_lost(const struct rf_lost *lost, json_t *list)
{
	if (*lost->fence)
		json_array_append_new(list,
				      json_pack("{s:o, s:i, s:I, s:I, s:I, s:I}", "fence",
						rf_json_text(lost->fence), "limits", lost->limits,
						"allow", (json_int_t)lost->listed[RF_ALLOW], "deny",
						(json_int_t)lost->listed[RF_DENY], "bans",
						(json_int_t)lost->bans, "windows",
						(json_int_t)lost->windows));
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

/* Prints what was detached. Of several failures, the last one is left in `error`. */
static int print_detached(const struct rf_detach *detach, bool json, struct rf_error *error)
{
	json_t *list = json_array(), *downs = json_object(), *lost = json_array();
	int err = 0;

	for (int i = 0; i < detach->count; i++) {
		const struct rf_detached *target = &detach->target[i];

		rf_out_keep_last(target->err, &target->error, &err, error);
		if (target->err)
			continue;
		json_array_append_new(list, rf_json_text(target->name));
		if (target->link_down.ms)
			json_object_set_new(downs, target->name,
					    link_down_json(&target->link_down));
		add_lost(&target->lost, lost);
		if (!json)
			print_target(target);
	}
	if (json) {
		struct rf_error unprinted;
		int printed = rf_out_json(json_pack("{s:o, s:o, s:o}", "detached", list,
						    "link_down_ms", downs, "lost", lost),
					  false, err ? &unprinted : error);

		return err ? err : printed;
	}
	json_decref(list);
	json_decref(downs);
	json_decref(lost);
	return err;
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

int rf_cmd_adopt(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	const char *dev = take_interface(RF_CMD_ADOPT, options, words, error);
	struct rf_adopted adopted;
	int err = dev ? rf_adopt(dev, &adopted, error) : -EINVAL;

	if (err)
		return err;
	if (options->json)
		return rf_out_json(json_pack("{s:o, s:o, s:s, s:b, s:b}", "name", rf_json_text(dev),
					     "fence", rf_json_text(adopted.fence), "pins",
					     adopted.pins, "new", adopted.is_new, "shared",
					     !adopted.refusal),
				   false, error);
	rf_out_text("%s: %s, fence '%s'\n", dev, adopted.is_new ? "adopted" : "has pins already",
		    adopted.fence);
	if (adopted.refusal)
		rf_out_text("group '%s' may not read it: %s\n", RF_GROUP, adopted.refusal);
	else
		rf_out_text("members of group '%s' may read it\n", RF_GROUP);
	return 0;
}

/* ---- repair ---- */

/*
 * repair: watches an attached interface, and repairs it whenever it needs that. Each repair runs in
 * a child process, since the lock of the commands is held until a process ends.
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

/* A member has joined since the fence began to count by interface. */
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

	if (err && err != -ENOENT) /* it was detached meanwhile */
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

		rf_out_keep_last(err, &failure, &result, error);
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
