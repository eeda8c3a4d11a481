// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "base/say.h"
#include "base/time.h"
#include "base/units.h"
#include "daemon/documents.h"

static void put_page(struct rf_feed *feed, enum rf_document kind,
		     const struct rf_metrics_page *page)
{
	size_t length;
	char *text = rf_metrics_write(page, &length);

	if (!text || rf_feed_put(feed, kind, text, length, page->awake_ns))
		rf_warn("no memory for the metrics of %d fences", page->fences);
	free(text);
}

void rf_documents_put(struct rf_feed *feed, const struct rf_records *records, enum rf_told told,
		      uint64_t interval_ns)
{
	const struct rf_metrics **fence = calloc(records->count + 1, sizeof(*fence));
	struct rf_metrics_page page = {
		.fence = fence,
		.fences = records->count,
		.told = told,
		.awake_ns = rf_time_awake(),
		.interval_ns = interval_ns,
	};

	if (!fence)
		return;
	for (int i = 0; i < records->count; i++)
		fence[i] = records->of[i]->metrics;
	put_page(feed, RF_DOC_TEXT, &page);
	page.is_open = true;
	put_page(feed, RF_DOC_OPENMETRICS, &page);
	page.has_exemplars = true;
	put_page(feed, RF_DOC_WITH_EXEMPLARS, &page);
	free(fence);
}
