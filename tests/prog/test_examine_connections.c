// SPDX-License-Identifier: GPL-2.0
/*
 * TCP packets of newcomers over the newcomers rate that belong to connections of this host: they
 * pass in each state of the connection, and make their source known, up to a rate.
 */
#include "examine.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>

#include "bursts.h"
#include "tests/unit/unit.h"

#define OTHER_PORT (PORT + 1)
#define WAIT_STEP_US 10000
#define WAIT_STEPS 18000

static const struct client client = {1, 1};

/* ---- connections ---- */

struct connection {
	int client, server;
	uint16_t sport;
};

static uint16_t port_of(int handle)
{
	struct sockaddr_in6 address;
	socklen_t size = sizeof(address);

	assert_int_equal(getsockname(handle, (struct sockaddr *)&address, &size), 0);
	return ntohs(address.sin6_port); /* at the same offset in a sockaddr_in */
}

static int connect_from(const struct sockaddr_storage *from, const struct sockaddr_storage *to,
			bool is_blocking)
{
	const int handle = bind_socket(SOCK_STREAM, from);
	const socklen_t size = sizeof(struct sockaddr_in6);
	int err;

	if (!is_blocking)
		assert_int_equal(fcntl(handle, F_SETFL, O_NONBLOCK), 0);
	err = connect(handle, (const struct sockaddr *)to, size);
	assert_true(!err || (!is_blocking && errno == EINPROGRESS));
	return handle;
}

static struct connection open_connection(struct client client)
{
	const struct sockaddr_storage from = address_of(client, 0), to = server_address(PORT);
	struct connection connection = {.client = connect_from(&from, &to, true)};

	connection.server = accept(listener_of_version(), NULL, NULL);
	assert_true(connection.server >= 0);
	connection.sport = port_of(connection.client);
	return connection;
}

static void close_connection(const struct connection *connection)
{
	close(connection->server);
	close(connection->client);
}

/* The state of this host's socket between two ports; 0: no such socket. */
static unsigned int state_of(unsigned int local, unsigned int remote)
{
	FILE *table = fopen(ip_version == 4 ? "/proc/net/tcp" : "/proc/net/tcp6", "r");
	unsigned int found = 0, of_local, of_remote, state;
	char line[300];

	assert_non_null(table);
	while (!found && fgets(line, sizeof(line), table))
		if (sscanf(line, " %*d: %*[0-9A-F]:%x %*[0-9A-F]:%x %x", &of_local, &of_remote,
			   &state) == 3 &&
		    of_local == local && of_remote == remote)
			found = state;
	fclose(table);
	return found;
}

static void await_state(unsigned int local, unsigned int remote, unsigned int state)
{
	for (int i = 0; i < WAIT_STEPS && state_of(local, remote) != state; i++)
		usleep(WAIT_STEP_US);
	assert_int_equal(state_of(local, remote), state);
}

static void remain_open(struct connection *connection)
{
	(void)connection;
}

static void shut_server(struct connection *connection)
{
	assert_int_equal(shutdown(connection->server, SHUT_WR), 0);
}

static void shut_client(struct connection *connection)
{
	assert_int_equal(shutdown(connection->client, SHUT_WR), 0);
}

static void close_server_first(struct connection *connection)
{
	close_connection(connection);
	connection->server = connection->client = -1;
}

static const struct state_row {
	const char *name;
	void (*enter)(struct connection *connection);
	unsigned int state;
} states[] = {
	{"ESTABLISHED", remain_open, BPF_TCP_ESTABLISHED},
	{"FIN_WAIT2", shut_server, BPF_TCP_FIN_WAIT2},
	{"CLOSE_WAIT", shut_client, BPF_TCP_CLOSE_WAIT},
	{"TIME_WAIT", close_server_first, BPF_TCP_TIME_WAIT},
};

