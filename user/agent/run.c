// SPDX-License-Identifier: GPL-2.0
#include "agent/run.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "agent/bans.h"
#include "agent/calls.h"
#include "agent/desk.h"
#include "agent/engine.h"
#include "agent/inquiry.h"
#include "agent/news.h"
#include "agent/site.h"
#include "agent/status.h"
#include "base/loop.h"
#include "base/say.h"
#include "base/time.h"
#include "base/units.h"
#include "kernel/names.h"
#include "kernel/program.h"

#define CLAIMS 65536
#define LONGEST_WAIT_NS RF_NS_PER_S
#define ASKS_REST_NS (RF_NS_PER_MS / 2)
#define CAPS_MOST 64

/* ---- the wait for programs ---- */

/*
 * A separate thread that waits for programs: this takes up to some 10 ms, too long for heartbeats
 * and requests of sources.
 */
struct waiter {
	pthread_t thread;
	bool runs;
	int begin_fd; /* of an event; -1: none */
	struct rf_loop *loop;
	struct rf_loop_source done;
};

#define WAITER_NONE ((struct waiter){.begin_fd = -1, .done = {.fd = -1}})

/* Commands to the thread; it replies with 1, or 1 plus an errno. */
#define BEGIN 1
#define END 2

static bool send_event(int fd, uint64_t what)
{
	return write(fd, &what, sizeof(what)) == sizeof(what);
}

/* 0: no event. */
static uint64_t read_event(int fd)
{
	uint64_t what;

	return read(fd, &what, sizeof(what)) == sizeof(what) ? what : 0;
}

static void *run_waiter(void *context)
{
	const struct waiter *waiter = context;
	struct rf_error ignored;
	uint64_t what;

	while ((what = read_event(waiter->begin_fd)) < END)
		if (what)
			send_event(waiter->done.fd, 1 - rf_wait_for_programs(&ignored));
	return NULL;
}

/*
 * `waiter` is WAITER_NONE before, except done.ready and done.context, which is called after each
 * wait. Stop it even after an error.
 */
static int start_waiter(struct waiter *waiter, struct rf_loop *loop, struct rf_error *error)
{
	int err = 0;

	waiter->begin_fd = eventfd(0, EFD_CLOEXEC);
	waiter->done.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	waiter->loop = loop;
	if (waiter->begin_fd < 0 || waiter->done.fd < 0)
		err = -errno;
	if (!err)
		err = rf_loop_watch(loop, &waiter->done, EPOLLIN);
	if (!err)
		err = rf_thread_start(&waiter->thread, run_waiter, waiter);
	waiter->runs = !err;
	if (err)
		return rf_error_failed(error, err, "cannot start: %s", strerror(-err));
	return 0;
}

static void end_waiter(struct waiter *waiter)
{
	if (waiter->runs) {
		send_event(waiter->begin_fd, END);
		pthread_join(waiter->thread, NULL);
	}
	if (waiter->begin_fd >= 0)
		close(waiter->begin_fd);
	if (waiter->done.fd >= 0) {
		rf_loop_unwatch(waiter->loop, &waiter->done);
		close(waiter->done.fd);
	}
	*waiter = WAITER_NONE;
}

/* Starts a wait for all programs that run now. False: failed. */
static bool begin_wait(struct waiter *waiter)
{
	return waiter->runs && send_event(waiter->begin_fd, BEGIN);
}

/* 0 or -errno of the completed wait; -EAGAIN: still waiting. */
static int wait_result(struct waiter *waiter)
{
	const uint64_t what = read_event(waiter->done.fd);

	return what ? 1 - (int)what : -EAGAIN;
}

/* ---- the agent ---- */

struct agent {
	const struct rf_agent_settings *settings;
	struct rf_claims claims;
	struct rf_site site;
	struct rf_cluster cluster;
	struct rf_names names;
	struct rf_line beats, reports, ban_calls, questions;
	struct rf_calls calls;
	struct rf_fleet_bans bans;
	struct rf_news news;
	struct rf_roll roll;
	struct rf_desk desk;
	struct rf_status_view view;
	struct rf_publisher publisher;
	struct waiter waiter;
	struct rf_loop loop;
	uint64_t leaves_ns; /* deadline */
	struct rf_said said_cluster, said_key, said_wait;
};

/* ---- ports of the claims ---- */

