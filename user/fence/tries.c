// SPDX-License-Identifier: GPL-2.0
/* The tries of prefixes, which are maps within maps: one for each bank and family. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sort.h"
#include "fence/memory.h"
#include "fence/tries.h"
#include "kernel/info.h"

#define BATCH 8192

/* What differs between the families. */
struct family {
	enum rf_map map;
	const char *name; /* of a trie */
	int version;
	size_t key_size;
};

static const struct family families[RF_FAMILIES] = {
	{RF_MAP_PREFIXES4, "prefix_trie4", 4, sizeof(struct rf_prefix_key4)},
	{RF_MAP_PREFIXES6, "prefix_trie6", 6, sizeof(struct rf_prefix_key6)},
};

/* Sets a key of either family. A key of IPv4 is shorter, and starts in the same way. */
static void set_key(struct rf_prefix_key6 *key, const struct rf_prefix *prefix)
{
	key->length = prefix->length;
	memcpy(key->address, prefix->word, sizeof(key->address));
}

static struct rf_prefix prefix_of(const struct family *family, const void *key)
{
	struct rf_prefix prefix = {.version = family->version};
	__u32 length;

	memcpy(&length, key, sizeof(length));
	prefix.length = length;
	memcpy(prefix.word, (const char *)key + sizeof(length), family->key_size - sizeof(length));
	for (unsigned int i = 0; i < 4; i++) /* a trie stores any bits beyond the length */
		prefix.word[i] &= rf_prefix_mask(prefix.length, i);
	return prefix;
}

/* ---- the tries of a bank ---- */

/* The owner of a fence can have put any map in place of a trie. */
static int check_trie(int fd, const struct family *family)
{
	struct bpf_map_info info = {};

	if (rf_map_info(fd, &info))
		return -errno;
	return info.type == BPF_MAP_TYPE_LPM_TRIE && info.key_size == family->key_size &&
			       info.value_size == sizeof(struct rf_prefix_value)
		       ? 0
		       : -EPROTO;
}

static int open_trie(const struct rf_fence *fence, int family, __u32 bank, struct rf_tries *tries)
{
	const struct rf_pin_path pins = rf_fence_pins(fence);
	__u32 id;

	if (bpf_map_lookup_elem(fence->map_fd[families[family].map], &bank, &id))
		return errno == ENOENT ? 0 : -errno;
	tries->id[family] = id;
	tries->fd[family] = bpf_map_get_fd_by_id(id);
	if (tries->fd[family] < 0 && errno == EPERM && *pins.text)
		tries->fd[family] = rf_pins_open_trie(&pins, family, bank, id);
	else if (tries->fd[family] < 0)
		return -errno;
	if (tries->fd[family] < 0)
		return tries->fd[family];
	return check_trie(tries->fd[family], &families[family]);
}

int rf_tries_open(const struct rf_fence *fence, int bank, struct rf_tries *tries,
		  struct rf_error *error)
{
	*tries = RF_TRIES_NONE;
	for (int i = 0; i < RF_FAMILIES; i++) {
		int err = open_trie(fence, i, bank, tries);

		/*
		 * -ENOENT: the rules were replaced concurrently, and their trie was removed. The
		 * caller reads again.
		 */
		if (err == -ESTALE)
			return rf_error_failed(error, err,
					       "%s: its pinned prefixes are not the active ones; "
					       "as root run 'ringfence adopt IF'",
					       fence->name);
		if (err == -EPROTO)
			return rf_error_failed(error, err,
					       "the map '%s' is not as ringfence makes it; detach "
					       "the fence, and attach it again",
					       families[i].name);
		if (err && err != -ENOENT)
			return rf_error_failed(error, err, "cannot open the map '%s': %s",
					       families[i].name, strerror(-err));
	}
	return 0;
}

void rf_tries_close(struct rf_tries *tries)
{
	for (int i = 0; i < RF_FAMILIES; i++)
		if (tries->fd[i] >= 0)
			close(tries->fd[i]);
	*tries = RF_TRIES_NONE;
}

