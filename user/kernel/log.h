/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The messages of libbpf and libxdp. With `verbose` they go to stderr. Otherwise libbpf's warnings
 * are kept, since they include the verifier's log.
 */
#ifndef RINGFENCE_KERNEL_LOG_H
#define RINGFENCE_KERNEL_LOG_H

#include <stdbool.h>

void rf_log_set_verbose(bool verbose);
/* While paused, messages are dropped: for calls whose failure does not matter. */
void rf_log_pause(bool pause);
/* The messages of libbpf and the verifier about a program that did not load; "" otherwise. */
const char *rf_log_text(void);
/* Drops the kept messages, where the error message says more. */
void rf_log_forget(void);

#endif /* RINGFENCE_KERNEL_LOG_H */
