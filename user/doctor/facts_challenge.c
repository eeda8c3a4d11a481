// SPDX-License-Identifier: GPL-2.0
/* The facts for challenges and other responses: of this network namespace, and of the peer of a
 * veth. */
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>

#include "base/netlink.h"
#include "doctor/facts.h"

/* ---- sockets ---- */

/* A line of /proc/net/tcp, udp, tcp6 or udp6. */
struct socket_line {
	struct in6_addr address; /* of IPv4: the first word */
	bool is_ipv6;
	unsigned int port, peer_port, state;
};

/* Each word of an address is printed as a number in the byte order of the host. */
static bool parse_socket(const char *line, struct socket_line *its)
{
	unsigned int word[4] = {};
	char address[33];

	if (sscanf(line, " %*d: %32[0-9A-F]:%x %*32[0-9A-F]:%x %x", address, &its->port,
		   &its->peer_port, &its->state) != 4)
		return false;
	its->is_ipv6 = strlen(address) == 32;
	if (sscanf(address, "%8x%8x%8x%8x", &word[0], &word[1], &word[2], &word[3]) < 1)
		return false;
	memcpy(&its->address, word, sizeof(its->address));
	return true;
}

static bool is_on_loopback(const struct socket_line *its)
{
	return its->is_ipv6 ? IN6_IS_ADDR_LOOPBACK(&its->address) : its->address.s6_addr[0] == 127;
}

/* The kernel lists the listening sockets first, so a host's many connections are not read. */
static void read_listeners(const char *path, struct rf_challenge_facts *challenge)
{
	FILE *file = fopen(path, "re");
	struct socket_line its;
	char line[256];

	if (!file)
		return;
	if (challenge->listens == RF_NOT_KNOWN)
		challenge->listens = RF_NO;
	if (fgets(line, sizeof(line), file)) /* the heading */
		while (fgets(line, sizeof(line), file) && parse_socket(line, &its) &&
		       its.state == TCP_LISTEN) {
			if (is_on_loopback(&its))
				continue;
			challenge->listens = RF_YES;
			for (int i = 0; i < challenge->dns_ports; i++)
				challenge->dns[i].has_tcp |= challenge->dns[i].port == its.port;
		}
	fclose(file);
}

/* A server's socket is connected to no peer. */
static void read_udp(const char *path, struct rf_challenge_facts *challenge)
{
	FILE *file = fopen(path, "re");
	struct socket_line its;
	char line[256];

	if (!file)
		return;
	while (fgets(line, sizeof(line), file))
		if (parse_socket(line, &its) && !its.peer_port && !is_on_loopback(&its))
			for (int i = 0; i < challenge->dns_ports; i++)
				challenge->dns[i].has_udp |= challenge->dns[i].port == its.port;
	fclose(file);
}

/* ---- the peer of a veth in another network namespace ---- */

static int keep_program(const struct nlmsghdr *message, void *context)
{
	const struct nlattr *attribute, *inner;
	enum rf_answer *has_program = context;

	*has_program = RF_NO;
	mnl_attr_for_each(attribute, message, sizeof(struct ifinfomsg))
	{
		if (mnl_attr_get_type(attribute) != IFLA_XDP)
			continue;
		mnl_attr_for_each_nested(inner, attribute)
		{
			if (mnl_attr_get_type(inner) == IFLA_XDP_DRV_PROG_ID)
				*has_program = RF_YES;
		}
	}
	return MNL_CB_OK;
}

/* Without the privileges in that namespace, the result remains "not known". */
static enum rf_answer ask_program(unsigned int index, uint32_t namespace)
{
	struct mnl_socket *socket = rf_netlink_open(NETLINK_ROUTE);
	enum rf_answer has_program = RF_NOT_KNOWN;
	char buffer[256];
	struct nlmsghdr *request = mnl_nlmsg_put_header(buffer);
	struct ifinfomsg *link = mnl_nlmsg_put_extra_header(request, sizeof(*link));

	if (!socket)
		return RF_NOT_KNOWN;
	request->nlmsg_type = RTM_GETLINK;
	request->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	link->ifi_index = index;
	mnl_attr_put_u32(request, IFLA_TARGET_NETNSID, namespace);
	rf_netlink_ask(socket, request, keep_program, &has_program);
	mnl_socket_close(socket);
	return has_program;
}

/* ---- all ---- */

static int read_forwarding(const char *family, const char *interface)
{
	char name[64];

	snprintf(name, sizeof(name), "%s/conf/%s/forwarding", family, interface);
	return rf_net_setting(name);
}

void rf_facts_challenge(struct rf_interface_facts *facts)
{
	struct rf_challenge_facts *challenge = &facts->challenge;

	challenge->syncookies = rf_net_setting(RF_SYNCOOKIES);
	challenge->timestamps = rf_net_setting("ipv4/tcp_timestamps");
	challenge->fast_open = rf_net_setting("ipv4/tcp_fastopen");
	challenge->conntrack_loose = rf_net_setting("netfilter/nf_conntrack_tcp_loose");
	challenge->forwards4 = read_forwarding("ipv4", facts->name) > 0;
	challenge->forwards6 = read_forwarding("ipv6", facts->name) > 0;
	read_listeners("/proc/self/net/tcp", challenge);
	read_listeners("/proc/self/net/tcp6", challenge);
	read_udp("/proc/self/net/udp", challenge);
	read_udp("/proc/self/net/udp6", challenge);
	if (facts->parent_index && strcmp(facts->kind, "veth") == 0)
		challenge->peer_receives =
			ask_program(facts->parent_index, facts->parent_namespace);
}
