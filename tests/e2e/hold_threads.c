// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded into a process, delays each thread that starts while a file $HOLD exists, like a long
 * computation, each command `limit` that starts while a file $HOLD_LIMIT exists, and each batch of
 * a map's elements while a file $HOLD_BATCH exists.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct start {
	void *(*run)(void *context);
	void *context;
};

static void wait_for_end_of(const char *file)
{
	const struct timespec pause = {.tv_nsec = 10000000};

	while (file && !access(file, F_OK))
		nanosleep(&pause, NULL);
}

__attribute__((constructor)) static void hold_command(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "limit"))
		wait_for_end_of(getenv("HOLD_LIMIT"));
}

static void *hold(void *context)
{
	const struct start start = *(struct start *)context;

	free(context);
	wait_for_end_of(getenv("HOLD"));
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

int bpf_map_lookup_batch(int fd, void *in, void *out, void *keys, void *values, unsigned int *count,
			 const void *options)
{
	int (*look_up)(int, void *, void *, void *, void *, unsigned int *, const void *);

	wait_for_end_of(getenv("HOLD_BATCH"));
	*(void **)&look_up = dlsym(RTLD_NEXT, "bpf_map_lookup_batch");
	return look_up(fd, in, out, keys, values, count, options);
}
