/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RINGFENCE_SOURCE_TABLE_H
#define RINGFENCE_SOURCE_TABLE_H

#include "watch/sources.h"

/* Prints the first `count` rows; `of_what`: with the rate of each limit, and bans. */
void rf_source_rows_print(const struct rf_source_rows *rows, size_t count, bool of_what);

#endif /* RINGFENCE_SOURCE_TABLE_H */
