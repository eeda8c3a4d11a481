// SPDX-License-Identifier: GPL-2.0
/* Output of events: to a file, to the journal, to a program, and as records of a fence. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"
#include "base/own_file.h"
#include "base/say.h"
#include "base/text.h"
#include "base/time.h"
#include "base/units.h"
#include "daemon/outlets.h"
#include "daemon/sinks.h"

/* ---- a file ---- */

#define MODE 0640

static int fail(const struct rf_sink_file *file, const char *what, int err, struct rf_error *error)
{
	return rf_error_failed(error, err, "events file %.200s: %s: %s", file->path, what,
			       strerror(-err));
}

/* An incomplete line, from a crash of the machine, is terminated. */
static void finish_line(int fd, off_t size)
{
	char last;

	if (size && pread(fd, &last, 1, size - 1) == 1 && last != '\n')
		(void)!write(fd, "\n", 1);
}

/* A mark only for readers: if another process writes the file, both continue. */
static void mark_as_written(int fd)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	(void)fcntl(fd, F_OFD_SETLK, &lock);
}

/* Only a regular file: a pipe could block the daemon, a link could lead to a different file. */
static int open_file(struct rf_sink_file *file, struct rf_error *error)
{
	struct stat status;
	const char *why;
	const int fd = rf_own_file_open(file->path, O_RDWR | O_APPEND | O_NOCTTY, MODE, &why);

	if (fd < 0)
		return rf_error_failed(error, fd, "events file %.200s: cannot open it: %s",
				       file->path, why);
	file->fd = fd;
	if (fstat(file->fd, &status))
		return fail(file, "cannot be read", -errno, error);
	finish_line(file->fd, status.st_size);
	mark_as_written(file->fd);
	return 0;
}

void rf_sink_file_open(struct rf_sink_file *file)
{
	struct rf_error unused;

	if (*file->path && file->fd < 0)
		open_file(file, &unused);
}

