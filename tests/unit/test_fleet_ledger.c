// SPDX-License-Identifier: GPL-2.0
/* The fleet's ledger, step by step: membership, grants, and learning. */
#include "unit.h"

#include "fleet/member.h"
#include "tests/fleet/model/ledger.h"

#define GRACE 2000
#define WINDOW 10000

static struct rf_ledger ledger;
static struct rf_ledger_source source;
static uint64_t now, stamp;
static uint64_t joined[3];
static uint32_t seq;

static const struct rf_ledger_limit limit = {.pool = 90, .first = 10, .window = WINDOW};

static struct rf_ledger_call call_of(uint32_t slot)
{
	return (struct rf_ledger_call){now,    1,	 ++stamp,      GRACE,
				       WINDOW, slot + 7, joined[slot], slot};
}

static uint64_t key[3];

static struct rf_ledger_heard beat(uint32_t slot, bool complete)
{
	const struct rf_ledger_call call = call_of(slot);
	const struct rf_ledger_beat says = {.is_complete = complete, .key = key[slot]};
	const struct rf_ledger_heard heard = rf_ledger_beat(&ledger, &call, &says);

	joined[slot] = heard.joined;
	return heard;
}

static struct rf_ledger_answer report(uint32_t slot, uint32_t used, uint32_t has, uint32_t wants)
{
	const struct rf_ledger_call call = call_of(slot);
	const struct rf_ledger_report says = {++seq, used, has, wants};

	return rf_ledger_report(&ledger, &source, &call, &limit, &says);
}

/* Both hosts report that they are alive and complete, for this long. */
static void live(uint64_t span)
{
	for (uint64_t end = now + span; now < end; now += GRACE / 4)
		for (int i = 0; i < 2; i++)
			beat(i, true);
}

static int start(void **state)
{
	(void)state;
	memset(&ledger, 0, sizeof(ledger));
	memset(&source, 0, sizeof(source));
	memset(joined, 0, sizeof(joined));
	memset(key, 0, sizeof(key));
	now = 1000000;
	live(2 * GRACE + GRACE);
	return 0;
}

/* ---- the key of buckets ---- */

static void a_host_with_another_key_is_foreign(void **state)
{
	struct rf_ledger before, after;

	(void)state;
	key[2] = 99;
	before = ledger;
	before.newest = now;
	assert_int_equal(beat(2, true).status, RF_LEDGER_FOREIGN);
	assert_int_equal(joined[2], 0);
	after = ledger;
	assert_memory_equal(&after, &before, sizeof(before));
	key[2] = 0;
	assert_int_equal(beat(2, true).status, RF_LEDGER_DONE);
}

static void a_member_may_not_change_its_key(void **state)
{
	(void)state;
	key[0] = 99;
	assert_int_equal(beat(0, true).status, RF_LEDGER_FOREIGN);
	assert_int_equal(report(0, 0, 0, 60).status, RF_LEDGER_STRANGER);
}

/* No host with the previous key can use a share by then. */
static void another_key_is_learnt_once_all_of_the_key_before_were_silent(void **state)
{
	(void)state;
	report(0, 0, 0, 90);
	key[1] = key[2] = 99;
	now += GRACE / 4;
	beat(0, true);
	for (uint64_t end = now + GRACE + WINDOW; now < end; now += GRACE / 4) {
		const struct rf_ledger_heard heard = beat(2, true);

		assert_int_equal(heard.status, RF_LEDGER_FOREIGN);
		assert_int_equal(heard.key, 0);
	}
	assert_int_equal(beat(2, true).status, RF_LEDGER_DONE);
	assert_true(ledger.is_learning);
	assert_int_equal(report(2, 0, 0, 60).share, 0);
	assert_int_equal(beat(0, true).status, RF_LEDGER_FOREIGN);
	for (uint64_t end = now + 2 * GRACE; now < end; now += GRACE / 4) {
		beat(1, true);
		beat(2, true);
	}
	assert_false(ledger.is_learning);
	assert_int_equal(report(2, 0, 0, 90).share, 90);
	key[0] = 99;
	assert_int_equal(beat(0, true).status, RF_LEDGER_DONE);
}

/* It has no members, so the first host that reports to continue sets the key of the fleet. */
static void an_engine_that_forgot_takes_the_key_of_those_who_resume(void **state)
{
	const struct rf_ledger_beat resumes = {.is_complete = true, .resumes = true};
	struct rf_ledger_call call;

	(void)state;
	memset(&ledger, 0, sizeof(ledger));
	key[2] = 99;
	assert_int_equal(beat(2, true).status, RF_LEDGER_REFUSED);
	call = call_of(0);
	assert_int_equal(rf_ledger_beat(&ledger, &call, &resumes).status, RF_LEDGER_DONE);
	now += GRACE;
	assert_int_equal(beat(2, true).status, RF_LEDGER_FOREIGN);
}