static void packets_of_connections_pass_in_each_state(void **state)
{
	struct program *program = *state;

	apply(program, "10/1s", "drop except established");
	for (unsigned int i = 0; i < UNIT_ARRAY_SIZE(states); i++) {
		const struct client one = {1, i};
		struct connection connection = open_connection(one);
		const struct segment ack = {.sport = connection.sport, .flags = ACK};

		print_message("# %s\n", states[i].name);
		states[i].enter(&connection);
		await_state(PORT, connection.sport, states[i].state);
		assert_int_equal(run_segment(program, one, &ack), XDP_PASS);
		assert_int_equal(reason_of(program, RF_ESTABLISHED), i + 1);
		assert_int_equal(run_segment(program, (struct client){2, i}, &ack), XDP_DROP);
		assert_int_equal(run_segment(program, one, &ack), XDP_PASS); /* known */
		assert_int_equal(reason_of(program, RF_ESTABLISHED), i + 1);
		close_connection(&connection);
	}
}

/* The queue of the listener is full, so the connection remains in SYN_SENT. */
static void responses_to_connections_of_this_host_pass(void **state)
{
	const struct sockaddr_storage full = address_of(client, OTHER_PORT),
				      host = server_address(0);
	struct program *program = *state;
	const int listener = listen_at(&full, 0), first = connect_from(&host, &full, true);
	const int second = connect_from(&host, &full, false);
	struct segment response = {.sport = OTHER_PORT, .flags = SYN | ACK};

	response.dport = port_of(second);
	await_state(response.dport, OTHER_PORT, BPF_TCP_SYN_SENT);
	apply(program, "2/1s", "drop except established");
	assert_int_equal(run_segment(program, client, &response), XDP_PASS);
	assert_int_equal(reason_of(program, RF_ESTABLISHED), 1);
	close(second);
	close(first);
	close(listener);
}

static void packets_of_no_connection_are_dropped(void **state)
{
	static const struct segment rows[] = {
		{.name = "an ACK to a listener", .flags = ACK},
		{.name = "an ACK to a port without a listener", .dport = PORT + 2, .flags = ACK},
		{.name = "RST to a listener", .flags = FLAG_RST},
		{.name = "RST to a port without a listener", .dport = PORT + 2, .flags = FLAG_RST},
		{.name = "SYN to a listener", .flags = SYN},
	};
	const struct linger abort = {.l_onoff = 1};
	struct program *program = *state;
	struct connection connection = open_connection(client);

	apply(program, "2/1s", "drop except established");
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(rows); i++)
		assert_dropped(program, client, &rows[i]);
	setsockopt(connection.server, SOL_SOCKET, SO_LINGER, &abort, sizeof(abort));
	close_connection(&connection);
	await_state(PORT, connection.sport, 0);
	assert_int_equal(run_segment(program, client,
				     &(struct segment){.sport = connection.sport, .flags = ACK}),
			 XDP_DROP);
	assert_int_equal(reason_of(program, RF_ESTABLISHED), 0);
}

/* ---- how many connections make their source known ---- */

#define HOSTS 6

static int ack_from(struct program *program, struct client client,
		    const struct connection *connection)
{
	return run_segment(program, client,
			   &(struct segment){.sport = connection->sport, .flags = ACK});
}

