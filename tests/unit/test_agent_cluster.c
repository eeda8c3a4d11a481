// SPDX-License-Identifier: GPL-2.0
/* Which node has the keys of a tag, according to the nodes, including malicious ones. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/cluster.h"

#define MS 1000000ULL
#define TAG 3

static const struct rf_engine one = {
	.servers = 1,
	.server[0] = {"db1", "6379", "192.0.2.1", 6379},
};
static const struct rf_engine two = {
	.servers = 2,
	.server = {{"db1", "6379", "192.0.2.1", 6379}, {"db2", "6379", "192.0.2.2", 6379}},
};
static struct rf_cluster cluster;
static uint64_t now;

static int start(void **state)
{
	(void)state;
	now = 1000 * MS;
	rf_cluster_start(&cluster, &one);
	return 0;
}

static uint32_t node_of(uint32_t tag)
{
	return cluster.route[tag].node;
}

static const struct rf_server *server_of(uint32_t tag)
{
	return &cluster.node[node_of(tag)].server;
}

/* The reply of the tag's node. */
static bool says(uint32_t tag, const char *error)
{
	return rf_cluster_refused(&cluster, tag, node_of(tag), error, now);
}

static bool rests(uint32_t tag)
{
	return cluster.route[tag].rests_until_ns > now;
}

static void a_server_by_itself_has_all_tags(void **state)
{
	(void)state;
	for (uint32_t tag = 0; tag < RF_TAGS; tag++) {
		rf_cluster_answered(&cluster, tag, 0, now);
		assert_int_equal(node_of(tag), 0);
		assert_false(rests(tag));
	}
	rf_cluster_failed(&cluster, 0, 0, now);
	rf_cluster_turn(&cluster, now);
	assert_int_equal(node_of(TAG), 0);
	assert_false(cluster.is_cluster);
	assert_false(says(TAG, "OOM command not allowed"));
	assert_false(says(TAG, "ERR Function not found"));
}

static void moved_is_followed_at_once(void **state)
{
	(void)state;
	assert_true(says(TAG, "MOVED 3999 192.0.2.7:6381"));
	assert_string_equal(server_of(TAG)->address, "192.0.2.7");
	assert_string_equal(server_of(TAG)->host, "192.0.2.7");
	assert_string_equal(server_of(TAG)->port, "6381");
	assert_int_equal(server_of(TAG)->port_number, 6381);
	assert_false(rests(TAG));
	assert_true(cluster.is_cluster);
	assert_int_equal(node_of(TAG + 1), 0); /* that can be elsewhere */
	says(TAG + 1, "MOVED 4000 192.0.2.7:6381");
	assert_int_equal(node_of(TAG + 1), node_of(TAG)); /* and is a node once */
}

static void an_address_may_have_colons(void **state)
{
	(void)state;
	assert_true(says(TAG, "MOVED 0 2001:db8:0:0::1:6381"));
	assert_string_equal(server_of(TAG)->address, "2001:db8::1");
	assert_int_equal(server_of(TAG)->port_number, 6381);
}

static void without_a_host_it_is_the_one_that_was_asked(void **state)
{
	(void)state;
	assert_true(says(TAG, "MOVED 16383 :6381"));
	assert_string_equal(server_of(TAG)->address, "192.0.2.1");
	assert_string_equal(server_of(TAG)->host, "db1");
	assert_int_equal(server_of(TAG)->port_number, 6381);
}

static void garbage_is_followed_nowhere(void **state)
{
	static const char *const garbage[] = {
		"MOVED ",
		"MOVED 1",
		"MOVED 1 ",
		"MOVED 1 :",
		"MOVED 1 192.0.2.9",
		"MOVED 1 192.0.2.9:",
		"MOVED 1 192.0.2.9:0",
		"MOVED 1 192.0.2.9:65536",
		"MOVED 1 192.0.2.9:99999999999999999999",
		"MOVED 1 192.0.2.9:6379 ",
		"MOVED 1 192.0.2.9:-1",
		"MOVED 1 192.0.2.9: 1",
		"MOVED -1 192.0.2.9:6379",
		"MOVED 16384 192.0.2.9:6379",
		"MOVED  1 192.0.2.9:6379",
		"MOVED x 192.0.2.9:6379",
		"MOVED 1:2",
		"MOVED 1 192.0.2.9\n:6379",
		"MOVED 1 \x1b[2J:6379",
		"MOVED 1 %s%n:6379",
		"MOVED 1 192.0.2.999:6379",
		"MOVED 1 [2001:db8::1]:6379",
		"MOVED 1 2001:db8::1::6379",
		"MOVED 1 ?:6379",
		"MOVED 1 "
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa:1",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(garbage) / sizeof(garbage[0]); i++) {
		start(NULL);
		assert_true(says(TAG, garbage[i]));
		if (node_of(TAG) != 0)
			fail_msg("it follows '%s'", garbage[i]);
		assert_true(rests(TAG));
		for (const char *at = cluster.why; *at; at++)
			assert_in_range(*at, ' ', '~');
	}
}

