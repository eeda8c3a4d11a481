/* SPDX-License-Identifier: GPL-2.0 */
/* The schedule that led to a failure of explorer.c, as diagnostics. */
#ifndef RINGFENCE_EXPLORER_TRACE_H
#define RINGFENCE_EXPLORER_TRACE_H

void print_path(void);

#endif /* RINGFENCE_EXPLORER_TRACE_H */
