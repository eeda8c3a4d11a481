// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/text.h"
#include "cli/out.h"

#define PROGRESS_WIDTH 40
#define PROGRESS_LEAST 20000 /* prefixes; fewer take no visible time */

void rf_out_error(const struct rf_error *error)
{
	fprintf(stderr, "ringfence: %s\n", error->text);
}

void rf_out_keep_last(int err, const struct rf_error *failure, int *result, struct rf_error *error)
{
	if (!err)
		return;
	if (*result)
		rf_out_error(error);
	*result = err;
	*error = *failure;
}

void rf_out_note(const char *text)
{
	fprintf(stderr, "ringfence: %s\n", text);
}

void rf_out_log(const char *log)
{
	if (*log)
		fprintf(stderr,
			"ringfence: the verifier reports '%s'; --verbose prints its whole log\n",
			log);
}

/* The first error of standard output; later output might have succeeded. 0: none. */
static int output_err;

/* Called directly after a call that prints, while errno is valid. */
static void note_lost_output(void)
{
	if (ferror(stdout) && !output_err)
		output_err = errno ? -errno : -EIO;
}

/* Hides control characters: any user may choose the name of an interface or a program. */
void rf_out(const char *format, ...)
{
	char *text;
	va_list args;

	if (output_err) /* after a gap, print nothing: output must not look complete */
		return;
	va_start(args, format);
	if (vasprintf(&text, format, args) < 0) {
		output_err = -ENOMEM;
	} else {
		rf_hide_controls(text, true);
		fputs(text, stdout);
		note_lost_output();
		free(text);
	}
	va_end(args);
}

/* ---- lines of limited width ---- */

#define HANGING 4 /* columns by which the next lines of a paragraph are indented */

int rf_out_width(const char *text, size_t length)
{
	int width = 0;

	for (size_t i = 0; i < length; i++)
		width += ((unsigned char)text[i] & 0xc0) != 0x80;
	return width;
}

/*
 * The length of text that is not wrapped: a word, words in quotes or an option in brackets, and the
 * characters after them.
 */
static size_t unit_length(const char *text)
{
	const size_t word = strcspn(text, " ");
	const size_t bracket = *text == '(';
	const char *end = text + bracket;
	const char closing = *end == '[' ? ']' : '\'';
	size_t length;

	if (*end != '\'' && *end != '[')
		return word;
	do
		end = strchr(end + 1, closing);
	while (end && isalnum((unsigned char)end[1]));
	if (!end)
		return word;
	length = end - text + strcspn(end, " ");
	return rf_out_width(text, length) <= RF_OUT_WIDTH - HANGING ? length : word;
}

void rf_out_wrapped(const char *text, int at, int indent)
{
	for (bool is_first = true; *text; is_first = false) {
		const size_t length = unit_length(text);
		const int width = rf_out_width(text, length);

		if (!is_first && at + 1 + width > RF_OUT_WIDTH) {
			at = indent + width > RF_OUT_WIDTH ? RF_OUT_WIDTH - width : indent;
			at = at > 0 ? at : 0;
			rf_out("\n%*s", at, "");
		} else if (!is_first) {
			rf_out(" ");
			at++;
		}
		rf_out("%.*s", (int)length, text);
		at += width;
		text += length;
		text += *text == ' ';
	}
	rf_out("\n");
}

static void print_line(const char *line)
{
	const int indent = strspn(line, " ");

	rf_out("%*s", indent, "");
	rf_out_wrapped(line + indent, indent, indent + HANGING);
}

void rf_out_text(const char *format, ...)
{
	static char *begun; /* a line that is not complete yet */
	char *text, *joined, *rest, *end;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	if (!text || asprintf(&joined, "%s%s", begun ? begun : "", text) < 0) {
		output_err = -ENOMEM;
		free(text);
		return;
	}
	free(text);
	for (rest = joined; (end = strchr(rest, '\n')); rest = end + 1) {
		*end = '\0';
		print_line(rest);
	}
	free(begun);
	begun = *rest ? strdup(rest) : NULL;
	if (*rest && !begun)
		output_err = -ENOMEM;
	free(joined);
}

