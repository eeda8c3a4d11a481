// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/loop.h"
#include "base/say.h"
#include "base/time.h"
#include "daemon/answers.h"
#include "daemon/child.h"
#include "daemon/fences.h"
#include "daemon/live.h"
#include "daemon/run.h"
#include "daemon/settings.h"
#include "watch/pace.h"

#define FIND_NS (2 * RF_NS_PER_S) /* a new fence is found within that time */

struct daemon {
	const struct rf_words *words;
	struct rf_loop loop;
	struct rf_settings settings;
	struct rf_watching watching;
	struct rf_child child;
	struct rf_answers answers;
	struct rf_pace pace;
	struct rf_moment moment; /* of the last scan; wall is 0: there was none */
	uint64_t find_at_ns, scan_at_ns;
	uint64_t other_cost_ns; /* of searches and of reading cells, since the last scan */
};

/* ---- settings ---- */

/* A URL for browsers: a wildcard address is not usable. */
static void format_page(const struct daemon *daemon, char text[RF_PAGE_ADDRESS_SIZE])
{
	struct rf_listen listen = daemon->settings.listen;
	char place[RF_LISTEN_TEXT_SIZE];

	if (daemon->child.tcp_fd < 0) {
		snprintf(text, RF_PAGE_ADDRESS_SIZE, "socket %s", daemon->settings.socket);
		return;
	}
	if (rf_listen_is_wildcard(&listen))
		listen.address.word[listen.address.version == 6 ? 3 : 0] =
			htonl(listen.address.version == 6 ? 1 : INADDR_LOOPBACK);
	rf_format_listen(&listen, place);
	snprintf(text, RF_PAGE_ADDRESS_SIZE, "http://%s/", place);
}

/* The user of the terminal can see the page; a journal has other readers as well. */
static void say_page(const struct daemon *daemon)
{
	char page[RF_PAGE_ADDRESS_SIZE];

	format_page(daemon, page);
	rf_token_publish(&daemon->child.token, page);
	if (daemon->child.tcp_fd < 0)
		return;
	if (isatty(STDOUT_FILENO))
		rf_say("the page is at %s#token=%s", page, daemon->child.site.token);
	else if (*daemon->child.token.path)
		rf_say("'ringfence page' prints where the page is, with its token");
	else
		rf_say("the page cannot be opened: its token is in no file; 'token file PATH' "
		       "names one");
}

static void say_where(const struct daemon *daemon)
{
	char listen[RF_LISTEN_TEXT_SIZE];

	if (daemon->child.tcp_fd >= 0) {
		rf_format_listen(&daemon->settings.listen, listen);
		rf_say("serving http://%s/metrics", listen);
	}
	if (daemon->child.unix_fd >= 0)
		rf_say("serving on the socket %s", daemon->settings.socket);
	if (daemon->child.tcp_fd < 0 && daemon->child.unix_fd < 0)
		rf_say("serving nothing");
	else
		say_page(daemon);
}

static int take_settings(struct daemon *daemon, const struct rf_settings *settings,
			 struct rf_error *error)
{
	int err;

	rf_token_withdraw(&daemon->child.token);
	rf_child_end(&daemon->child); /* its sockets might be requested again */
	err = rf_child_prepare(&daemon->child, settings, error);
	if (err)
		return err;
	daemon->settings = *settings;
	rf_records_prepare(&daemon->watching.records, settings);
	daemon->pace = rf_pace_start(settings->interval_ns);
	say_where(daemon);
	return 0;
}

