/* SPDX-License-Identifier: GPL-2.0 */
/* The file of `capture`. It always ends with a whole packet. */
#ifndef RINGFENCE_CLI_CAPTURE_FILE_H
#define RINGFENCE_CLI_CAPTURE_FILE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/error.h"
#include "watch/pcapng.h"

struct rf_capture_file {
	const char *path;
	FILE *file;
	struct rf_pcapng pcapng;
	bool is_made;	 /* by this command */
	bool has_reader; /* false: who read the pipe has gone */
	off_t whole;	 /* up to there it has whole packets */
};

/* "-": standard output, which must not be a terminal. Close it even after an error. */
int rf_capture_file_open(struct rf_capture_file *to, const char *path, struct rf_error *error);
int rf_capture_file_interface(struct rf_capture_file *to, uint32_t index, const char *name,
			      struct rf_error *error);
/* Packets are in the file after the next flush; where it fails, none of them are. */
int rf_capture_file_add(struct rf_capture_file *to, const struct rf_pcapng_packet *packet,
			struct rf_error *error);
int rf_capture_file_flush(struct rf_capture_file *to, struct rf_error *error);
/* `keeps`: a file that was made stays. */
void rf_capture_file_close(struct rf_capture_file *to, bool keeps);

#endif /* RINGFENCE_CLI_CAPTURE_FILE_H */
