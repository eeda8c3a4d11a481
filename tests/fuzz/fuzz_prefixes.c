// SPDX-License-Identifier: GPL-2.0
/*
 * Files of prefixes: one a line, or a set as nft prints it. For any bytes, each prefix read is
 * sound, a short file makes no long list, and the written list is read again as the same one.
 */
#include <errno.h>
#include <string.h>

#include "file.h"
#include "rules/file.h"

#define MOST_FOR_A_BYTE 16 /* a range of IPv6 has 254 prefixes at most, and takes 20 bytes */

static struct fuzz_file file;

static void check_sound(const struct rf_prefix *prefix)
{
	REQUIRE(prefix->version == 4 || prefix->version == 6);
	REQUIRE(prefix->length <= (prefix->version == 4 ? 32 : 128));
	for (unsigned int i = 0; i < 4; i++)
		REQUIRE(!(prefix->word[i] & ~rf_prefix_mask(prefix->length, i)));
	for (unsigned int i = 1; i < 4 && prefix->version == 4; i++)
		REQUIRE(!prefix->word[i]);
}

static void check_mistakes(const struct rf_mistakes *mistakes)
{
	REQUIRE(mistakes->count <= RF_FILE_MISTAKES_MAX);
	REQUIRE(!mistakes->left_out || mistakes->count == RF_FILE_MISTAKES_MAX);
	for (size_t i = 0; i < mistakes->count; i++)
		REQUIRE(mistakes->mistake[i].line && *mistakes->mistake[i].text &&
			!strchr(mistakes->mistake[i].text, '\n'));
}

static void read_again(const struct rf_prefixes *prefixes)
{
	struct rf_prefixes again = {};
	struct rf_mistakes mistakes = {};
	struct rf_error error = {};
	char prefix[RF_PREFIX_TEXT_SIZE], *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; i < prefixes->count; i++) {
		rf_format_prefix(&prefixes->prefix[i], prefix);
		fprintf(out, "%s\n", prefix);
	}
	fclose(out);
	fuzz_file_write(&file, text, size);
	free(text);
	REQUIRE(!rf_file_prefixes(file.path, &again, &mistakes, &error));
	REQUIRE(!mistakes.count && again.count == prefixes->count);
	for (size_t i = 0; i < again.count; i++)
		REQUIRE(!rf_prefix_compare(&again.prefix[i], &prefixes->prefix[i]));
	rf_prefixes_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rf_prefixes prefixes = {};
	struct rf_mistakes mistakes = {};
	struct rf_error error = {};
	int err;

	fuzz_file_write(&file, data, size);
	err = rf_file_prefixes(file.path, &prefixes, &mistakes, &error);
	REQUIRE(!err || err == -EINVAL);
	REQUIRE(!err == !*error.text && !strchr(error.text, '\n'));
	REQUIRE(prefixes.count <= MOST_FOR_A_BYTE * size);
	for (size_t i = 0; i < prefixes.count; i++)
		check_sound(&prefixes.prefix[i]);
	check_mistakes(&mistakes);
	if (prefixes.count <= 2048)
		read_again(&prefixes);
	rf_mistakes_free(&mistakes);
	rf_prefixes_free(&prefixes);
	return 0;
}
