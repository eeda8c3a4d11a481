/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How a user finds the page: the daemon leaves its address and the name of the file with its token
 * in a directory, and `ringfence page` reads them.
 */
#ifndef RINGFENCE_PAGE_FILES_H
#define RINGFENCE_PAGE_FILES_H

#include "base/error.h"

#define RF_PAGE_DIRECTORY "/run/ringfence-watch"
#define RF_PAGE_FILE "page" /* the address, then the path of the token's file; two lines */
#define RF_PAGE_TOKEN_FILE "token"
#define RF_PAGE_ADDRESS_SIZE 256

#define RF_TOKEN_SIZE 256
#define RF_TOKEN_LEAST 16 /* characters: fewer can be guessed */

struct rf_page_address {
	char address[RF_PAGE_ADDRESS_SIZE]; /* http://127.0.0.1:9436/, or `socket PATH` */
	char token_path[RF_PAGE_ADDRESS_SIZE];
	char token[RF_TOKEN_SIZE];
};

/* Reads a token from a file. An error if it is missing, or can be guessed. */
int rf_token_read(const char *path, char token[RF_TOKEN_SIZE], struct rf_error *error);
/* Reads the address that the daemon wrote, with the token. */
int rf_page_find(struct rf_page_address *page, struct rf_error *error);

#endif /* RINGFENCE_PAGE_FILES_H */
