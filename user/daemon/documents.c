// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "base/units.h"
#include "daemon/documents.h"

static void put(FILE *out, const char *text)
{
	fwrite(text, 1, strlen(text), out);
}

/* A label's value: the name of a fence may have any character but '/' and blanks. */
static void put_label(FILE *out, const char *value)
{
	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			fputc('\\', out);
		fputc(*value, out);
	}
}

static void put_sample(FILE *out, const char *name, const char *fence, double value)
{
	char number[32];

	put(out, name);
	put(out, "{fence=\"");
	put_label(out, fence);
	snprintf(number, sizeof(number), "\"} %.9g\n", value);
	put(out, number);
}

static void put_up(FILE *out, const struct rf_watching *watching)
{
	put(out, "# HELP ringfence_up Whether the last scan of the fence succeeded.\n"
		 "# TYPE ringfence_up gauge\n");
	for (int i = 0; i < watching->count; i++)
		put_sample(out, "ringfence_up", watching->of[i]->found.name,
			   watching->of[i]->has_snapshot);
}

static void put_ages(FILE *out, const struct rf_watching *watching, uint64_t now)
{
	put(out, "# HELP ringfence_scan_age_seconds Time since the last scan began.\n"
		 "# TYPE ringfence_scan_age_seconds gauge\n");
	for (int i = 0; i < watching->count; i++) {
		const struct rf_watched *one = watching->of[i];

		if (one->has_snapshot)
			put_sample(out, "ringfence_scan_age_seconds", one->found.name,
				   (double)(now - one->snapshot.awake_ns) / RF_NS_PER_S);
	}
}

static char *write_metrics(const struct rf_watching *watching, const struct rf_pace *pace,
			   uint64_t now, bool is_open, size_t *length)
{
	char *text = NULL, number[40];
	FILE *out = open_memstream(&text, length);

	if (!out)
		return NULL;
	put_up(out, watching);
	put_ages(out, watching, now);
	put(out, "# HELP ringfence_scan_interval_seconds Time between two scans.\n"
		 "# TYPE ringfence_scan_interval_seconds gauge\nringfence_scan_interval_seconds ");
	snprintf(number, sizeof(number), "%.9g\n", (double)pace->interval_ns / RF_NS_PER_S);
	put(out, number);
	if (is_open)
		put(out, "# EOF\n");
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

void rf_documents_put(struct rf_feed *feed, const struct rf_watching *watching,
		      const struct rf_pace *pace)
{
	static const enum rf_document kinds[] = {RF_DOC_TEXT, RF_DOC_OPENMETRICS,
						 RF_DOC_WITH_EXEMPLARS};
	const uint64_t now = rf_time_awake();

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		size_t length;
		char *text = write_metrics(watching, pace, now, kinds[i] != RF_DOC_TEXT, &length);

		if (text)
			rf_feed_put(feed, kinds[i], text, length, now);
		free(text);
	}
}
