/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The page process: it serves the documents that the scanner sends, and opens no pin. It is this
 * program, executed again, so it contains nothing of the scanner's memory or files.
 */
#ifndef RINGFENCE_PAGE_H
#define RINGFENCE_PAGE_H

/* The word of the command line that makes this process a page process. */
#define RF_PAGE_WORD "page-process"

/* Its descriptors from the scanner, by number. */
enum rf_page_fd {
	RF_PAGE_FEED = 3, /* the read end of a pipe */
	RF_PAGE_ASK,	  /* the write end of a pipe for requests */
	RF_PAGE_TCP,	  /* sockets; either can be missing */
	RF_PAGE_UNIX,
};

/* Serves until the scanner exits. Returns an exit status. */
int rf_page_run(void);

#endif /* RINGFENCE_PAGE_H */
