/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The command that a fence without limits is advised to begin with. A shadow drops nothing, and
 * gives each source a window. Its COUNT is below 65535, since greater ones round the cells by which
 * `suggest` and `limit try` count small sources.
 */
#ifndef RINGFENCE_PROBE_LIMIT_H
#define RINGFENCE_PROBE_LIMIT_H

#define RF_PROBE_COUNT 50000
#define RF_PROBE_COMMAND "limit add probe rate 50k/1s shadow"
#define RF_PROBE_ADVICE "'ringfence " RF_PROBE_COMMAND "' drops nothing, and shows the sources"

#endif /* RINGFENCE_PROBE_LIMIT_H */
