/* SPDX-License-Identifier: GPL-2.0 */
/* Hardware types of interfaces: ARPHRD_… of linux/if_arp.h. Pure. */
#ifndef RINGFENCE_HARDWARE_H
#define RINGFENCE_HARDWARE_H

#include <stdbool.h>

/*
 * Does an interface of that hardware type (ARPHRD_… of linux/if_arp.h) have Ethernet headers? The
 * program passes all packets of one that has none: tun, wireguard, ipip, gre, sit, ppp …
 */
bool rf_has_ethernet(unsigned int hardware);
/* The name of a hardware type. */
const char *rf_hardware_name(unsigned int hardware);

#endif /* RINGFENCE_HARDWARE_H */
