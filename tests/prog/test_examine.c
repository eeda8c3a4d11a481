// SPDX-License-Identifier: GPL-2.0
/*
 * Newcomers over the newcomers rate that are examined, with sockets of the kernel in a network
 * namespace of this test: which packets pass, which are answered, and how.
 */
#include "bursts.h"

#include <fcntl.h>
#include <linux/tcp.h>
#include <sched.h>
#include <unistd.h>

#include "tests/unit/unit.h"

#define SERVER INADDR_LOOPBACK
#define CLIENT NET(127, 9, 0, 1)
#define PORT 8080
#define FLAG_SYN 0x02
#define FLAG_RST 0x04
#define FLAG_ACK 0x10
#define PREFIX_MOST 256 /* responses to a /24 in about a second: ringfence-rules(5) */

struct segment {
	struct ethhdr eth;
	struct iphdr ip;
	struct tcphdr tcp;
	unsigned char options[20];
} __attribute__((packed));

#define LENGTH_BARE offsetof(struct segment, options)

static int listener = -1;

static struct segment segment_from(uint32_t source, uint16_t dport, uint8_t flags)
{
	struct segment segment = {
		.eth.h_proto = htons(ETH_P_IP),
		.ip = {.version = 4,
		       .ihl = 5,
		       .protocol = IPPROTO_TCP,
		       .ttl = 64,
		       .saddr = htonl(source),
		       .daddr = htonl(SERVER)},
		.tcp = {.source = htons(40000), .dest = htons(dport), .seq = htonl(1000)},
	};

	segment.tcp.doff = flags == FLAG_SYN ? 10 : 5;
	segment.ip.tot_len = htons(20 + segment.tcp.doff * 4);
	((uint8_t *)&segment.tcp)[13] = flags;
	if (flags == FLAG_SYN) /* MSS 1460, window scaling 7 */
		memcpy(segment.options, "\2\4\5\264\3\3\7", 7);
	return segment;
}

static size_t length_of(const struct segment *segment)
{
	return sizeof(struct ethhdr) + 20 + segment->tcp.doff * 4;
}

/* Runs the segment, and stores the frame as the program leaves it. */
static int run(struct program *program, struct segment *segment)
{
	struct segment left = {};
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = segment,
		    .data_size_in = length_of(segment), .data_out = &left,
		    .data_size_out = sizeof(left), .repeat = 1);

	assert_int_equal(
		bpf_prog_test_run_opts(bpf_program__fd(program->object->progs.ringfence), &options),
		0);
	*segment = left;
	return options.retval;
}

static uint32_t sum_of(uint32_t sum, const void *bytes, size_t length)
{
	const uint8_t *byte = bytes;

	for (size_t i = 0; i < length; i++)
		sum += i % 2 ? byte[i] : byte[i] << 8;
	return sum;
}

static bool is_sum_right(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum == 0xffff;
}

/* ---- setup ---- */

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static int open_namespace(void **state)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(PORT)};

	(void)state;
	assert_int_equal(unshare(CLONE_NEWNET), 0);
	assert_int_equal(system("ip link set lo up"), 0);
	write_file("/proc/sys/net/ipv4/tcp_syncookies", "2");
	listener = socket(AF_INET, SOCK_STREAM, 0);
	assert_true(listener >= 0);
	assert_int_equal(bind(listener, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(listener, 10), 0);
	return 0;
}

static int close_namespace(void **state)
{
	(void)state;
	close(listener);
	return 0;
}

/* One newcomer has used up the newcomers rate. The frames' destination is the address of `lo`. */
static void apply(struct program *program, const char *then)
{
	char rules[200];

	snprintf(rules, sizeof(rules), "limit add any rate 5/10s\nnewcomers rate 2/1s then %s\n",
		 then);
	program_apply(program, rules);
	program->config->own_macs = 1;
	program->config->own_mac[0] = 0;
	assert_int_equal(each_of(program, NET(10, 0, 0, 0), 1000), 2);
}

static uint64_t packets_of(struct program *program, enum rf_reason reason)
{
	return program_counters(program).reason[reason].packets;
}

/* ---- cookies ---- */

static void a_syn_is_answered_by_a_cookie_that_proves_its_source(void **state)
{
	struct program *program = *state;
	struct segment syn = segment_from(CLIENT, PORT, FLAG_SYN), ack;
	uint32_t cookie, pseudo;

	apply(program, "challenge");
	assert_int_equal(run(program, &syn), XDP_TX);
	assert_int_equal(syn.ip.saddr, htonl(SERVER));
	assert_int_equal(syn.ip.daddr, htonl(CLIENT));
	assert_int_equal(syn.tcp.source, htons(PORT));
	assert_int_equal(syn.tcp.dest, htons(40000));
	assert_int_equal(syn.tcp.ack_seq, htonl(1001));
	assert_int_equal(((uint8_t *)&syn.tcp)[13], FLAG_SYN | FLAG_ACK);
	assert_memory_equal(syn.options, "\2\4\5\264\0\0\0\0", 8);
	assert_true(is_sum_right(sum_of(0, &syn.ip, sizeof(syn.ip))));
	pseudo = sum_of(IPPROTO_TCP + 40, &syn.ip.saddr, 8);
	assert_true(is_sum_right(sum_of(pseudo, &syn.tcp, 40)));
	cookie = ntohl(syn.tcp.seq);

	ack = segment_from(CLIENT, PORT, FLAG_ACK);
	ack.tcp.seq = htonl(1001);
	ack.tcp.ack_seq = htonl(cookie + 2);
	assert_int_equal(run(program, &ack), XDP_DROP); /* a wrong cookie */
	ack = segment_from(CLIENT + 1, PORT, FLAG_ACK);
	ack.tcp.seq = htonl(1001);
	ack.tcp.ack_seq = htonl(cookie + 1);
	assert_int_equal(run(program, &ack), XDP_DROP); /* of another source */
	ack = segment_from(CLIENT, PORT, FLAG_ACK);
	ack.tcp.seq = htonl(1001);
	ack.tcp.ack_seq = htonl(cookie + 1);
	assert_int_equal(run(program, &ack), XDP_PASS);
	assert_int_equal(packets_of(program, RF_CHALLENGED), 1);
	assert_int_equal(packets_of(program, RF_PROVEN), 1);
	assert_int_equal(burst(program, CLIENT, 50), 4); /* known, with a limit */
}

