// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/netlink.h"
#include "base/own_networks.h"
#include "base/units.h"

/* ---- the SSH connection ---- */

#define VARIABLE "SSH_CONNECTION="
#define PARENTS_MAX 32
#define ENVIRONMENT_MAX (256 * 1024)

/* An address, which can have a scope: fe80::1%eth0. */
static bool parse_peer_address(const char *text, struct rf_prefix *address)
{
	char without_scope[RF_PREFIX_TEXT_SIZE];
	struct rf_error ignored;

	snprintf(without_scope, sizeof(without_scope), "%.*s", (int)strcspn(text, "%"), text);
	return !strchr(without_scope, '/') && !rf_parse_prefix(without_scope, address, &ignored);
}

bool rf_peer_parse(const char *value, struct rf_peer *peer)
{
	char address[RF_PREFIX_TEXT_SIZE] = "", own[RF_PREFIX_TEXT_SIZE] = "";

	*peer = (struct rf_peer){};
	sscanf(value, "%63s %hu %63s %hu", address, &peer->port, own, &peer->own_port);
	peer->has_own = parse_peer_address(own, &peer->own);
	return parse_peer_address(address, &peer->address);
}

static pid_t parent_of(pid_t pid)
{
	char path[64], line[512];
	const char *end;
	FILE *file;
	int parent = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	end = fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
	if (!end || sscanf(end + 1, " %*c %d", &parent) != 1)
		parent = 0;
	fclose(file);
	return parent;
}

/* Searches the initial environment of a process. */
static bool find_in(pid_t pid, struct rf_peer *peer)
{
	char path[64], *environment = malloc(ENVIRONMENT_MAX + 1);
	bool found = false;
	size_t length = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	file = fopen(path, "re");
	if (file && environment)
		length = fread(environment, 1, ENVIRONMENT_MAX, file);
	for (size_t at = 0; at < length && !found; at += strlen(environment + at) + 1) {
		environment[length] = '\0';
		if (!strncmp(environment + at, VARIABLE, strlen(VARIABLE)))
			found = rf_peer_parse(environment + at + strlen(VARIABLE), peer);
	}
	if (file)
		fclose(file);
	free(environment);
	return found;
}

bool rf_own_peer(struct rf_peer *peer)
{
	const char *value = getenv("SSH_CONNECTION");
	pid_t pid = getppid();
	bool found = false;

	if (value)
		return rf_peer_parse(value, peer);
	for (int i = 0; i < PARENTS_MAX && pid > 1 && !found; i++, pid = parent_of(pid))
		found = find_in(pid, peer);
	return found;
}

/* ---- networks ---- */

int rf_own_networks_add(struct rf_own_networks *own, enum rf_own_kind kind,
			const struct rf_prefix *prefix, const char *interface,
			struct rf_error *error)
{
	struct rf_own_network *grown =
		rf_grow(own->network, own->count, &own->capacity, sizeof(*grown), 16);

	if (!grown)
		return rf_error_failed(error, -ENOMEM,
				       "out of memory for the addresses of the host");
	own->network = grown;
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

/* ---- reading ---- */

int rf_own_networks_add_peer(struct rf_own_networks *own, struct rf_error *error)
{
	if (!rf_own_peer(&own->peer))
		return 0;
	return rf_own_networks_add(own, RF_OWN_PEER, &own->peer.address, "", error);
}

/* An interface; those that carry the packets of the fence's interfaces are chosen. */
struct link {
	unsigned int index;
	unsigned int master, lower; /* 0: none */
	bool is_chosen, is_bond;
	bool is_tap;	  /* another process receives its packets, mostly a virtual machine */
	bool forwards[2]; /* IPv4 and IPv6 packets */
	uint64_t mac;	  /* 0: none */
	char name[IF_NAMESIZE];
};

struct reading {
	struct link *link;
	int links;
	size_t capacity;
	struct rf_own_networks *own;
	struct rf_error *error;
	int err;
};

/* Do packets of such an interface arrive at the one below with the same source? */
static bool is_upper(const char *kind)
{
	static const char *const kinds[] = {"vlan", "macvlan", "macvtap", "ipvlan", "ipvtap"};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strcmp(kind, kinds[i]) == 0)
			return true;
	return false;
}

/* Is the value at that place in an array of settings not 0? */
static bool is_set(const struct nlattr *settings, size_t place)
{
	const uint32_t *value = mnl_attr_get_payload(settings);

	return mnl_attr_get_payload_len(settings) > place * sizeof(*value) && value[place];
}

