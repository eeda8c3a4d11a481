// SPDX-License-Identifier: GPL-2.0
/* `top` on a terminal: reads keys, scans, paints, until it is left. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "base/time.h"
#include "base/units.h"
#include "screen/model.h"
#include "screen/session.h"
#include "screen/terminal.h"

/* ---- export ---- */

#define LINE_SIZE 512

/* NULL: the source has no window. */
static const char *limit_of(const struct rf_row *row)
{
	return row->key.is_estimate ? NULL : row->limit;
}

/* Of a source without a window. */
static const char *reason_of(const struct rf_row *row)
{
	return row->key.is_estimate ? row->limit : NULL;
}

static json_t *row_json(const struct rf_row *row, const char *source)
{
	return json_pack("{s:s, s:s?, s:s?, s:f, s:f, s:f, s:f, s:b}", "source", source, "limit",
			 limit_of(row), "reason", reason_of(row), "used_ratio", row->share,
			 "passed_per_s", row->pass, "dropped_per_s", row->drop, "would_drop_per_s",
			 row->would_drop, "banned", row->banned_ns > 0);
}

static int write_json(const struct rf_model *model, const char *fence, FILE *file)
{
	char time[RF_TIME_TEXT_SIZE], source[RF_PREFIX_TEXT_SIZE];
	json_t *list = json_array(), *root;
	int err;

	rf_format_utc(model->head.time_ns, time);
	for (int i = 0; i < model->shown; i++) {
		const struct rf_row *row = rf_model_shown(model, i);

		rf_format_prefix(&row->key.source, source);
		json_array_append_new(list, row_json(row, source));
	}
	root = json_pack("{s:i, s:o, s:s, s:o}", "schema", RF_JSON_SCHEMA, "fence",
			 rf_json_text(fence), "time", time, "sources", list);
	err = !root || json_dumpf(root, file, JSON_ENSURE_ASCII | RF_JSON_REALS | JSON_INDENT(2));
	json_decref(root);
	return err;
}

static int write_csv(const struct rf_model *model, FILE *file)
{
	char time[RF_TIME_TEXT_SIZE], source[RF_PREFIX_TEXT_SIZE], line[LINE_SIZE];
	int err = fputs("time,source,limit,used_ratio,passed_per_s,dropped_per_s,would_drop_per_s,"
			"banned,reason\n",
			file) < 0;

	rf_format_utc(model->head.time_ns, time);
	for (int i = 0; i < model->shown && !err; i++) {
		const struct rf_row *row = rf_model_shown(model, i);

		rf_format_prefix(&row->key.source, source);
		snprintf(line, sizeof(line), "%s,%s,%s,%.4f,%.1f,%.1f,%.1f,%d,%s\n", time, source,
			 limit_of(row) ?: "", row->share, row->pass, row->drop, row->would_drop,
			 row->banned_ns > 0, reason_of(row) ?: "");
		err = fputs(line, file) < 0;
	}
	return err;
}

static bool is_json(const char *path)
{
	const size_t length = strlen(path);

	return length > 5 && !strcmp(path + length - 5, ".json");
}

/*
 * Writes the displayed rows into a new file: JSON if the name ends in .json, else CSV. Only the
 * user can read the file, because it has addresses. Returns the number of rows, or an error after
 * which there is no file.
 */
static int export_rows(const struct rf_model *model, const char *fence, const char *path,
		       struct rf_error *error)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
	int err = file ? 0 : errno;

	if (!file) {
		if (fd >= 0)
			close(fd);
		return rf_error_failed(error, -err, "'%s': %s", path,
				       err == EEXIST ? "there is such a file already; give "
						       "another name"
						     : strerror(err));
	}
	if (is_json(path) ? write_json(model, fence, file) : write_csv(model, file))
		err = errno ? errno : EIO;
	if (fclose(file) && !err)
		err = errno;
	if (!err)
		return model->shown;
	unlink(path);
	return rf_error_failed(error, -err, "'%s': %s", path, strerror(err));
}

/* ---- keys ---- */

/* Which key does what, on which page, and what each page looks like. */

/* ---- questions ---- */

static void answer(struct rf_session *session, int key)
{
	if (key == RF_PRESS_ESCAPE || key == 'q')
		rf_change_cancel(session);
	else if (key == '+' || key == '-')
		rf_change_times(session, key == '+');
	else if (key == (session->is_grave ? 'y' : RF_PRESS_ENTER))
		rf_change_run(session);
}

/* ---- typing ---- */

static void begin_typing(struct rf_session *session, enum rf_typing typing, const char *text)
{
	session->typing = typing;
	snprintf(session->typed, sizeof(session->typed), "%s", text);
}

