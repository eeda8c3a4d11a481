/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The networks that a host loses when it drops their packets: the peer of the own SSH connection,
 * and the subnets and gateways of interfaces.
 */
#ifndef RINGFENCE_OWN_NETWORKS_H
#define RINGFENCE_OWN_NETWORKS_H

#include <net/if.h>

#include "base/error.h"
#include "base/prefix.h"

/* An SSH connection, as its server sees it: from the client's address and port to its own. */
struct rf_peer {
	struct rf_prefix address, own; /* whole addresses */
	uint16_t port, own_port;       /* 0: not known */
	bool has_own;
};

/* Parses the value of SSH_CONNECTION: "192.0.2.1 51432 198.51.100.1 22". */
bool rf_peer_parse(const char *value, struct rf_peer *peer);
/*
 * Finds the SSH connection of this process by SSH_CONNECTION in its environment or, because sudo
 * removes the variable, in an ancestor's. False: not found.
 */
bool rf_own_peer(struct rf_peer *peer);

enum rf_own_kind {
	RF_OWN_PEER,
	RF_OWN_SUBNET,
	RF_OWN_GATEWAY,
};

struct rf_own_network {
	enum rf_own_kind kind;
	struct rf_prefix prefix;
	char interface[IF_NAMESIZE]; /* "" for RF_OWN_PEER */
};

struct rf_own_networks {
	struct rf_own_network *network; /* by kind */
	size_t count, capacity;
	struct rf_peer peer; /* where the first one is RF_OWN_PEER */
	/* Is an address of IPv4, of IPv6 no subnet? Then the gateway need not lie in any of them.
	 */
	bool has_host[2];
};

int rf_own_networks_add(struct rf_own_networks *own, enum rf_own_kind kind,
			const struct rf_prefix *prefix, const char *interface,
			struct rf_error *error);
/* Adds the SSH connection of this process, if any; before all others. */
int rf_own_networks_add_peer(struct rf_own_networks *own, struct rf_error *error);
/*
 * Adds the subnets of these interfaces, of the bridges and bonds that they are part of, and of the
 * VLANs on them. An address with the length of a host is no subnet.
 */
int rf_own_networks_read(struct rf_own_networks *own, const unsigned int *index, size_t count,
			 struct rf_error *error);
/* Adds their default gateways, at the cost of reading all routes. */
int rf_own_networks_read_gateways(struct rf_own_networks *own, const unsigned int *index,
				  size_t count, struct rf_error *error);
void rf_own_networks_free(struct rf_own_networks *own);

/*
 * Reads the Ethernet addresses of all interfaces of this network namespace into `mac`, each once,
 * the first byte lowest. Where there are more than `most`, these interfaces come first, then the
 * bridges and bonds that they are part of, the VLANs on them, and the members of bonds. Omits the
 * addresses of a VLAN or a similar interface that forwards packets if the one below does not, and
 * the reverse; and of a macvtap, whose packets a virtual machine receives. Returns their number.
 */
int rf_own_macs_read(uint64_t *mac, int most, const unsigned int *index, size_t count,
		     struct rf_error *error);

/* "192.0.2.0/24, a subnet of eth0" */
#define RF_OWN_NETWORK_TEXT_SIZE (RF_PREFIX_TEXT_SIZE + 48)
void rf_own_network_format(const struct rf_own_network *network,
			   char text[RF_OWN_NETWORK_TEXT_SIZE]);

#endif /* RINGFENCE_OWN_NETWORKS_H */
