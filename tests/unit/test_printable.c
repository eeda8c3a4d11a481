// SPDX-License-Identifier: GPL-2.0
/* What a terminal would obey, and what it would not. */
#include "unit.h"

#include "base/printable.h"

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
	UNIT_ROW_OF(name, is_shown, (&(struct row){text, shown, with_lines}))
#define ROW(name, text, shown) ROW_OF(name, text, shown, "")

static const struct CMUnitTest tests[] = {
	ROW("nothing", "", ""),
	ROW("plain words", "eth0: attached", "eth0: attached"),
	ROW("other scripts and signs", "größe … 東京 🔒", "größe … 東京 🔒"),
	ROW("an escape", "a\033[2Jb", "a?[2Jb"),
	ROW_OF("a line", "a\nb\tc", "a?b?c", "a\nb\tc"),
	ROW("a carriage return", "a\rb", "a?b"),
	ROW("delete", "a\177b", "a?b"),
	ROW("the first C1", "a\302\200b", "a?b"),
	ROW("the one that begins a sequence", "a\302\2332Jb", "a?2Jb"),
	ROW("the last C1", "a\302\237b", "a?b"),
	ROW("what follows C1", "a\302\240b", "a\302\240b"),
	ROW("a bare C1 of 8 bits", "a\2332Jb", "a?2Jb"),
	ROW("a byte that leads nowhere", "a\303", "a?"),
	ROW("two that lead nowhere", "a\342\200b", "a??b"),
	ROW("a C1 in three bytes", "a\340\202\233b", "a???b"),
	ROW("a control character in two bytes", "a\300\233b", "a??b"),
	ROW("a surrogate", "a\355\240\200b", "a???b"),
	ROW("beyond Unicode", "a\364\220\200\200b", "a????b"),
	ROW("a direction that is overridden", "a\342\200\256b", "a?b"),
	ROW("a direction that is isolated", "a\342\201\246b", "a?b"),
	ROW("a line that ends elsewhere", "a\342\200\250b", "a?b"),
};

int main(void)
{
	return cmocka_run_group_tests_name("printable", tests, NULL, NULL);
}
