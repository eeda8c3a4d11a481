/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The messages of libbpf and libxdp. With `verbose` they go to stderr. libbpf's warnings are kept,
 * since they include the verifier's log and the reasons of drivers.
 */
#ifndef RINGFENCE_KERNEL_LOG_H
#define RINGFENCE_KERNEL_LOG_H

#include <stdbool.h>

#include "base/netlink.h"

void rf_log_set_verbose(bool verbose);
/* While paused, messages are dropped: for calls whose failure does not matter. */
void rf_log_pause(bool pause);
/*
 * The last line of what the verifier said of a program that did not load: its complaint. "" where
 * none was refused.
 */
const char *rf_log_text(void);

/*
 * What the kernel or a driver wrote about the latest netlink request that it refused (its extack),
 * without control characters; "" if nothing. Call rf_log_forget() before the request.
 */
void rf_log_reason(char reason[RF_REASON_SIZE]);
/* Drops the kept messages, where the error message says more. */
void rf_log_forget(void);

#endif /* RINGFENCE_KERNEL_LOG_H */
