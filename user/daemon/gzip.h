/* SPDX-License-Identifier: GPL-2.0 */
/* Compression as HTTP has it. */
#ifndef RINGFENCE_DAEMON_GZIP_H
#define RINGFENCE_DAEMON_GZIP_H

#include <stddef.h>

/*
 * Both return a buffer that the caller frees, of `*result_length` bytes; NULL: no memory, or not
 * gzip.
 */
char *rf_gzip(const void *bytes, size_t length, size_t *result_length);
char *rf_gunzip(const void *bytes, size_t length, size_t *result_length);

#endif /* RINGFENCE_DAEMON_GZIP_H */
