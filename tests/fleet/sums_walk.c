// SPDX-License-Identifier: GPL-2.0
/*
 * Sums of the packets that three hosts received, in seeded random walks: clocks drift apart,
 * readings, reports and replies are late, out of order or lost, hosts restart, and the server is
 * replaced by one with a different clock or loses its state. No sum can exceed the packets received
 * within W, by the server's clock. Usage: sums_walk STEPS.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fleet/member.h"
#include "tests/fleet/model/sums.h"

#define HOSTS 3
#define GRACE 2000
#define WINDOW 3000
#define CALLS 8
#define PACKETS 65536
#define NS_PER_MS 1000000ULL

/* A clock with its own rate, which can be set. */
struct clock {
	double rate, set;
};

struct message {
	bool is_sent, is_answered;
	uint64_t from_ns;
	struct rf_ledger_call call;
	struct rf_sum_report report;
	struct rf_sum_answer answer;
};

struct host {
	struct clock clock;
	uint64_t nonce, joined, received, read, read_ns, beat_at;
	struct rf_sum_clock ledger_clock;
	struct message message[CALLS];
};

static struct host host[HOSTS];
static struct clock engine;
static struct rf_ledger ledger;
static struct rf_sum sum;
static struct {
	double at;
	uint32_t units;
} packet[PACKETS];
static uint64_t packets, run, stamp, steps, answers, useful;
static double now; /* in ms, of true time */
static uint64_t random_state = 20240229;

static uint64_t dice(uint64_t bound)
{
	uint64_t z = random_state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return (z ^ z >> 31) % bound;
}

static double time_by(const struct clock *clock, double at)
{
	return clock->set + at * clock->rate;
}

static uint64_t host_ns(const struct host *mine)
{
	return time_by(&mine->clock, now) * NS_PER_MS;
}

/* Apart by less than RF_FLEET_DRIFT allows. */
static double some_rate(void)
{
	return 1 + ((double)dice(2000) - 1000) / 1000 / 300;
}

static struct rf_ledger_call call_of(const struct host *mine)
{
	return (struct rf_ledger_call){
		.now = time_by(&engine, now),
		.run = run,
		.stamp = ++stamp,
		.nonce = mine->nonce,
		.joined = mine->joined,
		.slot = mine - host,
		.grace = GRACE,
		.window = WINDOW,
	};
}

static void beat(struct host *mine)
{
	const struct rf_ledger_beat says = {.is_complete = true};
	const struct rf_ledger_call call = call_of(mine);
	const struct rf_ledger_heard heard = rf_ledger_beat(&ledger, &call, &says);

	if (heard.status == RF_LEDGER_DONE)
		mine->joined = heard.joined;
	mine->beat_at = now;
}

static void receive(struct host *mine)
{
	const uint32_t units = 1 + dice(30);

	mine->received += units;
	packet[packets % PACKETS].at = now;
	packet[packets++ % PACKETS].units = units;
}

/* The time is read before, at times long before. */
static void read_window(struct host *mine)
{
	const uint64_t ns = host_ns(mine), units = mine->received - mine->read;
	struct message *message = &mine->message[dice(CALLS)];

	if (mine->read_ns && units && !message->is_sent) {
		*message = (struct message){.is_sent = true, .from_ns = mine->read_ns};
		message->call = call_of(mine);
		message->report = (struct rf_sum_report){
			.from_ms =
				rf_sum_clock_ms(&mine->ledger_clock, mine->joined, mine->read_ns),
			.units = units,
			.window_ms = WINDOW,
		};
	}
	mine->read_ns = ns;
	mine->read = mine->received;
}

static uint64_t received_within_w(void)
{
	const double since = time_by(&engine, now) - WINDOW;
	uint64_t units = 0;

	for (uint64_t i = packets; i > 0 && packets - i < PACKETS; i--) {
		if (time_by(&engine, packet[(i - 1) % PACKETS].at) <= since)
			break;
		units += packet[(i - 1) % PACKETS].units;
	}
	return units;
}

/* True: the sum is more than there was. */
static bool deliver(struct message *message)
{
	const uint64_t most = received_within_w();

	message->call.now = time_by(&engine, now);
	message->call.run = run;
	message->answer = rf_sum_add(&sum, &ledger, &message->call, &message->report);
	message->is_answered = true;
	answers += message->answer.status == RF_LEDGER_DONE;
	useful += message->answer.sum > most / 2;
	if (message->answer.sum <= most)
		return false;
	printf("# step %" PRIu64 ": a sum of %u where %" PRIu64 " came within W\n", steps,
	       message->answer.sum, most);
	return true;
}

