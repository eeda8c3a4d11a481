// SPDX-License-Identifier: GPL-2.0
/*
 * Running next to other XDP programs. libxdp's dispatcher is attached to the interface, and calls
 * the component programs one after the other. This file changes chains; kernel/interfaces reads
 * them.
 *
 * The component is ringfence's program, loaded as an extension of the dispatcher. It uses the maps
 * of its fence, so a fence is found by a component as by a single program. libxdp's pins list the
 * components. When a component is added or removed, libxdp replaces the dispatcher atomically.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/if_link.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <xdp/libxdp.h>

#include "attach/attach.h"
#include "attach/private.h"
#include "base/netlink.h"
#include "base/time.h"
#include "base/units.h"
#include "kernel/info.h"

/* ---- refusals ---- */

/*
 * The driver's own words on why it refused a program. The kernel passes them on to netlink requests
 * only, never to bpf_link_create() or bpf_link_update().
 */

void rf_refusal_put(const char *reason, char words[RF_REFUSAL_SIZE])
{
	*words = '\0';
	if (*reason)
		snprintf(words, RF_REFUSAL_SIZE, " (%s)", reason);
}

/* Of a netlink request of libxdp that has failed since rf_log_forget(). */
static void refusal_read(char words[RF_REFUSAL_SIZE])
{
	char reason[RF_REASON_SIZE];

	rf_log_reason(reason);
	rf_refusal_put(reason, words);
}

/*
 * No netlink request merely tries a program. This one cannot displace a program. If it succeeds,
 * because the obstacle has just been removed, exactly this program is detached again.
 */
void rf_refusal_ask(const struct rf_interface *interface, enum rf_mode mode, int program_fd,
		    char words[RF_REFUSAL_SIZE])
{
	LIBBPF_OPTS(bpf_xdp_attach_opts, this_program, .old_prog_fd = program_fd);
	const __u32 flags = rf_xdp_flags(mode);
	char reason[RF_REASON_SIZE];

	if (!rf_netlink_set_xdp(interface->index, program_fd, flags | XDP_FLAGS_UPDATE_IF_NOEXIST,
				-1, reason))
		bpf_xdp_detach(interface->index, flags | XDP_FLAGS_REPLACE, &this_program);
	rf_refusal_put(reason, words);
}

int rf_refusal_fail(const struct rf_interface *interface, enum rf_mode mode, int err,
		    const char *words, struct rf_error *error)
{
	const char *name = interface->name;

	if (err == -EPERM)
		return rf_error_failed(error, err, "%s: cannot attach: %s; it takes CAP_NET_ADMIN",
				       name, strerror(-err));
	if ((err == -EBUSY || err == -EEXIST) && !*words)
		return rf_error_failed(
			error, err,
			"%s: cannot attach: another XDP program came first; 'ip link show dev %s' "
			"names it",
			name, name);
	if (mode == RF_NATIVE)
		return rf_error_failed(
			error, err,
			"%s: cannot attach in native mode: %s%s; 'ringfence doctor %s' prints the "
			"reason; 'ringfence attach %s mode generic' may work",
			name, strerror(-err), words, name, name);
	return rf_error_failed(
		error, err,
		"%s: cannot attach in generic mode: %s%s; 'ringfence doctor %s' prints the reason",
		name, strerror(-err), words, name);
}

/* ---- how long a request took the link down ---- */

#define PAUSE_NS (5 * RF_NS_PER_MS)

void rf_carrier_begin(struct rf_carrier *carrier, unsigned int index)
{
	struct rf_link_state state;

	*carrier = (struct rf_carrier){.index = index, .began_ns = rf_time_awake()};
	if (rf_netlink_state(index, &state))
		return;
	carrier->had_carrier = state.has_carrier;
	carrier->changes = state.carrier_changes;
}

static uint64_t since_ms(const struct rf_carrier *carrier)
{
	return (rf_time_awake() - carrier->began_ns) / RF_NS_PER_MS;
}

struct rf_link_down rf_carrier_wait(const struct rf_carrier *carrier)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	struct rf_link_down down = {};
	struct rf_link_state state;

	if (!carrier->had_carrier)
		return down;
	while (!rf_netlink_state(carrier->index, &state) &&
	       state.carrier_changes != carrier->changes) {
		down.ms = since_ms(carrier);
		down.is_down = !state.has_carrier;
		if (state.has_carrier || down.ms >= RF_CARRIER_WAIT_MS)
			break;
		nanosleep(&pause, NULL);
	}
	return down;
}

/* ---- chains ---- */

/*
 * Lower numbers run first. Plain filters use 10 and run before ringfence, so the packets they drop
 * are charged to no source. Programs without a number have 50 and run after it: they can redirect a
 * packet, which ringfence would not see. A packet that ringfence passes continues to the next
 * program: XDP_PASS is chained by default.
 */
