/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A strict parser of the formats that Prometheus reads: the text format 0.0.4, and OpenMetrics 1.0.
 * It fails the test at the first error.
 */
#ifndef RINGFENCE_EXPOSITION_H
#define RINGFENCE_EXPOSITION_H

#include "unit.h"

#include <ctype.h>
#include <stdio.h>

#define EXPOSED_MAX 4096
#define EXPOSED_KEY_SIZE 320

struct exposed_sample {
	char key[EXPOSED_KEY_SIZE]; /* name{label="value",…}, values as they were before escaping */
	char family[96];
	double value;
	char exemplar[128]; /* its labels; "": none */
	double exemplar_value;
};

struct exposed {
	struct exposed_sample sample[EXPOSED_MAX];
	int count;
	char family[96], type[16]; /* that the lines are about */
	char families[64][96];
	int family_count;
	bool is_open, has_type, has_unit, ended;
};

static inline void expose_name(const char **at, char *name, size_t size)
{
	size_t length = 0;

	assert_true(isalpha(**at) || **at == '_');
	while (isalnum(**at) || **at == '_') {
		assert_true(length + 1 < size);
		name[length++] = *(*at)++;
	}
	name[length] = '\0';
}

static inline void expose_literal(const char **at, const char *literal)
{
	assert_int_equal(strncmp(*at, literal, strlen(literal)), 0);
	*at += strlen(literal);
}

/* {label="value",…}: appended to `key`. */
static inline void expose_labels(const char **at, char *key, size_t size)
{
	size_t length = strlen(key);

	expose_literal(at, "{");
	key[length++] = '{';
	for (bool first = true; **at != '}'; first = false) {
		if (!first)
			expose_literal(at, ",");
		key[length] = '\0';
		if (!first)
			key[length++] = ',';
		expose_name(at, key + length, size - length);
		length += strlen(key + length);
		expose_literal(at, "=\"");
		key[length++] = '=';
		for (; **at != '"'; (*at)++) {
			assert_true(length + 4 < size);
			assert_true((unsigned char)**at >= ' ');
			if (**at == '\\') {
				(*at)++;
				assert_true(**at == '\\' || **at == '"' || **at == 'n');
			}
			key[length++] = **at;
		}
		(*at)++;
	}
	(*at)++;
	key[length++] = '}';
	key[length] = '\0';
}

static inline double expose_number(const char **at)
{
	char *end;
	const double number = strtod(*at, &end);

	assert_true(end > *at && !isspace(**at));
	*at = end;
	return number;
}

static inline bool expose_ends(const char *name, const char *suffix)
{
	const size_t length = strlen(name), end = strlen(suffix);

	return length > end && strcmp(name + length - end, suffix) == 0;
}

/* May a family of this type have a sample of this name? */
static inline void expose_check_name(const struct exposed *exposed, const char *name)
{
	const size_t length = strlen(exposed->family);
	const char *suffix = name + length;

	assert_int_equal(strncmp(name, exposed->family, length), 0);
	if (strcmp(exposed->type, "histogram") == 0)
		assert_true(!strcmp(suffix, "_bucket") || !strcmp(suffix, "_sum") ||
			    !strcmp(suffix, "_count"));
	else if (exposed->is_open && strcmp(exposed->type, "counter") == 0)
		assert_string_equal(suffix, "_total");
	else if (exposed->is_open && strcmp(exposed->type, "info") == 0)
		assert_string_equal(suffix, "_info");
	else
		assert_string_equal(suffix, "");
	if (!exposed->is_open && strcmp(exposed->type, "counter") == 0)
		assert_true(expose_ends(name, "_total"));
}

static inline void expose_exemplar(const struct exposed *exposed, const char **at, const char *name,
				   struct exposed_sample *sample)
{
	assert_true(exposed->is_open);
	assert_true(expose_ends(name, "_total") || expose_ends(name, "_bucket"));
	expose_literal(at, " # ");
	expose_labels(at, sample->exemplar, sizeof(sample->exemplar));
	expose_literal(at, " ");
	sample->exemplar_value = expose_number(at);
	expose_literal(at, " ");
	assert_true(expose_number(at) > 1e9);
}

