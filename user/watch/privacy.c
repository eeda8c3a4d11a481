// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/siphash.h"
#include "watch/privacy.h"

#define TOLD_LENGTH4 24
#define TOLD_LENGTH6 48

bool rf_tell(enum rf_told told, const struct rf_prefix *in, struct rf_prefix *out)
{
	const unsigned int length = in->version == 4 ? TOLD_LENGTH4 : TOLD_LENGTH6;

	if (told == RF_TELL_NONE)
		return false;
	*out = *in;
	if (told == RF_TELL_FULL || in->length <= length)
		return true;
	out->length = length;
	for (unsigned int i = 0; i < 4; i++)
		out->word[i] &= rf_prefix_mask(length, i);
	return true;
}

#define WHO_MASK 0xfffffff

uint32_t rf_tell_who(const uint64_t key[2], const struct rf_prefix *source,
		     const struct rf_prefix *told)
{
	const uint32_t words[] = {source->word[0], source->word[1], source->word[2],
				  source->word[3], source->length << 8 | source->version};

	if (!rf_prefix_compare(source, told))
		return 0;
	return (rf_siphash(key, words, sizeof(words)) & WHO_MASK) ?: 1;
}

/*
 * Writes a word, which can be an address or a prefix; punctuation at its right is not part of it.
 */
static void tell_word(FILE *out, enum rf_told told, const char *word, size_t length)
{
	char text[RF_PREFIX_TEXT_SIZE] = "";
	struct rf_prefix prefix, shown;
	struct rf_error ignored;
	size_t end = length;

	while (end && (word[end - 1] == '.' ||
		       (word[end - 1] == ':' && (end < 2 || word[end - 2] != ':'))))
		end--;
	if (end < sizeof(text))
		memcpy(text, word, end);
	if (!strpbrk(text, ".:") || rf_parse_prefix(text, &prefix, &ignored)) {
		fwrite(word, 1, length, out);
		return;
	}
	snprintf(text, sizeof(text), "a source");
	if (rf_tell(told, &prefix, &shown))
		rf_format_prefix(&shown, text);
	fputs(text, out);
	fwrite(word + end, 1, length - end, out);
}

char *rf_tell_text(enum rf_told told, const char *text)
{
	static const char of_address[] = "0123456789abcdefABCDEF.:/";
	char *result = NULL;
	size_t size;
	FILE *out;

	if (told == RF_TELL_FULL)
		return strdup(text);
	out = open_memstream(&result, &size);
	if (!out)
		return NULL;
	while (*text) {
		const size_t word = strspn(text, of_address),
			     other = strcspn(text + word, of_address);

		tell_word(out, told, text, word);
		fwrite(text + word, 1, other, out);
		text += word + other;
	}
	if (fclose(out)) {
		free(result);
		return NULL;
	}
	return result;
}