#define PRIORITY 20

/* ---- attaching ---- */

static enum xdp_attach_mode mode_in_libxdp(enum rf_mode mode)
{
	return mode == RF_GENERIC ? XDP_MODE_SKB : XDP_MODE_NATIVE;
}

static int fail_chain(const struct rf_interface *interface, enum rf_mode mode, int err,
		      const char *words, struct rf_error *error)
{
	const char *name = interface->name;
	char names[RF_CHAIN_TEXT_SIZE];

	rf_chain_names(&interface->chain, names);
	if (err == -EPERM)
		return rf_error_failed(error, err,
				       "%s: cannot attach in a chain: %s; it takes CAP_SYS_ADMIN",
				       name, strerror(-err));
	if (err == -ENOENT)
		return rf_error_failed(
			error, err,
			"%s: cannot attach in a chain: libxdp does not find its dispatcher, "
			"xdp-dispatcher.o; install the package libxdp1 (Debian, Ubuntu, openSUSE), "
			"libxdp (Fedora) or xdp-tools (Arch)",
			name);
	if (err == -E2BIG)
		return rf_error_failed(error, err,
				       "%s: cannot attach in a chain: it is full, with %s; detach "
				       "one, with the tool that attached it",
				       name, names);
	if (err == -EBUSY || err == -EEXIST)
		return rf_error_failed(
			error, err,
			"%s: cannot attach in a chain: another program came first, or its "
			"dispatcher is of an older libxdp; 'xdp-loader status %s' prints details",
			name, name);
	if (err == -EOPNOTSUPP && interface->chain.count)
		return rf_error_failed(error, err,
				       "%s: cannot attach in a chain: this kernel cannot run a "
				       "program alongside %s; Linux 5.10 or newer is needed",
				       name, names);
	if (mode == RF_NATIVE)
		return rf_error_failed(
			error, err,
			"%s: cannot attach in a chain in native mode: %s%s; try 'ringfence attach "
			"%s chain mode generic'; with a jumbo MTU every program of the chain must "
			"accept frames in several buffers%s%s",
			name, strerror(-err), words, name, *names ? ", here also " : "", names);
	return rf_error_failed(error, err, "%s: cannot attach in a chain in generic mode: %s%s",
			       name, strerror(-err), words);
}

/* Attaches one entry, with the maps of its fence, next to the existing programs. */
static int attach_component(const struct rf_interface *interface, enum rf_mode mode,
			    enum rf_entry entry, const int map_fd[RF_MAP_COUNT])
{
	struct bpf_object *object = rf_load_open(map_fd);
	DECLARE_LIBXDP_OPTS(xdp_program_opts, options, .obj = object,
			    .prog_name = rf_entry_names[entry]);
	struct xdp_program *program;
	int err;

	if (!object)
		return -errno;
	rf_load_choose(object, entry);
	program = xdp_program__create(&options);
	err = libxdp_get_error(program);
	if (!err) {
		err = xdp_program__set_run_prio(program, PRIORITY);
		/* libxdp cannot read it from the section's name: libbpf sets it only on load. */
		if (!err && entry == RF_FRAGS)
			err = xdp_program__set_xdp_frags_support(program, true);
		if (!err)
			err = xdp_program__attach(program, interface->index, mode_in_libxdp(mode),
						  0);
		xdp_program__close(program);
	}
	bpf_object__close(object);
	return err;
}

/*
 * If libxdp cannot create a dispatcher, it attaches the program directly. The request was for a
 * chain, so the program is detached again.
 */
static int check_chained(const char *name, enum rf_mode mode, struct rf_error *error)
{
	LIBBPF_OPTS(bpf_xdp_attach_opts, options);
	struct rf_program program = RF_PROGRAM_NONE;
	struct rf_interface interface;
	int err = rf_interface_query(name, &interface, error);

	if (err || interface.chain.dispatcher_id)
		return err;
	if (!rf_program_open(&program, interface.program_id, error) && program.ours) {
		options.old_prog_fd = program.fd;
		bpf_xdp_detach(interface.index, rf_xdp_flags(mode) | XDP_FLAGS_REPLACE, &options);
	}
	rf_program_close(&program);
	return rf_error_failed(
		error, -EOPNOTSUPP,
		"%s: cannot attach in a chain: libxdp cannot make one here: a chain needs Linux "
		"5.10 or newer with programs of type EXT, and LIBXDP_SKIP_DISPATCHER must not be "
		"set; leave 'chain' out, or see '--verbose'",
		name);
}

static int check_may_chain(const char *name, struct rf_error *error)
{
	if (rf_has_capability(CAP_SYS_ADMIN))
		return 0;
	return rf_error_failed(error, -EPERM,
			       "%s: cannot attach in a chain: it takes CAP_SYS_ADMIN", name);
}

