/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RINGFENCE_SOURCE_TABLE_H
#define RINGFENCE_SOURCE_TABLE_H

#include "snapshot/sources.h"

enum rf_source_columns {
	RF_SOURCES_PLAIN,
	RF_SOURCES_OF_LIMIT, /* with the rate of each limit, and bans */
	RF_SOURCES_BY_RATE,  /* and with the rate of each source */
};

/* Prints the first `count` rows. */
void rf_source_rows_print(const struct rf_source_rows *rows, size_t count,
			  enum rf_source_columns columns);

#endif /* RINGFENCE_SOURCE_TABLE_H */