static void gives_from_the_pool(void **state)
{
	(void)state;
	assert_int_equal(report(0, 0, 0, 60).share, 60);
	assert_int_equal(report(1, 0, 0, 60).share, 30);
	assert_int_equal(report(0, 10, 0, 0).share, 0);
	assert_int_equal(report(1, 0, 30, 90).share, 90);
}

static void keeps_what_was_used(void **state)
{
	(void)state;
	report(0, 0, 0, 90);
	assert_int_equal(report(0, 70, 0, 0).share, 0);
	assert_int_equal(report(1, 0, 0, 90).share, 30);
}

static void an_old_report_changes_nothing(void **state)
{
	(void)state;
	seq += 5;
	report(0, 0, 0, 60);
	seq -= 3;
	assert_int_equal(report(0, 0, 0, 0).status, RF_LEDGER_OLD);
	seq += 3;
	assert_int_equal(report(1, 0, 0, 90).share, 30);
}

static void whoever_has_more_than_an_even_part_gives_back(void **state)
{
	(void)state;
	assert_int_equal(report(0, 0, 0, 90).lower_to, 90);
	assert_int_equal(report(1, 0, 0, 90).share, 0);
	assert_int_equal(report(0, 0, 90, 90).lower_to, 67);
}

/* Otherwise it would get the share that the first one releases for the second. */
static void nobody_grows_beyond_an_even_part_in_a_contest(void **state)
{
	(void)state;
	report(0, 0, 0, 90);
	report(1, 0, 0, 90);
	assert_int_equal(report(0, 0, 67, 67).lower_to, 56);
	assert_int_equal(report(1, 0, 0, 90).share, 23);
	assert_int_equal(report(0, 0, 30, 90).share, 45);
	assert_int_equal(report(1, 0, 23, 90).share, 45);
	assert_int_equal(report(0, 0, 0, 0).share, 0);
	assert_int_equal(report(1, 0, 45, 90).share, 90);
}

static void an_empty_ledger_learns(void **state)
{
	(void)state;
	report(0, 0, 0, 90);
	memset(&ledger, 0, sizeof(ledger));
	memset(&source, 0, sizeof(source));
	assert_int_equal(report(0, 0, 90, 90).status, RF_LEDGER_STRANGER);
	assert_int_equal(beat(1, true).status, RF_LEDGER_REFUSED);
	now += GRACE / 2;
	beat(1, true);
	now += GRACE / 2;
	assert_false(beat(1, true).is_complete);
	assert_true(beat(1, true).is_complete);
}

static void a_silent_host_is_void_after_grace_and_window(void **state)
{
	(void)state;
	report(0, 0, 0, 90);
	now -= GRACE / 4;
	for (uint64_t end = now + GRACE + WINDOW; now < end - 1; now++)
		if (now % 100 == 0)
			beat(1, true);
	assert_int_equal(report(1, 0, 0, 90).share, 0);
	now++;
	assert_int_equal(report(1, 0, 0, 90).share, 90);
}

static void an_answer_to_an_older_report_is_void(void **state)
{
	struct rf_member member = {.nonce = 1, .joined = 5};
	struct rf_claim claim = {0};
	struct rf_ledger_answer answer = {.seq = 1, .share = 40};

	(void)state;
	rf_claim_report(&claim, &member, now, 10, 0, 40);
	rf_claim_report(&claim, &member, now, 10, 0, 40);
	assert_false(rf_claim_answered(&claim, &member, &answer));
	answer.seq = 2;
	assert_true(rf_claim_answered(&claim, &member, &answer));
	assert_int_equal(claim.share, 40);
}

static void what_was_used_is_told_again(void **state)
{
	struct rf_member member = {.nonce = 1, .joined = 5};
	struct rf_claim claim = {0};

	(void)state;
	assert_true(rf_claim_is_known(&claim, &member));
	rf_claim_report(&claim, &member, now, 10, 50, 0);
	assert_false(rf_claim_is_known(&claim, &member));
}

static void an_answer_gives_back_no_share_that_has_ended(void **state)
{
	struct rf_member member = {.nonce = 1, .joined = 5};
	struct rf_claim claim = {.share = 40, .has = 40};
	const struct rf_ledger_answer answer = {.seq = 1, .share = 40};

	(void)state;
	rf_claim_lower(&claim, 0);
	rf_claim_report(&claim, &member, now, 10, 0, 0);
	rf_claim_waited(&claim);
	assert_false(rf_claim_answered(&claim, &member, &answer));
	assert_int_equal(claim.share, 0);
}

