// SPDX-License-Identifier: GPL-2.0
/* What is kept of libbpf's messages about a program that the verifier refuses. */
#include "program.h"

#include <bpf/libbpf.h>
#include <stdarg.h>

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

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup(the_complaint_is_the_last_line, setup),
	cmocka_unit_test_setup(other_messages_are_no_complaint, setup),
	cmocka_unit_test_setup(a_long_line_is_cut, setup),
};

int main(void)
{
	return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