/* Writes nothing if the trie is there already, since each update waits for the data path. */
static int put_trie(const struct rf_fence *fence, int family, __u32 bank,
		    const struct rf_tries *tries)
{
	const int outer = fence->map_fd[families[family].map];
	__u32 id = 0;

	if (bpf_map_lookup_elem(outer, &bank, &id) && errno != ENOENT)
		return -errno;
	if (id == tries->id[family])
		return 0;
	if (tries->fd[family] < 0)
		return bpf_map_delete_elem(outer, &bank) && errno != ENOENT ? -errno : 0;
	return bpf_map_update_elem(outer, &bank, &tries->fd[family], BPF_ANY) ? -errno : 0;
}

int rf_tries_put(const struct rf_fence *fence, int bank, const struct rf_tries *tries,
		 struct rf_error *error)
{
	const struct rf_pin_path pins = rf_fence_pins(fence);
	int err = 0;

	/* The pins come first: no process reads the pins of the idle bank. */
	for (int i = 0; i < RF_FAMILIES && *pins.text; i++) {
		err = rf_pins_put_trie(&pins, i, bank, tries->fd[i], error);
		if (err)
			return err;
	}
	for (int i = 0; i < RF_FAMILIES && !err; i++)
		err = put_trie(fence, i, bank, tries);
	if (err)
		return rf_error_failed(error, err, "cannot put the prefixes in place: %s",
				       strerror(-err));
	return 0;
}

int rf_tries_pin(const int map_fd[RF_MAP_COUNT], const struct rf_pin_path *directory,
		 struct rf_error *error)
{
	struct rf_fence fence = RF_FENCE_NONE;
	int err = 0;

	memcpy(fence.map_fd, map_fd, sizeof(fence.map_fd));
	for (int bank = 0; bank < 2 && !err; bank++) {
		struct rf_tries tries;

		err = rf_tries_open(&fence, bank, &tries, error);
		for (int i = 0; i < RF_FAMILIES && !err; i++)
			err = rf_pins_put_trie(directory, i, bank, tries.fd[i], error);
		rf_tries_close(&tries);
	}
	return err;
}

/* ---- reading ---- */

/* A trie that is read, with room for the most entries that it may hold, as the kernel reports. */
struct reading {
	int fd;
	const struct family *family;
	unsigned char *keys;
	struct rf_prefix_value *values;
	size_t count;
	size_t capacity;
};

/* An error such as -EINVAL or -ENOTSUP: the kernel has no batches for tries. */
static int read_batches(struct reading *reading)
{
	__u32 position[5]; /* as large as a key */
	bool first = true;
	int err = 0;

	while (!err && reading->count < reading->capacity) {
		__u32 count = reading->capacity - reading->count;

		if (count > BATCH)
			count = BATCH;
		err = bpf_map_lookup_batch(reading->fd, first ? NULL : position, position,
					   reading->keys +
						   reading->count * reading->family->key_size,
					   reading->values + reading->count, &count, NULL)
			      ? -errno
			      : 0;
		if (!err || err == -ENOENT)
			reading->count += count;
		first = false;
	}
	return err == -ENOENT ? 0 : err;
}

static int read_singly(struct reading *reading)
{
	const size_t key_size = reading->family->key_size;
	unsigned char *key = reading->keys, *before = NULL;

	for (reading->count = 0; reading->count < reading->capacity; reading->count++) {
		if (bpf_map_get_next_key(reading->fd, before, key))
			return errno == ENOENT ? 0 : -errno;
		if (bpf_map_lookup_elem(reading->fd, key, &reading->values[reading->count]))
			return -errno;
		before = key;
		key += key_size;
	}
	return 0;
}

int rf_trie_find(int fd, const __be32 word[4], unsigned int length, struct rf_prefix_value *value)
{
	struct rf_prefix_key6 key = {.length = length};

	memset(value, 0, sizeof(*value));
	if (fd < 0)
		return 0;
	memcpy(key.address, word, sizeof(key.address));
	return bpf_map_lookup_elem(fd, &key, value) && errno != ENOENT ? -errno : 0;
}

