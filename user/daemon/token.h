/* SPDX-License-Identifier: GPL-2.0 */
/* The token that requests for the page show, and the file by which `ringfence page` finds it. */
#ifndef RINGFENCE_DAEMON_TOKEN_H
#define RINGFENCE_DAEMON_TOKEN_H

#include "daemon/request.h"

struct rf_token_place {
	char directory[RF_SETTING_PATH_SIZE]; /* "": there is none that we may write to */
	char path[RF_SETTING_PATH_SIZE];      /* of the token; "": it is in no file */
};

/*
 * Reads the token of the settings, or the one that an earlier process made, or makes one. It is
 * then in a file that root and the group may read, if there is a place for it.
 */
int rf_token_take(struct rf_site *site, struct rf_token_place *place,
		  const struct rf_settings *settings, struct rf_error *error);
/* Leaves the address for `ringfence page`. */
void rf_token_publish(const struct rf_token_place *place, const char *address);
/* Takes the address away. */
void rf_token_withdraw(const struct rf_token_place *place);

#endif /* RINGFENCE_DAEMON_TOKEN_H */
