// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <inttypes.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <linux/if_arp.h> /* after net/if.h: in this order they do not conflict */

#include "base/netlink.h"
#include "base/text.h"
#include "base/units.h"

#define BUFFER_SIZE 32768 /* the most that the kernel writes for one read */
#define ETHERNET_MTU 1500

struct mnl_socket *rf_netlink_open(int bus)
{
	struct mnl_socket *socket = mnl_socket_open2(bus, SOCK_CLOEXEC);

	if (socket && mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID) < 0) {
		const int err = errno;

		mnl_socket_close(socket);
		errno = err;
		return NULL;
	}
	return socket;
}

int rf_netlink_ask(struct mnl_socket *socket, struct nlmsghdr *request, mnl_cb_t keep,
		   void *context)
{
	char buffer[BUFFER_SIZE];
	int result = MNL_CB_OK;

	if (mnl_socket_sendto(socket, request, request->nlmsg_len) < 0)
		return -errno;
	while (result > MNL_CB_STOP) {
		ssize_t length = mnl_socket_recvfrom(socket, buffer, sizeof(buffer));

		if (length < 0)
			return -errno;
		result =
			mnl_cb_run(buffer, length, 0, mnl_socket_get_portid(socket), keep, context);
	}
	return result < 0 ? -errno : 0;
}

/* Of all links, or of one by its index, or of a master's ports. */
static int ask_links(unsigned int index, unsigned int master, mnl_cb_t keep, void *context)
{
	struct mnl_socket *socket = rf_netlink_open(NETLINK_ROUTE);
	char buffer[256];
	struct nlmsghdr *request = mnl_nlmsg_put_header(buffer);
	struct ifinfomsg *link = mnl_nlmsg_put_extra_header(request, sizeof(*link));
	int err;

	if (!socket)
		return -errno;
	request->nlmsg_type = RTM_GETLINK;
	request->nlmsg_flags = NLM_F_REQUEST | (index ? NLM_F_ACK : NLM_F_DUMP);
	link->ifi_index = index;
	if (master)
		mnl_attr_put_u32(request, IFLA_MASTER, master);
	err = rf_netlink_ask(socket, request, keep, context);
	mnl_socket_close(socket);
	return err;
}

/* EINTR: the list changed while it was read. Reads it again, by a new socket. */
static int ask_until_whole(unsigned int index, unsigned int master, mnl_cb_t keep, void *context,
			   int *count)
{
	int err = -EINTR;

	for (int i = 0; i < RF_DUMP_TRIES && err == -EINTR; i++) {
		*count = 0;
		err = ask_links(index, master, keep, context);
	}
	return err;
}

int rf_netlink_links(unsigned int index, mnl_cb_t keep, void *context, int *count)
{
	return ask_until_whole(index, 0, keep, context, count);
}

int rf_netlink_members(unsigned int master, mnl_cb_t keep, void *context, int *count)
{
	return ask_until_whole(0, master, keep, context, count);
}

static void keep_kind(const struct nlattr *info, struct rf_link_state *state)
{
	const struct nlattr *attribute;

	mnl_attr_for_each_nested(attribute, info)
	{
		if (mnl_attr_get_type(attribute) == IFLA_INFO_KIND)
			snprintf(state->kind, sizeof(state->kind), "%s",
				 mnl_attr_get_str(attribute));
	}
}

static void keep_attribute(const struct nlattr *attribute, struct rf_link_state *state)
{
	struct rtnl_link_stats64 stats;

	switch (mnl_attr_get_type(attribute)) {
	case IFLA_MTU:
		state->mtu = mnl_attr_get_u32(attribute);
		break;
	case IFLA_MASTER:
		state->master = mnl_attr_get_u32(attribute);
		break;
	case IFLA_CARRIER:
		state->has_carrier = mnl_attr_get_u8(attribute);
		break;
	case IFLA_CARRIER_CHANGES:
		state->carrier_changes = mnl_attr_get_u32(attribute);
		break;
	case IFLA_LINKINFO:
		keep_kind(attribute, state);
		break;
	case IFLA_STATS64: /* a newer kernel has more, and it can be unaligned */
		if (mnl_attr_get_payload_len(attribute) < sizeof(stats.rx_packets))
			break;
		memcpy(&stats.rx_packets, mnl_attr_get_payload(attribute),
		       sizeof(stats.rx_packets)); /* the first */
		state->rx_packets = stats.rx_packets;
		break;
	}
}

uint64_t rf_netlink_parse_mac(const struct nlattr *attribute)
{
	const uint8_t *byte = mnl_attr_get_payload(attribute);
	uint64_t mac = 0;

	for (int i = 0; mnl_attr_get_payload_len(attribute) == ETH_ALEN && i < ETH_ALEN; i++)
		mac |= (uint64_t)byte[i] << 8 * i;
	return mac;
}

void rf_netlink_parse_state(const struct nlmsghdr *message, struct rf_link_state *state)
{
	const struct ifinfomsg *link = mnl_nlmsg_get_payload(message);
	const struct nlattr *attribute;

	*state = (struct rf_link_state){};
	state->is_up = link->ifi_flags & IFF_UP;
	mnl_attr_for_each(attribute, message, sizeof(*link))
	{
		keep_attribute(attribute, state);
	}
}

static int keep_state(const struct nlmsghdr *message, void *context)
{
	rf_netlink_parse_state(message, context);
	return MNL_CB_OK;
}

