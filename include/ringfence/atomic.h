/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The atomic operations of the limiter, on 64-bit words, fully ordered but for the store. In BPF
 * they become single instructions (clang needs -mcpu=v3 for those that fetch); elsewhere compiler
 * builtins. A harness that defines RF_ATOMIC_YIELD() is called before each of them.
 */
#ifndef RINGFENCE_ATOMIC_H
#define RINGFENCE_ATOMIC_H

#include <linux/types.h>

#ifndef RF_ATOMIC_YIELD
#define RF_ATOMIC_YIELD() ((void)0)
#endif

#define RF_INLINE static inline __attribute__((always_inline, unused))

/* Hides how a value came to be, where the compiler would turn arithmetic back into a branch. */
#define RF_OPAQUE(x) __asm__("" : "+r"(x))

/* The loop that follows, written out: what is known of single rounds goes into them. */
#ifdef __clang__
#define RF_UNROLL _Pragma("clang loop unroll(full)")
#else
#define RF_UNROLL
#endif

/* A load that the compiler neither tears nor repeats. */
RF_INLINE __u64 rf_load(const __u64 *word)
{
	RF_ATOMIC_YIELD();
#ifdef __bpf__
	return *(const volatile __u64 *)word;
#else
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
#endif
}

/* Adds, and returns what stood there before. */
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

/* Before whatever atomic operation comes next, and after the last one; not for limiter.h. */
RF_INLINE void rf_store(__u64 *word, __u64 value)
{
	RF_ATOMIC_YIELD();
	*(volatile __u64 *)word = value;
}

/* Stores `desired` if `expected` stands there; returns what stood there before. */
RF_INLINE __u64 rf_cas(__u64 *word, __u64 expected, __u64 desired)
{
	RF_ATOMIC_YIELD();
	return __sync_val_compare_and_swap(word, expected, desired);
}

#endif /* RINGFENCE_ATOMIC_H */
