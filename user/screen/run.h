/* SPDX-License-Identifier: GPL-2.0 */
/* Runs a command of ringfence beside the screen, as the user, and keeps what it printed. */
#ifndef RINGFENCE_SCREEN_RUN_H
#define RINGFENCE_SCREEN_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct rf_run {
	pid_t pid;  /* 0: none runs */
	int output; /* -1: none */
	char *text; /* what it printed so far */
	size_t length;
};

#define RF_RUN_NONE ((struct rf_run){.output = -1})

/* Starts `ringfence COMMAND`, whose words are separated by one blank. Returns a negative errno. */
int rf_run_start(struct rf_run *child, const char *command);
/* Takes what it printed meanwhile. True: it has ended, with `*status` as its exit status. */
bool rf_run_read(struct rf_run *child, int *status);
/* Waits for its end; with `at_once`, ends it before. */
void rf_run_finish(struct rf_run *child, bool at_once);
/* Forgets what it printed. */
void rf_run_free(struct rf_run *child);

#endif /* RINGFENCE_SCREEN_RUN_H */
