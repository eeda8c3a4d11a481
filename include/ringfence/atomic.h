/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Atomic operations on 64-bit words, fully ordered except for the store. In BPF each becomes one
 * instruction (fetching ones need -mcpu=v3), elsewhere a compiler builtin. A harness may define
 * RF_ATOMIC_YIELD(), which runs before each operation.
 */
#ifndef RINGFENCE_ATOMIC_H
#define RINGFENCE_ATOMIC_H

#include <linux/types.h>

#ifndef RF_ATOMIC_YIELD
#define RF_ATOMIC_YIELD() ((void)0)
#endif

/*
 * The program runs without calls between functions. Elsewhere the compiler decides: inlined
 * everywhere, the unit tests of the limiter take 30 times as long to compile.
 */
#ifdef __bpf__
#define RF_INLINE static inline __attribute__((always_inline, unused))
#else
#define RF_INLINE static inline
#endif

/* Hides from the compiler how a value was computed, to preserve arithmetic and bounds. */
#define RF_OPAQUE(x) __asm__("" : "+r"(x))

/* Unrolls the loop that follows, to compile each round with its constants. */
#ifdef __clang__
#define RF_UNROLL _Pragma("clang loop unroll(full)")
#define RF_UNROLL_BY_2 _Pragma("clang loop unroll_count(2)")
#define RF_NO_UNROLL _Pragma("clang loop unroll(disable)")
#else
#define RF_UNROLL
#define RF_UNROLL_BY_2
#define RF_NO_UNROLL
#endif

/* Loads once, in one piece. */
RF_INLINE __u64 rf_load(const __u64 *word)
{
	RF_ATOMIC_YIELD();
#ifdef __bpf__
	return *(const volatile __u64 *)word;
#else
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
#endif
}

/* Adds, and returns the old value. */
RF_INLINE __u64 rf_fetch_add(__u64 *word, __u64 addend)
{
	RF_ATOMIC_YIELD();
	return __sync_fetch_and_add(word, addend);
}

/* Sets bits. */
RF_INLINE void rf_or(__u64 *word, __u64 bits)
{
	RF_ATOMIC_YIELD();
	__sync_fetch_and_or(word, bits);
}

/* Ordered only between the atomic operations before and after it; not for limiter.h. */
RF_INLINE void rf_store(__u64 *word, __u64 value)
{
	RF_ATOMIC_YIELD();
	*(volatile __u64 *)word = value;
}

/* Stores `desired` if the word is `expected`. Returns the old value. */
RF_INLINE __u64 rf_cas(__u64 *word, __u64 expected, __u64 desired)
{
	RF_ATOMIC_YIELD();
	return __sync_val_compare_and_swap(word, expected, desired);
}

/*
 * Common path or not: the compiler then moves values to the stack where the rare path needs it,
 * instead of where they are computed, for every packet.
 */
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#endif /* RINGFENCE_ATOMIC_H */
