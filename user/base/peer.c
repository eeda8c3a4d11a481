// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/peer.h"

#define VARIABLE "SSH_CONNECTION="
#define PARENTS_MAX 32
#define ENVIRONMENT_MAX (256 * 1024)

/* An address, which may have a scope: fe80::1%eth0. */
static bool parse_address(const char *text, struct rf_prefix *address)
{
	char without_scope[RF_PREFIX_TEXT_SIZE];
	struct rf_error ignored;

	snprintf(without_scope, sizeof(without_scope), "%.*s", (int)strcspn(text, "%"), text);
	return !strchr(without_scope, '/') && !rf_parse_prefix(without_scope, address, &ignored);
}

bool rf_peer_parse(const char *value, struct rf_peer *peer)
{
	char address[RF_PREFIX_TEXT_SIZE] = "", own[RF_PREFIX_TEXT_SIZE] = "";

	*peer = (struct rf_peer){};
	sscanf(value, "%63s %hu %63s %hu", address, &peer->port, own, &peer->own_port);
	peer->has_own = parse_address(own, &peer->own);
	return parse_address(address, &peer->address);
}

static pid_t parent_of(pid_t pid)
{
	char path[64], line[512];
	const char *end;
	FILE *file;
	int parent = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	end = fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
	if (!end || sscanf(end + 1, " %*c %d", &parent) != 1)
		parent = 0;
	fclose(file);
	return parent;
}

/* Looks in the environment with which a process began. */
static bool find_in(pid_t pid, struct rf_peer *peer)
{
	char path[64], *environment = malloc(ENVIRONMENT_MAX + 1);
	bool found = false;
	size_t length = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	file = fopen(path, "re");
	if (file && environment)
		length = fread(environment, 1, ENVIRONMENT_MAX, file);
	for (size_t at = 0; at < length && !found; at += strlen(environment + at) + 1) {
		environment[length] = '\0';
		if (!strncmp(environment + at, VARIABLE, strlen(VARIABLE)))
			found = rf_peer_parse(environment + at + strlen(VARIABLE), peer);
	}
	if (file)
		fclose(file);
	free(environment);
	return found;
}

bool rf_own_peer(struct rf_peer *peer)
{
	const char *value = getenv("SSH_CONNECTION");
	pid_t pid = getppid();
	bool found = false;

	if (value)
		return rf_peer_parse(value, peer);
	for (int i = 0; i < PARENTS_MAX && pid > 1 && !found; i++, pid = parent_of(pid))
		found = find_in(pid, peer);
	return found;
}
