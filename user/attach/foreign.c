// SPDX-License-Identifier: GPL-2.0
/*
 * Foreign XDP programs: messages name them, and only a request detaches them. The kernel does not
 * detach a program that another process holds by a bpf_link.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <glob.h>
#include <linux/if_link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "attach/private.h"

/* The program that the kernel has on the interface: in a chain, the dispatcher. */
static uint32_t attached_id(const struct rf_interface *interface)
{
	const uint32_t dispatcher_id = interface->chain.dispatcher_id;

	return dispatcher_id ? dispatcher_id : interface->program_id;
}

/* Describes in words the programs that are in place. */
static int describe(const struct rf_interface *interface, char text[RF_REPLACED_SIZE],
		    struct rf_error *error)
{
	const struct rf_chain *chain = &interface->chain;
	char names[RF_CHAIN_TEXT_SIZE];
	struct rf_program program;
	int err;

	rf_chain_names(chain, names);
	if (chain->count) {
		snprintf(text, RF_REPLACED_SIZE, "libxdp's dispatcher (id %u) with %s",
			 chain->dispatcher_id, names);
		return 0;
	}
	if (chain->dispatcher_id) {
		snprintf(text, RF_REPLACED_SIZE,
			 "libxdp's dispatcher (id %u) whose pins cannot be read",
			 chain->dispatcher_id);
		return 0;
	}
	err = rf_program_open(&program, interface->program_id, error);
	snprintf(text, RF_REPLACED_SIZE, "'%s' (id %u)", program.name, program.id);
	rf_program_close(&program);
	return err;
}

static int fail_held(const struct rf_interface *interface, const char *what, uint32_t link,
		     struct rf_error *error)
{
	return rf_error_failed(
		error, -EBUSY,
		"%s: a foreign XDP program is in place: %s, held by bpf_link %u of another "
		"process; stop that process, or run 'bpftool link detach id %u'",
		interface->name, what, link, link);
}

/* For a chain without a component of ours. Succeeds where the request is to join the chain. */
static int fail_chained(const struct rf_interface *interface, const struct rf_attach *attach,
			const char *what, struct rf_error *error)
{
	const char *name = interface->name;

	if (!interface->chain.count)
		return rf_error_failed(error, -EBUSY,
				       "%s: a foreign XDP program is in place: %s, perhaps because "
				       "they are in another mount namespace; attach from there, or "
				       "'ringfence attach %s replace' takes it off",
				       name, what, name);
	if (attach->chain)
		return 0;
	return rf_error_failed(error, -EBUSY,
			       "%s: a foreign XDP program is in place: %s; 'ringfence attach %s "
			       "chain' runs beside "
			       "it, 'ringfence attach %s replace' takes it off",
			       name, what, name, name);
}

int rf_foreign_check(const struct rf_interface *interface, const struct rf_attach *attach,
		     struct rf_error *error)
{
	const uint32_t link = rf_interface_find_link(interface);
	const char *name = interface->name;
	char what[RF_REPLACED_SIZE];
	int err = describe(interface, what, error);

	if (err)
		return err;
	if (link)
		return fail_held(interface, what, link, error);
	if (attach->replace)
		return 0;
	if (interface->chain.dispatcher_id)
		return fail_chained(interface, attach, what, error);
	if (attach->chain)
		return rf_error_failed(
			error, -EBUSY,
			"%s: cannot attach in a chain: %s is in place without libxdp's dispatcher; "
			"load it by 'xdp-loader' instead, or 'ringfence attach %s replace' takes "
			"it off",
			name, what, name);
	return rf_error_failed(
		error, -EBUSY,
		"%s: a foreign XDP program is in place: %s, attached by netlink, as 'ip' does; "
		"'ringfence attach %s replace' takes it off, 'ringfence attach %s chain' runs "
		"beside it once 'xdp-loader' has loaded it",
		name, what, name, name);
}

int rf_foreign_take_off(const struct rf_interface *interface, char replaced[RF_REPLACED_SIZE],
			struct rf_error *error)
{
	LIBBPF_OPTS(bpf_xdp_attach_opts, options);
	int err = describe(interface, replaced, error);

	if (err)
		return err;
	options.old_prog_fd = bpf_prog_get_fd_by_id(attached_id(interface));
	if (options.old_prog_fd < 0)
		return rf_error_failed(error, -errno, "%s: cannot replace %s: %s", interface->name,
				       replaced, strerror(errno));
	err = bpf_xdp_detach(interface->index, rf_xdp_flags(interface->mode) | XDP_FLAGS_REPLACE,
			     &options);
	if (!err)
		return options.old_prog_fd;
	close(options.old_prog_fd);
	return rf_error_failed(error, err,
			       "%s: cannot replace %s: %s; 'ip link show dev %s' shows "
			       "what is there now",
			       interface->name, replaced, strerror(-err), interface->name);
}

int rf_foreign_put_back(const struct rf_interface *interface, int program_fd)
{
	return bpf_xdp_attach(interface->index, program_fd,
			      rf_xdp_flags(interface->mode) | XDP_FLAGS_UPDATE_IF_NOEXIST, NULL);
}

void rf_foreign_forget(const struct rf_interface *interface)
{
	char directory[64], pattern[80];
	glob_t pins = {};

	if (!interface->chain.dispatcher_id)
		return;
	/*
	 * Follows libxdp's protocol: its own function would remove pins of other namespaces, too.
	 */
	snprintf(directory, sizeof(directory), "/sys/fs/bpf/xdp/dispatch-%u-%u", interface->index,
		 interface->chain.dispatcher_id);
	snprintf(pattern, sizeof(pattern), "%s/prog*", directory);
	if (glob(pattern, GLOB_NOSORT, NULL, &pins) == 0)
		for (size_t i = 0; i < pins.gl_pathc; i++)
			unlink(pins.gl_pathv[i]);
	globfree(&pins);
	rmdir(directory);
}