static void shares_end_where_claims_may_be_told_too_late(void **state)
{
	struct rf_member member = {.nonce = 1, .joined = 5, .deadline = now, .grace = GRACE};
	const struct rf_ledger_heard heard = {.joined = 5, .is_complete = true};

	(void)state;
	assert_int_equal(rf_member_heard(&member, now, 1, now, &heard), RF_MEMBER_EMPTIED);
	assert_int_equal(member.generation, 1);
	assert_int_equal(member.deadline, now);
	assert_int_equal(rf_member_heard(&member, now, 2, now, &heard), RF_MEMBER_SAME);
	assert_int_equal(member.deadline, now + GRACE - GRACE / RF_FLEET_DRIFT);
}

static struct rf_ledger_left gone(uint32_t slot)
{
	const struct rf_ledger_call call = call_of(0);

	return rf_ledger_gone(&ledger, &call, slot);
}

static bool is_member(uint32_t slot)
{
	const struct rf_ledger_heard heard = beat(0, true);

	return rf_ledger_slots_has(&heard.members, slot);
}

static void live_alone(uint64_t span)
{
	for (uint64_t end = now + span; now < end; now += GRACE / 4)
		beat(0, true);
}

static void a_host_is_gone_after_grace_and_window(void **state)
{
	(void)state;
	report(1, 0, 0, 60);
	beat(1, true);
	live_alone(GRACE + WINDOW - 1);
	now -= now % 500 + 1; /* 1 ms before it is void */
	assert_int_equal(gone(1).status, RF_LEDGER_REFUSED);
	assert_int_equal(gone(1).left, 1);
	assert_int_equal(report(0, 0, 0, 90).share, 30);
	assert_true(is_member(1));
	now += 1;
	assert_int_equal(gone(1).status, RF_LEDGER_DONE);
	assert_false(is_member(1));
	assert_int_equal(report(0, 0, 30, 90).share, 90);
}

static void nobody_waits_for_a_host_that_is_gone(void **state)
{
	(void)state;
	live_alone(GRACE + WINDOW);
	assert_int_equal(gone(1).status, RF_LEDGER_DONE);
	ledger.run = 2; /* a different one than in the calls: it has forgotten */
	live_alone(GRACE + GRACE / 4);
	assert_false(ledger.is_learning);
}

static void one_that_comes_back_joins_anew(void **state)
{
	uint64_t before;

	(void)state;
	report(1, 0, 0, 60);
	before = joined[1];
	live_alone(GRACE + WINDOW);
	gone(1);
	assert_int_equal(report(1, 0, 60, 60).status, RF_LEDGER_STRANGER);
	assert_int_equal(beat(1, true).status, RF_LEDGER_DONE);
	assert_true(joined[1] != before);
	assert_int_equal(report(0, 0, 0, 90).share, 90);
}

static void a_slot_of_nobody_is_gone(void **state)
{
	(void)state;
	assert_int_equal(gone(9).status, RF_LEDGER_DONE);
	assert_int_equal(gone(RF_LEDGER_SLOTS).status, RF_LEDGER_DONE);
}

#define ROW(title, function)                                              \
	{                                                                 \
		.name = title, .test_func = function, .setup_func = start \
	}

static const struct CMUnitTest tests[] = {
	ROW("gives from the pool, and takes back", gives_from_the_pool),
	ROW("keeps what was used until it leaves the window", keeps_what_was_used),
	ROW("a report that is older changes nothing", an_old_report_changes_nothing),
	ROW("a holder of more than an even part is asked for half of the excess",
	    whoever_has_more_than_an_even_part_gives_back),
	ROW("nobody grows beyond an even part in a contest",
	    nobody_grows_beyond_an_even_part_in_a_contest),
	ROW("an empty ledger gives nothing and no slot for G", an_empty_ledger_learns),
	ROW("a silent host is void after G + W, and not before",
	    a_silent_host_is_void_after_grace_and_window),
	ROW("a host is gone after G + W, and not before", a_host_is_gone_after_grace_and_window),
	ROW("nobody waits for a host that is gone", nobody_waits_for_a_host_that_is_gone),
	ROW("one that comes back joins anew, without claims", one_that_comes_back_joins_anew),
	ROW("a slot of nobody is gone", a_slot_of_nobody_is_gone),
	ROW("an answer to an older report is void", an_answer_to_an_older_report_is_void),
	ROW("what was used without a share is told to a new membership",
	    what_was_used_is_told_again),
	ROW("an answer to what was told before a share ended gives it not back",
	    an_answer_gives_back_no_share_that_has_ended),
	ROW("shares end where the host went alone before all claims were told",
	    shares_end_where_claims_may_be_told_too_late),
	ROW("a host with another key of buckets is foreign", a_host_with_another_key_is_foreign),
	ROW("a member may not change its key", a_member_may_not_change_its_key),
	ROW("another key is learnt once all hosts of the key before were silent for G + W",
	    another_key_is_learnt_once_all_of_the_key_before_were_silent),
	ROW("an engine that forgot takes the key of hosts that resume",
	    an_engine_that_forgot_takes_the_key_of_those_who_resume),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