static void parse_forwarding(const struct nlattr *families, struct link *link)
{
	const struct nlattr *family, *attribute;

	mnl_attr_for_each_nested(family, families)
	{
		mnl_attr_for_each_nested(attribute, family)
		{
			const int type = mnl_attr_get_type(attribute);

			if (mnl_attr_get_type(family) == AF_INET && type == IFLA_INET_CONF)
				link->forwards[0] = is_set(attribute, IPV4_DEVCONF_FORWARDING - 1);
			if (mnl_attr_get_type(family) == AF_INET6 && type == IFLA_INET6_CONF)
				link->forwards[1] = is_set(attribute, DEVCONF_FORWARDING);
		}
	}
}

static void parse_link(const struct nlmsghdr *message, struct link *link)
{
	const struct ifinfomsg *info = mnl_nlmsg_get_payload(message);
	const struct nlattr *attribute;
	struct rf_link_state state;
	bool is_elsewhere = false, is_ipvtap;

	*link = (struct link){.index = info->ifi_index};
	rf_netlink_parse_state(message, &state);
	is_ipvtap = strcmp(state.kind, "ipvtap") == 0;
	link->master = state.master;
	link->is_bond = strcmp(state.kind, "bond") == 0;
	link->is_tap = is_ipvtap || strcmp(state.kind, "macvtap") == 0;
	mnl_attr_for_each(attribute, message, sizeof(*info))
	{
		switch (mnl_attr_get_type(attribute)) {
		case IFLA_LINK:
			link->lower = mnl_attr_get_u32(attribute);
			break;
		case IFLA_LINK_NETNSID: /* then that index is of another namespace */
			is_elsewhere = true;
			break;
		case IFLA_ADDRESS:
			link->mac = rf_netlink_parse_mac(attribute);
			break;
		case IFLA_AF_SPEC:
			parse_forwarding(attribute, link);
			break;
		case IFLA_IFNAME:
			snprintf(link->name, sizeof(link->name), "%s", mnl_attr_get_str(attribute));
			break;
		}
	}
	if (is_elsewhere || !is_upper(state.kind))
		link->lower = 0;
	if (is_ipvtap) /* it has the address of the interface below */
		link->mac = 0;
}

static int keep_link(const struct nlmsghdr *message, void *context)
{
	struct reading *reading = context;
	struct link *grown =
		rf_grow(reading->link, reading->links, &reading->capacity, sizeof(*grown), 16);

	if (!grown) {
		reading->err = rf_error_failed(reading->error, -ENOMEM,
					       "out of memory for the interfaces");
		return MNL_CB_STOP;
	}
	reading->link = grown;
	parse_link(message, &reading->link[reading->links++]);
	return MNL_CB_OK;
}

static struct link *find_link(const struct reading *reading, unsigned int index)
{
	for (int i = 0; index && i < reading->links; i++)
		if (reading->link[i].index == index)
			return &reading->link[i];
	return NULL;
}

static bool is_chosen(const struct reading *reading, unsigned int index)
{
	const struct link *link = find_link(reading, index);

	return link && link->is_chosen;
}

/* Chooses the masters of the chosen, and the VLANs and the like upon them, and what these have. */
static void choose_upper(struct reading *reading)
{
	bool is_new = true;

	while (is_new) {
		is_new = false;
		for (int i = 0; i < reading->links; i++) {
			struct link *link = &reading->link[i];
			struct link *master =
				link->is_chosen ? find_link(reading, link->master) : NULL;

			if (master && !master->is_chosen)
				is_new = master->is_chosen = true;
			if (!link->is_chosen && is_chosen(reading, link->lower))
				is_new = link->is_chosen = true;
		}
	}
}

/* False: it is no address of that family. */
static bool read_prefix(const struct nlattr *attribute, int family, unsigned int length,
			struct rf_prefix *prefix)
{
	const size_t size = family == AF_INET ? 4 : 16;

	*prefix = (struct rf_prefix){.version = family == AF_INET ? 4 : 6, .length = length};
	if (!attribute || (family != AF_INET && family != AF_INET6) || length > size * 8 ||
	    mnl_attr_get_payload_len(attribute) != size)
		return false;
	memcpy(prefix->word, mnl_attr_get_payload(attribute), size);
	for (unsigned int i = 0; i < 4; i++)
		prefix->word[i] &= rf_prefix_mask(length, i);
	return true;
}

static int add(struct reading *reading, enum rf_own_kind kind, const struct rf_prefix *prefix,
	       unsigned int index)
{
	const struct link *link = find_link(reading, index);

	if (!link || !link->is_chosen)
		return MNL_CB_OK;
	for (size_t i = 0; i < reading->own->count; i++)
		if (reading->own->network[i].kind == kind &&
		    !rf_prefix_compare(&reading->own->network[i].prefix, prefix))
			return MNL_CB_OK;
	reading->err = rf_own_networks_add(reading->own, kind, prefix, link->name, reading->error);
	return reading->err ? MNL_CB_STOP : MNL_CB_OK;
}