static void further_connections_are_charged_to_their_network(void **state)
{
	struct program *program = *state;
	struct connection of[HOSTS], of_other = open_connection((struct client){2, 1});
	uint64_t inserts;
	int passed = 0;

	for (unsigned int i = 0; i < HOSTS; i++)
		of[i] = open_connection((struct client){1, i});
	apply(program, "2/1s", "drop except established");
	inserts = program_counters(program).inserts[ip_version == 6];
	for (unsigned int i = 0; i < HOSTS; i++)
		assert_int_equal(ack_from(program, (struct client){1, i}, &of[i]), XDP_PASS);
	assert_int_equal(reason_of(program, RF_ESTABLISHED), HOSTS);
	assert_int_equal(program_counters(program).inserts[ip_version == 6], inserts + 2);
	assert_int_equal(program_counters(program).newcomers_aggregated, HOSTS - 2);
	/* The limit is 5/10s, of which the network has used HOSTS - 2. */
	for (int i = 0; i < 50; i++)
		passed += ack_from(program, (struct client){1, HOSTS - 1}, &of[HOSTS - 1]) ==
			  XDP_PASS;
	assert_int_equal(passed, 5 - (HOSTS - 2));
	assert_int_equal(reason_of(program, RF_OVER_LIMIT), 50 - passed);
	assert_int_equal(ack_from(program, (struct client){2, 1}, &of_other), XDP_PASS);
	assert_int_equal(program_counters(program).inserts[ip_version == 6], inserts + 2);
	/* Its window starts with the charge of the network. */
	program_set_time(program, START_NS + 2 * NS_PER_S);
	assert_int_equal(each_of(program, NET(11, 1, 0, 0), 1000), 2);
	inserts = program_counters(program).inserts[ip_version == 6];
	assert_int_equal(ack_from(program, (struct client){1, 2}, &of[2]), XDP_DROP);
	assert_int_equal(program_counters(program).inserts[ip_version == 6], inserts + 1);
	for (unsigned int i = 0; i < HOSTS; i++)
		close_connection(&of[i]);
	close_connection(&of_other);
}

/* The limit is 5/10s. The third connection is charged to the window of its network. */
static void a_connection_never_passes_count_twice(void **state)
{
	const struct client last = {1, 2};
	struct program *program = *state;
	struct connection of[3];
	int passed = 0;

	for (unsigned int i = 0; i < 3; i++)
		of[i] = open_connection((struct client){1, i});
	apply(program, "2/1s", "drop except established");
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(ack_from(program, (struct client){1, i}, &of[i]), XDP_PASS);
	for (int i = 0; i < 50; i++)
		passed += ack_from(program, last, &of[2]) == XDP_PASS;
	assert_int_equal(passed, 5);
	program_set_time(program, START_NS + 2 * NS_PER_S); /* the guard has room again */
	for (int i = 0; i < 50; i++)
		passed += ack_from(program, last, &of[2]) == XDP_PASS;
	assert_int_equal(passed, 5);
	for (unsigned int i = 0; i < 3; i++)
		close_connection(&of[i]);
}

static void connections_and_proofs_share_a_rate(void **state)
{
	struct program *program = *state;
	const struct client open = {1, 1}, proves[] = {{2, 1}, {3, 1}}, late = {4, 1};
	struct connection of_open = open_connection(open), of_late = open_connection(late);
	uint32_t cookie[2];

	apply(program, "2/1s", "challenge");
	for (int i = 0; i < 2; i++)
		cookie[i] = request_cookie(program, proves[i], PORT);
	assert_int_equal(ack_from(program, open, &of_open), XDP_PASS);
	assert_int_equal(prove(program, proves[0], PORT, cookie[0]), XDP_PASS);
	assert_int_equal(prove(program, proves[1], PORT, cookie[1]), XDP_DROP);
	assert_int_equal(ack_from(program, late, &of_late), XDP_PASS);
	assert_int_equal(program_counters(program).newcomers_admitted, 4);
	assert_int_equal(program_counters(program).newcomers_aggregated, 1);
	close_connection(&of_open);
	close_connection(&of_late);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_BOTH(packets_of_connections_pass_in_each_state),
		TEST_BOTH(responses_to_connections_of_this_host_pass),
		TEST_BOTH(packets_of_no_connection_are_dropped),
		TEST_BOTH(further_connections_are_charged_to_their_network),
		TEST_BOTH(a_connection_never_passes_count_twice),
		TEST_BOTH(connections_and_proofs_share_a_rate),
	};

	return cmocka_run_group_tests(tests, open_namespace, NULL);
}
