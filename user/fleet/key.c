// SPDX-License-Identifier: GPL-2.0
#include "fleet/key.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/siphash.h"

/* Any, but for ever: hosts of two versions must make the same key of a text. */
static const uint64_t first[2] = {0x72696e6766656e63, 1}, second[2] = {0x72696e6766656e63, 2};
static const char constant[] = "fingerprint of a bucket key";

struct rf_fleet_key rf_fleet_key_of(const char *text)
{
	struct rf_fleet_key key = {
		.word = {rf_siphash(first, text, strlen(text)) ?: 1,
			 rf_siphash(second, text, strlen(text))},
	};

	key.fingerprint = rf_siphash(key.word, constant, sizeof(constant) - 1) ?: 1;
	return key;
}

void rf_fleet_key_format(uint64_t fingerprint, char text[RF_FINGERPRINT_SIZE])
{
	if (fingerprint)
		snprintf(text, RF_FINGERPRINT_SIZE, "%016" PRIx64, fingerprint);
	else
		strcpy(text, "none");
}
