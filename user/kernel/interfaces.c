// SPDX-License-Identifier: GPL-2.0
/* The XDP programs of interfaces, and of the chains on them. */
#include <bpf/bpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xdp/libxdp.h>

#include "base/netlink.h"
#include "kernel/info.h"
#include "kernel/interfaces.h"
#include "kernel/pins.h"
#include "ringfence/abi.h"

/* ---- chains of programs ---- */

/*
 * Reads a chain: the components that libxdp's dispatcher calls. libxdp finds them by its own pins.
 */

#define DISPATCHER "xdp_dispatcher"
#define FIND_TRIES 5 /* an attempt fails if the dispatcher is replaced concurrently */

static bool is_dispatcher(uint32_t program_id)
{
	struct bpf_prog_info info = {};
	int fd = bpf_prog_get_fd_by_id(program_id);
	bool is = fd >= 0 && !rf_program_info(fd, &info) && strcmp(info.name, DISPATCHER) == 0;

	if (fd >= 0)
		close(fd);
	return is;
}

struct xdp_multiprog *rf_chain_open(unsigned int index)
{
	for (int i = 0; i < FIND_TRIES; i++) {
		struct xdp_multiprog *chain = xdp_multiprog__get_from_ifindex(index);

		if (libxdp_get_error(chain))
			return NULL;
		if (!xdp_multiprog__is_legacy(chain))
			return chain;
		xdp_multiprog__close(chain); /* its pins might have been removed just now */
	}
	return NULL;
}

static void add_component(struct rf_chain *chain, const struct xdp_program *program)
{
	struct rf_component *component = &chain->component[chain->count];

	if (chain->count == RF_CHAIN_MAX)
		return;
	component->id = xdp_program__id(program);
	component->config_id = rf_program_config_of(component->id);
	snprintf(component->name, sizeof(component->name), "%s", xdp_program__name(program));
	chain->count++;
}

/* Where the program is a dispatcher, reads its chain, and sets `program_id` to our component. */
static void find_chain(struct rf_interface *interface)
{
	struct rf_chain *chain = &interface->chain;
	struct xdp_multiprog *found;
	struct xdp_program *program = NULL;

	*chain = (struct rf_chain){};
	if (!interface->program_id || !is_dispatcher(interface->program_id))
		return;
	chain->dispatcher_id = interface->program_id;
	found = rf_chain_open(interface->index);
	if (!found)
		return;
	chain->dispatcher_id = xdp_program__id(xdp_multiprog__main_prog(found));
	while ((program = xdp_multiprog__next_prog(program, found)))
		add_component(chain, program);
	xdp_multiprog__close(found);
	for (int i = chain->count - 1; i >= 0; i--)
		if (chain->component[i].config_id)
			interface->program_id = chain->component[i].id;
}

int rf_chain_count_ours(const struct rf_chain *chain, uint32_t config_id)
{
	int count = 0;

	for (int i = 0; i < chain->count; i++)
		count += chain->component[i].config_id == config_id;
	return count;
}

void rf_chain_names(const struct rf_chain *chain, char text[RF_CHAIN_TEXT_SIZE])
{
	size_t length = 0;

	*text = '\0';
	for (int i = 0; i < chain->count; i++)
		length += snprintf(text + length, RF_CHAIN_TEXT_SIZE - length, "%s'%s'",
				   i ? ", " : "", chain->component[i].name);
}

/* ---- interfaces ---- */

/*
 * Finds the XDP program of each interface, with one netlink request. libbpf's own query reads the
 * whole table of links for each interface, which took 1.7 s with 500 interfaces.
 *
 * The kernel does not report whether a bpf_link holds the program. A bpf_link has the index of its
 * interface, but not the network namespace. Only this project's pins are therefore counted: their
 * names have both.
 */

/* The interfaces found so far. */
struct found {
	struct rf_interface *interface;
	int count;
	bool all; /* interfaces without a program as well */
};

static int keep_xdp_attribute(const struct nlattr *attribute, void *context)
{
	const struct nlattr **kept = context;
	int type = mnl_attr_get_type(attribute);

	if (type <= IFLA_XDP_MAX)
		kept[type] = attribute;
	return MNL_CB_OK;
}

