// SPDX-License-Identifier: GPL-2.0
/*
 * Preloaded into a command, runs the shell command $FLAP after each attach and detach of a
 * bpf_link, as if the driver restarted the link for it; $FLAP has the word in $FLAP_FOR. With
 * $REFUSE, each swap of a bpf_link fails, as if the driver refused it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>

struct bpf_link_create_opts;
struct bpf_link_update_opts;

static void flap(const char *word)
{
	const char *command = getenv("FLAP");

	setenv("FLAP_FOR", word, 1);
	unsetenv("LD_PRELOAD");
	if (command && system(command))
		return;
}

int bpf_link_create(int program, int target, int type, const struct bpf_link_create_opts *options)
{
	int (*create)(int, int, int, const struct bpf_link_create_opts *) =
		dlsym(RTLD_NEXT, "bpf_link_create");
	const int fd = create(program, target, type, options);

	flap("create");
	return fd;
}

int bpf_link_detach(int link)
{
	int (*detach)(int) = dlsym(RTLD_NEXT, "bpf_link_detach");
	const int err = detach(link);

	flap("detach");
	return err;
}

int bpf_link_update(int link, int program, const struct bpf_link_update_opts *options)
{
	int (*update)(int, int, const struct bpf_link_update_opts *) =
		dlsym(RTLD_NEXT, "bpf_link_update");

	if (!getenv("REFUSE"))
		return update(link, program, options);
	errno = EINVAL;
	return -EINVAL;
}
