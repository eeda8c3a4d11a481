/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Makes untrusted text safe for a terminal. Names of interfaces can have any character except
 * blanks, '/' and ':', and a terminal obeys control characters in any text.
 */
#ifndef RINGFENCE_TEXT_H
#define RINGFENCE_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Replaces by '?' each control character (U+0000-1F, 7F, 80-9F), each character that changes the
 * direction of writing or breaks a line elsewhere, and each byte that is not UTF-8. `keep_lines`
 * preserves '\n' and '\t'.
 */
void rf_hide_controls(char *text, bool keep_lines);

/* Formats into a text that is being made; only the code that prints writes to people. */
__attribute__((format(printf, 2, 3))) void rf_put(FILE *out, const char *format, ...);

/* ---- numbers ---- */

#define RF_SHORT_TEXT_SIZE 16

/* 1.42M, 811k, 20: a number of packets a second. */
void rf_format_short(double number, char text[RF_SHORT_TEXT_SIZE]);

#define RF_GROUPED_TEXT_SIZE 32

/* 2,104,331 */
void rf_format_grouped(uint64_t number, char text[RF_GROUPED_TEXT_SIZE]);

#endif /* RINGFENCE_TEXT_H */