static void write_export(struct rf_session *session)
{
	struct rf_error error;
	const int rows = export_rows(session->model, session->own.name, session->typed, &error);

	if (rows < 0)
		rf_session_say(session, true, "%s", error.text);
	else
		rf_session_say(session, false, "exported %d rows to '%s'", rows, session->typed);
}

/* ringfence-top-20261122-140211.csv, with the displayed rows. */
static void begin_export(struct rf_session *session)
{
	const time_t seconds = session->model->head.time_ns / RF_NS_PER_S;
	char name[64] = "";
	struct tm tm = {};

	localtime_r(&seconds, &tm);
	strftime(name, sizeof(name), "ringfence-top-%Y%m%d-%H%M%S.csv", &tm);
	begin_typing(session, RF_TYPING_EXPORT, name);
}

static void end_typing(struct rf_session *session)
{
	if (session->typing == RF_TYPING_FILTER) {
		rf_model_filter(&session->live, session->typed);
		rf_model_filter(&session->past, session->typed);
		session->due_ns = 0; /* it may match others than the rows of the last scan */
	} else if (*session->typed) {
		write_export(session);
	}
	session->typing = RF_TYPING_NOTHING;
}

static void type(struct rf_session *session, int key)
{
	const size_t length = strlen(session->typed);
	const size_t most =
		session->typing == RF_TYPING_FILTER ? RF_FILTER_SIZE - 1 : RF_TYPED_SIZE - 1;

	if (key == RF_PRESS_ESCAPE) {
		session->typing = RF_TYPING_NOTHING;
	} else if (key == RF_PRESS_ENTER) {
		end_typing(session);
	} else if (key == RF_PRESS_ERASE && length) {
		session->typed[length - 1] = '\0';
	} else if (key > ' ' && key < 0x7f && length < most) {
		session->typed[length] = key;
		session->typed[length + 1] = '\0';
	}
}

/* ---- the list ---- */

static void sort(struct rf_session *session)
{
	static const char *const names[] = {
		[RF_BY_DROPS] = "drops", [RF_BY_RATE] = "rate", [RF_BY_USED] = "use"};
	const enum rf_order by = (session->view.model->by + 1) % ARRAY_SIZE(names);

	rf_model_sort(&session->live, by);
	rf_model_sort(&session->past, by);
	session->due_ns = 0;
	rf_session_say(session, false, "sorted by %s", names[by]);
}

static void pause_or_go_on(struct rf_session *session)
{
	session->view.is_paused = !session->view.is_paused;
	session->due_ns = 0;
}

/* True: it was a key that moves the cursor. */
static bool move(struct rf_session *session, int key)
{
	struct rf_model *model = session->model;
	int rows = 0;

	switch (key) {
	case RF_PRESS_UP:
	case 'k':
		rows = -1;
		break;
	case RF_PRESS_DOWN:
	case 'j':
		rows = 1;
		break;
	case RF_PRESS_PAGE_UP:
		rows = -10;
		break;
	case RF_PRESS_PAGE_DOWN:
	case ' ':
		rows = 10;
		break;
	case RF_PRESS_END:
	case 'G':
		rows = model->shown;
		break;
	case RF_PRESS_HOME:
	case 'g':
		rf_model_home(model);
		return true;
	default:
		return false;
	}
	rf_model_move(model, rows, session->view.is_past ? session->past_ns : rf_time_awake());
	return true;
}

/* Keys that change something. */
static bool change(struct rf_session *session, int key)
{
	switch (key) {
	case 'd':
		rf_change_list(session, RF_DENY);
		return true;
	case 'a':
		rf_change_list(session, RF_ALLOW);
		return true;
	case 'r':
		rf_change_raise(session);
		return true;
	case 'c':
		rf_change_confirm(session);
		return true;
	case 'u':
		rf_change_undo(session);
		return true;
	case 'w':
		rf_change_try(session);
		return true;
	default:
		return false;
	}
}

/* Keys that go through the history. */
static bool travel(struct rf_session *session, int key)
{
	static const struct {
		int key;
		int64_t seconds;
	} steps[] = {{RF_PRESS_LEFT, -10}, {RF_PRESS_RIGHT, 10}, {'<', -600}, {'>', 600}};

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		if (steps[i].key != key)
			continue;
		rf_travel_step(session, steps[i].seconds * (int64_t)RF_NS_PER_S);
		return true;
	}
	if (key == RF_PRESS_ESCAPE)
		rf_travel_leave(session);
	return key == RF_PRESS_ESCAPE;
}

static void press_on_list(struct rf_session *session, int key)
{
	if (move(session, key) || change(session, key) || travel(session, key))
		return;
	switch (key) {
	case RF_PRESS_ENTER:
		rf_source_open(session);
		break;
	case 's':
		sort(session);
		break;
	case '/':
		begin_typing(session, RF_TYPING_FILTER, session->live.filter);
		break;
	case 'e':
		begin_export(session);
		break;
	case '~':
		rf_samples_switch(session);
		break;
	case 'p':
		pause_or_go_on(session);
		break;
	case '\t':
		rf_session_next_fence(session);
		break;
	case 'q':
		session->quits = true;
		break;
	default:
		break;
	}
}

