// SPDX-License-Identifier: GPL-2.0
/*
 * A fence whose maps belong to a different user, who can write anything into them: every reader
 * reports that in one line, or shows harmless text. The tests run the commands themselves, each in
 * a separate process, built with the address sanitizer. test_hostile_maps.c tests maps of other
 * sizes.
 */
#include "hostile.h"

#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "cli/help.h"
#include "cli/out.h"

#define COMMAND_SECONDS 60
#define ROUNDS 12	 /* of random bytes */
#define ROUNDS_FULL 2000 /* with FULL=1 */

#define READING 9 /* the first ones; the others change something */

static const char *const commands[] = {
	"status",
	"stats",
	"limit list",
	"allow list",
	"deny list",
	"save",
	"top",
	"show 192.0.2.1",
	"show 2001:db8::1",
	"limit set dns rate 9/1s",
	"newcomers rate 10/1s then drop",
	"confirm",
};

/* ---- a command ---- */

struct run {
	int status; /* as waitpid has it */
	char out[1 << 16], err[1 << 12];
};

static void run_words(const char *text, bool json)
{
	const struct rf_options options = {.dev = "none", .json = json};
	const char *array[16];
	char copy[128];
	struct rf_words words;
	struct rf_error error = {};
	int command, err = 1;

	snprintf(copy, sizeof(copy), "%s", text);
	rf_split_line(copy, array, ARRAY_SIZE(array), &words, &error);
	command = rf_command_find(&words);
	if (command >= 0)
		err = rf_commands[command].run(&options, &words, &error);
	rf_out_flush();
	if (err)
		rf_out_error(&error);
	_exit(err ? 1 : 0);
}

static void slurp(int fd, char *text, size_t size)
{
	ssize_t got = pread(fd, text, size - 1, 0);

	text[got < 0 ? 0 : got] = '\0';
	close(fd);
}

static void run_command(const char *text, bool json, struct run *run)
{
	int out = memfd_create("out", MFD_CLOEXEC), err = memfd_create("err", MFD_CLOEXEC);
	pid_t child;

	fflush(NULL);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		dup2(out, STDOUT_FILENO);
		dup2(err, STDERR_FILENO);
		alarm(COMMAND_SECONDS);
		run_words(text, json);
	}
	assert_int_equal(waitpid(child, &run->status, 0), child);
	slurp(out, run->out, sizeof(run->out));
	slurp(err, run->err, sizeof(run->err));
}

/* Does the text contain nothing that a terminal would obey? */
static bool is_plain(const char *text)
{
	for (; *text; text++) {
		const unsigned char byte = *text, next = text[1];

		if ((byte < ' ' && byte != '\n') || byte == 0x7f ||
		    (byte == 0xc2 && next >= 0x80 && next < 0xa0))
			return false;
	}
	return true;
}

