/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Common to sender and receiver: the clock, memory, the values of options, addresses, packet
 * sockets.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "traffic.h"

uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_SEC + now.tv_nsec;
}

struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){.tv_sec = ns / NS_PER_SEC, .tv_nsec = ns % NS_PER_SEC};
}

void *allocate(void *old, size_t count, size_t size)
{
	void *array = reallocarray(old, count, size);

	if (!array)
		die(1, "memory: cannot allocate %zu x %zu bytes: %s", count, size, strerror(errno));
	return array;
}

uint64_t parse_number(const char *key, const char *text, uint64_t least, uint64_t most)
{
	uint64_t value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)*text) || errno || *end || value < least || value > most)
		die(2, "%s '%s': invalid number: must be %ju-%ju", key, text, (uintmax_t)least,
		    (uintmax_t)most);
	return value;
}

uint64_t parse_time(const char *key, const char *text)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = {{"ms", NS_PER_SEC / 1000}, {"s", NS_PER_SEC}, {"m", 60 * NS_PER_SEC}};
	size_t digits = strspn(text, "0123456789");

	/* eight digits of minutes, and a schedule behind them, still fit 64 bits of ns */
	for (size_t i = 0; digits >= 1 && digits <= 8 && i < ARRAY_SIZE(units); i++)
		if (!strcmp(text + digits, units[i].name))
			return strtoull(text, NULL, 10) * units[i].ns;
	die(2, "%s '%s': invalid time: give 500ms, 2s or 1m", key, text);
}

/* L/W */
struct max parse_max(const char *key, char *text)
{
	struct max max = {.count = parse_number(key, strsep(&text, "/"), 0, UINT64_MAX)};

	max.window_text = text ? text : "";
	max.window_ns = parse_time(key, max.window_text);
	return max;
}

struct address parse_address(const char *key, const char *text)
{
	struct address address = {.family = strchr(text, ':') ? AF_INET6 : AF_INET};

	if (inet_pton(address.family, text, address.bytes) != 1)
		die(2, "%s '%s': invalid address: not an IPv4 or IPv6 address", key, text);
	return address;
}

const char *address_text(const struct address *address)
{
	static char text[INET6_ADDRSTRLEN];

	return inet_ntop(address->family, address->bytes, text, sizeof(text));
}

/*
 * The nth source after @first: IPv4 counts addresses, IPv6 counts /64s; after the last one comes 0.
 */
struct address address_step(const struct address *first, uint64_t n)
{
	struct address address = *first;

	for (size_t at = first->family == AF_INET ? 4 : 8; at-- > 0; n >>= 8) {
		n += address.bytes[at];
		address.bytes[at] = n;
	}
	return address;
}

/* In host order; the upper half of an IPv6 address. */
uint64_t address_number(const struct address *address)
{
	uint64_t number = 0;

	for (size_t i = 0; i < (address->family == AF_INET ? 4 : 8); i++)
		number = number << 8 | address->bytes[i];
	return number;
}

/* A packet socket; with @protocol 0 it receives nothing. */
int socket_open(const char *dev, uint16_t protocol)
{
	struct sockaddr_ll link = {.sll_family = AF_PACKET,
				   .sll_protocol = htons(protocol),
				   .sll_ifindex = if_nametoindex(dev)};
	/* with a protocol here, frames of all interfaces would come in before bind() */
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);

	if (!link.sll_ifindex)
		die(1, "%s: cannot find interface: no such device", dev);
	if (fd < 0 || bind(fd, (struct sockaddr *)&link, sizeof(link)))
		die(1, "%s: cannot open packet socket: %s", dev, strerror(errno));
	return fd;
}
