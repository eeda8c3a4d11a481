// SPDX-License-Identifier: GPL-2.0
/* Which characters a terminal would obey, and which not. */
#include "unit.h"

#include "base/text.h"

struct row {
	const char *text;
	const char *shown;
	const char *with_lines; /* "": the same */
};

static void is_shown(void **state)
{
	const struct row *row = *state;
	char text[128];

	strcpy(text, row->text);
	rf_hide_controls(text, false);
	assert_string_equal(text, row->shown);
	strcpy(text, row->text);
	rf_hide_controls(text, true);
	assert_string_equal(text, *row->with_lines ? row->with_lines : row->shown);
}

#define ROW_OF(name, text, shown, with_lines) \
	UNIT_ROW_OF("printable: " name, is_shown, (&(struct row){text, shown, with_lines}))
#define ROW(name, text, shown) ROW_OF(name, text, shown, "")

static const struct CMUnitTest tests[] = {
	ROW("an empty text", "", ""),
	ROW("plain words", "eth0: attached", "eth0: attached"),
	ROW("other scripts and signs", "größe … 東京 🔒", "größe … 東京 🔒"),
	ROW("an escape sequence", "a\033[2Jb", "a?[2Jb"),
	ROW_OF("a line feed and a tab", "a\nb\tc", "a?b?c", "a\nb\tc"),
	ROW("a carriage return", "a\rb", "a?b"),
	ROW("the character DEL", "a\177b", "a?b"),
	ROW("the first C1 control", "a\302\200b", "a?b"),
	ROW("the C1 control that begins a sequence", "a\302\2332Jb", "a?2Jb"),
	ROW("the last C1 control", "a\302\237b", "a?b"),
	ROW("the character after the C1 controls", "a\302\240b", "a\302\240b"),
	ROW("a C1 control in one byte", "a\2332Jb", "a?2Jb"),
	ROW("a lead byte at the end", "a\303", "a?"),
	ROW("two bytes of a cut character", "a\342\200b", "a??b"),
	ROW("a C1 control in three bytes", "a\340\202\233b", "a???b"),
	ROW("a control character in two bytes", "a\300\233b", "a??b"),
	ROW("a surrogate", "a\355\240\200b", "a???b"),
	ROW("a character beyond Unicode", "a\364\220\200\200b", "a????b"),
	ROW("a mark that overrides the direction", "a\342\200\256b", "a?b"),
	ROW("a mark that isolates a direction", "a\342\201\246b", "a?b"),
	ROW("a line separator", "a\342\200\250b", "a?b"),
};

int main(void)
{
	return cmocka_run_group_tests_name("printable", tests, NULL, NULL);
}