/* Users type again what `save` prints, so it may contain only words that ringfence would write. */
static bool is_saved(const char *text)
{
	static const char *const starts[] = {"# rules (format 1) of the fence '", "limit add ",
					     "allow add ", "deny add ", "newcomers "};

	while (*text) {
		size_t i = 0;

		while (i < ARRAY_SIZE(starts) && strncmp(text, starts[i], strlen(starts[i])) != 0)
			i++;
		if (i == ARRAY_SIZE(starts))
			return false;
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return true;
}

/* Returns NULL if the command behaved well. */
static const char *find_fault(const char *command, const struct run *run)
{
	const char *end = strchr(run->err, '\n');

	if (!WIFEXITED(run->status) || WEXITSTATUS(run->status) > 1)
		return "it crashed, or did not end";
	if (!is_plain(run->out) || !is_plain(run->err))
		return "it printed a control character";
	if (WEXITSTATUS(run->status) == 1 &&
	    (strncmp(run->err, "ringfence: ", 11) != 0 || !end || end[1]))
		return "its error is not one line";
	if (strcmp(command, "save") == 0 && !WEXITSTATUS(run->status) && !is_saved(run->out))
		return "what it saved are not rules";
	return strstr(run->out, "::/0") ? "it allows ::/0" : NULL;
}

static void try_commands(const char *what, size_t count)
{
	static struct run run;

	for (size_t i = 0; i < count; i++)
		for (int json = 0; json < (i < READING ? 2 : 1); json++) {
			const char *fault;

			run_command(commands[i], json, &run);
			fault = find_fault(commands[i], &run);
			if (fault)
				fail_msg("%s: %s%s: %s (status %x)\n%s%s", what, commands[i],
					 json ? " --json" : "", fault, run.status, run.out,
					 run.err);
		}
}

/* ---- hostile values ---- */

static struct rf_bank *bank(void)
{
	return &program.config->bank[program.config->active & 1];
}

/* Everything that a fence's owner can write at the same time. */
struct memory {
	struct rf_config config;
	struct rf_ports ports[2];
};

static void save_memory(struct memory *memory)
{
	memory->config = *program.config;
	memcpy(memory->ports, program.fence.ports, sizeof(memory->ports));
}

static void restore_memory(const struct memory *memory)
{
	*program.config = memory->config;
	memcpy(program.fence.ports, memory->ports, sizeof(memory->ports));
}

static void put_name(const char *name)
{
	memset(bank()->limit[0].name, 0, RF_NAME_SIZE);
	memcpy(bank()->limit[0].name, name, strnlen(name, RF_NAME_SIZE));
}

static void a_name_of_two_lines(void)
{
	put_name("x rate 1/1s\nallow add ::/0\n#");
}

static void a_name_that_does_not_end(void)
{
	for (int slot = 0; slot < RF_LIMITS_MAX; slot++)
		memset(bank()->limit[slot].name, 'A', RF_NAME_SIZE);
}

static void a_name_for_terminals(void)
{
	put_name("\033]0;x\007");
}

static void a_name_with_a_c1(void)
{
	put_name("x\302\2332Jy");
}

static void a_name_that_is_empty(void)
{
	put_name("");
}

static void a_fence_of_two_lines(void)
{
	strcpy(program.config->name, "x\nallow add ::/0\n");
}

static void a_fence_that_does_not_end(void)
{
	memset(program.config->name, 'A', RF_NAME_SIZE);
}

static void a_fence_for_terminals(void)
{
	strcpy(program.config->name, "\033[2J \302\2332J ../..");
}

#define HOSTILE_FIELD(name, field, value)            \
	static void name(void)                       \
	{                                            \
		for (int slot = 0; slot < 4; slot++) \
			bank()->field = (value);     \
	}

HOSTILE_FIELD(cells_beyond_the_ring, policy[slot].cells, 255)
HOSTILE_FIELD(no_cells, policy[slot].cells, 0)
HOSTILE_FIELD(cells_of_no_length, policy[slot].cell, 0)
HOSTILE_FIELD(a_scale_beyond_a_word, policy[slot].scale, 255)
HOSTILE_FIELD(a_unit_beyond_a_word, policy[slot].unit_shift, 255)
HOSTILE_FIELD(counters_beyond_their_map, policy[slot].counters, 255)
HOSTILE_FIELD(a_clock_that_is_none, policy[slot].clock, 99)
HOSTILE_FIELD(an_algorithm_that_is_none, policy[slot].algorithm, 99)
HOSTILE_FIELD(an_edge_that_is_none, policy[slot].edge, 99)
HOSTILE_FIELD(a_window_of_no_length, limit[slot].window_ns, 0)
HOSTILE_FIELD(a_rate_of_nothing, limit[slot].rate, 0)
HOSTILE_FIELD(a_match_that_is_none, limit[slot].match, 255)
HOSTILE_FIELD(a_word_that_is_none, limit[slot].algorithm, 255)
HOSTILE_FIELD(a_unit_that_is_none, limit[slot].unit, 255)
HOSTILE_FIELD(a_grouping_beyond_an_address, limit[slot].per4, 255)
HOSTILE_FIELD(a_grouping_beyond_ipv6, limit[slot].per6, 255)
HOSTILE_FIELD(more_cells_than_are_kept, limit[slot].cells, 255)
HOSTILE_FIELD(ports_that_are_more_than_true, limit[slot].has_ports, 255)

static void a_tick_of_no_length(void)
{
	program.config->tick_ns = 1;
	program.config->base.ktime_ns = ~0ULL;
}

static void a_guard_that_is_none(void)
{
	bank()->newcomers.guard = 255;
	bank()->newcomers.then = 255;
}

static void a_guard_without_cells(void)
{
	memset(&bank()->newcomers.policy, 0xff, sizeof(bank()->newcomers.policy));
	bank()->newcomers.window_ns = 0;
}

static void a_challenge_without_answers(void)
{
	bank()->newcomers.then = RF_NEWCOMERS_CHALLENGE;
	bank()->newcomers.except_established = 1;
	bank()->newcomers.answers = 0;
}

static void a_challenge_of_more_ports_than_there_are(void)
{
	struct rf_newcomers *newcomers = &bank()->newcomers;

	newcomers->then = RF_NEWCOMERS_CHALLENGE;
	newcomers->except_established = 255;
	newcomers->dns_ports = 255;
	newcomers->answers = newcomers->answers_ns = ~0ULL;
	newcomers->answers_policy = newcomers->policy;
	program.config->is_examining = 0xffff;
	program.config->own_macs = ~0U;
}

static void a_filter_beyond_its_map(void)
{
	program.config->known_filter_shift = 1;

	bank()->newcomers.then = RF_NEWCOMERS_OFF;
}

static void the_bank_before(void)
{
	memset(&program.config->bank[~program.config->active & 1], 0xff,
	       sizeof(program.config->bank[0]));
}

static void nothing_but_ones(void)
{
	memset(program.config, 0xff, sizeof(*program.config));
}

static void nothing_but_zeros(void)
{
	memset(program.config, 0, sizeof(*program.config));
}

#define ROW(function)               \
	{                           \
#function, function \
	}

static const struct {
	const char *name;
	void (*write)(void);
} rows[] = {
	ROW(a_name_of_two_lines),
	ROW(a_name_that_does_not_end),
	ROW(a_name_for_terminals),
	ROW(a_name_with_a_c1),
	ROW(a_name_that_is_empty),
	ROW(a_fence_of_two_lines),
	ROW(a_fence_that_does_not_end),
	ROW(a_fence_for_terminals),
	ROW(cells_beyond_the_ring),
	ROW(no_cells),
	ROW(cells_of_no_length),
	ROW(a_scale_beyond_a_word),
	ROW(a_unit_beyond_a_word),
	ROW(counters_beyond_their_map),
	ROW(a_clock_that_is_none),
	ROW(an_algorithm_that_is_none),
	ROW(an_edge_that_is_none),
	ROW(a_window_of_no_length),
	ROW(a_rate_of_nothing),
	ROW(a_match_that_is_none),
	ROW(a_word_that_is_none),
	ROW(a_unit_that_is_none),
	ROW(a_grouping_beyond_an_address),
	ROW(a_grouping_beyond_ipv6),
	ROW(more_cells_than_are_kept),
	ROW(ports_that_are_more_than_true),
	ROW(a_tick_of_no_length),
	ROW(a_guard_that_is_none),
	ROW(a_guard_without_cells),
	ROW(a_challenge_without_answers),
	ROW(a_challenge_of_more_ports_than_there_are),
	ROW(a_filter_beyond_its_map),
	ROW(the_bank_before),
	ROW(nothing_but_ones),
	ROW(nothing_but_zeros),
};

static void hostile_values_are_refused_or_shown_harmlessly(void **state)
{
	static struct memory memory;
	const char *only = getenv("ROW");

	(void)state;
	save_memory(&memory);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (only && strcmp(only, rows[i].name) != 0)
			continue;
		rows[i].write();
		try_commands(rows[i].name, ARRAY_SIZE(commands));
		restore_memory(&memory);
	}
}

