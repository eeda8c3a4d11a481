/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RINGFENCE_JSON_H
#define RINGFENCE_JSON_H

#include <jansson.h>

/*
 * Prints a number with at most the digits that a double represents: 16.414 is not printed as
 * 16.414000000000001. A flag of json_dumps(), for any document that can contain a non-integer
 * number.
 */
#define RF_JSON_REALS JSON_REAL_PRECISION(15)

/* One line, without newline, which the caller frees; NULL: no memory, or no `json`. */
char *rf_json_line(const json_t *json);

/* A string for JSON. In text that is not UTF-8, each byte that is not ASCII becomes '?'. */
json_t *rf_json_text(const char *text);

#endif /* RINGFENCE_JSON_H */
