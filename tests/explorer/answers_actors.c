// SPDX-License-Identifier: GPL-2.0
/* The steps of a CPU of answers.c. Mutants change ringfence/answers.h, which only this file uses.
 */
#include "answers.h"

__u32 most;

void run_call(struct memory *memory, struct local *local, int index)
{
	(void)index;
	local->answer = rf_answers_take(&memory->word, local->period, most);
}
