// SPDX-License-Identifier: GPL-2.0
/* The past, from the history of a fence, as a model like the one of the present. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/time.h"
#include "schema/reasons.h"
#include "screen/session.h"

#define INTERVAL_NS (10 * RF_NS_PER_S) /* of the rows of sources in a history */
#define SHOWN_NS (60 * RF_NS_PER_S)

/* Opens the history of a fence. An error if there is none. */
static int open_recall(struct rf_reader **reader, const char *fence, struct rf_error *error)
{
	struct rf_recorded_fences fences;
	int err = rf_recorded_fences(&fences, error);

	for (int i = 0; i < fences.count && !err; i++)
		if (!strcmp(fences.name[i], fence))
			return rf_reader_open(reader, fences.directory, fence, error);
	return err ? err
		   : rf_error_failed(error, -ENOENT,
				     "fence '%s' has no history; ringfence-watch records one",
				     fence);
}

/* ---- counts ---- */

static void note(struct rf_flow *flow, uint64_t slot, double rate, bool is_now)
{
	rf_ring_note(&flow->ring, slot, rate);
	if (is_now)
		flow->rate = rate;
}

static void note_counts(struct rf_head *head, const struct rf_recorded *recorded, uint64_t slot,
			bool is_now)
{
	const double seconds = recorded->seconds > 0 ? recorded->seconds : 1;

	for (int i = 0; i < RF_REASON_COUNT; i++) {
		const uint64_t packets =
			rf_recorded_packets(recorded, rf_reason_verdict(i), rf_reason_name(i), "");

		note(&head->reason[i], slot, packets / seconds, is_now);
	}
	note(&head->dropped, slot, recorded->dropped.packets / seconds, is_now);
	note(&head->in, slot, (recorded->dropped.packets + recorded->passed.packets) / seconds,
	     is_now);
}

/* A history has no rules of newcomers, but counts of their packets. */
static bool had_examined(const struct rf_head *head, uint64_t slot)
{
	return rf_ring_most(&head->reason[RF_CHALLENGED].ring, slot) > 0 ||
	       rf_ring_most(&head->reason[RF_PROVEN].ring, slot) > 0 ||
	       rf_ring_most(&head->reason[RF_ESTABLISHED].ring, slot) > 0;
}

static void add_limits(struct rf_head *head, const struct rf_recorded *recorded)
{
	for (int i = 0; i < recorded->counts && head->limits < RF_LIMITS_MAX; i++) {
		const struct rf_recorded_count *count = &recorded->count[i];
		bool is_known = strcmp(count->kind, "limit");

		for (int k = 0; k < head->limits; k++)
			is_known |= !strcmp(head->limit[k].name, count->name);
		if (!is_known)
			memcpy(head->limit[head->limits++].name, count->name, RF_NAME_SIZE);
	}
}

/* The counts at a time, and of the minute before. */
static int read_head(struct rf_reader *reader, uint64_t at_ns, struct rf_head *head,
		     struct rf_error *error)
{
	struct rf_recorded recorded = {};
	struct rf_error unused;
	int err;

	for (uint64_t back_ns = SHOWN_NS; back_ns; back_ns -= RF_SLOT_NS) {
		const uint64_t then_ns = at_ns - back_ns;

		if (!rf_reader_at(reader, then_ns, &recorded, &unused))
			note_counts(head, &recorded, then_ns / RF_SLOT_NS, false);
		rf_recorded_free(&recorded);
		recorded = (struct rf_recorded){};
	}
	err = rf_reader_at(reader, at_ns, &recorded, error);
	if (!err) {
		note_counts(head, &recorded, at_ns / RF_SLOT_NS, true);
		add_limits(head, &recorded);
		head->is_examining = had_examined(head, at_ns / RF_SLOT_NS);
	}
	rf_recorded_free(&recorded);
	return err;
}

/* ---- sources ---- */

/* A history has the names of limits; rows are identified by a number. FNV-1a. */
static uint32_t id_of(const char *name)
{
	uint32_t id = 2166136261;

	for (; *name; name++)
		id = (id ^ (unsigned char)*name) * 16777619;
	return id;
}

static void fill_row(struct rf_row *row, const struct rf_recorded_source *from, double seconds)
{
	*row = (struct rf_row){
		.key = {from->source, id_of(from->limit), false, false},
		.is_shadow = from->would_drop && !from->dropped,
		.pass = from->passed / seconds,
		.drop = from->dropped / seconds,
		.would_drop = from->would_drop / seconds,
		.share = from->used / 1000.0,
		.banned_ns = from->is_banned ? RF_FOREVER : 0,
		.rank = UINT32_MAX,
	};
	memcpy(row->limit, from->limit, sizeof(row->limit));
	row->steady_pass = row->pass;
	row->steady_drop = row->drop + row->would_drop;
}

static double seconds_of(const struct rf_recorded_sources *sources)
{
	const double seconds = (sources->to_ns - sources->from_ns) / 1e9;

	return seconds > 0 ? seconds : 1;
}

