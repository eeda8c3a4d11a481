/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The messages of libbpf and libxdp. They go to stderr when `verbose`; else those of libbpf are
 * kept, since the verifier's are among them.
 */
#ifndef RINGFENCE_KERNEL_LOG_H
#define RINGFENCE_KERNEL_LOG_H

#include <stdbool.h>

void rf_log_set_verbose(bool verbose);
/* While paused, messages are dropped: for calls whose failure does not matter. */
void rf_log_pause(bool pause);
/* What libbpf and the verifier said of a program that did not load; "" otherwise. */
const char *rf_log_text(void);
/* Drops it, where the error message says more. */
void rf_log_forget(void);

#endif /* RINGFENCE_KERNEL_LOG_H */
