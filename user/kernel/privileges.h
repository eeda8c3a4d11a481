/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RINGFENCE_PRIVILEGES_H
#define RINGFENCE_PRIVILEGES_H

#include <stdbool.h>

/* Has this process that capability? True if it cannot be read: then the kernel will refuse. */
bool rf_has_capability(int capability);

#endif /* RINGFENCE_PRIVILEGES_H */
