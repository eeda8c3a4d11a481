/* SPDX-License-Identifier: GPL-2.0 */
/* Which XDP programs are on which interfaces, whoever's, and the chains of libxdp's dispatcher. */
#ifndef RINGFENCE_INTERFACES_H
#define RINGFENCE_INTERFACES_H

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/mode.h"
#include "kernel/pins.h"
#include "kernel/program.h"
#include "ringfence/abi.h"

#define RF_CHAIN_MAX 10 /* as libxdp has it */

/* A program that is on an interface beside others, in a chain that libxdp's dispatcher calls. */
struct rf_component {
	char name[64]; /* longer than the kernel's where its BTF tells */
	uint32_t id;
	uint32_t config_id; /* of its fence; 0: not ours */
};

struct rf_chain {
	uint32_t dispatcher_id;			     /* 0: no chain, the program is alone */
	int count;				     /* 0: it could not be read */
	struct rf_component component[RF_CHAIN_MAX]; /* in the order in which they run */
};

/* An interface with an XDP program. */
struct rf_interface {
	char name[IF_NAMESIZE];
	unsigned int index;
	unsigned int hardware; /* ARPHRD_… of linux/if_arp.h */
	enum rf_mode mode;
	bool by_link;	     /* by `ringfence attach`: its bpf_link is pinned; `ip` uses netlink */
	uint32_t program_id; /* in a chain: ours if it is there, else the dispatcher */
	struct rf_chain chain;
};

/* An interface, under the name that the kernel has for it, and its program; program_id 0: none. */
int rf_interface_query(const char *name, struct rf_interface *interface, struct rf_error *error);

/*
 * All interfaces with an XDP program, whoever's. Returns how many; the caller frees `*interfaces`,
 * in any case.
 */
int rf_interfaces_scan(struct rf_interface **interfaces, struct rf_error *error);

/* Those whose program uses `map_id` as its configuration. */
int rf_interfaces_of(uint32_t map_id, struct rf_interface **interfaces, struct rf_error *error);

/* The name of an interface that the fence with these pins is on; false: it is on none here. */
bool rf_interface_of_pins(const struct rf_pin_path *directory, char name[IF_NAMESIZE]);

/* The interface and its program, which is ours. Close the program in any case. */
int rf_interface_open(const char *dev, struct rf_interface *interface, struct rf_program *program,
		      struct rf_error *error);
/* The id of the bpf_link that holds the interface's program, outside of a chain; 0: none does. */
uint32_t rf_interface_find_link(const struct rf_interface *interface);

/* The XDP program of an interface, whoever's. */
struct rf_occupant {
	uint32_t program_id;	 /* 0: none */
	char name[RF_NAME_SIZE]; /* "" where it may not be looked at */
	enum rf_mode mode;
	bool ours;
	uint32_t link_id; /* of the bpf_link that holds it, of a program of others; 0: none */
};

int rf_occupant_find(const char *dev, struct rf_occupant *occupant, struct rf_error *error);

/* ---- chains (chains.c) ---- */

/* Looks behind a dispatcher: fills in `chain`, and finds our program in it. */
void rf_chain_find(struct rf_interface *interface);
/* The chain on an interface, to be closed by libxdp; NULL where it cannot be read. */
struct xdp_multiprog *rf_chain_open(unsigned int index);
/* How many components are of that fence: two after an upgrade that was killed. */
int rf_chain_count_ours(const struct rf_chain *chain, uint32_t config_id);

#define RF_CHAIN_TEXT_SIZE (RF_CHAIN_MAX * 68)

/* The names, each in quotes. */
void rf_chain_names(const struct rf_chain *chain, char text[RF_CHAIN_TEXT_SIZE]);

#endif /* RINGFENCE_INTERFACES_H */