static void any_bytes_are_read(void **state)
{
	static const char alphabet[] = "MOVED 0123456789.:abcdef?-\x7f\n";

	(void)state;
	srand(7);
	for (int i = 0; i < 100000; i++) {
		char error[48] = "MOVED ";
		const int length = rand() % 40;

		for (int j = 0; j < length; j++)
			error[6 + j] = alphabet[rand() % (sizeof(alphabet) - 1)];
		says(rand() % RF_TAGS, error);
		rf_cluster_turn(&cluster, now += MS);
	}
}

static void lasts(const char *trouble)
{
	now += RF_ROUTE_PATIENCE_NS;
	rf_cluster_turn(&cluster, now);
	assert_string_equal(cluster.trouble, trouble);
}

static void a_name_is_not_followed_and_said(void **state)
{
	(void)state;
	says(TAG, "MOVED 1 node7.example.net:6379");
	rf_cluster_turn(&cluster, now);
	assert_string_equal(cluster.trouble, "");
	lasts("fleet server db1:6379: it names a node of its cluster 'node7.example.net', which is "
	      "no "
	      "address; set 'cluster-preferred-endpoint-type ip' on each node");
	rf_cluster_answered(&cluster, TAG, 0, now);
	rf_cluster_turn(&cluster, now);
	assert_string_equal(cluster.trouble, "");
}

static void nobody_is_led_past_a_tunnel(void **state)
{
	static const char *const ways[] = {"127.0.0.1", "127.9.9.9",	    "::1",
					   "0.0.0.0",	"::ffff:127.0.0.1", "::"};

	(void)state;
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct rf_engine tunnel = {
			.servers = 1,
			.server[0] = {"localhost", "6379", "", 6379},
		};

		strcpy(tunnel.server[0].address, ways[i]);
		rf_cluster_start(&cluster, &tunnel);
		says(TAG, "MOVED 1 192.0.2.7:6379");
		assert_int_equal(node_of(TAG), 0);
		lasts("fleet server localhost:6379: it sends on to 192.0.2.7, port 6379, past what "
		      "listens on this machine; behind a tunnel set "
		      "'cluster-preferred-endpoint-type unknown-endpoint' on each node, else name "
		      "the nodes by the addresses that they announce");
		says(TAG, "MOVED 1 ::ffff:192.0.2.7:6379");
		assert_int_equal(node_of(TAG), 0);
		says(TAG, "MOVED 1 127.0.0.1:6380");
		assert_int_equal(server_of(TAG)->port_number, 6380);
	}
}

/* How many calls are sent in a second, if each is refused by what this makes. */
static int calls_in_a_second(void (*refuse)(int call))
{
	int calls = 0;

	for (const uint64_t until = now + 1000 * MS; now < until; now += MS / 10) {
		rf_cluster_turn(&cluster, now);
		if (!rests(TAG))
			refuse(calls++);
	}
	return calls;
}

static void send_round(int call)
{
	says(TAG, call % 2 ? "MOVED 1 192.0.2.1:6379" : "MOVED 1 192.0.2.2:6379");
}

static void send_anywhere(int call)
{
	char error[40];

	snprintf(error, sizeof(error), "MOVED 1 10.0.%d.%d:6379", call / 250, call % 250);
	says(TAG, error);
}

static void is_moving(int call)
{
	says(TAG, call % 2 ? "TRYAGAIN Multiple keys request during rehashing of slot"
			   : "ASK 1 192.0.2.2:6379");
}

static void name_itself(int call)
{
	(void)call;
	says(TAG, "MOVED 1 :6379");
}

static void nodes_that_name_each_other_are_asked_seldom(void **state)
{
	(void)state;
	assert_in_range(calls_in_a_second(send_round), RF_ROUTE_HOPS, 15);
	assert_in_range(calls_in_a_second(send_anywhere), 2, 15);
	rf_cluster_answered(&cluster, TAG, node_of(TAG), now);
	says(TAG, "MOVED 1 192.0.2.7:6379");
	assert_false(rests(TAG)); /* as it was before */
}

/* A tunnel leads to a different node than its port's. */
static void a_node_that_names_itself_is_asked_seldom(void **state)
{
	(void)state;
	says(TAG, "MOVED 1 :6379");
	assert_int_equal(node_of(TAG), 0);
	assert_true(rests(TAG));
	assert_in_range(calls_in_a_second(name_itself), 3, 9);
	lasts("fleet server db1:6379: it names itself for keys that it has not; behind a tunnel "
	      "each "
	      "node has a port of its own, and that port leads to no other");
}

