/* SPDX-License-Identifier: GPL-2.0 */
/* The XDP programs on interfaces, ours and others, and the chains of libxdp's dispatcher. */
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

#define RF_CHAIN_MAX 10 /* libxdp's maximum */

/* One of several programs on an interface, in a chain that libxdp's dispatcher calls. */
struct rf_component {
	char name[64]; /* from BTF, which can have a longer name than the kernel */
	uint32_t id;
	uint32_t config_id; /* the configuration map of its fence; 0: not ours */
};

struct rf_chain {
	uint32_t dispatcher_id;			     /* 0: no chain, a single program */
	int count;				     /* 0: it could not be read */
	struct rf_component component[RF_CHAIN_MAX]; /* in the order in which they run */
};

/* An interface with an XDP program. */
struct rf_interface {
	char name[IF_NAMESIZE];
	unsigned int index;
	unsigned int hardware; /* ARPHRD_… of linux/if_arp.h */
	enum rf_mode mode;
	bool by_link; /* a pinned bpf_link holds it, from `ringfence attach`; `ip` makes none */
	uint32_t program_id; /* in a chain: our component, or else the dispatcher */
	struct rf_chain chain;
};

/*
 * Reads an interface, with the kernel's name for it, and its program. Without a program, program_id
 * is 0.
 */
int rf_interface_query(const char *name, struct rf_interface *interface, struct rf_error *error);

/*
 * Finds all interfaces with an XDP program, ours or not. Returns their number. The caller frees
 * `*interfaces`, even after an error.
 */
int rf_interfaces_scan(struct rf_interface **interfaces, struct rf_error *error);

/* Likewise, finds the interfaces whose program uses `map_id` as its configuration. */
int rf_interfaces_of(uint32_t map_id, struct rf_interface **interfaces, struct rf_error *error);

/*
 * Finds the name of one interface of the fence with these pins. False: the fence is on no interface
 * of this network namespace.
 */
bool rf_interface_of_pins(const struct rf_pin_path *directory, char name[IF_NAMESIZE]);

/*
 * Reads an interface and opens its program. An error unless the program is ours. Close the program
 * even after an error.
 */
int rf_interface_open(const char *dev, struct rf_interface *interface, struct rf_program *program,
		      struct rf_error *error);
/* The id of the bpf_link that holds the interface's program. 0: none does, or there is a chain. */
uint32_t rf_interface_find_link(const struct rf_interface *interface);

/* The XDP program of an interface, ours or not. */
struct rf_occupant {
	uint32_t program_id;	 /* 0: none */
	char name[RF_NAME_SIZE]; /* "": this process lacks permission to read it */
	enum rf_mode mode;
	bool ours;
	uint32_t link_id; /* the bpf_link that holds a program that is not ours; 0: none */
};

int rf_occupant_find(const char *dev, struct rf_occupant *occupant, struct rf_error *error);

/* ---- chains ---- */

/* The chain of an interface; NULL: it cannot be read. Close the chain with libxdp. */
struct xdp_multiprog *rf_chain_open(unsigned int index);
/* Counts the components of that fence. There are two after an upgrade that was killed. */
int rf_chain_count_ours(const struct rf_chain *chain, uint32_t config_id);

#define RF_CHAIN_TEXT_SIZE (RF_CHAIN_MAX * 68)

/* Lists the names of the components, each in quotes. */
void rf_chain_names(const struct rf_chain *chain, char text[RF_CHAIN_TEXT_SIZE]);

#endif /* RINGFENCE_INTERFACES_H */
