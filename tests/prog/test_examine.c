// SPDX-License-Identifier: GPL-2.0
/*
 * TCP packets of newcomers over the newcomers rate: which SYNs get a cookie, the format of the
 * response, and which packets a cookie lets pass.
 *
 * A cookie expires after two minutes of the kernel's clock, which no test can advance. A listener
 * that has generated no cookie in that time rejects them all.
 */
#include "examine.h"

#include <stdio.h>
#include <time.h>

#include "bursts.h"
#include "tests/unit/unit.h"

#define PREFIX_MOST 256 /* responses to a /24 or /48 in a period: ringfence-rules(5) */
#define OTHER_PORT (PORT + 1)

static const struct client client = {1, 1};
static const struct headers tagged = {{{ETH, TAG_Q, IP4}, {ETH, TAG_Q, IP6}}};

/* ---- cookies ---- */

#define MSS "\2\4\5\264"
#define LINUX_OPTIONS MSS "\4\2\10\12\0\0\0\1\0\0\0\0\1\3\3\7"
#define OPTIONS(text) .option = text, .options = sizeof(text) - 1

static const struct segment syns[] = {
	{.name = "no options", .flags = SYN},
	{.name = "MSS 1460", .flags = SYN, OPTIONS(MSS)},
	{.name = "MSS 100", .flags = SYN, OPTIONS("\2\4\0\144")},
	{.name = "MSS 9000", .flags = SYN, OPTIONS("\2\4\43\50")},
	{.name = "the options of Linux", .flags = SYN, OPTIONS(LINUX_OPTIONS)},
	{.name = "40 bytes of options", .flags = SYN, OPTIONS(LINUX_OPTIONS LINUX_OPTIONS)},
	{.name = "a first option other than MSS", .flags = SYN, OPTIONS("\1\3\3\7" MSS)},
	{.name = "an option that is too long", .flags = SYN, OPTIONS(MSS "\3\377\0\0")},
	{.name = "data", .flags = SYN, OPTIONS(MSS), .data = 100},
	{.name = "a request for Fast Open", .flags = SYN, OPTIONS(MSS "\42\2\1\1")},
	{.name = "Fast Open, with data",
	 .flags = SYN,
	 OPTIONS(MSS "\42\12"
		     "12345678\1\1"),
	 .data = 33},
	{.name = "ECN", .flags = SYN | ECE_CWR, OPTIONS(MSS)},
	{.name = "Accurate ECN", .flags = SYN | ECE_CWR, .reserved = 1, OPTIONS(MSS)},
	{.name = "reserved bits", .flags = SYN, .reserved = 0xe, OPTIONS(MSS)},
	{.name = "PSH and URG", .flags = SYN | 0x28, OPTIONS(MSS)},
	{.name = "tagged", .headers = &tagged, .flags = SYN, OPTIONS(MSS)},
	{.name = "the last sequence number", .seq = 0xffffffff, .flags = SYN, OPTIONS(MSS)},
};

/* Of a SYN-ACK to a SYN of that row. */
static void assert_syn_ack(const struct segment *row, struct frame *frame)
{
	static const unsigned char none[40];
	const unsigned char *tcp = layer4_of(frame);

	assert_int_equal(frame_packet_end(frame), frame->ip_end + 20 + row->options);
	assert_int_equal(number32(tcp + 8), row->seq + 1);
	assert_int_equal(tcp[12], (5 + row->options / 4) << 4);
	assert_int_equal(tcp[13], SYN | ACK);
	assert_true(number16(tcp + 14) > 0);
	assert_int_equal(number16(tcp + 18), 0);
	if (!row->options)
		return;
	assert_int_equal(number16(tcp + 20), 0x0204);
	assert_in_range(number16(tcp + 22), 536, ip_version == 4 ? 1460 : 1440);
	assert_memory_equal(tcp + 24, none, row->options - 4);
}

static void a_syn_is_answered_by_a_cookie(void **state)
{
	struct program *program = *state;

	apply(program, "2/1s", "challenge");
	for (size_t i = 0; i < 2 * UNIT_ARRAY_SIZE(syns); i++) {
		const struct segment *row = &syns[i / 2];
		const struct frame question = segment_from(client, row);
		struct frame response = question;

		print_message("# %s\n", row->name);
		assert_int_equal(run(entry_of(program, i % 2), &response), XDP_TX);
		assert_response(&question, &response);
		assert_syn_ack(row, &response);
	}
	assert_int_equal(reason_of(program, RF_CHALLENGED), 2 * UNIT_ARRAY_SIZE(syns));
	assert_int_equal(program_counters(program).newcomers_admitted, 2);
}

