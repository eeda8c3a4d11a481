// SPDX-License-Identifier: GPL-2.0
/* Whether an address leads to the node that the cluster announces there, according to the nodes. */
#include "unit.h"

#include "agent/probe_place.h"

static json_t *nodes;

static int start(void **state)
{
	(void)state;
	nodes = json_array();
	return 0;
}

static int end(void **state)
{
	(void)state;
	json_decref(nodes);
	return 0;
}

/* A node that was queried at HOST, which is that address, and PORT; `announces` is JSON. */
static json_t *asked(const char *host, const char *address, const char *port, const char *id,
		     const char *announces)
{
	json_t *node = json_pack("{s:s, s:s, s:s}", "host", host, "address", address, "port", port);
	json_error_t error;

	if (id) {
		json_t *places = json_loads(announces, 0, &error);

		assert_non_null(places);
		json_object_set_new(node, "id", json_string(id));
		json_object_set_new(node, "announces", places);
	}
	json_array_append_new(nodes, node);
	return node;
}

static const char *text_of(const json_t *node, const char *key)
{
	const char *text = json_string_value(json_object_get(node, key));

	return text ? text : "";
}

static void assert_right(const json_t *node)
{
	assert_string_equal(text_of(node, "announced_by"), "");
	assert_null(json_object_get(node, "announces"));
}

static void assert_wrong(const json_t *node, const char *by, const char *leads_to)
{
	assert_string_equal(text_of(node, "announced_by"), by);
	assert_string_equal(text_of(node, "leads_to"), leads_to);
	assert_null(json_object_get(node, "announces"));
}

#define PORTS "{\"aa\":[null,\"7001\"],\"bb\":[null,\"7002\"],\"cc\":[null,\"7003\"]}"
#define ADDRESSES                                                                               \
	"{\"aa\":[\"192.0.2.1\",\"6379\"],\"bb\":[\"192.0.2.2\",\"6379\"],\"cc\":[\"2001:db8::" \
	"3\","                                                                                  \
	"\"6379\"]}"

static void ports_alone_are_of_the_host_that_was_asked(void **state)
{
	const json_t *one = asked("localhost", "127.0.0.1", "7001", "cc", PORTS);
	const json_t *two = asked("localhost", "127.0.0.1", "7002", "bb", PORTS);
	const json_t *three = asked("localhost", "127.0.0.1", "7003", "aa", PORTS);

	(void)state;
	rf_probe_compare_places(nodes);
	assert_wrong(one, "localhost:7001", "localhost:7003");
	assert_right(two);
	assert_wrong(three, "localhost:7003", "localhost:7001");
}

/* Whether ports of a different host belong to the cluster is unknown. */
static void a_port_that_nobody_announces_is_not_judged(void **state)
{
	const json_t *one = asked("localhost", "127.0.0.1", "7001", "aa", PORTS);
	const json_t *two = asked("localhost", "127.0.0.1", "17002", "cc", PORTS);
	const json_t *three = asked("db3", "192.0.2.3", "7002", "cc", "{}");

	(void)state;
	rf_probe_compare_places(nodes);
	assert_right(one);
	assert_right(two);
	assert_right(three);
}

static void an_address_has_several_forms(void **state)
{
	const json_t *one = asked("192.0.2.1", "192.0.2.1", "6379", "aa", ADDRESSES);
	const json_t *three = asked("2001:db8:0::3", "2001:db8::3", "6379", "cc", ADDRESSES);
	const json_t *other = asked("2001:DB8::3", "2001:db8::3", "6379", "bb", ADDRESSES);

	(void)state;
	rf_probe_compare_places(nodes);
	assert_right(one);
	assert_right(three);
	assert_wrong(other, "2001:DB8::3:6379", "192.0.2.2:6379");
}

/* Behind a tunnel or a port forward, where nodes announce other addresses than it has. */
static void an_address_that_nobody_announces_is_not_judged(void **state)
{
	const json_t *one = asked("127.0.0.1", "127.0.0.1", "6379", "bb", ADDRESSES);
	const json_t *two = asked("db", "198.51.100.7", "6379", "aa", ADDRESSES);
	const json_t *three = asked("192.0.2.1", "192.0.2.1", "6380", "bb", ADDRESSES);

	(void)state;
	rf_probe_compare_places(nodes);
	assert_right(one);
	assert_right(two);
	assert_right(three);
}

static void names_are_compared_with_names(void **state)
{
	static const char names[] =
		"{\"aa\":[\"db1.example\",\"6379\"],\"bb\":[\"db2.example\",\"6379\"]}";
	const json_t *one = asked("DB1.example", "192.0.2.1", "6379", "aa", names);
	const json_t *two = asked("db2.example", "192.0.2.1", "6379", "aa", names);
	const json_t *three = asked("192.0.2.2", "192.0.2.2", "6379", "aa", names);

	(void)state;
	rf_probe_compare_places(nodes);
	assert_right(one);
	assert_wrong(two, "db2.example:6379", "db1.example:6379");
	assert_right(three);
}

/* A balancer has one name for all nodes. */
static void a_name_of_several_nodes_is_each_of_them(void **state)
{
	static const char names[] =
		"{\"aa\":[\"db.example\",\"6379\"],\"bb\":[\"db.example\",\"6379\"]}";
	const json_t *one = asked("db.example", "192.0.2.1", "6379", "bb", names);

	(void)state;
	rf_probe_compare_places(nodes);
	assert_right(one);
}

/* On its own it is right. */
static void a_node_of_another_cluster_is_known_by_the_others(void **state)
{
	const json_t *one = asked("127.0.0.1", "127.0.0.1", "7001", "aa", PORTS);
	const json_t *two = asked("127.0.0.1", "127.0.0.1", "7002", "dd",
				  "{\"dd\":[null,\"7002\"],\"ee\":[null,\"7004\"]}");

	(void)state;
	rf_probe_compare_places(nodes);
	assert_right(one);
	assert_wrong(two, "127.0.0.1:7001", "");
}

/* One that was not reached, or whose user lacks permission. */
static void what_is_not_known_is_not_judged(void **state)
{
	const json_t *one = asked("127.0.0.1", "127.0.0.1", "7001", NULL, NULL);
	const json_t *two = asked("127.0.0.1", "127.0.0.1", "7002", "bb",
				  "{\"aa\":[null,null],\"bb\":[],\"cc\":7}");
	const json_t *three = asked("", "", "7003", "dd", "{\"aa\":[\"\",\"7003\"]}");

	(void)state;
	rf_probe_compare_places(nodes);
	assert_right(one);
	assert_right(two);
	assert_right(three);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(ports_alone_are_of_the_host_that_was_asked, start,
						end),
		cmocka_unit_test_setup_teardown(a_port_that_nobody_announces_is_not_judged, start,
						end),
		cmocka_unit_test_setup_teardown(an_address_has_several_forms, start, end),
		cmocka_unit_test_setup_teardown(an_address_that_nobody_announces_is_not_judged,
						start, end),
		cmocka_unit_test_setup_teardown(names_are_compared_with_names, start, end),
		cmocka_unit_test_setup_teardown(a_name_of_several_nodes_is_each_of_them, start,
						end),
		cmocka_unit_test_setup_teardown(a_node_of_another_cluster_is_known_by_the_others,
						start, end),
		cmocka_unit_test_setup_teardown(what_is_not_known_is_not_judged, start, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
