// SPDX-License-Identifier: GPL-2.0
/*
 * Which interfaces have frames that the program can read. The program begins at the Ethernet
 * header. Where there is none, it takes the IP header for an Ethernet header, finds no IP behind
 * it, and passes the packet.
 */
#include <net/if.h>
#include <stddef.h>

#include <linux/if_arp.h> /* after net/if.h: in this order they do not conflict */

#include "base/hardware.h"
#include "base/units.h"

bool rf_has_ethernet(unsigned int hardware)
{
	return hardware == ARPHRD_ETHER || hardware == ARPHRD_LOOPBACK;
}

const char *rf_hardware_name(unsigned int hardware)
{
	static const struct {
		unsigned int hardware;
		const char *name;
	} names[] = {
		{ARPHRD_NONE, "none, as of tun and wireguard"},
		{ARPHRD_RAWIP, "raw IP"},
		{ARPHRD_TUNNEL, "ipip"},
		{ARPHRD_TUNNEL6, "ip6tnl"},
		{ARPHRD_SIT, "sit"},
		{ARPHRD_IPGRE, "gre"},
		{ARPHRD_IP6GRE, "ip6gre"},
		{ARPHRD_PPP, "ppp"},
		{ARPHRD_INFINIBAND, "InfiniBand"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].hardware == hardware)
			return names[i].name;
	return "see linux/if_arp.h";
}
