// SPDX-License-Identifier: GPL-2.0
/*
 * Interfaces by netlink: rtnetlink tells their properties, and the generic family `netdev` tells
 * the features of their drivers. /sys/class/net would not do: it shows the network namespace that
 * mounted it, which may be another one.
 */
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/netlink.h"
#include "doctor/facts.h"

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
		case IFLA_LINK_NETNSID:
			elsewhere = true; /* the index is one of another network namespace */
			break;
		case IFLA_MASTER:
			link.master = mnl_attr_get_u32(attribute);
			break;
		case IFLA_LINKINFO:
			read_kind(attribute, &link.facts);
			break;
		}
	}
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

/* Linux before 6.3 has no such family, and its drivers' features stay "not known". */
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

/* ---- all of it ---- */

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
		rf_facts_ethtool(fact);
	}
	free(links.link);
	if (err)
		return rf_error_failed(error, err, "cannot ask the kernel for interfaces: %s",
				       strerror(-err));
	return links.count;
}
