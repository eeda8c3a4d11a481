/* SPDX-License-Identifier: GPL-2.0 */
/* The tries of prefixes: one for each bank and family. */
#ifndef RINGFENCE_TRIES_H
#define RINGFENCE_TRIES_H

#include "fence/fence.h"
#include "kernel/pins.h"

/* The tries of a bank, IPv4 first: their file descriptors. -1: there are no such prefixes. */
struct rf_tries {
	int fd[RF_FAMILIES];
	uint32_t id[RF_FAMILIES]; /* 0: none */
};

#define RF_TRIES_NONE ((struct rf_tries){.fd = {-1, -1}})

/* What a trie holds, sorted by prefix. */
struct rf_trie_entry {
	struct rf_prefix prefix;
	struct rf_prefix_value value;
};

struct rf_trie_content {
	struct rf_trie_entry *entry;
	size_t count;
};

/* Those that are at `bank` now. Close them in any case. */
int rf_tries_open(const struct rf_fence *fence, int bank, struct rf_tries *tries,
		  struct rf_error *error);
void rf_tries_close(struct rf_tries *tries);
/* Puts them at `bank`, where no program may look any more. */
int rf_tries_put(const struct rf_fence *fence, int bank, const struct rf_tries *tries,
		 struct rf_error *error);
/* Pins the tries of both banks, in the group's directory as well. Takes CAP_SYS_ADMIN. */
int rf_tries_pin(const int map_fd[RF_MAP_COUNT], const struct rf_pin_path *directory,
		 struct rf_error *error);
/* What one says of an address; all 0 where that lies in no prefix. */
int rf_trie_find(int fd, int family, const __be32 word[4], struct rf_prefix_value *value);
/* The content of one; nothing where `fd` is -1. The caller frees `entry`, in any case. */
int rf_trie_read(int fd, int family, struct rf_trie_content *content, struct rf_error *error);
/* A new one that holds `count` of `listed`, which are all of that family, and their values. */
int rf_trie_make(int family, const struct rf_listed *listed, const struct rf_prefix_value *value,
		 size_t count, const struct rf_progress *progress, struct rf_error *error);

#endif /* RINGFENCE_TRIES_H */
