// SPDX-License-Identifier: GPL-2.0
/*
 * Reads a chain: the components that libxdp's dispatcher calls. libxdp finds them by its own pins.
 */
#include <bpf/bpf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <xdp/libxdp.h>

#include "kernel/info.h"
#include "kernel/interfaces.h"

#define DISPATCHER "xdp_dispatcher"
#define FIND_TRIES 5 /* a try fails if the dispatcher is replaced meanwhile */

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
		xdp_multiprog__close(chain); /* its pins may have been removed just now */
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

void rf_chain_find(struct rf_interface *interface)
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
