// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/units.h"
#include "rules/near.h"

#define MISTAKES_MAX 2

/* Words of other tools, and what they are here. */
static const struct {
	const char *typed, *word;
} others[] = {
	{"remove", "del"},   {"rm", "del"},	     {"delete", "del"},	    {"create", "add"},
	{"new", "add"},	     {"show", "list"},	     {"ls", "list"},	    {"print", "list"},
	{"enable", "arm"},   {"enforce", "arm"},     {"disable", "shadow"}, {"modify", "change"},
	{"edit", "change"},  {"update", "change"},   {"replace", "set"},    {"clear", "flush"},
	{"block", "deny"},   {"ban", "deny"},	     {"drop", "deny"},	    {"permit", "allow"},
	{"accept", "allow"}, {"whitelist", "allow"}, {"blacklist", "deny"}, {"load", "apply"},
	{"start", "attach"}, {"stop", "detach"},     {"unload", "detach"},  {"restore", "apply"},
	{"src", "from"},     {"source", "from"},     {"saddr", "from"},	    {"dst", "to"},
	{"daddr", "to"},     {"port", "dport"},	     {"drop", "closed"},    {"pass", "open"},
	{"rule", "limit"},   {"rules", "limit"},     {"reload", "apply"},   {"reload", "load"},
	{"flush", "del"},    {"enable", "attach"},   {"disable", "detach"}, {"timeout", "for"},
	{"timeout", "ban"},
};

static bool is_other(const char *typed, const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (strcmp(others[i].typed, typed) == 0 && strcmp(others[i].word, word) == 0)
			return true;
	return false;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * The number of letters to insert, delete, replace or swap with the next one to make `word`, which
 * is shorter than RF_NEAR_SIZE, from `typed`. The rows are those of the two letters before, too.
 */
static size_t count_mistakes(const char *typed, const char *word)
{
	const size_t length = strlen(word);
	size_t rows[3][RF_NEAR_SIZE];

	for (size_t j = 0; j <= length; j++)
		rows[0][j] = j;
	for (size_t i = 1; typed[i - 1]; i++) {
		const size_t *before = rows[(i - 1) % 3], *swapped = rows[(i + 1) % 3];
		size_t *row = rows[i % 3];

		row[0] = i;
		for (size_t j = 1; j <= length; j++) {
			row[j] = least(before[j - 1] + (typed[i - 1] != word[j - 1]),
				       least(before[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && typed[i - 1] == word[j - 2] &&
			    typed[i - 2] == word[j - 1])
				row[j] = least(row[j], swapped[j - 2] + 1);
		}
	}
	return rows[strlen(typed) % 3][length];
}

struct rf_near rf_near_begin(const char *typed)
{
	return (struct rf_near){.typed = typed, .mistakes = MISTAKES_MAX + 1};
}

void rf_near_consider(struct rf_near *near, const char *word, size_t length)
{
	char candidate[RF_NEAR_SIZE];
	size_t mistakes;

	if (length >= RF_NEAR_SIZE)
		return;
	memcpy(candidate, word, length);
	candidate[length] = '\0';
	mistakes = is_other(near->typed, candidate) ? 0 : count_mistakes(near->typed, candidate);
	if (mistakes >= near->mistakes || 2 * mistakes >= length)
		return;
	near->mistakes = mistakes;
	strcpy(near->word, candidate);
}

void rf_near_consider_table(struct rf_near *near, const struct rf_option *table)
{
	for (int i = 0; table && table[i].word; i++)
		if (!strchr(table[i].word, ' '))
			rf_near_consider(near, table[i].word, strlen(table[i].word));
}

int rf_fail_no_limit(const struct rf_bank *bank, const char *name, const char *more,
		     struct rf_error *error)
{
	struct rf_near near = rf_near_begin(name);

	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		if (bank->policy[slot].id)
			rf_near_consider(&near, bank->limit[slot].name,
					 strlen(bank->limit[slot].name));
	if (*near.word)
		return rf_error_failed(error, -ENOENT,
				       "limit '%s': it does not exist; did you mean '%s'?", name,
				       near.word);
	return rf_error_failed(error, -ENOENT,
			       "limit '%s': it does not exist; 'limit list' lists the limits%s",
			       name, more);
}
