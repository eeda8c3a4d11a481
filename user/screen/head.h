/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RINGFENCE_HEAD_H
#define RINGFENCE_HEAD_H

#include "screen/model.h"

/* Takes counts, limits and standing of a scan. The head has those of the scan before. */
void rf_head_take(struct rf_head *head, const struct rf_snapshot *snapshot);

#endif /* RINGFENCE_HEAD_H */
