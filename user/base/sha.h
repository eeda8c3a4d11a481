/* SPDX-License-Identifier: GPL-2.0 */
/* SHA-1 and SHA-256, by which kernels tag programs. Not for secrets. */
#ifndef RINGFENCE_SHA_H
#define RINGFENCE_SHA_H

#include <stddef.h>
#include <stdint.h>

#define RF_SHA1_SIZE 20
#define RF_SHA256_SIZE 32

void rf_sha1(const void *data, size_t size, uint8_t digest[RF_SHA1_SIZE]);
void rf_sha256(const void *data, size_t size, uint8_t digest[RF_SHA256_SIZE]);

#endif /* RINGFENCE_SHA_H */