static void a_syn_in_two_buffers_is_answered(void **state)
{
	static const struct segment rows[] = {
		{.headers = &tagged, .flags = SYN, OPTIONS(LINUX_OPTIONS), .data = 1},
		{.headers = &tagged, .flags = SYN},
	};
	struct program *program = *state;

	apply(program, "2/1s", "challenge");
	for (unsigned int i = 0; i < UNIT_ARRAY_SIZE(rows); i++) {
		const struct frame question = segment_from((struct client){i, 1}, &rows[i]);

		assert_equal_in_two_buffers(program, &question,
					    segment_from((struct client){10 + i, 2}, &rows[i]));
	}
}

/* The namespace of the tests has `lo` only, with an MTU of 65536. */
static void the_mss_fits_the_mtu(void **state)
{
	const struct segment syn = {.flags = SYN, OPTIONS(MSS)};
	struct frame response = segment_from(client, &syn);
	struct program *program = *state;

	apply(program, "2/1s", "challenge");
	assert_int_equal(system("ip link set lo mtu 1400"), 0);
	assert_int_equal(run(entry_of(program, 0), &response), XDP_TX);
	assert_int_equal(system("ip link set lo mtu 65536"), 0);
	assert_int_equal(number16(layer4_of(&response) + 22), ip_version == 4 ? 1360 : 1340);
}

/* Each from a different source. */
static void each_of_these_cookies_proves_its_source(void **state)
{
	struct program *program = *state;
	struct frame response;

	apply(program, "30/1s", "challenge");
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(syns); i++) {
		const struct client one = {2, i};
		struct segment ack = {.flags = ACK};

		response = segment_from(one, &syns[i]);
		assert_int_equal(run(entry_of(program, 0), &response), XDP_TX);
		ack.seq = number32(layer4_of(&response) + 8);
		ack.ack_seq = number32(layer4_of(&response) + 4) + 1;
		ack.data = i;
		assert_int_equal(run_segment(program, one, &ack), XDP_PASS);
	}
	assert_int_equal(reason_of(program, RF_PROVEN), UNIT_ARRAY_SIZE(syns));
}

static void a_cookie_is_of_its_source_and_ports(void **state)
{
	const struct sockaddr_storage at = server_address(OTHER_PORT);
	const int other = listen_at(&at, 10);
	struct program *program = *state;
	uint32_t cookie;

	apply(program, "5/1s", "challenge");
	request_cookie(program, (struct client){2, 1}, OTHER_PORT);
	cookie = request_cookie(program, client, PORT);
	const struct segment wrong[] = {
		/* A difference below 4 could only change the MSS. */
		{.flags = ACK, .seq = 1, .ack_seq = cookie + 5},
		{.flags = ACK, .seq = 5, .ack_seq = cookie + 1},
		{.flags = ACK, .seq = 1, .ack_seq = ~cookie},
		{.flags = ACK, .seq = 1, .ack_seq = cookie + 1, .sport = 1},
		{.flags = ACK, .seq = 1, .ack_seq = cookie + 1, .dport = OTHER_PORT},
		{.flags = ACK | SYN, .seq = 1, .ack_seq = cookie + 1},
		{.flags = ACK | FLAG_RST, .seq = 1, .ack_seq = cookie + 1},
	};

	for (size_t i = 0; i < UNIT_ARRAY_SIZE(wrong); i++)
		assert_int_equal(run_segment(program, client, &wrong[i]), XDP_DROP);
	for (unsigned int i = 2; i < 256; i++)
		assert_int_equal(prove(program, (struct client){1, i}, PORT, cookie), XDP_DROP);
	assert_int_equal(prove(program, client, PORT, cookie), XDP_PASS);
	assert_int_equal(reason_of(program, RF_PROVEN), 1);
	close(other);
}

/*
 * The last cookie of a new listener has the time 0 of the kernel's jiffies, which is five minutes
 * after boot.
 */
static void await_other_jiffies(void)
{
	struct timespec now;

	do {
		usleep(10000);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec > 297 && now.tv_sec < 422);
}

