/* SPDX-License-Identifier: GPL-2.0 */
/* What the page process may do: speak over the sockets that it has, and nothing else. */
#ifndef RINGFENCE_CONFINE_H
#define RINGFENCE_CONFINE_H

#include "base/error.h"

/*
 * Leaves all groups, and root, where this process may. Then no file can be opened (Landlock, where
 * the kernel has it), and no system call is left but those of a server: no bpf, open, exec, ptrace,
 * socket (libseccomp). There is no way back. An error where the kernel has no seccomp.
 */
int rf_confine(struct rf_error *error);

#endif /* RINGFENCE_CONFINE_H */
