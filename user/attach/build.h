/* SPDX-License-Identifier: GPL-2.0 */
/* The program of this build, compared to a loaded one. */
#ifndef RINGFENCE_BUILD_H
#define RINGFENCE_BUILD_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/interfaces.h"
#include "kernel/names.h"
#include "kernel/needs.h"

/* The tags of an entry, as older and newer kernels compute them. */
struct rf_build_tags {
	uint8_t sha1[RF_PROGRAM_TAG_SIZE];
	uint8_t sha256[RF_PROGRAM_TAG_SIZE];
};

#define RF_BUILDS 2 /* of the program: without shares, and with */

struct rf_build {
	bool known;
	struct rf_build_tags tags[RF_BUILDS][RF_ENTRY_COUNT];
};

/* Computes the tags of this build's program, without loading it. */
int rf_build_read(struct rf_build *build);
/* Is the program on an interface one of this build? */
enum rf_answer rf_build_is_on(const struct rf_build *build, const struct rf_interface *interface);
/* Is the program with that tag one of this build? RF_NOT_KNOWN: its tag could not be read. */
enum rf_answer rf_build_has(const struct rf_build *build, const uint8_t tag[RF_PROGRAM_TAG_SIZE]);

#endif /* RINGFENCE_BUILD_H */