static void take_answer(struct host *mine, struct message *message)
{
	if (message->answer.status == RF_LEDGER_DONE)
		mine->ledger_clock = (struct rf_sum_clock){
			.joined = message->call.joined,
			.ledger_ms = message->answer.now_ms,
			.heard_ns = host_ns(mine),
		};
	message->is_sent = message->is_answered = false;
}

/* A message is lost before or behind the engine, or goes one step on. */
static bool move_message(struct host *mine)
{
	struct message *message = &mine->message[dice(CALLS)];

	if (!message->is_sent)
		return false;
	if (!dice(12)) {
		message->is_sent = message->is_answered = false;
	} else if (!message->is_answered) {
		return deliver(message);
	} else {
		take_answer(mine, message);
	}
	return false;
}

static void set_engine_clock(void)
{
	engine.set += ((double)dice(4000) - 2000) * (WINDOW + GRACE) / 2000;
}

/* Seldom: a new server, its clock is set, it loses state, or a host restarts. */
static void happen(void)
{
	const uint64_t kind = dice(20000);

	if (kind < 4) { /* a replica, which has all of it */
		run++;
		engine.rate = some_rate();
		set_engine_clock();
	} else if (kind < 6) {
		/* By enough for the ledger to notice: it does not if less than G/2 is visible. */
		beat(&host[0]);
		engine.set += (dice(2) ? 1.0 : -1.0) * (GRACE / 2.0 + 10 + dice(2 * WINDOW));
		beat(&host[0]);
	} else if (kind < 8) {
		memset(&ledger, 0, sizeof(ledger));
	} else if (kind < 10) {
		sum = (struct rf_sum){0};
	} else if (kind < 16) {
		struct host *mine = &host[dice(HOSTS)];

		mine->nonce = ++stamp;
		mine->joined = mine->read_ns = 0;
	}
}

/* All that is on its way arrives. True: a sum is more than there was. */
static bool exchange(struct host *mine)
{
	bool is_too_many = false;

	for (int i = 0; i < CALLS; i++) {
		if (mine->message[i].is_sent && !mine->message[i].is_answered)
			is_too_many |= deliver(&mine->message[i]);
		if (mine->message[i].is_answered)
			take_answer(mine, &mine->message[i]);
	}
	return is_too_many;
}

static void burst(struct host *mine)
{
	read_window(mine);
	receive(mine);
	read_window(mine);
}

/*
 * Bursts, slightly more than W apart. A part of each is reported immediately, which creates a sum;
 * the rest slightly later, when a time that is assumed to be later than it was has arrived.
 */
static bool burst_step(struct host *mine)
{
	static double burst_at, told_at;
	static struct host *tells;

	now += dice(200) / 10.0;
	happen();
	if (now - mine->beat_at > GRACE / 4.0)
		beat(mine);
	if (tells && now > told_at) {
		mine = tells;
		tells = NULL;
		return exchange(mine);
	}
	if (now < burst_at)
		return false;
	burst_at = now + WINDOW + dice(400) / 10.0;
	told_at = now + 100;
	burst(mine);
	if (exchange(mine))
		return true;
	tells = &host[(mine - host + 1) % HOSTS]; /* which has had no reply for long */
	burst(tells);
	return false;
}

/* True: the sum is more than there was. */
static bool step(void)
{
	struct host *mine = &host[dice(HOSTS)];

	if (steps / 50000 % 2)
		return burst_step(mine);
	now += dice(4000) ? dice(160) / 10.0 : dice(2 * WINDOW);
	happen();
	if (now - mine->beat_at > GRACE / 4.0)
		beat(mine);
	switch (dice(4)) {
	case 0:
		receive(mine);
		return false;
	case 1:
		if (!dice(4))
			read_window(mine);
		return false;
	default:
		return move_message(mine);
	}
}

int main(int argc, char **argv)
{
	const uint64_t wanted = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000;
	bool is_too_many = false;

	now = run = 1;
	engine = (struct clock){some_rate(), 100000000};
	for (int i = 0; i < HOSTS; i++)
		host[i] = (struct host){
			.clock = {some_rate(), 1000 + dice(1000000)},
			.nonce = ++stamp,
		};
	for (steps = 0; steps < wanted && !is_too_many; steps++)
		is_too_many = step();
	printf("# %" PRIu64 " answers, %" PRIu64 " of them over half of what came\n", answers,
	       useful);
	puts("1..2");
	printf("%sok 1 - no sum is more than what all hosts received within W\n",
	       is_too_many ? "not " : "");
	printf("%sok 2 - one sum in ten is over half of it\n",
	       useful * 10 < answers || !answers ? "not " : "");
	return is_too_many || useful * 10 < answers || !answers;
}
