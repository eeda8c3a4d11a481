/* SPDX-License-Identifier: GPL-2.0 */
/* How an XDP program is attached to an interface. */
#ifndef RINGFENCE_MODE_H
#define RINGFENCE_MODE_H

enum rf_mode {
	RF_NATIVE,
	RF_GENERIC,
	RF_OFFLOAD, /* never requested, only reported */
};

#endif /* RINGFENCE_MODE_H */
