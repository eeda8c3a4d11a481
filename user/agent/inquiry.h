/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Questions of people that the fleet server has to answer, so that the answer comes later:
 *
 *   hosts           the members, what each says of itself, and where it differs from this host
 *   source ADDRESS  what the ledger and this host have of a source, under each limit
 *   top N BY        the sources that the hosts drop the most of; BY: drops, rate or hosts
 *   gone SLOT       that host will not come back
 *   ban MS PREFIX   adds a ban of this host to the fleet's; MS 0: removes it
 *
 * Each is a few requests, all sent immediately; their answers are kept until the last is there. A
 * link answers each of its requests in time, or with nothing, so none stays forever. A request
 * whose keys are on another node is sent again.
 */
#ifndef RINGFENCE_AGENT_INQUIRY_H
#define RINGFENCE_AGENT_INQUIRY_H

#include "agent/desk.h"
#include "agent/status.h"

/*
 * Begins to answer a question that is one of these; `later` says that the answer comes by the desk.
 * Else returns an answer of the heap; NULL: it is another question, or no memory.
 */
char *rf_inquire(struct rf_desk *desk, uint64_t ticket, const char *question,
		 const struct rf_status_view *view, bool *later);
/* Sends requests again that were refused for now. */
void rf_inquiries_turn(uint64_t now);

#endif /* RINGFENCE_AGENT_INQUIRY_H */
