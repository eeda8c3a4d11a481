/* SPDX-License-Identifier: GPL-2.0 */
/* Secrets: the first lines of files that no group and no other user may access. */
#ifndef RINGFENCE_SECRET_H
#define RINGFENCE_SECRET_H

#include "base/error.h"

#define RF_SECRET_SIZE 256

enum rf_secret_kind {
	RF_PASSWORD,
	RF_BUCKET_KEY, /* of a fleet */
};

/* -EACCES if others may access the file. Clear `text` after use. */
int rf_secret_read(enum rf_secret_kind kind, const char *path, char text[RF_SECRET_SIZE],
		   struct rf_error *error);
/* The same for a file that another process is going to read. */
int rf_secret_check(enum rf_secret_kind kind, const char *path, struct rf_error *error);

#endif /* RINGFENCE_SECRET_H */
