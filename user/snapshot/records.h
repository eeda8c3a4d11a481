/* SPDX-License-Identifier: GPL-2.0 */
/* The records that are made of a fence, see schema/record.h. Each names its struct. */
#ifndef RINGFENCE_RECORDS_H
#define RINGFENCE_RECORDS_H

#include "fence/fence.h"
#include "schema/record.h"

extern const struct rf_field rf_interface_fields[];  /* struct rf_interface_totals */
extern const struct rf_field rf_fence_name_fields[]; /* struct rf_fence */
extern const struct rf_field rf_fence_fields[];	     /* struct rf_totals, as the next four */
extern const struct rf_field rf_newcomers_fields[];
extern const struct rf_field rf_windows_fields[];
extern const struct rf_field rf_reset_fields[];	     /* `stats reset` */
extern const struct rf_field rf_stats_fields[];	     /* `stats` */
extern const struct rf_field rf_stats_line_fields[]; /* struct rf_stats_line */

extern const struct rf_field rf_sources_fields[];	 /* struct rf_source_rows: `top` */
extern const struct rf_field rf_windows_within_fields[]; /* the same: `show PREFIX` */
extern const struct rf_field rf_unseen_fields[];	 /* struct rf_unseen */
extern const struct rf_field rf_bans_fields[];		 /* struct rf_bans */
extern const struct rf_field rf_list_answer_fields[];	 /* struct rf_list_answer */
extern const struct rf_field rf_shown_fields[];		 /* struct rf_shown: `show ADDRESS` */

extern const struct rf_field rf_limit_name_fields[]; /* struct rf_limit, as the next */
extern const struct rf_field rf_limit_rate_fields[];

/* "confirmed", "pending", "reverted", "expired" */
const char *rf_confirm_state_word(enum rf_confirm_state state);
/* "ringfence" or "ip" */
const char *rf_attached_by(const struct rf_interface *interface);

#endif /* RINGFENCE_RECORDS_H */
