/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The commands. Each command reads the rest of its words, acts, and prints once. It returns 0, or a
 * negative errno with the reason in `error`, which main prints. `diff` may also return 1, which is
 * then the exit status.
 */
#ifndef RINGFENCE_COMMAND_H
#define RINGFENCE_COMMAND_H

#include "base/error.h"
#include "rules/grammar.h"
#include "rules/grammar_option.h"

/* The options of every command. */
struct rf_options {
	const char *dev; /* NULL: the only fence */
	bool json;
};

typedef int (*rf_command)(const struct rf_options *options, struct rf_words *words,
			  struct rf_error *error);

int rf_cmd_attach(const struct rf_options *options, struct rf_words *words, struct rf_error *error);
int rf_cmd_repair(const struct rf_options *options, struct rf_words *words, struct rf_error *error);
int rf_cmd_detach(const struct rf_options *options, struct rf_words *words, struct rf_error *error);
int rf_cmd_pause(const struct rf_options *options, struct rf_words *words, struct rf_error *error);
int rf_cmd_resume(const struct rf_options *options, struct rf_words *words, struct rf_error *error);
int rf_cmd_adopt(const struct rf_options *options, struct rf_words *words, struct rf_error *error);

int rf_cmd_limit_add(const struct rf_options *options, struct rf_words *words,
		     struct rf_error *error);
int rf_cmd_limit_set(const struct rf_options *options, struct rf_words *words,
		     struct rf_error *error);
int rf_cmd_limit_change(const struct rf_options *options, struct rf_words *words,
			struct rf_error *error);
int rf_cmd_limit_arm(const struct rf_options *options, struct rf_words *words,
		     struct rf_error *error);
int rf_cmd_limit_shadow(const struct rf_options *options, struct rf_words *words,
			struct rf_error *error);
int rf_cmd_limit_del(const struct rf_options *options, struct rf_words *words,
		     struct rf_error *error);
int rf_cmd_limit_list(const struct rf_options *options, struct rf_words *words,
		      struct rf_error *error);

int rf_cmd_limit_try(const struct rf_options *options, struct rf_words *words,
		     struct rf_error *error);
int rf_cmd_suggest(const struct rf_options *options, struct rf_words *words,
		   struct rf_error *error);

int rf_cmd_allow_add(const struct rf_options *options, struct rf_words *words,
		     struct rf_error *error);
int rf_cmd_allow_del(const struct rf_options *options, struct rf_words *words,
		     struct rf_error *error);
int rf_cmd_allow_flush(const struct rf_options *options, struct rf_words *words,
		       struct rf_error *error);
int rf_cmd_allow_list(const struct rf_options *options, struct rf_words *words,
		      struct rf_error *error);
int rf_cmd_allow_load(const struct rf_options *options, struct rf_words *words,
		      struct rf_error *error);
int rf_cmd_deny_add(const struct rf_options *options, struct rf_words *words,
		    struct rf_error *error);
int rf_cmd_deny_del(const struct rf_options *options, struct rf_words *words,
		    struct rf_error *error);
int rf_cmd_deny_flush(const struct rf_options *options, struct rf_words *words,
		      struct rf_error *error);
int rf_cmd_deny_list(const struct rf_options *options, struct rf_words *words,
		     struct rf_error *error);
int rf_cmd_deny_load(const struct rf_options *options, struct rf_words *words,
		     struct rf_error *error);

int rf_cmd_fleet_join(const struct rf_options *options, struct rf_words *words,
		      struct rf_error *error);
int rf_cmd_fleet_leave(const struct rf_options *options, struct rf_words *words,
		       struct rf_error *error);
int rf_cmd_fleet_run(const struct rf_options *options, struct rf_words *words,
		     struct rf_error *error);
int rf_cmd_fleet_check(const struct rf_options *options, struct rf_words *words,
		       struct rf_error *error);
int rf_cmd_fleet_status(const struct rf_options *options, struct rf_words *words,
			struct rf_error *error);
int rf_cmd_fleet_bans(const struct rf_options *options, struct rf_words *words,
		      struct rf_error *error);
int rf_cmd_fleet_show(const struct rf_options *options, struct rf_words *words,
		      struct rf_error *error);
int rf_cmd_fleet_top(const struct rf_options *options, struct rf_words *words,
		     struct rf_error *error);
int rf_cmd_fleet_gone(const struct rf_options *options, struct rf_words *words,
		      struct rf_error *error);
int rf_cmd_fleet_hosts(const struct rf_options *options, struct rf_words *words,
		       struct rf_error *error);
int rf_cmd_newcomers(const struct rf_options *options, struct rf_words *words,
		     struct rf_error *error);

int rf_cmd_batch(const struct rf_options *options, struct rf_words *words, struct rf_error *error);

int rf_cmd_save(const struct rf_options *options, struct rf_words *words, struct rf_error *error);
int rf_cmd_apply(const struct rf_options *options, struct rf_words *words, struct rf_error *error);
int rf_cmd_confirm(const struct rf_options *options, struct rf_words *words,
		   struct rf_error *error);
int rf_cmd_revert(const struct rf_options *options, struct rf_words *words, struct rf_error *error);
int rf_cmd_check(const struct rf_options *options, struct rf_words *words, struct rf_error *error);
int rf_cmd_diff(const struct rf_options *options, struct rf_words *words, struct rf_error *error);

int rf_cmd_status(const struct rf_options *options, struct rf_words *words, struct rf_error *error);
int rf_cmd_stats(const struct rf_options *options, struct rf_words *words, struct rf_error *error);
int rf_cmd_page(const struct rf_options *options, struct rf_words *words, struct rf_error *error);
int rf_cmd_metrics(const struct rf_options *options, struct rf_words *words,
		   struct rf_error *error);
int rf_cmd_top(const struct rf_options *options, struct rf_words *words, struct rf_error *error);
int rf_cmd_show(const struct rf_options *options, struct rf_words *words, struct rf_error *error);

int rf_cmd_bans(const struct rf_options *options, struct rf_words *words, struct rf_error *error);
int rf_cmd_unban(const struct rf_options *options, struct rf_words *words, struct rf_error *error);

int rf_cmd_capture(const struct rf_options *options, struct rf_words *words,
		   struct rf_error *error);
int rf_cmd_events(const struct rf_options *options, struct rf_words *words, struct rf_error *error);
int rf_cmd_report(const struct rf_options *options, struct rf_words *words, struct rf_error *error);
int rf_cmd_history_list(const struct rf_options *options, struct rf_words *words,
			struct rf_error *error);
int rf_cmd_history_export(const struct rf_options *options, struct rf_words *words,
			  struct rf_error *error);
int rf_cmd_history_check(const struct rf_options *options, struct rf_words *words,
			 struct rf_error *error);
int rf_cmd_history_schema(const struct rf_options *options, struct rf_words *words,
			  struct rf_error *error);

int rf_cmd_doctor(const struct rf_options *options, struct rf_words *words, struct rf_error *error);
int rf_cmd_completion(const struct rf_options *options, struct rf_words *words,
		      struct rf_error *error);

struct rf_attached;

/* Prints what `attach` or `repair` did to an interface. */
void rf_print_attached(const struct rf_attached *attached);

#endif /* RINGFENCE_COMMAND_H */
