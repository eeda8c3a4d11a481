// SPDX-License-Identifier: GPL-2.0
/*
 * What nft prints, by libnftables-json(5): {"nftables": [{"metainfo": ...}, {"set": {"type": ...,
 * "elem": [ELEMENT...]}}]}. An ELEMENT is "ADDRESS", {"prefix": {"addr": ADDRESS, "len": N}},
 * {"range": [ADDRESS, ADDRESS]}, or {"elem": {"val": ELEMENT, "timeout": SECONDS, ...}}.
 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "rules/nft_set.h"

struct reading {
	const char *name; /* of the text */
	struct rf_prefixes *prefixes;
	struct rf_error *error;
};

bool rf_nft_set_is(const char *text)
{
	return text[strspn(text, " \t\r\n")] == '{' && strstr(text, "\"nftables\"");
}

static int fail(const struct reading *reading, const char *what)
{
	return rf_error_failed(reading->error, -EINVAL,
			       "%s: %s; it must be what 'nft -j list set FAMILY TABLE SET' prints",
			       reading->name, what);
}

/* ---- elements ---- */

static int add_range(const struct reading *reading, const struct rf_address *from,
		     const struct rf_address *to)
{
	struct rf_error reason;
	const int err = rf_prefixes_add_range(reading->prefixes, from, to, &reason);

	if (err == -EINVAL)
		return fail(reading, reason.text);
	if (err)
		*reading->error = reason;
	return err;
}

static int read_address(const struct reading *reading, const json_t *value,
			struct rf_address *address)
{
	if (!json_is_string(value))
		return fail(reading, "an element is no address, prefix or range");
	return rf_parse_address(json_string_value(value), address, reading->error);
}

static int add_address(const struct reading *reading, const json_t *value)
{
	struct rf_address address;
	int err = read_address(reading, value, &address);

	return err ? err : add_range(reading, &address, &address);
}

static int add_prefix(const struct reading *reading, const json_t *value)
{
	const char *address = json_string_value(json_object_get(value, "addr"));
	const json_t *length = json_object_get(value, "len");
	char text[RF_PREFIX_TEXT_SIZE];

	if (!address || !json_is_integer(length))
		return fail(reading, "a prefix lacks 'addr' or 'len'");
	snprintf(text, sizeof(text), "%s/%lld", address, (long long)json_integer_value(length));
	return rf_prefixes_add_network(reading->prefixes, text, reading->error);
}

static int add_ends(const struct reading *reading, const json_t *value)
{
	struct rf_address from, to;
	int err = read_address(reading, json_array_get(value, 0), &from);

	if (!err)
		err = read_address(reading, json_array_get(value, 1), &to);
	return err ? err : add_range(reading, &from, &to);
}

static int add_element(const struct reading *reading, const json_t *element)
{
	const json_t *with_more = json_object_get(element, "elem");
	const json_t *prefix, *range;

	if (json_object_get(with_more, "timeout") || json_object_get(with_more, "expires"))
		return rf_error_failed(
			reading->error, -EINVAL,
			"%s: an element has a timeout, and here an entry has none; turn the set "
			"into 'deny add PREFIX for TIME' and run 'ringfence batch'",
			reading->name);
	if (with_more)
		element = json_object_get(with_more, "val");
	prefix = json_object_get(element, "prefix");
	range = json_object_get(element, "range");
	if (prefix)
		return add_prefix(reading, prefix);
	return range ? add_ends(reading, range) : add_address(reading, element);
}

/* ---- the set ---- */

/* The one set in what nft printed; NULL after an error. */
static const json_t *find_set(const struct reading *reading, const json_t *root)
{
	const json_t *set = NULL, *item;
	size_t i;

	json_array_foreach (json_object_get(root, "nftables"), i, item) {
		const json_t *one = json_object_get(item, "set");

		if (one && set) {
			fail(reading, "it has more than one set");
			return NULL;
		}
		set = one ? one : set;
	}
	if (!set)
		fail(reading, "it has no set of nftables");
	return set;
}

static int add_set(const struct reading *reading, const json_t *set)
{
	const char *type = json_string_value(json_object_get(set, "type"));
	const json_t *element;
	size_t i;
	int err = 0;

	if (!type || (strcmp(type, "ipv4_addr") != 0 && strcmp(type, "ipv6_addr") != 0))
		return fail(reading, "the set's type is not ipv4_addr or ipv6_addr");
	json_array_foreach (json_object_get(set, "elem"), i, element) {
		err = add_element(reading, element);
		if (err)
			break;
	}
	return err;
}

int rf_nft_set_prefixes(const char *name, const char *text, struct rf_prefixes *prefixes,
			struct rf_error *error)
{
	const struct reading reading = {.name = name, .prefixes = prefixes, .error = error};
	json_error_t problem;
	json_t *root = json_loads(text, 0, &problem);
	const json_t *set;
	int err = -EINVAL;

	if (!root)
		return rf_error_failed(error, -EINVAL, "%s:%d: not JSON: %s", name, problem.line,
				       problem.text);
	set = find_set(&reading, root);
	if (set)
		err = add_set(&reading, set);
	json_decref(root);
	return err;
}
