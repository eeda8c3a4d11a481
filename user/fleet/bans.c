// SPDX-License-Identifier: GPL-2.0
#include "fleet/bans.h"

#include <string.h>

#include "fleet/bytes.h"

#define BAN_SIZE 16 /* before the address */

static size_t address_size(int version)
{
	return version == 4 ? 4 : 16;
}

size_t rf_fleet_bans_pack_call(uint8_t bytes[RF_BAN_CALL_MAX], uint32_t slot, uint32_t time_ms,
			       const struct rf_prefix *prefix)
{
	struct rf_bytes_writer to = {bytes};

	rf_bytes_put(&to, 4, slot);
	rf_bytes_put(&to, 4, time_ms);
	rf_bytes_put(&to, 1, prefix->version);
	rf_bytes_put(&to, 1, prefix->length);
	memcpy(to.at, prefix->word, address_size(prefix->version));
	return to.at - bytes + address_size(prefix->version);
}

void rf_fleet_bans_pack_from(uint8_t bytes[RF_BANS_FROM_SIZE], uint64_t stamp)
{
	rf_bytes_put(&(struct rf_bytes_writer){bytes}, RF_BANS_FROM_SIZE, stamp);
}

bool rf_fleet_bans_read(struct rf_told_bans *told, const void *bytes, size_t size)
{
	*told = (struct rf_told_bans){.at = bytes, .end = (const uint8_t *)bytes + size};
	if (size < sizeof(told->newest))
		return false;
	told->newest = rf_bytes_number(told->at, sizeof(told->newest));
	told->at += sizeof(told->newest);
	return true;
}

bool rf_fleet_bans_next(struct rf_told_bans *told, struct rf_told_ban *ban)
{
	const uint8_t *at = told->at;

	if (told->end - at < BAN_SIZE)
		return false;
	*ban = (struct rf_told_ban){
		.stamp = rf_bytes_number(at, 8),
		.slot = rf_bytes_number(at + 8, 2),
		.left_ms = rf_bytes_number(at + 10, 4),
		.prefix = {.version = at[14], .length = at[15]},
	};
	at += BAN_SIZE;
	if (ban->prefix.version != 4 && ban->prefix.version != 6)
		return false;
	if ((size_t)(told->end - at) < address_size(ban->prefix.version))
		return false;
	memcpy(ban->prefix.word, at, address_size(ban->prefix.version));
	told->at = at + address_size(ban->prefix.version);
	return true;
}

static bool has_bits_after(const struct rf_prefix *prefix)
{
	for (unsigned int i = 0; i < 4; i++)
		if (prefix->word[i] & ~rf_prefix_mask(prefix->length, i))
			return true;
	return false;
}

enum rf_ban_fault rf_fleet_bans_judge(const struct rf_told_ban *ban)
{
	const bool is_ipv6 = ban->prefix.version == 6;

	if (ban->slot >= RF_FLEET_HOSTS_MAX ||
	    ban->prefix.length > rf_prefix_length_max(ban->prefix.version) ||
	    has_bits_after(&ban->prefix))
		return RF_BAN_IS_GARBAGE;
	if (ban->left_ms > RF_FLEET_BAN_MOST_MS)
		return RF_BAN_IS_LONG;
	if (ban->prefix.length < (is_ipv6 ? RF_FLEET_BAN_LEAST6 : RF_FLEET_BAN_LEAST4))
		return RF_BAN_IS_WIDE;
	return RF_BAN_IS_FINE;
}

uint64_t rf_kept_bans_newest(const struct rf_kept_bans *kept)
{
	uint64_t newest = kept->flushed;

	for (int i = 0; i < RF_OWN_NUMBERS; i++)
		if (kept->own[i].newest > newest)
			newest = kept->own[i].newest;
	return newest;
}

bool rf_kept_bans_note(struct rf_kept_bans *kept, uint32_t slot, uint64_t stamp)
{
	struct rf_own_bans *own = kept->own;
	int at = 0;

	while (at < RF_OWN_NUMBERS - 1 && own[at].newest && own[at].slot != slot)
		at++;
	if (own[at].slot == slot && own[at].newest >= stamp)
		return false;
	memmove(&own[1], own, at * sizeof(*own));
	own[0] = (struct rf_own_bans){slot, stamp};
	return true;
}
