/* SPDX-License-Identifier: GPL-2.0 */
/* What the allow and deny lists say of a source, and which limits are left to it. */
#ifndef RINGFENCE_LISTS_H
#define RINGFENCE_LISTS_H

#include "windows.h"

/* The entry of the longest prefix that contains the source; NULL: there is none. */
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
 * The answer of the lists, and until when it holds. RF_ASK_LIMITS: no list decides, and `limits`
 * are those that apply to sources of this prefix.
 */
static __always_inline enum rf_reason ask_lists(struct question *question, __u32 *limits,
						__u64 *until, int is_ipv6)
{
	const struct rf_bank *bank = bank_of(question);
	const __u32 listed = is_ipv6 ? RF_BANK_PREFIXES6 : RF_BANK_PREFIXES4;
	struct rf_prefix_value *value = NULL;

	*until = RF_FOREVER;
	if (bank->flags & listed)
		value = find_prefix(question, is_ipv6);
	if (!value) {
		*limits &= bank->prefix_class[0];
		return RF_ASK_LIMITS;
	}
	if (value->is_divided)
		question->who.source[1] =
			1; /* other addresses of this /64 may get another answer: no lease */
	*until = value->allow_until;
	if (*until > question->jiffies)
		return RF_ALLOWED;
	*until = value->deny_until;
	if (*until > question->jiffies)
		return RF_DENIED;
	*until = RF_FOREVER;
	*limits &= bank->prefix_class[value->prefix_class];
	return RF_ASK_LIMITS;
}

#endif /* RINGFENCE_LISTS_H */
