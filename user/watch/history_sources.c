// SPDX-License-Identifier: GPL-2.0
/*
 * Which of the many sources of a scan are recorded, and under what name; and the cells of the most
 * relevant ones.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/sort.h"
#include "ringfence/lease_place.h"
#include "rules/policy.h"
#include "watch/recorder.h"

#define BY_DROPS 64
#define BY_RATE 64
#define SAMPLE_LEAST 128
/*
 * A sampled source takes 0.65 MiB for 48 hours, including its sums: a third of this. The sample
 * therefore leaves most of the file to the other records, at any size.
 */
#define SAMPLE_BYTES (2ULL << 20)
#define COARSE 3 /* from this level on, the sample is a quarter */
#define SHARE_BITS_MAX 20
#define LEAST_ROWS 16384 /* a power of two */
#define CANDIDATES 2048	 /* of one scan, by drops and by packets */
#define WHY_DROPS 1
#define WHY_RATE 2
#define WHY_SAMPLE 4
#define USED_MAX 1000000000
#define STATE_KEY "sample"

int rf_tally_open(struct rf_tally *tally, uint64_t at_most)
{
	const uint64_t sample = at_most / SAMPLE_BYTES;

	tally->sample = sample < SAMPLE_LEAST		 ? SAMPLE_LEAST
			: sample > RF_HISTORY_SAMPLE_MAX ? RF_HISTORY_SAMPLE_MAX
							 : sample;
	/* The sampled sources and the candidates fill at most half of the rows. */
	tally->rows = LEAST_ROWS;
	while (tally->rows < 2 * (tally->sample + 2 * CANDIDATES))
		tally->rows *= 2;
	tally->row = calloc(tally->rows, sizeof(*tally->row));
	if (!tally->row || getrandom(tally->key, sizeof(tally->key), 0) < 0)
		return -ENOMEM;
	for (int i = 0; i < 3; i++)
		tally->key[i] |= 1;
	return 0;
}

/* The key is stored in the file, so a restart continues with the same sample. */
void rf_history_read_sample(struct rf_history *history)
{
	char *text = rf_history_get_state(history, STATE_KEY);
	uint64_t key[3];

	if (text &&
	    sscanf(text, "%" SCNx64 " %" SCNx64 " %" SCNx64, &key[0], &key[1], &key[2]) == 3)
		for (int i = 0; i < 3; i++)
			history->tally.key[i] = key[i] | 1;
	free(text);
}

const __u64 *rf_history_sample_key(const struct rf_history *history)
{
	return history->tally.key;
}

static int keep_key(struct rf_history *history)
{
	const struct rf_tally *tally = &history->tally;
	struct rf_error unused;
	char text[64];

	snprintf(text, sizeof(text), "%016" PRIx64 " %016" PRIx64 " %016" PRIx64,
		 (uint64_t)tally->key[0], (uint64_t)tally->key[1], (uint64_t)tally->key[2]);
	return rf_history_put_state(history, STATE_KEY, text, &unused) ? history->db.failed : 0;
}

void rf_tally_close(struct rf_tally *tally)
{
	free(tally->row);
}

static uint64_t hash(const struct rf_tally *tally, const struct rf_prefix *source)
{
	const uint64_t high = source->word[0] | (uint64_t)source->word[1] << 32;
	const uint64_t low = source->word[2] | (uint64_t)source->word[3] << 32;

	return rf_lease_hash(high ^ source->length, tally->key) +
	       (low ? rf_lease_hash(~low, tally->key) : 0);
}

static bool is_sampled(const struct rf_tally *tally, uint64_t hash, unsigned int share_bits)
{
	(void)tally;
	return !(hash >> 32 & ((1U << share_bits) - 1));
}

/* ---- the rows of a scan, under their disclosed names ---- */

/* Called for each source, or network, and limit. */
typedef void (*visit_row)(void *context, const struct rf_source_row *row);

/* Adds a row of a network to the rows of its other sources. */
static void merge(struct rf_source_row *into, const struct rf_source_row *row)
{
	into->new_passed += row->new_passed;
	into->new_dropped += row->new_dropped;
	into->new_would_drop += row->new_would_drop;
	if (row->used > into->used)
		into->used = row->used;
	if (row->banned_ns > into->banned_ns)
		into->banned_ns = row->banned_ns;
}