void rf_sink_file_close(struct rf_sink_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

/* It might have been removed or renamed. */
static bool is_other(const struct rf_sink_file *file, const struct stat *mine)
{
	struct stat named;

	return lstat(file->path, &named) || named.st_ino != mine->st_ino ||
	       named.st_dev != mine->st_dev;
}

static int rotate(struct rf_sink_file *file, struct rf_error *error)
{
	char from[RF_EVENT_PATH_SIZE + 12], to[RF_EVENT_PATH_SIZE + 12];

	rf_sink_file_close(file);
	for (int i = RF_EVENT_FILES - 1; i > 0; i--) {
		snprintf(from, sizeof(from), i > 1 ? "%s.%d" : "%s", file->path, i - 1);
		snprintf(to, sizeof(to), "%s.%d", file->path, i);
		if (rename(from, to) && errno != ENOENT)
			return fail(file, "cannot be renamed", -errno, error);
	}
	return open_file(file, error);
}

/* The open file, with room for `length` bytes; its size. */
static int prepare(struct rf_sink_file *file, size_t length, off_t *size, struct rf_error *error)
{
	struct stat status;
	int err = 0;

	if (file->fd >= 0 && (fstat(file->fd, &status) || is_other(file, &status)))
		rf_sink_file_close(file);
	if (file->fd < 0)
		err = open_file(file, error);
	if (!err && fstat(file->fd, &status))
		err = fail(file, "cannot be read", -errno, error);
	if (err)
		return err;
	*size = status.st_size;
	if (!status.st_size || status.st_size + length <= file->most)
		return 0;
	*size = 0;
	return rotate(file, error);
}

int rf_sink_file_write(struct rf_sink_file *file, const char *line, struct rf_error *error)
{
	const size_t length = strlen(line);
	ssize_t written;
	off_t size;
	int err;

	if (!*file->path)
		return 0;
	err = prepare(file, length, &size, error);
	if (err)
		return err;
	written = write(file->fd, line, length);
	if (written == (ssize_t)length)
		return 0;
	err = written < 0 ? -errno : -ENOSPC;
	if (written > 0 && ftruncate(file->fd, size))
		err = -EIO;
	return fail(file, "cannot be written", err, error);
}

/* ---- the journal ---- */

/* Events for the journal, in its native protocol: one datagram, a field a line. */

struct message {
	char text[4096];
	size_t length;
};

/* A value has no newlines, so a line is a field. */
__attribute__((format(printf, 3, 4))) static void add(struct message *message, const char *name,
						      const char *format, ...)
{
	char value[1024];
	va_list args;
	int written;

	va_start(args, format);
	vsnprintf(value, sizeof(value), format, args);
	va_end(args);
	if (!*value)
		return;
	rf_hide_controls(value, false);
	written = snprintf(message->text + message->length, sizeof(message->text) - message->length,
			   "%s=%s\n", name, value);
	if (message->length + written < sizeof(message->text))
		message->length += written;
}

static void add_sentence(struct message *message, const struct rf_event *event, const char *source)
{
	char limit[RF_NAME_SIZE + RF_RATE_TEXT_SIZE + 16] = "", packets[64] = "";

	if (*event->limit)
		snprintf(limit, sizeof(limit), ", limit %s %s", event->limit, event->rate);
	if (event->dropped)
		snprintf(packets, sizeof(packets), ", %" PRIu64 " packets dropped", event->dropped);
	add(message, "MESSAGE", "fence '%s': %s%s%s%s%s%s%s", event->fence,
	    rf_event_type_name(event->type), *source ? " " : "", source, limit, packets,
	    *event->detail ? ": " : "", event->detail);
}

static void write_fields(struct message *message, const struct rf_event *event)
{
	char source[RF_PREFIX_TEXT_SIZE] = "", time[RF_TIME_TEXT_SIZE];

	if (event->has_source)
		rf_format_prefix(&event->source, source);
	add_sentence(message, event, source);
	add(message, "MESSAGE_ID", "%s", rf_event_rows[event->type].message_id);
	add(message, "PRIORITY", "%d", rf_event_rows[event->type].priority);
	add(message, "SYSLOG_IDENTIFIER", "ringfence-watch");
	add(message, "RINGFENCE_EVENT", "%s", rf_event_type_name(event->type));
	add(message, "RINGFENCE_SEQ", "%" PRIu64, event->seq);
	add(message, "RINGFENCE_ID", "%s", event->id);
	add(message, "RINGFENCE_FENCE", "%s", event->fence);
	add(message, "RINGFENCE_LIMIT", "%s", event->limit);
	add(message, "RINGFENCE_SOURCE", "%s", source);
	add(message, "RINGFENCE_REASON", "%s", event->reason);
	add(message, "RINGFENCE_RATE", "%s", event->rate);
	if (event->first_seen_ns) {
		rf_format_utc(event->first_seen_ns, time);
		add(message, "RINGFENCE_DROPPED", "%" PRIu64, event->dropped);
		add(message, "RINGFENCE_PASSED", "%" PRIu64, event->passed);
		add(message, "RINGFENCE_FIRST_SEEN", "%s", time);
	}
	add(message, "RINGFENCE_DETAIL", "%s", event->detail);
}

int rf_sink_journal_write(const char *socket_path, const struct rf_event *event,
			  struct rf_error *error)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct message message = {.length = 0};
	int err = 0, fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return rf_error_failed(error, -errno, "journal: %s", strerror(errno));
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", socket_path);
	write_fields(&message, event);
	if (sendto(fd, message.text, message.length, MSG_NOSIGNAL, (struct sockaddr *)&address,
		   sizeof(address)) < 0)
		err = rf_error_failed(error, -errno, "journal: an event was not taken: %s",
				      strerror(errno));
	close(fd);
	return err;
}

/* ---- a program ---- */

/* Runs a program for each event: directly, or through the socket of a unit. */

#define AFTER_STANDARD 3 /* the first descriptor behind standard error */

void rf_sink_exec_put(struct rf_sink_exec *exec, const char *line)
{
	char *copy;

	if (!*exec->program)
		return;
	copy = exec->count < RF_EXEC_QUEUE ? strdup(line) : NULL;
	if (copy)
		exec->waiting[exec->count++] = copy;
	else
		exec->dropped++;
}

static void drop_first(struct rf_sink_exec *exec)
{
	free(exec->waiting[0]);
	memmove(&exec->waiting[0], &exec->waiting[1], --exec->count * sizeof(exec->waiting[0]));
}

/* ---- directly ---- */

/* In the child. Nothing of the daemon is left to the program but the event. */
__attribute__((noreturn)) static void become(const char *program, int input)
{
	const char *const words[] = {program, NULL};
	sigset_t none;

	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	dup2(input, STDIN_FILENO);
	close_range(AFTER_STANDARD, ~0U, 0);
	execv(program, (char *const *)words);
	_exit(127);
}

