// SPDX-License-Identifier: GPL-2.0
/*
 * Prints the completion of bash. What may follow what is taken from the command table: from the
 * arguments of a row and, where these say [OPTION…], from its help, in which the line of an option
 * begins with two blanks and its words, and has two more before the explanation. A help that begins
 * "As 'COMMAND'" has the options of that one. Small letters are words; capitals stand for values,
 * of which IF, FILE and PATH are completed.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/out.h"

#define FOLLOWS_MAX 64
#define LINE_SIZE 512
#define REST "*" /* stands for whatever else the command takes */

/* What may come behind a word; "" where that is a value. */
struct follow {
	char word[32];
	char next[LINE_SIZE];
};

struct syntax {
	char start[LINE_SIZE];	 /* directly behind the command; "": the options */
	char must[LINE_SIZE];	 /* words that have to be there, in this order */
	char options[LINE_SIZE]; /* in any order */
	struct follow follow[FOLLOWS_MAX];
	int follows;
};

/* Looks up `COMMAND:WORD` for what follows a word, and by ^, ! and + the lists of struct syntax. */
static const char engine[] =
	"_ringfence_rest()\n"
	"{\n"
	"	local word\n"
	"	for word in ${_ringfence_follow[$1:!]-}; do\n"
	"		[[ $2 == *\" $word \"* ]] || { echo \"$word\"; return; }\n"
	"	done\n"
	"	for word in ${_ringfence_follow[$1:+]-}; do\n"
	"		[[ $2 == *\" $word \"* ]] || echo \"$word\"\n"
	"	done\n"
	"}\n"
	"\n"
	"_ringfence_offer() # WORD: if it fits; quoted, since names of interfaces are anybody's\n"
	"{\n"
	"	local word\n"
	"	printf -v word %q \"$1\"\n"
	"	if [[ $1 == \"$current\"* || $word == \"$current\"* ]]; then "
	"COMPREPLY+=(\"$word\"); fi\n"
	"}\n"
	"\n"
	"_ringfence_complete() # WORD: itself, or what stands for interfaces and files\n"
	"{\n"
	"	local path\n"
	"	case $1 in\n"
	"	IF) for path in /sys/class/net/*; do _ringfence_offer \"${path##*/}\"; done ;;\n"
	"	FILE) compopt -o filenames 2>/dev/null\n"
	"		while read -r path; do COMPREPLY+=(\"$path\"); done < <(compgen -f -- "
	"\"$current\") ;;\n"
	"	*) _ringfence_offer \"$1\" ;;\n"
	"	esac\n"
	"}\n"
	"\n"
	"_ringfence()\n"
	"{\n"
	"	local current=${COMP_WORDS[COMP_CWORD]} first='' command='' last='' said=' ' "
	"help=''\n"
	"	local next word i\n"
	"	COMPREPLY=()\n"
	"	for ((i = 1; i < COMP_CWORD; i++)); do\n"
	"		word=${COMP_WORDS[i]}\n"
	"		said+=\"$word \"\n"
	"		if [[ $last == dev && ${_ringfence_follow[$command:dev]+is} ]]; then\n"
	"			last=''\n"
	"		elif [[ $command || $word == dev || $word == --* ]]; then\n"
	"			last=$word\n"
	"		elif [[ ! $first && $word == help ]]; then\n"
	"			help=1\n"
	"		elif [[ ${_ringfence_follow[${first:+$first }$word:+]+is} ]]; then\n"
	"			command=${first:+$first }$word said=' ' last=^\n"
	"		else\n"
	"			first=$word\n"
	"		fi\n"
	"	done\n"
	"	if [[ $last == dev && ${_ringfence_follow[$command:dev]+is} ]]; then\n"
	"		next=IF\n"
	"	elif [[ ! $command ]]; then\n"
	"		next=${_ringfence_follow[:$first]-}\n"
	"		[[ $help || $first ]] || next+=' dev --json --verbose help --version'\n"
	"	elif [[ $help ]]; then\n"
	"		next=''\n"
	"	else\n"
	"		next=${_ringfence_follow[$command:${last:-none}]-*}\n"
	"	fi\n"
	"	for word in ${next/'*'/$(_ringfence_rest \"$command\" \"$said\")}; do\n"
	"		_ringfence_complete \"$word\"\n"
	"	done\n"
	"}\n"
	"\n"
	"complete -F _ringfence ringfence\n";

/* ---- words ---- */

static bool is_keyword(const char *word)
{
	if (!islower((unsigned char)*word))
		return false;
	for (; *word; word++)
		if (!islower((unsigned char)*word) && !isdigit((unsigned char)*word))
			return false;
	return true;
}

