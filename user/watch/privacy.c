// SPDX-License-Identifier: GPL-2.0
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
