// SPDX-License-Identifier: GPL-2.0
/* ask SOCKET QUESTION: prints what the agent of a fleet answers on its socket. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "fleet/socket.h"

int main(int argc, char **argv)
{
	static char answer[RF_AGENT_ANSWER_SIZE];
	struct sockaddr_un agent = {.sun_family = AF_UNIX};
	const int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	ssize_t length;

	if (argc != 3 || strlen(argv[1]) >= sizeof(agent.sun_path))
		return 2;
	strcpy(agent.sun_path, argv[1]);
	if (connect(fd, (struct sockaddr *)&agent, sizeof(agent)) ||
	    send(fd, argv[2], strlen(argv[2]), 0) < 0)
		return 1;
	length = recv(fd, answer, sizeof(answer), 0);
	if (length < 0)
		return 1;
	printf("%.*s\n", (int)length, answer);
	return 0;
}