static void a_listener_without_recent_cookies_accepts_none(void **state)
{
	const struct sockaddr_storage at = server_address(OTHER_PORT);
	struct program *program = *state;
	int other = listen_at(&at, 10);
	uint32_t cookie;

	await_other_jiffies();
	apply(program, "5/1s", "challenge");
	cookie = request_cookie(program, client, OTHER_PORT);
	close(other);
	assert_int_equal(prove(program, client, OTHER_PORT, cookie), XDP_DROP);
	other = listen_at(&at, 10);
	assert_int_equal(prove(program, client, OTHER_PORT, cookie), XDP_DROP);
	request_cookie(program, client, OTHER_PORT);
	assert_int_equal(prove(program, client, OTHER_PORT, cookie), XDP_PASS);
	close(other);
}

static void a_replayed_cookie_creates_one_window(void **state)
{
	struct program *program = *state;
	uint32_t cookie;
	int passed = 0;

	apply(program, "5/1s", "challenge");
	cookie = request_cookie(program, client, PORT);
	for (int i = 0; i < 100; i++)
		passed += prove(program, client, PORT, cookie) == XDP_PASS;
	assert_int_equal(passed, 5); /* by the limit */
	assert_int_equal(reason_of(program, RF_PROVEN), 1);
	/* The guard has admitted 5, of IPv4. */
	assert_int_equal(program_counters(program).inserts[ip_version == 6],
			 ip_version == 4 ? 5 + 1 : 1);
}

/* The rate counts twice: for the guard, and for proofs and connections together. */
static void proofs_over_the_rate_are_dropped(void **state)
{
	struct program *program = *state;
	uint32_t cookie[10];
	int passed = 0;

	apply(program, "4/1s", "challenge");
	for (unsigned int i = 0; i < 10; i++)
		cookie[i] = request_cookie(program, (struct client){i, 1}, PORT);
	for (unsigned int i = 0; i < 10; i++)
		passed += prove(program, (struct client){i, 1}, PORT, cookie[i]) == XDP_PASS;
	assert_int_equal(passed, 4);
	assert_int_equal(reason_of(program, RF_PROVEN), 4);
	assert_int_equal(reason_of(program, RF_NEWCOMER_DROP), 996 + 6);
	assert_int_equal(program_counters(program).newcomers_admitted, 8);
	program_set_time(program, START_NS + 2 * NS_PER_S);
	assert_int_equal(each_of(program, NET(11, 1, 0, 0), 1000), 4);
	for (unsigned int i = 4; i < 10; i++)
		passed += prove(program, (struct client){i, 1}, PORT, cookie[i]) == XDP_PASS;
	assert_int_equal(passed, 8);
}

/* Two fences with the same rule evaluate the guard before the lists and after them. */
static void other_rules_do_not_change_challenges(void **state)
{
	static const char *const others[] = {
		"allow add 192.0.2.1\nallow add 2001:db8::1\n",
		"limit add tcp rate 100/1s match tcp\n",
		"limit add shadow rate 100/1s match tcp shadow\n",
		"limit add bytes rate 1M/1s bytes\nlimit add syn rate 100/1s match tcp syn\n",
	};
	struct program *program = *state;

	for (unsigned int i = 0; i < UNIT_ARRAY_SIZE(others); i++) {
		const struct client one = {i, i};
		char rules[200];

		print_message("# rules %d\n", i);
		snprintf(rules, sizeof(rules),
			 "%snewcomers rate 3/1s then challenge\nlimit add any rate 5/10s\n",
			 others[i]);
		program_set_time(program, START_NS + 10 * i * NS_PER_S);
		apply_rules(program, rules);
		each_of(program, NET(11, i, 0, 0), 1000);
		assert_int_equal(prove(program, one, PORT, request_cookie(program, one, PORT)),
				 XDP_PASS);
		assert_int_equal(reason_of(program, RF_PROVEN), i + 1);
	}
}

static void listeners_that_share_a_port_accept_their_cookies(void **state)
{
	const struct sockaddr_storage at = server_address(OTHER_PORT);
	struct program *program = *state;
	int group[4];

	for (size_t i = 0; i < UNIT_ARRAY_SIZE(group); i++)
		group[i] = listen_at(&at, 10);
	apply(program, "100/1s", "challenge");
	for (unsigned int i = 0; i < 100; i++) {
		const struct client one = {i, i};
		const uint32_t cookie = request_cookie(program, one, OTHER_PORT);

		assert_int_equal(prove(program, one, OTHER_PORT, cookie), XDP_PASS);
	}
	assert_int_equal(reason_of(program, RF_PROVEN), 100);
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(group); i++)
		close(group[i]);
}

