/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Samples of packets, which the program takes while a process requests them. The process renews its
 * request continually: sampling stops automatically soon after the last process has exited, or was
 * killed.
 */
#ifndef RINGFENCE_SAMPLER_H
#define RINGFENCE_SAMPLER_H

#include "fence/fence.h"

#define RF_SAMPLING_NS (3 * RF_NS_PER_S)       /* it stops this long after the last renewal */
#define RF_SAMPLING_RENEW_NS (RF_NS_PER_S / 2) /* so often it is renewed */

/* Which packets. */
struct rf_sampled {
	uint32_t one_in;
	uint32_t verdicts; /* RF_SAMPLE_PASSED | RF_SAMPLE_DROPPED */
	uint32_t reasons;  /* bit set of enum rf_reason */
	uint32_t slices;   /* of time, of which one is sampled; 0: all of the time */
};

/*
 * While the sampler is on, each packet costs more; in a flood that is some percent. So few packets
 * of many are taken in slices: one slice of four, each drawn by chance, has four times as many.
 */
#define RF_SLICES 4
#define RF_SLICED_FROM 64 /* one in this many */
#define RF_SLICE_NS (5 * RF_NS_PER_MS)

/* The state of a reader among its slices. Initially zero. */
struct rf_slices {
	uint32_t next, sampled;
	bool is_on; /* the present slice is sampled */
};

/*
 * Starts sampling these packets, or continues. -EBUSY: another process samples others. Only for a
 * writable fence. Takes no lock, which a command would hold as long as it runs.
 */
int rf_fence_sample(const struct rf_fence *fence, const struct rf_sampled *wanted,
		    struct rf_error *error);
/*
 * Starts the next slice of time. After each rf_fence_sample(), which switches on. Several readers
 * can do so concurrently: the last one's drawn slice is equally valid, and each reads the samples
 * of all.
 */
void rf_fence_next_slice(const struct rf_fence *fence, const struct rf_sampled *sampled,
			 struct rf_slices *slices);
/* Does the program take samples, now or in another slice? */
bool rf_fence_is_sampling(const struct rf_fence *fence);
/* Stops it immediately, also for other processes, which start again when they notice. */
void rf_fence_stop_sampling(const struct rf_fence *fence);

/* A reader of samples; any number of them, also of a read-only fence. */
struct rf_sample_reader {
	int cpus;
	struct rf_sampler *now; /* of each CPU */
	uint64_t *read;		/* the last number of each CPU that was read */
	struct rf_sample *sample;
	uint64_t missed; /* overwritten before or while they were read */
};

/* From now on. Close the reader even after an error. */
int rf_sample_reader_open(struct rf_sample_reader *reader, const struct rf_fence *fence,
			  struct rf_error *error);
void rf_sample_reader_close(struct rf_sample_reader *reader);
/* Returns how many samples are new, sorted by time, in reader->sample; or an error. */
int rf_sample_reader_read(struct rf_sample_reader *reader, const struct rf_fence *fence,
			  struct rf_error *error);

/* ---- one sample ---- */

/* The source of the packet, as a whole address. False: it is no IP packet, or a malformed one. */
bool rf_sample_source(const struct rf_sample *sample, struct rf_prefix *source);
/*
 * Writes the names of the limits that were charged, or of the limit that refused, and returns how
 * many. Limits of removed rules are omitted. The fence was refreshed by rf_fence_is_sampling().
 */
int rf_sample_limits(const struct rf_fence *fence, const struct rf_sample *sample,
		     char name[RF_LIMITS_MAX][RF_NAME_SIZE]);

#endif /* RINGFENCE_SAMPLER_H */