void rf_out_progress(size_t done, size_t total)
{
	static const char bar[] = "########################################";
	int filled = total ? done * PROGRESS_WIDTH / total : PROGRESS_WIDTH;

	if (total < PROGRESS_LEAST || !isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\r[%-*.*s] %zu of %zu prefixes", PROGRESS_WIDTH, filled, bar, done, total);
	if (done == total)
		fprintf(stderr, "\r\033[K");
}

static bool has_printed_object; /* JSON of which only one object is expected */

/* Puts the key `schema` before the keys of `root`, unless `root` has it. */
static json_t *with_schema(json_t *root)
{
	json_t *object = json_pack("{s:i}", "schema", RF_JSON_SCHEMA);

	if (!root || json_object_update(object, root)) {
		json_decref(object);
		object = NULL;
	}
	json_decref(root);
	return object;
}

/*
 * Writes nothing after lost output: if a piece exactly fills the buffer and cannot be written,
 * fwrite() reports success.
 */
static int print_piece(const char *piece, size_t size, void *stream)
{
	return fwrite(piece, 1, size, stream) == size && !ferror(stream) ? 0 : -1;
}

int rf_out_json(json_t *contents, bool compact, struct rf_error *error)
{
	json_t *root = with_schema(contents);
	/* Escapes everything but ASCII: a terminal also obeys C1 controls. */
	const size_t flags =
		JSON_ENSURE_ASCII | RF_JSON_REALS | (compact ? JSON_COMPACT : JSON_INDENT(2));
	int err = !root || json_dump_callback(root, print_piece, stdout, flags);

	note_lost_output();
	has_printed_object |= !compact;
	json_decref(root);
	if (output_err) { /* main prints it */
		__fpurge(stdout);
		return 0;
	}
	if (err)
		return rf_error_failed(error, -ENOMEM, "cannot print it as JSON");
	putchar('\n');
	rf_out_flush();
	return 0;
}

int rf_out_record(const struct rf_field *fields, const void *of, struct rf_error *error)
{
	return rf_out_json(rf_record_json(fields, of), false, error);
}

static json_t *error_more; /* further keys of the error */

void rf_out_error_more(const struct rf_field *fields, const void *of)
{
	json_t *more = rf_record_json(fields, of);

	if (!error_more)
		error_more = json_object();
	json_object_update(error_more, more);
	json_decref(more);
}

static const struct rf_field error_fields[] = {
	RF_FIELD("error", struct rf_error, text, "the message"),
	{},
};

RF_RECORD(errors, error_fields);

void rf_out_error_json(const struct rf_error *error)
{
	json_t *root = rf_record_json(error_fields, error);
	struct rf_error ignored;

	if (has_printed_object) {
		json_decref(root);
	} else {
		json_object_update(root, error_more);
		rf_out_json(root, true, &ignored);
	}
	json_decref(error_more);
	error_more = NULL;
}

int rf_out_flush(void)
{
	fflush(stdout);
	note_lost_output();
	return output_err;
}

/* ---- until an interrupt ---- */

static volatile sig_atomic_t interrupted;

static void note_interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
}

void rf_out_until_interrupt(bool or_hangup)
{
	const struct sigaction action = {.sa_handler = note_interrupt};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (or_hangup)
		sigaction(SIGHUP, &action, NULL);
}

bool rf_out_is_interrupted(void)
{
	return interrupted;
}

/* ---- tables ---- */

#define SECOND_INDENT 4 /* columns before a second line */

static int width_of(const char *text)
{
	return rf_out_width(text, strlen(text));
}

static void fill_titles(const struct rf_table *table, struct rf_cells *cells)
{
	for (int i = 0; i < table->columns; i++)
		snprintf(cells->text[i], RF_CELL_SIZE, "%s", table->column[i].title);
}

static void widen(const struct rf_table *table, const struct rf_cells *cells, int *width)
{
	for (int i = 0; i < table->columns; i++)
		if (width_of(cells->text[i]) > width[i])
			width[i] = width_of(cells->text[i]);
}

/* The width of each column, by the widest text in it. Returns the width of the widest row. */
static int measure(const struct rf_table *table, int width[RF_TABLE_COLUMNS])
{
	struct rf_cells cells;
	int sum = -1;

	for (int i = 0; i < table->columns; i++)
		width[i] = table->column[i].least;
	fill_titles(table, &cells);
	widen(table, &cells, width);
	for (size_t row = 0; row < table->rows; row++) {
		table->fill(table->context, row, &cells);
		widen(table, &cells, width);
	}
	for (int i = 0; i < table->columns; i++)
		sum += width[i] + 1;
	return sum;
}

/* Prints the columns from `first` to before `end`; no blanks follow the last text. */
static void print_cells(const struct rf_table *table, const struct rf_cells *cells,
			const int *width, int first, int end)
{
	for (int i = first; i < end; i++) {
		const int blanks = width[i] - width_of(cells->text[i]);
		const bool is_number = table->column[i].is_number;
		const bool is_last = i == end - 1;

		rf_out("%*s%s%*s%s", is_number ? blanks : 0, "", cells->text[i],
		       is_number || is_last ? 0 : blanks, "", is_last ? "\n" : " ");
	}
}

static void print_row(const struct rf_table *table, const struct rf_cells *cells, const int *width,
		      bool in_two)
{
	print_cells(table, cells, width, 0, in_two ? table->names : table->columns);
	if (!in_two)
		return;
	rf_out("%*s", SECOND_INDENT, "");
	print_cells(table, cells, width, table->names, table->columns);
}

void rf_table_print(const struct rf_table *table)
{
	int width[RF_TABLE_COLUMNS];
	const bool in_two = measure(table, width) > RF_OUT_WIDTH;
	struct rf_cells cells;

	fill_titles(table, &cells);
	print_row(table, &cells, width, in_two);
	for (size_t row = 0; row < table->rows; row++) {
		table->fill(table->context, row, &cells);
		print_row(table, &cells, width, in_two);
	}
}
