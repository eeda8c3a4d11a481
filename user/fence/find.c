// SPDX-License-Identifier: GPL-2.0
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fence/find.h"
#include "fence/private.h"
#include "kernel/info.h"

/* ---- all fences ---- */

/* Reads the name from the configuration of a fence that has this build's map ABI. */
static void read_own_name(int fd, char name[RF_NAME_SIZE])
{
	struct bpf_map_info info = {};
	struct rf_config *config;
	__u32 key = 0;

	if (rf_map_info(fd, &info) || info.value_size < sizeof(*config) || !rf_map_is_plain(&info))
		return;
	config = malloc(info.value_size);
	if (config && !bpf_map_lookup_elem(fd, &key, config))
		memcpy(name, config->name, RF_NAME_SIZE);
	free(config);
}

/* The configuration of another map ABI cannot be read: such a fence has the name of its pins. */
static void read_name(struct rf_found *found, const struct rf_program *program)
{
	char written[RF_NAME_SIZE] = "";
	struct rf_pin_path pins;

	if (program->abi == RF_ABI_VERSION)
		read_own_name(program->map_fd[RF_MAP_CONFIG], written);
	else if (!rf_pins_find(found->config_id, &pins))
		strncpy(written, strrchr(pins.text, '/') + 1, sizeof(written) - 1);
	rf_fence_take_name(found->name, written, found->interface);
}

static bool has_fence(const struct rf_fences *fences, uint32_t config_id)
{
	for (int i = 0; i < fences->count; i++)
		if (fences->fence[i].config_id == config_id)
			return true;
	return false;
}

/* Adds the fence of an interface, unless another of its interfaces came before. */
static int add_fence(struct rf_fences *fences, const struct rf_interface *interface,
		     struct rf_error *error)
{
	struct rf_program program;
	struct rf_found *found;
	int err = rf_program_open(&program, interface->program_id, error);
	const uint32_t id = program.ours ? program.map_id[RF_MAP_CONFIG] : 0;

	fences->some_unknown = fences->some_unknown || err == -EPERM;
	if (err == -ENOENT || err == -EPERM) /* -ENOENT: it was removed concurrently */
		err = 0;
	if (!err && id && !has_fence(fences, id)) {
		found = &fences->fence[fences->count++];
		*found = (struct rf_found){.config_id = id};
		memcpy(found->interface, interface->name, IF_NAMESIZE);
		read_name(found, &program);
	}
	rf_program_close(&program);
	return err;
}

int rf_fences_find(struct rf_fences *fences, struct rf_error *error)
{
	struct rf_interface *interfaces = NULL;
	int count = rf_interfaces_scan(&interfaces, error);
	int err = count < 0 ? count : 0;

	*fences = (struct rf_fences){};
	if (count > 0)
		fences->fence = calloc(count, sizeof(*fences->fence));
	if (count > 0 && !fences->fence)
		err = rf_error_failed(error, -ENOMEM, "cannot list the fences: %s",
				      strerror(ENOMEM));
	for (int i = 0; i < count && !err; i++)
		err = add_fence(fences, &interfaces[i], error);
	free(interfaces);
	if (err || fences->count)
		return err;
	if (fences->some_unknown)
		return -EPERM; /* `error` names the program */
	return rf_error_failed(error, -ENOENT,
			       "no fence attached to any interface; run 'ringfence attach IF' or "
			       "'ip link set dev IF xdp obj …'");
}

void rf_fences_free(struct rf_fences *fences)
{
	free(fences->fence);
	*fences = (struct rf_fences){};
}

/* ---- one fence ---- */

#define OF_INTERFACE "interface:"
#define OF_FENCE "fence:"

/* The text after `prefix`; NULL: `word` does not start with it. */
static const char *without(const char *word, const char *prefix)
{
	return strncmp(word, prefix, strlen(prefix)) == 0 ? word + strlen(prefix) : NULL;
}

/* The first fence of that name, from `*at` on; moves `*at` past it. NULL if not found. */
static const struct rf_found *next_named(const struct rf_fences *fences, const char *name, int *at)
{
	while (*at < fences->count) {
		const struct rf_found *found = &fences->fence[(*at)++];

		if (strcmp(found->name, name) == 0)
			return found;
	}
	return NULL;
}

