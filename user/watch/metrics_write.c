// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdarg.h>

#include "base/printable.h"
#include "base/units.h"
#include "watch/metrics_write.h"

void rf_put(FILE *out, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(out, format, args);
	va_end(args);
}

/* A label's value. Names of fences may have any character but '/' and blanks. */
static void put_value(FILE *out, const char *value)
{
	char text[RF_PREFIX_TEXT_SIZE];

	snprintf(text, sizeof(text), "%s", value);
	rf_hide_controls(text, false);
	for (const char *at = text; *at; at++) {
		if (*at == '"' || *at == '\\')
			fputc('\\', out);
		fputc(*at, out);
	}
}

void rf_put_label(FILE *out, const char *name, const char *value)
{
	rf_put(out, "%s=\"", name);
	put_value(out, value);
	fputc('"', out);
}

void rf_sample_begin(struct rf_writer *writer, const char *suffix, const char *fence)
{
	rf_put(writer->out, "%s%s{", writer->name, suffix);
	if (fence)
		rf_put_label(writer->out, "fence", fence);
}

void rf_sample_label(struct rf_writer *writer, const char *name, const char *value)
{
	fputc(',', writer->out);
	rf_put_label(writer->out, name, value);
}

void rf_sample_count(struct rf_writer *writer, uint64_t value)
{
	rf_put(writer->out, "} %" PRIu64 "\n", value);
}

void rf_sample_seconds(struct rf_writer *writer, uint64_t value_ns)
{
	rf_put(writer->out, "} %.9g\n", (double)value_ns / RF_NS_PER_S);
}
