/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Attaching, detaching and adopting. A failure changes nothing, except in an upgrade of several
 * interfaces: running the same command again continues at the failed interface.
 */
#ifndef RINGFENCE_ATTACH_H
#define RINGFENCE_ATTACH_H

#include <stdbool.h>
#include <stdint.h>

#include "fence/bypass.h"
#include "fence/fence.h"
#include "kernel/interfaces.h"
#include "kernel/needs.h"

enum rf_outcome {
	RF_ATTACHED,
	RF_UPGRADED,	  /* the program was swapped; windows and counters were retained */
	RF_CHANGED_ENTRY, /* swapped for the entry that the MTU needs */
	RF_REPAIRED,	  /* the driver had lost the program, and has it again */
	RF_UNCHANGED,
};

#define RF_CARRIER_WAIT_MS 10000 /* for a link that comes back; negotiation takes 2 to 5 s */

/*
 * How long a request took the link down: most drivers of hardware restart it. All 0: it did not.
 */
struct rf_link_down {
	uint64_t ms;  /* from the request until the carrier was back, or until the wait ended */
	bool is_down; /* the carrier was not back by then */
};

#define RF_REPLACED_SIZE 1024

struct rf_attached {
	char interface[IF_NAMESIZE];
	char fence[RF_NAME_SIZE];
	enum rf_mode mode;
	bool frags; /* the entry for frames in several buffers */
	bool chained;
	enum rf_outcome outcome;
	struct rf_link_down link_down;
	struct rf_bypass bypass; /* state before RF_REPAIRED */
	uint64_t memory;	 /* bytes that a new fence takes; 0: joined an existing fence */
	char replaced[RF_REPLACED_SIZE]; /* the program that was detached first, in words; "": none
					  */
	bool is_lost;	   /* a fence with its rules, windows and counters was taken off, too, */
	uint32_t lost_abi; /* of this map ABI; 0: from before the first release */
	/* The foreign program that was taken off, until the request succeeds or fails; 0: none. */
	struct rf_interface foreign;
	int foreign_fd;
};

/* Attaches each interface of `attach`; `attached` has room for as many. All or none. */
int rf_fence_attach(const struct rf_attach *attach, struct rf_attached *attached,
		    struct rf_error *error);
/*
 * Repairs an attached interface, like an attach without anything else to do. -ENOENT: it has no
 * fence. -ESTALE: its program is of a different build.
 */
int rf_fence_repair(const char *name, struct rf_attached *attached, struct rf_error *error);

/* The state that was removed with a fence: numbers of active rules, of bans and of windows. */
struct rf_lost {
	char fence[RF_NAME_SIZE]; /* "": none, or it could not be read */
	int limits;
	size_t listed[RF_LIST_COUNT];
	size_t bans;
	uint64_t windows;
};

/* An interface that a request detaches, or, without an index, pins that one has left. */
struct rf_detached {
	char name[RF_NAME_SIZE];
	unsigned int index;
	bool was_gone; /* it had no program, and only pins of that name were left */
	struct rf_link_down link_down;
	struct rf_lost lost; /* with the last interface of a fence that had rules or bans */
	int err;
	struct rf_error error; /* where `err` */
};

struct rf_detach {
	struct rf_detached *target;
	int count;
};

/*
 * Detaches ringfence's program from the interfaces that the words name, see rf_dev_resolve(), and
 * removes a fence's pins with its last interface. All are checked first: an error changes nothing.
 * Then each is detached, or its `target` has the reason for the failure. The caller frees `target`,
 * even after an error.
 */
int rf_fence_detach(const char *const *word, int words, struct rf_detach *detach,
		    struct rf_error *error);

/* ---- fences without an interface ---- */

/* A pinned fence on no interface: the interface was deleted, or its driver loaded again. */
struct rf_stray {
	char name[RF_NAME_SIZE];
	uint64_t memory; /* bytes; 0: not known */
};

#define RF_STRAYS_MAX 64 /* that are listed */
#define RF_STRAY_TEXT_SIZE 384

/* "'NAME' is on no interface here, and holds 52 MiB: …", with the commands for it. */
void rf_stray_format(const struct rf_stray *stray, char text[RF_STRAY_TEXT_SIZE]);
/*
 * Finds at most `max` of them, and returns how many. Sets no error: unreadable ones are not
 * counted.
 */
int rf_strays_find(struct rf_stray *stray, int max);

struct rf_adopted {
	char fence[RF_NAME_SIZE];
	char pins[RF_PIN_PATH_SIZE]; /* their directory */
	bool is_new;		     /* it had no pins before */
	const char *refusal;	     /* why the group cannot read it; NULL: it can */
};

/* Pins the fence on `dev`. If the group exists, lets it read the pins. */
int rf_adopt(const char *dev, struct rf_adopted *adopted, struct rf_error *error);

/*
 * Has the interface the entry that its MTU needs? RF_NO: frames that do not fit one buffer are
 * lost.
 */
enum rf_answer rf_entry_suits(const struct rf_interface *interface);

/* Loads this build's plain program with small maps, and unloads it. Sets no error text. */
int rf_fence_try(void);

#endif /* RINGFENCE_ATTACH_H */
