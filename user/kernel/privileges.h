/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RINGFENCE_PRIVILEGES_H
#define RINGFENCE_PRIVILEGES_H

#include <stdbool.h>

/*
 * Does this process have that capability? True also if that cannot be read: the kernel refuses
 * later, where it must.
 */
bool rf_has_capability(int capability);

#endif /* RINGFENCE_PRIVILEGES_H */
