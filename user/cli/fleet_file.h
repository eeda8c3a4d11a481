/* SPDX-License-Identifier: GPL-2.0 */
/* The settings of a fence's agent: /etc/ringfence/FENCE.fleet, a setting on each line. */
#ifndef RINGFENCE_CLI_FLEET_FILE_H
#define RINGFENCE_CLI_FLEET_FILE_H

#include "base/error.h"
#include "rules/grammar.h"

#define RF_FLEET_FILE_SIZE 64

/* Where it is. */
void rf_fleet_file_path(const char *fence, char path[RF_FLEET_FILE_SIZE]);
/* Writes it whole, or leaves it as it was. */
int rf_fleet_file_write(const struct rf_join *join, const char *path, struct rf_error *error);
/* -ENOENT: there is none. */
int rf_fleet_file_remove(const char *path, struct rf_error *error);

#endif /* RINGFENCE_CLI_FLEET_FILE_H */
