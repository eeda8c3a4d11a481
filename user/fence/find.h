/* SPDX-License-Identifier: GPL-2.0 */
/* Finds fences: all that are attached in this network namespace, or the one that a word names. */
#ifndef RINGFENCE_FIND_H
#define RINGFENCE_FIND_H

#include "fence/fence.h"

struct rf_found {
	char name[RF_NAME_SIZE];
	char interface[IF_NAMESIZE]; /* its first one */
	uint32_t config_id;
};

struct rf_fences {
	struct rf_found *fence;
	int count;
	bool some_unknown; /* some programs could not be read: they can belong to other fences */
};

/* Finds all fences. An error if there is none. Free them even after an error. */
int rf_fences_find(struct rf_fences *fences, struct rf_error *error);
void rf_fences_free(struct rf_fences *fences);

/* The meaning of a word that names an interface or a fence. */
struct rf_dev {
	const char *word;      /* without `interface:` or `fence:` */
	const char *interface; /* the word's, or one of the fence's */
	bool is_fence;	       /* the word is the name of a fence, and not of an interface */
	struct rf_found fence; /* where is_fence */
};

/*
 * `word` is an interface or the name of a fence; `interface:WORD` and `fence:WORD` select one, if
 * it is both. `dev` refers to `word`. Sets dev->word even after an error.
 */
int rf_dev_resolve(struct rf_dev *dev, const char *word, struct rf_error *error);

#endif /* RINGFENCE_FIND_H */
