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

int rf_mistakes_add(struct rf_mistakes *mistakes, size_t line, const char *text,
		    struct rf_error *error)
{
	char *copy = strdup(text);

	if (!copy || make_room(mistakes)) {
		free(copy);
		return fail_memory(error);
	}
	mistakes->mistake[mistakes->count++] = (struct rf_mistake){line, copy};
	return 0;
}

void rf_mistakes_free(struct rf_mistakes *mistakes)
{
	for (size_t i = 0; i < mistakes->count; i++)
		free(mistakes->mistake[i].text);
	free(mistakes->mistake);
	*mistakes = (struct rf_mistakes){};
}
