// SPDX-License-Identifier: GPL-2.0
#include "base/host_port.h"

#include <stdlib.h>
#include <string.h>

bool rf_host_port_split(const char *text, struct rf_host_port *parts)
{
	const char *colon = strrchr(text, ':');

	if (!colon)
		return false;
	*parts = (struct rf_host_port){.host = text, .length = colon - text, .port = colon + 1};
	if (parts->length < 2 || text[0] != '[' || colon[-1] != ']')
		return true;
	parts->in_brackets = true;
	parts->host++;
	parts->length -= 2;
	return true;
}

bool rf_host_port_copy(const struct rf_host_port *parts, char *host, size_t size)
{
	if (parts->length >= size)
		return false;
	memcpy(host, parts->host, parts->length);
	host[parts->length] = '\0';
	return true;
}

uint16_t rf_port_of(const char *text)
{
	const size_t digits = strspn(text, "0123456789");
	const unsigned long port =
		digits && digits <= 5 && *text != '0' ? strtoul(text, NULL, 10) : 0;

	return text[digits] || port > UINT16_MAX ? 0 : port;
}
