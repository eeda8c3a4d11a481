// SPDX-License-Identifier: GPL-2.0
/* DNS queries over a limit with 'over truncate': which get a response, and how many. */
#include "bursts.h"

#include <linux/udp.h>

#include "tests/unit/unit.h"

#define SERVER NET(192, 0, 2, 1)
#define CLIENT NET(198, 9, 0, 1)
#define PORT 53
#define FLAG_QR 0x80
#define FLAG_TC 0x02
#define PREFIX_MOST 256 /* responses to a /24 in about a second: ringfence-rules(5) */

/* "a. IN A" */
struct query {
	struct ethhdr eth;
	struct iphdr ip;
	struct udphdr udp;
	unsigned char dns[19];
} __attribute__((packed));

static int server = -1;

static struct query query_to(uint32_t source, uint16_t port)
{
	struct query query = {
		.eth.h_proto = htons(ETH_P_IP),
		.ip = {.version = 4,
		       .ihl = 5,
		       .protocol = IPPROTO_UDP,
		       .ttl = 64,
		       .tot_len = htons(sizeof(query) - sizeof(struct ethhdr)),
		       .saddr = htonl(source),
		       .daddr = htonl(SERVER)},
		.udp = {.source = htons(40000),
			.dest = htons(port),
			.len = htons(sizeof(query.udp) + sizeof(query.dns))},
		.dns = "\x12\x34\1\0\0\1\0\0\0\0\0\0\1a\0\0\1\0\1",
	};

	return query;
}

static int run_by(struct program *program, const struct bpf_program *entry, struct query *query)
{
	struct query left = {};
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = query, .data_size_in = sizeof(*query),
		    .data_out = &left, .data_size_out = sizeof(left), .repeat = 1);

	(void)program;
	assert_int_equal(bpf_prog_test_run_opts(bpf_program__fd(entry), &options), 0);
	*query = left;
	return options.retval;
}

/* The verdicts for that many queries of a source. */
struct verdicts {
	int passed, dropped, answered;
};

static struct verdicts send_queries_by(struct program *program, const struct bpf_program *entry,
				       uint32_t source, uint16_t port, int count)
{
	struct verdicts sum = {};

	for (int i = 0; i < count; i++) {
		struct query query = query_to(source, port);
		const int verdict = run_by(program, entry, &query);

		sum.passed += verdict == XDP_PASS;
		sum.dropped += verdict == XDP_DROP;
		sum.answered += verdict == XDP_TX;
	}
	return sum;
}

static struct verdicts send_queries(struct program *program, uint32_t source, uint16_t port,
				    int count)
{
	return send_queries_by(program, program->object->progs.ringfence, source, port, count);
}

#define assert_verdicts(found, passes, drops, answers)     \
	do {                                               \
		const struct verdicts sum = (found);       \
                                                           \
		assert_int_equal(sum.passed, (passes));    \
		assert_int_equal(sum.dropped, (drops));    \
		assert_int_equal(sum.answered, (answers)); \
	} while (0)

/* ---- setup ---- */

/* A server at every port that the tests use, of which none receives anything. */
static int open_namespace(void **state)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(PORT)};

	(void)state;
	assert_int_equal(unshare(CLONE_NEWNET), 0);
	assert_int_equal(system("ip link set lo up && ip addr add 192.0.2.1/32 dev lo"), 0);
	server = socket(AF_INET, SOCK_DGRAM, 0);
	assert_true(server >= 0);
	assert_int_equal(bind(server, (struct sockaddr *)&at, sizeof(at)), 0);
	return 0;
}

static int close_namespace(void **state)
{
	(void)state;
	close(server);
	return 0;
}

/* The frames' destination is the address of `lo`. */
static void apply(struct program *program, const char *rules)
{
	program_apply(program, rules);
	program->config->own_macs = 1;
	program->config->own_mac[0] = 0;
}

static struct rf_limit_counters counters_of(struct program *program, const char *limit)
{
	return program_limit_counters_of(program, limit);
}

#define DNS "limit add dns rate 5/10s match udp dport 53 over truncate "

/* ---- which packets ---- */

