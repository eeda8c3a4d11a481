// SPDX-License-Identifier: GPL-2.0
/* draft-ietf-opsawg-pcapng. A block is {type, length, body, length}, in words of this machine. */
#include <errno.h>
#include <string.h>

#include "ringfence/abi.h"
#include "watch/pcapng.h"

enum block {
	BLOCK_SECTION = 0x0a0d0d0a,
	BLOCK_INTERFACE = 1,
	BLOCK_PACKET = 6,
};

enum option {
	OPT_END = 0,
	OPT_COMMENT = 1,
	OPT_NAME = 2,	 /* of an interface */
	OPT_PROGRAM = 4, /* of a section */
	OPT_TSRESOL = 9, /* of an interface */
};

#define BYTE_ORDER_MAGIC 0x1a2b3c4d
#define LINK_ETHERNET 1
#define RESOLUTION_NS 9 /* 10^-9 s */
#define BODY_SIZE 1024
#define TEXT_MAX 255 /* bytes of a name or a comment; longer ones are cut */

/* The body of a block: always whole words. */
struct body {
	uint8_t byte[BODY_SIZE];
	uint32_t size;
};

/* Appends bytes, and zeros up to the next word. All that is appended to one body fits. */
static void put(struct body *body, const void *bytes, uint32_t size)
{
	memcpy(body->byte + body->size, bytes, size);
	body->size += (size + 3) / 4 * 4;
}

static void put_word(struct body *body, uint32_t word)
{
	put(body, &word, sizeof(word));
}

static void put_halves(struct body *body, uint16_t first, uint16_t second)
{
	const uint16_t halves[] = {first, second};

	put(body, halves, sizeof(halves));
}

static void put_option(struct body *body, enum option option, const void *value, uint16_t size)
{
	put_halves(body, option, size);
	put(body, value, size);
}

static void put_text(struct body *body, enum option option, const char *text)
{
	put_option(body, option, text, strnlen(text, TEXT_MAX));
}

static int write_block(FILE *file, enum block type, const struct body *body)
{
	const uint32_t length = body->size + 3 * sizeof(uint32_t);
	const uint32_t head[] = {type, length};

	errno = 0;
	if (fwrite(head, sizeof(head), 1, file) != 1 ||
	    fwrite(body->byte, body->size, 1, file) != 1 ||
	    fwrite(&length, sizeof(length), 1, file) != 1)
		return errno ? -errno : -EIO;
	return 0;
}

int rf_pcapng_begin(struct rf_pcapng *pcapng, FILE *file)
{
	const uint64_t length_unknown = UINT64_MAX;
	struct body body = {};

	*pcapng = (struct rf_pcapng){.file = file};
	put_word(&body, BYTE_ORDER_MAGIC);
	put_halves(&body, 1, 0); /* version 1.0 */
	put(&body, &length_unknown, sizeof(length_unknown));
	put_text(&body, OPT_PROGRAM, "ringfence " RINGFENCE_VERSION);
	put_halves(&body, OPT_END, 0);
	return write_block(file, BLOCK_SECTION, &body);
}

int rf_pcapng_add_interface(struct rf_pcapng *pcapng, uint32_t index, const char *name)
{
	const uint8_t resolution = RESOLUTION_NS;
	struct body body = {};

	if (pcapng->interfaces == RF_PCAPNG_INTERFACES)
		return 0;
	pcapng->index[pcapng->interfaces++] = index;
	put_halves(&body, LINK_ETHERNET, 0);
	put_word(&body, RF_SAMPLE_BYTES);
	put_text(&body, OPT_NAME, name);
	put_option(&body, OPT_TSRESOL, &resolution, sizeof(resolution));
	put_halves(&body, OPT_END, 0);
	return write_block(pcapng->file, BLOCK_INTERFACE, &body);
}

/* The number of the interface's block, which is written if it does not exist. */
static int find_interface(struct rf_pcapng *pcapng, const struct rf_pcapng_packet *packet,
			  uint32_t *number)
{
	for (*number = 0; *number < pcapng->interfaces; ++*number)
		if (pcapng->index[*number] == packet->interface)
			return 0;
	if (*number < RF_PCAPNG_INTERFACES)
		return rf_pcapng_add_interface(pcapng, packet->interface, packet->name);
	--*number;
	return 0;
}

int rf_pcapng_add(struct rf_pcapng *pcapng, const struct rf_pcapng_packet *packet)
{
	const uint32_t captured =
		packet->captured < RF_SAMPLE_BYTES ? packet->captured : RF_SAMPLE_BYTES;
	struct body body = {};
	uint32_t number;
	int err = find_interface(pcapng, packet, &number);

	if (err)
		return err;
	put_word(&body, number);
	put_word(&body, packet->time_ns >> 32);
	put_word(&body, (uint32_t)packet->time_ns);
	put_word(&body, captured);
	put_word(&body, packet->len_bytes);
	put(&body, packet->frame, captured);
	put_text(&body, OPT_COMMENT, packet->comment);
	put_halves(&body, OPT_END, 0);
	return write_block(pcapng->file, BLOCK_PACKET, &body);
}
