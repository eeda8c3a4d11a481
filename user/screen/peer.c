// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "screen/peer.h"

#define VARIABLE "SSH_CONNECTION="
#define PARENTS_MAX 32
#define ENVIRONMENT_MAX (256 * 1024)

/* "192.0.2.1 51432 198.51.100.1 22", or "fe80::1%eth0 …": its first word, without a scope. */
static const char *take_address(const char *value, char text[RF_PREFIX_TEXT_SIZE])
{
	snprintf(text, RF_PREFIX_TEXT_SIZE, "%.*s", (int)strcspn(value, " %"), value);
	return *text ? text : NULL;
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
static const char *peer_of(pid_t pid, char text[RF_PREFIX_TEXT_SIZE])
{
	char path[64], *environment = malloc(ENVIRONMENT_MAX + 1);
	const char *found = NULL;
	size_t length = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	file = fopen(path, "re");
	if (file && environment)
		length = fread(environment, 1, ENVIRONMENT_MAX, file);
	for (size_t at = 0; at < length && !found; at += strlen(environment + at) + 1) {
		environment[length] = '\0';
		if (!strncmp(environment + at, VARIABLE, strlen(VARIABLE)))
			found = take_address(environment + at + strlen(VARIABLE), text);
	}
	if (file)
		fclose(file);
	free(environment);
	return found;
}

const char *rf_own_peer(char text[RF_PREFIX_TEXT_SIZE])
{
	const char *value = getenv("SSH_CONNECTION"), *found = NULL;
	pid_t pid = getppid();

	if (value)
		return take_address(value, text);
	for (int i = 0; i < PARENTS_MAX && pid > 1 && !found; i++, pid = parent_of(pid))
		found = peer_of(pid, text);
	return found;
}
