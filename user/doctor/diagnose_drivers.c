// SPDX-License-Identifier: GPL-2.0
/* The table of drivers. A distribution's kernel may have a feature before the version given here.
 */
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "doctor/drivers.h"

static const struct rf_driver drivers[] = {
	{.name = "atlantic",
	 .native = {5, 19},
	 .frags = {5, 19},
	 .lro = RF_MERGING_SWITCHED_OFF,
	 .link = RF_LINK_RESTARTED},
	{.name = "bnx2x"},
	{.name = "bnxt_en",
	 .native = {4, 11},
	 .frags = {5, 19},
	 .mtu_max = 3500,
	 .lro = RF_MERGING_SWITCHED_OFF,
	 .gro_hw = RF_MERGING_SWITCHED_OFF,
	 .queues = RF_QUEUES_COMBINED,
	 .link = RF_LINK_UNCHANGED},
	{.name = "bonding", .native = {5, 15}, .lro = RF_MERGING_WITHOUT_EFFECT},
	{.name = "e1000"},
	{.name = "e1000e"},
	{.name = "ena",
	 .native = {5, 6},
	 .mtu_max = 3498,
	 .queues = RF_QUEUES_HALF,
	 .link = RF_LINK_RESTARTED,
	 .drops = "queue_N_rx_xdp_drop"},
	{.name = "fsl_dpaa2_eth", .native = {5, 0}},
	{.name = "gve",
	 .native = {6, 4},
	 .mtu_max = 2032,
	 .lro = RF_MERGING_REFUSED,
	 .queues = RF_QUEUES_HALF,
	 .link = RF_LINK_RESTARTED_BY_SWAP,
	 .drops = "rx_xdp_drop[N]"},
	{.name = "hv_netvsc",
	 .native = {5, 6},
	 .mtu_max = 3506,
	 .lro = RF_MERGING_REFUSED,
	 .link = RF_LINK_UNCHANGED,
	 .drops = "rx_queue_N_xdp_drop"},
	{.name = "i40e",
	 .native = {4, 13},
	 .frags = {6, 4},
	 .mtu_max = 3046,
	 .link = RF_LINK_RESTARTED},
	{.name = "iavf"},
	{.name = "ice",
	 .native = {5, 5},
	 .frags = {6, 3},
	 .mtu_max = 3046,
	 .link = RF_LINK_RESTARTED},
	{.name = "idpf"},
	{.name = "igb", .native = {5, 10}, .mtu_max = 3046, .link = RF_LINK_RESTARTED},
	{.name = "igc", .native = {5, 13}, .mtu_max = 1500, .link = RF_LINK_RESTARTED_BY_SWAP},
	{.name = "ixgbe",
	 .native = {4, 12},
	 .mtu_max = 3050,
	 .lro = RF_MERGING_REFUSED,
	 .link = RF_LINK_RESTARTED},
	{.name = "ixgbevf", .native = {4, 17}, .mtu_max = 3050, .link = RF_LINK_RESTARTED},
	{.name = "mana",
	 .native = {5, 17},
	 .mtu_max = 3506,
	 .link = RF_LINK_UNCHANGED,
	 .drops = "rx_N_xdp_drop"},
	{.name = "mlx4_en",
	 .native = {4, 8},
	 .mtu_max = 3498,
	 .link = RF_LINK_RESTARTED,
	 .drops = "rx_xdp_drop"},
	{.name = "mlx5_core",
	 .native = {4, 9},
	 .frags = {5, 18},
	 .mtu_max = 3498,
	 .lro = RF_MERGING_REFUSED,
	 .gro_hw = RF_MERGING_REFUSED,
	 .link = RF_LINK_RESTARTED,
	 .flag = "rx_striding_rq",
	 .drops = "rx_xdp_drop"},
	{.name = "mvneta", .native = {5, 5}, .frags = {5, 18}},
	{.name = "mvpp2", .native = {5, 9}},
	{.name = "nfp", .native = {4, 10}},
	{.name = "qede", .native = {4, 10}},
	{.name = "r8169"},
	{.name = "rvu_nicpf", .native = {5, 16}},
	{.name = "sfc", .native = {5, 5}},
	/* The driver stmmac, as ethtool calls it. */
	{.name = "st_gmac", .native = {5, 13}, .mtu_max = 1500, .link = RF_LINK_RESTARTED},
	{.name = "st_xgmac", .native = {5, 13}, .mtu_max = 1500, .link = RF_LINK_RESTARTED},
	{.name = "tg3"},
	{.name = "tun", .native = {4, 14}, .link = RF_LINK_UNCHANGED},
	{.name = "veth",
	 .native = {4, 19},
	 .frags = {5, 18},
	 .queues = RF_QUEUES_OF_PEER,
	 .link = RF_LINK_UNCHANGED},
	{.name = "virtio_net",
	 .native = {4, 10},
	 .frags = {6, 3},
	 .mtu_max = 3506,
	 .mtu_max_before = 4064,
	 .gro_hw = RF_MERGING_SWITCHED_OFF,
	 .queues = RF_QUEUES_SPARE,
	 .queues_fixed = true,
	 .link = RF_LINK_UNCHANGED,
	 .drops = "rxN_xdp_drops"},
	{.name = "vmxnet3",
	 .native = {6, 6},
	 .mtu_max = 3494,
	 .lro = RF_MERGING_SWITCHED_OFF,
	 .link = RF_LINK_RESTARTED,
	 .forgets = true,
	 .drops = "xdp drops"},
};

const struct rf_driver *rf_driver_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++)
		if (strcmp(name, drivers[i].name) == 0)
			return &drivers[i];
	return NULL;
}

bool rf_version_reaches(struct rf_version version, struct rf_version since)
{
	if (!version.major || !since.major)
		return false;
	return version.major > since.major ||
	       (version.major == since.major && version.minor >= since.minor);
}

struct rf_version rf_version_of(const char *release)
{
	struct rf_version version;

	if (sscanf(release, "%d.%d", &version.major, &version.minor) != 2)
		return (struct rf_version){};
	return version;
}