static void other_packets_are_dropped(void **state)
{
	const struct {
		uint16_t port;
		uint8_t flags;
	} rows[] = {{PORT + 1, FLAG_SYN}, /* no listener */
		    {PORT, FLAG_ACK},
		    {PORT, FLAG_RST},
		    {PORT, FLAG_SYN | FLAG_RST},
		    {PORT, FLAG_SYN | FLAG_ACK}};
	struct program *program = *state;

	apply(program, "challenge");
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(rows); i++) {
		struct segment segment = segment_from(CLIENT, rows[i].port, rows[i].flags);

		assert_int_equal(run(program, &segment), XDP_DROP);
	}
	assert_int_equal(packets_of(program, RF_CHALLENGED), 0);
	assert_int_equal(packets_of(program, RF_NEWCOMER_DROP), 998 + UNIT_ARRAY_SIZE(rows));
}

static void a_frame_to_another_ethernet_address_is_not_answered(void **state)
{
	struct program *program = *state;
	struct segment syn = segment_from(CLIENT, PORT, FLAG_SYN);

	apply(program, "challenge");
	syn.eth.h_dest[5] = 1;
	assert_int_equal(run(program, &syn), XDP_DROP);
	assert_int_equal(packets_of(program, RF_CHALLENGED), 0);
}

static void a_syn_without_options_is_answered_without(void **state)
{
	struct program *program = *state;
	struct segment syn = segment_from(CLIENT, PORT, FLAG_SYN);

	apply(program, "challenge");
	syn.tcp.doff = 5;
	syn.ip.tot_len = htons(40);
	assert_int_equal(length_of(&syn), LENGTH_BARE);
	assert_int_equal(run(program, &syn), XDP_TX);
	assert_int_equal(syn.tcp.doff, 5);
	assert_int_equal(syn.ip.tot_len, htons(40));
}

static void a_prefix_gets_few_answers(void **state)
{
	struct program *program = *state;
	uint64_t answered = 0;

	apply(program, "challenge");
	for (int i = 0; i < 2000; i++) {
		struct segment syn = segment_from(NET(127, 9, 0, 0) + i % 256, PORT, FLAG_SYN);

		answered += run(program, &syn) == XDP_TX;
	}
	assert_int_equal(answered, PREFIX_MOST);
	assert_int_equal(packets_of(program, RF_CHALLENGED), PREFIX_MOST);
}

static void all_answers_together_are_limited(void **state)
{
	struct program *program = *state;
	uint64_t answered = 0;

	apply(program, "challenge answers 30/1s");
	for (int i = 0; i < 500; i++) {
		struct segment syn = segment_from(NET(127, 0, 1, 0) + i * 256, PORT, FLAG_SYN);

		answered += run(program, &syn) == XDP_TX;
	}
	assert_int_equal(answered, 30);
}

/* ---- connections ---- */

static void an_open_connection_passes_and_its_source_is_known(void **state)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET, .sin_port = htons(PORT), .sin_addr.s_addr = htonl(SERVER)};
	struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(CLIENT)};
	const int client = socket(AF_INET, SOCK_STREAM, 0);
	struct program *program = *state;
	socklen_t size = sizeof(from);
	struct segment ack;

	assert_int_equal(bind(client, (struct sockaddr *)&from, sizeof(from)), 0);
	assert_int_equal(connect(client, (struct sockaddr *)&to, sizeof(to)), 0);
	assert_int_equal(getsockname(client, (struct sockaddr *)&from, &size), 0);
	apply(program, "drop except established");
	ack = segment_from(CLIENT, PORT, FLAG_ACK);
	assert_int_equal(run(program, &ack), XDP_DROP); /* of another port: the listener */
	ack = segment_from(CLIENT, PORT, FLAG_ACK);
	ack.tcp.source = from.sin_port;
	assert_int_equal(run(program, &ack), XDP_PASS);
	assert_int_equal(packets_of(program, RF_ESTABLISHED), 1);
	assert_int_equal(burst(program, CLIENT, 50), 4);
	close(client);
}

static void without_challenge_no_syn_is_answered(void **state)
{
	struct program *program = *state;
	struct segment syn = segment_from(CLIENT, PORT, FLAG_SYN);

	apply(program, "drop except established");
	assert_int_equal(run(program, &syn), XDP_DROP);
	assert_int_equal(packets_of(program, RF_CHALLENGED), 0);
}

#define TEST(function) \
	cmocka_unit_test_setup_teardown(function, program_setup_at_start, program_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_syn_is_answered_by_a_cookie_that_proves_its_source),
		TEST(other_packets_are_dropped),
		TEST(a_frame_to_another_ethernet_address_is_not_answered),
		TEST(a_syn_without_options_is_answered_without),
		TEST(a_prefix_gets_few_answers),
		TEST(all_answers_together_are_limited),
		TEST(an_open_connection_passes_and_its_source_is_known),
		TEST(without_challenge_no_syn_is_answered),
	};

	return cmocka_run_group_tests(tests, open_namespace, close_namespace);
}
