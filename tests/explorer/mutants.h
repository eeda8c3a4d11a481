/* SPDX-License-Identifier: GPL-2.0 */
/* Included before the one source that has all mutants of a program: RF_MUTANT selects one of them.
 */
#ifndef RINGFENCE_EXPLORER_MUTANTS_H
#define RINGFENCE_EXPLORER_MUTANTS_H

#include <stdlib.h>

static int rf_mutant; /* 0: none */

static __attribute__((constructor)) void select_mutant(void)
{
	const char *number = getenv("RF_MUTANT");

	rf_mutant = number ? atoi(number) : 0;
}

#endif /* RINGFENCE_EXPLORER_MUTANTS_H */
