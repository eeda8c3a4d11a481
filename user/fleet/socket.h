/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The control socket of an agent, SOCK_SEQPACKET, for root only; and its status file, written every
 * second, for members of the group.
 */
#ifndef RF_FLEET_SOCKET_H
#define RF_FLEET_SOCKET_H

#define RF_AGENT_DIRECTORY "/run/ringfence-fleet"
#define RF_AGENT_SOCKET RF_AGENT_DIRECTORY "/%s.sock" /* of the fence's name */
#define RF_AGENT_BANS "%s/%s.bans" /* the bans an agent ignores, in the same directory; */
#define RF_AGENT_KEPT "/var/lib/ringfence-fleet" /* and, over a reboot, in this one */
#define RF_AGENT_STATUS RF_AGENT_DIRECTORY "/%s.json"
#define RF_AGENT_ANSWER_SIZE 400000 /* at most; a fleet can have a thousand hosts */

#endif /* RF_FLEET_SOCKET_H */