/* The line fits into the pipe, so writing never waits for the program. */
static int run(struct rf_sink_exec *exec, const char *line, struct rf_error *error)
{
	const size_t length = strlen(line);
	int ends[2], err = 0;

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		return rf_error_failed(error, -errno, "exec: %s", strerror(errno));
	if (write(ends[1], line, length) != (ssize_t)length)
		err = -EIO;
	close(ends[1]);
	fcntl(ends[0], F_SETFL, 0); /* the program waits as it is used to */
	exec->pid = err ? 0 : fork();
	if (!exec->pid && !err)
		become(exec->program, ends[0]);
	if (exec->pid < 0)
		err = -errno;
	if (err)
		exec->pid = 0;
	close(ends[0]);
	return err ? rf_error_failed(error, err, "exec: %s cannot be run: %s", exec->program,
				     strerror(-err))
		   : 0;
}

static int reap(struct rf_sink_exec *exec, bool is_late, struct rf_error *error)
{
	const pid_t pid = exec->pid;
	int status;

	if (is_late) {
		kill(-pid, SIGKILL);
		kill(pid, SIGKILL);
	}
	if (waitpid(pid, &status, is_late ? 0 : WNOHANG) != pid)
		return 0;
	exec->pid = 0;
	if (is_late)
		return rf_error_failed(error, -ETIMEDOUT,
				       "exec: %s took more than %d s, and was ended", exec->program,
				       RF_EXEC_SECONDS);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return rf_error_failed(error, -ECHILD, "exec: %s ended with %s %d", exec->program,
				       WIFEXITED(status) ? "status" : "signal",
				       WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	return 0;
}

/* ---- through the socket ---- */

static int hand_over(struct rf_sink_exec *exec, const char *line, struct rf_error *error)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const size_t length = strlen(line);
	int err = 0, fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", exec->socket);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)))
		err = -errno;
	else if (send(fd, line, length, MSG_NOSIGNAL) != (ssize_t)length)
		err = -EIO;
	if (!err) {
		shutdown(fd, SHUT_WR);
		exec->fd = fd;
		return 0;
	}
	if (fd >= 0)
		close(fd);
	return rf_error_failed(error, err,
			       "exec: %s: %s; 'systemctl enable --now ringfence-notify.socket' "
			       "listens there",
			       exec->socket, strerror(-err));
}

/* The unit's process holds the other side as long as it runs. */
static int look_at_socket(struct rf_sink_exec *exec, bool is_late, struct rf_error *error)
{
	char ignored[512];
	ssize_t got;
	int err;

	do
		got = recv(exec->fd, ignored, sizeof(ignored), 0);
	while (got > 0);
	err = got < 0 ? -errno : 0;
	if (err == -EAGAIN && !is_late)
		return 0;
	close(exec->fd);
	exec->fd = -1;
	if (!got)
		return 0;
	if (err == -EAGAIN)
		return rf_error_failed(error, -ETIMEDOUT,
				       "exec: a run behind %s took more than %d s", exec->socket,
				       RF_EXEC_SECONDS);
	return rf_error_failed(error, err,
			       "exec: no program behind %s read the event: %s; 'journalctl -u "
			       "ringfence-notify@*' says more",
			       exec->socket, strerror(-err));
}

/* ---- both ---- */

static int look(struct rf_sink_exec *exec, struct rf_error *error)
{
	const bool is_late = rf_time_awake() - exec->started_ns >= RF_EXEC_SECONDS * RF_NS_PER_S;

	if (exec->pid)
		return reap(exec, is_late, error);
	return exec->fd >= 0 ? look_at_socket(exec, is_late, error) : 0;
}

int rf_sink_exec_turn(struct rf_sink_exec *exec, struct rf_error *error)
{
	int err = look(exec, error);

	if (err || exec->pid || exec->fd >= 0 || !exec->count)
		return err;
	exec->started_ns = rf_time_awake();
	err = strcmp(exec->program, RF_EXEC_UNIT) != 0 ? run(exec, exec->waiting[0], error)
						       : hand_over(exec, exec->waiting[0], error);
	drop_first(exec);
	return err;
}

void rf_sink_exec_close(struct rf_sink_exec *exec)
{
	struct rf_error ignored;

	while (exec->count)
		drop_first(exec);
	if (exec->pid)
		reap(exec, true, &ignored);
	if (exec->fd >= 0)
		close(exec->fd);
	exec->fd = -1;
}

