// SPDX-License-Identifier: GPL-2.0
/* newcomers */
#include "cli/transaction.h"

int rf_cmd_newcomers(const struct rf_options *options, struct rf_words *words,
		     struct rf_error *error)
{
	struct rf_transaction transaction = RF_TRANSACTION_NONE;
	struct rf_newcomers_text newcomers;
	int err = rf_parse_newcomers(words, &newcomers, error);

	if (!err)
		err = rf_transaction_begin(&transaction, options, error);
	if (!err) {
		transaction.rules.bank.newcomers.rate = newcomers.rate;
		transaction.rules.bank.newcomers.window_ns = newcomers.window_ns;
		transaction.rules.bank.newcomers.then = newcomers.then;
		err = rf_transaction_commit(&transaction, NULL, error);
	}
	rf_transaction_end(&transaction);
	return err;
}
