// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "agent/probe_place.h"

static const char *text_of(const json_t *facts, const char *key)
{
	const char *text = json_string_value(json_object_get(facts, key));

	return text ? text : "";
}

/* Compares addresses in any notation, and names literally. */
static bool is_same_host(const char *announced, const json_t *asked)
{
	const char *address = text_of(asked, "address");
	const int family = strchr(announced, ':') ? AF_INET6 : AF_INET;
	struct in6_addr one, other;

	if (inet_pton(family, announced, &one) == 1)
		return inet_pton(family, address, &other) == 1 &&
		       memcmp(&one, &other, family == AF_INET6 ? 16 : 4) == 0;
	return *announced && strcasecmp(announced, text_of(asked, "host")) == 0;
}

/* Is it the address at which that node was probed? `place` is announced by `by`. */
static bool is_asked_at(const json_t *place, const json_t *by, const json_t *asked)
{
	const char *host = json_string_value(json_array_get(place, 0));
	const char *port = json_string_value(json_array_get(place, 1));

	return port && strcmp(port, text_of(asked, "port")) == 0 &&
	       is_same_host(host ? host : text_of(by, "address"), asked);
}

static json_t *announced_name(const json_t *by, const char *id)
{
	const json_t *place = json_object_get(json_object_get(by, "announces"), id);
	const char *host = json_string_value(json_array_get(place, 0));
	const char *port = json_string_value(json_array_get(place, 1));

	return port ? json_sprintf("%s:%s", host ? host : text_of(by, "host"), port) : json_null();
}

/* True: it announces a different node there, and not that one. */
static bool contradicts(const json_t *by, const json_t *asked)
{
	bool is_announced = false;
	const char *id;
	json_t *place;

	json_object_foreach (json_object_get(by, "announces"), id, place) {
		if (!is_asked_at(place, by, asked))
			continue;
		if (strcmp(id, text_of(asked, "id")) == 0)
			return false;
		is_announced = true;
	}
	return is_announced;
}

/* The node's own announcement comes first. If it belongs to a different cluster, only others know.
 */
static void compare(const json_t *nodes, json_t *asked)
{
	const json_t *by = contradicts(asked, asked) ? asked : NULL;

	for (size_t i = 0; !by && i < json_array_size(nodes); i++)
		if (contradicts(json_array_get(nodes, i), asked))
			by = json_array_get(nodes, i);
	if (!by)
		return;
	json_object_set_new(asked, "announced_by",
			    json_sprintf("%s:%s", text_of(by, "host"), text_of(by, "port")));
	json_object_set_new(asked, "leads_to", announced_name(by, text_of(asked, "id")));
}

void rf_probe_compare_places(json_t *nodes)
{
	json_t *node;
	size_t i;

	json_array_foreach (nodes, i, node)
		if (*text_of(node, "id"))
			compare(nodes, node);
	json_array_foreach (nodes, i, node)
		json_object_del(node, "announces");
}
