// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include "agent/engine_errors.h"

struct meaning {
	const char *begins; /* the engine's error */
	const char *means;
};

static const struct meaning meanings[] = {
	{"NOAUTH", "it wants a password; name a file with it by 'password file PATH'"},
	{"WRONGPASS", "it refuses this user and password; see 'user' and 'password file'"},
	{"ERR AUTH", "it has no password set, but 'password file' names one; leave it out"},
	{"NOPERM", "this user may not do that there; it needs '+fcall +function|load ~rf:*'"},
	{"OOM", "it has no memory left; raise its 'maxmemory'"},
	{"LOADING", "it is still loading its data"},
	{"READONLY", "it is a replica; name the master"},
	{"MASTERDOWN", "it is a replica, and its master is down; name the master"},
	{"NOREPLICAS", "it has too few replicas to write; see its 'min-replicas-to-write'"},
	{"MISCONF", "it cannot save to its disk; the fleet needs no persistence: 'save \"\"'"},
	{"BUSY", "it is busy with another script or function"},
	{"CLUSTERDOWN", "its cluster is down; see 'redis-cli --cluster check'"},
	{"DENIED", "it is in protected mode; give it a password, or 'bind' it to an address"},
	{"ERR max number of clients", "it has too many clients; raise its 'maxclients'"},
	{"RINGFENCE this is no heartbeat",
	 "it has functions of another version; 'ringfence fleet check' prints what loads them"},
	{"Connection refused",
	 "nothing listens there; start it or its tunnel, or see its 'bind' and 'port'"},
	{"Connection reset", "it closed the connection; behind a tunnel, see its log"},
	{"Server closed", "it closed the connection; behind a tunnel, see its log"},
	{"No route to host", "there is no route to it"},
	{"Network is unreachable", "there is no route to it"},
	{"ERR unknown command", "it knows no functions; it takes Redis 7 or Valkey"},
};

bool rf_engine_lacks_functions(const char *error)
{
	return strncmp(error, "ERR Function not found", 22) == 0;
}

bool rf_engine_has_functions(const char *error)
{
	return strncmp(error, "ERR Library 'ringfence' already exists", 38) == 0;
}

void rf_engine_explain(const char *error, char *text, size_t size)
{
	for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++) {
		if (strncmp(error, meanings[i].begins, strlen(meanings[i].begins)) != 0)
			continue;
		snprintf(text, size, "%s", meanings[i].means);
		return;
	}
	snprintf(text, size, "it says '%.200s'", error);
}
