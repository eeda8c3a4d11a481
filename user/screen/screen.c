// SPDX-License-Identifier: GPL-2.0
/* The loop: take scans, paint, wait for a key, a signal or a scan. No key waits for a scan. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/time.h"
#include "base/units.h"
#include "screen/session.h"
#include "screen/terminal.h"

#define BYTES_PER_S 4096	      /* that are written without a key, at most */
#define READ_NS (3 * RF_NS_PER_S / 2) /* later than a scan each second */
#define FIRST_NS (200 * RF_NS_PER_MS) /* a longer first scan is awaited on the screen */

/* ---- signals ---- */

static volatile sig_atomic_t ends, stops, resizes, goes_on;

static void note_signal(int signal)
{
	switch (signal) {
	case SIGWINCH:
		resizes = 1;
		break;
	case SIGTSTP:
		stops = 1;
		break;
	case SIGCONT:
		goes_on = 1;
		break;
	default:
		ends = 1;
	}
}

static const int noted[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH};

/* Signals come while the loop waits, and at no other time. `waiting` is the mask for that. */
static void take_signals(sigset_t *waiting)
{
	const struct sigaction action = {.sa_handler = note_signal};
	sigset_t blocked;

	sigemptyset(&blocked);
	for (size_t i = 0; i < ARRAY_SIZE(noted); i++) {
		sigaction(noted[i], &action, NULL);
		sigaddset(&blocked, noted[i]);
	}
	signal(SIGPIPE, SIG_IGN);
	sigprocmask(SIG_BLOCK, &blocked, waiting);
	for (size_t i = 0; i < ARRAY_SIZE(noted); i++)
		sigdelset(waiting, noted[i]);
}

/* ---- how much is written ---- */

/* What may still be written without a key. */
struct budget {
	double bytes;
	uint64_t written; /* so far, by this process */
	uint64_t time_ns;
};

/* Bytes that this process has written; 0 where the kernel does not count. */
static uint64_t bytes_written(void)
{
	FILE *file = fopen("/proc/self/io", "re");
	unsigned long long bytes = 0;
	char line[64];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "wchar: %llu", &bytes) == 1)
			break;
	if (file)
		fclose(file);
	return bytes;
}

static bool may_write(struct budget *budget, uint64_t now_ns)
{
	const uint64_t written = bytes_written();

	budget->bytes += (now_ns - budget->time_ns) / 1e9 * BYTES_PER_S;
	budget->bytes -= written - budget->written;
	if (budget->bytes > BYTES_PER_S)
		budget->bytes = BYTES_PER_S;
	budget->written = written;
	budget->time_ns = now_ns;
	return budget->bytes > 0;
}

/* ---- the loop ---- */

struct loop {
	struct rf_session *session;
	struct rf_canvas canvas;
	struct budget budget;
	bool is_stale;		      /* what is on the screen is not what there is */
	uint64_t read_ns, painted_ns; /* when it was done last; by rf_time_awake() */
	sigset_t waiting;
};

static void paint(struct loop *loop)
{
	rf_session_paint(loop->session, &loop->canvas);
	rf_terminal_show(&loop->canvas);
	loop->is_stale = false;
	loop->painted_ns = rf_time_awake();
}

/* Takes scans, and begins them. Between two that are far apart, what can be read at once is. */
static int read_news(struct loop *loop, struct rf_error *error)
{
	struct rf_session *session = loop->session;
	const uint64_t now_ns = rf_time_awake();
	int err = 0;

	if (rf_samples_read(session))
		loop->is_stale = true;
	if (rf_session_take(session, &err, error) || now_ns - loop->read_ns >= READ_NS) {
		rf_session_read(session);
		loop->read_ns = now_ns;
		loop->is_stale = true;
	}
	return err ?: rf_session_scan(session, error);
}

/* Until when there is nothing to do without a key. */
static uint64_t next_ns(const struct loop *loop)
{
	const struct rf_session *session = loop->session;
	uint64_t next = loop->read_ns + READ_NS;

	if (!session->scanning.job && !session->view.is_paused && session->due_ns < next)
		next = session->due_ns;
	if (!loop->painted_ns && loop->read_ns + FIRST_NS < next)
		next = loop->read_ns + FIRST_NS;
	return next;
}

/* Waits for input, a scan, or the time to look again. False: the terminal is gone. */
static bool wait_for_input(struct loop *loop)
{
	const struct rf_session *session = loop->session;
	const uint64_t now_ns = rf_time_awake(), wanted_ns = next_ns(loop);
	const uint64_t left_ns = wanted_ns > now_ns ? wanted_ns - now_ns : 0;
	const struct timespec left = {left_ns / RF_NS_PER_S, left_ns % RF_NS_PER_S};
	const struct rf_job *scan = session->scanning.job, *samples = session->estimating.job;
	const bool takes = !session->view.is_paused;
	struct pollfd files[] = {
		{.fd = STDIN_FILENO, .events = POLLIN},
		{.fd = session->child.output, .events = POLLIN},
		{.fd = takes && scan ? rf_job_file(scan) : -1, .events = POLLIN},
		{.fd = takes && samples ? rf_job_file(samples) : -1, .events = POLLIN},
	};

	if (ppoll(files, ARRAY_SIZE(files), &left, &loop->waiting) < 0)
		return errno == EINTR;
	if (!loop->painted_ns && rf_time_awake() >= loop->read_ns + FIRST_NS)
		loop->is_stale = true;
	return !(files[0].revents & (POLLHUP | POLLERR | POLLNVAL));
}

static int obey_signals(struct loop *loop)
{
	int err = 0;

	if (stops) {
		stops = 0;
		rf_terminal_suspend();
		resizes = 1;
	}
	if (goes_on || resizes) {
		goes_on = resizes = 0;
		err = rf_terminal_resize(&loop->canvas);
		paint(loop);
	}
	return err;
}

static void obey_keys(struct loop *loop)
{
	bool was_pressed = false;
	int key;

	while ((key = rf_terminal_key()) != RF_PRESS_NONE && !loop->session->quits) {
		rf_session_press(loop->session, key);
		was_pressed = true;
	}
	if (loop->session->child.pid) {
		rf_change_read(loop->session);
		was_pressed |= !loop->session->child.pid;
	}
	if (was_pressed)
		paint(loop);
}

static int run(struct loop *loop, struct rf_error *error)
{
	struct rf_session *session = loop->session;
	int err = 0;

	loop->read_ns = rf_time_awake();
	may_write(&loop->budget, loop->read_ns);
	while (!err && !ends && !session->quits) {
		err = read_news(loop, error);
		if (!err && loop->is_stale && may_write(&loop->budget, rf_time_awake()))
			paint(loop);
		if (!err && !wait_for_input(loop))
			break;
		if (!err && obey_signals(loop))
			err = rf_error_failed(error, -ENOMEM, "%s", strerror(ENOMEM));
		if (!err)
			obey_keys(loop);
	}
	return err;
}

int rf_screen_run(const struct rf_screen *asked, struct rf_error *error)
{
	struct rf_session *session = calloc(1, sizeof(*session));
	struct loop loop = {.session = session};
	int err;

	if (!session)
		return rf_error_failed(error, -ENOMEM, "%s", strerror(ENOMEM));
	err = rf_session_open(session, asked, error);
	if (!err) {
		take_signals(&loop.waiting);
		err = rf_terminal_open(&loop.canvas, error);
	}
	if (!err)
		err = run(&loop, error);
	rf_terminal_close();
	rf_canvas_free(&loop.canvas);
	rf_session_close(session);
	free(session);
	return err;
}