/* For a point-to-point link, IFA_ADDRESS is the remote address. */
static int keep_address(const struct nlmsghdr *message, void *context)
{
	const struct ifaddrmsg *info = mnl_nlmsg_get_payload(message);
	const struct nlattr *attribute, *address = NULL, *local = NULL;
	struct reading *reading = context;
	struct rf_prefix subnet, own;

	mnl_attr_for_each(attribute, message, sizeof(*info))
	{
		if (mnl_attr_get_type(attribute) == IFA_ADDRESS)
			address = attribute;
		if (mnl_attr_get_type(attribute) == IFA_LOCAL)
			local = attribute;
	}
	if (!read_prefix(address, info->ifa_family, info->ifa_prefixlen, &subnet))
		return MNL_CB_OK;
	if (subnet.length == rf_prefix_length_max(subnet.version) &&
	    (!read_prefix(local, info->ifa_family, subnet.length, &own) ||
	     !rf_prefix_compare(&own, &subnet))) {
		reading->own->has_host[subnet.version == 6] |= is_chosen(reading, info->ifa_index);
		return MNL_CB_OK;
	}
	return add(context, RF_OWN_SUBNET, &subnet, info->ifa_index);
}

/* An address of either family: RTA_VIA starts with its family. */
static bool read_gateway(const struct nlattr *attribute, int family, struct rf_prefix *gateway)
{
	const struct rtvia *via = mnl_attr_get_payload(attribute);
	const size_t length = mnl_attr_get_payload_len(attribute);

	if (mnl_attr_get_type(attribute) == RTA_GATEWAY)
		return read_prefix(attribute, family, family == AF_INET ? 32 : 128, gateway);
	if (mnl_attr_get_type(attribute) != RTA_VIA || length != sizeof(*via) + 16 ||
	    via->rtvia_family != AF_INET6)
		return false;
	*gateway = (struct rf_prefix){.version = 6, .length = 128};
	memcpy(gateway->word, via->rtvia_addr, 16);
	return true;
}

/* The gateways of a route over several. */
static int keep_several(struct reading *reading, const struct nlattr *several, int family)
{
	const struct rtnexthop *next = mnl_attr_get_payload(several);
	int left = mnl_attr_get_payload_len(several), result = MNL_CB_OK;
	struct rf_prefix gateway;

	for (; result == MNL_CB_OK && RTNH_OK(next, left);
	     left -= RTNH_ALIGN(next->rtnh_len), next = RTNH_NEXT(next)) {
		const struct nlattr *attribute = (const struct nlattr *)RTNH_DATA(next);
		int size = next->rtnh_len - RTNH_LENGTH(0);

		for (; mnl_attr_ok(attribute, size);
		     size -= MNL_ALIGN(attribute->nla_len), attribute = mnl_attr_next(attribute))
			if (read_gateway(attribute, family, &gateway))
				result = add(reading, RF_OWN_GATEWAY, &gateway, next->rtnh_ifindex);
	}
	return result;
}

static int keep_route(const struct nlmsghdr *message, void *context)
{
	const struct rtmsg *info = mnl_nlmsg_get_payload(message);
	const struct nlattr *attribute, *several = NULL;
	struct reading *reading = context;
	struct rf_prefix gateway;
	unsigned int index = 0;
	bool has_gateway = false;

	if (info->rtm_dst_len || info->rtm_type != RTN_UNICAST)
		return MNL_CB_OK;
	mnl_attr_for_each(attribute, message, sizeof(*info))
	{
		if (mnl_attr_get_type(attribute) == RTA_OIF)
			index = mnl_attr_get_u32(attribute);
		else if (mnl_attr_get_type(attribute) == RTA_MULTIPATH)
			several = attribute;
		else
			has_gateway |= read_gateway(attribute, info->rtm_family, &gateway);
	}
	if (several)
		return keep_several(reading, several, info->rtm_family);
	return has_gateway ? add(reading, RF_OWN_GATEWAY, &gateway, index) : MNL_CB_OK;
}

/* Lists the results of a type of requests, for both families. */
static int dump(struct reading *reading, uint16_t type, size_t header, mnl_cb_t keep)
{
	struct mnl_socket *socket = rf_netlink_open(NETLINK_ROUTE);
	char buffer[256];
	struct nlmsghdr *request = mnl_nlmsg_put_header(buffer);
	int err;

	if (!socket)
		return -errno;
	mnl_nlmsg_put_extra_header(request, header); /* all 0: of any family and interface */
	request->nlmsg_type = type;
	request->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	err = rf_netlink_ask(socket, request, keep, reading);
	mnl_socket_close(socket);
	return reading->err ? reading->err : err;
}