bool rf_trie_look_up(int fd, const struct rf_prefix *prefix, struct rf_prefix_value *value)
{
	struct rf_prefix_key6 key;

	memset(value, 0, sizeof(*value));
	set_key(&key, prefix);
	return !bpf_map_lookup_elem(fd, &key, value);
}

static int compare_entries(const void *a, const void *b)
{
	const struct rf_trie_entry *left = a, *right = b;

	return rf_prefix_compare(&left->prefix, &right->prefix);
}

/* A trie that changes concurrently can be read from its start again. */
static void drop_doubles(struct rf_trie_content *content)
{
	size_t kept = 0;

	for (size_t i = 0; i < content->count; i++)
		if (!kept || compare_entries(&content->entry[kept - 1], &content->entry[i]) != 0)
			content->entry[kept++] = content->entry[i];
	content->count = kept;
}

static int make_content(const struct reading *reading, struct rf_trie_content *content)
{
	content->entry = calloc(reading->count + 1, sizeof(*content->entry));
	if (!content->entry)
		return -ENOMEM;
	content->count = reading->count;
	for (size_t i = 0; i < reading->count; i++)
		content->entry[i] = (struct rf_trie_entry){
			prefix_of(reading->family, reading->keys + i * reading->family->key_size),
			reading->values[i],
		};
	rf_sort(content->entry, content->count, sizeof(*content->entry), compare_entries);
	drop_doubles(content);
	return 0;
}

static int start_reading(struct reading *reading)
{
	struct bpf_map_info info = {};

	if (rf_map_info(reading->fd, &info))
		return -errno;
	/* More than there can be, for entries that are read twice. Untouched, it takes no memory.
	 */
	reading->capacity = 2UL * info.max_entries + BATCH;
	reading->keys = calloc(reading->capacity, reading->family->key_size);
	reading->values = calloc(reading->capacity, sizeof(*reading->values));
	return reading->keys && reading->values ? 0 : -ENOMEM;
}

int rf_trie_read(int fd, int family, struct rf_trie_content *content, struct rf_error *error)
{
	struct reading reading = {.fd = fd, .family = &families[family]};
	int err;

	*content = (struct rf_trie_content){};
	if (fd < 0)
		return 0;
	err = start_reading(&reading);
	if (!err)
		err = read_batches(&reading) ? read_singly(&reading) : 0;
	if (!err)
		err = make_content(&reading, content);
	free(reading.keys);
	free(reading.values);
	if (err)
		return rf_error_failed(error, err, "cannot read the prefixes: %s", strerror(-err));
	return 0;
}

/* ---- some entries ---- */

static const struct family *family_of(const struct rf_prefix *prefix)
{
	return &families[prefix->version == 6];
}

int rf_trie_put(int fd, const struct rf_trie_entry *entry)
{
	struct rf_prefix_key6 key;

	set_key(&key, &entry->prefix);
	return bpf_map_update_elem(fd, &key, &entry->value, BPF_ANY) ? -errno : 0;
}

int rf_trie_remove(int fd, const struct rf_prefix *prefix)
{
	struct rf_prefix_key6 key;

	set_key(&key, prefix);
	return bpf_map_delete_elem(fd, &key) && errno != ENOENT ? -errno : 0;
}

bool rf_trie_is_empty(int fd)
{
	struct rf_prefix_key6 key;

	return bpf_map_get_next_key(fd, NULL, &key) && errno == ENOENT;
}

/*
 * The entry of the first address within `root`, and what applies to it. A trie lists an entry after
 * those within it, so all others within the root follow.
 */
static bool find_first(int fd, const struct rf_prefix *root, struct rf_trie_entry *first)
{
	first->prefix = *root;
	first->prefix.length = RF_LENGTH_MAX(root->version == 6);
	return rf_trie_look_up(fd, &first->prefix, &first->value) &&
	       first->value.length == first->prefix.length;
}

/* The same as find_first() found: the same result, and no own entry. */
static int put_mark(int fd, struct rf_trie_entry *first)
{
	memset(first->value.own_claim, 0, sizeof(first->value.own_claim));
	first->value.own_from = 0;
	first->value.length = first->prefix.length;
	return rf_trie_put(fd, first);
}

