/* SPDX-License-Identifier: GPL-2.0 */
/* Where the engine's functions are installed, for who has to load them. */
#ifndef RF_FLEET_LIBRARY_H
#define RF_FLEET_LIBRARY_H

#include "build/paths.h"

#define RF_FLEET_LIBRARY RF_SHARE_DIRECTORY "/ringfence.lua"

#endif /* RF_FLEET_LIBRARY_H */