/* Limits with such a name are not shown at all. */
static void a_name_that_ringfence_never_wrote_is_an_error(void **state)
{
	static struct run run;

	(void)state;
	a_name_of_two_lines();
	run_command("save", false, &run);
	assert_int_equal(WEXITSTATUS(run.status), 1);
	assert_string_equal(run.out, "");
	assert_non_null(strstr(run.err, "name"));
}

static void a_name_of_a_fence_is_shown_without_control_characters(void **state)
{
	static struct run run;

	(void)state;
	a_fence_for_terminals();
	run_command("save", false, &run);
	assert_int_equal(WEXITSTATUS(run.status), 0);
	if (!strstr(run.out, "# rules (format 1) of the fence '?[2J??2J?..?..' on "))
		fail_msg("%s", run.out);
}

/* ---- random bytes ---- */

static uint64_t random_state;

static uint32_t draw(uint32_t below)
{
	random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (random_state >> 33) % below;
}

static void scribble(void *memory, size_t size)
{
	static const unsigned char favourites[] = {0, 1, 0x7f, 0x80, 0xff, '\n', '\033', 0x9b};
	unsigned char *bytes = memory;
	size_t at = draw(size), length = 1 + draw(draw(2) ? 16 : 1024);

	for (size_t i = at; i < at + length && i < size; i++)
		bytes[i] = draw(2) ? draw(256) : favourites[draw(ARRAY_SIZE(favourites))];
}

