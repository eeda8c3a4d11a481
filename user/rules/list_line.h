/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One line of a list of addresses, in the formats in which such lists are published. Pure.
 *
 *   192.0.2.0/24              a prefix, or an address
 *   192.0.2.5/24              the same network
 *   192.0.2.0 - 192.0.2.255   a range, with or without blanks
 *   192.0.2.7<TAB>12          the first of several columns, after which are blanks, ',' or '|'
 *   "192.0.2.7","2026-01-01"  the same in quotes
 *   192.0.2.0 192.0.2.255 24  a range and its length, as DShield writes it
 *   {"cidr":"192.0.2.0/24"}   a JSON object, as Spamhaus writes it
 *
 * '#' and ';' begin a comment, also within a word.
 */
#ifndef RINGFENCE_LIST_LINE_H
#define RINGFENCE_LIST_LINE_H

#include "base/prefix.h"

/* Adds the prefixes of a line, which it changes. An empty line has none. -ENOMEM, or -EINVAL. */
int rf_list_line_parse(char *line, struct rf_prefixes *prefixes, struct rf_error *error);

#endif /* RINGFENCE_LIST_LINE_H */
