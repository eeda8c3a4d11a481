// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rules/mistakes.h"

static int fail_memory(struct rf_error *error)
{
	return rf_error_failed(error, -ENOMEM, "out of memory for the mistakes of the file");
}

static int make_room(struct rf_mistakes *mistakes)
{
	const size_t capacity = mistakes->capacity ? mistakes->capacity * 2 : 16;
	struct rf_mistake *grown;

	if (mistakes->count < mistakes->capacity)
		return 0;
	grown = reallocarray(mistakes->mistake, capacity, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	mistakes->mistake = grown;
	mistakes->capacity = capacity;
	return 0;
}

/* Those of the file as a whole come after all lines. */
static bool is_after(size_t left, size_t line)
{
	return !left || left > line;
}

int rf_mistakes_add(struct rf_mistakes *mistakes, size_t line, const char *text,
		    struct rf_error *error)
{
	char *copy = strdup(text);
	size_t at;

	if (!copy || make_room(mistakes)) {
		free(copy);
		return fail_memory(error);
	}
	at = mistakes->count++;
	while (line && at && is_after(mistakes->mistake[at - 1].line, line)) {
		mistakes->mistake[at] = mistakes->mistake[at - 1];
		at--;
	}
	mistakes->mistake[at] = (struct rf_mistake){line, copy};
	return 0;
}

int rf_mistakes_add_file(struct rf_mistakes *mistakes, size_t line, const char *path,
			 const struct rf_mistakes *file, struct rf_error *error)
{
	int err = 0;

	for (size_t i = 0; i < file->count && !err; i++) {
		struct rf_error reason;

		rf_error_failed(&reason, 0, "%s:%zu: %s", path, file->mistake[i].line,
				file->mistake[i].text);
		err = rf_mistakes_add(mistakes, line, reason.text, error);
	}
	mistakes->left_out += file->left_out;
	return err;
}

int rf_ruleset_mistakes(struct rf_ruleset *rules, rf_mistakes_blame blame, const void *context,
			struct rf_mistakes *mistakes, struct rf_error *error)
{
	int slot = 0, err = 0;

	while (!err && slot >= 0) {
		struct rf_compiled compiled = {};
		struct rf_error reason = {};
		size_t line = 0;

		slot = -1;
		err = rf_ruleset_compile(rules, &compiled, &reason);
		if (err == -ENOMEM) {
			*error = reason;
		} else if (err) {
			slot = blame(context, &rules->bank, compiled.refused, &line);
			err = rf_mistakes_add(mistakes, line, reason.text, error);
		}
		if (slot >= 0)
			rf_ruleset_del_limit(rules, slot);
		rf_compiled_free(&compiled);
	}
	return err;
}

void rf_mistakes_free(struct rf_mistakes *mistakes)
{
	for (size_t i = 0; i < mistakes->count; i++)
		free(mistakes->mistake[i].text);
	free(mistakes->mistake);
	*mistakes = (struct rf_mistakes){};
}