/* In OpenMetrics, names must have their unit as a suffix. */
static inline void expose_check_unit(const struct exposed *exposed)
{
	const char *family = exposed->family;
	const bool ends_with_unit = expose_ends(family, "_seconds") ||
				    expose_ends(family, "_bytes") || expose_ends(family, "_ratio");

	assert_int_equal(exposed->has_unit, exposed->is_open && ends_with_unit);
}

static inline void expose_sample(struct exposed *exposed, const char *at)
{
	struct exposed_sample *sample = &exposed->sample[exposed->count];
	char name[96];

	assert_true(exposed->has_type && exposed->count < EXPOSED_MAX);
	expose_check_unit(exposed);
	*sample = (struct exposed_sample){};
	expose_name(&at, name, sizeof(name));
	expose_check_name(exposed, name);
	strcpy(sample->key, name);
	strcpy(sample->family, exposed->family);
	if (*at == '{')
		expose_labels(&at, sample->key, sizeof(sample->key));
	expose_literal(&at, " ");
	sample->value = expose_number(&at);
	if (*at == ' ')
		expose_exemplar(exposed, &at, name, sample);
	assert_int_equal(*at, '\0');
	for (int i = 0; i < exposed->count; i++)
		assert_string_not_equal(exposed->sample[i].key, sample->key);
	exposed->count++;
}

static inline void expose_comment(struct exposed *exposed, const char *at)
{
	static const char *const types[] = {"counter", "gauge", "histogram", "info"};
	bool is_known = false;
	char name[96];

	if (strcmp(at, "# EOF") == 0) {
		assert_true(exposed->is_open);
		exposed->ended = true;
	} else if (strncmp(at, "# HELP ", 7) == 0) {
		at += 7;
		expose_name(&at, exposed->family, sizeof(exposed->family));
		assert_true(*at == ' ' && at[1] && !strpbrk(at, "\"\\"));
		for (int i = 0; i < exposed->family_count; i++) /* one block for each */
			assert_string_not_equal(exposed->families[i], exposed->family);
		strcpy(exposed->families[exposed->family_count++], exposed->family);
		exposed->has_type = exposed->has_unit = false;
	} else if (strncmp(at, "# UNIT ", 7) == 0) {
		assert_true(exposed->is_open && exposed->has_type);
		at += 7;
		expose_name(&at, name, sizeof(name));
		assert_string_equal(name, exposed->family);
		expose_literal(&at, " ");
		assert_true(*at && expose_ends(name, at));
		assert_int_equal(name[strlen(name) - strlen(at) - 1], '_');
		exposed->has_unit = true;
	} else {
		expose_literal(&at, "# TYPE ");
		expose_name(&at, name, sizeof(name));
		assert_string_equal(name, exposed->family);
		assert_false(exposed->has_type);
		expose_literal(&at, " ");
		snprintf(exposed->type, sizeof(exposed->type), "%s", at);
		for (size_t i = 0; i < UNIT_ARRAY_SIZE(types) - !exposed->is_open; i++)
			is_known = is_known || strcmp(types[i], at) == 0;
		assert_true(is_known);
		exposed->has_type = true;
	}
}

static inline struct exposed *expose(const char *text, bool is_open)
{
	struct exposed *exposed = calloc(1, sizeof(*exposed));
	char *copy = strdup(text), *rest = copy;

	assert_non_null(exposed);
	exposed->is_open = is_open;
	assert_true(expose_ends(text, "\n"));
	for (char *line; (line = strsep(&rest, "\n")) && rest;) {
		assert_false(exposed->ended);
		if (*line == '#')
			expose_comment(exposed, line);
		else
			expose_sample(exposed, line);
	}
	assert_int_equal(exposed->ended, is_open);
	free(copy);
	return exposed;
}

static inline const struct exposed_sample *exposed_find(const struct exposed *exposed,
							const char *key)
{
	for (int i = 0; i < exposed->count; i++)
		if (strcmp(exposed->sample[i].key, key) == 0)
			return &exposed->sample[i];
	return NULL;
}

static inline double exposed_value(const struct exposed *exposed, const char *key)
{
	const struct exposed_sample *sample = exposed_find(exposed, key);

	if (!sample)
		print_error("no %s\n", key);
	assert_non_null(sample);
	return sample->value;
}

#endif /* RINGFENCE_EXPOSITION_H */
