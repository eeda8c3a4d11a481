// SPDX-License-Identifier: GPL-2.0
/* Text for people: without control characters, numbers, errors. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/text.h"

/* ---- what others have written ---- */

/* The length in bytes of a UTF-8 sequence that starts with `lead`; 0: invalid. */
static size_t length_of(unsigned char lead)
{
	if (lead < 0x80)
		return 1;
	if (lead < 0xc2)
		return 0;
	if (lead < 0xe0)
		return 2;
	if (lead < 0xf0)
		return 3;
	return lead < 0xf5 ? 4 : 0;
}

/* The character at `text`, and its length in bytes; 0 bytes: it is not UTF-8 (RFC 3629). */
static uint32_t decode(const unsigned char *text, size_t *length)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	const size_t size = length_of(*text);
	uint32_t character = size < 2 ? *text : *text & (0x7f >> size);

	*length = 0;
	for (size_t i = 1; i < size; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		character = character << 6 | (text[i] & 0x3f);
	}
	if (!size || character < least[size] || character > 0x10ffff ||
	    (character >= 0xd800 && character < 0xe000))
		return 0;
	*length = size;
	return character;
}

static bool is_harmless(uint32_t character)
{
	if (character < 0x20 || (character >= 0x7f && character < 0xa0))
		return false;
	return (character < 0x2028 || character > 0x202e) &&
	       (character < 0x2066 || character > 0x2069);
}

void rf_hide_controls(char *text, bool keep_lines)
{
	const unsigned char *from = (const unsigned char *)text;
	char *to = text;

	while (*from) {
		size_t length;
		const uint32_t character = decode(from, &length);
		const bool is_blank = character == '\n' || character == '\t';

		if (!length || (!is_harmless(character) && !(keep_lines && is_blank))) {
			*to++ = '?';
			from += length ? length : 1;
			continue;
		}
		while (length--)
			*to++ = *from++;
	}
	*to = '\0';
}

void rf_put(FILE *out, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(out, format, args);
	va_end(args);
}

/* ---- numbers ---- */

void rf_format_short(double number, char text[RF_SHORT_TEXT_SIZE])
{
	static const char suffix[] = " kMGT";
	int i = 0;

	for (; number >= 999.5 && suffix[i + 1]; i++)
		number /= 1000;
	snprintf(text, RF_SHORT_TEXT_SIZE, i && number < 99.5 ? "%.3g%.*s" : "%.0f%.*s", number,
		 i > 0, &suffix[i]);
}

void rf_format_grouped(uint64_t number, char text[RF_GROUPED_TEXT_SIZE])
{
	char digits[RF_GROUPED_TEXT_SIZE];
	const int count = snprintf(digits, sizeof(digits), "%" PRIu64, number);
	int at = 0;

	for (int i = 0; i < count; i++) {
		if (i && (count - i) % 3 == 0)
			text[at++] = ',';
		text[at++] = digits[i];
	}
	text[at] = '\0';
}

/* ---- errors ---- */

/* The message remains one line, for any words of the user in it. */

int rf_error_failed(struct rf_error *error, int negative_errno, const char *format, ...)
{
	va_list args;

	error->usage = false;
	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	rf_hide_controls(error->text, false);
	return negative_errno;
}

int rf_error_usage(struct rf_error *error, const char *format, ...)
{
	va_list args;

	error->usage = true;
	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	rf_hide_controls(error->text, false);
	return -EINVAL;
}
