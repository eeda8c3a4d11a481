// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/say.h"
#include "base/time.h"
#include "daemon/answers.h"
#include "daemon/child.h"
#include "daemon/documents.h"
#include "daemon/fences.h"
#include "daemon/live.h"
#include "daemon/load.h"
#include "daemon/loop.h"
#include "watch/pace.h"

#define FIND_NS (2 * RF_NS_PER_S) /* a new fence is found within that time */

struct loop {
	const struct rf_words *words;
	struct rf_settings settings;
	struct rf_watching watching;
	struct rf_child child;
	struct rf_answers answers;
	struct rf_pace pace;
	struct rf_moment moment; /* of the last scan; wall is 0: there was none */
	uint64_t find_at_ns, scan_at_ns;
	uint64_t other_cost_ns; /* of searches and of reading cells, since the last scan */
};

/* ---- signals ---- */

static volatile sig_atomic_t ended, reload, child_died;

static void note_signal(int signal)
{
	if (signal == SIGCHLD)
		child_died = 1;
	else if (signal == SIGHUP)
		reload = 1;
	else
		ended = 1;
}

/* They come only while the loop waits, so none is missed between a look and the wait. */
static void take_signals(sigset_t *while_waiting)
{
	static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGCHLD};
	const struct sigaction action = {.sa_handler = note_signal};
	sigset_t blocked;

	sigemptyset(&blocked);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		sigaction(signals[i], &action, NULL);
		sigaddset(&blocked, signals[i]);
	}
	sigprocmask(SIG_BLOCK, &blocked, while_waiting);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		sigdelset(while_waiting, signals[i]);
	signal(SIGPIPE, SIG_IGN);
}

/* ---- settings ---- */

/* Where a browser finds it: an address that stands for all is none to go to. */
static void format_page(const struct loop *loop, char text[RF_PAGE_ADDRESS_SIZE])
{
	struct rf_listen listen = loop->settings.listen;
	char place[RF_LISTEN_TEXT_SIZE];

	if (loop->child.tcp_fd < 0) {
		snprintf(text, RF_PAGE_ADDRESS_SIZE, "socket %s", loop->settings.socket);
		return;
	}
	if (rf_listen_is_wildcard(&listen))
		listen.address.word[listen.address.version == 6 ? 3 : 0] =
			htonl(listen.address.version == 6 ? 1 : INADDR_LOOPBACK);
	rf_format_listen(&listen, place);
	snprintf(text, RF_PAGE_ADDRESS_SIZE, "http://%s/", place);
}

/* Whoever is at the terminal may see the page; a journal is read by others as well. */
static void say_page(const struct loop *loop)
{
	char page[RF_PAGE_ADDRESS_SIZE];

	format_page(loop, page);
	rf_token_publish(&loop->child.token, page);
	if (loop->child.tcp_fd < 0)
		return;
	if (isatty(STDOUT_FILENO))
		rf_say("the page is at %s#token=%s", page, loop->child.site.token);
	else if (*loop->child.token.path)
		rf_say("'ringfence page' prints where the page is, with its token");
	else
		rf_say("the page cannot be opened: its token is in no file; 'token file PATH' "
		       "names one");
}

static void say_where(const struct loop *loop)
{
	char listen[RF_LISTEN_TEXT_SIZE];

	if (loop->child.tcp_fd >= 0) {
		rf_format_listen(&loop->settings.listen, listen);
		rf_say("serving http://%s/metrics", listen);
	}
	if (loop->child.unix_fd >= 0)
		rf_say("serving on the socket %s", loop->settings.socket);
	if (loop->child.tcp_fd < 0 && loop->child.unix_fd < 0)
		rf_say("serving nothing");
	else
		say_page(loop);
}

static int take_settings(struct loop *loop, const struct rf_settings *settings,
			 struct rf_error *error)
{
	int err;

	rf_token_withdraw(&loop->child.token);
	rf_child_end(&loop->child); /* its sockets may be wanted again */
	err = rf_child_prepare(&loop->child, settings, error);
	if (err)
		return err;
	loop->settings = *settings;
	rf_records_prepare(&loop->watching.records, settings);
	loop->pace = rf_pace_start(settings->interval_ns);
	say_where(loop);
	return 0;
}

/* On failure, the settings before stay in force. */
static void take_settings_again(struct loop *loop)
{
	const struct rf_settings before = loop->settings;
	struct rf_settings settings;
	struct rf_error error = {}, ignored;
	int err = rf_settings_make(&settings, loop->words, &error);

	reload = 0;
	if (!err) {
		err = take_settings(loop, &settings, &error);
		if (err)
			take_settings(loop, &before, &ignored);
	}
	if (err)
		rf_warn("%s; the settings before stay in force", error.text);
	else
		rf_say("the settings were read again");
}

/* ---- turns ---- */

static uint64_t cpu_time(void)
{
	struct timespec spent;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
	return spent.tv_sec * RF_NS_PER_S + spent.tv_nsec;
}

static struct rf_moment moment_now(void)
{
	struct timespec boot;

	clock_gettime(CLOCK_BOOTTIME, &boot);
	return (struct rf_moment){
		.wall = rf_time_wall(),
		.awake = rf_time_awake(),
		.boot = boot.tv_sec * RF_NS_PER_S + boot.tv_nsec,
	};
}

