// SPDX-License-Identifier: GPL-2.0
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
