/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RINGFENCE_UNITS_H
#define RINGFENCE_UNITS_H

#define RF_NS_PER_S 1000000000ULL
#define RF_NS_PER_MS 1000000ULL

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#endif /* RINGFENCE_UNITS_H */
