// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "daemon/gzip.h"

#define WINDOW_OF_GZIP (15 + 16)
#define MOST (8U << 20) /* of the uncompressed text */

char *rf_gzip(const void *bytes, size_t length, size_t *result_length)
{
	z_stream stream = {};
	char *result = NULL;
	size_t most;

	if (deflateInit2(&stream, 6, Z_DEFLATED, WINDOW_OF_GZIP, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return NULL;
	most = deflateBound(&stream, length);
	result = malloc(most);
	stream.next_in = (unsigned char *)bytes;
	stream.avail_in = length;
	stream.next_out = (unsigned char *)result;
	stream.avail_out = most;
	if (result && deflate(&stream, Z_FINISH) != Z_STREAM_END) {
		free(result);
		result = NULL;
	}
	*result_length = stream.total_out;
	deflateEnd(&stream);
	return result;
}

char *rf_gunzip(const void *bytes, size_t length, size_t *result_length)
{
	z_stream stream = {.next_in = (unsigned char *)bytes, .avail_in = length};
	size_t size = 4 * length + 1024;
	char *result = NULL, *longer;
	int code = Z_OK;

	if (inflateInit2(&stream, WINDOW_OF_GZIP) != Z_OK)
		return NULL;
	while (code == Z_OK && size <= MOST) {
		longer = realloc(result, size);
		if (!longer)
			break;
		result = longer;
		stream.next_out = (unsigned char *)result + stream.total_out;
		stream.avail_out = size - stream.total_out;
		code = inflate(&stream, Z_NO_FLUSH);
		size *= 2;
	}
	*result_length = stream.total_out;
	inflateEnd(&stream);
	if (code == Z_STREAM_END)
		return result;
	free(result);
	return NULL;
}
