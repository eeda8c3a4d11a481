/* SPDX-License-Identifier: GPL-2.0 */
/* The past, from the history of a fence, as a model like that of the present. */
#ifndef RINGFENCE_RECALL_H
#define RINGFENCE_RECALL_H

#include "screen/model.h"
#include "watch/reader.h"

/* Opens the history of a fence. An error says where none is. */
int rf_recall_open(struct rf_reader **reader, const char *fence, struct rf_error *error);
/*
 * Fills the model with the interval that has `at_ns`. -ENODATA: nothing was recorded then. The
 * model is unchanged after an error.
 */
int rf_recall_read(struct rf_reader *reader, uint64_t at_ns, struct rf_model *model,
		   struct rf_error *error);
/*
 * The events of a source between two times, one a line, the newest first; the caller frees it.
 * NULL: there are none.
 */
char *rf_recall_events(struct rf_reader *reader, const struct rf_prefix *source, uint64_t from_ns,
		       uint64_t to_ns);

#endif /* RINGFENCE_RECALL_H */
