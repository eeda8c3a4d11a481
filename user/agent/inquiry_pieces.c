// SPDX-License-Identifier: GPL-2.0
#include "agent/inquiry.h"

const struct rf_piece *rf_inquiry_piece(const struct rf_inquiry *inquiry, enum rf_piece_kind kind,
					uint32_t index)
{
	for (uint32_t i = 0; i < inquiry->pieces; i++)
		if (inquiry->piece[i].kind == kind && inquiry->piece[i].index == index)
			return inquiry->piece[i].bytes ? &inquiry->piece[i] : NULL;
	return NULL;
}

json_t *rf_inquiry_host(const struct rf_inquiry *inquiry, uint32_t slot)
{
	const struct rf_piece *piece = rf_inquiry_piece(inquiry, RF_PIECE_HOST, slot);

	return piece ? rf_news_read(piece->bytes, piece->size) : NULL;
}

json_t *rf_inquiry_host_name(const json_t *host)
{
	const char *name = json_string_value(json_object_get(host, "name"));
	char clean[RF_HOST_NAME_SIZE];

	if (!name || !*name)
		return json_null();
	rf_news_clean_name(name, clean);
	return json_string(clean);
}
