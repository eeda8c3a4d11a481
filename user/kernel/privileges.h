/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RINGFENCE_PRIVILEGES_H
#define RINGFENCE_PRIVILEGES_H

#include <stdbool.h>

/* Has this process that capability? True as well where it cannot be read: the kernel will say. */
bool rf_has_capability(int capability);

#endif /* RINGFENCE_PRIVILEGES_H */
