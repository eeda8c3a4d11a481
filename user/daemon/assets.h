/* SPDX-License-Identifier: GPL-2.0 */
/* The files of the page, which were put into this program, compressed, when it was built. */
#ifndef RINGFENCE_DAEMON_ASSETS_H
#define RINGFENCE_DAEMON_ASSETS_H

#include <stddef.h>

struct rf_asset {
	const char *path;	    /* of the URL */
	const char *type;	    /* Content-Type */
	const unsigned char *bytes; /* gzip */
	size_t length;
};

/* NULL: there is none with this path. */
const struct rf_asset *rf_asset_find(const char *path);

#endif /* RINGFENCE_DAEMON_ASSETS_H */