/* ---- not answered ---- */

static const struct headers fragment = {{{ETH, IP4_FRAGMENT(0x2000)}, {ETH, IP6, FRAGMENT(1)}}};
static const struct headers later_fragment = {
	{{ETH, IP4_FRAGMENT(0x2008)}, {ETH, IP6, FRAGMENT(0x41)}}};
static const struct headers with_options = {{{ETH, IP4_IHL(6)}, {ETH, IP6, HOP}}};

static const struct segment dropped[] = {
	{.name = "a SYN to a port without a listener", .dport = PORT + 2, .flags = SYN},
	{.name = "an ACK to a listener", .flags = ACK},
	{.name = "an ACK to a port without a listener", .dport = PORT + 2, .flags = ACK},
	{.name = "RST to a listener", .flags = FLAG_RST},
	{.name = "RST to a port without a listener", .dport = PORT + 2, .flags = FLAG_RST},
	{.name = "SYN and RST", .flags = SYN | FLAG_RST},
	{.name = "SYN and FIN", .flags = SYN | FIN},
	{.name = "SYN and ACK", .flags = SYN | ACK},
	{.name = "FIN", .flags = FIN},
	{.name = "no flags"},
	{.name = "a fragment", .headers = &fragment, .flags = SYN},
	{.name = "a later fragment", .headers = &later_fragment, .flags = SYN},
	{.name = "IP options or extension headers", .headers = &with_options, .flags = SYN},
	{.name = "a data offset of 4", .flags = SYN, .doff = 4},
	{.name = "a data offset of 1", .flags = SYN, .doff = 1},
	{.name = "a data offset beyond the packet", .flags = SYN, .doff = 6},
	{.name = "options cut off", .flags = SYN, OPTIONS(LINUX_OPTIONS), .trim = 1},
	{.name = "header cut off", .flags = SYN, .trim = 1},
	{.name = "header cut off before the flags", .flags = SYN, .trim = 8},
};

static void other_packets_are_dropped(void **state)
{
	struct program *program = *state;

	apply(program, "2/1s", "challenge");
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(dropped); i++)
		assert_dropped(program, client, &dropped[i]);
	assert_int_equal(reason_of(program, RF_CHALLENGED), 0);
	assert_int_equal(reason_of(program, RF_NEWCOMER_DROP), 998 + 2 * UNIT_ARRAY_SIZE(dropped));
}

static void a_frame_to_another_ethernet_address_is_not_answered(void **state)
{
	const struct segment syn = {.flags = SYN};
	struct program *program = *state;

	apply(program, "2/1s", "challenge");
	for (size_t i = 0; i < 8 * ETH_ALEN; i++) {
		struct frame frame = segment_from(client, &syn);

		frame.bytes[i / 8] ^= 1 << i % 8;
		assert_int_equal(run(entry_of(program, 0), &frame), XDP_DROP);
	}
	assert_int_equal(reason_of(program, RF_CHALLENGED), 0);
}

static void an_address_of_no_host_gets_no_response(void **state)
{
	static const char *const sources[][2] = {{"0.0.0.0", "::"},
						 {"0.1.2.3", "::ffff:192.0.2.1"},
						 {"224.0.0.1", "ff02::1"},
						 {"239.255.255.255", "ff0e::1"},
						 {"255.255.255.255", "ff00::"}};
	struct program *program = *state;

	apply(program, "2/1s", "challenge");
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(sources); i++) {
		struct frame frame = segment_from(client, &(struct segment){.flags = SYN});
		unsigned char address[16] = {};

		assert_int_equal(inet_pton(ip_version == 6 ? AF_INET6 : AF_INET,
					   sources[i][ip_version == 6], address),
				 1);
		frame_set_source(&frame, address);
		if (run(entry_of(program, 0), &frame) != XDP_DROP)
			fail_msg("a response to %s", sources[i][ip_version == 6]);
	}
	assert_int_equal(reason_of(program, RF_CHALLENGED), 0);
}