static void a_query_over_the_limit_is_answered_with_tc(void **state)
{
	struct program *program = *state;
	struct query query = query_to(CLIENT, PORT);

	apply(program, DNS "1/1");
	assert_verdicts(send_queries(program, CLIENT, PORT, 5), 5, 0, 0);
	assert_int_equal(run_by(program, program->object->progs.ringfence, &query), XDP_TX);
	assert_int_equal(query.ip.saddr, htonl(SERVER));
	assert_int_equal(query.ip.daddr, htonl(CLIENT));
	assert_int_equal(query.udp.source, htons(PORT));
	assert_int_equal(query.udp.dest, htons(40000));
	assert_memory_equal(query.dns, "\x12\x34\x83\0\0\1\0\0\0\0\0\0\1a\0\0\1\0\1", 19);
	assert_int_equal(query.dns[2] & (FLAG_QR | FLAG_TC), FLAG_QR | FLAG_TC);
	assert_int_equal(counters_of(program, "dns").dropped.packets, 1);
	assert_int_equal(counters_of(program, "dns").truncated.packets, 1);
	assert_int_equal(counters_of(program, "dns").truncated.bytes, sizeof(query));
	assert_int_equal(reason_of(program, RF_OVER_LIMIT), 1);
}

/* Both by a lease, which handles all but the first of these packets, and without. */
static void every_query_over_the_limit_can_be_answered(void **state)
{
	struct program *program = *state;

	apply(program, DNS "1/1");
	assert_verdicts(send_queries(program, CLIENT, PORT, 105), 5, 0, 100);
	program->config->lease_shift = 0;
	assert_verdicts(send_queries(program, CLIENT + 256, PORT, 105), 5, 0, 100);
	assert_int_equal(counters_of(program, "dns").truncated.packets, 200);
}

static void one_of_n_is_answered(void **state)
{
	struct program *program = *state;
	struct verdicts sum = {};

	apply(program, DNS "1/4\nlimit add rare rate 5/10s match udp dport 54 over truncate 1/100");
	for (int i = 0; i < 40; i++) {
		struct verdicts one = send_queries(program, CLIENT + i * 256, PORT, 105);

		sum.answered += one.answered;
		sum.dropped += one.dropped;
	}
	assert_int_equal(sum.answered + sum.dropped, 4000);
	assert_in_range(sum.answered, 700, 1300); /* 1000, and 27 standard deviation */
	assert_int_equal(counters_of(program, "dns").truncated.packets, sum.answered);
}

static void only_the_limit_that_refused_decides(void **state)
{
	struct program *program = *state;

	apply(program, "limit add any rate 3/10s\n" DNS "1/1");
	assert_verdicts(send_queries(program, CLIENT, PORT, 20), 3, 17, 0);
	apply(program, "limit add any rate 8/10s\n" DNS "1/1");
	assert_verdicts(send_queries(program, CLIENT + 256, PORT, 20), 5, 0, 15);
	program->config->lease_shift = 0;
	assert_verdicts(send_queries(program, CLIENT + 512, PORT, 20), 5, 0, 15);
}

static void packets_dropped_for_other_reasons_are_not_answered(void **state)
{
	struct program *program = *state;

	apply(program, DNS "1/1\nlimit add any rate 20/10s ban 1m all");
	assert_verdicts(send_queries(program, CLIENT, PORT, 20), 5, 0, 15);
	burst(program, CLIENT, 40);
	program_set_time(program, START_NS + 11 * NS_PER_S); /* no lease has its old verdict */
	assert_verdicts(send_queries(program, CLIENT, PORT, 20), 0, 20, 0); /* banned */
	apply(program, DNS "1/1\ndeny add 198.9.0.0/24");
	assert_verdicts(send_queries(program, CLIENT, PORT, 20), 0, 20, 0);
	apply(program, DNS "1/1\nnewcomers rate 2/1s then drop");
	assert_int_equal(each_of(program, NET(10, 0, 0, 0), 100), 100); /* match no limit */
	send_queries(program, NET(10, 0, 1, 0), PORT, 1);
	send_queries(program, NET(10, 0, 1, 1), PORT, 1);
	assert_verdicts(send_queries(program, NET(10, 0, 1, 2), PORT, 20), 0, 20, 0);
}

static void a_limit_of_rate_0_makes_all_clients_use_tcp(void **state)
{
	struct program *program = *state;

	apply(program, "limit add dns rate 0 match udp dport 53 over truncate 1/1");
	assert_verdicts(send_queries(program, CLIENT, PORT, 20), 0, 0, 20);
}

