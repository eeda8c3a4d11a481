// SPDX-License-Identifier: GPL-2.0
#include <bpf/libbpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xdp/libxdp.h>

#include "kernel/log.h"

#define LOG_SHOWN 8192 /* the verifier's complaint is at the end */

static bool log_is_verbose, log_is_paused;
static char *log_kept;

static int keep_log(enum libbpf_print_level level, const char *format, va_list args)
{
	char *more, *joined;
	int length;

	if (log_is_verbose)
		return vfprintf(stderr, format, args);
	if (level != LIBBPF_WARN || log_is_paused)
		return 0;
	length = vasprintf(&more, format, args);
	if (length < 0)
		return 0;
	if (asprintf(&joined, "%s%s", log_kept ? log_kept : "", more) >= 0) {
		free(log_kept);
		log_kept = joined;
	}
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

const char *rf_log_text(void)
{
	size_t length = log_kept ? strlen(log_kept) : 0;
	const char *tail, *line;

	/* Only a refusal by the verifier is shown: other messages say no more than the error. */
	if (!length || !strstr(log_kept, "PROG LOAD LOG"))
		return "";
	if (length <= LOG_SHOWN)
		return log_kept;
	tail = log_kept + length - LOG_SHOWN;
	line = strchr(tail, '\n');
	return line ? line + 1 : tail;
}

void rf_log_forget(void)
{
	free(log_kept);
	log_kept = NULL;
}
