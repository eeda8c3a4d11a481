// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdio.h>

#include "base/number.h"

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
