/* SPDX-License-Identifier: GPL-2.0 */
/* Warnings of shadows whose sources a wider limit of their group has, or no longer has. */
#ifndef RINGFENCE_SHADOW_PAIRS_H
#define RINGFENCE_SHADOW_PAIRS_H

#include <jansson.h>

#include "rules/ruleset.h"

#define RF_ALL_SLOTS UINT32_MAX

/*
 * Warns of pairs with a limit of `slots` in it: on standard error, or in `root` where that is not
 * NULL: "warnings": [{"shadow","limit","effect","text"}].
 */
void rf_shadow_pairs_warn(const struct rf_ruleset *rules, uint32_t slots, json_t *root);

#endif /* RINGFENCE_SHADOW_PAIRS_H */