/* The sources of one network, which follow each other: one row for each limit. */
static size_t visit_network(const struct rf_snapshot *snapshot, enum rf_told told, size_t first,
			    visit_row visit, void *context)
{
	struct rf_source_row network[RF_LIMITS_MAX] = {};
	struct rf_prefix name, next;
	uint32_t used = 0;
	size_t i = first;

	if (!rf_tell(told, &snapshot->sources.row[first].source, &name))
		return snapshot->sources.count;
	for (; i < snapshot->sources.count; i++) {
		const struct rf_source_row *row = &snapshot->sources.row[i];
		const ptrdiff_t slot = row->limit - snapshot->bans.rules.limit;

		if (!rf_tell(told, &row->source, &next) || rf_prefix_compare(&name, &next))
			break;
		if (!(used >> slot & 1)) {
			network[slot] = *row;
			network[slot].source = name;
			used |= 1U << slot;
		} else {
			merge(&network[slot], row);
		}
	}
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		if (used >> slot & 1)
			visit(context, &network[slot]);
	return i;
}

static void visit_rows(const struct rf_snapshot *snapshot, enum rf_told told, visit_row visit,
		       void *context)
{
	size_t i = 0;

	while (told == RF_TELL_PREFIX && i < snapshot->sources.count)
		i = visit_network(snapshot, told, i, visit, context);
	for (; told == RF_TELL_FULL && i < snapshot->sources.count; i++)
		visit(context, &snapshot->sources.row[i]);
}

/* ---- candidates ---- */

static uint64_t drops_of(const struct rf_source_row *row)
{
	return row->new_dropped + row->new_would_drop;
}

static uint64_t packets_of(const struct rf_source_row *row)
{
	return row->new_passed + row->new_dropped;
}

static int log2_of(uint64_t number)
{
	return number ? 64 - __builtin_clzll(number) : 0;
}

/*
 * The number of rows with about this many drops, and packets: the thresholds for examining a row.
 */
struct ranks {
	uint32_t drops[65], packets[65];
	int least_drops, least_packets; /* logarithms */
	int left_drops, left_packets;	/* rows of the least rank that are still accepted */
};

static void rank(void *context, const struct rf_source_row *row)
{
	struct ranks *ranks = context;

	ranks->drops[log2_of(drops_of(row))]++;
	ranks->packets[log2_of(packets_of(row))]++;
}

/* The least logarithm of the CANDIDATES greatest. 0 is never a candidate. */
static int find_least(const uint32_t count[65], int *left)
{
	uint32_t sum = 0;
	int least = 64;

	while (least > 1 && sum + count[least] < CANDIDATES)
		sum += count[least--];
	*left = CANDIDATES - sum;
	return least;
}

static bool takes(int log, int least, int *left)
{
	return log > least || (log == least && (*left)-- > 0);
}

static bool is_candidate(struct ranks *ranks, const struct rf_source_row *row)
{
	const uint64_t drops = drops_of(row), packets = packets_of(row);

	return (drops && takes(log2_of(drops), ranks->least_drops, &ranks->left_drops)) ||
	       (packets && takes(log2_of(packets), ranks->least_packets, &ranks->left_packets));
}

/* ---- the tally ---- */

static int compare_drops(const void *a, const void *b)
{
	const struct rf_tally_row *left = a, *right = b;
	const uint64_t l = left->dropped + left->would_drop, r = right->dropped + right->would_drop;

	return l < r ? 1 : l > r ? -1 : 0;
}

static int compare_rate(const void *a, const void *b)
{
	const struct rf_tally_row *left = a, *right = b;
	const uint64_t l = left->passed + left->dropped, r = right->passed + right->dropped;

	return l < r ? 1 : l > r ? -1 : 0;
}

static struct rf_tally_row *find_place(struct rf_tally *tally, const struct rf_prefix *source,
				       int number, uint64_t hashed)
{
	size_t at = (hashed >> 20) + number * 0x9e3779b9U;

	for (;; at++) {
		struct rf_tally_row *row = &tally->row[at & (tally->rows - 1)];

		if (!row->number ||
		    (row->number == number && !rf_prefix_compare(&row->source, source)))
			return row;
	}
}