int rf_chain_attach(const struct rf_interface *interface, enum rf_mode mode,
		    const int map_fd[RF_MAP_COUNT], bool *frags, struct rf_error *error)
{
	const enum rf_entry first = rf_entry_for(interface->name, mode);
	char words[RF_REFUSAL_SIZE] = "";
	int first_err = 0, err = check_may_chain(interface->name, error);

	if (err)
		return err;
	err = -EINVAL;
	rf_log_forget();
	if (interface->chain.dispatcher_id && interface->mode != mode)
		return rf_error_failed(
			error, -EBUSY,
			"%s: its chain is in %s mode; write 'ringfence attach %s chain mode %s'",
			interface->name, rf_mode_name(interface->mode), interface->name,
			rf_mode_name(interface->mode));
	for (int i = 0; i < RF_ENTRY_COUNT && err; i++) {
		enum rf_entry entry = i ? RF_ENTRY_COUNT - 1 - first : first;

		err = attach_component(interface, mode, entry, map_fd);
		*frags = entry == RF_FRAGS;
		if (!first_err) {
			first_err = err;
			refusal_read(words);
		}
		if (err == -EPERM || err == -EBUSY || err == -ENOENT || err == -E2BIG)
			break;
	}
	return err ? fail_chain(interface, mode, first_err, words, error)
		   : check_chained(interface->name, mode, error);
}

/* ---- taking off ---- */

/* Detaches all components of the fence atomically, except `keep_id`. */
static int take_off(const struct rf_interface *interface, uint32_t config_id, uint32_t keep_id)
{
	struct xdp_program *taken[RF_CHAIN_MAX], *program = NULL;
	struct xdp_multiprog *chain = rf_chain_open(interface->index);
	int count = 0, err = 0;

	if (!chain)
		return -ENOENT;
	while ((program = xdp_multiprog__next_prog(program, chain))) {
		uint32_t id = xdp_program__id(program);

		if (id != keep_id && rf_program_config_of(id) == config_id && count < RF_CHAIN_MAX)
			taken[count++] = program;
	}
	if (count)
		err = xdp_program__detach_multi(taken, count, interface->index,
						mode_in_libxdp(interface->mode), 0);
	xdp_multiprog__close(chain);
	return err;
}

int rf_chain_detach(const struct rf_interface *interface, uint32_t config_id,
		    struct rf_error *error)
{
	int err = take_off(interface, config_id, 0);

	if (err)
		return rf_error_failed(error, err, "%s: cannot detach from its chain: %s",
				       interface->name, strerror(-err));
	return 0;
}

/* The id of the fence's component of this build, other than `except`; 0: none. */
static uint32_t find_current(const struct rf_chain *chain, uint32_t config_id,
			     const struct rf_loaded *loaded, uint32_t except)
{
	uint32_t id = 0;

	for (int i = 0; i < chain->count && !id; i++) {
		struct rf_program program;
		struct rf_error ignored;

		if (chain->component[i].config_id != config_id || chain->component[i].id == except)
			continue;
		if (!rf_program_open(&program, chain->component[i].id, &ignored) &&
		    rf_loaded_has(loaded, program.tag))
			id = program.id;
		rf_program_close(&program);
	}
	return id;
}

/*
 * The kernel cannot swap the program of a component; libxdp can only add and remove components. So
 * the new component is added before the old one is removed: no packet passes without a fence, and
 * for that moment packets are charged by both. `loaded` has the entry: the new component is found
 * by its tag.
 */
int rf_chain_renew(const struct rf_interface *interface, const struct rf_program *old,
		   enum rf_entry entry, const struct rf_loaded *loaded)
{
	const uint32_t config_id = old->map_id[RF_MAP_CONFIG];
	struct rf_interface now;
	struct rf_error ignored;
	uint32_t current;
	int err = attach_component(interface, interface->mode, entry, loaded->map_fd);

	if (err)
		return err;
	if (rf_interface_query(interface->name, &now, &ignored))
		return -ENODEV;
	current = find_current(&now.chain, config_id, loaded, old->id);
	return current ? take_off(&now, config_id, current) : -EOPNOTSUPP;
}

int rf_chain_upgrade(const struct rf_interface *interface, const struct rf_program *old,
		     const struct rf_loaded *loaded, struct rf_error *error)
{
	const uint32_t config_id = old->map_id[RF_MAP_CONFIG];
	const uint32_t current = find_current(&interface->chain, config_id, loaded, 0);
	const int err = current ? take_off(interface, config_id, current)
				: rf_chain_renew(interface, old, rf_entry_of(old), loaded);

	if (err)
		return rf_error_failed(error, err,
				       "%s: cannot upgrade its program in the chain: %s",
				       interface->name, strerror(-err));
	return 0;
}
