// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/genetlink.h>
#include <linux/if_link.h>
#include <linux/magic.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/statfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/netlink.h"
#include "doctor/facts.h"

/* ---- ethtool's ioctl for an interface; it needs no privilege ---- */

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
	} else if (strcmp(name, "rx-vlan-hw-parse") == 0) { /* rxvlan of 'ethtool -K' */
		facts->rx_vlan = answer;
		facts->rx_vlan_fixed = fixed;
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

/* Adds the facts of one interface from ethtool (facts_ethtool.c). */
static void ask_ethtool(struct rf_interface_facts *facts)
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

/*
 * ---- interfaces by netlink ----
 *
 * Rtnetlink has their properties, and the generic family `netdev` has the features of their
 * drivers. /sys/class/net is unsuitable: it shows the network namespace that mounted it, which can
 * be a different one.
 */

/* linux/netdev.h, of Linux 6.3 */
#define NETDEV_FAMILY "netdev"
#define NETDEV_COMMAND_GET 1
#define NETDEV_ATTRIBUTE_INDEX 1
#define NETDEV_ATTRIBUTE_FEATURES 3
#define NETDEV_XDP_BASIC (1 << 0)
#define NETDEV_XDP_SEVERAL_BUFFERS (1 << 5)

/* An interface as netlink reports it: it refers to other interfaces by their index. */
struct link {
	struct rf_interface_facts facts;
	unsigned int index, parent, master;
};

struct links {
	struct link *link;
	int count;
};

/* ---- properties ---- */

static void copy_text(char *text, size_t size, const struct nlattr *attribute)
{
	snprintf(text, size, "%s", mnl_attr_get_str(attribute));
}

static void read_kind(const struct nlattr *info, struct rf_interface_facts *facts)
{
	const struct nlattr *attribute, *inner;

	mnl_attr_for_each_nested(attribute, info)
	{
		if (mnl_attr_get_type(attribute) == IFLA_INFO_KIND)
			copy_text(facts->kind, sizeof(facts->kind), attribute);
		if (mnl_attr_get_type(attribute) != IFLA_INFO_DATA ||
		    strcmp(facts->kind, "bond") != 0) /* the kind comes first */
			continue;
		mnl_attr_for_each_nested(inner, attribute)
		{
			if (mnl_attr_get_type(inner) == IFLA_BOND_MODE)
				facts->bond_mode = mnl_attr_get_u8(inner);
		}
	}
}

static int keep_link(const struct nlmsghdr *message, void *context)
{
	const struct ifinfomsg *header = mnl_nlmsg_get_payload(message);
	struct link link = {.index = header->ifi_index, .facts = {.bond_mode = -1}};
	struct links *links = context;
	const struct nlattr *attribute;
	bool elsewhere = false;
	struct link *grown;

	link.facts.hardware = header->ifi_type;
	link.facts.is_up = header->ifi_flags & IFF_UP;
	link.facts.is_loopback = header->ifi_flags & IFF_LOOPBACK;
	mnl_attr_for_each(attribute, message, sizeof(*header))
	{
		switch (mnl_attr_get_type(attribute)) {
		case IFLA_IFNAME:
			copy_text(link.facts.name, sizeof(link.facts.name), attribute);
			break;
		case IFLA_MTU:
			link.facts.mtu = mnl_attr_get_u32(attribute);
			break;
		case IFLA_LINK:
			link.parent = mnl_attr_get_u32(attribute);
			break;
		case IFLA_ADDRESS:
			link.facts.mac = rf_netlink_parse_mac(attribute);
			break;
		case IFLA_LINK_NETNSID:
			elsewhere = true; /* the index is one of another network namespace */
			link.facts.parent_namespace = mnl_attr_get_u32(attribute);
			break;
		case IFLA_MASTER:
			link.master = mnl_attr_get_u32(attribute);
			break;
		case IFLA_LINKINFO:
			read_kind(attribute, &link.facts);
			break;
		}
	}
	if (elsewhere)
		link.facts.parent_index = link.parent;
	if (elsewhere || link.parent == link.index)
		link.parent = 0;
	grown = reallocarray(links->link, links->count + 1, sizeof(*links->link));
	if (!grown)
		return MNL_CB_ERROR;
	links->link = grown;
	links->link[links->count++] = link;
	return MNL_CB_OK;
}

/* ---- features of the drivers ---- */

static int keep_family(const struct nlmsghdr *message, void *context)
{
	const struct nlattr *attribute;
	uint16_t *family = context;

	mnl_attr_for_each(attribute, message, sizeof(struct genlmsghdr))
	{
		if (mnl_attr_get_type(attribute) == CTRL_ATTR_FAMILY_ID)
			*family = mnl_attr_get_u16(attribute);
	}
	return MNL_CB_OK;
}

static int keep_features(const struct nlmsghdr *message, void *context)
{
	struct rf_interface_facts *facts = context;
	const struct nlattr *attribute;
	uint64_t features;

	mnl_attr_for_each(attribute, message, sizeof(struct genlmsghdr))
	{
		if (mnl_attr_get_type(attribute) != NETDEV_ATTRIBUTE_FEATURES)
			continue;
		features = mnl_attr_get_u64(attribute);
		facts->asked_kernel = true;
		facts->native = features & NETDEV_XDP_BASIC ? RF_YES : RF_NO;
		facts->frags = features & NETDEV_XDP_SEVERAL_BUFFERS ? RF_YES : RF_NO;
	}
	return MNL_CB_OK;
}

static struct nlmsghdr *put_generic(char *buffer, uint16_t family, uint8_t command)
{
	struct nlmsghdr *request = mnl_nlmsg_put_header(buffer);
	struct genlmsghdr *header = mnl_nlmsg_put_extra_header(request, sizeof(*header));

	request->nlmsg_type = family;
	request->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	header->cmd = command;
	header->version = 1;
	return request;
}

/* Linux before 6.3 has no such family, and its drivers' features remain "not known". */
static void ask_features(struct links *links)
{
	struct mnl_socket *socket = rf_netlink_open(NETLINK_GENERIC);
	char buffer[256];
	struct nlmsghdr *request;
	uint16_t family = 0;

	if (!socket)
		return;
	request = put_generic(buffer, GENL_ID_CTRL, CTRL_CMD_GETFAMILY);
	mnl_attr_put_strz(request, CTRL_ATTR_FAMILY_NAME, NETDEV_FAMILY);
	rf_netlink_ask(socket, request, keep_family, &family);
	for (int i = 0; i < links->count && family; i++) {
		request = put_generic(buffer, family, NETDEV_COMMAND_GET);
		mnl_attr_put_u32(request, NETDEV_ATTRIBUTE_INDEX, links->link[i].index);
		rf_netlink_ask(socket, request, keep_features, &links->link[i].facts);
	}
	mnl_socket_close(socket);
}

/* ---- all interfaces ---- */

static void copy_name(const struct links *links, unsigned int index, char name[IF_NAMESIZE])
{
	for (int i = 0; i < links->count; i++)
		if (index && links->link[i].index == index)
			memcpy(name, links->link[i].facts.name, IF_NAMESIZE);
}

int rf_facts_interfaces(struct rf_interface_facts **facts, struct rf_error *error)
{
	struct links links = {};
	int err = rf_netlink_links(0, keep_link, &links, &links.count);
	struct utsname name = {};

	*facts = NULL;
	uname(&name);
	if (!err) {
		ask_features(&links);
		*facts = calloc(links.count + 1, sizeof(**facts));
		err = *facts ? 0 : -ENOMEM;
	}
	for (int i = 0; i < links.count && !err; i++) {
		struct rf_interface_facts *fact = &(*facts)[i];

		*fact = links.link[i].facts;
		copy_name(&links, links.link[i].parent, fact->parent);
		copy_name(&links, links.link[i].master, fact->master);
		fact->kernel = rf_version_of(name.release);
		fact->cpus = sysconf(_SC_NPROCESSORS_ONLN);
		ask_ethtool(fact);
	}
	free(links.link);
	if (err)
		return rf_error_failed(error, err, "cannot list the interfaces of the kernel: %s",
				       strerror(-err));
	return links.count;
}

/* ---- the machine ---- */

#define USER_NAMESPACE_FIRST "user:[4026531837]" /* its number is fixed in the kernel */

/* Reads the rest of the line that starts with `key`; false if not found. */
static bool read_value(const char *path, const char *key, char *value, size_t size)
{
	FILE *file = fopen(path, "re");
	char line[256];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file)) {
		found = strncmp(line, key, strlen(key)) == 0;
		if (found)
			snprintf(value, size, "%s", line + strlen(key));
	}
	if (file)
		fclose(file);
	return found;
}