/* Makes the used rows the first ones; returns their number. */
static size_t gather(struct rf_tally *tally)
{
	size_t count = 0;

	for (size_t i = 0; i < tally->rows; i++)
		if (tally->row[i].number)
			tally->row[count++] = tally->row[i];
	return count;
}

static void clear_from(struct rf_tally *tally, size_t first)
{
	memset(tally->row + first, 0, (tally->rows - first) * sizeof(*tally->row));
}

/* Reduces the sample as far as necessary; the next one starts with the same share. */
static void size_sample(struct rf_tally *tally, size_t count, size_t most)
{
	size_t sampled;

	for (;;) {
		sampled = 0;
		for (size_t i = 0; i < count; i++) {
			struct rf_tally_row *row = &tally->row[i];

			row->is_sampled =
				row->is_sampled &&
				is_sampled(tally, hash(tally, &row->source), tally->share_bits);
			sampled += row->is_sampled;
		}
		if (sampled <= most || tally->share_bits == SHARE_BITS_MAX)
			return;
		tally->share_bits++;
	}
}

/* Forgets most of the rows that neither drops, nor packets, nor the sample would choose. */
static void forget(struct rf_tally *tally)
{
	const size_t count = gather(tally);
	struct rf_tally_row *kept = calloc(count + 1, sizeof(*kept));
	size_t left = 0;

	clear_from(tally, count);
	size_sample(tally, count, tally->sample); /* the whole sample fits, or it is empty */
	rf_sort(tally->row, count, sizeof(*tally->row), compare_drops);
	for (size_t i = 0; kept && i < count; i++)
		if (i < CANDIDATES || tally->row[i].is_sampled)
			kept[left++] = tally->row[i], tally->row[i].number = -1;
	rf_sort(tally->row, count, sizeof(*tally->row), compare_rate);
	for (size_t i = 0; kept && i < CANDIDATES && i < count; i++)
		if (tally->row[i].number > 0)
			kept[left++] = tally->row[i];
	clear_from(tally, 0);
	tally->count = 0;
	for (size_t i = 0; i < left && i < tally->rows / 2; i++) {
		*find_place(tally, &kept[i].source, kept[i].number, hash(tally, &kept[i].source)) =
			kept[i];
		tally->count++;
	}
	free(kept);
}

static uint32_t used_of(const struct rf_source_row *row)
{
	const uint64_t all = rf_has_burst(row->limit) ? row->limit->burst : row->limit->rate;
	const double share = all ? row->used * 1e6 / all : 0;

	return share < USED_MAX ? share : USED_MAX;
}

static void tally_row(struct rf_history *history, const struct rf_source_row *row, uint64_t hashed,
		      bool sampled)
{
	struct rf_tally *tally = &history->tally;
	const int number = rf_history_limit_number(history, row->limit->name);
	const uint32_t used = used_of(row);
	struct rf_tally_row *place;

	if (!number)
		return;
	if (tally->count >= tally->rows * 3 / 4)
		forget(tally);
	place = find_place(tally, &row->source, number, hashed);
	tally->count += !place->number;
	place->source = row->source;
	place->number = number;
	place->is_sampled |= sampled;
	place->is_banned |= row->banned_ns != 0;
	place->passed += row->new_passed;
	place->dropped += row->new_dropped;
	place->would_drop += row->new_would_drop;
	if (used > place->used)
		place->used = used;
}

struct tallying {
	struct rf_history *history;
	struct ranks ranks;
};

static void tally_candidate(void *context, const struct rf_source_row *row)
{
	struct tallying *tallying = context;
	const struct rf_tally *tally = &tallying->history->tally;
	const bool is_active = packets_of(row) || drops_of(row);
	const uint64_t hashed = is_active ? hash(tally, &row->source) : 0;
	const bool sampled = is_active && is_sampled(tally, hashed, tally->share_bits);

	if (is_active && (is_candidate(&tallying->ranks, row) || sampled))
		tally_row(tallying->history, row, hashed, sampled);
}

/* ---- writing ---- */

static int write_row(struct rf_history *history, const struct rf_tally_row *row, int *n, int why)
{
	const struct rf_sampled_row sampled = {rf_scan_id(history->scan, (*n)++), why, *row};

	return rf_db_insert(&history->db, &rf_tables[RF_TABLE_SOURCES], &sampled);
}