static int visit_windows(void *context, struct rf_fleet_record *record, uint32_t count)
{
	struct agent *agent = context;

	return rf_site_windows(&agent->site, record, count);
}

static bool begin_to_settle(void *context)
{
	struct agent *agent = context;

	return begin_wait(&agent->waiter);
}

static bool send_report(void *context, struct rf_report_batch *batch)
{
	struct agent *agent = context;

	return rf_calls_report(&agent->calls, batch);
}

static bool send_sums(void *context, struct rf_sum_batch *batch)
{
	struct agent *agent = context;

	return rf_calls_sum(&agent->calls, batch);
}

/* ---- turns ---- */

static void say_trouble(struct agent *agent)
{
	char key_trouble[RF_KEY_TROUBLE_SIZE];

	rf_say_once(&agent->said_cluster, "", agent->cluster.trouble,
		    "the cluster of the fleet server replies again");
	rf_status_key_trouble(&agent->claims, key_trouble);
	rf_say_once(&agent->said_key, "this host is offline: ", key_trouble,
		    "the fleet has the bucket key of this host now");
}

static void settle(void *context, uint32_t events)
{
	struct agent *agent = context;
	const int err = wait_result(&agent->waiter);

	(void)events;
	if (err == -EAGAIN)
		return;
	rf_say_once(&agent->said_wait, "cannot wait for the data path: ", err ? strerror(-err) : "",
		    "waiting for the data path works again");
	rf_claims_settled(&agent->claims, !err, rf_time_awake());
}

static const struct rf_fence *fence_now(const struct agent *agent)
{
	return agent->site.is_open ? &agent->site.fence : NULL;
}

static uint32_t slot_now(const struct agent *agent)
{
	const struct rf_member *member = &agent->claims.member[0];

	return member->joined ? member->slot : RF_BANS_NO_SLOT;
}

/* ---- questions ---- */

static void look_whether_alone(struct agent *agent, uint64_t now)
{
	bool any = false;

	for (int i = 0; i < RF_BUCKETS; i++)
		any = any || rf_member_is_alone(&agent->claims.member[i], now);
	if (!any)
		agent->view.alone_ns = 0;
	else if (!agent->view.alone_ns)
		agent->view.alone_ns = now;
}

static char *answer(void *context, const char *question, uint64_t ticket, bool *later)
{
	struct agent *agent = context;
	char *text;

	text = rf_inquire(&agent->desk, ticket, question, &agent->view, later);
	return text || *later ? text : rf_status_answer(&agent->view, question);
}

static uint64_t due_ns(const struct agent *agent, uint64_t now)
{
	uint64_t until_ns = now + LONGEST_WAIT_NS;

	if (agent->site.has_asks)
		return now;
	until_ns = rf_earlier(until_ns, agent->leaves_ns);
	until_ns = rf_earlier(until_ns, rf_calls_due_ns(&agent->calls, now));
	until_ns = rf_earlier(until_ns, rf_line_due_ns(&agent->beats, now));
	until_ns = rf_earlier(until_ns, rf_line_due_ns(&agent->reports, now));
	until_ns = rf_earlier(until_ns, rf_line_due_ns(&agent->ban_calls, now));
	until_ns = rf_earlier(until_ns, rf_fleet_bans_due_ns(&agent->bans));
	until_ns = rf_earlier(until_ns, rf_line_due_ns(&agent->questions, now));
	until_ns = rf_earlier(until_ns, rf_news_due_ns(&agent->news, now));
	until_ns = rf_earlier(until_ns, rf_site_due_ns(&agent->site));
	return rf_earlier(until_ns, rf_claims_due_ns(&agent->claims));
}

/* Heartbeats first: their deadlines are applied before any other work. */
static void wait_for_events(struct agent *agent)
{
	rf_loop_wait(&agent->loop, due_ns(agent, rf_time_awake()));
	if (rf_loop_serve_urgent(&agent->loop))
		rf_site_tell(&agent->site);
	rf_loop_serve(&agent->loop);
}

/*
 * A flood of new sources sends more requests than are useful. So the agent pauses if it did not
 * read all requests: otherwise it would take a CPU from other threads, including the ones that
 * handle packets.
 */
static void take_asks(struct agent *agent)
{
	const struct timespec rest = {.tv_nsec = ASKS_REST_NS};

	if (!rf_site_take_asks(&agent->site))
		nanosleep(&rest, NULL);
}

