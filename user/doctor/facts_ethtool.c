// SPDX-License-Identifier: GPL-2.0
/* What ethtool's ioctl tells of an interface. It needs no privilege. */
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "doctor/facts.h"

#define FEATURES_MAX 256

/* The interface, and the socket for its ioctl. */
struct device {
	int fd;
	const char *name;
};

static bool ask(const struct device *device, void *command)
{
	struct ifreq request = {.ifr_data = command};

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", device->name);
	return ioctl(device->fd, SIOCETHTOOL, &request) == 0;
}

static void read_driver(const struct device *device, struct rf_interface_facts *facts)
{
	struct ethtool_drvinfo info = {.cmd = ETHTOOL_GDRVINFO};

	if (ask(device, &info))
		snprintf(facts->driver, sizeof(facts->driver), "%s", info.driver);
}

static void read_channels(const struct device *device, struct rf_interface_facts *facts)
{
	struct ethtool_channels channels = {.cmd = ETHTOOL_GCHANNELS};

	if (!ask(device, &channels))
		return;
	facts->has_channels = true;
	facts->channels = (struct rf_channels){
		.rx = channels.rx_count,
		.tx = channels.tx_count,
		.combined = channels.combined_count,
		.rx_max = channels.max_rx,
		.tx_max = channels.max_tx,
		.combined_max = channels.max_combined,
	};
}

static uint32_t count_features(const struct device *device)
{
	struct {
		struct ethtool_sset_info info;
		__u32 count;
	} request = {{.cmd = ETHTOOL_GSSET_INFO, .sset_mask = 1ULL << ETH_SS_FEATURES}, 0};

	if (!ask(device, &request) || request.count > FEATURES_MAX)
		return 0;
	return request.count;
}

static void keep_feature(const char *name, bool on, bool fixed, struct rf_interface_facts *facts)
{
	const enum rf_answer answer = on ? RF_YES : RF_NO;

	if (strcmp(name, "rx-lro") == 0) {
		facts->lro = answer;
	} else if (strcmp(name, "rx-gro") == 0) {
		facts->gro = answer;
	} else if (strcmp(name, "rx-gro-hw") == 0) {
		facts->gro_hw = answer;
		facts->gro_hw_fixed = fixed;
	}
}

/* The kernel reports features by number, so their names are read first. */
static void read_features(const struct device *device, struct rf_interface_facts *facts)
{
	const uint32_t count = count_features(device), blocks = (count + 31) / 32;
	struct ethtool_gstrings *names = calloc(1, sizeof(*names) + count * ETH_GSTRING_LEN);
	struct ethtool_gfeatures *features =
		calloc(1, sizeof(*features) + blocks * sizeof(features->features[0]));

	if (count && names && features) {
		*names = (struct ethtool_gstrings){
			.cmd = ETHTOOL_GSTRINGS, .string_set = ETH_SS_FEATURES, .len = count};
		features->cmd = ETHTOOL_GFEATURES;
		features->size = blocks;
		if (ask(device, names) && ask(device, features)) {
			for (uint32_t i = 0; i < count; i++) {
				const struct ethtool_get_features_block *block =
					&features->features[i / 32];

				keep_feature((char *)names->data + i * ETH_GSTRING_LEN,
					     block->active >> i % 32 & 1,
					     !(block->available >> i % 32 & 1), facts);
			}
		}
	}
	free(names);
	free(features);
}

static uint32_t count_used(const struct ethtool_rxfh_indir *table, uint32_t rings)
{
	uint32_t used = 0;

	for (uint32_t ring = 0; ring < rings; ring++) {
		bool found = false;

		for (uint32_t i = 0; i < table->size && !found; i++)
			found = table->ring_index[i] == ring;
		used += found;
	}
	return used;
}

/* Reads the RSS table: which queue the hash of a source leads to. */
static void read_spread(const struct device *device, struct rf_interface_facts *facts)
{
	struct ethtool_rxnfc rings = {.cmd = ETHTOOL_GRXRINGS};
	struct ethtool_rxfh_indir size = {.cmd = ETHTOOL_GRXFHINDIR}, *table;

	if (!ask(device, &rings) || !ask(device, &size) || !size.size)
		return;
	table = calloc(1, sizeof(*table) + size.size * sizeof(table->ring_index[0]));
	if (!table)
		return;
	table->cmd = ETHTOOL_GRXFHINDIR;
	table->size = size.size;
	if (ask(device, table)) {
		facts->rings = rings.data;
		facts->rings_used = count_used(table, rings.data);
	}
	free(table);
}

void rf_facts_ethtool(struct rf_interface_facts *facts)
{
	const struct device device = {socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), facts->name};

	if (device.fd < 0)
		return;
	read_driver(&device, facts);
	read_channels(&device, facts);
	read_features(&device, facts);
	read_spread(&device, facts);
	close(device.fd);
}
