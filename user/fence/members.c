// SPDX-License-Identifier: GPL-2.0
/* Which interface of the fence a link's packets count for. Pure. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fence/members.h"

#define DEPTH_MAX 8 /* masters above each other that the kernel allows */

bool rf_kind_has_members(const char *kind)
{
	static const char *const kinds[] = {"bond", "team", "" /* hardware: hv_netvsc */};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strcmp(kind, kinds[i]) == 0)
			return true;
	return false;
}

const struct rf_link *rf_links_find(const struct rf_links *links, unsigned int index)
{
	for (int i = 0; i < links->count; i++)
		if (links->link[i].index == index)
			return &links->link[i];
	return NULL;
}

unsigned int rf_link_counts_for(const struct rf_links *links, const struct rf_link *link)
{
	for (int depth = 0; link && depth < DEPTH_MAX; depth++) {
		if (link->is_attached)
			return link->index;
		link = rf_links_find(links, link->master);
		if (link && !rf_kind_has_members(link->kind))
			return 0;
	}
	return 0;
}

int rf_links_add(struct rf_links *links, const struct rf_link *link)
{
	if (rf_links_find(links, link->index))
		return 0;
	if (links->count == links->size) {
		const int size = links->size ? 2 * links->size : 16;
		struct rf_link *grown = realloc(links->link, size * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		links->link = grown;
		links->size = size;
	}
	links->link[links->count++] = *link;
	return 0;
}

void rf_links_free(struct rf_links *links)
{
	free(links->link);
	*links = (struct rf_links){};
}
