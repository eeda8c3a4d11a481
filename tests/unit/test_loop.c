// SPDX-License-Identifier: GPL-2.0
/* The loop of the daemon and of the agent: the events it waits for, their order, and omissions. */
#include "unit.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/loop.h"
#include "base/time.h"

#define MS 1000000ULL
#define SOURCES 3

static const int signals[] = {SIGUSR1, SIGCHLD, 0};

struct end {
	struct rf_loop_source source;
	int pipe[2];
	int served;    /* in which place; 0: not */
	int unwatches; /* a second one, by its number; -1: none */
};

static struct rf_loop loop;
static struct end end[SOURCES];
static int served;

static void note(void *context, uint32_t events)
{
	struct end *mine = context;

	assert_true(events & EPOLLIN);
	mine->served = ++served;
	if (mine->unwatches >= 0)
		rf_loop_unwatch(&loop, &end[mine->unwatches].source);
}

static int open_all(void **state)
{
	(void)state;
	served = 0;
	assert_int_equal(rf_loop_open(&loop, signals), 0);
	for (int i = 0; i < SOURCES; i++) {
		end[i] = (struct end){.unwatches = -1};
		assert_int_equal(pipe(end[i].pipe), 0);
		end[i].source = (struct rf_loop_source){
			.ready = note, .context = &end[i], .fd = end[i].pipe[0]};
		assert_int_equal(rf_loop_watch(&loop, &end[i].source, EPOLLIN), 0);
	}
	return 0;
}

static int close_all(void **state)
{
	(void)state;
	for (int i = 0; i < SOURCES; i++) {
		close(end[i].pipe[0]);
		close(end[i].pipe[1]);
	}
	rf_loop_close(&loop);
	return 0;
}

static void write_to(int number)
{
	assert_int_equal(write(end[number].pipe[1], "x", 1), 1);
}

static void turn(void)
{
	rf_loop_wait(&loop, rf_time_awake() + 10000 * MS);
	rf_loop_serve(&loop);
}

static void waits_until_its_deadline(void **state)
{
	const uint64_t until_ns = rf_time_awake() + 20 * MS;

	(void)state;
	rf_loop_wait(&loop, until_ns);
	assert_true(rf_time_awake() >= until_ns);
	rf_loop_wait(&loop, 0);
	rf_loop_serve(&loop);
	assert_int_equal(served, 0);
}

static void ends_by_what_is_ready(void **state)
{
	(void)state;
	write_to(1);
	rf_loop_wait(&loop, UINT64_MAX);
	rf_loop_serve(&loop);
	assert_int_equal(end[1].served, 1);
	assert_int_equal(served, 1);
}

static void serves_urgent_ones_first(void **state)
{
	(void)state;
	end[2].source.is_urgent = true;
	for (int i = 0; i < SOURCES; i++)
		write_to(i);
	rf_loop_wait(&loop, UINT64_MAX);
	assert_true(rf_loop_serve_urgent(&loop));
	assert_int_equal(end[2].served, 1);
	assert_int_equal(served, 1);
	assert_false(rf_loop_serve_urgent(&loop)); /* each once */
	rf_loop_serve(&loop);
	assert_int_equal(served, SOURCES);
	assert_int_equal(end[2].served, 1);
}

/* A callback that removes another watch in the same turn must prevent the call of that one. */
static void leaves_out_what_was_unwatched_meanwhile(void **state)
{
	(void)state;
	end[0].unwatches = 1;
	end[1].unwatches = 0;
	write_to(0);
	write_to(1);
	turn();
	assert_int_equal(served, 1);
	assert_int_equal(end[0].served + end[1].served, 1);
}

static void watches_a_descriptor_that_was_closed_and_opened_again(void **state)
{
	const int number = end[0].pipe[0];
	int again[2];

	(void)state;
	close(end[0].pipe[0]);
	close(end[0].pipe[1]);
	assert_int_equal(pipe(again), 0);
	assert_int_equal(again[0], number);
	end[0].pipe[0] = again[0];
	end[0].pipe[1] = again[1];
	assert_int_equal(rf_loop_watch(&loop, &end[0].source, EPOLLIN), 0);
	write_to(0);
	turn();
	assert_int_equal(end[0].served, 1);
}

static void serves_more_than_it_has_room_for_in_turns(void **state)
{
	static struct end many[2 * RF_LOOP_EVENTS];

	(void)state;
	for (int i = 0; i < 2 * RF_LOOP_EVENTS; i++) {
		many[i] = (struct end){.unwatches = -1};
		assert_int_equal(pipe(many[i].pipe), 0);
		many[i].source = (struct rf_loop_source){
			.ready = note, .context = &many[i], .fd = many[i].pipe[0]};
		assert_int_equal(rf_loop_watch(&loop, &many[i].source, EPOLLIN), 0);
		assert_int_equal(write(many[i].pipe[1], "x", 1), 1);
	}
	turn();
	assert_int_equal(served, RF_LOOP_EVENTS);
	turn(); /* all are still ready, and none waits for ever */
	for (int i = 0; i < 2 * RF_LOOP_EVENTS; i++) {
		assert_true(many[i].served);
		rf_loop_unwatch(&loop, &many[i].source);
		close(many[i].pipe[0]);
		close(many[i].pipe[1]);
	}
}

static void takes_each_signal_once(void **state)
{
	(void)state;
	assert_false(rf_loop_took(&loop, SIGUSR1));
	raise(SIGUSR1);
	turn();
	assert_true(rf_loop_took(&loop, SIGUSR1));
	assert_false(rf_loop_took(&loop, SIGUSR1));
	assert_false(rf_loop_took(&loop, SIGCHLD));
}

/* Also while other sources are ready all the time. */
static void takes_a_signal_from_before_the_wait(void **state)
{
	(void)state;
	for (int i = 0; i < SOURCES; i++)
		write_to(i);
	raise(SIGUSR1);
	turn();
	assert_true(rf_loop_took(&loop, SIGUSR1));
}

static void notices_a_child_that_ends(void **state)
{
	pid_t child;

	(void)state;
	child = fork();
	if (!child)
		_exit(0);
	turn();
	assert_true(rf_loop_took(&loop, SIGCHLD));
	assert_int_equal(waitpid(child, NULL, WNOHANG), child);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(waits_until_its_deadline, open_all, close_all),
		cmocka_unit_test_setup_teardown(ends_by_what_is_ready, open_all, close_all),
		cmocka_unit_test_setup_teardown(serves_urgent_ones_first, open_all, close_all),
		cmocka_unit_test_setup_teardown(leaves_out_what_was_unwatched_meanwhile, open_all,
						close_all),
		cmocka_unit_test_setup_teardown(
			watches_a_descriptor_that_was_closed_and_opened_again, open_all, close_all),
		cmocka_unit_test_setup_teardown(serves_more_than_it_has_room_for_in_turns, open_all,
						close_all),
		cmocka_unit_test_setup_teardown(takes_each_signal_once, open_all, close_all),
		cmocka_unit_test_setup_teardown(takes_a_signal_from_before_the_wait, open_all,
						close_all),
		cmocka_unit_test_setup_teardown(notices_a_child_that_ends, open_all, close_all),
	};

	return cmocka_run_group_tests_name("loop", tests, NULL, NULL);
}
