/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Turns a DNS query into a response without records and with TC set (RFC 1035, RFC 2181 section 9),
 * upon which the client repeats the query over TCP. The response has the question and, for a query
 * with EDNS (RFC 6891), a minimal OPT. It is never longer than the query.
 */
#ifndef RINGFENCE_DNS_H
#define RINGFENCE_DNS_H

#include <linux/types.h>

#include "atomic.h"

#define RF_DNS_HEADER 12
#define RF_DNS_QUERY_MAX 504 /* with the header of UDP 512, as bpf_csum_diff sums at most */
#define RF_DNS_BUFFER 512    /* a power of two: the buffer's index is masked */
#define RF_DNS_LABELS_MAX 127
#define RF_DNS_OPT_SIZE 11 /* of an OPT without options */
#define RF_DNS_OPT_TYPE 41
#define RF_DNS_UDP_SIZE 1232 /* that the OPT announces: DNS flag day 2020 */

/* Bytes 2 and 3 of the header. */
#define RF_DNS_QR 0x80
#define RF_DNS_OPCODE 0x78
#define RF_DNS_TC 0x02
#define RF_DNS_RD 0x01
#define RF_DNS_CD 0x10

/* A message of at most RF_DNS_QUERY_MAX bytes, in a buffer of RF_DNS_BUFFER. */
RF_INLINE __u8 rf_dns_byte(const __u8 *message, __u32 at)
{
	return message[at % RF_DNS_BUFFER];
}

RF_INLINE __u32 rf_dns_number(const __u8 *message, __u32 at)
{
	return rf_dns_byte(message, at) << 8 | rf_dns_byte(message, at + 1);
}

/* Is it a standard query with one question and at most one additional record? */
RF_INLINE int rf_dns_is_query(const __u8 *message, __u32 length)
{
	return length >= RF_DNS_HEADER && length <= RF_DNS_QUERY_MAX &&
	       !(rf_dns_byte(message, 2) & (RF_DNS_QR | RF_DNS_OPCODE)) &&
	       rf_dns_number(message, 4) == 1 && !rf_dns_number(message, 6) &&
	       !rf_dns_number(message, 8) && rf_dns_number(message, 10) <= 1;
}

/* The offset after the question; 0: it is truncated, or its name is compressed. */
RF_INLINE __u32 rf_dns_question_end(const __u8 *message, __u32 length)
{
	__u32 at = RF_DNS_HEADER, label;

	RF_NO_UNROLL
	for (int i = 0; i <= RF_DNS_LABELS_MAX && at < length; i++) {
		label = rf_dns_byte(message, at);
		if (label > 63)
			return 0;
		at += label + 1;
		if (!label)
			return at + 4 <= length ? at + 4 : 0;
	}
	return 0;
}

/* Is there an OPT at `at`, and nothing after it? */
RF_INLINE int rf_dns_ends_with_opt(const __u8 *message, __u32 at, __u32 length)
{
	return at + RF_DNS_OPT_SIZE <= length && !rf_dns_byte(message, at) &&
	       rf_dns_number(message, at + 1) == RF_DNS_OPT_TYPE &&
	       at + RF_DNS_OPT_SIZE + rf_dns_number(message, at + 9) == length;
}

RF_INLINE void rf_dns_set(__u8 *message, __u32 at, __u8 byte)
{
	message[at % RF_DNS_BUFFER] = byte;
}

/* Removes the options of the OPT at `at`. Its flags remain, among them DO. */
RF_INLINE void rf_dns_minimize_opt(__u8 *message, __u32 at)
{
	rf_dns_set(message, at + 3, RF_DNS_UDP_SIZE >> 8);
	rf_dns_set(message, at + 4, RF_DNS_UDP_SIZE & 0xff);
	rf_dns_set(message, at + 5, 0); /* the extended RCODE, and the version */
	rf_dns_set(message, at + 6, 0);
	rf_dns_set(message, at + 9, 0);
	rf_dns_set(message, at + 10, 0);
}

/* Turns the query into the response, and returns its length; 0: not a query that can be answered.
 */
RF_INLINE __u32 rf_dns_truncate(__u8 *message, __u32 length)
{
	__u32 end;

	if (!rf_dns_is_query(message, length))
		return 0;
	end = rf_dns_question_end(message, length);
	if (!end)
		return 0;
	if (rf_dns_number(message, 10)) {
		if (!rf_dns_ends_with_opt(message, end, length))
			return 0;
		rf_dns_minimize_opt(message, end);
		end += RF_DNS_OPT_SIZE;
	} else if (end != length) {
		return 0;
	}
	message[2] = RF_DNS_QR | RF_DNS_TC | (message[2] & RF_DNS_RD);
	message[3] &= RF_DNS_CD;
	return end;
}

#endif /* RINGFENCE_DNS_H */
