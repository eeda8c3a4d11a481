/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RINGFENCE_CLI_STATS_H
#define RINGFENCE_CLI_STATS_H

#include "cli/command.h"

/* stats watch: of one fence, or of all. */
int rf_stats_watch(const struct rf_options *options, const struct rf_stats *asked,
		   struct rf_error *error);

#endif /* RINGFENCE_CLI_STATS_H */
