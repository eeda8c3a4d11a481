// SPDX-License-Identifier: GPL-2.0
/* The past map ABIs whose rules this build reads. */
#include <stddef.h>

#include "kernel/past.h"

static const struct rf_past_layout *const layouts[] = {&rf_past_abi5, &rf_past_abi6, &rf_past_abi7,
						       &rf_past_abi8};

const struct rf_past_layout *rf_past_find(uint32_t abi)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++)
		if (layouts[i]->abi == abi && abi != RF_ABI_VERSION)
			return layouts[i];
	return NULL;
}
