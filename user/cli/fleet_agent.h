/* SPDX-License-Identifier: GPL-2.0 */
/* The agent of a fence: which fence is meant, requests to its agent, and replies. */
#ifndef RINGFENCE_CLI_FLEET_AGENT_H
#define RINGFENCE_CLI_FLEET_AGENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/prefix.h"
#include "cli/command.h"
#include "fence/fence.h"
#include "ringfence/abi.h"

/*
 * The fence named by the operand `given`, else by 'dev'; without both, the only fence of this host
 * in a fleet: with settings, or with a running agent.
 */
int rf_fleet_fence(const struct rf_options *options, const char *given, char name[RF_NAME_SIZE],
		   struct rf_error *error);
#define RF_FLEET_WORD_SIZE (RF_NAME_SIZE + 8)
/* The word that means the fence of that name, even if an interface has the same name. */
const char *rf_fleet_word(const char *name, char word[RF_FLEET_WORD_SIZE]);

#define RF_FLEET_FILE_SIZE 64
/* Where the settings of its agent are: /etc/ringfence/FENCE.fleet, a setting on each line. */
void rf_fleet_file_path(const char *fence, char path[RF_FLEET_FILE_SIZE]);

/* ---- requests ---- */

/*
 * Sends a request to the agent of the fence, and waits some seconds for the reply, which can be an
 * error. The caller frees it. -ENOENT or -ECONNREFUSED: no agent serves the fence.
 */
int rf_agent_ask(const char *fence, const char *question, json_t **answer, struct rf_error *error);
/* The same; fails if the reply is an error. */
int rf_fleet_ask(const char *fence, const char *question, json_t **answer, struct rf_error *error);

/* A number of a reply; 0 if missing. */
json_int_t rf_fleet_number(const json_t *object, const char *key);
/* A text of untrusted JSON, safe for a terminal; "" if missing. */
void rf_fleet_text(const json_t *object, const char *key, char *text, size_t size);

#define RF_FLEET_TROUBLE_SIZE 896 /* of an error with its fix */

/* Bans in the status of an agent. `told`: bans reported since it started. */
struct rf_fleet_bans_seen {
	bool is_known, takes;
	json_int_t taken, told, refused;
	char trouble[RF_FLEET_TROUBLE_SIZE]; /* "": none */
};

void rf_fleet_read_bans(const json_t *status, struct rf_fleet_bans_seen *seen);
/* The slot of the host of a ban, from the agent's reply to `bans`; -1: unknown. */
json_int_t rf_fleet_ban_host(const json_t *answer, const char *prefix);
/* Reports a ban to the fleet and waits until the server has it. `time_ns` 0: removes it. */
int rf_fleet_ban_tell(const char *fence, const struct rf_prefix *prefix, uint64_t time_ns,
		      struct rf_error *error);

/* ---- hosts, as the agent lists them ---- */

#define RF_HOST_LABEL_SIZE 80
#define RF_HOST_LIST_SIZE 256

/* "web1"; without a reported name: "host 3". */
void rf_fleet_label(const json_t *host, char label[RF_HOST_LABEL_SIZE]);
/* Adds a label: "web1, web2 and others". `count`: including this one. */
void rf_fleet_add_label(char list[RF_HOST_LIST_SIZE], int count, const json_t *host);

/*
 * A limit that hosts define differently: its name, how, and which hosts; the text closes with
 * `hosts`.
 */
typedef void (*rf_fleet_difference)(void *context, const char *limit, const char *how,
				    const char *hosts);
void rf_fleet_each_difference(const json_t *hosts, rf_fleet_difference visit, void *context);
/* The other hosts whose number under `key` differs from `wanted`. */
int rf_fleet_others(const json_t *hosts, const char *key, json_int_t wanted,
		    char list[RF_HOST_LIST_SIZE]);

#endif /* RINGFENCE_CLI_FLEET_AGENT_H */
