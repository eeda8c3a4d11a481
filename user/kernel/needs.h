/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel features that ringfence uses, and the version of Linux that brought each of them. */
#ifndef RINGFENCE_NEEDS_H
#define RINGFENCE_NEEDS_H

#include <stdbool.h>

#define RF_PLAIN_MTU_MAX 3498 /* above it a frame might not fit one page with its headroom */
#define RF_FILES_NEEDED 32    /* enough for a load: a file for each map, and a few to probe */
#define RF_FILES_LIMIT 1024   /* the limit to request if it is lower */

enum rf_answer {
	RF_NOT_KNOWN,
	RF_NO,
	RF_YES,
};

/* The features. rf_features_probe() tries each of them. */
enum rf_feature {
	RF_FEATURE_XDP, /* if it is not known, no other program or map was tried */
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
	int ran_out; /* errno of a try that had no files or no memory left; 0: none */
};

#define RF_MISSING_TEXT_SIZE 256
/*
 * Names the missing features without which the program cannot be loaded, as in "atomic operations
 * …, which came with Linux 5.12". False: none is known to be missing.
 */
bool rf_features_missing(const struct rf_features *features, char text[RF_MISSING_TEXT_SIZE]);

/* The consequence of a missing feature. */
enum rf_need {
	RF_TO_LOAD,
	RF_TO_ATTACH, /* by `ringfence attach`; `ip` does not need it */
	RF_FOR_RULES,
	RF_OPTIONAL,
};

struct rf_feature_row {
	const char *check, *text, *since;
	enum rf_need need;
	const char *without; /* the loss without an optional feature */
};

extern const struct rf_feature_row rf_feature_rows[RF_FEATURE_COUNT];

/* Tries each feature. A feature that this process has no permission to try is RF_NOT_KNOWN. */
void rf_features_probe(struct rf_features *features);

#endif /* RINGFENCE_NEEDS_H */
