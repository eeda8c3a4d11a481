// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/own_networks.h"

int rf_own_networks_add(struct rf_own_networks *own, enum rf_own_kind kind,
			const struct rf_prefix *prefix, const char *interface,
			struct rf_error *error)
{
	if (own->count == own->capacity) {
		const size_t capacity = own->capacity ? 2 * own->capacity : 16;
		struct rf_own_network *grown = reallocarray(own->network, capacity, sizeof(*grown));

		if (!grown)
			return rf_error_failed(error, -ENOMEM,
					       "out of memory for the addresses of the host");
		own->network = grown;
		own->capacity = capacity;
	}
	own->network[own->count] = (struct rf_own_network){.kind = kind, .prefix = *prefix};
	snprintf(own->network[own->count].interface, IF_NAMESIZE, "%s", interface);
	own->count++;
	return 0;
}

void rf_own_networks_free(struct rf_own_networks *own)
{
	free(own->network);
	*own = (struct rf_own_networks){};
}

void rf_own_network_format(const struct rf_own_network *network,
			   char text[RF_OWN_NETWORK_TEXT_SIZE])
{
	char prefix[RF_PREFIX_TEXT_SIZE];

	rf_format_prefix(&network->prefix, prefix);
	if (network->kind == RF_OWN_PEER)
		snprintf(text, RF_OWN_NETWORK_TEXT_SIZE, "%s, the peer of your SSH connection",
			 prefix);
	else
		snprintf(text, RF_OWN_NETWORK_TEXT_SIZE, "%s, %s of %s", prefix,
			 network->kind == RF_OWN_SUBNET ? "a subnet" : "the gateway",
			 network->interface);
}
