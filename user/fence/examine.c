// SPDX-License-Identifier: GPL-2.0
/* Prepares the data path for examining newcomers and for responses, see bpf/examine.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/netlink.h"
#include "base/own_networks.h"
#include "fence/private.h"

/* ---- whether it examines them ---- */

static bool examines(const struct rf_bank *bank)
{
	return bank && bank->newcomers.except_established;
}

/* The minimum of `least` and rf_limit.truncate_one_in of a bank, where 0 means no limit. */
static uint16_t least_one_in(const struct rf_bank *bank, uint16_t least)
{
	for (int slot = 0; bank && slot < RF_LIMITS_MAX; slot++)
		if (bank->truncates >> slot & 1 &&
		    (!least || bank->limit[slot].truncate_one_in < least))
			least = bank->limit[slot].truncate_one_in;
	return least;
}

void rf_examine(const struct rf_fence *fence, const struct rf_bank *bank,
		const struct rf_bank *other)
{
	const uint16_t is_examining = examines(bank) || examines(other);
	const uint16_t one_in = least_one_in(bank, least_one_in(other, 0));

	__atomic_store_n(&fence->config->is_examining, is_examining, __ATOMIC_RELEASE);
	__atomic_store_n(&fence->config->truncate_one_in, one_in, __ATOMIC_RELEASE);
}

/* ---- the addresses of the host ---- */

int rf_fence_read_macs(const struct rf_fence *fence, uint64_t mac[RF_OWN_MACS_MAX],
		       struct rf_error *error)
{
	unsigned int *index = calloc(fence->interfaces + 1, sizeof(*index));
	int macs;

	if (!index)
		return rf_error_failed(error, -ENOMEM, "out of memory for the interfaces");
	for (int i = 0; i < fence->interfaces; i++)
		index[i] = fence->interface[i].index;
	macs = rf_own_macs_read(mac, RF_OWN_MACS_MAX, index, fence->interfaces, error);
	free(index);
	return macs;
}

int rf_examine_note_macs(const struct rf_fence *fence, struct rf_error *error)
{
	struct rf_config *config = fence->config;
	uint64_t mac[RF_OWN_MACS_MAX] = {};
	int macs;

	if (!fence->interfaces)
		return 0;
	macs = rf_fence_read_macs(fence, mac, error);
	if (macs < 0)
		return macs;
	for (int i = 0; i < RF_OWN_MACS_MAX; i++)
		__atomic_store_n(&config->own_mac[i], mac[i], __ATOMIC_RELAXED);
	__atomic_store_n(&config->own_macs, macs, __ATOMIC_RELEASE);
	return 0;
}

void rf_fence_renew_macs(const struct rf_fence *fence)
{
	struct rf_error ignored;

	if (fence->config->is_examining || fence->config->truncate_one_in)
		rf_examine_note_macs(fence, &ignored);
}

int rf_fence_own_macs(const struct rf_fence *fence, uint64_t mac[RF_OWN_MACS_MAX])
{
	const struct rf_config *config = fence->config;
	const uint32_t macs = __atomic_load_n(&config->own_macs, __ATOMIC_ACQUIRE);

	for (int i = 0; i < RF_OWN_MACS_MAX; i++)
		mac[i] = __atomic_load_n(&config->own_mac[i], __ATOMIC_RELAXED);
	return macs < RF_OWN_MACS_MAX ? macs : RF_OWN_MACS_MAX;
}

/* ---- SYN cookies ---- */

int rf_fence_check_challenge(const struct rf_fence *fence, const struct rf_bank *bank,
			     const struct rf_bank *present, struct rf_error *error)
{
	int syncookies;

	if (bank->newcomers.then != RF_NEWCOMERS_CHALLENGE ||
	    present->newcomers.then == RF_NEWCOMERS_CHALLENGE || !fence->interfaces)
		return 0;
	syncookies = rf_net_setting(RF_SYNCOOKIES);
	if (syncookies == RF_SYNCOOKIES_ALWAYS)
		return 0;
	if (syncookies < 0)
		return rf_error_failed(error, -EINVAL,
				       "newcomers: 'then challenge' requires SYN cookies, and "
				       "/proc/sys/net/" RF_SYNCOOKIES
				       " cannot be read; write 'then drop except established'");
	return rf_error_failed(
		error, -EINVAL,
		"newcomers: 'then challenge' requires net.ipv4.tcp_syncookies=2, for IPv6 as "
		"well, and it is %d here; run 'sysctl -w net.ipv4.tcp_syncookies=2', or write "
		"'then drop except established'",
		syncookies);
}
