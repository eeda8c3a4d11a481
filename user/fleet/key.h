/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The bucket key of a fleet: what all of its hosts have in a file, and senders do not know. See
 * rf_bucket_by(). Pure.
 */
#ifndef RF_FLEET_KEY_H
#define RF_FLEET_KEY_H

#include <stdint.h>

struct rf_fleet_key {
	uint64_t word[2];     /* both 0: no key */
	uint64_t fingerprint; /* identifies the key without revealing it; 0: no key */
};

/* Of the text in its file. */
struct rf_fleet_key rf_fleet_key_of(const char *text);

#define RF_FINGERPRINT_SIZE 17

/* In hexadecimal digits, or "none". */
void rf_fleet_key_format(uint64_t fingerprint, char text[RF_FINGERPRINT_SIZE]);

#endif /* RF_FLEET_KEY_H */
