/* SPDX-License-Identifier: GPL-2.0 */
/* Prints what was checked, a line for each, with the remedy. */
#ifndef RINGFENCE_CLI_FINDINGS_H
#define RINGFENCE_CLI_FINDINGS_H

#include <jansson.h>

#include "doctor/diagnose.h"

void rf_findings_print(const char *title, const struct rf_findings *findings);
/* [{"check","level","text","command"}] */
json_t *rf_findings_json(const struct rf_findings *findings);

#endif /* RINGFENCE_CLI_FINDINGS_H */
