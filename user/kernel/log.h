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
/*
 * The last line of what the verifier said of a program that did not load: its complaint. "" where
 * none was refused.
 */
const char *rf_log_text(void);
/* Drops the kept messages, where the error message says more. */
void rf_log_forget(void);

#endif /* RINGFENCE_KERNEL_LOG_H */
