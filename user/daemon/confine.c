// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <seccomp.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/units.h"
#include "daemon/confine.h"

#define USER "ringfence-watch"
#define NOBODY 65534

static int fail(const char *what, int err, struct rf_error *error)
{
	return rf_error_failed(error, err, "the page process cannot %s: %s", what, strerror(-err));
}

/*
 * As root: another user, without groups. Other users retain theirs: they lack permission to drop
 * them.
 */
static int leave_root(struct rf_error *error)
{
	const struct passwd *user;
	uid_t uid = NOBODY;
	gid_t gid = NOBODY;

	if (geteuid())
		return 0;
	user = getpwnam(USER);
	if (user && user->pw_uid)
		uid = user->pw_uid; /* its group can read fences */
	if (setgroups(0, NULL) || setresgid(gid, gid, gid) || setresuid(uid, uid, uid))
		return fail("leave root", -errno, error);
	return 0;
}

/* linux/landlock.h of old distributions has fewer fields than their kernels. */
struct landlock_attributes {
	uint64_t files, network, scopes;
};

/* The rights of the first version, and how many more each version since has brought. */
static struct landlock_attributes landlock_all(long version)
{
	struct landlock_attributes all = {.files = (1 << 13) - 1};

	if (version >= 2)
		all.files |= 1 << 13;
	if (version >= 3)
		all.files |= 1 << 14;
	if (version >= 4)
		all.network = 3;
	if (version >= 5)
		all.files |= 1 << 15;
	if (version >= 6)
		all.scopes = 3;
	return all;
}

/* No rule allows anything, so everything is denied. */
static int close_files(struct rf_error *error)
{
	const long version = syscall(SYS_landlock_create_ruleset, NULL, 0, 1);
	const struct landlock_attributes all = landlock_all(version);
	const size_t size = version >= 6 ? sizeof(all) : version >= 4 ? 16 : 8;
	int rules, err = 0;

	if (version < 1) /* not in this kernel; seccomp refuses the calls as well */
		return 0;
	rules = syscall(SYS_landlock_create_ruleset, &all, size, 0);
	if (rules < 0)
		return fail("use Landlock", -errno, error);
	if (syscall(SYS_landlock_restrict_self, rules, 0))
		err = fail("use Landlock", -errno, error);
	close(rules);
	return err;
}

static const int allowed[] = {
	SCMP_SYS(accept),
	SCMP_SYS(accept4),
	SCMP_SYS(brk),
	SCMP_SYS(clock_gettime),
	SCMP_SYS(close),
	SCMP_SYS(epoll_ctl),
	SCMP_SYS(epoll_pwait),
	SCMP_SYS(epoll_wait),
	SCMP_SYS(exit),
	SCMP_SYS(exit_group),
	SCMP_SYS(fcntl),
	SCMP_SYS(futex),
	SCMP_SYS(getpeername),
	SCMP_SYS(getpid),
	SCMP_SYS(getrandom),
	SCMP_SYS(getsockname),
	SCMP_SYS(getsockopt),
	SCMP_SYS(gettid),
	SCMP_SYS(gettimeofday),
	SCMP_SYS(madvise),
	SCMP_SYS(mremap),
	SCMP_SYS(munmap),
	SCMP_SYS(poll),
	SCMP_SYS(ppoll),
	SCMP_SYS(read),
	SCMP_SYS(readv),
	SCMP_SYS(recvfrom),
	SCMP_SYS(recvmsg),
	SCMP_SYS(restart_syscall),
	SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigreturn),
	SCMP_SYS(sendmsg),
	SCMP_SYS(sendto),
	SCMP_SYS(setsockopt),
	SCMP_SYS(shutdown),
	SCMP_SYS(write),
	SCMP_SYS(writev),
};

static int add_rules(scmp_filter_ctx filter)
{
	/* Memory, but none that can be executed: PROT_EXEC is 4. */
	const struct scmp_arg_cmp no_code = SCMP_A2(SCMP_CMP_MASKED_EQ, 4, 0);
	/* abort() needs it. No other process: Landlock scopes signals only since Linux 6.12. */
	const struct scmp_arg_cmp itself = SCMP_A0(SCMP_CMP_EQ, getpid());
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(allowed) && !err; i++)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0);
	if (!err)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, no_code);
	if (!err)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, no_code);
	if (!err)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1, itself);
	return err;
}

/* It also sets no_new_privs. */
static int close_calls(struct rf_error *error)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int err = filter ? add_rules(filter) : -ENOMEM;

	if (!err)
		err = seccomp_load(filter);
	seccomp_release(filter);
	return err ? fail("use seccomp", err, error) : 0;
}

static void limit_resources(void)
{
	const struct rlimit none = {0, 0}, files = {160, 160};

	setrlimit(RLIMIT_NPROC, &none);
	setrlimit(RLIMIT_FSIZE, &none);
	setrlimit(RLIMIT_CORE, &none);
	setrlimit(RLIMIT_NOFILE, &files);
}

int rf_confine(struct rf_error *error)
{
	int err = leave_root(error);

	if (err)
		return err;
	limit_resources();
	prctl(PR_SET_DUMPABLE, 0);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return fail("give up privileges", -errno, error);
	err = close_files(error);
	return err ? err : close_calls(error);
}