static void tell_nodes(struct agent *agent)
{
	uint32_t node[RF_BUCKETS];

	for (uint32_t i = 0; i < RF_BUCKETS; i++)
		node[i] = agent->cluster.route[i].node;
	rf_claim_table_take_nodes(&agent->claims.table, node);
}

static void turn(struct agent *agent)
{
	const uint64_t now = rf_time_awake();

	rf_names_turn(&agent->names, now);
	rf_cluster_turn(&agent->cluster, now);
	rf_line_turn(&agent->beats, now);
	rf_line_turn(&agent->reports, now);
	rf_line_turn(&agent->ban_calls, now);
	rf_line_turn(&agent->questions, now);
	say_trouble(agent);
	rf_site_turn(&agent->site, now);
	rf_calls_turn(&agent->calls, agent->site.hosts ? agent->site.hosts : agent->settings->hosts,
		      now);
	rf_site_tell(&agent->site);
	take_asks(agent);
	tell_nodes(agent);
	rf_claims_turn(&agent->claims, rf_time_awake());
	rf_fleet_bans_turn(&agent->bans, fence_now(agent), slot_now(agent), now);
	look_whether_alone(agent, now);
	rf_inquiries_turn(now);
	rf_news_turn(&agent->news, agent->calls.hosts, now);
	rf_roll_turn(&agent->roll, now);
	rf_publisher_turn(&agent->publisher, &agent->view, now);
	wait_for_events(agent);
}

/* ---- rights ---- */

/*
 * The agent's files belong to the group of viewers, if it exists. systemd sets the group of the
 * service; started manually this needs CAP_SETGID, so it runs before confine().
 */
static void join_group(void)
{
	const struct group *group = getgrnam(RF_GROUP);

	/* Without the group only root can read the status. */
	if (group && getegid() != group->gr_gid && setgid(group->gr_gid))
		rf_warn("cannot take the group '%s': %s; only root sees how the agent is", RF_GROUP,
			strerror(errno));
}

static void drop_bounds(void)
{
	/* Capabilities unknown to this kernel, or not droppable, fail harmlessly. */
	for (int cap = 0; cap < CAPS_MOST; cap++)
		if (cap != CAP_BPF)
			prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
}

static int keep_bpf(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct sets[2] = {};

	sets[CAP_TO_INDEX(CAP_BPF)].effective = CAP_TO_MASK(CAP_BPF);
	sets[CAP_TO_INDEX(CAP_BPF)].permitted = CAP_TO_MASK(CAP_BPF);
	return syscall(SYS_capset, &header, sets) ? -errno : 0;
}

/*
 * Drops all capabilities except CAP_BPF permanently: with it the agent reads and writes the pins of
 * root's fences as their owner, and runs the fence's calls. Programs that it executes get no more.
 * Its core, which contains the password of the server, is not dumped.
 */
static int confine(struct rf_error *error)
{
	const struct rlimit none = {0, 0};
	int err;

	if (geteuid())
		return rf_error_failed(error, -EPERM,
				       "it takes root: another user cannot write shares");
	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_DUMPABLE, 0);
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	drop_bounds();
	err = keep_bpf();
	if (!err && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		err = -errno;
	if (err)
		return rf_error_failed(error, err, "cannot give up capabilities: %s",
				       strerror(-err));
	return 0;
}

/* ---- start and stop ---- */

static const int ends[] = {SIGTERM, SIGINT, 0};

static bool is_ended(struct agent *agent)
{
	const bool terminated = rf_loop_took(&agent->loop, SIGTERM);

	return rf_loop_took(&agent->loop, SIGINT) || terminated;
}

static int open_desk(struct agent *agent, struct rf_error *error)
{
	const struct rf_desk_port port = {agent, answer};

	agent->view = (struct rf_status_view){
		.settings = agent->settings,
		.claims = &agent->claims,
		.site = &agent->site,
		.cluster = &agent->cluster,
		.beats = &agent->beats,
		.reports = &agent->reports,
		.news = &agent->questions,
		.calls = &agent->calls,
		.bans = &agent->bans,
		.name = agent->news.name,
		.roll = &agent->roll,
		.started_ns = rf_time_awake(),
	};
	return rf_desk_open(&agent->desk, agent->settings->name, &agent->loop, &port, error);
}

