/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RINGFENCE_PEER_H
#define RINGFENCE_PEER_H

#include "base/prefix.h"

/*
 * The address from which this terminal's user came over SSH, by SSH_CONNECTION in the environment,
 * or in that of a parent: sudo takes it out. NULL: none is known.
 */
const char *rf_own_peer(char text[RF_PREFIX_TEXT_SIZE]);

#endif /* RINGFENCE_PEER_H */