/* Reads the entries that follow `first` within `root`. */
static int read_following(int fd, const struct rf_prefix *root, const struct rf_prefix *first,
			  struct rf_trie_entry *entry, size_t room, size_t *count)
{
	const struct family *family = family_of(root);
	struct rf_prefix_key6 key, next;

	set_key(&key, first);
	while (!bpf_map_get_next_key(fd, &key, &next)) {
		const struct rf_prefix prefix = prefix_of(family, &next);

		if (!rf_prefix_contains(root, &prefix))
			return 0;
		if (*count == room)
			return -E2BIG;
		entry[*count].prefix = prefix;
		if (bpf_map_lookup_elem(fd, &next, &entry[*count].value))
			return -errno;
		++*count;
		key = next;
	}
	return errno == ENOENT ? 0 : -errno;
}

int rf_trie_read_within(int fd, const struct rf_prefix *root, struct rf_trie_entry *entry,
			size_t room, size_t *count)
{
	struct rf_trie_entry first;
	const bool is_there = find_first(fd, root, &first);
	int err = 0, removed = 0;

	*count = 0;
	if (is_there)
		entry[(*count)++] = first;
	if (root->length == first.prefix.length)
		return 0;
	if (!is_there)
		err = put_mark(fd, &first);
	if (err)
		return err;
	err = read_following(fd, root, &first.prefix, entry, room, count);
	if (!is_there)
		removed = rf_trie_remove(fd, &first.prefix);
	rf_sort(entry, *count, sizeof(*entry), compare_entries);
	return err ? err : removed;
}

/* ---- making ---- */

struct writing {
	int fd;
	const struct family *family;
	const struct rf_listed *listed;
	const struct rf_prefix_value *value;
	size_t count;
	const struct rf_progress *progress;
};

static int write_singly(const struct writing *writing, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		struct rf_prefix_key6 key;

		set_key(&key, &writing->listed[i].prefix);
		if (bpf_map_update_elem(writing->fd, &key, &writing->value[i], BPF_ANY))
			return -errno;
	}
	return 0;
}

static int write_batch(const struct writing *writing, size_t from, size_t to, unsigned char *keys)
{
	__u32 count = to - from;

	for (size_t i = from; i < to; i++) {
		struct rf_prefix_key6 key;

		set_key(&key, &writing->listed[i].prefix);
		memcpy(keys + (i - from) * writing->family->key_size, &key,
		       writing->family->key_size);
	}
	/* A kernel without batches for tries refuses. Then the entries are written one by one. */
	if (bpf_map_update_batch(writing->fd, keys, &writing->value[from], &count, NULL))
		return write_singly(writing, from, to);
	return 0;
}

static int write_all(const struct writing *writing)
{
	unsigned char *keys = calloc(BATCH, writing->family->key_size);
	int err = keys ? 0 : -ENOMEM;

	for (size_t from = 0; from < writing->count && !err; from += BATCH) {
		size_t to = from + BATCH < writing->count ? from + BATCH : writing->count;

		err = write_batch(writing, from, to, keys);
		if (!err && writing->progress)
			writing->progress->report(writing->progress->context, to, writing->count);
	}
	free(keys);
	return err;
}

int rf_trie_make(int family, const struct rf_listed *listed, const struct rf_prefix_value *value,
		 size_t count, const struct rf_progress *progress, struct rf_error *error)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_NO_PREALLOC);
	struct writing writing = {-1, &families[family], listed, value, count, progress};
	int err;

	writing.fd = bpf_map_create(BPF_MAP_TYPE_LPM_TRIE, families[family].name,
				    families[family].key_size, sizeof(*value),
				    2 * count + RF_TRIE_ROOM, &options);
	err = writing.fd < 0 ? -errno : write_all(&writing);
	if (!err)
		return writing.fd;
	if (writing.fd >= 0)
		close(writing.fd);
	return rf_error_failed(error, err, "cannot make a map of %zu prefixes: %s", count,
			       strerror(-err));
}
