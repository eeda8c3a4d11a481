/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The messages of libbpf and libxdp. With `verbose` they go to stderr. libbpf's warnings are
 * stored, because they include the verifier's log and the reasons of drivers.
 */
#ifndef RINGFENCE_KERNEL_LOG_H
#define RINGFENCE_KERNEL_LOG_H

#include <stdbool.h>

#include "base/netlink.h"

void rf_log_set_verbose(bool verbose);
/* While paused, messages are dropped: for calls whose failure does not matter. */
void rf_log_pause(bool pause);
/*
 * The last line of the verifier's log for a program that did not load: its complaint. "" if none
 * was refused.
 */
const char *rf_log_text(void);

/*
 * The extack of the latest refused netlink request, written by the kernel or a driver, without
 * control characters; "" if empty. Call rf_log_forget() before the request.
 */
void rf_log_reason(char reason[RF_REASON_SIZE]);
/* Drops the stored messages, if the error message is more specific. */
void rf_log_forget(void);

#endif /* RINGFENCE_KERNEL_LOG_H */
