// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stddef.h>

#include "base/netlink.h"

#define BUFFER_SIZE 32768 /* the most that the kernel writes for one read */
#define DUMP_TRIES 20	  /* a dump fails if an interface comes or goes meanwhile */
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

static int ask_links(unsigned int index, mnl_cb_t keep, void *context)
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
	err = rf_netlink_ask(socket, request, keep, context);
	mnl_socket_close(socket);
	return err;
}

/* EINTR: the list changed while it was read. Reads it again, by a new socket. */
int rf_netlink_links(unsigned int index, mnl_cb_t keep, void *context, int *count)
{
	int err = -EINTR;

	for (int i = 0; i < DUMP_TRIES && err == -EINTR; i++) {
		*count = 0;
		err = ask_links(index, keep, context);
	}
	return err;
}

static int keep_mtu(const struct nlmsghdr *message, void *context)
{
	const struct nlattr *attribute;
	unsigned int *mtu = context;

	mnl_attr_for_each(attribute, message, sizeof(struct ifinfomsg))
	{
		if (mnl_attr_get_type(attribute) == IFLA_MTU)
			*mtu = mnl_attr_get_u32(attribute);
	}
	return MNL_CB_OK;
}

unsigned int rf_netlink_mtu(const char *name)
{
	const unsigned int index = if_nametoindex(name);
	unsigned int mtu = ETHERNET_MTU;

	if (index)
		ask_links(index, keep_mtu, &mtu);
	return mtu;
}
