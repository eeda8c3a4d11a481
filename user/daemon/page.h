/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The page process: it serves the documents that the scanner sends, and opens no pin. It is this
 * program, executed anew, so nothing of the scanner's memory or files is in it.
 */
#ifndef RINGFENCE_PAGE_H
#define RINGFENCE_PAGE_H

/* The word of the command line that makes this process a page process. */
#define RF_PAGE_WORD "page-process"

/* What it gets from the scanner, by number. */
enum rf_page_fd {
	RF_PAGE_FEED = 3, /* the end of a pipe to read from */
	RF_PAGE_ASK,	  /* the end of a pipe to write questions into */
	RF_PAGE_TCP,	  /* sockets; either may be missing */
	RF_PAGE_UNIX,
};

/* Serves until the scanner is gone. Returns an exit status. */
int rf_page_run(void);

#endif /* RINGFENCE_PAGE_H */
