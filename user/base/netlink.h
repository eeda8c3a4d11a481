/* SPDX-License-Identifier: GPL-2.0 */
/* Asking the kernel by netlink. A function that can fail returns 0 or a negative errno. */
#ifndef RINGFENCE_NETLINK_H
#define RINGFENCE_NETLINK_H

#include <libmnl/libmnl.h>
#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A new, bound socket; the caller closes it by mnl_socket_close(). NULL with errno on failure. */
struct mnl_socket *rf_netlink_open(int bus);
/* Sends a request, and calls `keep` with each reply. */
int rf_netlink_ask(struct mnl_socket *socket, struct nlmsghdr *request, mnl_cb_t keep,
		   void *context);

#define RF_DUMP_TRIES 20 /* a list that changes while it is read fails with EINTR */

/*
 * Calls `keep` with one interface, or with each if `index` is 0. A list that changes while it is
 * read is read again; `*count`, the number of interfaces that `keep` has stored, is set to 0 before
 * each reading.
 */
int rf_netlink_links(unsigned int index, mnl_cb_t keep, void *context, int *count);
/* The same with each interface whose master has that index. */
int rf_netlink_members(unsigned int master, mnl_cb_t keep, void *context, int *count);
/* An Ethernet address of IFLA_ADDRESS, the first byte lowest; 0: it is not of Ethernet. */
uint64_t rf_netlink_parse_mac(const struct nlattr *attribute);
/* The MTU of an interface; Ethernet's if it cannot be read. */
unsigned int rf_netlink_mtu(const char *name);

#define RF_REASON_SIZE 160

/*
 * Sets the XDP program of an interface, with XDP_FLAGS_… in `flags`; XDP_FLAGS_REPLACE replaces
 * `expected_fd`. `reason`: the extack of the kernel or the driver after a refusal, without control
 * characters; "" if empty. libbpf (1.1) logs that text, but reads uninitialized memory, so the text
 * is sometimes empty.
 */
int rf_netlink_set_xdp(unsigned int index, int program_fd, uint32_t flags, int expected_fd,
		       char reason[RF_REASON_SIZE]);

#define RF_LINK_KIND_SIZE 16

/* The kernel's information about an interface; a driver can update its counters late. */
struct rf_link_state {
	uint64_t rx_packets;
	uint32_t carrier_changes;
	unsigned int mtu;
	unsigned int master; /* 0: none */
	bool is_up;	     /* set up, whether or not it has a carrier */
	bool has_carrier;
	char kind[RF_LINK_KIND_SIZE]; /* veth, bond, tun …; "" for hardware */
};

int rf_netlink_state(unsigned int index, struct rf_link_state *state);
/* Reads one interface of a list. */
void rf_netlink_parse_state(const struct nlmsghdr *message, struct rf_link_state *state);

/* ---- what interfaces have received ---- */

/* The packets received by an interface, as `ip -s link` prints them. */
struct rf_received {
	char name[IF_NAMESIZE];
	uint64_t packets; /* as before where the interface is not listed */
};

/*
 * Fills in the packets of each. It reads /proc/net/dev: a netlink reply waits for the lock of
 * changes of network devices, which a driver holds while it reconfigures its rings.
 */
void rf_received_read(struct rf_received *received, size_t count);
/* The same of such a list. */
void rf_received_parse(FILE *list, struct rf_received *received, size_t count);

/* ---- settings ---- */

/*
 * A number in /proc/sys/net of this process's network namespace; -1: it cannot be read. `name` is
 * as in RF_SYNCOOKIES.
 */
int rf_net_setting(const char *name);

#define RF_SYNCOOKIES "ipv4/tcp_syncookies"
#define RF_SYNCOOKIES_ALWAYS 2 /* as challenges of newcomers require */

/* ---- hardware types ---- */

/*
 * Does an interface of that hardware type (ARPHRD_… of linux/if_arp.h) have Ethernet headers? On
 * one without, the program passes all packets: tun, wireguard, ipip, gre, sit, ppp …
 */
bool rf_has_ethernet(unsigned int hardware);
/* The name of a hardware type. */
const char *rf_hardware_name(unsigned int hardware);

#endif /* RINGFENCE_NETLINK_H */