static void count_over(struct rf_head *head, const struct rf_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		head->over += rows[i].drop > 0;
		head->banned += rows[i].banned_ns > 0;
		for (int k = 0; k < head->limits; k++)
			head->limit[k].over += rows[i].steady_drop > 0 &&
					       !strcmp(head->limit[k].name, rows[i].limit);
	}
}

static int compare_rows(const void *a, const void *b)
{
	return rf_key_compare(&((const struct rf_row *)a)->key, &((const struct rf_row *)b)->key);
}

/* How much of its limit each row used in the minute up to `at_ns`. */
static void read_use(struct rf_reader *reader, uint64_t at_ns, struct rf_row *rows, size_t count)
{
	for (uint64_t back_ns = SHOWN_NS; back_ns; back_ns -= INTERVAL_NS) {
		const uint64_t then_ns = at_ns - back_ns + INTERVAL_NS;
		const struct rf_asked asked = {.time_ns = then_ns};
		struct rf_recorded_sources sources = {};
		struct rf_error unused;

		if (rf_reader_sources_at(reader, &asked, &sources, &unused))
			sources.count = 0;
		for (size_t i = 0; i < sources.count; i++) {
			struct rf_row key, *row;

			fill_row(&key, &sources.row[i], 1);
			row = rf_search(&key, rows, count, sizeof(*rows), compare_rows);
			for (uint64_t slot = (then_ns - INTERVAL_NS) / RF_SLOT_NS + 1;
			     row && slot <= then_ns / RF_SLOT_NS; slot++)
				rf_ring_note(&row->use, slot, key.share < 1 ? key.share : 1);
		}
		rf_recorded_sources_free(&sources);
	}
}

static int show_sources(struct rf_reader *reader, uint64_t at_ns, struct rf_model *model,
			const struct rf_recorded_sources *sources, struct rf_head *head)
{
	struct rf_row *rows = calloc(sources->count + 1, sizeof(*rows));
	int *order = calloc(sources->count + 1, sizeof(*order));

	if (!rows || !order) {
		free(rows);
		free(order);
		return -ENOMEM;
	}
	for (size_t i = 0; i < sources->count; i++)
		fill_row(&rows[i], &sources->row[i], seconds_of(sources));
	if (sources->count)
		rf_sort(rows, sources->count, sizeof(*rows), compare_rows);
	read_use(reader, at_ns, rows, sources->count);
	count_over(head, rows, sources->count);
	rf_model_free(model);
	model->row = rows;
	model->rows = sources->count;
	model->order = order;
	model->others = 0;
	model->head = *head;
	rf_model_order(model, at_ns);
	return 0;
}

/*
 * Fills the model with the interval that has `at_ns`. -ENODATA: nothing was recorded then. The
 * model is unchanged after an error.
 */
static int read_recall(struct rf_reader *reader, uint64_t at_ns, struct rf_model *model,
		       struct rf_error *error)
{
	struct rf_head head = {.time_ns = at_ns, .awake_ns = at_ns};
	const struct rf_asked asked = {.time_ns = at_ns};
	struct rf_recorded_sources sources = {};
	struct rf_error unused;
	int err = read_head(reader, at_ns, &head, error);

	if (!err && rf_reader_sources_at(reader, &asked, &sources, &unused))
		sources.count = 0; /* there was traffic, but no source under a limit */
	if (!err && show_sources(reader, at_ns, model, &sources, &head))
		err = rf_error_failed(error, -ENOMEM, "%s", strerror(ENOMEM));
	rf_recorded_sources_free(&sources);
	return err;
}

/* ---- travel ---- */

/* The keys that go back in time. */

struct rf_reader *rf_travel_reader(struct rf_session *session, struct rf_error *error)
{
	if (!session->reader && open_recall(&session->reader, session->own.name, error))
		session->reader = NULL;
	return session->reader;
}

void rf_travel_leave(struct rf_session *session)
{
	session->model = &session->live;
	session->view.model = session->model;
	session->view.is_past = false;
	session->view.top = 0;
}

void rf_travel_close(struct rf_session *session)
{
	rf_travel_leave(session);
	rf_reader_close(session->reader);
	session->reader = NULL;
}

void rf_travel_step(struct rf_session *session, int64_t step_ns)
{
	const uint64_t from_ns =
		session->view.is_past ? session->past_ns : session->live.head.time_ns;
	const uint64_t to_ns = from_ns + step_ns;
	struct rf_error error;

	if (!session->view.is_past && step_ns > 0)
		return;
	if (to_ns + RF_NS_PER_S >= rf_time_wall()) {
		rf_travel_leave(session);
		return;
	}
	if (!rf_travel_reader(session, &error) ||
	    read_recall(session->reader, to_ns, &session->past, &error)) {
		rf_session_say(session, true, "%s", error.text);
		if (!session->reader)
			return;
		rf_model_forget(&session->past); /* a gap: further keys skip it */
		session->past.head.time_ns = session->past.head.awake_ns = to_ns;
	}
	session->past_ns = to_ns;
	session->model = &session->past;
	session->view.model = session->model;
	session->view.is_past = true;
}
