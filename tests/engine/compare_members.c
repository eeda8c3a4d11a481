// SPDX-License-Identifier: GPL-2.0
/* The calls of members about themselves and each other: heartbeats, and hosts that left. */
#include <inttypes.h>
#include <string.h>

#include "compare.h"

static uint64_t stamps = 1ULL << 63;

static struct rf_ledger_beat some_beat(const struct bucket *bucket)
{
	struct rf_ledger_beat beat = {.is_complete = dice(8) > 0, .resumes = !dice(4)};

	beat.key = dice(50) ? bucket->says_key : dice(UINT64_MAX);

	for (int i = 0; i < RF_LEDGER_SLOTS; i++)
		if (bucket->ledger.host[i].nonce && dice(8))
			rf_ledger_slots_add(&beat.known, i);
	if (!dice(1000))
		rf_ledger_slots_add(&beat.known, dice(RF_LEDGER_SLOTS));
	return beat;
}

static void compare_heard(const struct rf_ledger_heard *is, const struct rf_ledger_heard *wanted)
{
	if (is->status != wanted->status || is->joined != wanted->joined)
		differs("status %d, joined %" PRIx64 ", not %d, %" PRIx64, is->status, is->joined,
			wanted->status, wanted->joined);
	if (is->is_complete != wanted->is_complete || is->is_learning != wanted->is_learning)
		differs("complete %d, learning %d, not %d, %d", is->is_complete, is->is_learning,
			wanted->is_complete, wanted->is_learning);
	if (is->key != wanted->key)
		differs("the members' key");
	if (memcmp(&is->members, &wanted->members, sizeof(is->members)))
		differs("the members");
	seen.beats++;
	seen.refused += is->status == RF_LEDGER_REFUSED;
	seen.foreign += is->status == RF_LEDGER_FOREIGN;
	seen.learning += is->is_learning;
}

/*
 * A reply that names a membership known to the rules brings none that is new. False: the host is
 * foreign, for which hosts are not stored longer.
 */
static bool beat_model(struct bucket *bucket, struct member *member, struct rf_ledger_call *call,
		       const struct rf_ledger_beat *beat, const redisReply *reply)
{
	const uint64_t present = bucket->ledger.host[call->slot].joined;
	struct rf_ledger_heard heard, wanted;

	if (!engine_read_heard(reply, &heard))
		differs("a heartbeat is answered by %s",
			reply->type == REDIS_REPLY_ERROR ? reply->str : "garbage");
	call->stamp = heard.joined && heard.joined != present ? heard.joined : ++stamps;
	wanted = rf_ledger_beat(&bucket->ledger, call, beat);
	compare_heard(&heard, &wanted);
	if (heard.joined)
		member->joined = heard.joined;
	return heard.status != RF_LEDGER_FOREIGN;
}

/* The reply to a call about members, and the server's stored state after it. */
struct told {
	uint64_t before, after; /* the engine's real time */
	int64_t ends;
	redisReply *reply;
	struct rf_ledger kept;
	struct rf_ledger_slots listed;
	bool is_read; /* `kept` and `listed` are set */
};

static void send_looks(const struct bucket *bucket)
{
	engine_send(redis, "TIME");
	engine_send(redis, "GET %s", bucket->hosts_key);
	engine_send(redis, "PEXPIRETIME %s", bucket->hosts_key);
}

static void get_told(struct bucket *bucket, struct told *told)
{
	told->before = get_begin();
	told->reply = engine_get(redis);
	told->after = engine_get_time_ms(redis);
	told->is_read = get_hosts(bucket, &told->kept, &told->listed);
	told->ends = engine_get_number(redis);
}

static void check_told_expiry(const struct bucket *bucket, const struct told *told,
			      const struct rf_ledger_call *call)
{
	check_expiry(told->before, told->after, told->ends,
		     RF_WIRE_KEPT_MS + call->grace + bucket->ledger.window);
}

