/* SPDX-License-Identifier: GPL-2.0 */
/* Asking the kernel by netlink. What can fail returns 0 or a negative errno. */
#ifndef RINGFENCE_NETLINK_H
#define RINGFENCE_NETLINK_H

#include <libmnl/libmnl.h>

/* A bound socket, to be closed by mnl_socket_close(); NULL and errno. */
struct mnl_socket *rf_netlink_open(int bus);
/* Sends a request, and has `keep` read each answer. */
int rf_netlink_ask(struct mnl_socket *socket, struct nlmsghdr *request, mnl_cb_t keep,
		   void *context);

/*
 * Has `keep` read one interface, or all where `index` is 0. A list that changes while it is read is
 * read again; `*count`, of what `keep` has kept, is 0 whenever reading begins.
 */
int rf_netlink_links(unsigned int index, mnl_cb_t keep, void *context, int *count);
/* That of Ethernet where it cannot be read. */
unsigned int rf_netlink_mtu(const char *name);

#endif /* RINGFENCE_NETLINK_H */
