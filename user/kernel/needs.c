// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>

#include "kernel/needs.h"

const struct rf_feature_row rf_feature_rows[RF_FEATURE_COUNT] = {
	[RF_FEATURE_XDP] = {"xdp", "XDP programs", "4.8", RF_TO_LOAD, NULL},
	[RF_FEATURE_ATOMICS] =
		{"atomics", "atomic operations that return a value (fetch-add, compare-and-swap)",
		 "5.12", RF_TO_LOAD, NULL},
	[RF_FEATURE_FUNCTIONS] = {"functions", "global functions in programs", "5.6", RF_TO_LOAD,
				  NULL},
	[RF_FEATURE_JIFFIES] = {"jiffies", "the helper bpf_jiffies64", "5.5", RF_TO_LOAD, NULL},
	[RF_FEATURE_KTIME] = {"ktime", "the helper bpf_ktime_get_ns", "4.1", RF_TO_LOAD, NULL},
	[RF_FEATURE_PERCPU_ARRAY] = {"percpu_array", "arrays for each CPU", "4.6", RF_TO_LOAD,
				     NULL},
	[RF_FEATURE_MMAPABLE] = {"mmapable", "arrays in shared memory", "5.5", RF_TO_LOAD, NULL},
	[RF_FEATURE_LPM_TRIE] = {"lpm_trie", "maps of prefixes (LPM tries)", "4.11", RF_TO_LOAD,
				 NULL},
	[RF_FEATURE_MAP_OF_MAPS] = {"map_of_maps", "arrays of maps", "4.12", RF_TO_LOAD, NULL},
	[RF_FEATURE_BATCH] = {"batch", "reading of maps in batches", "5.6", RF_FOR_RULES, NULL},
	[RF_FEATURE_SYSCALL] = {"syscall",
				"programs run by a system call (the command line's "
				"clock)",
				"5.14", RF_FOR_RULES, NULL},
	[RF_FEATURE_LINK] = {"link", "bpf_links for XDP", "5.9", RF_TO_ATTACH, NULL},
	[RF_FEATURE_FRAGS] = {"frags", "frames in several buffers (xdp.frags)", "5.18", RF_OPTIONAL,
			      "no native mode with a jumbo MTU"},
	[RF_FEATURE_ITERATORS] = {"iterators", "BPF iterators over maps", "5.9", RF_OPTIONAL,
				  "no counters to 'cat' in the BPF file system"},
	[RF_FEATURE_READERS] = {"readers", "reading of pinned maps without capabilities", "5.19",
				RF_OPTIONAL, "only processes with CAP_BPF can read"},
	[RF_FEATURE_JIT] = {"jit", "the BPF JIT", "4.8", RF_OPTIONAL, "it works, but is slow"},
};

bool rf_ran_out(int negative_errno)
{
	return negative_errno == -EMFILE || negative_errno == -ENFILE ||
	       negative_errno == -ENOMEM || negative_errno == -EAGAIN;
}

bool rf_features_missing(const struct rf_features *has, char text[RF_MISSING_TEXT_SIZE])
{
	size_t length = 0;

	*text = '\0';
	for (int i = 0; i < RF_FEATURE_COUNT; i++) {
		if (has->has[i] != RF_NO || rf_feature_rows[i].need != RF_TO_LOAD)
			continue;
		length += snprintf(text + length, RF_MISSING_TEXT_SIZE - length,
				   "%s%s, which came with Linux %s", length ? ", and " : "",
				   rf_feature_rows[i].text, rf_feature_rows[i].since);
		if (length >= RF_MISSING_TEXT_SIZE)
			break;
	}
	return length > 0;
}
