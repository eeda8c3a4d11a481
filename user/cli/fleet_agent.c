// SPDX-License-Identifier: GPL-2.0
/*
 * Names of hosts and other texts in a reply come from the network: control characters are hidden
 * before they reach a terminal.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/fleet_agent.h"
#include "fleet/socket.h"
#include "rules/settings.h"

/* ---- which fence ---- */

void rf_fleet_file_path(const char *fence, char path[RF_FLEET_FILE_SIZE])
{
	snprintf(path, RF_FLEET_FILE_SIZE, RF_FLEET_FILE, fence);
}

struct found {
	char name[RF_NAME_SIZE], other[RF_NAME_SIZE];
	int count;
};

static void add_found(struct found *found, const char *name)
{
	if (found->count && strcmp(found->name, name) == 0)
		return;
	if (found->count < 2)
		snprintf(found->count ? found->other : found->name, RF_NAME_SIZE, "%.*s",
			 RF_NAME_SIZE - 1, name);
	found->count++;
}

/* Files of the directory with that suffix, sorted. */
static void look_into(struct found *found, const char *directory, const char *ending)
{
	struct dirent **file;
	const int count = scandir(directory, &file, NULL, alphasort);

	for (int i = 0; i < count; i++) {
		char *name = file[i]->d_name;
		const size_t length = strlen(name), tail = strlen(ending);

		if (length > tail && length - tail < RF_NAME_SIZE &&
		    strcmp(name + length - tail, ending) == 0) {
			name[length - tail] = '\0';
			add_found(found, name);
		}
		free(file[i]);
	}
	if (count >= 0)
		free(file);
}

static int find_only(char name[RF_NAME_SIZE], struct rf_error *error)
{
	struct found found = {};

	look_into(&found, RF_FLEET_DIRECTORY, ".fleet");
	if (!found.count) /* an agent can have all settings on its command line */
		look_into(&found, RF_AGENT_DIRECTORY, ".sock");
	if (!found.count)
		return rf_error_failed(error, -ENOENT,
				       "no fence of this host is in a fleet; 'ringfence fleet join "
				       "FENCE redis HOST:PORT hosts N' makes it a member");
	rf_hide_controls(found.name, false);
	rf_hide_controls(found.other, false);
	if (found.count > 1)
		return rf_error_usage(error,
				      "several fences are in a fleet, as '%s' and '%s'; add 'dev "
				      "FENCE'",
				      found.name, found.other);
	memcpy(name, found.name, RF_NAME_SIZE);
	return 0;
}

int rf_fleet_fence(const struct rf_options *options, const char *given, char name[RF_NAME_SIZE],
		   struct rf_error *error)
{
	const char *word = given ? given : options->dev;

	if (given && options->dev && strcmp(given, options->dev) != 0)
		return rf_error_usage(error, "'dev': the fence is '%s'; leave 'dev' out", given);
	if (!word)
		return find_only(name, error);
	if (!*word || word[0] == '.' || strchr(word, '/') || strlen(word) >= RF_NAME_SIZE)
		return rf_error_usage(error, "'%s': no fence has such a name", word);
	snprintf(name, RF_NAME_SIZE, "%s", word);
	return 0;
}

const char *rf_fleet_word(const char *name, char word[RF_FLEET_WORD_SIZE])
{
	snprintf(word, RF_FLEET_WORD_SIZE, "fence:%s", name);
	return word;
}

/* ---- requests ---- */

#define PATIENCE_S 5

static int fail_to_ask(const char *fence, int err, struct rf_error *error)
{
	if (err == -ENOENT || err == -ECONNREFUSED)
		return rf_error_failed(error, err,
				       "fence '%s': no agent serves it; 'systemctl enable --now "
				       "ringfence-fleet@%s' starts one",
				       fence, fence);
	return rf_error_failed(error, err, "fence '%s': cannot reach its agent: %s%s", fence,
			       strerror(-err), err == -EACCES ? "; needs root" : "");
}

static int connect_to(const char *fence)
{
	const struct timeval patience = {.tv_sec = PATIENCE_S};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	int err = fd < 0 ? -errno : 0;

	snprintf(address.sun_path, sizeof(address.sun_path), RF_AGENT_SOCKET, fence);
	if (!err) {
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
		if (connect(fd, (const struct sockaddr *)&address, sizeof(address)))
			err = -errno;
	}
	if (err && fd >= 0)
		close(fd);
	return err ? err : fd;
}

int rf_agent_ask(const char *fence, const char *question, json_t **answer, struct rf_error *error)
{
	char *text = malloc(RF_AGENT_ANSWER_SIZE);
	int fd = text ? connect_to(fence) : -ENOMEM, err = fd < 0 ? fd : 0;
	ssize_t length = 0;

	if (!err && send(fd, question, strlen(question), MSG_NOSIGNAL) < 0)
		err = -errno;
	if (!err)
		length = recv(fd, text, RF_AGENT_ANSWER_SIZE, 0);
	if (!err && length <= 0)
		err = length ? -errno : -ECONNRESET;
	if (!err) {
		*answer = json_loadb(text, length, 0, NULL);
		err = *answer ? 0 : -EPROTO;
	}
	if (fd >= 0)
		close(fd);
	free(text);
	return err ? fail_to_ask(fence, err, error) : 0;
}

