/* SPDX-License-Identifier: GPL-2.0 */
/* The tries of prefixes: one for each bank and family. */
#ifndef RINGFENCE_TRIES_H
#define RINGFENCE_TRIES_H

#include "fence/fence.h"
#include "kernel/pins.h"
#include "rules/list_change.h"

/* The tries of a bank, IPv4 first. If `fd` is -1, the bank has no prefixes of that family. */
struct rf_tries {
	int fd[RF_FAMILIES];
	uint32_t id[RF_FAMILIES]; /* 0: none */
};

#define RF_TRIES_NONE ((struct rf_tries){.fd = {-1, -1}})

/* The content of a trie, sorted by prefix. */
struct rf_trie_content {
	struct rf_trie_entry *entry;
	size_t count;
};

/* Opens the tries of `bank`. Close them even after an error. */
int rf_tries_open(const struct rf_fence *fence, int bank, struct rf_tries *tries,
		  struct rf_error *error);
void rf_tries_close(struct rf_tries *tries);
/* Puts the tries into `bank`, which no program may read any more. */
int rf_tries_put(const struct rf_fence *fence, int bank, const struct rf_tries *tries,
		 struct rf_error *error);
/* Pins the tries of both banks, in the group's directory as well. Takes CAP_SYS_ADMIN. */
int rf_tries_pin(const int map_fd[RF_MAP_COUNT], const struct rf_pin_path *directory,
		 struct rf_error *error);
#define RF_LENGTH_MAX(family) ((family) ? 128U : 32U)

/*
 * Looks up the longest prefix of an address in a trie, of `length` at most. The value is all 0 if
 * not found.
 */
int rf_trie_find(int fd, const __be32 word[4], unsigned int length, struct rf_prefix_value *value);
/*
 * The same, for the length of a prefix. Returns whether there is any, even if it is not the prefix
 * itself: its value has its length.
 */
bool rf_trie_look_up(int fd, const struct rf_prefix *prefix, struct rf_prefix_value *value);
/*
 * Reads the entries within `root`, sorted, into an array with room for `room` of them. -E2BIG:
 * there are more. Writes a redundant entry, and removes it: a trie is read only from an existing
 * entry.
 */
int rf_trie_read_within(int fd, const struct rf_prefix *root, struct rf_trie_entry *entry,
			size_t room, size_t *count);
/* Adds, replaces or removes an entry: atomically for the data path. */
int rf_trie_put(int fd, const struct rf_trie_entry *entry);
int rf_trie_remove(int fd, const struct rf_prefix *prefix);
bool rf_trie_is_empty(int fd);
/* Reads a trie; no entries if `fd` is -1. The caller frees `entry`, even after an error. */
int rf_trie_read(int fd, int family, struct rf_trie_content *content, struct rf_error *error);
/* Makes a trie of the first `count` prefixes in `listed`, all of that family, and their values. */
int rf_trie_make(int family, const struct rf_listed *listed, const struct rf_prefix_value *value,
		 size_t count, const struct rf_progress *progress, struct rf_error *error);

#endif /* RINGFENCE_TRIES_H */
