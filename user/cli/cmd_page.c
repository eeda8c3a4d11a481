// SPDX-License-Identifier: GPL-2.0
/* page: where the daemon serves it */
#include <errno.h>
#include <string.h>

#include "cli/command.h"
#include "cli/out.h"
#include "watch/page_files.h"

static int print_page(const struct rf_options *options, const struct rf_page_address *page,
		      struct rf_error *error)
{
	if (strncmp(page->address, "http", 4) != 0)
		return rf_error_failed(error, -EINVAL,
				       "ringfence-watch serves on a %s alone, for a reverse proxy; "
				       "the setting 'listen 127.0.0.1:9436' opens a port",
				       page->address);
	if (options->json)
		return rf_out_json(
			json_pack("{s:s, s:s}", "url", page->address, "token", page->token), false,
			error);
	rf_out("%s#token=%s\n", page->address, page->token);
	return 0;
}

int rf_cmd_page(const struct rf_options *options, struct rf_words *words, struct rf_error *error)
{
	struct rf_page_address page = {};
	int err = rf_words_end(words, error);

	if (!err && options->dev)
		err = rf_error_usage(error, "'dev': the page shows every fence; 'ringfence page' "
					    "prints where it is");
	if (!err)
		err = rf_page_find(&page, error);
	if (!err)
		err = print_page(options, &page, error);
	explicit_bzero(&page, sizeof(page));
	return err;
}
