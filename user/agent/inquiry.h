/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests of commands that need the fleet server, so the reply is sent later:
 *
 *   hosts           the members, their descriptions and differences from this host
 *   source ADDRESS  the claims on a source, on the server and on this host, under each limit
 *   top N BY        the sources with the most drops of all hosts; BY: drops, rate or hosts
 *   gone SLOT       removes a host that will not come back
 *   ban MS PREFIX   adds a ban of this host to the fleet's; MS 0: removes it
 *
 * Each sends a few requests immediately and stores the replies until the last arrives. A link
 * always completes a request, with a reply or without one after a timeout. A request whose keys
 * moved to a different node is sent again.
 */
#ifndef RINGFENCE_AGENT_INQUIRY_H
#define RINGFENCE_AGENT_INQUIRY_H

#include "agent/desk.h"
#include "agent/status.h"

/*
 * Starts one of these requests; `later`: the reply is sent by the desk. Otherwise returns a reply
 * on the heap; NULL: a different request, or no memory.
 */
char *rf_inquire(struct rf_desk *desk, uint64_t ticket, const char *question,
		 const struct rf_status_view *view, bool *later);
/* Sends requests again that were temporarily refused. */
void rf_inquiries_turn(uint64_t now);

#endif /* RINGFENCE_AGENT_INQUIRY_H */
