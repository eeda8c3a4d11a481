// SPDX-License-Identifier: GPL-2.0
/* Parses the words after the commands of a fleet. */
#include "ringfence/fleet.h"
#include "rules/private.h"

int rf_parse_hosts(struct rf_words *words, uint32_t *hosts, struct rf_error *error)
{
	const char *text = rf_words_next(words);
	int err = 0;

	*hosts = 0;
	if (text)
		err = rf_parse_number(text, "number of hosts", 1, RF_FLEET_HOSTS_MAX, hosts, error);
	return err ? err : rf_words_end(words, error);
}