int rf_netlink_state(unsigned int index, struct rf_link_state *state)
{
	*state = (struct rf_link_state){};
	return index ? ask_links(index, 0, keep_state, state) : -ENODEV;
}

unsigned int rf_netlink_mtu(const char *name)
{
	struct rf_link_state state;

	if (rf_netlink_state(if_nametoindex(name), &state) || !state.mtu)
		return ETHERNET_MTU;
	return state.mtu;
}

/* ---- XDP ---- */

/* The kernel's reason behind its reply, and behind the copy of the request if present. */
static void read_reason(const struct nlmsghdr *message, char *reason)
{
	const struct nlmsgerr *answer = mnl_nlmsg_get_payload(message);
	const struct nlattr *attribute;
	size_t offset = sizeof(*answer);

	if (!(message->nlmsg_flags & NLM_F_CAPPED))
		offset += mnl_nlmsg_get_payload_len(&answer->msg);
	mnl_attr_for_each(attribute, message, offset)
	{
		if (mnl_attr_get_type(attribute) == NLMSGERR_ATTR_MSG)
			snprintf(reason, RF_REASON_SIZE, "%.*s",
				 (int)mnl_attr_get_payload_len(attribute),
				 mnl_attr_get_str(attribute));
	}
	rf_hide_controls(reason, false);
}

static int keep_reason(const struct nlmsghdr *message, void *reason)
{
	const struct nlmsgerr *answer = mnl_nlmsg_get_payload(message);

	if (message->nlmsg_flags & NLM_F_ACK_TLVS)
		read_reason(message, reason);
	errno = -answer->error;
	return answer->error ? MNL_CB_ERROR : MNL_CB_STOP;
}

static int ask_with_reason(struct mnl_socket *socket, struct nlmsghdr *request, char *reason)
{
	static mnl_cb_t answers[] = {[NLMSG_ERROR] = keep_reason};
	char buffer[BUFFER_SIZE];
	ssize_t length;
	int on = 1;

	/* Kernels without either write no reason. */
	mnl_socket_setsockopt(socket, NETLINK_EXT_ACK, &on, sizeof(on));
	mnl_socket_setsockopt(socket, NETLINK_CAP_ACK, &on, sizeof(on));
	if (mnl_socket_sendto(socket, request, request->nlmsg_len) < 0)
		return -errno;
	length = mnl_socket_recvfrom(socket, buffer, sizeof(buffer));
	if (length < 0)
		return -errno;
	return mnl_cb_run2(buffer, length, 0, mnl_socket_get_portid(socket), NULL, reason, answers,
			   sizeof(answers) / sizeof(*answers)) < 0
		       ? -errno
		       : 0;
}

int rf_netlink_set_xdp(unsigned int index, int program_fd, uint32_t flags, int expected_fd,
		       char reason[RF_REASON_SIZE])
{
	struct mnl_socket *socket = rf_netlink_open(NETLINK_ROUTE);
	char buffer[256];
	struct nlmsghdr *request = mnl_nlmsg_put_header(buffer);
	struct ifinfomsg *link = mnl_nlmsg_put_extra_header(request, sizeof(*link));
	struct nlattr *xdp = mnl_attr_nest_start(request, IFLA_XDP);
	int err;

	*reason = '\0';
	if (!socket)
		return -errno;
	request->nlmsg_type = RTM_SETLINK;
	request->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	link->ifi_index = index;
	mnl_attr_put_u32(request, IFLA_XDP_FD, program_fd);
	mnl_attr_put_u32(request, IFLA_XDP_FLAGS, flags);
	if (flags & XDP_FLAGS_REPLACE)
		mnl_attr_put_u32(request, IFLA_XDP_EXPECTED_FD, expected_fd);
	mnl_attr_nest_end(request, xdp);
	err = ask_with_reason(socket, request, reason);
	mnl_socket_close(socket);
	return err;
}

/* ---- what interfaces have received ---- */

/* "  eth0: BYTES PACKETS …", in which a name can have colons. Returns NULL for any other line. */
static const char *split_line(char *line, uint64_t *packets)
{
	char *end = strrchr(line, ':');
	uint64_t bytes;

	if (!end || sscanf(end, ": %" SCNu64 " %" SCNu64, &bytes, packets) != 2)
		return NULL;
	*end = '\0';
	return line + strspn(line, " ");
}

void rf_received_parse(FILE *list, struct rf_received *received, size_t count)
{
	char line[512];

	while (fgets(line, sizeof(line), list)) {
		uint64_t packets;
		const char *name = split_line(line, &packets);

		for (size_t i = 0; name && i < count; i++)
			if (strcmp(received[i].name, name) == 0)
				received[i].packets = packets;
	}
}

void rf_received_read(struct rf_received *received, size_t count)
{
	FILE *list = fopen("/proc/net/dev", "re");

	if (!list)
		return;
	rf_received_parse(list, received, count);
	fclose(list);
}

/* ---- settings ---- */

int rf_net_setting(const char *name)
{
	char path[128];
	FILE *file;
	int value;

	snprintf(path, sizeof(path), "/proc/sys/net/%s", name);
	file = fopen(path, "re");
	if (!file)
		return -1;
	if (fscanf(file, "%d", &value) != 1)
		value = -1;
	fclose(file);
	return value;
}

/* ---- hardware types ---- */

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
