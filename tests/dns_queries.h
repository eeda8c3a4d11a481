/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A table of DNS messages, and the response that the program must make of each. The unit test and
 * the fuzzer's seeds share it.
 */
#ifndef RINGFENCE_TESTS_DNS_QUERIES_H
#define RINGFENCE_TESTS_DNS_QUERIES_H

#include <stddef.h>

#define DNS_HEADER(flags, questions, answers, authority, additional) \
	"\x12\x34" flags "\0" questions "\0" answers "\0" authority "\0" additional
#define DNS_QUERY DNS_HEADER("\1\0", "\1", "\0", "\0", "\0")
#define DNS_QUERY_EDNS DNS_HEADER("\1\x20", "\1", "\0", "\0", "\1")
#define DNS_NAME "\7example\3org\0"
#define DNS_QUESTION DNS_NAME "\0\1\0\1"
/* DO, and a cookie of 8 bytes */
#define DNS_OPT                                        \
	"\0\0\x29\x04\xd0\0\0\x80\0\0\x0c\0\x0a\0\x08" \
	"cookie!!"
#define DNS_OPT_ANSWER "\0\0\x29\x04\xd0\0\0\x80\0\0\0"
#define DNS_LABEL \
	"\x3f"    \
	"123456789012345678901234567890123456789012345678901234567890123"

/* DO, and 464 bytes of options, and more. */
#define DNS_LONG_OPT(length, more)                                                              \
	"\0\0\x29\x04\xd0\0\0\x80\0\1" length DNS_LABEL DNS_LABEL DNS_LABEL DNS_LABEL DNS_LABEL \
		DNS_LABEL DNS_LABEL "0123456789abcdef" more

#define DNS_BYTES(text) text, sizeof(text) - 1

struct dns_row {
	const char *name;
	const char *query;
	size_t length;
	const char *answer;
	size_t answer_length; /* 0: none */
};

static const struct dns_row dns_rows[] = {
	{"plain", DNS_BYTES(DNS_QUERY DNS_QUESTION),
	 DNS_BYTES(DNS_HEADER("\x83\0", "\1", "\0", "\0", "\0") DNS_QUESTION)},
	{"EDNS with DO and a cookie", DNS_BYTES(DNS_QUERY_EDNS DNS_QUESTION DNS_OPT),
	 DNS_BYTES(DNS_HEADER("\x83\0", "\1", "\0", "\0", "\1") DNS_QUESTION DNS_OPT_ANSWER)},
	{"no recursion, CD", DNS_BYTES(DNS_HEADER("\0\x10", "\1", "\0", "\0", "\0") DNS_QUESTION),
	 DNS_BYTES(DNS_HEADER("\x82\x10", "\1", "\0", "\0", "\0") DNS_QUESTION)},
	{"the root", DNS_BYTES(DNS_QUERY "\0\0\2\0\1"),
	 DNS_BYTES(DNS_HEADER("\x83\0", "\1", "\0", "\0", "\0") "\0\0\2\0\1")},
	{"labels of 63 bytes", DNS_BYTES(DNS_QUERY DNS_LABEL DNS_LABEL "\0\0\1\0\1"),
	 DNS_BYTES(DNS_HEADER("\x83\0", "\1", "\0", "\0", "\0") DNS_LABEL DNS_LABEL "\0\0\1\0\1")},
	{"a message of 504 bytes", DNS_BYTES(DNS_QUERY_EDNS DNS_QUESTION DNS_LONG_OPT("\xd0", "")),
	 DNS_BYTES(DNS_HEADER("\x83\0", "\1", "\0", "\0", "\1") DNS_QUESTION DNS_OPT_ANSWER)},
	{"a message of 505 bytes", DNS_BYTES(DNS_QUERY_EDNS DNS_QUESTION DNS_LONG_OPT("\xd1", "x")),
	 NULL, 0},
	{"a label of 64 bytes", DNS_BYTES(DNS_QUERY "\x40" DNS_LABEL "\0\0\1\0\1"), NULL, 0},
	{"a response", DNS_BYTES(DNS_HEADER("\x81\0", "\1", "\0", "\0", "\0") DNS_QUESTION), NULL,
	 0},
	{"NOTIFY", DNS_BYTES(DNS_HEADER("\x20\0", "\1", "\0", "\0", "\0") DNS_QUESTION), NULL, 0},
	{"UPDATE", DNS_BYTES(DNS_HEADER("\x28\0", "\1", "\0", "\0", "\0") DNS_QUESTION), NULL, 0},
	{"no question", DNS_BYTES(DNS_HEADER("\1\0", "\0", "\0", "\0", "\0")), NULL, 0},
	{"two questions",
	 DNS_BYTES(DNS_HEADER("\1\0", "\2", "\0", "\0", "\0") DNS_QUESTION DNS_QUESTION), NULL, 0},
	{"an answer", DNS_BYTES(DNS_HEADER("\1\0", "\1", "\1", "\0", "\0") DNS_QUESTION DNS_OPT),
	 NULL, 0},
	{"an authority", DNS_BYTES(DNS_HEADER("\1\0", "\1", "\0", "\1", "\0") DNS_QUESTION DNS_OPT),
	 NULL, 0},
	{"two additional records",
	 DNS_BYTES(DNS_HEADER("\1\0", "\1", "\0", "\0", "\2") DNS_QUESTION DNS_OPT DNS_OPT), NULL,
	 0},
	{"an additional record that is no DNS_OPT",
	 DNS_BYTES(DNS_QUERY_EDNS DNS_QUESTION "\0\0\xfa\0\xff\0\0\0\0\0\0"), NULL, 0},
	{"a compressed name", DNS_BYTES(DNS_QUERY "\xc0\x0c\0\1\0\1"), NULL, 0},
	{"a label that ends the message", DNS_BYTES(DNS_QUERY "\7exampl"), NULL, 0},
	{"a name without an end", DNS_BYTES(DNS_QUERY "\7example"), NULL, 0},
	{"no class", DNS_BYTES(DNS_QUERY DNS_NAME "\0\1"), NULL, 0},
	{"bytes after the question", DNS_BYTES(DNS_QUERY DNS_QUESTION "x"), NULL, 0},
	{"an DNS_OPT that is cut off",
	 DNS_BYTES(DNS_QUERY_EDNS DNS_QUESTION "\0\0\x29\x04\xd0\0\0\0\0\0"), NULL, 0},
	{"an DNS_OPT with too long options",
	 DNS_BYTES(DNS_QUERY_EDNS DNS_QUESTION "\0\0\x29\x04\xd0\0\0\0\0\0\x0c\0\x0a\0\x08"
					       "cookie!"),
	 NULL, 0},
	{"bytes after the DNS_OPT", DNS_BYTES(DNS_QUERY_EDNS DNS_QUESTION DNS_OPT "x"), NULL, 0},
	{"a header that is cut off", DNS_BYTES("\x12\x34\1\0\0\1\0\0\0\0\0"), NULL, 0},
	{"nothing", DNS_BYTES(""), NULL, 0},
};

#define DNS_ROWS (sizeof(dns_rows) / sizeof(dns_rows[0]))

#endif /* RINGFENCE_TESTS_DNS_QUERIES_H */