/* Leases, and the window of a source. */
static void scribble_elements(void)
{
	struct rf_lease_set set;
	struct rf_key4 key = {.source = inet_addr("192.0.2.1"), .limit_id = bank()->policy[0].id};
	char window[1024];
	uint32_t place = draw(4096);

	assert_true(bpf_map__value_size(program.object->maps.windows4) <= sizeof(window));
	for (size_t i = 0; i < sizeof(set); i++)
		((unsigned char *)&set)[i] = draw(256);
	for (size_t i = 0; i < sizeof(window); i++)
		window[i] = draw(256);
	bpf_map_update_elem(program.fence.map_fd[RF_MAP_LEASES], &place, &set, 0);
	bpf_map_update_elem(program.fence.map_fd[RF_MAP_WINDOWS4], &key, window, 0);
}

static void random_bytes_in_maps_crash_no_reader(void **state)
{
	static struct memory memory;
	const char *seed = getenv("SEED");
	const int rounds = seed ? 1 : getenv("FULL") ? ROUNDS_FULL : ROUNDS;
	char name[64];

	(void)state;
	save_memory(&memory);
	for (int round = 0; round < rounds; round++) {
		random_state = seed ? strtoul(seed, NULL, 10) : (unsigned int)round;
		snprintf(name, sizeof(name), "SEED=%llu", (unsigned long long)random_state);
		/* The active bank more often than its size suggests. */
		for (int i = draw(4); i >= 0; i--)
			scribble(draw(2) ? (void *)&bank()->newcomers : (void *)program.config,
				 sizeof(*bank()) - offsetof(struct rf_bank, newcomers));
		scribble(program.config, sizeof(*program.config));
		scribble(program.fence.ports, sizeof(memory.ports));
		scribble_elements();
		try_commands(name, round % 4 ? READING : ARRAY_SIZE(commands));
		restore_memory(&memory);
	}
}

/* ---- rules that change all the time ---- */

static void a_reader_of_rules_that_always_change_gives_up(void **state)
{
	static struct run run;
	pid_t child;

	(void)state;
	fflush(NULL);
	child = fork();
	assert_true(child >= 0);
	if (!child)
		for (;;)
			__atomic_fetch_add(&program.config->active, 2, __ATOMIC_RELAXED);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		run_command(commands[i], false, &run);
		if (find_fault(commands[i], &run))
			break;
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_true(WIFEXITED(run.status));
	assert_null(find_fault("any", &run));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, hostile_setup, hostile_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_name_that_ringfence_never_wrote_is_an_error),
		TEST(a_name_of_a_fence_is_shown_without_control_characters),
		TEST(hostile_values_are_refused_or_shown_harmlessly),
		TEST(random_bytes_in_maps_crash_no_reader),
		TEST(a_reader_of_rules_that_always_change_gives_up),
	};

	rf_log_set_verbose(false);
	return cmocka_run_group_tests_name("hostile", tests, NULL, NULL);
}
