/* SPDX-License-Identifier: GPL-2.0 */
#ifndef RINGFENCE_BASE_THREAD_H
#define RINGFENCE_BASE_THREAD_H

#include <pthread.h>

/* Starts a thread that takes no signal. 0 or -errno. */
int rf_thread_start(pthread_t *thread, void *(*run)(void *), void *context);

#endif /* RINGFENCE_BASE_THREAD_H */