static int write_rows(struct rf_history *history, size_t count)
{
	struct rf_tally *tally = &history->tally;
	uint8_t *why = calloc(count + 1, sizeof(*why));
	int n = 0, code = why ? SQLITE_OK : SQLITE_NOMEM;

	rf_sort(tally->row, count, sizeof(*tally->row), compare_rate);
	for (size_t i = 0; i < count && !code; i++)
		tally->row[i].used |= i < BY_RATE ? 1U << 31 : 0;
	rf_sort(tally->row, count, sizeof(*tally->row), compare_drops);
	for (size_t i = 0; i < count && !code; i++) {
		struct rf_tally_row *row = &tally->row[i];

		if (i < BY_DROPS && (row->dropped || row->would_drop))
			why[i] |= WHY_DROPS;
		if (row->used >> 31)
			why[i] |= WHY_RATE;
		if (row->is_sampled)
			why[i] |= WHY_SAMPLE;
		row->used &= ~(1U << 31);
	}
	for (size_t i = 0; i < count && !code; i++)
		if (why[i])
			code = write_row(history, &tally->row[i], &n, why[i]);
	free(why);
	return code;
}

/* ---- sums by the hour ---- */

/*
 * Sums per hour: a report of a day need not read two million rows. They are computed after the
 * hour, in the transaction of a scan; previous hours are added one after the other.
 */

#define HOUR_MS (3600 * 1000LL)
/* Rows that are summed up in one step, which takes 100 ms; of a large sample, parts of hours. */
#define ROWS_MAX (400 * 256)
#define WORST_ROWS 128 /* of a scan, in addition to the sample */

/* The scans after the last sums, up to the last of their hour. false: the hour is not complete. */
static bool find_hour(struct rf_history *history, int64_t *first, int64_t *last)
{
	struct rf_db *db = &history->db;
	sqlite3_stmt *stmt = rf_db_begin(db,
					 "SELECT scan, time FROM samples WHERE scan > (SELECT "
					 "coalesce(max(last), 0) FROM sums) ORDER BY scan",
					 "");
	const int64_t most = ROWS_MAX / (WORST_ROWS + (int64_t)history->tally.sample);
	bool is_over = false;
	int64_t hour = 0;

	for (int i = 0; !is_over && rf_db_row(db, stmt); i++) {
		const int64_t scan = sqlite3_column_int64(stmt, 0);
		const int64_t its_hour = sqlite3_column_int64(stmt, 1) / HOUR_MS;

		if (!i) {
			*first = scan;
			hour = its_hour;
		}
		is_over = its_hour != hour || i == most;
		if (is_over)
			rf_db_end(stmt);
		else
			*last = scan;
	}
	return is_over;
}

/* Sums that are nearly as many as the rows save no time, and need as much room. */
static int drop_useless(struct rf_history *history, int64_t first, int64_t last, int64_t sums)
{
	struct rf_db *db = &history->db;
	const int64_t rows =
		rf_db_int(db, 0, "SELECT count(*) FROM sources WHERE id >= ? AND id < ?", "ii",
			  rf_scan_id(first, 0), rf_scan_id(last + 1, 0));
	int code;

	if (sums * 2 <= rows)
		return SQLITE_OK;
	code = rf_db_run(db, "DELETE FROM source_sums WHERE first = ?", "i", first);
	return code ? code : rf_db_run(db, "UPDATE sums SET kept = 0 WHERE first = ?", "i", first);
}

static int add_sums(struct rf_history *history)
{
	struct rf_db *db = &history->db;
	int64_t first = 0, last = 0;
	int code;

	if (!find_hour(history, &first, &last))
		return db->failed;
	code = rf_db_run(db,
			 "INSERT INTO sums SELECT ?1, ?2, min(time), max(time - ms), 1 "
			 "FROM samples WHERE scan >= ?1 AND scan <= ?2",
			 "ii", first, last);
	if (!code)
		code = rf_db_run(db,
				 "INSERT INTO source_sums SELECT ?1, number, source, sum(passed), "
				 "sum(dropped), sum(would_drop), max(used), max(banned) FROM "
				 "sources WHERE id >= ?1 << 16 AND id < (?2 + 1) << 16 GROUP BY "
				 "number, source",
				 "ii", first, last);
	return code ? code : drop_useless(history, first, last, sqlite3_changes(db->sqlite));
}