static void end_told(struct bucket *bucket, struct told *told)
{
	freeReplyObject(told->reply);
	if (told->is_read)
		compare_hosts(&told->kept, &bucket->ledger, &told->listed);
	if (bucket->ledger.window > WINDOW)
		lose_hosts(bucket);
}

void beat(struct bucket *bucket, struct member *member)
{
	struct rf_ledger_call call = call_of(member);
	struct rf_ledger_beat says = some_beat(bucket);
	uint8_t bytes[RF_WIRE_BEAT_MAX + 4] = {0};
	const size_t size = garble(bytes, rf_wire_pack_beat(bytes, &call, &says), 300);
	const uint32_t slot = dice(100) ? member->slot : dice(5);
	struct told told;

	send_begin();
	engine_send_beat(redis, bucket->number, slot, bytes, size);
	send_looks(bucket);
	get_told(bucket, &told);
	if (!rf_wire_unpack_beat(&call, &says, bytes, size) || call.slot != slot) {
		if (told.reply->type != REDIS_REPLY_ERROR)
			differs("a heartbeat is taken that makes no sense");
		seen.errors++;
	} else {
		call.now = now;
		call.run = run;
		if (beat_model(bucket, member, &call, &says, told.reply))
			check_told_expiry(bucket, &told, &call);
	}
	end_told(bucket, &told);
}

/* ---- a host that left ---- */

/* The slot of a member, or any. */
static uint32_t some_slot(const struct bucket *bucket)
{
	return dice(20) ? bucket->member[dice(MEMBERS)].slot : dice(RF_LEDGER_SLOTS + 10);
}

static bool read_gone(struct rf_ledger_call *call, uint32_t *slot, const uint8_t *bytes,
		      size_t size)
{
	if (size != RF_WIRE_GONE_SIZE || !rf_wire_unpack_call(call, bytes, RF_WIRE_CALL_SIZE))
		return false;
	*slot = bytes[RF_WIRE_CALL_SIZE] | bytes[RF_WIRE_CALL_SIZE + 1] << 8;
	return true;
}

/* True: a host was forgotten. */
static bool gone_model(struct bucket *bucket, const struct rf_ledger_call *call, uint32_t slot,
		       const redisReply *reply)
{
	const bool was_member = slot < RF_LEDGER_SLOTS && bucket->ledger.host[slot].nonce;
	const struct rf_ledger_left wanted = rf_ledger_gone(&bucket->ledger, call, slot);
	struct rf_ledger_left is;

	if (reply->type != REDIS_REPLY_STRING || !rf_wire_unpack_left(&is, reply->str, reply->len))
		differs("a host that is gone is answered by %s",
			reply->type == REDIS_REPLY_ERROR ? reply->str : "garbage");
	if (is.status != wanted.status || is.left != wanted.left)
		differs("status %d, left %" PRIu64 ", not %d, %" PRIu64, is.status, is.left,
			wanted.status, wanted.left);
	seen.gone++;
	seen.forgotten += was_member && is.status == RF_LEDGER_DONE;
	return was_member && is.status == RF_LEDGER_DONE;
}

void gone(struct bucket *bucket, struct member *member)
{
	struct rf_ledger_call call = call_of(member);
	const uint32_t key_slot = dice(100) ? member->slot : dice(5);
	uint8_t bytes[RF_WIRE_GONE_SIZE + 4] = {0};
	struct told told;
	uint32_t slot;
	size_t size;

	rf_wire_pack_gone(bytes, &call, some_slot(bucket));
	size = garble(bytes, RF_WIRE_GONE_SIZE, 300);
	send_begin();
	engine_send_gone(redis, bucket->number, key_slot, bytes, size);
	send_looks(bucket);
	get_told(bucket, &told);
	if (!read_gone(&call, &slot, bytes, size) || call.slot != key_slot) {
		if (told.reply->type != REDIS_REPLY_ERROR)
			differs("a call about a host is taken that makes no sense");
		seen.errors++;
	} else {
		call.now = now;
		call.run = run;
		if (gone_model(bucket, &call, slot, told.reply))
			check_told_expiry(bucket, &told, &call);
	}
	end_told(bucket, &told);
}
