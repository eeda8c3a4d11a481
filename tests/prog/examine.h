/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tests of newcomers that are examined: frames for sockets of the kernel, in a network namespace of
 * the test program, and the checks of responses. Each test runs once for each IP version.
 */
#ifndef RINGFENCE_TESTS_EXAMINE_H
#define RINGFENCE_TESTS_EXAMINE_H

#include <stdbool.h>
#include <sys/socket.h>

#include "program.h"
#include "tests/frame_parts.h"

#define PORT 8080 /* of the listener */

#define FLAG_RST 0x04

extern int ip_version; /* of the running test */

/* ---- addresses ---- */

/* A source: the number of its /24 or /48, and its number in it. */
struct client {
	unsigned int network, host;
};

struct sockaddr_storage address_of(struct client client, uint16_t port);
struct sockaddr_storage server_address(uint16_t port);

/* ---- frames ---- */

/* From the Ethernet header to the last header before layer 4, of IPv4 and of IPv6. */
struct headers {
	struct frame_part part[2][5];
};

/* A TCP segment; 0: the usual value. */
struct segment {
	const char *name;
	const struct headers *headers;
	uint16_t sport, dport;
	uint32_t seq, ack_seq;
	uint8_t flags;
	uint8_t reserved; /* bits of the byte with the data offset */
	uint8_t doff;	  /* instead of the real one */
	const char *option;
	size_t options, data; /* their lengths */
	size_t trim;	      /* bytes that the frame lacks at its end */
};

struct frame segment_from(struct client client, const struct segment *segment);

/* A UDP datagram to port 53; 0: the usual value. */
struct datagram {
	const char *name;
	const struct headers *headers;
	uint16_t dport;
	const char *message;
	size_t length;
	uint8_t flags; /* added to the third byte of the message */
	int longer;    /* the difference of the length in the UDP header */
	size_t trim;   /* bytes that the frame lacks at its end */
};

struct frame datagram_from(struct client client, const struct datagram *datagram);

/* The header of layer 4, of a frame without options and extension headers. */
unsigned char *layer4_of(struct frame *frame);

uint16_t number16(const unsigned char *at);
uint32_t number32(const unsigned char *at);

/* ---- the program ---- */

/* Runs the frame, and stores it as the program leaves it. Returns the verdict. */
int run(const struct bpf_program *entry, struct frame *frame);
const struct bpf_program *entry_of(const struct program *program, int which); /* 0 or 1 */
/*
 * Is the response the same if only the first bytes of the frame are linear, however many? `other`
 * is a frame of another client that gets a response as well, in between.
 */
void assert_equal_in_two_buffers(struct program *program, const struct frame *question,
				 struct frame other);

int run_segment(struct program *program, struct client client, const struct segment *segment);

/* By both entries. */
void assert_dropped(struct program *program, struct client client, const struct segment *segment);

/* Is `response` from the frame's destination to its source, valid, and not longer? */
void assert_response(const struct frame *question, const struct frame *response);

/* Rules on a host with the Ethernet address of the frames; whose newcomers rate is used up. */
void apply_rules(struct program *program, const char *rules);
void apply(struct program *program, const char *rate, const char *then);

/* The cookie that a client receives upon a SYN, and the verdict for the ACK with a cookie. */
uint32_t request_cookie(struct program *program, struct client client, uint16_t port);
int prove(struct program *program, struct client client, uint16_t port, uint32_t cookie);

/* ---- setup ---- */

/* A socket that is bound there; several sockets can share an address and port. */
int bind_socket(int type, const struct sockaddr_storage *address);
int listen_at(const struct sockaddr_storage *address, int backlog);
void write_file(const char *path, const char *text);

/* A namespace with tcp_syncookies=2 and a listener for each IP version. */
int open_namespace(void **state);
int listener_of_version(void);

/* Programs with both entries. */
int setup_ipv4(void **state);
int setup_ipv6(void **state);

/* clang-format off */
#define TEST_BOTH(function) \
	{#function " (IPv4)", function, setup_ipv4, program_teardown, NULL}, \
	{#function " (IPv6)", function, setup_ipv6, program_teardown, NULL}
/* clang-format on */

#endif /* RINGFENCE_TESTS_EXAMINE_H */
