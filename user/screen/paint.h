/* SPDX-License-Identifier: GPL-2.0 */
/* Paints the pages of `top`. Pure. */
#ifndef RINGFENCE_PAINT_H
#define RINGFENCE_PAINT_H

#include "screen/model.h"
#include "snapshot/shown.h"

#define RF_LINE_SIZE 512

/* Displayed state outside of the model. */
struct rf_view {
	const char *fence, *mode;
	bool has_more_fences;
	const struct rf_model *model;
	bool is_paused, is_past;
	bool is_gone;	      /* the fence was detached */
	uint64_t interval_ns; /* between two scans */
	bool can_change;      /* with the privilege to change the fence */
	bool is_sampling;     /* samples of packets are taken, and read */
	bool has_try;	      /* there is a command `limit try` */
	const char *message;  /* of the last key; "": none */
	bool is_failure;      /* the message is one */
	const char *prompt;   /* text being typed; NULL: none */
	int top;	      /* the first row that is shown; painting moves it to the cursor */
};

/* A question before something is changed. */
struct rf_dialog {
	const char *title, *command, *warning; /* warning: "" for none */
	const char *keys;
};

/* Where the columns of the list start; 0: there is no room for it. */
struct rf_columns {
	int source, limit, bar, percent, drop, pass, spark, since;
	int source_width, limit_width;
};

/* Lays columns out for the widest source and limit. */
struct rf_columns rf_columns_for(int width, int source_width, int limit_width);

void rf_paint_list(struct rf_canvas *canvas, struct rf_view *view);
/* `note`: of a source without a window; `events`: lines. Each of the three can be NULL. */
void rf_paint_source(struct rf_canvas *canvas, const struct rf_view *view, const char *source,
		     const char *note, const struct rf_shown *shown, const char *events);
void rf_paint_dialog(struct rf_canvas *canvas, const struct rf_dialog *dialog);
/* `skipped`: how many lines are above the screen. */
void rf_paint_text(struct rf_canvas *canvas, const char *title, const char *text, int skipped);
void rf_paint_help(struct rf_canvas *canvas, int skipped);
/* The first line of every page, and the last one. */
void rf_paint_title(struct rf_canvas *canvas, const struct rf_view *view, const char *title);
void rf_paint_source_keys(struct rf_canvas *canvas, const struct rf_view *view, int row);
void rf_paint_message(struct rf_canvas *canvas, int row, const struct rf_view *view);

#endif /* RINGFENCE_PAINT_H */
