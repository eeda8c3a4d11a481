// SPDX-License-Identifier: GPL-2.0
#include "examine.h"

#include <fcntl.h>
#include <stdio.h>

#include "bursts.h"
#include "linear.h"

#define SERVER_MAC "\2\0\0\0\0\1" /* as frame_ethernet */

int ip_version;
static int listener[2]; /* of IPv4 and IPv6 */

static const struct headers plain = {{{ETH, IP4}, {ETH, IP6}}};

/* ---- addresses ---- */

static struct sockaddr_storage address_from(const char *text, uint16_t port)
{
	struct sockaddr_storage address = {};
	struct sockaddr_in *in = (struct sockaddr_in *)&address;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&address;

	address.ss_family = ip_version == 4 ? AF_INET : AF_INET6;
	if (ip_version == 4)
		in->sin_port = htons(port);
	else
		in6->sin6_port = htons(port);
	assert_int_equal(
		inet_pton(address.ss_family, text,
			  ip_version == 4 ? (void *)&in->sin_addr : (void *)&in6->sin6_addr),
		1);
	return address;
}

struct sockaddr_storage address_of(struct client client, uint16_t port)
{
	char text[INET6_ADDRSTRLEN];

	if (ip_version == 4)
		snprintf(text, sizeof(text), "197.%u.%u.%u", 16 + client.network / 256 % 128,
			 client.network % 256, client.host % 256);
	else
		snprintf(text, sizeof(text), "fd09:0:%x:%x::1", client.network & 0xffff,
			 client.host & 0xffff);
	return address_from(text, port);
}

struct sockaddr_storage server_address(uint16_t port)
{
	return address_from(ip_version == 4 ? "192.0.2.1" : "fd08::1", port);
}

static const unsigned char *bytes_of(const struct sockaddr_storage *address)
{
	return address->ss_family == AF_INET
		       ? (const void *)&((const struct sockaddr_in *)address)->sin_addr
		       : (const void *)&((const struct sockaddr_in6 *)address)->sin6_addr;
}

/* ---- frames ---- */

uint16_t number16(const unsigned char *at)
{
	return at[0] << 8 | at[1];
}

uint32_t number32(const unsigned char *at)
{
	return (uint32_t)number16(at) << 16 | number16(at + 2);
}

static void set16(unsigned char *at, uint16_t value)
{
	at[0] = value >> 8;
	at[1] = value;
}

static void set32(unsigned char *at, uint32_t value)
{
	set16(at, value >> 16);
	set16(at + 2, value);
}

unsigned char *layer4_of(struct frame *frame)
{
	return frame->bytes + frame->ip_end;
}

static void add_headers(struct frame *frame, const struct headers *headers, struct client client)
{
	const struct sockaddr_storage source = address_of(client, 0), server = server_address(0);
	unsigned char address[16] = {};
	const size_t size = ip_version == 4 ? 4 : 16;

	frame_build(frame, (headers ? headers : &plain)->part[ip_version == 6]);
	memcpy(address, bytes_of(&source), size);
	frame_set_source(frame, address);
	memcpy(address, bytes_of(&server), size);
	frame_set_destination(frame, address);
}

struct frame segment_from(struct client client, const struct segment *segment)
{
	struct frame frame;
	unsigned char *tcp;

	add_headers(&frame, segment->headers, client);
	tcp = frame.bytes + frame.length;
	frame_tcp(&frame, segment->dport ? segment->dport : PORT, segment->flags);
	if (segment->sport)
		set16(tcp, segment->sport);
	set32(tcp + 4, segment->seq);
	set32(tcp + 8, segment->ack_seq);
	tcp[12] =
		(segment->doff ? segment->doff : 5 + segment->options / 4) << 4 | segment->reserved;
	if (segment->options)
		memcpy(frame_grow(&frame, segment->options), segment->option, segment->options);
	frame_grow(&frame, segment->data);
	frame_trim(&frame, segment->trim);
	return frame;
}

struct frame datagram_from(struct client client, const struct datagram *datagram)
{
	struct frame frame;
	unsigned char *udp, *message;

	add_headers(&frame, datagram->headers, client);
	udp = frame.bytes + frame.length;
	frame_udp(&frame, datagram->dport ? datagram->dport : 53);
	message = frame_grow(&frame, datagram->length);
	memcpy(message, datagram->message, datagram->length);
	message[2] |= datagram->flags;
	set16(udp + 4, 8 + datagram->length + datagram->longer);
	frame_trim(&frame, datagram->trim);
	return frame;
}

