// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the user's files, as text or as prefixes: lines of lists, sets of nftables; and collects
 * the errors of a file.
 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/file.h"

/* ---- lines of lists ---- */

#define BLANKS " \t\r\v\f"
#define SEPARATORS BLANKS ",|"
#define COLUMNS_MAX 4 /* no addresses are expected in further columns */

/* ---- columns ---- */

/* The end of a column: of one in quotes, the closing one. */
static char *end_of(char *column)
{
	char *quote = strchr("\"'", *column) ? strchr(column + 1, *column) : NULL;

	return quote ? quote : column + strcspn(column, SEPARATORS);
}

/* Splits a line without comments. Columns after the last one are left out. */
static int split_columns(char *line, char *column[COLUMNS_MAX])
{
	int count = 0;

	for (line += strspn(line, BLANKS); *line && count < COLUMNS_MAX; count++) {
		char *end = end_of(line);
		const bool is_quoted = *end && *end == *line;
		char *next = end + is_quoted;

		next += strspn(next, BLANKS);
		if (*next && strchr(",|", *next))
			next += 1 + strspn(next + 1, BLANKS);
		*end = '\0';
		column[count] = line + is_quoted;
		line = next;
	}
	return count;
}

static bool is_address(const char *text)
{
	struct rf_address address;
	struct rf_error ignored;

	return !rf_parse_address(text, &address, &ignored);
}

/* ---- prefixes and ranges ---- */

static int add_range_text(const char *from_text, const char *to_text, struct rf_prefixes *prefixes,
			  struct rf_error *error)
{
	struct rf_address from, to;
	int err = rf_parse_address(from_text, &from, error);

	if (!err)
		err = rf_parse_address(to_text, &to, error);
	return err ? err : rf_prefixes_add_range(prefixes, &from, &to, error);
}

/* FIRST LAST LENGTH: the columns must agree, since two addresses in a line can be anything. */
static int add_network(char *const column[COLUMNS_MAX], int count, struct rf_prefixes *prefixes,
		       struct rf_error *error)
{
	struct rf_prefixes range = {};
	struct rf_prefix prefix;
	char text[RF_PREFIX_TEXT_SIZE * 2] = "";
	int err = add_range_text(column[0], column[1], &range, error);

	if (!err && count > 2)
		snprintf(text, sizeof(text), "%s/%.8s", column[0], column[2]);
	if (!err && (rf_parse_prefix(text, &prefix, error) || range.count != 1 ||
		     rf_prefix_compare(&prefix, &range.prefix[0])))
		err = rf_error_usage(error,
				     "'%s' and '%s': two addresses in a line; a range is written "
				     "as %s-%s",
				     column[0], column[1], column[0], column[1]);
	rf_prefixes_free(&range);
	return err ? err : rf_prefixes_add(prefixes, &prefix, error);
}

/* Where another column has the address, names it. */
static int fail_columns(char *const column[COLUMNS_MAX], int count, int err, struct rf_error *error)
{
	for (int i = 1; i < count && err != -ENOMEM; i++)
		if (is_address(column[i]))
			return rf_error_usage(error,
					      "'%.64s': no address; '%.64s' is one, but only the "
					      "first column is read",
					      column[0], column[i]);
	return err;
}

static int add_columns(char *const column[COLUMNS_MAX], int count, struct rf_prefixes *prefixes,
		       struct rf_error *error)
{
	char *dash = strchr(column[0], '-');
	int err;

	if (count > 1 && !strcmp(column[1], "for"))
		return rf_error_usage(error,
				      "'for': entries in a file do not expire; 'ringfence "
				      "batch' takes lines such as 'deny add %.64s for 1h'",
				      column[0]);
	if (count > 2 && !strcmp(column[1], "-"))
		return add_range_text(column[0], column[2], prefixes, error);
	if (count > 1 && is_address(column[0]) && is_address(column[1]))
		return add_network(column, count, prefixes, error);
	if (dash)
		*dash = '\0';
	if (dash && is_address(column[0]))
		return add_range_text(column[0], dash + 1, prefixes, error);
	if (dash)
		*dash = '-';
	err = rf_prefixes_add_network(prefixes, column[0], error);
	return err ? fail_columns(column, count, err, error) : 0;
}

