// SPDX-License-Identifier: GPL-2.0
/* What interfaces have received, from lists as the kernel writes them. */
#include "unit.h"

#include "base/netlink.h"

static const char *const list =
	"Inter-|   Receive                                                |  Transmit\n"
	" face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets\n"
	"    lo: 8446744 5128 0 0 0 0 0 0 8446744 5128 0 0 0 0 0 0\n"
	"eth0:18446744073709551615 18446744073709551614 0 0 0 0 0 0 1 2 0 0 0 0 0 0\n"
	"eth0:1: 10 20 0 0 0 0 0 0 1 2 0 0 0 0 0 0\n"
	" short: 10\n";

static void parse(struct rf_received *received, size_t count)
{
	FILE *file = fmemopen((void *)list, strlen(list), "r");

	assert_non_null(file);
	rf_received_parse(file, received, count);
	fclose(file);
}

static void interfaces_are_found_by_name(void **state)
{
	struct rf_received received[] = {{"eth0", 1}, {"lo", 1}, {"eth0:1", 1}};

	(void)state;
	parse(received, 3);
	assert_int_equal(received[0].packets, UINT64_MAX - 1);
	assert_int_equal(received[1].packets, 5128);
	assert_int_equal(received[2].packets, 20);
}

static void others_stay_as_they_are(void **state)
{
	struct rf_received received[] = {{"eth", 7}, {"short", 8}, {" face |bytes", 9}, {"", 10}};

	(void)state;
	parse(received, 4);
	for (int i = 0; i < 4; i++)
		assert_int_equal(received[i].packets, 7 + i);
}

static void the_machine_has_a_loopback(void **state)
{
	struct rf_received received = {"lo", UINT64_MAX};

	(void)state;
	rf_received_read(&received, 1);
	assert_true(received.packets < UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(interfaces_are_found_by_name),
		cmocka_unit_test(others_stay_as_they_are),
		cmocka_unit_test(the_machine_has_a_loopback),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
