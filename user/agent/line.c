// SPDX-License-Identifier: GPL-2.0
#include "agent/line.h"

static bool is_in_use(const struct rf_line *line, uint32_t node)
{
	return line->link[node].id && line->link[node].id == line->cluster->node[node].id;
}

static void start(struct rf_line *line, uint32_t node)
{
	struct rf_link *link = &line->link[node];

	*link = (struct rf_link){
		.engine = line->engine,
		.cluster = line->cluster,
		.node = node,
		.id = line->cluster->node[node].id,
		.purpose = line->purpose,
		.loop = line->loop,
		.socket = {.is_urgent = line->is_urgent},
		.patience_ns = line->patience_ns,
	};
	rf_link_start(link);
}

void rf_line_end(struct rf_line *line)
{
	for (uint32_t i = 0; i < RF_NODES_MOST; i++)
		if (line->link[i].id)
			rf_link_end(&line->link[i]);
}

void rf_line_turn(struct rf_line *line, uint64_t now)
{
	for (uint32_t i = 0; i < line->cluster->nodes; i++) {
		const bool is_needed = rf_cluster_uses(line->cluster, i, line->tags);
		struct rf_link *link = &line->link[i];

		if (link->id && !is_in_use(line, i))
			rf_link_end(link);
		else if (link->redis && !is_needed)
			rf_link_rest(link);
		if (!is_needed)
			continue;
		if (!link->id)
			start(line, i);
		rf_link_turn(link, now);
		if (link->has_failed)
			rf_cluster_failed(line->cluster, i, line->patience_ns, now);
		link->has_failed = false;
	}
}

static uint64_t earliest(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* When the first of its routes has rested. */
static uint64_t rested_ns(const struct rf_line *line, uint64_t now)
{
	uint64_t due_ns = UINT64_MAX;

	for (uint32_t i = 0; i < RF_TAGS && line->cluster->is_cluster; i++)
		if (line->tags & 1U << i && line->cluster->route[i].rests_until_ns > now)
			due_ns = earliest(due_ns, line->cluster->route[i].rests_until_ns);
	return due_ns;
}

uint64_t rf_line_due_ns(const struct rf_line *line, uint64_t now)
{
	uint64_t due_ns = rested_ns(line, now);

	for (uint32_t i = 0; i < line->cluster->nodes; i++) {
		if (!rf_cluster_uses(line->cluster, i, line->tags))
			continue;
		if (!is_in_use(line, i))
			return 0;
		due_ns = earliest(due_ns, rf_link_due_ns(&line->link[i]));
	}
	return due_ns;
}

bool rf_line_is_ready(const struct rf_line *line, uint32_t tag, uint64_t now)
{
	const struct rf_route *route = &line->cluster->route[tag];
	const struct rf_link *link = &line->link[route->node];

	return is_in_use(line, route->node) && link->state == RF_LINK_READY && !link->ends &&
	       now >= route->rests_until_ns;
}

bool rf_line_call(struct rf_line *line, uint32_t tag, int count, const char *const *words,
		  const size_t *lengths, rf_link_answer answer, void *data)
{
	const uint32_t node = line->cluster->route[tag].node;

	return is_in_use(line, node) &&
	       rf_link_call(&line->link[node], tag, count, words, lengths, answer, data);
}

const struct rf_link *rf_line_worst(const struct rf_line *line)
{
	const struct rf_link *worst = &line->link[line->cluster->route[0].node];

	for (uint32_t i = 0; i < RF_NODES_MOST; i++) {
		const struct rf_link *link = &line->link[i];

		if (!link->id || !rf_cluster_uses(line->cluster, i, line->tags))
			continue;
		if (!worst->id || (*link->trouble && !*worst->trouble) ||
		    (!*worst->trouble && link->state < worst->state))
			worst = link;
	}
	return worst;
}

const char *rf_line_trouble(const struct rf_line *line)
{
	const struct rf_link *worst = rf_line_worst(line);

	return *worst->trouble ? worst->trouble : line->cluster->trouble;
}