/* ---- all sinks ---- */

void rf_outlets_open(struct rf_outlets *outlets, const struct rf_settings *settings)
{
	if (!outlets->exec.program) {
		outlets->file = RF_SINK_FILE_NONE;
		outlets->exec = RF_SINK_EXEC_NONE;
	}
	rf_sink_file_close(&outlets->file);
	snprintf(outlets->file.path, sizeof(outlets->file.path), "%s", settings->events_file);
	rf_sink_file_open(&outlets->file);
	snprintf(outlets->program, sizeof(outlets->program), "%s", settings->exec);
	outlets->exec.program = outlets->program;
	outlets->has_journal = settings->journal;
}

static void give_file(struct rf_outlets *outlets, const char *line)
{
	struct rf_error error = {};

	if (rf_sink_file_write(&outlets->file, line, &error))
		rf_say_once(&outlets->said_file, "", error.text, NULL);
	else
		outlets->said_file = (struct rf_said){};
}

/* Without a journal nothing is missed. */
static void give_journal(struct rf_outlets *outlets, const struct rf_event *event)
{
	struct rf_error error = {};
	const int err = rf_sink_journal_write(RF_JOURNAL_SOCKET, event, &error);

	if (!err)
		outlets->said_journal = (struct rf_said){};
	else if (err != -ENOENT && err != -ECONNREFUSED)
		rf_say_once(&outlets->said_journal, "", error.text, NULL);
}

/* `event` is in its reportable form. */
static void give_event(struct rf_outlets *outlets, const struct rf_event *event)
{
	json_t *json = rf_event_json(event);
	char *text = rf_json_line(json);
	char *line = NULL;

	json_decref(json);
	if (outlets->has_journal)
		give_journal(outlets, event);
	if (text && asprintf(&line, "%s\n", text) > 0) {
		give_file(outlets, line);
		rf_sink_exec_put(&outlets->exec, line);
	}
	free(line);
	free(text);
}

void rf_outlets_turn(struct rf_outlets *outlets)
{
	struct rf_sink_exec *exec = &outlets->exec;
	struct rf_error error = {};

	if (rf_sink_exec_turn(exec, &error))
		rf_say_once(&outlets->said_exec, "", error.text, NULL);
	if (!exec->dropped)
		return;
	rf_error_failed(&error, -ENOBUFS, "exec: %d events wait already; events are left out",
			RF_EXEC_QUEUE);
	rf_say_once(&outlets->said_exec, "", error.text, NULL);
	exec->dropped = 0;
}

void rf_outlets_close(struct rf_outlets *outlets)
{
	if (!outlets->exec.program)
		return;
	rf_sink_file_close(&outlets->file);
	rf_sink_exec_close(&outlets->exec);
}

/* ---- telling ---- */

#define STATE "events"
#define STATE_MAX (1 << 20)

/* ---- the state, without a history ---- */

struct state_path {
	char text[RF_EVENT_PATH_SIZE + RF_NAME_SIZE + 16];
};

/* FILE.FENCE.state */
static struct state_path state_path(const char *events_file, const char *fence)
{
	struct state_path path = {""};

	if (*events_file && !strchr(fence, '/'))
		snprintf(path.text, sizeof(path.text), "%s.%s.state", events_file, fence);
	return path;
}

static char *read_state(const char *path)
{
	char *text = *path ? calloc(1, STATE_MAX) : NULL;
	int fd = text ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;

	if (fd < 0 || read(fd, text, STATE_MAX - 1) <= 0) {
		free(text);
		text = NULL;
	}
	if (fd >= 0)
		close(fd);
	return text;
}

/* Atomic, even if the process is killed. */
static bool write_state(const char *path, const char *text)
{
	const size_t length = strlen(text);
	char new[sizeof(struct state_path) + 8];
	bool is_written;
	const char *why;
	int fd;

	snprintf(new, sizeof(new), "%s.new", path);
	unlink(new); /* left by a daemon that was killed, or a link: it is made again */
	fd = rf_own_file_open(new, O_WRONLY, 0640, &why);
	if (fd < 0)
		return false;
	is_written = write(fd, text, length) == (ssize_t)length;
	return !close(fd) && is_written && !rename(new, path);
}

static void save(struct rf_telling *telling, const char *events_file)
{
	const struct state_path path = state_path(events_file, telling->fence);
	char *text = *path.text ? rf_events_state(telling->events, telling->told) : NULL;

	if (text && write_state(path.text, text))
		telling->is_unsaved = false;
	free(text);
}