static int check_answer(const char *fence, json_t **answer, struct rf_error *error)
{
	char text[400];

	rf_fleet_text(*answer, "error", text, sizeof(text));
	if (!*text)
		return 0;
	json_decref(*answer);
	*answer = NULL;
	if (strcmp(text, "no such question") == 0)
		return rf_error_failed(error, -EPROTO,
				       "fence '%s': its agent has a different version; 'systemctl "
				       "restart ringfence-fleet@%s' starts this one",
				       fence, fence);
	return rf_error_failed(error, -EIO, "fence '%s': %s", fence, text);
}

int rf_fleet_ask(const char *fence, const char *question, json_t **answer, struct rf_error *error)
{
	const int err = rf_agent_ask(fence, question, answer, error);

	return err ? err : check_answer(fence, answer, error);
}

/* ---- replies ---- */

void rf_fleet_text(const json_t *object, const char *key, char *text, size_t size)
{
	const char *value = json_string_value(json_object_get(object, key));

	snprintf(text, size, "%s", value ? value : "");
	rf_hide_controls(text, false);
}

json_int_t rf_fleet_number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static json_int_t sum(const json_t *numbers)
{
	json_int_t all = 0;
	const char *key;
	json_t *number;

	json_object_foreach ((json_t *)numbers, key, number)
		all += json_integer_value(number);
	return all;
}

void rf_fleet_read_bans(const json_t *status, struct rf_fleet_bans_seen *seen)
{
	const json_t *bans = json_object_get(status, "bans");

	*seen = (struct rf_fleet_bans_seen){
		.is_known = bans,
		.takes = json_is_true(json_object_get(bans, "accepts")),
		.taken = rf_fleet_number(bans, "accepted"),
		.told = rf_fleet_number(bans, "reported"),
		.refused = sum(json_object_get(bans, "refused")),
	};
	rf_fleet_text(bans, "last_error", seen->trouble, sizeof(seen->trouble));
	if (!*seen->trouble)
		rf_fleet_text(bans, "server_error", seen->trouble, sizeof(seen->trouble));
}

json_int_t rf_fleet_ban_host(const json_t *answer, const char *prefix)
{
	const json_t *bans = json_object_get(answer, "bans");
	const json_t *ban;
	size_t i;

	json_array_foreach (bans, i, ban) {
		const char *of = json_string_value(json_array_get(ban, 0));

		if (of && strcmp(of, prefix) == 0)
			return json_integer_value(json_array_get(ban, 1));
	}
	return -1;
}

/* ---- hosts by name ---- */

#define NAMED_MOST 4

void rf_fleet_label(const json_t *host, char label[RF_HOST_LABEL_SIZE])
{
	rf_fleet_text(host, "name", label, RF_HOST_LABEL_SIZE);
	if (!*label)
		snprintf(label, RF_HOST_LABEL_SIZE, "host %lld",
			 (long long)rf_fleet_number(host, "slot"));
}

void rf_fleet_add_label(char list[RF_HOST_LIST_SIZE], int count, const json_t *host)
{
	char label[RF_HOST_LABEL_SIZE];
	const size_t length = strlen(list);

	rf_fleet_label(host, label);
	if (count <= NAMED_MOST)
		snprintf(list + length, RF_HOST_LIST_SIZE - length, "%s%.40s",
			 count > 1 ? ", " : "", label);
	else if (count == NAMED_MOST + 1)
		snprintf(list + length, RF_HOST_LIST_SIZE - length, " and others");
}

int rf_fleet_others(const json_t *hosts, const char *key, json_int_t wanted,
		    char list[RF_HOST_LIST_SIZE])
{
	const json_t *host;
	int count = 0;
	size_t i;

	*list = '\0';
	json_array_foreach (hosts, i, host) {
		const json_t *number = json_object_get(host, key);

		if (json_is_true(json_object_get(host, "self")) || !json_is_integer(number) ||
		    json_integer_value(number) == wanted)
			continue;
		rf_fleet_add_label(list, ++count, host);
	}
	return count;
}

/* ---- differences, by limit ---- */

static bool differs_so(const json_t *host, const char *limit, const char *how)
{
	const json_t *difference;
	size_t i;

	json_array_foreach (json_object_get(host, "differences"), i, difference) {
		const char *name = json_string_value(json_object_get(difference, "name"));
		const char *is = json_string_value(json_object_get(difference, "kind"));

		if (name && is && strcmp(name, limit) == 0 && strcmp(is, how) == 0)
			return true;
	}
	return false;
}

/* The hosts from `from` on with that difference. False: an earlier host had it: already listed. */
static bool list_hosts(const json_t *hosts, size_t from, const char *limit, const char *how,
		       char list[RF_HOST_LIST_SIZE])
{
	const json_t *host;
	int count = 0;
	size_t i;

	*list = '\0';
	json_array_foreach (hosts, i, host) {
		if (!differs_so(host, limit, how))
			continue;
		if (i < from)
			return false;
		rf_fleet_add_label(list, ++count, host);
	}
	return true;
}

void rf_fleet_each_difference(const json_t *hosts, rf_fleet_difference visit, void *context)
{
	const json_t *host, *difference;
	size_t i, j;

	json_array_foreach (hosts, i, host)
		json_array_foreach (json_object_get(host, "differences"), j, difference) {
			const char *name = json_string_value(json_object_get(difference, "name"));
			const char *how = json_string_value(json_object_get(difference, "kind"));
			char list[RF_HOST_LIST_SIZE], limit[RF_NAME_SIZE];

			if (!name || !how || !list_hosts(hosts, i, name, how, list))
				continue;
			snprintf(limit, sizeof(limit), "%s", name);
			rf_hide_controls(limit, false);
			visit(context, limit, how, list);
		}
}