/* Reads program and mode from the nested attribute IFLA_XDP. */
static void read_xdp(const struct nlattr *nest, struct rf_interface *interface)
{
	const struct nlattr *xdp[IFLA_XDP_MAX + 1] = {};
	int program = IFLA_XDP_PROG_ID;

	mnl_attr_parse_nested(nest, keep_xdp_attribute, xdp);
	switch (xdp[IFLA_XDP_ATTACHED] ? mnl_attr_get_u8(xdp[IFLA_XDP_ATTACHED]) : 0) {
	case XDP_ATTACHED_SKB:
		interface->mode = RF_GENERIC;
		break;
	case XDP_ATTACHED_HW:
		interface->mode = RF_OFFLOAD;
		break;
	case XDP_ATTACHED_MULTI: /* the first that is not on the card, which shares no maps */
		program = xdp[IFLA_XDP_DRV_PROG_ID] ? IFLA_XDP_DRV_PROG_ID : IFLA_XDP_SKB_PROG_ID;
		interface->mode = xdp[IFLA_XDP_DRV_PROG_ID] ? RF_NATIVE : RF_GENERIC;
		break;
	}
	if (xdp[program])
		interface->program_id = mnl_attr_get_u32(xdp[program]);
}

static int add_interface(struct found *found, const struct rf_interface *interface)
{
	size_t count = found->count + 1;
	struct rf_interface *grown =
		reallocarray(found->interface, count, sizeof(*found->interface));

	if (!grown)
		return MNL_CB_ERROR;
	found->interface = grown;
	found->interface[found->count++] = *interface;
	return MNL_CB_OK;
}

static int keep_link(const struct nlmsghdr *message, void *context)
{
	const struct ifinfomsg *link = mnl_nlmsg_get_payload(message);
	struct rf_interface interface = {.index = link->ifi_index, .hardware = link->ifi_type};
	struct found *found = context;
	const struct nlattr *attribute;

	mnl_attr_for_each(attribute, message, sizeof(*link))
	{
		if (mnl_attr_get_type(attribute) == IFLA_IFNAME)
			snprintf(interface.name, sizeof(interface.name), "%s",
				 mnl_attr_get_str(attribute));
		else if (mnl_attr_get_type(attribute) == IFLA_XDP)
			read_xdp(attribute, &interface);
	}
	return interface.program_id || found->all ? add_interface(found, &interface) : MNL_CB_OK;
}

static int find_programs(unsigned int index, struct found *found, struct rf_error *error)
{
	int err = rf_netlink_links(index, keep_link, found, &found->count);

	if (err)
		return rf_error_failed(error, err, "cannot list the XDP programs of the kernel: %s",
				       strerror(-err));
	for (int i = 0; i < found->count; i++)
		find_chain(&found->interface[i]);
	return found->count;
}

int rf_interface_query(const char *name, struct rf_interface *interface, struct rf_error *error)
{
	struct found found = {.all = true};
	unsigned int index = if_nametoindex(name);
	int count;

	*interface = (struct rf_interface){.index = index};
	/* The kernel's name: `name` can be an alternative name. */
	if (!index || !if_indextoname(index, interface->name))
		return rf_error_failed(error, -ENODEV,
				       "%s: no such interface; 'ip link' lists the interfaces",
				       name);
	count = find_programs(index, &found, error);
	if (count > 0) {
		*interface = found.interface[0];
		/* A link that is pinned for an interface without a program is dead. */
		interface->by_link = interface->program_id &&
				     rf_pins_have_link(interface->index, interface->program_id);
	}
	free(found.interface);
	return count < 0 ? count : 0;
}

int rf_interfaces_scan(struct rf_interface **interfaces, struct rf_error *error)
{
	struct found found = {};
	int count = find_programs(0, &found, error);

	*interfaces = found.interface;
	return count;
}

/* The fence of a configuration, as its interfaces are looked for. */
struct owner {
	uint32_t config_id;
	bool has_pinned; /* `pinned` was read, or could not be */
	struct rf_pinned pinned;
};

