/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where an agent answers: a socket of the type SOCK_SEQPACKET, which only root may connect to; and
 * where it tells how it is, each second, for members of the group.
 */
#ifndef RF_FLEET_SOCKET_H
#define RF_FLEET_SOCKET_H

#define RF_AGENT_DIRECTORY "/run/ringfence-fleet"
#define RF_AGENT_SOCKET RF_AGENT_DIRECTORY "/%s.sock" /* of the fence's name */
#define RF_AGENT_BANS "%s/%s.bans" /* what an agent takes none of, in the same directory; */
#define RF_AGENT_KEPT "/var/lib/ringfence-fleet" /* and, over a reboot, in this one */
#define RF_AGENT_STATUS RF_AGENT_DIRECTORY "/%s.json"
#define RF_AGENT_ANSWER_SIZE 400000 /* at most; the engine may have a thousand hosts */

#endif /* RF_FLEET_SOCKET_H */