/* ---- JSON ---- */

/* One object per line; the last one describes the list, and has a type. */
static int add_object(const char *line, struct rf_prefixes *prefixes, struct rf_error *error)
{
	json_t *object = json_loads(line, 0, NULL);
	const char *prefix = json_string_value(json_object_get(object, "cidr"));
	int err = 0;

	if (!prefix)
		prefix = json_string_value(json_object_get(object, "ip"));
	if (prefix)
		err = rf_prefixes_add_network(prefixes, prefix, error);
	else if (!json_object_get(object, "type"))
		err = rf_error_usage(error, "no JSON object with \"cidr\" or \"ip\"");
	json_decref(object);
	return err;
}

int rf_list_line_parse(char *line, struct rf_prefixes *prefixes, struct rf_error *error)
{
	char *column[COLUMNS_MAX];
	int count;

	line += strspn(line, BLANKS);
	if (*line == '{')
		return add_object(line, prefixes, error);
	line[strcspn(line, "#;")] = '\0';
	count = split_columns(line, column);
	return count ? add_columns(column, count, prefixes, error) : 0;
}

/* ---- sets of nftables ---- */

/*
 * What nft prints, by libnftables-json(5): {"nftables": [{"metainfo": ...}, {"set": {"type": ...,
 * "elem": [ELEMENT...]}}]}. An ELEMENT is "ADDRESS", {"prefix": {"addr": ADDRESS, "len": N}},
 * {"range": [ADDRESS, ADDRESS]}, or {"elem": {"val": ELEMENT, "timeout": SECONDS, ...}}.
 */

struct set_reading {
	const char *name; /* of the text */
	struct rf_prefixes *prefixes;
	struct rf_error *error;
};

bool rf_nft_set_is(const char *text)
{
	return text[strspn(text, " \t\r\n")] == '{' && strstr(text, "\"nftables\"");
}

static int fail_set(const struct set_reading *set_reading, const char *what)
{
	return rf_error_failed(set_reading->error, -EINVAL,
			       "%s: %s; it must be what 'nft -j list set FAMILY TABLE SET' prints",
			       set_reading->name, what);
}

/* ---- elements ---- */

static int add_range(const struct set_reading *set_reading, const struct rf_address *from,
		     const struct rf_address *to)
{
	struct rf_error reason;
	const int err = rf_prefixes_add_range(set_reading->prefixes, from, to, &reason);

	if (err == -EINVAL)
		return fail_set(set_reading, reason.text);
	if (err)
		*set_reading->error = reason;
	return err;
}

static int read_address(const struct set_reading *set_reading, const json_t *value,
			struct rf_address *address)
{
	if (!json_is_string(value))
		return fail_set(set_reading, "an element is no address, prefix or range");
	return rf_parse_address(json_string_value(value), address, set_reading->error);
}

static int add_address(const struct set_reading *set_reading, const json_t *value)
{
	struct rf_address address;
	int err = read_address(set_reading, value, &address);

	return err ? err : add_range(set_reading, &address, &address);
}

static int add_prefix(const struct set_reading *set_reading, const json_t *value)
{
	const char *address = json_string_value(json_object_get(value, "addr"));
	const json_t *length = json_object_get(value, "len");
	char text[RF_PREFIX_TEXT_SIZE];

	if (!address || !json_is_integer(length))
		return fail_set(set_reading, "a prefix lacks 'addr' or 'len'");
	snprintf(text, sizeof(text), "%s/%lld", address, (long long)json_integer_value(length));
	return rf_prefixes_add_network(set_reading->prefixes, text, set_reading->error);
}