/* Is the program on this interface one of the fence? */
static bool is_of_fence(const char *interface_name, const struct rf_found *found)
{
	struct rf_interface interface;
	struct rf_error ignored;

	return !rf_interface_query(interface_name, &interface, &ignored) && interface.program_id &&
	       rf_program_config_of(interface.program_id) == found->config_id;
}

/* Neither an interface nor a fence that this process can read has the name. */
static int fail_unknown(const struct rf_fences *fences, const char *name, bool is_fence,
			struct rf_error *error)
{
	if (fences->some_unknown)
		return rf_error_failed(error, -EPERM,
				       "%s: no such interface; only CAP_SYS_ADMIN can find a fence "
				       "of that name; %s",
				       name, rf_remedy_to_read());
	if (is_fence)
		return rf_error_failed(error, -ENOENT,
				       "%s: no such fence; 'ringfence status' lists the fences",
				       name);
	return rf_error_failed(error, -ENODEV,
			       "%s: no such interface or fence; 'ip link' lists the interfaces, "
			       "'ringfence status' the fences",
			       name);
}

static int fail_several_named(const struct rf_found *one, const struct rf_found *other,
			      struct rf_error *error)
{
	return rf_error_failed(error, -ENOTUNIQ,
			       "%s: several fences have this name; write interface:%s or "
			       "interface:%s",
			       one->name, one->interface, other->interface);
}

static int fail_both(const struct rf_found *found, struct rf_error *error)
{
	return rf_error_failed(error, -ENOTUNIQ,
			       "%s: an interface, and another fence, on %s, has this name; write "
			       "interface:%s or fence:%s",
			       found->name, found->interface, found->name, found->name);
}

/* The word after a prefix, or without one, is looked up among the fences. */
static int resolve(struct rf_dev *dev, const struct rf_fences *fences, const char *name,
		   bool is_fence, struct rf_error *error)
{
	const bool is_interface = !is_fence && if_nametoindex(name);
	int at = 0;
	const struct rf_found *found = next_named(fences, name, &at);
	const struct rf_found *other = next_named(fences, name, &at);

	if (!found && is_interface)
		return 0;
	if (!found)
		return fail_unknown(fences, name, is_fence, error);
	if (is_interface && (other || !is_of_fence(name, found)))
		return fail_both(other && is_of_fence(name, found) ? other : found, error);
	if (is_interface)
		return 0;
	if (other)
		return fail_several_named(found, other, error);
	dev->fence = *found;
	dev->interface = dev->fence.interface;
	dev->is_fence = true;
	return 0;
}

int rf_dev_resolve(struct rf_dev *dev, const char *word, struct rf_error *error)
{
	const char *of_fence = without(word, OF_FENCE);
	const char *of_interface = without(word, OF_INTERFACE);
	const char *name = of_fence ?: of_interface ?: word;
	struct rf_fences fences;
	struct rf_error ignored;
	int err;

	*dev = (struct rf_dev){.word = name, .interface = name};
	if (of_interface)
		return 0;
	/* Regardless of errors of programs on other interfaces, `word` can be an interface. */
	rf_fences_find(&fences, &ignored);
	err = resolve(dev, &fences, name, of_fence, error);
	rf_fences_free(&fences);
	return err;
}

static int fail_several(const struct rf_fences *fences, struct rf_error *error)
{
	const struct rf_found *found = fences->fence;

	return rf_error_failed(
		error, -ENOTUNIQ, "several fences are attached: %s, %s%s; choose one: dev %s",
		found[0].name, found[1].name, fences->count > 2 ? " …" : "", found[0].name);
}

static int open_only(struct rf_fence *fence, struct rf_error *error)
{
	struct rf_fences fences;
	int err = rf_fences_find(&fences, error);

	if (!err && fences.count > 1)
		err = fail_several(&fences, error);
	if (!err)
		err = rf_fence_open_on(fence, fences.fence[0].interface, error);
	fence->among_unknown = fences.some_unknown;
	rf_fences_free(&fences);
	return err;
}

int rf_fence_open(struct rf_fence *fence, const char *dev, struct rf_error *error)
{
	struct rf_dev resolved;
	int err;

	if (!dev)
		return open_only(fence, error);
	err = rf_dev_resolve(&resolved, dev, error);
	return err ? err : rf_fence_open_on(fence, resolved.interface, error);
}