/* As if all windows were evicted. */
static void evict_all(struct program *program)
{
	const struct ringfence_bpf *object = program->object;
	struct rf_known_filter none = {};
	struct rf_key4 key4;
	struct rf_key6 key6;

	while (!bpf_map_get_next_key(bpf_map__fd(object->maps.windows4), NULL, &key4))
		assert_int_equal(bpf_map_delete_elem(bpf_map__fd(object->maps.windows4), &key4), 0);
	while (!bpf_map_get_next_key(bpf_map__fd(object->maps.windows6), NULL, &key6))
		assert_int_equal(bpf_map_delete_elem(bpf_map__fd(object->maps.windows6), &key6), 0);
	for (uint32_t i = 0; i < bpf_map__max_entries(object->maps.known_filter); i++)
		assert_int_equal(
			bpf_map_update_elem(bpf_map__fd(object->maps.known_filter), &i, &none, 0),
			0);
}

static void a_banned_source_gets_no_response(void **state)
{
	struct program *program = *state;

	apply_rules(program,
		    "limit add any rate 5/10s ban 1h\nnewcomers rate 2/1s then challenge\n");
	for (int i = 0; i < 20; i++)
		run_segment(program, client, &(struct segment){.flags = ACK});
	assert_true(reason_of(program, RF_BANNED) > 0);
	evict_all(program);
	program_set_time(program, START_NS + 20 * NS_PER_S);
	each_of(program, NET(11, 1, 0, 0), 1000);
	assert_int_equal(run_segment(program, client, &(struct segment){.flags = SYN}), XDP_DROP);
}

static void a_frame_from_a_group_gets_no_response(void **state)
{
	struct program *program = *state;
	struct frame frame = segment_from(client, &(struct segment){.flags = SYN});

	apply(program, "2/1s", "challenge");
	memset(frame.bytes + ETH_ALEN, 0xff, ETH_ALEN);
	assert_int_equal(run(entry_of(program, 0), &frame), XDP_DROP);
}

/* ---- an interface that forwards packets ---- */

static void set_forwarding(const char *on)
{
	write_file(ip_version == 4 ? "/proc/sys/net/ipv4/conf/lo/forwarding"
				   : "/proc/sys/net/ipv6/conf/lo/forwarding",
		   on);
}

#define HOST_MAC "\2\0\0\0\0\1"

static const struct route_row {
	const char *name;
	const char *mac;
	const char *destination[2];
	unsigned int verdict;
} routes[] = {
	{"local", HOST_MAC, {"192.0.2.1", "fd08::1"}, XDP_TX},
	{"local, to the Ethernet address of another host",
	 "\2\0\0\0\0\2",
	 {"192.0.2.1", "fd08::1"},
	 XDP_DROP},
	{"routed", HOST_MAC, {"203.0.113.9", "2001:db8::9"}, XDP_DROP},
	{"unreachable", HOST_MAC, {"198.51.100.9", "2001:db9::9"}, XDP_DROP},
	{"broadcast", "\377\377\377\377\377\377", {"203.0.113.255", "ff02::1"}, XDP_DROP},
	{"multicast", "\x33\x33\0\0\0\xfb", {"224.0.0.251", "ff02::fb"}, XDP_DROP},
};

static void where_packets_are_forwarded_the_routes_decide(void **state)
{
	const bool is_ipv6 = ip_version == 6;
	struct program *program = *state;

	apply(program, "2/1s", "challenge");
	set_forwarding("1");
	for (size_t i = 0; i < UNIT_ARRAY_SIZE(routes); i++) {
		struct frame frame = segment_from(client, &(struct segment){.flags = SYN});
		unsigned char address[16] = {};

		memcpy(frame.bytes, routes[i].mac, ETH_ALEN);
		assert_int_equal(inet_pton(is_ipv6 ? AF_INET6 : AF_INET,
					   routes[i].destination[is_ipv6], address),
				 1);
		frame_set_destination(&frame, address);
		if (run(entry_of(program, 0), &frame) != (int)routes[i].verdict)
			fail_msg("another verdict: %s", routes[i].name);
	}
	set_forwarding("0");
}

/* ---- how many ---- */