static int add_ends(const struct set_reading *set_reading, const json_t *value)
{
	struct rf_address from, to;
	int err = read_address(set_reading, json_array_get(value, 0), &from);

	if (!err)
		err = read_address(set_reading, json_array_get(value, 1), &to);
	return err ? err : add_range(set_reading, &from, &to);
}

static int add_element(const struct set_reading *set_reading, const json_t *element)
{
	const json_t *with_more = json_object_get(element, "elem");
	const json_t *prefix, *range;

	if (json_object_get(with_more, "timeout") || json_object_get(with_more, "expires"))
		return rf_error_failed(
			set_reading->error, -EINVAL,
			"%s: an element has a timeout, which a list file does not support; convert "
			"the set into 'deny add PREFIX for TIME' and run 'ringfence batch'",
			set_reading->name);
	if (with_more)
		element = json_object_get(with_more, "val");
	prefix = json_object_get(element, "prefix");
	range = json_object_get(element, "range");
	if (prefix)
		return add_prefix(set_reading, prefix);
	return range ? add_ends(set_reading, range) : add_address(set_reading, element);
}

/* ---- the set ---- */

/* The one set in what nft printed; NULL after an error. */
static const json_t *find_set(const struct set_reading *set_reading, const json_t *root)
{
	const json_t *set = NULL, *item;
	size_t i;

	json_array_foreach (json_object_get(root, "nftables"), i, item) {
		const json_t *one = json_object_get(item, "set");

		if (one && set) {
			fail_set(set_reading, "it has more than one set");
			return NULL;
		}
		set = one ? one : set;
	}
	if (!set)
		fail_set(set_reading, "it contains no nftables set");
	return set;
}

static int add_set(const struct set_reading *set_reading, const json_t *set)
{
	const char *type = json_string_value(json_object_get(set, "type"));
	const json_t *element;
	size_t i;
	int err = 0;

	if (!type || (strcmp(type, "ipv4_addr") != 0 && strcmp(type, "ipv6_addr") != 0))
		return fail_set(set_reading, "the set's type is not ipv4_addr or ipv6_addr");
	json_array_foreach (json_object_get(set, "elem"), i, element) {
		err = add_element(set_reading, element);
		if (err)
			break;
	}
	return err;
}

int rf_nft_set_prefixes(const char *name, const char *text, struct rf_prefixes *prefixes,
			struct rf_error *error)
{
	const struct set_reading set_reading = {.name = name, .prefixes = prefixes, .error = error};
	json_error_t problem;
	json_t *root = json_loads(text, 0, &problem);
	const json_t *set;
	int err = -EINVAL;

	if (!root)
		return rf_error_failed(error, -EINVAL, "%s:%d: not JSON: %s", name, problem.line,
				       problem.text);
	set = find_set(&set_reading, root);
	if (set)
		err = add_set(&set_reading, set);
	json_decref(root);
	return err;
}

/* ---- errors ---- */

static int fail_mistakes(struct rf_error *error)
{
	return rf_error_failed(error, -ENOMEM, "out of memory for the errors of the file");
}

static int make_mistake_room(struct rf_mistakes *mistakes)
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

/* Errors of the file as a whole follow all lines. */
static bool is_after(size_t left, size_t line)
{
	return !left || left > line;
}

int rf_mistakes_add(struct rf_mistakes *mistakes, size_t line, const char *text,
		    struct rf_error *error)
{
	char *copy = strdup(text);
	size_t at;