/* EINTR: the list changed while it was read. */
static int dump_until_whole(struct reading *reading, uint16_t type, size_t header, mnl_cb_t keep)
{
	const size_t before = reading->own->count;
	int err = -EINTR;

	for (int i = 0; i < RF_DUMP_TRIES && err == -EINTR; i++) {
		reading->own->count = before;
		err = dump(reading, type, header, keep);
	}
	return err;
}

/* Reads the interfaces, and chooses those at `index`, and those that carry their packets. */
static int read_links(struct reading *reading, const unsigned int *index, size_t count)
{
	const int err = rf_netlink_links(0, keep_link, reading, &reading->links);

	for (size_t i = 0; i < count; i++) {
		struct link *link = find_link(reading, index[i]);

		if (link)
			link->is_chosen = true;
	}
	choose_upper(reading);
	return err;
}

static int end_reading(struct reading *reading, int err, const char *what)
{
	free(reading->link);
	if (reading->err)
		return reading->err;
	if (err)
		return rf_error_failed(reading->error, err, "cannot read the %s of the host: %s",
				       what, strerror(-err));
	return 0;
}

static int read_of(struct rf_own_networks *own, const unsigned int *index, size_t count,
		   uint16_t type, size_t header, mnl_cb_t keep, struct rf_error *error)
{
	struct reading reading = {.own = own, .error = error};
	int err = count ? read_links(&reading, index, count) : 0;

	if (!err && !reading.err && count)
		err = dump_until_whole(&reading, type, header, keep);
	return end_reading(&reading, err, "addresses");
}

int rf_own_networks_read(struct rf_own_networks *own, const unsigned int *index, size_t count,
			 struct rf_error *error)
{
	return read_of(own, index, count, RTM_GETADDR, sizeof(struct ifaddrmsg), keep_address,
		       error);
}

int rf_own_networks_read_gateways(struct rf_own_networks *own, const unsigned int *index,
				  size_t count, struct rf_error *error)
{
	return read_of(own, index, count, RTM_GETROUTE, sizeof(struct rtmsg), keep_route, error);
}

/* ---- Ethernet addresses ---- */

static bool is_member_of_bond(const struct reading *reading, const struct link *link)
{
	const struct link *master = find_link(reading, link->master);

	return master && master->is_bond && master->is_chosen;
}

/*
 * The program cannot distinguish the packets of an interface from those of a VLAN on it. If only
 * one of them forwards packets, a packet to its Ethernet address can be for another host.
 */
static bool forwards_alone(const struct reading *reading, const struct link *link)
{
	for (int i = 0; link->is_chosen && !link->is_tap && i < reading->links; i++) {
		const struct link *other = &reading->link[i];

		if (other->is_chosen && !other->is_tap &&
		    ((link->forwards[0] && !other->forwards[0]) ||
		     (link->forwards[1] && !other->forwards[1])))
			return true;
	}
	return false;
}

/*
 * Clears the addresses of those that forward alone, also on other interfaces. The same for a
 * macvtap, whose packets a virtual machine receives; in mode passthru it has the address of the
 * interface below, and receives all of its packets.
 */
static void clear_foreign(struct reading *reading)
{
	for (int i = 0; i < reading->links; i++) {
		const uint64_t mac = reading->link[i].mac;

		if (!reading->link[i].is_tap && !forwards_alone(reading, &reading->link[i]))
			continue;
		for (int j = 0; j < reading->links; j++)
			if (reading->link[j].mac == mac)
				reading->link[j].mac = 0;
	}
}

static int add_mac(uint64_t *mac, int macs, int most, uint64_t added)
{
	for (int i = 0; i < macs; i++)
		if (mac[i] == added)
			return macs;
	if (added && macs < most)
		mac[macs++] = added;
	return macs;
}

int rf_own_macs_read(uint64_t *mac, int most, const unsigned int *index, size_t count,
		     struct rf_error *error)
{
	struct reading reading = {.error = error};
	int macs = 0, err = read_links(&reading, index, count);

	clear_foreign(&reading);
	for (int i = 0; i < reading.links; i++)
		if (reading.link[i].is_chosen || is_member_of_bond(&reading, &reading.link[i]))
			macs = add_mac(mac, macs, most, reading.link[i].mac);
	for (int i = 0; i < reading.links; i++)
		macs = add_mac(mac, macs, most, reading.link[i].mac);
	err = end_reading(&reading, err, "interfaces");
	return err ? err : macs;
}
