/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The commands of keys, for the source that was under the cursor when the key was pressed. An act
 * is text from then on: later changes of the screen do not affect it. Pure.
 */
#ifndef RINGFENCE_ACT_H
#define RINGFENCE_ACT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/prefix.h"
#include "rules/ruleset.h"
#include "snapshot/shown.h"

#define RF_ACT_TITLE_SIZE 160

struct rf_act {
	char title[RF_ACT_TITLE_SIZE];	 /* "Deny 192.0.2.66 for 1h" */
	char warning[RF_ACT_TITLE_SIZE]; /* "": none */
	char *command;			 /* without the word `ringfence` */
	char *undo;			 /* the command that takes it back; NULL: none does */
	char limit[RF_NAME_SIZE]; /* of a raise: the limit that it adds, unconfirmed; else "" */
};

void rf_act_free(struct rf_act *act);

/*
 * `deny add` or `allow add` for an hour, on a fence called `dev`. `before`: the entry of the list
 * that applies to the source until now.
 */
int rf_act_list(struct rf_act *act, enum rf_list list, const struct rf_prefix *source,
		const struct rf_list_answer *before, const char *dev, struct rf_error *error);
/* A limit like the one in `slot`, only for this source, of `times` its COUNT, unconfirmed. */
int rf_act_raise(struct rf_act *act, struct rf_ruleset *rules, int slot,
		 const struct rf_prefix *source, unsigned int times, const char *dev,
		 struct rf_error *error);
/*
 * If the act denies the peer of this process's SSH connection, which can be NULL: warns, adds
 * `force` to the command, and returns true.
 */
bool rf_act_warn(struct rf_act *act, const struct rf_prefix *source, const struct rf_prefix *peer);

/* Runs a command of ringfence concurrently with the screen, as the user, and stores its output. */

struct rf_run {
	pid_t pid;  /* 0: none runs */
	int output; /* -1: none */
	char *text; /* output so far */
	size_t length;
};

#define RF_RUN_NONE ((struct rf_run){.output = -1})

/* Waits for its exit; with `at_once`, terminates it first. */
void rf_run_finish(struct rf_run *child, bool at_once);

#endif /* RINGFENCE_ACT_H */
