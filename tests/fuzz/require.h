/* SPDX-License-Identifier: GPL-2.0 */
/* An invariant for every input of a fuzzer; if it fails, libFuzzer saves the input. */
#ifndef RINGFENCE_TESTS_REQUIRE_H
#define RINGFENCE_TESTS_REQUIRE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define REQUIRE(condition)                                                                      \
	do {                                                                                    \
		if (!(condition)) {                                                             \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                                \
		}                                                                               \
	} while (0)

/* What libFuzzer calls, for each input; it declares it nowhere. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

#endif /* RINGFENCE_TESTS_REQUIRE_H */