/* As the script knows it; NULL for a value that it knows nothing of. */
static const char *name_of(const char *word)
{
	if (is_keyword(word) || strcmp(word, REST) == 0 || strcmp(word, "IF") == 0)
		return word;
	return strcmp(word, "FILE") == 0 || strcmp(word, "PATH") == 0 ? "FILE" : NULL;
}

/* Is `word`, which has no blanks, in a list that has blanks between? */
static bool lists(const char *list, const char *word)
{
	const size_t length = strlen(word);

	for (const char *at = list; (at = strstr(at, word)); at += length)
		if ((at == list || at[-1] == ' ') && (!at[length] || at[length] == ' '))
			return true;
	return false;
}

static void append(char list[LINE_SIZE], const char *word)
{
	const size_t length = strlen(list);
	const char *name = name_of(word);

	if (name && !lists(list, name))
		snprintf(list + length, LINE_SIZE - length, "%s%s", length ? " " : "", name);
}

/* What follows the keyword, which is new if need be; NULL for a value. */
static char *follow_of(struct syntax *syntax, const char *word)
{
	if (!is_keyword(word))
		return NULL;
	for (int i = 0; i < syntax->follows; i++)
		if (strcmp(syntax->follow[i].word, word) == 0)
			return syntax->follow[i].next;
	if (syntax->follows == FOLLOWS_MAX)
		return NULL;
	snprintf(syntax->follow[syntax->follows].word, sizeof(syntax->follow[0].word), "%s", word);
	return syntax->follow[syntax->follows++].next;
}

/* ---- reading the table ---- */

/* `alternatives` is cut at each '|'; says that any of these may come behind each of `before`. */
static void link_words(struct syntax *syntax, const char *before, const char *alternatives)
{
	char left[LINE_SIZE], right[LINE_SIZE], *word, *next, *save = NULL, *inner;

	snprintf(left, sizeof(left), "%s", before);
	for (word = strtok_r(left, "|", &save); word; word = strtok_r(NULL, "|", &save)) {
		char *follow = follow_of(syntax, word);

		if (!follow)
			continue;
		snprintf(right, sizeof(right), "%s", alternatives);
		for (next = strtok_r(right, "|", &inner); next; next = strtok_r(NULL, "|", &inner))
			append(follow, next);
	}
}

static void append_each(char list[LINE_SIZE], const char *alternatives)
{
	char copy[LINE_SIZE], *word, *save = NULL;

	snprintf(copy, sizeof(copy), "%s", alternatives);
	for (word = strtok_r(copy, "|", &save); word; word = strtok_r(NULL, "|", &save))
		append(list, word);
}

/*
 * Words one behind the other, like `match tcp syn` or `watch [SECONDS]`. The first of them is put
 * on the list `heads`, and each of them on `must`, where these are not NULL. `then` comes last.
 */
static void read_sequence(struct syntax *syntax, const char *text, char *heads, char *must,
			  const char *then)
{
	char copy[LINE_SIZE], *token, *save = NULL, before[LINE_SIZE] = "";

	snprintf(copy, sizeof(copy), "%s", text);
	for (token = strtok_r(copy, " []", &save); token; token = strtok_r(NULL, " []", &save)) {
		if (*before && text[token - copy - 1] == '[')
			link_words(syntax, before, then);
		if (*before)
			link_words(syntax, before, token);
		else if (heads)
			append_each(heads, token);
		if (must && is_keyword(token))
			append(must, token);
		snprintf(before, sizeof(before), "%s", token);
	}
	link_words(syntax, before, then);
}

/* One of the ways to write a command's arguments: bare words, and options in brackets. */
static void read_way(struct syntax *syntax, char *way, bool first)
{
	char bare[LINE_SIZE] = "";

	while (*way) {
		const size_t length = strcspn(way, "[");
		char *end = way + length;
		int depth = 0;

		snprintf(bare + strlen(bare), sizeof(bare) - strlen(bare), "%.*s", (int)length,
			 way);
		if (!*end)
			break;
		way = end + 1;
		do
			depth += *end == '[' ? 1 : *end == ']' ? -1 : 0;
		while (depth && *++end);
		if (!*end)
			break;
		*end = '\0';
		if (strcmp(way, "OPTION…") != 0)
			read_sequence(syntax, way, syntax->options, NULL, REST);
		way = end + 1;
	}
	read_sequence(syntax, bare, syntax->start, first ? syntax->must : NULL, first ? REST : "");
	if (strncmp(bare, "IF…", strlen("IF…")) == 0) {
		snprintf(syntax->start, sizeof(syntax->start), "IF");
		append(syntax->options, "IF");
	}
}

