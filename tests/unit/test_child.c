// SPDX-License-Identifier: GPL-2.0
/* The pipes to the page process, as the loop of the daemon watches them. */
#include "unit.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/time.h"
#include "daemon/child.h"

static const int signals[] = {0};

/* Both pipes have output, and a forked process also has them open. */
struct pipes {
	struct rf_loop loop;
	struct rf_child child;
	int feed[2], ask[2], forked[2];
};

static void open_pipes(struct pipes *pipes)
{
	*pipes = (struct pipes){.loop = RF_LOOP_NONE, .child = RF_CHILD_NONE};
	assert_int_equal(rf_loop_open(&pipes->loop, signals), 0);
	assert_int_equal(pipe(pipes->feed), 0);
	assert_int_equal(pipe(pipes->ask), 0);
	pipes->forked[0] = dup(pipes->feed[1]);
	pipes->forked[1] = dup(pipes->ask[0]);
	pipes->child.feed.fd = pipes->feed[1];
	pipes->child.ask_fd = pipes->ask[0];
	assert_int_equal(write(pipes->ask[1], "x", 1), 1);
	rf_child_watch(&pipes->child, &pipes->loop, true, true);
}

static int count_ready(struct pipes *pipes)
{
	rf_loop_wait(&pipes->loop, rf_time_awake());
	return pipes->loop.count;
}

static void close_pipes(struct pipes *pipes)
{
	close(pipes->feed[0]);
	close(pipes->ask[1]);
	close(pipes->forked[0]);
	close(pipes->forked[1]);
	rf_child_end(&pipes->child);
	rf_loop_close(&pipes->loop);
}

static void pipes_that_are_closed_end_no_wait(void **state)
{
	struct pipes pipes;

	(void)state;
	open_pipes(&pipes);
	assert_int_equal(count_ready(&pipes), 2);
	rf_child_stop_asking(&pipes.child);
	assert_int_equal(pipes.child.ask_fd, -1);
	assert_int_equal(count_ready(&pipes), 1);
	rf_child_end(&pipes.child);
	assert_int_equal(count_ready(&pipes), 0);
	close_pipes(&pipes);
}

static void pipes_end_the_wait_where_asked(void **state)
{
	struct pipes pipes;

	(void)state;
	open_pipes(&pipes);
	rf_child_watch(&pipes.child, &pipes.loop, false, true);
	assert_int_equal(count_ready(&pipes), 1);
	rf_child_watch(&pipes.child, &pipes.loop, false, false);
	assert_int_equal(count_ready(&pipes), 0);
	close_pipes(&pipes);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(pipes_that_are_closed_end_no_wait),
	cmocka_unit_test(pipes_end_the_wait_where_asked),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
