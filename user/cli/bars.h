/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers as a row of bars, one character each. */
#ifndef RINGFENCE_CLI_BARS_H
#define RINGFENCE_CLI_BARS_H

#include <stddef.h>
#include <stdint.h>

#define RF_BARS_TEXT_SIZE(count) (4 * (count) + 1)

/*
 * The greatest number has the tallest bar; 0 has none. Blocks where the locale's codeset is UTF-8,
 * else ASCII. `text` has RF_BARS_TEXT_SIZE(count) bytes.
 */
void rf_bars(const uint64_t *number, size_t count, char *text);

#endif /* RINGFENCE_CLI_BARS_H */