/* Without CAP_SYS_ADMIN, the configuration names its programs. */
static bool is_pinned_program(struct owner *owner, uint32_t program_id)
{
	if (!owner->has_pinned && rf_pins_read_pinned(owner->config_id, &owner->pinned))
		owner->pinned = (struct rf_pinned){};
	owner->has_pinned = true;
	return rf_pinned_lists(&owner->pinned, program_id);
}

/* Only programs that use the configuration are opened completely: there can be many fences. */
static bool is_program_of(struct owner *owner, uint32_t program_id)
{
	const int uses = rf_program_uses(program_id, owner->config_id);

	if (uses == -EPERM)
		return is_pinned_program(owner, program_id);
	return uses > 0 && rf_program_config_of(program_id) == owner->config_id;
}

int rf_interfaces_of(uint32_t map_id, struct rf_interface **interfaces, struct rf_error *error)
{
	int all = rf_interfaces_scan(interfaces, error), kept = 0;
	struct owner owner = {.config_id = map_id};

	for (int i = 0; i < all; i++) {
		struct rf_interface *interface = &(*interfaces)[i];

		if (!is_program_of(&owner, interface->program_id))
			continue;
		(*interfaces)[kept] = *interface;
		(*interfaces)[kept].by_link =
			rf_pins_have_link(interface->index, interface->program_id);
		kept++;
	}
	return all < 0 ? all : kept;
}

int rf_interface_open(const char *dev, struct rf_interface *interface, struct rf_program *program,
		      struct rf_error *error)
{
	int err = rf_interface_query(dev, interface, error);

	if (err)
		return err;
	if (!interface->program_id)
		return rf_error_failed(
			error, -ENOENT,
			"%s: no fence attached; run 'ringfence attach %s' or 'ip link set "
			"dev %s xdp obj …'",
			dev, dev, dev);
	err = rf_program_open(program, interface->program_id, error);
	if (!err && !program->ours)
		err = rf_error_failed(
			error, -ENOENT,
			"%s: no fence attached, but the XDP program '%s' (id %u), which is not "
			"ringfence; 'bpftool prog show id %u' prints details",
			dev, program->name, program->id, program->id);
	return err;
}

uint32_t rf_interface_find_link(const struct rf_interface *interface)
{
	__u32 id = 0;

	while (!interface->chain.dispatcher_id && !bpf_link_get_next_id(id, &id)) {
		struct bpf_link_info info = {};
		int fd = bpf_link_get_fd_by_id(id);
		bool holds = fd >= 0 && !rf_link_info(fd, &info) &&
			     info.type == BPF_LINK_TYPE_XDP &&
			     info.prog_id == interface->program_id &&
			     info.xdp.ifindex == interface->index;

		if (fd >= 0)
			close(fd);
		if (holds)
			return id;
	}
	return 0;
}

int rf_occupant_find(const char *dev, struct rf_occupant *occupant, struct rf_error *error)
{
	struct rf_program program = RF_PROGRAM_NONE;
	struct rf_interface interface;
	struct rf_error unreadable;
	int err = rf_interface_query(dev, &interface, error);

	*occupant = (struct rf_occupant){};
	if (err)
		return err;
	occupant->program_id = interface.program_id;
	occupant->mode = interface.mode;
	if (!interface.program_id)
		return 0;
	if (!rf_program_open(&program, interface.program_id, &unreadable)) {
		snprintf(occupant->name, sizeof(occupant->name), "%s", program.name);
		occupant->ours = program.ours;
		occupant->link_id = program.ours ? 0 : rf_interface_find_link(&interface);
	}
	rf_program_close(&program);
	return 0;
}

bool rf_interface_of_pins(const struct rf_pin_path *directory, char name[IF_NAMESIZE])
{
	struct rf_interface *interfaces = NULL;
	struct rf_error ignored;
	const uint32_t id = rf_pins_config_id(directory);
	int count = id ? rf_interfaces_of(id, &interfaces, &ignored) : 0;

	if (count > 0)
		memcpy(name, interfaces[0].name, IF_NAMESIZE);
	free(interfaces);
	return count > 0;
}