static void scroll(struct rf_session *session, int key)
{
	session->skipped += key == RF_PRESS_DOWN	? 1
			    : key == RF_PRESS_UP	? -1
			    : key == RF_PRESS_PAGE_DOWN ? 10
			    : key == RF_PRESS_PAGE_UP	? -10
							: 0;
	if (session->skipped < 0)
		session->skipped = 0;
}

static void press_on_page(struct rf_session *session, int key)
{
	if (key == 'q')
		session->quits = true;
	else if (key == RF_PRESS_ESCAPE || key == RF_PRESS_ENTER || key == RF_PRESS_LEFT)
		rf_source_close(session);
	else if (session->page == RF_PAGE_SOURCE)
		change(session, key);
	else
		scroll(session, key);
}

static void press_key(struct rf_session *session, int key)
{
	if (session->is_asking) {
		answer(session, key);
		return;
	}
	if (session->typing) {
		type(session, key);
		return;
	}
	*session->message = '\0';
	if (key == '?') {
		session->page = RF_PAGE_HELP;
		session->skipped = 0;
	} else if (session->page == RF_PAGE_LIST)
		press_on_list(session, key);
	else
		press_on_page(session, key);
}

/* ---- appearance ---- */

static void paint_question(struct rf_session *session, struct rf_canvas *canvas)
{
	const struct rf_dialog dialog = {
		.title = session->act.title,
		.command = session->act.command,
		.warning = session->act.warning,
		.keys = session->is_grave ? "y runs it, Esc cancels"
			: *session->act.limit && !session->is_undo
				? "Enter runs it, + and - change COUNT, Esc cancels"
				: "Enter runs it, Esc cancels",
	};

	rf_paint_dialog(canvas, &dialog);
}

static void write_prompt(struct rf_session *session)
{
	/* sparse: without typing there is no prompt. */
	static const char *const what[] = {
		[RF_TYPING_FILTER] = "filter: ", [RF_TYPING_EXPORT] = "export to: "};

	session->view.prompt = session->typing ? session->prompt : NULL;
	if (session->typing)
		snprintf(session->prompt, sizeof(session->prompt), "%s%s", what[session->typing],
			 session->typed);
}

static void paint_session(struct rf_session *session, struct rf_canvas *canvas)
{
	char source[RF_PREFIX_TEXT_SIZE];

	write_prompt(session);
	switch (session->page) {
	case RF_PAGE_LIST:
		rf_paint_list(canvas, &session->view);
		break;
	case RF_PAGE_SOURCE:
		rf_format_prefix(&session->source, source);
		rf_paint_source(canvas, &session->view, source,
				session->is_estimate ? session->note : NULL, session->shown,
				session->events);
		break;
	case RF_PAGE_HELP:
		rf_paint_help(canvas, session->skipped);
		break;
	case RF_PAGE_OUTPUT:
		rf_paint_text(canvas, session->output_title, session->output, session->skipped);
		break;
	}
	if (session->is_asking)
		paint_question(session, canvas);
}

/* ---- the loop ---- */

/* The loop: take scans, paint, wait for a key, a signal or a scan. No key waits for a scan. */

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

/* The output that is possible without a key. */
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
	bool is_stale;		      /* the screen is outdated */
	uint64_t read_ns, painted_ns; /* when it was done last; by rf_time_awake() */
	sigset_t waiting;
};

static void paint(struct loop *loop)
{
	paint_session(loop->session, &loop->canvas);
	rf_terminal_show(&loop->canvas);
	loop->is_stale = false;
	loop->painted_ns = rf_time_awake();
}

/*
 * Takes scans, and starts them. Between two that are far apart, immediately readable data is read.
 */
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

/* Waits for input, a scan, or the time of the next refresh. False: the terminal was closed. */
static bool wait_for_input(struct loop *loop)
{
	const struct rf_session *session = loop->session;
	const uint64_t now_ns = rf_time_awake(), wanted_ns = next_ns(loop);
	const uint64_t left_ns = wanted_ns > now_ns ? wanted_ns - now_ns : 0;
	const struct timespec left = {left_ns / RF_NS_PER_S, left_ns % RF_NS_PER_S};
	const bool takes = !session->view.is_paused;
	struct pollfd files[] = {
		{.fd = STDIN_FILENO, .events = POLLIN},
		{.fd = session->child.output, .events = POLLIN},
		{.fd = takes ? rf_job_file(session->scanning.job) : -1, .events = POLLIN},
		{.fd = takes ? rf_job_file(session->estimating.job) : -1, .events = POLLIN},
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
		press_key(loop->session, key);
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
