// SPDX-License-Identifier: GPL-2.0
/* newcomers */
#include "change.h"

int rf_cmd_newcomers(const struct rf_options *options, struct rf_words *words,
		     struct rf_error *error)
{
	struct rf_change change = RF_CHANGE_NONE;
	struct rf_newcomers_text newcomers;
	int err = rf_parse_newcomers(words, &newcomers, error);

	if (!err)
		err = rf_change_begin(&change, options, error);
	if (!err) {
		change.rules.bank.newcomers.rate = newcomers.rate;
		change.rules.bank.newcomers.window_ns = newcomers.window_ns;
		change.rules.bank.newcomers.then = newcomers.then;
		err = rf_change_commit(&change, NULL, error);
	}
	rf_change_end(&change);
	return err;
}