/* On failure, the previous settings remain active. */
static void take_settings_again(struct daemon *daemon)
{
	const struct rf_settings before = daemon->settings;
	struct rf_settings settings;
	struct rf_error error = {}, ignored;
	int err = rf_settings_make(&settings, daemon->words, &error);

	if (!err) {
		err = take_settings(daemon, &settings, &error);
		if (err)
			take_settings(daemon, &before, &ignored);
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

static void say_jump(struct daemon *daemon)
{
	const struct rf_moment now = moment_now();
	struct rf_jump jump = {};

	if (daemon->moment.wall)
		jump = rf_moment_compare(&daemon->moment, &now);
	daemon->moment = now;
	if (jump.slept_ns)
		rf_say("the machine slept for %llu s", jump.slept_ns / RF_NS_PER_S);
	if (jump.stepped_ns)
		rf_say("the clock was set %s by %llu s", jump.stepped_ns > 0 ? "forward" : "back",
		       (jump.stepped_ns > 0 ? jump.stepped_ns : -jump.stepped_ns) / RF_NS_PER_S);
}

static void say_pace(struct daemon *daemon)
{
	if (!rf_pace_has_news(&daemon->pace))
		return;
	if (daemon->pace.interval_ns > daemon->pace.asked_ns)
		rf_say("a scan each %.1f s, since one takes %.0f ms of CPU time: %d %% of a CPU",
		       (double)daemon->pace.interval_ns / RF_NS_PER_S,
		       (double)daemon->pace.cost_ns / RF_NS_PER_MS, RF_PACE_PERCENT);
	else
		rf_say("a scan each %.1f s again", (double)daemon->pace.interval_ns / RF_NS_PER_S);
}

static void put_documents(struct daemon *daemon)
{
	rf_documents_put(&daemon->child.feed, &daemon->watching.records, daemon->settings.sources,
			 daemon->pace.interval_ns);
	rf_live_put(&daemon->child.feed, &daemon->watching, &daemon->settings,
		    daemon->pace.interval_ns);
}

static void find_fences(struct daemon *daemon)
{
	const uint64_t before = cpu_time();

	rf_watching_find(&daemon->watching);
	daemon->other_cost_ns += cpu_time() - before;
	daemon->find_at_ns = rf_time_awake() + FIND_NS;
}

static void scan(struct daemon *daemon)
{
	const uint64_t began = rf_time_awake(), before = cpu_time();

	say_jump(daemon);
	if (rf_watching_scan(&daemon->watching))
		daemon->find_at_ns = 0;
	rf_watching_record(&daemon->watching, &daemon->settings);
	if (daemon->child.pid)
		put_documents(daemon);
	rf_pace_note(&daemon->pace, cpu_time() - before + daemon->other_cost_ns);
	daemon->other_cost_ns = 0;
	say_pace(daemon);
	daemon->scan_at_ns = began + daemon->pace.interval_ns;
}

static void read_cells(struct daemon *daemon)
{
	const uint64_t before = cpu_time();

	rf_watching_read_cells(&daemon->watching);
	daemon->other_cost_ns += cpu_time() - before;
}

/* Waits for the next work, or for a signal. `answer_at_ns` 0: when a request arrives. */
static void wait_on(struct daemon *daemon, bool feeding, uint64_t answer_at_ns)
{
	struct rf_child *child = &daemon->child;
	uint64_t until = rf_earlier(daemon->find_at_ns, daemon->scan_at_ns);

	until = rf_earlier(until, rf_watching_cells_due_ns(&daemon->watching));
	if (!child->pid && child->start_at_ns > rf_time_awake())
		until = rf_earlier(until, child->start_at_ns);
	if (answer_at_ns)
		until = rf_earlier(until, answer_at_ns);
	rf_child_watch(child, &daemon->loop, feeding, !answer_at_ns);
	rf_loop_wait(&daemon->loop, until);
	rf_loop_serve(&daemon->loop);
}

/* Returns whether documents are left that the page process has not taken. */
static bool feed(struct daemon *daemon)
{
	if (rf_loop_took(&daemon->loop, SIGCHLD))
		rf_child_reap(&daemon->child);
	if (rf_child_start(&daemon->child))
		put_documents(daemon);
	return daemon->child.pid && rf_feed_write(&daemon->child.feed) == 1;
}

static uint64_t answer(struct daemon *daemon)
{
	if (daemon->child.ask_fd < 0)
		return 0;
	return rf_answers_turn(&daemon->answers, &daemon->child, &daemon->watching,
			       &daemon->settings);
}

static void turn(struct daemon *daemon)
{
	uint64_t answer_at_ns;

	if (rf_loop_took(&daemon->loop, SIGHUP))
		take_settings_again(daemon);
	if (rf_time_awake() >= daemon->find_at_ns)
		find_fences(daemon);
	feed(daemon); /* the page replies while a scan takes long, especially the first one */
	if (rf_time_awake() >= daemon->scan_at_ns)
		scan(daemon);
	else if (rf_time_awake() >= rf_watching_cells_due_ns(&daemon->watching))
		read_cells(daemon);
	rf_records_turn(&daemon->watching.records);
	answer_at_ns = answer(daemon);
	wait_on(daemon, feed(daemon), answer_at_ns);
}

static bool is_ended(struct daemon *daemon)
{
	return rf_loop_took(&daemon->loop, SIGTERM) || rf_loop_took(&daemon->loop, SIGINT);
}

int rf_daemon_run(const struct rf_words *words, struct rf_error *error)
{
	static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGCHLD, 0};
	struct daemon daemon = {.words = words, .loop = RF_LOOP_NONE, .child = RF_CHILD_NONE};
	struct rf_settings settings;
	int err = rf_settings_make(&settings, words, error);

	if (!err) {
		err = rf_loop_open(&daemon.loop, signals);
		if (err)
			rf_error_failed(error, err, "cannot start: %s", strerror(-err));
	}
	if (!err)
		err = take_settings(&daemon, &settings, error);
	while (!err && !is_ended(&daemon))
		turn(&daemon);
	rf_token_withdraw(&daemon.child.token);
	rf_child_end(&daemon.child);
	rf_watching_end(&daemon.watching);
	rf_loop_close(&daemon.loop);
	return err;
}
