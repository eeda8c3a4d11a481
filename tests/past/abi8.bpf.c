// SPDX-License-Identifier: GPL-2.0
#include "tests/past/abi8.h"

#include "tests/past/maps.h" /* last: it uses the types of the ABI */
