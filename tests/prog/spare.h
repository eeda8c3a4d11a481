/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Loaded programs that tests have left, for the next test that wants the same: the verifier takes
 * half a second, and wiping the maps a few milliseconds. test_program.c compares a wiped program
 * with a new one.
 */
#ifndef RINGFENCE_TESTS_SPARE_H
#define RINGFENCE_TESTS_SPARE_H

#include <bpf/libbpf.h>

/* The skeleton whose object was loaded in the same way as `wanted`; NULL if not found. */
void *spare_take(const struct bpf_object *wanted);

/* Wipes the maps of a loaded object, and retains its skeleton; else destroys it. */
void spare_put(void *skeleton, struct bpf_object *object, void (*destroy)(void *skeleton));

#endif /* RINGFENCE_TESTS_SPARE_H */
