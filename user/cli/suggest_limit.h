/* SPDX-License-Identifier: GPL-2.0 */
/* Whose sources `suggest` looks at, and what to type where nothing is known of them. */
#ifndef RINGFENCE_CLI_SUGGEST_LIMIT_H
#define RINGFENCE_CLI_SUGGEST_LIMIT_H

#include "rules/grammar.h"
#include "rules/ruleset.h"
#include "watch/reader.h"

/* Does the limit see every packet? */
bool rf_sees_all(const struct rf_limit *limit);
/*
 * The limit that is asked for; else the first that sees every packet, or the first, of those with
 * the TIME that is asked for. -ENODATA: none, with the shadow to add. Free `limit` anyway.
 */
int rf_suggest_limit(const struct rf_ruleset *rules, const struct rf_suggest_asked *asked,
		     struct rf_definition *limit, struct rf_error *error);
/*
 * Fails where packets of a limit were counted, but no source of it recorded: the setting `sources
 * none`, most likely. Of that range there must be no source. 0: nothing was counted either.
 */
int rf_check_sources_kept(struct rf_reader *reader, const char *limit, uint64_t from_ns,
			  uint64_t to_ns, struct rf_error *error);

#endif /* RINGFENCE_CLI_SUGGEST_LIMIT_H */
