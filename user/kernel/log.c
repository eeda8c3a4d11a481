// SPDX-License-Identifier: GPL-2.0
#include <bpf/libbpf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xdp/libxdp.h>

#include "base/text.h"
#include "kernel/log.h"

#define LINE_SHOWN 512
#define REASON "Kernel error message: " /* libbpf's words before the text of an extack */

static bool log_is_verbose, log_is_paused;
static char *log_kept;
/* For `log_kept`: the screen of top, and its threads, call libbpf at the same time. */
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;

static int keep_log(enum libbpf_print_level level, const char *format, va_list args)
{
	char *more, *joined;
	int length;

	if (log_is_verbose) {
		va_list shown;

		va_copy(shown, args);
		vfprintf(stderr, format, shown);
		va_end(shown);
	}
	if (level != LIBBPF_WARN || log_is_paused)
		return 0;
	length = vasprintf(&more, format, args);
	if (length < 0)
		return 0;
	pthread_mutex_lock(&log_lock);
	if (asprintf(&joined, "%s%s", log_kept ? log_kept : "", more) >= 0) {
		free(log_kept);
		log_kept = joined;
	}
	pthread_mutex_unlock(&log_lock);
	free(more);
	return length;
}

static int pass_log(enum libxdp_print_level level, const char *format, va_list args)
{
	(void)level;
	return log_is_verbose ? vfprintf(stderr, format, args) : 0;
}

void rf_log_set_verbose(bool verbose)
{
	log_is_verbose = verbose;
	libbpf_set_print(keep_log);
	libxdp_set_print(pass_log);
}

void rf_log_pause(bool pause)
{
	log_is_paused = pause;
}

/* Is the line a summary of the verifier's work, rather than a complaint? */
static bool is_summary(const char *line, size_t length)
{
	static const char *const starts[] = {"processed ", "verification time ", "stack depth ",
					     "insns processed ", "max_states"};

	for (size_t i = 0; i < sizeof(starts) / sizeof(*starts); i++)
		if (strncmp(line, starts[i], strlen(starts[i])) == 0)
			return true;
	return !length;
}

const char *rf_log_text(void)
{
	static char last[LINE_SHOWN];
	const char *line;

	pthread_mutex_lock(&log_lock);
	line = log_kept ? strstr(log_kept, "PROG LOAD LOG") : NULL;
	*last = '\0';
	while (line && (line = strchr(line, '\n')) && *++line) {
		const size_t length = strcspn(line, "\n");

		if (strstr(line, "END PROG LOAD LOG") &&
		    strstr(line, "END PROG LOAD LOG") < line + length)
			break;
		if (!is_summary(line, length))
			snprintf(last, sizeof(last), "%.*s", (int)length, line);
	}
	pthread_mutex_unlock(&log_lock);
	return last;
}

void rf_log_reason(char reason[RF_REASON_SIZE])
{
	const char *found, *last = NULL;

	pthread_mutex_lock(&log_lock);
	found = log_kept;
	while (found && (found = strstr(found, REASON)))
		last = found += strlen(REASON);
	*reason = '\0';
	if (last)
		snprintf(reason, RF_REASON_SIZE, "%.*s", (int)strcspn(last, "\n"), last);
	pthread_mutex_unlock(&log_lock);
	rf_hide_controls(reason, false);
}

void rf_log_forget(void)
{
	pthread_mutex_lock(&log_lock);
	free(log_kept);
	log_kept = NULL;
	pthread_mutex_unlock(&log_lock);
}
