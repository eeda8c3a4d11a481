/* SPDX-License-Identifier: GPL-2.0 */
/* Evaluates the allow and deny lists for a source, and selects the limits that still apply. */
#ifndef RINGFENCE_LISTS_H
#define RINGFENCE_LISTS_H

#include "windows.h"

/* The entry of the longest prefix that contains the source; NULL if not found. */
static __always_inline struct rf_prefix_value *find_prefix(const struct question *question,
							   int is_ipv6)
{
	__u32 index = rf_rules_bank(question->who.rules);
	void *trie;

	if (!is_ipv6) {
		struct rf_prefix_key4 key = {32, (__be32)question->source[0]};

		trie = bpf_map_lookup_elem(&prefixes4, &index);
		return trie ? bpf_map_lookup_elem(trie, &key) : NULL;
	} else {
		struct rf_prefix_key6 key = {.length = 128};

		for (int i = 0; i < 4; i++)
			key.address[i] = (__be32)(question->source[i / 2] >> i % 2 * 32);
		trie = bpf_map_lookup_elem(&prefixes6, &index);
		return trie ? bpf_map_lookup_elem(trie, &key) : NULL;
	}
}

/*
 * Does a list decide? Then `reason` is its result, valid until `until`. Otherwise `limits` is the
 * set that applies to sources of this prefix.
 */
static __always_inline int lists_decide(struct question *question, enum rf_reason *reason,
					__u32 *limits, __u64 *until, int is_ipv6)
{
	const struct rf_bank *bank = bank_of(question);
	const __u32 listed = is_ipv6 ? RF_BANK_PREFIXES6 : RF_BANK_PREFIXES4;
	struct rf_prefix_value *value = NULL;

	*until = RF_FOREVER;
	if (bank->flags & listed)
		value = find_prefix(question, is_ipv6);
	if (!value) {
		*limits &= bank->prefix_class[0];
		return 0;
	}
	if (value->is_divided)
		question->who.source[1] =
			1; /* other addresses in this /64 can have a different verdict: no lease */
	*reason = RF_ALLOWED;
	*until = value->allow_until;
	if (*until > question->jiffies)
		return 1;
	*reason = RF_DENIED;
	*until = value->deny_until;
	if (*until > question->jiffies)
		return 1;
	*until = RF_FOREVER;
	*limits &= bank->prefix_class[value->prefix_class];
	return 0;
}

#endif /* RINGFENCE_LISTS_H */
