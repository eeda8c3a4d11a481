// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded into a process, holds up each thread that begins while there is a file $HOLD, as work
 * would that takes long.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct start {
	void *(*run)(void *context);
	void *context;
};

static void *hold(void *context)
{
	const struct timespec pause = {.tv_nsec = 10000000};
	const struct start start = *(struct start *)context;
	const char *file = getenv("HOLD");

	free(context);
	while (file && !access(file, F_OK))
		nanosleep(&pause, NULL);
	return start.run(start.context);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
		   void *context)
{
	int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	struct start *start = malloc(sizeof(*start));

	*(void **)&create = dlsym(RTLD_NEXT, "pthread_create");
	*start = (struct start){run, context};
	return create(thread, attributes, hold, start);
}
