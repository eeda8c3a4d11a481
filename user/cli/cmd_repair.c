// SPDX-License-Identifier: GPL-2.0
/*
 * repair: watches an attached interface, and repairs it whenever it needs that. Each repair runs in
 * a child process, since the lock of the commands is held until a process ends.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
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
#include "fence/by_interface.h"
#include "fence/bypass.h"
#include "fence/fence.h"

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

static volatile sig_atomic_t interrupted;

static void note_interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
}

static void watch_signals(void)
{
	struct sigaction action = {.sa_handler = note_interrupt};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

/* ---- checking ---- */

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

/* ---- repairing ---- */

static int repair(const char *name)
{
	struct rf_attached attached;
	struct rf_error error = {};
	const int err = rf_fence_repair(name, &attached, &error);

	if (err && err != -ENOENT) /* it was detached meanwhile */
		rf_out_error(&error);
	else if (!err && attached.outcome != RF_UNCHANGED)
		rf_print_attached(&attached);
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

/* ---- waiting ---- */

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

	if (!err && options->dev)
		err = rf_error_usage(error, "'dev %s': repair takes its interface without 'dev'",
				     options->dev);
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
	watch_signals();
	while (!err && !interrupted && if_nametoindex(watch.name)) {
		err = check_and_repair(&watch, error);
		if (!err && !interrupted)
			wait_for_link(&watch);
	}
	close(watch.links);
	return err;
}