/* ---- intervals ---- */

/* Writes the current interval, and starts the next one. */
static int write_interval(struct rf_history *history, uint64_t awake_ns)
{
	struct rf_tally *tally = &history->tally;
	struct rf_sample_row sample = {
		.scan = history->scan,
		.time_ns = history->now_ns,
		.ms = rf_ms(awake_ns - tally->began_ns),
	};
	const size_t count = gather(tally);
	int code;

	clear_from(tally, count);
	size_sample(tally, count, history->level >= COARSE ? tally->sample / 4 : tally->sample);
	sample.share = 1ULL << tally->share_bits;
	code = rf_db_insert(&history->db, &rf_tables[RF_TABLE_SAMPLES], &sample);
	if (!code)
		code = write_rows(history, count);
	if (!code)
		code = add_sums(history);
	if (!code)
		code = keep_key(history);
	if (count < tally->sample && tally->share_bits)
		tally->share_bits--;
	clear_from(tally, 0);
	tally->count = 0;
	tally->began_ns = awake_ns;
	return code;
}

int rf_history_add_sources(struct rf_history *history, const struct rf_snapshot *snapshot)
{
	struct tallying tallying = {.history = history};
	struct ranks *ranks = &tallying.ranks;
	struct rf_tally *tally = &history->tally;
	const enum rf_told told = history->settings.told;

	if (told == RF_TELL_NONE)
		return SQLITE_OK;
	if (!tally->began_ns)
		tally->began_ns = snapshot->awake_ns - snapshot->since_ns;
	visit_rows(snapshot, told, rank, ranks);
	ranks->least_drops = find_least(ranks->drops, &ranks->left_drops);
	ranks->least_packets = find_least(ranks->packets, &ranks->left_packets);
	visit_rows(snapshot, told, tally_candidate, &tallying);
	/* A scan is slightly late now and then. */
	if (snapshot->awake_ns - tally->began_ns < RF_HISTORY_SOURCES_NS - RF_NS_PER_S / 2)
		return SQLITE_OK;
	return write_interval(history, snapshot->awake_ns);
}

/* ---- cells: of the sources that matter most, as many as there is room for ---- */

#define BYTES_PER_S (20 << 10)
#define BURST_S 10 /* a scan that is late may write as much as it would have */

static int compare_weight(const void *a, const void *b)
{
	const struct rf_cells_row *const *left = a, *const *right = b;
	const uint64_t l = (*left)->weight, r = (*right)->weight;

	return l < r ? 1 : l > r ? -1 : 0;
}

/* Rows that are one pack follow each other. */
static int compare_pack(const void *a, const void *b)
{
	const struct rf_cells_row *const *left = a, *const *right = b;
	const int order = strcmp((*left)->limit, (*right)->limit);

	if (order)
		return order;
	if ((*left)->cell_ns != (*right)->cell_ns)
		return (*left)->cell_ns < (*right)->cell_ns ? -1 : 1;
	if ((*left)->is_difference != (*right)->is_difference)
		return (*left)->is_difference - (*right)->is_difference;
	if ((*left)->counts_refused != (*right)->counts_refused)
		return (*left)->counts_refused - (*right)->counts_refused;
	return rf_prefix_compare(&(*left)->source, &(*right)->source)
		       ?: ((*left)->who > (*right)->who) - ((*left)->who < (*right)->who);
}

static bool is_same_pack(const struct rf_cells_row *a, const struct rf_cells_row *b)
{
	return !strcmp(a->limit, b->limit) && rf_cells_same_pack(a, b);
}

/* The latest time of the cells of the first `count` rows, which are one pack. */
static uint64_t end_of(const struct rf_cells_row **row, size_t count)
{
	uint64_t end_ns = 0;

	for (size_t i = 0; i < count; i++) {
		const uint64_t its_ns = row[i]->first_ns + row[i]->count * row[i]->cell_ns;

		if (its_ns > end_ns)
			end_ns = its_ns;
	}
	return end_ns;
}

