/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RINGFENCE_JSON_H
#define RINGFENCE_JSON_H

#include <jansson.h>

/* A string for JSON. In text that is not UTF-8, each byte that is not ASCII becomes '?'. */
json_t *rf_json_text(const char *text);

#endif /* RINGFENCE_JSON_H */
