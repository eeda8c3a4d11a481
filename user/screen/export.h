/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RINGFENCE_EXPORT_H
#define RINGFENCE_EXPORT_H

#include "screen/model.h"

/*
 * Writes the rows that are shown into a new file: JSON if the name ends in .json, else CSV. Only
 * the user may read the file, since it has addresses. Returns the number of rows, or an error after
 * which there is no file.
 */
int rf_export(const struct rf_model *model, const char *fence, const char *path,
	      struct rf_error *error);

#endif /* RINGFENCE_EXPORT_H */
