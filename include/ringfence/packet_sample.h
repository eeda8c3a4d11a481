/* SPDX-License-Identifier: GPL-2.0 */
/* Samples of packets, a part of the contract in abi.h. */
#ifndef RINGFENCE_PACKET_SAMPLE_H
#define RINGFENCE_PACKET_SAMPLE_H

#include <linux/types.h>

#define RF_SAMPLES 64	    /* of each CPU, the latest; a power of two */
#define RF_SAMPLE_BYTES 128 /* of the start of a frame */

/*
 * A packet that the sampler took. The program writes `begun` first and `done` last; a reader copies
 * `done` first and `begun` last. If they differ, the copy is torn.
 */
struct rf_sample {
	__u64 done;	  /* the number of the sample among those of its CPU, from 1 on */
	__u64 time_ns;	  /* CLOCK_MONOTONIC */
	__u32 len_bytes;  /* of the frame */
	__u32 interface;  /* its index */
	__u32 limits;	  /* bit set of slots: the limit that refused, or the charged limits */
	__u32 generation; /* mod 2^23, of the rules to which `limits` refers */
	__u8 reason;	  /* enum rf_reason */
	__u8 reserved[3];
	__u32 captured; /* bytes of `frame` that are set */
	__u8 frame[RF_SAMPLE_BYTES];
	__u64 begun;
};

/* Value of `samples`. */
struct rf_sampler {
	__u64 taken; /* samples of this CPU */
	__u64 noted; /* why the next sample got its verdict; see bpf/sample.h */
	__u32 asked; /* rf_config.is_sampling, for which `noted` holds */
	__u32 reserved;
	struct rf_sample sample[RF_SAMPLES]; /* the one of number n: (n - 1) % RF_SAMPLES */
};

/*
 * How far a CPU is from its next sample. Not in `samples`, where each packet would read two more
 * lines, one of which readers pull out of the cache.
 */
struct rf_sampling_count {
	__u32 left; /* packets until then, of any verdict */
} __attribute__((aligned(64)));

#define RF_SAMPLING_CPUS 1024 /* others take none */

/* By what the program returns. */
#define RF_SAMPLE_DROPPED (1U << 1) /* XDP_DROP, or XDP_TX with an answer */
#define RF_SAMPLE_PASSED (1U << 2)  /* XDP_PASS */

/*
 * Which packets the sampler takes. Written by the command line, with rf_config.is_sampling last:
 * {round:13 | verdicts:3}.
 */
struct rf_sampling {
	__u64 deadline; /* jiffies: then the program stops sampling */
	__u32 one_in;	/* the inverse of the sampling probability of a packet with one of these
			   verdicts */
	__u16 verdicts; /* RF_SAMPLE_PASSED | RF_SAMPLE_DROPPED */
	/*
	 * One slice of time in this many is sampled, this many times as often; 0: all of the time.
	 * The command line sets is_sampling for a slice, and clears it.
	 */
	__u16 slices;
	__u32 reasons; /* bit set of enum rf_reason: others are not written */
	__u32 round;   /* incremented each time sampling starts */
};

#define RF_SAMPLING_ROUND_SHIFT 3

#endif /* RINGFENCE_PACKET_SAMPLE_H */
