/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The windows that a scanner knows, from one scan to the next: a window that nobody used is not
 * read each time, and is not lost. What is new of each is told once: the most that was ever seen,
 * with what leases held, less what was told before.
 */
#ifndef RINGFENCE_KNOWN_H
#define RINGFENCE_KNOWN_H

#include "fence/fence.h"

enum rf_told_kind {
	RF_PASSED,
	RF_DROPPED,
	RF_WOULD_DROP,
	RF_KINDS,
};

struct rf_known {
	struct rf_address source;
	uint32_t limit_id;
	uint32_t stay;		    /* see struct rf_window_sight */
	uint32_t hash;		    /* keyed, of the source and the limit */
	uint32_t made;		    /* the number of the scan that knew it first */
	uint32_t touched, read;	    /* numbers of the last scans that did */
	uint32_t used;		    /* in the policy's units */
	uint32_t pending[RF_KINDS]; /* what leases hold, in the scan that touched it */
	uint64_t count[RF_KINDS];   /* of the window alone */
	uint64_t told[RF_KINDS];    /* with what leases held */
	uint64_t fresh[RF_KINDS];   /* told first by the scan that touched it */
	uint64_t grew_ns;	    /* when a scan last found something new */
	uint32_t lent;		    /* used while sweeping */
	bool was_missed;	    /* by the last reading of all windows */
	bool is_shown;		    /* the scan has a row of it */
};

/* What leases held of a window. */
struct rf_known_lent {
	uint32_t at; /* its place in `of` */
	uint32_t pending[RF_KINDS];
};

struct rf_known_list {
	struct rf_known *of;
	uint32_t count, capacity;
	uint32_t *place; /* open addressing: an index in `of` and 1; 0: free */
	uint32_t places; /* a power of two */
	__u64 key[3];
	uint32_t scan; /* the number of this one */
	uint32_t next; /* index in `of`: behind the window that was seen last */

	uint32_t *touched; /* by this scan */
	uint32_t touched_count, touched_capacity;
	struct rf_known_lent *lent; /* at the scan before */
	uint32_t lent_count;
};

/* All functions that may allocate return -ENOMEM. */

/* Begins a scan. */
int rf_known_begin(struct rf_known_list *list);
void rf_known_free(struct rf_known_list *list);
/* NULL: it is not known. */
struct rf_known *rf_known_find(struct rf_known_list *list, const struct rf_address *source,
			       uint32_t limit_id);
/* Takes what a window is known by. */
int rf_known_see(struct rf_known_list *list, const struct rf_window_sight *sight);
/* Adds what a lease holds of it. */
int rf_known_lend(struct rf_known_list *list, struct rf_known *known, enum rf_told_kind kind,
		  uint32_t packets);
/* Did leases hand over something of that window since the scan before, that was not read yet? */
bool rf_known_must_be_read(const struct rf_known_list *list, const struct rf_known_lent *lent);
/* All that is known of this scan was taken: sets what is new. */
int rf_known_tell(struct rf_known_list *list, uint64_t now_ns);
/* Forgets the windows that two readings of all windows did not find. Places change. */
void rf_known_sweep(struct rf_known_list *list);

#endif /* RINGFENCE_KNOWN_H */
