/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is known of each driver: one row a driver, from its code in Linux 6.12 with pages of 4096
 * bytes. All advice about a driver is derived from its row and from the running kernel.
 */
#ifndef RINGFENCE_DRIVERS_H
#define RINGFENCE_DRIVERS_H

#include <stdbool.h>

/* A version of Linux. */
struct rf_version {
	int major, minor; /* 0, 0: none, or not known */
};

/* What a driver does about merging of packets (LRO, GRO-HW) when a program is attached. */
enum rf_merging {
	RF_MERGING_NOT_KNOWN,
	RF_MERGING_REFUSED,	 /* refuses the program while it is on */
	RF_MERGING_SWITCHED_OFF, /* switches it off by itself */
	RF_MERGING_WITHOUT_EFFECT,
};

/* What happens to the link at the first attach and the last detach. */
enum rf_link_effect {
	RF_LINK_NOT_KNOWN,
	RF_LINK_UNCHANGED,
	RF_LINK_RESTARTED,
	RF_LINK_RESTARTED_BY_SWAP, /* by a swap of the program as well */
};

/* The queues that a driver requires to accept a program. */
enum rf_queue_need {
	RF_QUEUES_ANY,
	RF_QUEUES_HALF,	    /* as many again to send: at most half of the maximum */
	RF_QUEUES_SPARE,    /* one for each CPU to send by, or sending is slower */
	RF_QUEUES_COMBINED, /* each for both directions */
	RF_QUEUES_OF_PEER,  /* to receive, as many as the peer has to send */
};

struct rf_driver {
	const char *name;
	struct rf_version native; /* since which Linux; none: no native mode in 6.12 */
	struct rf_version frags;  /* likewise, for frames in several buffers */
	int mtu_max;		  /* for a program that takes one buffer; 0: not known */
	int mtu_max_before;	  /* likewise, before `frags`; 0: the same */
	enum rf_merging lro, gro_hw;
	enum rf_queue_need queues;
	bool queues_fixed; /* refuses 'ethtool -L' while a program is attached */
	enum rf_link_effect link;
	bool forgets;	   /* forgets the program when the link goes down or the MTU changes */
	const char *flag;  /* the private flag that must be off for several buffers */
	const char *drops; /* the counter of XDP drops in 'ethtool -S' */
};

/* NULL: nothing is known of it. */
const struct rf_driver *rf_driver_find(const char *name);

/* Is `version` the same as `since`, or later? False where either is not known. */
bool rf_version_reaches(struct rf_version version, struct rf_version since);
/* Reads the version from a release as `uname -r` prints it. */
struct rf_version rf_version_of(const char *release);

#endif /* RINGFENCE_DRIVERS_H */