static void read_arguments(struct syntax *syntax, const char *arguments)
{
	char copy[LINE_SIZE], *way = copy, *end;
	bool first = true;

	snprintf(copy, sizeof(copy), "%s", arguments);
	for (; way; way = end, first = false) {
		end = strstr(way, " | ");
		if (end) {
			*end = '\0';
			end += strlen(" | ");
		}
		read_way(syntax, way, first);
	}
}

static const struct rf_command_row *find_row(const struct rf_command_table *table,
					     const char *words)
{
	for (size_t i = 0; i < table->count; i++)
		if (strcmp(table->row[i].words, words) == 0)
			return &table->row[i];
	return NULL;
}

/* The options that the lines of a help explain, but for those that the arguments told. */
static void read_options(const struct rf_command_table *table, struct syntax *syntax,
			 const char *help)
{
	const struct syntax told = *syntax;
	char line[LINE_SIZE], words[32];

	if (sscanf(help, "As '%31[^']'", words) == 1 && find_row(table, words))
		help = find_row(table, words)->help;
	for (; *help; help += strcspn(help, "\n"), help += *help == '\n') {
		snprintf(line, sizeof(line), "%.*s", (int)strcspn(help, "\n"), help);
		if (strncmp(line, "  ", 2) != 0 || !islower((unsigned char)line[2]) ||
		    !strstr(line + 2, "  "))
			continue;
		*strstr(line + 2, "  ") = '\0';
		snprintf(words, sizeof(words), "%.*s", (int)strcspn(line + 2, " "), line + 2);
		if (!lists(told.options, words))
			read_sequence(syntax, line + 2, syntax->options, NULL, REST);
	}
}

/* ---- printing ---- */

static void print_follow(const char *command, const char *key, const char *next)
{
	rf_out("\t['%s:%s']='%s'\n", command, key, next);
}

/* Of what every command takes; those that name their interfaces themselves have no `dev`. */
static void read_common(struct syntax *syntax)
{
	if (!lists(syntax->start, "IF") && !lists(syntax->options, "IF"))
		read_sequence(syntax, "dev IF", syntax->options, NULL, REST);
	strncat(syntax->options, " --json --verbose",
		sizeof(syntax->options) - strlen(syntax->options) - 1);
}

static void print_row(const struct rf_command_table *table, const struct rf_command_row *row)
{
	struct syntax syntax = {};

	read_arguments(&syntax, row->arguments);
	if (strstr(row->arguments, "OPTION…"))
		read_options(table, &syntax, row->help);
	read_common(&syntax);
	if (*row->arguments && *row->arguments != '[')
		print_follow(row->words, "^", syntax.start);
	print_follow(row->words, "!", syntax.must);
	print_follow(row->words, "+", syntax.options);
	for (int i = 0; i < syntax.follows; i++)
		print_follow(row->words, syntax.follow[i].word, syntax.follow[i].next);
}

/* The first words of all commands, and what comes behind `limit`, say. */
static void print_commands(const struct rf_command_table *table)
{
	char first[LINE_SIZE] = "", word[32], second[LINE_SIZE];

	for (size_t i = 0; i < table->count; i++) {
		snprintf(word, sizeof(word), "%.*s", (int)strcspn(table->row[i].words, " "),
			 table->row[i].words);
		if (lists(first, word))
			continue;
		append(first, word);
		*second = '\0';
		for (size_t j = i; j < table->count; j++)
			if (strncmp(table->row[j].words, word, strlen(word)) == 0 &&
			    table->row[j].words[strlen(word)] == ' ')
				append(second, table->row[j].words + strlen(word) + 1);
		if (*second)
			print_follow("", word, second);
	}
	print_follow("", "", first);
	print_follow("", "dev", "IF");
}

int rf_cmd_completion(const struct rf_options *options, struct rf_words *words,
		      struct rf_error *error)
{
	int err = rf_words_end(words, error);

	if (!err && options->json)
		err = rf_error_usage(error, "'--json': completion prints a script for bash");
	if (!err && options->dev)
		err = rf_error_usage(error, "'dev %s': completion is of no interface",
				     options->dev);
	if (err)
		return err;
	rf_out("# bash completion for ringfence; made by 'ringfence completion'\n"
	       "declare -gA _ringfence_follow=(\n");
	print_commands(options->table);
	for (size_t i = 0; i < options->table->count; i++)
		print_row(options->table, &options->table->row[i]);
	rf_out(")\n\n%s", engine);
	return 0;
}
