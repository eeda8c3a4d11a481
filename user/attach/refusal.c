// SPDX-License-Identifier: GPL-2.0
/*
 * The driver's own words on why it refused a program. The kernel passes them on to netlink requests
 * only, never to bpf_link_create() or bpf_link_update().
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/if_link.h>
#include <stdio.h>
#include <string.h>

#include "attach/private.h"
#include "base/netlink.h"

void rf_refusal_put(const char *reason, char words[RF_REFUSAL_SIZE])
{
	*words = '\0';
	if (*reason)
		snprintf(words, RF_REFUSAL_SIZE, " (%s)", reason);
}

void rf_refusal_read(char words[RF_REFUSAL_SIZE])
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
		return rf_error_failed(error, err,
				       "%s: cannot attach in native mode: %s%s; 'ringfence doctor "
				       "%s' says why; 'ringfence attach %s mode generic' may work",
				       name, strerror(-err), words, name, name);
	return rf_error_failed(
		error, err,
		"%s: cannot attach in generic mode: %s%s; 'ringfence doctor %s' says why", name,
		strerror(-err), words, name);
}