static struct rf_line line_of(struct agent *agent, const char *purpose, uint32_t tags)
{
	return (struct rf_line){
		.engine = &agent->settings->engine,
		.cluster = &agent->cluster,
		.purpose = purpose,
		.tags = tags,
		.loop = &agent->loop,
		.patience_ns = agent->settings->grace_ns / 2,
	};
}

static int start(struct agent *agent, struct rf_error *error)
{
	const struct rf_agent_settings *settings = agent->settings;
	const uint64_t now = rf_time_awake();
	const uint64_t hash_key[2] = {rf_calls_draw(), rf_calls_draw()};

	if (rf_claims_make(&agent->claims, CLAIMS, hash_key, now))
		return rf_error_failed(error, -ENOMEM, "cannot start: %s", strerror(ENOMEM));
	agent->claims.ports = (struct rf_claims_ports){agent, visit_windows, begin_to_settle,
						       send_report, send_sums};
	agent->claims.asks_each_s = settings->asks_each_s;
	memcpy(agent->claims.key, settings->key.word, sizeof(agent->claims.key));
	agent->claims.fingerprint = settings->key.fingerprint;
	rf_site_start(&agent->site, settings->name, &agent->claims, &agent->loop);
	rf_cluster_start(&agent->cluster, &settings->engine);
	rf_names_start(&agent->names, &settings->engine, &agent->cluster, now);
	agent->beats = line_of(agent, "heartbeats", RF_TAGS_OF_BUCKETS);
	agent->beats.is_urgent = true;
	agent->reports = line_of(agent, "reports", RF_TAGS_OF_BUCKETS);
	agent->ban_calls = line_of(agent, "bans", 1U << RF_TAG_OF_ALL);
	agent->questions = line_of(agent, "questions", RF_TAGS_ALL);
	rf_fleet_bans_start(&agent->bans, settings, &agent->ban_calls, &agent->loop);
	rf_roll_start(&agent->roll, &agent->questions, settings->grace_ns);
	rf_calls_start(&agent->calls, settings, &agent->claims, &agent->beats, &agent->reports);
	rf_news_start(&agent->news, settings, &agent->claims, &agent->site, &agent->questions);
	return open_desk(agent, error);
}

/*
 * Releases all shares and waits until the used ones are older than W, so other hosts get them: for
 * at most G, and not once the host is offline. A second signal ends the wait.
 */
static void leave(struct agent *agent)
{
	const uint64_t until_ns = rf_time_awake() + agent->settings->grace_ns;
	uint64_t now;

	agent->leaves_ns = until_ns;
	rf_claims_leave(&agent->claims);
	while (!is_ended(agent) && agent->claims.table.count) {
		now = rf_time_awake();
		if (now >= until_ns || rf_claims_are_alone(&agent->claims, now))
			return;
		turn(agent);
	}
}

static void end(struct agent *agent)
{
	end_waiter(&agent->waiter);
	rf_publisher_end(&agent->publisher);
	rf_desk_close(&agent->desk);
	rf_line_end(&agent->beats);
	rf_line_end(&agent->reports);
	rf_fleet_bans_end(&agent->bans);
	rf_line_end(&agent->ban_calls);
	rf_line_end(&agent->questions);
	rf_site_end(&agent->site);
	rf_claims_free(&agent->claims);
	rf_loop_close(&agent->loop);
}

int rf_agent_run(const struct rf_agent_settings *settings, struct rf_error *error)
{
	struct agent *agent = calloc(1, sizeof(*agent));
	int err;

	if (!agent)
		return rf_error_failed(error, -ENOMEM, "cannot start: %s", strerror(ENOMEM));
	agent->settings = settings;
	agent->desk.listens.fd = -1;
	agent->bans.writer = -1;
	agent->waiter = WAITER_NONE;
	agent->waiter.done.ready = settle;
	agent->waiter.done.context = agent;
	agent->leaves_ns = UINT64_MAX;
	join_group();
	err = rf_loop_open(&agent->loop, ends);
	if (err)
		rf_error_failed(error, err, "cannot start: %s", strerror(-err));
	if (!err)
		err = start(agent, error);
	if (!err) /* the control socket is ours: no other agent serves the fence */
		rf_publisher_start(&agent->publisher, settings->name);
	if (!err)
		err = confine(error);
	if (!err) /* its thread must not have more rights than the main one */
		err = start_waiter(&agent->waiter, &agent->loop, error);
	while (!err && !is_ended(agent))
		turn(agent);
	if (!err)
		leave(agent);
	end(agent);
	free(agent);
	return err;
}
