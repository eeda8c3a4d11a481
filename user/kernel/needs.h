/* SPDX-License-Identifier: GPL-2.0 */
/* What ringfence needs of the kernel: by name, and by the version of Linux. `probe` tries it. */
#ifndef RINGFENCE_NEEDS_H
#define RINGFENCE_NEEDS_H

#include <stdbool.h>

#define RF_PLAIN_MTU_MAX 3498 /* above it a frame may not fit one page with its headroom */
#define RF_FILES_NEEDED 32    /* a load takes no more: a file for each map, and a few to try */
#define RF_FILES_LIMIT 1024   /* what to ask for, where there are fewer */

enum rf_answer {
	RF_NOT_KNOWN,
	RF_NO,
	RF_YES,
};

/* What ringfence uses of the kernel, each found out by trying it. */
enum rf_feature {
	RF_FEATURE_XDP, /* where that is not known, nothing else is */
	RF_FEATURE_ATOMICS,
	RF_FEATURE_FUNCTIONS,
	RF_FEATURE_JIFFIES,
	RF_FEATURE_KTIME,
	RF_FEATURE_PERCPU_ARRAY,
	RF_FEATURE_MMAPABLE,
	RF_FEATURE_LPM_TRIE,
	RF_FEATURE_MAP_OF_MAPS,
	RF_FEATURE_BATCH,
	RF_FEATURE_SYSCALL,
	RF_FEATURE_LINK,
	RF_FEATURE_FRAGS,
	RF_FEATURE_ITERATORS,
	RF_FEATURE_READERS,
	RF_FEATURE_JIT,
	RF_FEATURE_COUNT,
};

struct rf_features {
	enum rf_answer has[RF_FEATURE_COUNT];
	int ran_out; /* errno: there were no files or no memory left to try some of it; 0: enough */
};

/* Does it say that a process, or the machine, has no files or no memory left? */
bool rf_ran_out(int negative_errno);

#define RF_MISSING_TEXT_SIZE 256
/*
 * "atomic operations …, which came with Linux 5.12", of what the program cannot be loaded without;
 * false where nothing is missing, as far as is known.
 */
bool rf_features_missing(const struct rf_features *features, char text[RF_MISSING_TEXT_SIZE]);

/* What does not work without a feature. */
enum rf_need {
	RF_TO_LOAD,
	RF_TO_ATTACH, /* by `ringfence attach`; `ip` can do without */
	RF_FOR_RULES,
	RF_OPTIONAL,
};

struct rf_feature_row {
	const char *check, *text, *since;
	enum rf_need need;
	const char *without; /* of what is optional */
};

extern const struct rf_feature_row rf_feature_rows[RF_FEATURE_COUNT];

/* Finds out what the kernel can (probe.c). All is RF_NOT_KNOWN where this process may not try. */
void rf_features_probe(struct rf_features *features);

#endif /* RINGFENCE_NEEDS_H */