/* ---- checksums ---- */

static uint32_t sum_of(uint32_t sum, const unsigned char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		sum += i % 2 ? bytes[i] : bytes[i] << 8;
	return sum;
}

static void assert_sum(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	assert_int_equal(sum, 0xffff);
}

/* ---- the program ---- */

static int run_in(const struct bpf_program *entry, struct frame *frame, struct xdp_md *ctx)
{
	struct frame left = *frame;
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame->bytes,
		    .data_size_in = frame->length, .data_out = left.bytes,
		    .data_size_out = sizeof(left.bytes), .ctx_in = ctx,
		    .ctx_size_in = ctx ? sizeof(*ctx) : 0, .repeat = 1);

	assert_int_equal(bpf_prog_test_run_opts(bpf_program__fd(entry), &options), 0);
	left.length = options.data_size_out;
	*frame = left;
	return options.retval;
}

int run(const struct bpf_program *entry, struct frame *frame)
{
	return run_in(entry, frame, NULL);
}

void assert_equal_in_two_buffers(struct program *program, const struct frame *question,
				 struct frame other)
{
	struct frame expected = *question;

	if (!kernel_takes_linear(program))
		skip();
	other.bytes[2 * ETH_ALEN - 1] ^= 1;
	assert_int_equal(run(entry_of(program, 1), &expected), XDP_TX);
	for (size_t linear = 0; linear < question->length; linear++) {
		struct xdp_md ctx = {.data_end = linear};
		struct frame response = other;

		assert_int_equal(run(entry_of(program, 1), &response), XDP_TX);
		response = *question;
		if (run_in(entry_of(program, 1), &response, &ctx) != XDP_TX)
			fail_msg("no response with %zu linear bytes", linear);
		assert_int_equal(response.length, expected.length);
		assert_memory_equal(response.bytes, expected.bytes, expected.length);
	}
}

const struct bpf_program *entry_of(const struct program *program, int which)
{
	return which ? program->object->progs.ringfence_frags : program->object->progs.ringfence;
}

int run_segment(struct program *program, struct client client, const struct segment *segment)
{
	struct frame frame = segment_from(client, segment);

	return run(entry_of(program, 0), &frame);
}

void assert_dropped(struct program *program, struct client client, const struct segment *segment)
{
	for (int i = 0; i < 2; i++) {
		struct frame frame = segment_from(client, segment);

		if (run(entry_of(program, i), &frame) != XDP_DROP)
			fail_msg("not dropped: %s", segment->name);
	}
}

/* The IP header; returns the length of layer 4. */
static size_t assert_ip(const struct frame *question, const struct frame *response)
{
	const size_t size = ip_version == 4 ? 4 : 16, source = ip_version == 4 ? 12 : 8;
	const unsigned char *asked = question->bytes + question->ip_at;
	const unsigned char *ip = response->bytes + response->ip_at;

	assert_memory_equal(ip + source, asked + source + size, size);
	assert_memory_equal(ip + source + size, asked + source, size);
	assert_int_equal(ip[ip_version == 4 ? 8 : 7], 64); /* TTL, or hop limit */
	assert_int_equal(ip[ip_version == 4 ? 9 : 6], asked[ip_version == 4 ? 9 : 6]);
	assert_true(frame_packet_end(response) <= frame_packet_end(question));
	if (ip_version == 6) {
		assert_int_equal(number32(ip), 0x60000000);
		return number16(ip + 4);
	}
	assert_int_equal(number16(ip), 0x4500);
	assert_int_equal(number16(ip + 6), 0x4000);
	assert_sum(sum_of(0, ip, 20));
	return number16(ip + 2) - 20;
}

void assert_response(const struct frame *question, const struct frame *response)
{
	const unsigned char *asked = question->bytes + question->ip_end;
	const unsigned char *layer4 = response->bytes + response->ip_end;
	const unsigned char *ip = response->bytes + response->ip_at;
	const size_t length = assert_ip(question, response);
	const uint8_t protocol = ip[ip_version == 4 ? 9 : 6];

	assert_int_equal(response->length, question->length);
	assert_memory_equal(response->bytes, question->bytes + ETH_ALEN, ETH_ALEN);
	assert_memory_equal(response->bytes + ETH_ALEN, question->bytes, ETH_ALEN);
	assert_memory_equal(response->bytes + 12, question->bytes + 12, question->ip_at - 12);
	assert_memory_equal(layer4, asked + 2, 2); /* ports */
	assert_memory_equal(layer4 + 2, asked, 2);
	assert_sum(sum_of(sum_of(protocol + length, layer4, length),
			  ip + (ip_version == 4 ? 12 : 8), ip_version == 4 ? 8 : 32));
}

