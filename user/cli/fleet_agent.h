/* SPDX-License-Identifier: GPL-2.0 */
/* The agent of a fence: which fence is meant, what its agent answers, and its program. */
#ifndef RINGFENCE_CLI_FLEET_AGENT_H
#define RINGFENCE_CLI_FLEET_AGENT_H

#include <jansson.h>

#include "cli/command.h"
#include "ringfence/abi.h"

/*
 * The fence that the operand `given` or else 'dev' names; where both are missing, the only one of
 * this host that is in a fleet: by its settings, or by an agent that serves it.
 */
int rf_fleet_fence(const struct rf_options *options, const char *given, char name[RF_NAME_SIZE],
		   struct rf_error *error);

/* What the fence's agent answers; the caller frees it. -ECONNREFUSED: no agent serves it. */
int rf_fleet_ask(const char *fence, const char *question, json_t **answer, struct rf_error *error);

/* Becomes 'ringfence-fleet WORD…'; returns where that cannot be. */
int rf_fleet_exec(const char *const *words, struct rf_error *error);
/* What 'ringfence-fleet probe FENCE' says; the caller frees it. */
int rf_fleet_probe(const char *fence, json_t **answer, struct rf_error *error);

#define RF_FLEET_TROUBLE_SIZE 896 /* of what it says is wrong; it names what to type */

/* ---- fleet_names.c: hosts, as the agent lists them ---- */

#define RF_HOST_LABEL_SIZE 80
#define RF_HOST_LIST_SIZE 256

/* web1, or where it said no name: host 3. */
void rf_fleet_label(const json_t *host, char label[RF_HOST_LABEL_SIZE]);
/* A text of JSON that others may have written, for a terminal; "" where there is none. */
void rf_fleet_text(const json_t *object, const char *key, char *text, size_t size);
/* Adds a label: "web1, web2 and 3 more". `count` is of all so far. */
void rf_fleet_add_label(char list[RF_HOST_LIST_SIZE], int count, const json_t *host);

/* A limit that hosts define differently: its name, how, and which hosts; `hosts` ends the list. */
typedef void (*rf_fleet_difference)(void *context, const char *limit, const char *how,
				    const char *hosts);
void rf_fleet_each_difference(const json_t *hosts, rf_fleet_difference visit, void *context);
/* The hosts, but this one, whose number under `key` is another one than `wanted`. */
int rf_fleet_others(const json_t *hosts, const char *key, json_int_t wanted,
		    char list[RF_HOST_LIST_SIZE]);

#endif /* RINGFENCE_CLI_FLEET_AGENT_H */