static void a_prefix_gets_few_answers(void **state)
{
	const struct segment syn = {.flags = SYN};
	struct program *program = *state;
	uint64_t answered = 0;

	apply(program, "2/1s", "challenge");
	for (unsigned int i = 0; i < 2000; i++)
		answered += run_segment(program, (struct client){1, i % 256}, &syn) == XDP_TX;
	assert_int_equal(answered, PREFIX_MOST);
	assert_int_equal(reason_of(program, RF_CHALLENGED), PREFIX_MOST);
	assert_int_equal(run_segment(program, (struct client){2, 1}, &syn), XDP_TX);
	program_set_time(program, START_NS + 4 * NS_PER_S);
	assert_int_equal(each_of(program, NET(11, 1, 0, 0), 1000), 2);
	assert_int_equal(run_segment(program, client, &syn), XDP_TX);
}

static void all_answers_together_are_limited(void **state)
{
	const struct segment syn = {.flags = SYN};
	struct program *program = *state;
	uint64_t answered = 0;

	apply(program, "2/1s", "challenge answers 30/1s");
	for (unsigned int i = 0; i < 500; i++)
		answered += run_segment(program, (struct client){i, 1}, &syn) == XDP_TX;
	assert_int_equal(answered, 30);
}

static int answers_from(struct program *program, unsigned int network, int frames)
{
	int answered = 0;

	for (int i = 0; i < frames; i++)
		answered += run_segment(program, (struct client){network + i, 1},
					&(struct segment){.flags = SYN}) == XDP_TX;
	return answered;
}

/* The rate of answers is the same in both rules. */
/* Shorter than a TCP header, by its data offset or by the length of the packet. */
static void short_syns_use_up_no_answers(void **state)
{
	struct program *program = *state;
	struct frame frame;

	apply(program, "2/1s", "challenge answers 30/1h");
	for (unsigned int i = 0; i < 100; i++) {
		const struct client one = {1 + i, 1};

		frame = segment_from(one, &(struct segment){.flags = SYN});
		layer4_of(&frame)[12] = i % 5 << 4;
		assert_int_equal(run(entry_of(program, 0), &frame), XDP_DROP);
		frame = segment_from(one, &(struct segment){.flags = SYN});
		frame_pad(&frame, 6);
		frame_set_length(&frame, i % 20 + (ip_version == 4 ? 20 : 0));
		assert_int_equal(run(entry_of(program, 0), &frame), XDP_DROP);
	}
	for (unsigned int i = 0; i < 30; i++) {
		frame = segment_from((struct client){1 + i, 1}, &(struct segment){.flags = SYN});
		assert_int_equal(run(entry_of(program, 0), &frame), XDP_TX);
	}
}

static void a_change_of_rules_allows_no_further_answers(void **state)
{
	struct program *program = *state;
	int answered;

	apply(program, "2/1s", "challenge answers 30/1h");
	answered = answers_from(program, 1, 100);
	assert_int_equal(answered, 30);
	apply(program, "3/1s", "challenge answers 30/1h");
	answered += answers_from(program, 1000, 100);
	assert_int_equal(answered, 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_BOTH(a_syn_is_answered_by_a_cookie),
		TEST_BOTH(a_syn_in_two_buffers_is_answered),
		TEST_BOTH(the_mss_fits_the_mtu),
		TEST_BOTH(each_of_these_cookies_proves_its_source),
		TEST_BOTH(a_cookie_is_of_its_source_and_ports),
		TEST_BOTH(a_listener_without_recent_cookies_accepts_none),
		TEST_BOTH(a_replayed_cookie_creates_one_window),
		TEST_BOTH(proofs_over_the_rate_are_dropped),
		TEST_BOTH(other_rules_do_not_change_challenges),
		TEST_BOTH(listeners_that_share_a_port_accept_their_cookies),
		TEST_BOTH(other_packets_are_dropped),
		TEST_BOTH(a_frame_to_another_ethernet_address_is_not_answered),
		TEST_BOTH(an_address_of_no_host_gets_no_response),
		TEST_BOTH(a_banned_source_gets_no_response),
		TEST_BOTH(a_frame_from_a_group_gets_no_response),
		TEST_BOTH(where_packets_are_forwarded_the_routes_decide),
		TEST_BOTH(a_prefix_gets_few_answers),
		TEST_BOTH(all_answers_together_are_limited),
		TEST_BOTH(short_syns_use_up_no_answers),
		TEST_BOTH(a_change_of_rules_allows_no_further_answers),
	};

	return cmocka_run_group_tests(tests, open_namespace, NULL);
}