void apply_rules(struct program *program, const char *rules)
{
	program_apply(program, rules);
	program->config->own_mac[0] = 0;
	program->config->own_macs = 1;
	memcpy(&program->config->own_mac[0], SERVER_MAC, ETH_ALEN);
}

void apply(struct program *program, const char *rate, const char *then)
{
	static uint8_t floods; /* each from different sources */
	char rules[300];

	snprintf(rules, sizeof(rules), "limit add any rate 5/10s\nnewcomers rate %s then %s\n",
		 rate, then);
	apply_rules(program, rules);
	assert_int_equal(each_of(program, NET(10, ++floods, 0, 0), 1000), atoi(rate));
}

uint32_t request_cookie(struct program *program, struct client client, uint16_t port)
{
	const struct segment syn = {
		.dport = port, .flags = SYN, .option = "\2\4\5\264", .options = 4};
	const struct frame question = segment_from(client, &syn);
	struct frame response = question;

	assert_int_equal(run(entry_of(program, 0), &response), XDP_TX);
	assert_response(&question, &response);
	return number32(layer4_of(&response) + 4);
}

int prove(struct program *program, struct client client, uint16_t port, uint32_t cookie)
{
	return run_segment(
		program, client,
		&(struct segment){.dport = port, .flags = ACK, .seq = 1, .ack_seq = cookie + 1});
}

/* ---- setup ---- */

int bind_socket(int type, const struct sockaddr_storage *address)
{
	const int handle = socket(address->ss_family, type, 0), on = 1;
	const socklen_t size = address->ss_family == AF_INET ? sizeof(struct sockaddr_in)
							     : sizeof(struct sockaddr_in6);

	assert_true(handle >= 0);
	assert_int_equal(setsockopt(handle, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)), 0);
	assert_int_equal(setsockopt(handle, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)), 0);
	assert_int_equal(setsockopt(handle, SOL_IP, IP_FREEBIND, &on, sizeof(on)), 0);
	if (address->ss_family == AF_INET6)
		assert_int_equal(setsockopt(handle, SOL_IPV6, IPV6_V6ONLY, &on, sizeof(on)), 0);
	assert_int_equal(bind(handle, (const struct sockaddr *)address, size), 0);
	return handle;
}

int listen_at(const struct sockaddr_storage *address, int backlog)
{
	const int listener = bind_socket(SOCK_STREAM, address);

	assert_int_equal(listen(listener, backlog), 0);
	return listener;
}

void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

int open_namespace(void **state)
{
	(void)state;
	assert_int_equal(unshare(CLONE_NEWNET), 0);
	assert_int_equal(system("ip link set lo up && ip addr add fd08::1/128 dev lo nodad && "
				"ip addr add 192.0.2.1/32 dev lo && "
				"ip route add local 197.0.0.0/8 dev lo && "
				"ip -6 route add local fd09::/32 dev lo && "
				"ip route add 203.0.113.0/24 dev lo && "
				"ip route add unreachable 198.51.100.0/24 && "
				"ip -6 route add 2001:db8::/32 dev lo && "
				"ip -6 route add unreachable 2001:db9::/32"),
			 0);
	write_file("/proc/sys/net/ipv4/tcp_syncookies", "2");
	for (ip_version = 4; ip_version <= 6; ip_version += 2) {
		const struct sockaddr_storage any =
			address_from(ip_version == 4 ? "0.0.0.0" : "::", PORT);

		listener[ip_version == 6] = listen_at(&any, 10);
	}
	return 0;
}

int listener_of_version(void)
{
	return listener[ip_version == 6];
}

static int setup(void **state, int version)
{
	ip_version = version;
	program_run_on(0);
	program_setup_both(state);
	program_set_time(*state, START_NS);
	return 0;
}

int setup_ipv4(void **state)
{
	return setup(state, 4);
}

int setup_ipv6(void **state)
{
	return setup(state, 6);
}