static void keys_that_move_are_waited_for(void **state)
{
	(void)state;
	assert_in_range(calls_in_a_second(is_moving), 3, 9);
	assert_int_equal(node_of(TAG), 0); /* ASK has no target */
	lasts("fleet server db1:6379: a slot of its cluster is on its way to another node; if it "
	      "stays "
	      "so, see 'redis-cli --cluster fix'");
}

/* As nodes return one by one, the error changes. */
static void a_reason_that_is_outdated_gives_way(void **state)
{
	static const char *const moves =
		"fleet server db1:6379: a slot of its cluster is on its way to "
		"another node; if it stays so, see 'redis-cli --cluster "
		"fix'";

	(void)state;
	is_moving(0);
	lasts(moves);
	for (int i = 0; i < 200; i++) {
		now += 200 * MS;
		if (i % 2)
			is_moving(i);
		else
			name_itself(i);
		rf_cluster_turn(&cluster, now);
		assert_string_equal(cluster.trouble, moves);
	}
	for (uint64_t i = 200 * MS; i < RF_TROUBLE_OUTDATED_NS; i += 200 * MS) {
		now += 200 * MS;
		name_itself(0);
		rf_cluster_turn(&cluster, now);
		assert_string_equal(cluster.trouble, moves);
	}
	lasts("fleet server db1:6379: it names itself for keys that it has not; behind a tunnel "
	      "each "
	      "node has a port of its own, and that port leads to no other");
}

static void many_calls_that_were_moved_are_one_hop(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++)
		rf_cluster_refused(&cluster, TAG, 0, "MOVED 1 192.0.2.7:6379", now);
	assert_int_equal(cluster.route[TAG].hops, 1);
	assert_false(rests(TAG));
	for (int i = 0; i < 20; i++)
		says(TAG + 1, "TRYAGAIN");
	assert_int_equal(cluster.route[TAG + 1].rests_until_ns, now + RF_ROUTE_REST_NS);
}

static void tags_leave_a_node_that_fails(void **state)
{
	uint32_t well, dead;

	(void)state;
	says(1, "MOVED 1 192.0.2.7:6379");
	says(2, "MOVED 2 192.0.2.8:6379");
	says(4, "MOVED 2 192.0.2.8:6379");
	well = node_of(1);
	dead = node_of(2);
	rf_cluster_answered(&cluster, 1, well, now);
	rf_cluster_failed(&cluster, dead, 0, now);
	assert_int_equal(node_of(2), well);
	assert_int_equal(node_of(4), well);
	assert_int_equal(node_of(1), well);
	says(2, "MOVED 2 192.0.2.8:6379"); /* no other node has taken its place yet */
	assert_int_equal(node_of(2), dead);
	rf_cluster_failed(&cluster, dead, 0, now);
	says(2, "MOVED 2 192.0.2.9:6379");
	assert_string_equal(server_of(2)->address, "192.0.2.9");
}

/* Heartbeats do not suffer from what other connections meet. */
static void a_node_that_has_answered_lately_has_not_failed(void **state)
{
	uint32_t node;

	(void)state;
	says(1, "MOVED 1 192.0.2.7:6379");
	node = node_of(1);
	rf_cluster_answered(&cluster, 1, node, now);
	rf_cluster_failed(&cluster, node, 1000 * MS, now + 999 * MS);
	assert_int_equal(node_of(1), node);
	rf_cluster_failed(&cluster, node, 1000 * MS, now + 1000 * MS);
	assert_int_not_equal(node_of(1), node);
}

static void a_node_that_is_cut_off_is_left(void **state)
{
	(void)state;
	says(1, "MOVED 1 192.0.2.7:6379");
	rf_cluster_answered(&cluster, 1, node_of(1), now);
	says(2, "CLUSTERDOWN The cluster is down");
	assert_int_equal(node_of(2), node_of(1));
	assert_true(rests(2));
}

static void the_next_server_of_the_settings_is_tried(void **state)
{
	(void)state;
	rf_cluster_start(&cluster, &two);
	assert_true(cluster.is_cluster);
	rf_cluster_failed(&cluster, 0, 0, now);
	assert_int_equal(node_of(TAG), 1);
	rf_cluster_failed(&cluster, 1, 0, now);
	assert_int_equal(node_of(TAG), 0);
}