	if (!copy || make_mistake_room(mistakes)) {
		free(copy);
		return fail_mistakes(error);
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

/* ---- files ---- */

#define FILE_BYTES_MAX (256UL << 20) /* far more than any rule file has */
#define READ_BYTES 65536
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

const char *rf_file_name(const char *path)
{
	return strcmp(path, "-") == 0 ? "standard input" : path;
}

struct text {
	char *bytes;
	size_t length;
	size_t capacity;
};

static int fail_read(const char *path, int negative_errno, struct rf_error *error)
{
	return rf_error_failed(error, negative_errno, "%s: cannot read it: %s", path,
			       strerror(-negative_errno));
}

static int make_room(struct text *text)
{
	char *grown;

	if (text->capacity - text->length > READ_BYTES)
		return 0;
	text->capacity = text->capacity ? text->capacity * 2 : 2 * READ_BYTES;
	grown = realloc(text->bytes, text->capacity);
	if (!grown)
		return -ENOMEM;
	text->bytes = grown;
	return 0;
}

static int read_stream(FILE *stream, struct text *text)
{
	size_t got = 1;
	int err = 0;

	while (got && !err) {
		err = make_room(text);
		if (err)
			break;
		got = fread(text->bytes + text->length, 1, READ_BYTES, stream);
		text->length += got;
		if (text->length > FILE_BYTES_MAX)
			err = -EFBIG;
	}
	if (!err && ferror(stream))
		err = errno ? -errno : -EIO;
	return err;
}

int rf_file_read(const char *path, char **result, struct rf_error *error)
{
	const bool standard = strcmp(path, "-") == 0;
	FILE *stream = standard ? stdin : fopen(path, "re");
	struct text text = {};
	int err;

	*result = NULL;
	if (!stream)
		return fail_read(path, -errno, error);
	err = read_stream(stream, &text);
	if (!standard)
		fclose(stream);
	if (!err && memchr(text.bytes, '\0', text.length)) {
		free(text.bytes);
		return rf_error_failed(error, -EINVAL, "%s: not a text file: it has a zero byte",
				       path);
	}
	if (err) {
		free(text.bytes);
		return fail_read(path, err, error);
	}
	text.bytes[text.length] = '\0'; /* the last read left room for it */
	*result = text.bytes;
	return 0;
}

/* A file that is not a list has an error in each line. */
static int add_mistake(struct rf_mistakes *mistakes, size_t line, const char *text,
		       struct rf_error *error)
{
	if (mistakes->count < RF_FILE_MISTAKES_MAX)
		return rf_mistakes_add(mistakes, line, text, error);
	mistakes->left_out++;
	return 0;
}

static int add_lines(char *rest, struct rf_prefixes *prefixes, struct rf_mistakes *mistakes,
		     struct rf_error *error)
{
	size_t number = 0;
	char *line;
	int err = 0;

	if (!strncmp(rest, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)))
		rest += strlen(BYTE_ORDER_MARK);
	while (!err && (line = strsep(&rest, "\n"))) {
		struct rf_error reason = {};

		number++;
		err = rf_list_line_parse(line, prefixes, &reason);
		if (err == -ENOMEM)
			*error = reason;
		else if (err)
			err = add_mistake(mistakes, number, reason.text, error);
	}
	return err;
}

/* A download is not always a list. One error for the whole file, not one for each line. */
static int check_form(const char *path, const char *text, struct rf_error *error)
{
	const char *name = rf_file_name(path);

	text += strspn(text, " \t\r\n");
	if (*text == '<')
		return rf_error_failed(
			error, -EINVAL,
			"%s: HTML or XML, not a list; check the URL that it was downloaded from",
			name);
	if (*text == '[' || (*text == '{' && text[strcspn(text, "}\n")] != '}'))
		return rf_error_failed(
			error, -EINVAL,
			"%s: JSON other than one object per line; extract the prefixes with "
			"'jq', one per line",
			name);
	return 0;
}

int rf_file_prefixes(const char *path, struct rf_prefixes *prefixes, struct rf_mistakes *mistakes,
		     struct rf_error *error)
{
	char *text;
	int err = rf_file_read(path, &text, error);

	if (err)
		return err;
	if (rf_nft_set_is(text)) {
		err = rf_nft_set_prefixes(path, text, prefixes, error);
	} else {
		err = check_form(path, text, error);
		if (!err)
			err = add_lines(text, prefixes, mistakes, error);
	}
	free(text);
	return err;
}
