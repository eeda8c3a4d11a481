/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Text that others have written, made fit for a terminal. Names of interfaces may hold anything but
 * blanks, '/' and ':', and a terminal obeys control characters wherever they come from.
 */
#ifndef RINGFENCE_PRINTABLE_H
#define RINGFENCE_PRINTABLE_H

#include <stdbool.h>

/*
 * In place: a '?' for each control character (U+0000-1F, 7F, 80-9F), for each that turns the
 * direction of writing or ends a line elsewhere, and for each byte that is no UTF-8. `keep_lines`:
 * but for '\n' and '\t'.
 */
void rf_hide_controls(char *text, bool keep_lines);

#endif /* RINGFENCE_PRINTABLE_H */
