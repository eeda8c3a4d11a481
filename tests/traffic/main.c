/* SPDX-License-Identifier: GPL-2.0 */
/* Runs the given command, and exits if a command fails. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "traffic.h"

void die(int status, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fputs("traffic: ", stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
	exit(status);
}

void die_of_usage(void)
{
	die(2, "command line: wrong usage: traffic send dev IF to MAC flow FLOW [flow FLOW]... | "
	       "traffic flood dev IF to MAC for TIME [each FILE] [rest TIME] cpu N [cpu N]... flow "
	       "FLOW "
	       "[flow FLOW]... | "
	       "traffic recv dev IF for TIME [quiet TIME] [keep FILE] [max L/W]... | "
	       "traffic judge FILE from ADDRESS [lost N] [clock ticks] [since NS until NS] "
	       "[unit bytes] [passed N] [max|aligned|life|least L/W]... | traffic turns FILE "
	       "[frames N] | "
	       "traffic tally dev IF for TIME [flow FLOW]... | "
	       "traffic compose dev IF to MAC count N PART [PART]... | "
	       "traffic forge dev IF to MAC for TIME cpu N [cpu N]... flow FLOW | "
	       "traffic catch dev IF for TIME [flow FLOW]... | traffic clock");
}

int main(int argc, char **argv)
{
	int status;

	if (argc >= 2 && !strcmp(argv[1], "send"))
		status = command_send(argv + 2);
	else if (argc >= 2 && !strcmp(argv[1], "recv"))
		status = command_recv(argv + 2);
	else if (argc >= 2 && !strcmp(argv[1], "flood"))
		status = command_flood(argv + 2);
	else if (argc >= 3 && !strcmp(argv[1], "judge"))
		status = command_judge(argv + 2);
	else if (argc >= 3 && !strcmp(argv[1], "turns"))
		status = command_turns(argv + 2);
	else if (argc >= 2 && !strcmp(argv[1], "tally"))
		status = command_tally(argv + 2);
	else if (argc >= 2 && !strcmp(argv[1], "compose"))
		status = command_compose(argv + 2);
	else if (argc >= 2 && !strcmp(argv[1], "forge"))
		status = command_forge(argv + 2);
	else if (argc >= 2 && !strcmp(argv[1], "catch"))
		status = command_catch(argv + 2);
	else if (argc == 2 && !strcmp(argv[1], "clock"))
		status = printf("%ju\n", (uintmax_t)now_ns()) < 0;
	else
		die_of_usage();
	if (fflush(stdout))
		die(1, "standard output: cannot write: %s", strerror(errno));
	return status;
}
