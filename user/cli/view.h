/* SPDX-License-Identifier: GPL-2.0 */
/* Parts of a fence that several reading commands print. */
#ifndef RINGFENCE_VIEW_H
#define RINGFENCE_VIEW_H

#include <jansson.h>

#include "cli/command.h"
#include "fence/fence.h"
#include "rules/ruleset.h"
#include "schema/record.h"
#include "snapshot/rules.h"

#define RF_MEMORY_TEXT_SIZE 32

/* "46.4 MiB" */
void rf_view_memory(uint64_t bytes, char text[RF_MEMORY_TEXT_SIZE]);

#define RF_PORTS_TEXT_SIZE 64 /* of ports for people; ports that do not fit are left out */

/* A limit of rules, for records. */
struct rf_limit_view {
	const struct rf_ruleset *rules;
	const struct rf_limit *limit;
	int slot;
};

struct rf_limit_view rf_limit_view(const struct rf_ruleset *rules, int slot);

extern const char *const rf_view_list_names[RF_LIST_COUNT];

/* ---- a fence and its rules, while a command reads them ---- */

struct rf_view {
	struct rf_fence fence;
	struct rf_fence_rules rules;
};

#define RF_VIEW_NONE ((struct rf_view){.fence = RF_FENCE_NONE, .rules = RF_FENCE_RULES_NONE})

/* Opens the fence that `dev` names, and reads its rules. Close it even after an error. */
int rf_view_open(struct rf_view *view, const char *dev, enum rf_rules_which which,
		 struct rf_error *error);
void rf_view_close(struct rf_view *view);

/* ---- one fence, or all of them ---- */

/* Several fences, one after the other: text, or {"fences":[…]}. The last failure is the result. */
struct rf_each {
	json_t *list;	  /* NULL: text */
	bool names_fence; /* an error gets the name of its fence */
	int result;
	struct rf_error *error;
};

/* What came of one fence: its object, or with `err` {"fence","error"}. */
void rf_each_add(struct rf_each *each, const char *fence, json_t *json, int err,
		 const struct rf_error *failure);
/* Prints the list, with the keys of `more`, which is freed and can be NULL. Returns the result. */
int rf_each_end(struct rf_each *each, json_t *more);

/*
 * Shows one fence. Prints it, or, where `json` is not NULL, sets `*json` to its object. `context`
 * is the command's.
 */
typedef int (*rf_show)(const struct rf_fence *fence, const void *context, json_t **json,
		       struct rf_error *error);

/*
 * Shows the fence that `dev` names: its object is the whole JSON. Without `dev`, shows every fence:
 * {"fences":[…]}, and in text each under a heading, if there are several; `has_heading`: `show`
 * prints the heading. A fence that cannot be shown has {"fence","error"}, and the others are shown.
 * The object of all fences gets the keys of `more`, which is freed, and can be NULL.
 */
int rf_show_fences(const struct rf_options *options, rf_show show, bool has_heading,
		   const void *context, json_t *more, struct rf_error *error);

/* ---- findings ---- */

struct rf_findings;

/* Prints the checked items, a line for each, with the fix. */
void rf_findings_print(const char *title, const struct rf_findings *findings);
extern const struct rf_field rf_findings_fields[]; /* struct rf_findings */

#endif /* RINGFENCE_VIEW_H */