/* Packs rows until their pack is full. */
static int pack_rows(const struct rf_history *history, const struct rf_cells_row **row,
		     size_t count, struct rf_cells_pack *pack, size_t *taken)
{
	const bool has_who = history->settings.told == RF_TELL_PREFIX;
	int err = rf_cells_pack_begin(pack, row[0], has_who);

	for (*taken = 0; !err && *taken < count && is_same_pack(row[0], row[*taken]); ++*taken)
		err = rf_cells_pack_add(pack, row[*taken]);
	return err;
}

static int write_pack(struct rf_history *history, const struct rf_cells_row **row, size_t count,
		      const struct rf_cells_pack *pack, int part)
{
	const struct rf_cells_record record = {
		.id = rf_scan_id(history->scan, part),
		.number = rf_history_limit_number(history, row[0]->limit),
		.end_ns = end_of(row, count),
		.data = {pack->data, pack->size},
	};

	if (!record.number)
		return history->db.failed;
	return rf_db_insert(&history->db, &rf_tables[RF_TABLE_CELLS], &record);
}

/* Packs all rows, and writes them if `is_writing`. Adds the bytes to `size`. */
static int pack_all(struct rf_history *history, const struct rf_cells_row **row, size_t count,
		    bool is_writing, size_t *size)
{
	struct rf_cells_pack pack = {};
	int code = SQLITE_OK, part = 0;

	rf_sort(row, count, sizeof(*row), compare_pack);
	for (size_t i = 0, taken; i < count && !code; i += taken) {
		if (pack_rows(history, row + i, count - i, &pack, &taken))
			code = SQLITE_NOMEM;
		*size += pack.size;
		if (!code && is_writing)
			code = write_pack(history, row + i, taken, &pack, part++);
	}
	rf_cells_pack_free(&pack);
	return code;
}

/* How many bytes this scan may take. */
static size_t room(struct rf_history *history)
{
	const uint64_t since_ns = history->now_ns - history->cells_ns;
	uint64_t seconds = since_ns / RF_NS_PER_S;

	if (!history->cells_ns || history->now_ns < history->cells_ns || seconds < 1)
		seconds = 1;
	if (seconds > BURST_S)
		seconds = BURST_S;
	history->cells_ns = history->now_ns;
	return seconds * BYTES_PER_S;
}

/* The most relevant rows, as many as are permitted; then fewer, until they fit. */
static int choose(struct rf_history *history, const struct rf_cells_row **row, size_t count)
{
	const size_t most = RF_HISTORY_CELLS_MAX >> history->level, bytes = room(history);

	for (size_t fitting = count < most ? count : most; fitting;) {
		size_t size = 0;
		int code;

		rf_sort(row, count, sizeof(*row), compare_weight);
		code = pack_all(history, row, fitting, false, &size);
		if (code)
			return code;
		if (size <= bytes)
			return pack_all(history, row, fitting, true, &size);
		fitting = fitting * bytes / size;
	}
	return SQLITE_OK;
}

/*
 * The rows under their disclosed names. They are renamed before they are sorted: the order of the
 * written rows reveals nothing about the addresses. NULL: no memory.
 */
static struct rf_cells_row *tell_rows(const struct rf_history *history,
				      const struct rf_cells_row *row, size_t count)
{
	struct rf_cells_row *told = malloc(count * sizeof(*told));

	for (size_t i = 0; told && i < count; i++) {
		told[i] = row[i];
		rf_tell(history->settings.told, &row[i].source, &told[i].source);
		told[i].who = rf_tell_who(history->who_key, &row[i].source, &told[i].source);
	}
	return told;
}

int rf_history_add_cells(struct rf_history *history, const struct rf_cells_row *row, size_t count,
			 struct rf_error *error)
{
	const struct rf_cells_row **list;
	struct rf_cells_row *told;
	int code;

	if (!history->in_scan || history->has_failed || !count ||
	    history->settings.told == RF_TELL_NONE)
		return 0;
	list = calloc(count, sizeof(*list));
	told = tell_rows(history, row, count);
	for (size_t i = 0; list && told && i < count; i++)
		list[i] = &told[i];
	code = list && told ? choose(history, list, count) : SQLITE_NOMEM;
	free(told);
	free(list);
	history->has_failed = code;
	return code ? rf_db_fail(&history->db, history->path, error) : 0;
}
