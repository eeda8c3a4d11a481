/* SPDX-License-Identifier: GPL-2.0 */
/* The page process's permissions: to use its sockets, and nothing more. */
#ifndef RINGFENCE_CONFINE_H
#define RINGFENCE_CONFINE_H

#include "base/error.h"

/*
 * Drops all groups, and root, if permitted. Then no file can be opened (Landlock, if the kernel has
 * it), and only the system calls of a server remain: no bpf, open, exec, ptrace, socket
 * (libseccomp). This is irreversible. An error if the kernel has no seccomp.
 */
int rf_confine(struct rf_error *error);

#endif /* RINGFENCE_CONFINE_H */
