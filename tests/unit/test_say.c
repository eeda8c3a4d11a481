// SPDX-License-Identifier: GPL-2.0
/* Errors that persist are logged once, and so is their end. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/say.h"
#include "unit.h"

/* Standard output and error of one call, in `text`. */
static void log_once(struct rf_said *said, const char *error, const char *recovered, char text[256])
{
	const int kept[] = {dup(STDOUT_FILENO), dup(STDERR_FILENO)};
	FILE *file = tmpfile();
	size_t length;

	assert_non_null(file);
	dup2(fileno(file), STDOUT_FILENO);
	dup2(fileno(file), STDERR_FILENO);
	rf_say_once(said, "disk: ", error, recovered);
	dup2(kept[0], STDOUT_FILENO);
	dup2(kept[1], STDERR_FILENO);
	close(kept[0]);
	close(kept[1]);
	rewind(file);
	length = fread(text, 1, 255, file);
	text[length] = '\0';
	fclose(file);
}

#define LOGS(said, error, recovered, expected)             \
	do {                                               \
		char text[256];                            \
		log_once(&(said), error, recovered, text); \
		assert_string_equal(text, expected);       \
	} while (0)

static void an_error_is_logged_once_and_so_is_its_end(void **state)
{
	struct rf_said said = {};

	(void)state;
	rf_say_as("test");
	LOGS(said, "", "fine again", "");
	LOGS(said, "full", "fine again", "test: disk: full\n");
	LOGS(said, "full", "fine again", "");
	LOGS(said, "broken", "fine again", "test: disk: broken\n");
	LOGS(said, "", "fine again", "fine again\n");
	LOGS(said, "", "fine again", "");
	LOGS(said, "full", NULL, "test: disk: full\n");
	LOGS(said, "", NULL, "");
}

/* A text that does not fit must not be taken for a new one each time. */
static void a_long_error_is_logged_once(void **state)
{
	struct rf_said said = {};
	char error[2 * sizeof(said.text)], text[256];

	(void)state;
	memset(error, 'x', sizeof(error));
	error[sizeof(error) - 1] = '\0';
	log_once(&said, error, NULL, text);
	assert_true(*text);
	log_once(&said, error, NULL, text);
	assert_string_equal(text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_error_is_logged_once_and_so_is_its_end),
		cmocka_unit_test(a_long_error_is_logged_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
