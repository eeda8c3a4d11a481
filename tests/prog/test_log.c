// SPDX-License-Identifier: GPL-2.0
/* The retained parts of libbpf's messages: the verifier's complaint, and a driver's reason. */
#include "program.h"

#include <bpf/libbpf.h>
#include <pthread.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel/log.h"

static libbpf_print_fn_t print;

__attribute__((format(printf, 1, 2))) static void warn(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print(LIBBPF_WARN, format, args);
	va_end(args);
}

static int setup(void **state)
{
	(void)state;
	rf_log_set_verbose(false);
	rf_log_forget();
	print = libbpf_set_print(NULL); /* returns what rf_log_set_verbose() has set */
	return 0;
}

static void the_complaint_is_the_last_line(void **state)
{
	(void)state;
	warn("libbpf: prog 'rf': BPF program load failed: Permission denied\n");
	warn("libbpf: prog 'rf': -- BEGIN PROG LOAD LOG --\n%s-- END PROG LOAD LOG --\n",
	     "0: (61) r2 = *(u32 *)(r1 +4)\nR2 pointer arithmetic prohibited\n"
	     "verification time 3 usec\nstack depth 0\n"
	     "processed 12 insns (limit 1000000) max_states_per_insn 0\n");
	warn("libbpf: failed to load object 'ringfence_bpf'\n");
	assert_string_equal(rf_log_text(), "R2 pointer arithmetic prohibited");
}

static void other_messages_are_no_complaint(void **state)
{
	(void)state;
	warn("libbpf: map 'windows4': failed to create: Operation not permitted\n");
	assert_string_equal(rf_log_text(), "");
}

static void a_long_line_is_cut(void **state)
{
	char line[2000];

	(void)state;
	memset(line, 'x', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	warn("-- BEGIN PROG LOAD LOG --\n%s\n-- END PROG LOAD LOG --\n", line);
	assert_in_range(strlen(rf_log_text()), 100, 1000);
}

static void the_reason_is_the_latest(void **state)
{
	char reason[RF_REASON_SIZE];

	(void)state;
	rf_log_reason(reason);
	assert_string_equal(reason, "");
	warn("libbpf: Kernel error message: %s\n", "igb: an earlier reason");
	warn("libbpf: Kernel error message: %s\n", "igb: The RX buffer size is too small");
	warn("libbpf: failed to do something else\n");
	rf_log_reason(reason);
	assert_string_equal(reason, "igb: The RX buffer size is too small");
	rf_log_forget();
	rf_log_reason(reason);
	assert_string_equal(reason, "");
}

/* A module of others can write anything. */
static void a_reason_is_printable(void **state)
{
	char line[2000], reason[RF_REASON_SIZE];

	(void)state;
	memset(line, 'x', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	memcpy(line, "\x1b[2J\a", 5);
	warn("libbpf: Kernel error message: %s\n", line);
	rf_log_reason(reason);
	assert_int_equal(strlen(reason), sizeof(reason) - 1);
	assert_memory_equal(reason, "?[2J?xxx", 8);
}

/* ---- threads ---- */

#define THREADS 4
#define WARNINGS 500

static void *warn_often(void *unused)
{
	for (int i = 0; i < WARNINGS; i++)
		warn("libbpf: Kernel error message: %s\n", "no room");
	return unused;
}

static void threads_add_to_one_log(void **state)
{
	pthread_t thread[THREADS];
	char reason[RF_REASON_SIZE];

	(void)state;
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, warn_often, NULL), 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(thread[i], NULL), 0);
	rf_log_reason(reason);
	assert_string_equal(reason, "no room");
}

/* ---- a process without permission to load programs ---- */

static int warnings;

static int count_warnings(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)format;
	(void)args;
	warnings += level == LIBBPF_WARN;
	return 0;
}

/* In a child, which drops its capabilities: the first reading fails, the second tries nothing. */
static int read_without_capabilities(void)
{
	struct rf_clock_reading base;
	struct rf_error error;
	uint32_t tick_ns;
	int first;

	libbpf_set_print(count_warnings);
	if (setresuid(60712, 60712, 60712) || rf_clock_measure(&base, &tick_ns, &error) != -EPERM)
		return 1;
	first = warnings;
	if (!first || rf_clock_measure(&base, &tick_ns, &error) != -EPERM)
		return 2;
	return warnings == first ? 0 : 3;
}

static void a_refused_clock_is_not_loaded_again(void **state)
{
	const pid_t child = fork();
	int status;

	(void)state;
	if (!child)
		_exit(read_without_capabilities());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup(the_complaint_is_the_last_line, setup),
	cmocka_unit_test_setup(other_messages_are_no_complaint, setup),
	cmocka_unit_test_setup(a_long_line_is_cut, setup),
	cmocka_unit_test_setup(the_reason_is_the_latest, setup),
	cmocka_unit_test_setup(a_reason_is_printable, setup),
	cmocka_unit_test_setup(threads_add_to_one_log, setup),
	cmocka_unit_test(a_refused_clock_is_not_loaded_again),
};

int main(void)
{
	return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