static void say_jump(struct loop *loop)
{
	const struct rf_moment now = moment_now();
	struct rf_jump jump = {};

	if (loop->moment.wall)
		jump = rf_moment_compare(&loop->moment, &now);
	loop->moment = now;
	if (jump.slept_ns)
		rf_say("the machine slept for %llu s", jump.slept_ns / RF_NS_PER_S);
	if (jump.stepped_ns)
		rf_say("the clock was set %s by %llu s", jump.stepped_ns > 0 ? "forward" : "back",
		       (jump.stepped_ns > 0 ? jump.stepped_ns : -jump.stepped_ns) / RF_NS_PER_S);
}

static void say_pace(struct loop *loop)
{
	if (!rf_pace_has_news(&loop->pace))
		return;
	if (loop->pace.interval_ns > loop->pace.asked_ns)
		rf_say("a scan each %.1f s, since one takes %.0f ms of CPU time: %d %% of a CPU",
		       (double)loop->pace.interval_ns / RF_NS_PER_S,
		       (double)loop->pace.cost_ns / RF_NS_PER_MS, RF_PACE_PERCENT);
	else
		rf_say("a scan each %.1f s again", (double)loop->pace.interval_ns / RF_NS_PER_S);
}

static void put_documents(struct loop *loop)
{
	rf_documents_put(&loop->child.feed, &loop->watching.records, loop->settings.sources,
			 loop->pace.interval_ns);
	rf_live_put(&loop->child.feed, &loop->watching, &loop->settings, loop->pace.interval_ns);
}

static void find(struct loop *loop)
{
	const uint64_t before = cpu_time();

	rf_watching_find(&loop->watching);
	loop->other_cost_ns += cpu_time() - before;
	loop->find_at_ns = rf_time_awake() + FIND_NS;
}

static void scan(struct loop *loop)
{
	const uint64_t began = rf_time_awake(), before = cpu_time();

	say_jump(loop);
	if (rf_watching_scan(&loop->watching))
		loop->find_at_ns = 0;
	rf_watching_record(&loop->watching, &loop->settings);
	if (loop->child.pid)
		put_documents(loop);
	rf_pace_note(&loop->pace, cpu_time() - before + loop->other_cost_ns);
	loop->other_cost_ns = 0;
	say_pace(loop);
	loop->scan_at_ns = began + loop->pace.interval_ns;
}

static void read_cells(struct loop *loop)
{
	const uint64_t before = cpu_time();

	rf_watching_read_cells(&loop->watching);
	loop->other_cost_ns += cpu_time() - before;
}

static uint64_t earliest(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Waits for the next thing to do, or for a signal. `answer_at_ns` 0: when somebody asks. */
static void wait_on(struct loop *loop, bool feeding, uint64_t answer_at_ns,
		    const sigset_t *while_waiting)
{
	struct pollfd wait[] = {
		{.fd = feeding ? loop->child.feed.fd : -1, .events = POLLOUT},
		{.fd = answer_at_ns ? -1 : loop->child.ask_fd, .events = POLLIN},
	};
	uint64_t now = rf_time_awake(), until = earliest(loop->find_at_ns, loop->scan_at_ns);
	struct timespec time = {};

	until = earliest(until, rf_watching_cells_due_ns(&loop->watching));
	if (!loop->child.pid && loop->child.start_at_ns > now)
		until = earliest(until, loop->child.start_at_ns);
	if (answer_at_ns)
		until = earliest(until, answer_at_ns);
	if (until > now)
		time = (struct timespec){(until - now) / RF_NS_PER_S, (until - now) % RF_NS_PER_S};
	ppoll(wait, ARRAY_SIZE(wait), &time, while_waiting);
}

/* Returns whether documents are left that the page process has not taken. */
static bool feed(struct loop *loop)
{
	if (child_died) {
		child_died = 0;
		rf_child_reap(&loop->child);
	}
	if (rf_child_start(&loop->child))
		put_documents(loop);
	return loop->child.pid && rf_feed_write(&loop->child.feed) == 1;
}

static uint64_t answer(struct loop *loop)
{
	if (loop->child.ask_fd < 0)
		return 0;
	return rf_answers_turn(&loop->answers, &loop->child.ask_fd, &loop->child.feed,
			       &loop->watching, &loop->settings);
}

static void turn(struct loop *loop, const sigset_t *while_waiting)
{
	uint64_t answer_at_ns;

	if (reload)
		take_settings_again(loop);
	if (rf_time_awake() >= loop->find_at_ns)
		find(loop);
	feed(loop); /* the page answers while a scan takes long, the first one above all */
	if (rf_time_awake() >= loop->scan_at_ns)
		scan(loop);
	else if (rf_time_awake() >= rf_watching_cells_due_ns(&loop->watching))
		read_cells(loop);
	rf_records_turn(&loop->watching.records);
	answer_at_ns = answer(loop);
	wait_on(loop, feed(loop), answer_at_ns, while_waiting);
}

int rf_loop_run(const struct rf_words *words, struct rf_error *error)
{
	struct loop loop = {.words = words, .child = RF_CHILD_NONE};
	struct rf_settings settings;
	sigset_t while_waiting;
	int err = rf_settings_make(&settings, words, error);

	take_signals(&while_waiting);
	if (!err)
		err = take_settings(&loop, &settings, error);
	while (!err && !ended)
		turn(&loop, &while_waiting);
	rf_token_withdraw(&loop.child.token);
	rf_child_end(&loop.child);
	rf_watching_end(&loop.watching);
	return err;
}