static void a_query_without_a_local_socket_is_dropped(void **state)
{
	struct program *program = *state;
	struct query query = query_to(CLIENT, PORT);

	apply(program, "limit add dns rate 0 match udp dport 53,54 over truncate 1/1");
	assert_verdicts(send_queries(program, CLIENT, 54, 20), 0, 20, 0);
	query.eth.h_dest[5] = 1; /* for another host */
	assert_int_equal(run_by(program, program->object->progs.ringfence, &query), XDP_DROP);
	query = query_to(CLIENT, PORT);
	query.dns[2] |= FLAG_QR; /* a response */
	assert_int_equal(run_by(program, program->object->progs.ringfence, &query), XDP_DROP);
}

static void shadows_and_pauses_answer_nothing(void **state)
{
	struct program *program = *state;

	apply(program, DNS "1/1 shadow");
	assert_verdicts(send_queries(program, CLIENT, PORT, 20), 20, 0, 0);
	apply(program, DNS "1/1");
	program->config->paused_until = RF_FOREVER;
	assert_verdicts(send_queries(program, CLIENT, PORT, 20), 20, 0, 0);
	program->config->paused_until = 0;
	assert_int_equal(counters_of(program, "dns").truncated.packets, 0);
}

static void a_prefix_gets_few_responses(void **state)
{
	struct program *program = *state;

	apply(program, "limit add dns rate 0 match udp dport 53 over truncate 1/1");
	assert_verdicts(send_queries(program, CLIENT, PORT, 1000), 0, 1000 - PREFIX_MOST,
			PREFIX_MOST);
	program_set_time(program, START_NS + 10 * NS_PER_S);
	assert_verdicts(send_queries(program, CLIENT, PORT, 1000), 0, 1000 - PREFIX_MOST,
			PREFIX_MOST);
}

/* As if all windows of IPv4 were evicted: the guard refuses the source, and not the limit. */
static void a_newcomer_is_not_answered_by_an_old_lease(void **state)
{
	struct program *program = *state;
	const struct ringfence_bpf *object = program->object;
	const struct rf_known_filter none = {};
	struct rf_key4 key;

	apply(program, DNS "1/1\nnewcomers rate 2/1s then drop");
	assert_verdicts(send_queries(program, CLIENT, PORT, 20), 5, 0, 15);
	while (!bpf_map_get_next_key(bpf_map__fd(object->maps.windows4), NULL, &key))
		assert_int_equal(bpf_map_delete_elem(bpf_map__fd(object->maps.windows4), &key), 0);
	for (uint32_t i = 0; i < bpf_map__max_entries(object->maps.known_filter); i++)
		assert_int_equal(
			bpf_map_update_elem(bpf_map__fd(object->maps.known_filter), &i, &none, 0),
			0);
	program_set_time(program, START_NS + 30 * NS_PER_S);
	for (int i = 0; i < 20; i++)
		send_queries(program, NET(10, 0, i, 1), PORT, 1);
	assert_verdicts(send_queries(program, CLIENT, PORT, 1), 0, 1, 0);
	assert_int_equal(counters_of(program, "dns").truncated.packets, 15);
}

static void both_entries_answer(void **state)
{
	struct program *program = *state;

	apply(program, DNS "1/1");
	assert_verdicts(
		send_queries_by(program, program->object->progs.ringfence_frags, CLIENT, PORT, 20),
		5, 0, 15);
}

static int setup_both(void **state)
{
	program_run_on(0);
	program_setup_both(state);
	program_set_time(*state, START_NS);
	return 0;
}

#define TEST(function) \
	cmocka_unit_test_setup_teardown(function, program_setup_at_start, program_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_query_over_the_limit_is_answered_with_tc),
		TEST(every_query_over_the_limit_can_be_answered),
		TEST(one_of_n_is_answered),
		TEST(only_the_limit_that_refused_decides),
		TEST(packets_dropped_for_other_reasons_are_not_answered),
		TEST(a_limit_of_rate_0_makes_all_clients_use_tcp),
		TEST(a_query_without_a_local_socket_is_dropped),
		TEST(shadows_and_pauses_answer_nothing),
		TEST(a_prefix_gets_few_responses),
		TEST(a_newcomer_is_not_answered_by_an_old_lease),
		cmocka_unit_test_setup_teardown(both_entries_answer, setup_both, program_teardown),
	};

	return cmocka_run_group_tests(tests, open_namespace, close_namespace);
}
