/* SPDX-License-Identifier: GPL-2.0 */
/* The records of single commands: for their JSON, and for the manual. */
#ifndef RINGFENCE_CLI_RECORDS_H
#define RINGFENCE_CLI_RECORDS_H

#include "schema/record.h"

extern const struct rf_field rf_status_fields[]; /* cmd_status.c */
extern const struct rf_field rf_strays_fields[];
extern const struct rf_field rf_network_fields[]; /* show_network.c */

#endif /* RINGFENCE_CLI_RECORDS_H */