static uint64_t read_capabilities(void)
{
	unsigned long long capabilities = 0;
	char value[64];

	if (read_value("/proc/self/status", "CapEff:", value, sizeof(value)))
		sscanf(value, "%llx", &capabilities);
	return capabilities;
}

static bool is_in_user_namespace(void)
{
	char name[64] = "";
	ssize_t length = readlink("/proc/self/ns/user", name, sizeof(name) - 1);

	return length > 0 && strcmp(name, USER_NAMESPACE_FIRST) != 0;
}

static enum rf_lockdown read_lockdown(void)
{
	char value[128];

	if (!read_value("/sys/kernel/security/lockdown", "", value, sizeof(value)))
		return RF_LOCKDOWN_UNSEEN;
	if (strstr(value, "[confidentiality]"))
		return RF_LOCKDOWN_CONFIDENTIALITY;
	return strstr(value, "[integrity]") ? RF_LOCKDOWN_INTEGRITY : RF_LOCKDOWN_NONE;
}

void rf_facts_machine(struct rf_machine_facts *machine)
{
	struct utsname name = {};
	struct statfs fs;

	uname(&name);
	snprintf(machine->release, sizeof(machine->release), "%s", name.release);
	machine->btf = access("/sys/kernel/btf/vmlinux", F_OK) == 0;
	machine->bpffs = statfs(RF_BPFFS, &fs) == 0 && fs.f_type == BPF_FS_MAGIC;
	machine->capabilities = read_capabilities();
	machine->in_user_namespace = is_in_user_namespace();
	machine->lockdown = read_lockdown();
}