/* ---- a scan ---- */

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/*
 * A file is newer than the history: it is deleted as soon as the history has the state. Numbers
 * continue after the greatest number found, because each store can be damaged, removed or outdated.
 */
static void begin(struct rf_telling *telling, const struct rf_settings *settings,
		  struct rf_history *history, const char *fence, uint64_t time_ns)
{
	char *file = read_state(state_path(settings->events_file, fence).text);
	char *text = history ? rf_history_get_state(history, STATE) : NULL;
	uint64_t last = later(rf_events_state_last(file), rf_events_state_last(text));

	if (*settings->events_file)
		last = later(last, rf_event_file_last(settings->events_file, fence));
	if (history)
		last = later(last, rf_history_last_seq(history));
	telling->events = rf_events_open(file ?: text);
	snprintf(telling->fence, sizeof(telling->fence), "%s", fence);
	if (telling->events)
		rf_events_number_after(telling->events, last, time_ns);
	free(file);
	free(text);
}

static void keep(void *context, const struct rf_event *event)
{
	struct rf_telling *telling = context;

	if (telling->count == telling->capacity) {
		const size_t capacity = telling->capacity ? 2 * telling->capacity : 16;
		struct rf_event *more =
			reallocarray(telling->event, capacity, sizeof(*telling->event));

		if (!more)
			return;
		telling->event = more;
		telling->capacity = capacity;
	}
	rf_event_tell(telling->told, event, &telling->event[telling->count++]);
}

void rf_telling_take(struct rf_telling *telling, const struct rf_settings *settings,
		     struct rf_history *history, const struct rf_snapshot *snapshot)
{
	telling->told = settings->sources;
	if (!telling->events)
		begin(telling, settings, history, snapshot->fence, snapshot->time_ns);
	if (!telling->events)
		return; /* no memory; the next scan tries again */
	if (history)	/* it might have been opened only now */
		rf_events_number_after(telling->events, rf_history_last_seq(history),
				       snapshot->time_ns);
	rf_events_feed(telling->events, snapshot, keep, telling);
	telling->is_unsaved |= rf_events_changed(telling->events);
}

void rf_telling_gone(struct rf_telling *telling, uint64_t time_ns)
{
	if (!telling->events)
		return;
	rf_events_gone(telling->events, time_ns, keep, telling);
	telling->is_unsaved |= rf_events_changed(telling->events);
}

int rf_telling_record(struct rf_telling *telling, struct rf_history *history,
		      struct rf_error *error)
{
	char *text;
	int err = 0;

	for (size_t i = 0; i < telling->count && !err; i++)
		err = rf_history_add_event(history, &telling->event[i], error);
	if (err || !telling->events || !telling->is_unsaved)
		return err;
	text = rf_events_state(telling->events, telling->told);
	if (text)
		err = rf_history_put_state(history, STATE, text, error);
	free(text);
	return err;
}

/*
 * If nothing can be written, the next start finds the same numbers again. Reported numbers are
 * therefore at least the milliseconds since 1970: no number is used twice.
 */
static void number_by_clock(struct rf_telling *telling)
{
	const struct rf_event *first = telling->event;
	const uint64_t least = first->time_ns / RF_NS_PER_MS + 1;
	const uint64_t shift = first->seq < least ? least - first->seq : 0;

	for (size_t i = 0; i < telling->count; i++)
		telling->event[i].seq += shift;
	rf_events_number_after(telling->events, telling->event[telling->count - 1].seq, 0);
}

void rf_telling_give(struct rf_telling *telling, struct rf_outlets *outlets, bool is_recorded)
{
	const struct state_path path = state_path(outlets->file.path, telling->fence);

	if (telling->is_unsaved && is_recorded && *path.text)
		unlink(path.text);
	if (is_recorded)
		telling->is_unsaved = false;
	if (telling->is_unsaved && telling->events)
		save(telling, outlets->file.path);
	if (telling->is_unsaved && telling->count && !telling->was_lost)
		number_by_clock(telling);
	telling->was_lost = telling->is_unsaved && (telling->count || telling->was_lost);
	for (size_t i = 0; i < telling->count; i++)
		give_event(outlets, &telling->event[i]);
	telling->count = 0;
}

void rf_telling_end(struct rf_telling *telling)
{
	rf_events_close(telling->events);
	free(telling->event);
	*telling = (struct rf_telling){};
}