static void a_server_is_used_once_its_name_is_known(void **state)
{
	struct rf_engine engine = two;

	(void)state;
	engine.server[0].unknown = "no such name";
	rf_cluster_start(&cluster, &engine);
	assert_false(rf_cluster_knows(&cluster, 0));
	assert_int_equal(node_of(TAG), 1);
	assert_int_equal(node_of(RF_TAG_OF_ALL), 1);
	rf_cluster_failed(&cluster, 1, 0, now);
	assert_int_equal(node_of(TAG), 1);
	says(TAG, "MOVED 1 192.0.2.7:6379");
	assert_int_equal(node_of(TAG), 2); /* its place remains free */
	rf_cluster_add(&cluster, 0, &two.server[0]);
	assert_true(rf_cluster_knows(&cluster, 0));
	rf_cluster_failed(&cluster, 1, 0, now);
	assert_int_equal(node_of(TAG + 1), 2);
	rf_cluster_failed(&cluster, 2, 0, now);
	assert_int_equal(node_of(TAG), 0);
}

static void a_node_that_was_learned_is_not_known_twice(void **state)
{
	struct rf_engine engine = two;

	(void)state;
	engine.server[0].unknown = "no such name";
	rf_cluster_start(&cluster, &engine);
	says(TAG, "MOVED 1 192.0.2.1:6379");
	assert_int_equal(node_of(TAG), 2);
	rf_cluster_add(&cluster, 0, &two.server[0]);
	assert_int_equal(node_of(TAG), 0);
	assert_int_equal(node_of(TAG + 1), 1);
	assert_int_equal(cluster.node[2].id, 0);
	assert_string_equal(server_of(TAG)->host, "db1");
	assert_int_not_equal(cluster.node[0].id, 3); /* connections of before are not its own */
}

/* A different server could have its address by now. */
static void a_node_without_tags_is_forgotten(void **state)
{
	uint32_t node, id;

	(void)state;
	says(TAG, "MOVED 1 192.0.2.7:6379");
	node = node_of(TAG);
	id = cluster.node[node].id;
	rf_cluster_answered(&cluster, TAG, node, now);
	says(TAG, "MOVED 1 192.0.2.1:6379");
	rf_cluster_failed(&cluster, 0, 0, now);
	assert_int_equal(node_of(TAG), 0);
	rf_cluster_turn(&cluster, now);
	assert_int_equal(cluster.node[node].id, id);
	rf_cluster_turn(&cluster, now += RF_NODE_KEPT_NS);
	assert_int_equal(cluster.node[node].id, 0);
	says(TAG, "MOVED 1 192.0.2.7:6379");
	assert_int_not_equal(cluster.node[node_of(TAG)].id, id);
}

static void no_more_nodes_than_tags(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 1000; i++) {
		uint32_t nodes = 0;
		char error[40];

		snprintf(error, sizeof(error), "MOVED 1 10.1.%u.%u:1", i / 250, i % 250);
		says(i % RF_TAGS, error);
		rf_cluster_turn(&cluster, now += RF_NODE_KEPT_NS);
		for (uint32_t j = 0; j < RF_NODES_MOST; j++)
			nodes += cluster.node[j].id != 0;
		assert_in_range(nodes, 1, 2 * RF_TAGS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_server_by_itself_has_all_tags, start),
		cmocka_unit_test_setup(moved_is_followed_at_once, start),
		cmocka_unit_test_setup(an_address_may_have_colons, start),
		cmocka_unit_test_setup(without_a_host_it_is_the_one_that_was_asked, start),
		cmocka_unit_test_setup(garbage_is_followed_nowhere, start),
		cmocka_unit_test_setup(any_bytes_are_read, start),
		cmocka_unit_test_setup(a_name_is_not_followed_and_said, start),
		cmocka_unit_test_setup(nobody_is_led_past_a_tunnel, start),
		cmocka_unit_test_setup(nodes_that_name_each_other_are_asked_seldom, start),
		cmocka_unit_test_setup(a_node_that_names_itself_is_asked_seldom, start),
		cmocka_unit_test_setup(keys_that_move_are_waited_for, start),
		cmocka_unit_test_setup(a_reason_that_is_outdated_gives_way, start),
		cmocka_unit_test_setup(many_calls_that_were_moved_are_one_hop, start),
		cmocka_unit_test_setup(tags_leave_a_node_that_fails, start),
		cmocka_unit_test_setup(a_node_that_has_answered_lately_has_not_failed, start),
		cmocka_unit_test_setup(a_node_that_is_cut_off_is_left, start),
		cmocka_unit_test_setup(the_next_server_of_the_settings_is_tried, start),
		cmocka_unit_test_setup(a_server_is_used_once_its_name_is_known, start),
		cmocka_unit_test_setup(a_node_that_was_learned_is_not_known_twice, start),
		cmocka_unit_test_setup(a_node_without_tags_is_forgotten, start),
		cmocka_unit_test_setup(no_more_nodes_than_tags, start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
