/* SPDX-License-Identifier: GPL-2.0 */
/* The past, from the history of a fence, as a model like that of the present. */
#ifndef RINGFENCE_RECALL_H
#define RINGFENCE_RECALL_H

#include "screen/model.h"
#include "watch/reader.h"

/*
 * The events of a source between two times, one a line, the newest first; the caller frees it.
 * NULL: there are none.
 */
char *rf_recall_events(struct rf_reader *reader, const struct rf_prefix *source, uint64_t from_ns,
		       uint64_t to_ns);

#endif /* RINGFENCE_RECALL_H */
