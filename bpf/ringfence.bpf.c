// SPDX-License-Identifier: GPL-2.0
/*
 * The data path of one frame:
 *
 *   handle_frame   parse: source, protocol, port
 *   set_request    select active rules and packet class; handle packets that need no window
 *   lease_answers  apply the cached verdict of a lease of this CPU, as for most packets
 *   ask            check the lists, then the one limit that applies, or
 *   ask_several    the limits that apply
 *
 * If the fence has had several interfaces, the packet is then counted for its interface. If a
 * capture is active, the packet may be sampled.
 *
 * While rules are active, IP packets without a source to charge are dropped, and other protocols
 * pass. Every packet is counted under exactly one reason. XDP_ABORTED, a slow path, is never
 * returned. Without rules the program only observes: it counts and passes everything.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "examine.h"
#include "limits.h"
#include "lists.h"
#include "parsed.h"
#include "rate0.h"
#include "ringfence/abi.h"
#include "ringfence/packet.h"
#include "sample.h"
#include "shape.h"

char gpl[] SEC("license") = "GPL";

/* ---- one packet ---- */

/*
 * The packet that this CPU handles, unless a lease has handled it. It is in a map and not on the
 * stack, of which it would take a sixth of the limit for nested functions. Writer and reader: the
 * program, in one run. Never full: one entry. Drivers, generic XDP and chains run XDP programs with
 * softirqs disabled, so runs on one CPU never overlap.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct question);
} packet_question SEC(".maps");

static __always_inline struct question *find_question(void)
{
	__u32 first = 0;

	return bpf_map_lookup_elem(&packet_question, &first);
}

/*
 * Evaluates the lists, then the limit if only one applies. STEP_SEVERAL: the caller evaluates the
 * limits, because the stack frames of nested functions add up.
 */
static __always_inline int ask(struct question *question, int is_ipv6)
{
	const struct rf_bank *bank = bank_of(question);
	__u32 applies = ~0U, limits, first = 0;
	struct rf_counters *sums = bpf_map_lookup_elem(&counters, &first);
	enum rf_reason reason;
	__u64 until, ban;

	if (!sums)
		return RF_MAP_ERROR; /* cannot happen; for the verifier */
	if (lists_decide(question, &reason, &applies, &until, is_ipv6)) {
		lease_same_answer(question, reason, until, 0);
		return reason;
	}
	if (bank->bans_all & applies) {
		ban = find_ban_of(question, bank->bans_all & applies);
		if (ban)
			return refuse_banned(question, NULL, ban % RF_LIMITS_MAX,
					     ban / RF_LIMITS_MAX);
	}
	limits = bank->packet_class[rf_rules_packet_class(question->who.rules)].limits & applies;
	question->limits = limits;
	if (limits & bank->rate0) {
		if (drops_by_rate0(question))
			return RF_OVER_LIMIT;
		limits = question->limits;
	}
	if (!limits) {
		lease_same_answer(question, RF_NO_LIMIT, until, 0);
		return RF_NO_LIMIT;
	}
	if (loan_continues(question))
		return STEP_LEASED;
	if (limits & (limits - 1))
		return STEP_SEVERAL;
	return ask_limit(question, bank, first_slot(limits), sums, is_ipv6);
}

__noinline int ask4(struct question *question)
{
	return question ? ask(question, 0) : RF_MAP_ERROR;
}

__noinline int ask6(struct question *question)
{
	return question ? ask(question, 1) : RF_MAP_ERROR;
}

/*
 * A packet of unknown class would bypass every limit that might match it. It is therefore dropped,
 * unless its source is on the allow list.
 */
static __always_inline enum rf_reason refuse_unclassified(struct question *question, int is_ipv6)
{
	enum rf_reason reason;
	__u32 limits = 0;
	__u64 until;

	return lists_decide(question, &reason, &limits, &until, is_ipv6) ? reason : RF_UNCLASSIFIED;
}

__noinline int refuse_unclassified4(struct question *question)
{
	return question ? refuse_unclassified(question, 0) : RF_UNCLASSIFIED;
}

__noinline int refuse_unclassified6(struct question *question)
{
	return question ? refuse_unclassified(question, 1) : RF_UNCLASSIFIED;
}

/* The class of a packet, by its port. */
static __always_inline __u32 class_of_port(__u32 index, const struct rf_packet *packet)
{
	const struct rf_ports *table = bpf_map_lookup_elem(&ports, &index);
	__u64 of = rf_packet_ports_of(packet);
	__u32 port = packet->dport;

	/* Otherwise the check is for equality, from which Linux 6.1 derives no bound. */
	RF_OPAQUE(of);
	if (!table || of >= RF_PORTS_OF_COUNT)
		return 0; /* cannot happen; for the verifier */
	/* Preserves the mask: the bound was lost on the stack. */
	RF_OPAQUE(port);
	return table->packet_class[of][port % RF_PORTS];
}

/* The class of a packet selects the limits that might match it. */
static __always_inline __u32 class_of(const struct rf_bank *bank, __u32 generation,
				      const struct rf_packet *packet)
{
	if (!(packet->flags & RF_HAS_DPORT))
		return bank->class_of_protocol[packet->protocol];
	if (unlikely(bank->flags & RF_BANK_PORTS)) {
		RF_OPAQUE(generation); /* otherwise its bit is stored even without a look-up */
		return class_of_port(generation & 1, packet);
	}
	return bank->class_of_ports[rf_packet_ports_of(packet)];
}

/* Is a newcomer that these rules would drop examined first? */
static __always_inline int is_examined(const struct question *question)
{
	return config.is_examining && bank_of(question)->newcomers.except_established &&
	       !question->proof && !is_paused(question);
}

/* Evaluates lists, then limits, and counts the result, unless the packet is to be examined. */
static __always_inline int ask_and_count(struct question *question, int is_ipv6)
{
	int reason = STEP_SEVERAL;
	struct rf_counters *sums;
	__u32 first = 0;

	if (!is_for_several(question, is_ipv6))
		reason = is_ipv6 ? ask6(question) : ask4(question);
	else if (loan_continues(question))
		reason = STEP_LEASED;
	if (reason == STEP_LEASED)
		return RF_UNDER_LIMIT;
	if (reason == STEP_SEVERAL)
		reason = ask_several(question, is_ipv6);
	if (reason == RF_NEWCOMER_DROP && is_examined(question))
		return STEP_EXAMINE;
	if (question->proof && reason == RF_UNDER_LIMIT)
		reason = question->proof;
	if (question->mode & MODE_RATE0)
		reason = count_rate0(question, reason);
	if (reason >= RF_FIRST_DROP && is_paused(question)) {
		question->limits = is_by_limits(reason) ? question->limits : 0;
		reason = RF_PAUSED;
	}
	if (reason == RF_OVER_LIMIT && config.truncate_one_in)
		question->refused = question->limits;
	sums = bpf_map_lookup_elem(&counters, &first);
	if (sums && (__u32)reason < RF_REASON_COUNT)
		count(&sums->reason[reason], 1, question->len_bytes);
	return config.is_sampling ? note_answer(question, reason) : reason;
}

/* The source as a lease knows it. */
static __always_inline void set_who(struct rf_who *who, const struct rf_packet *packet, int version,
				    const struct rf_bank *bank)
{
	const __be32 *source = packet->source;

	who->place = 0;
	if (version == 4) {
		who->source[0] = source[0] & bank->lease_mask4;
		who->source[1] = 0;
	} else {
		who->source[0] = (source[0] | (__u64)source[1] << 32) & bank->lease_mask6;
		/* A lease does not distinguish addresses within a /64. */
		who->source[1] = (bank->flags & RF_BANK_NO_LEASE6) | rf_is_link_local(source[0]);
	}
}

static __always_inline void set_source(struct question *question, const struct rf_packet *packet,
				       int version)
{
	const __be32 *source = packet->source;

	question->source[0] = source[0];
	question->source[1] = 0;
	if (version == 6) {
		question->source[0] |= (__u64)source[1] << 32;
		question->source[1] = source[2] | (__u64)source[3] << 32;
	}
}

/* No limit has been evaluated yet. */
static __always_inline void clear_answers(struct question *question)
{
	question->until = 0;
	question->limits = 0;
	__builtin_memset(question->slot, 0, sizeof(question->slot));
	question->count = question->in_force = question->over = 0;
	question->missing = question->aggregated = 0;
	question->lease_life = config.times.resident_lease;
	question->met = 0;
	question->proof = 0;
	question->refused = 0;
	question->mode = read_pause(question->jiffies) ? MODE_PAUSED : 0;
}

/* The active rules; NULL: an unconfirmed attach has expired, and everything passes. */
static __always_inline const struct rf_bank *bank_in_force(__u64 *generation)
{
	const struct rf_bank *bank;

	/* Read once: a packet sees one set of rules, never a mixture. */
	*generation = rf_load(&config.active);
	bank = &config.bank[*generation & 1];
	if (likely(!is_past_deadline(bank)))
		return bank;
	if (bank->fallback == RF_FALL_OPEN)
		return NULL;
	--*generation;
	return &config.bank[*generation & 1];
}

/* Fast path: does the guard refuse this source before any lease is read? */
static __always_inline int is_refused_at_once(const struct rf_packet *packet, int version,
					      const struct rf_bank *bank, __u32 limits)
{
	struct question question;

	if (likely(!guard_may_drop(bank, version == 6)))
		return 0;
	question.jiffies = read_jiffies();
	set_source(&question, packet, version);
	return is_dropped_newcomer(&question, bank, limits, version == 6);
}

/* The verdict for a reason. Returns STEP_EXAMINE unchanged. */
static __always_inline int verdict_of(int reason)
{
	if (unlikely(reason == STEP_EXAMINE))
		return reason;
	return reason >= RF_FIRST_DROP ? XDP_DROP : XDP_PASS;
}

/* Packets that skip the leases: only the allow list can let it pass; the guard refuses it. */
#define UNCLASSIFIED 1
#define REFUSED_NEWCOMER 2

/* A packet's request to a lease. */
struct request {
	struct rf_who who;
	__u32 cost;
	int without_lease; /* UNCLASSIFIED, REFUSED_NEWCOMER, or 0 */
};

static __always_inline __u32 refine_class(const struct view *view, __u32 base, __u32 generation,
					  int version)
{
	const struct rf_bank *bank = &config.bank[generation & 1];
	const __u32 parts = bank->packet_class[base % RF_PACKET_CLASSES_MAX].by_shape;

	return class_of_shape(&bank->shapes, &config.shape_tables[generation & 1], base, parts,
			      view, version);
}

static __always_inline __u32 refine_either(const struct view *view, __u32 base, __u32 generation)
{
	return view->packet->version == 4 ? refine_class(view, base, generation, 4)
					  : refine_class(view, base, generation, 6);
}

/* The class of the packet in `parsed`, by its shape: its headers are in the linear part. */
static __always_inline __u32 refine_linear(struct xdp_md *ctx, const struct parsed *parsed,
					   __u32 base, __u32 generation, __u32 len_bytes)
{
	const struct rf_packet packet = parsed->packet;
	const struct view view = {.data = (void *)(long)ctx->data,
				  .end = (void *)(long)ctx->data_end,
				  .packet = &packet,
				  .len_bytes = len_bytes};

	return refine_either(&view, base, generation);
}

/* The same: they are in the copy. */
static __always_inline __u32 refine_copy(const struct parsed *parsed, __u32 base, __u32 generation,
					 __u32 len_bytes)
{
	const struct rf_packet packet = parsed->packet;
	const struct view view = {.data = parsed->frame,
				  .end = parsed->frame + parsed->copied,
				  .packet = &packet,
				  .len_bytes = len_bytes};

	if (parsed->copied > sizeof(parsed->frame) || packet.network > RF_HEADER_AT_MAX ||
	    packet.transport > RF_HEADER_AT_MAX)
		return 0; /* cannot happen; for the verifier */
	return refine_either(&view, base, generation);
}

/* The class by shape of the packet that parse_frame or parse_linear stored. */
__noinline __u32 class_of_parsed(struct xdp_md *ctx, __u32 base, __u32 generation, __u32 len_bytes)
{
	const struct parsed *parsed = find_parsed();

	if (!parsed)
		return 0; /* cannot happen; for the verifier */
	return parsed->copied ? refine_copy(parsed, base, generation, len_bytes)
			      : refine_linear(ctx, parsed, base, generation, len_bytes);
}

/*
 * The same for another frame that is not plain. Parses the frame again: otherwise every packet
 * would hold the header positions in registers.
 */
__noinline __u32 class_by_shape(struct xdp_md *ctx, __u32 base, __u32 generation, __u32 len_bytes)
{
	if (parse_linear(ctx) != RF_PARSED_SOURCE)
		return 0; /* cannot happen; for the verifier */
	return class_of_parsed(ctx, base, generation, len_bytes);
}

/*
 * For a plain frame: no call. Reads `ctx` again, which saves stack: `ctx` is preserved in any case.
 */
static __always_inline __u32 class_of_plain(struct xdp_md *ctx, const struct rf_packet *packet,
					    __u32 base, __u32 generation, __u32 len_bytes,
					    int version)
{
	const struct view view = {.data = (void *)(long)ctx->data,
				  .end = (void *)(long)ctx->data_end,
				  .packet = packet,
				  .len_bytes = len_bytes,
				  .is_plain = 1};

	return refine_class(&view, base, generation, version);
}

/* How a frame was parsed, which determines where its headers are. */
enum frame {
	FRAME_PLAIN,  /* headers in fixed places */
	FRAME_LINEAR, /* other headers, all in the linear part */
	FRAME_PARSED, /* parse_frame stored them */
};

/* True: `request` is set. Else `why` is the reason, and no limit is charged. */
static __always_inline int set_request(struct xdp_md *ctx, struct request *request,
				       const struct rf_packet *packet, int version, __u32 len_bytes,
				       enum frame frame, enum rf_reason *why)
{
	const __u32 listed = version == 4 ? RF_BANK_PREFIXES4 : RF_BANK_PREFIXES6;
	const struct rf_packet_class *class;
	const struct rf_bank *bank;
	__u64 generation;
	__u32 index;

	*why = RF_UNCONFIRMED;
	bank = bank_in_force(&generation);
	if (!bank)
		return 0;
	request->without_lease = packet->flags & RF_CLASS_UNKNOWN && bank->flags & RF_BANK_IN_FORCE
					 ? UNCLASSIFIED
					 : 0;
	*why = RF_UNCLASSIFIED;
	if (request->without_lease && !(bank->flags & listed))
		return 0;
	index = class_of(bank, generation, packet);
	class = &bank->packet_class[index];
	if (unlikely(!class->limits)) {
		if (class->by_shape) {
			RF_OPAQUE(index); /* these save stack: intermediate values need not be
					     preserved */
			if (frame == FRAME_PLAIN)
				index = class_of_plain(ctx, packet, index, generation, len_bytes,
						       version);
			else if (frame == FRAME_PARSED)
				index = class_of_parsed(ctx, index, generation, len_bytes);
			else
				index = class_by_shape(ctx, index, generation, len_bytes);
			RF_OPAQUE(index); /* keeps the mask: the verifier does not see the
					     returned value's bound */
			index %= RF_PACKET_CLASSES_MAX;
			RF_OPAQUE(bank);
			class = &bank->packet_class[index];
		}
		/* From here on the class is known, or a list may decide. */
		*why = RF_NO_LIMIT;
		if (!class->limits && !(bank->flags & (listed | RF_BANK_BANS_ALL)))
			return 0;
	}
	*why = RF_NEWCOMER_DROP;
	if (is_refused_at_once(packet, version, bank, class->limits)) {
		if (!config.is_examining || !bank->newcomers.except_established)
			return 0;
		request->without_lease = REFUSED_NEWCOMER;
	}
	set_who(&request->who, packet, version, bank);
	request->who.rules = rf_who_rules(generation, index, version == 6);
	request->cost = rf_units(class->unit, class->unit_shift, len_bytes);
	return 1;
}

/*
 * Returns the verdict, with the packet counted; STEP_COUNT: the caller counts it under the reason
 * `why`.
 */
static __always_inline int judge_packet(struct xdp_md *ctx, const struct rf_packet *packet,
					int version, __u32 len_bytes, enum frame frame,
					enum rf_reason *why)
{
	struct request request;
	struct question *question;
	int is_drop;

	if (!set_request(ctx, &request, packet, version, len_bytes, frame, why))
		return STEP_COUNT;
	if (!request.without_lease &&
	    likely(lease_answers(&request.who, request.cost, len_bytes, &is_drop)))
		return is_drop ? XDP_DROP : XDP_PASS;
	/* Stored in memory only from here on: the lease path uses registers. */
	question = find_question();
	if (!question) {
		*why = RF_MAP_ERROR; /* cannot happen; for the verifier */
		return STEP_COUNT;
	}
	question->who = request.who;
	set_source(question, packet, version);
	question->jiffies = read_jiffies();
	question->len_bytes = len_bytes;
	question->cost = request.cost;
	clear_answers(question);
	if (request.without_lease == REFUSED_NEWCOMER && !is_paused(question))
		return STEP_EXAMINE;
	if (request.without_lease != UNCLASSIFIED)
		return STEP_ASK;
	*why = version == 4 ? refuse_unclassified4(question) : refuse_unclassified6(question);
	return STEP_COUNT;
}

/* The reason for a frame without a source. Without active rules, no frame is dropped. */
__noinline int judge_sourceless(__u32 reason, __u32 len_bytes, int is_paused)
{
	const __u64 jiffies = read_jiffies();
	const struct rf_bank *bank;
	__u64 generation;

	bank = bank_in_force(&generation);
	if (!bank)
		return reason < RF_FIRST_DROP ? reason : RF_UNCONFIRMED;
	if (reason < RF_FIRST_DROP)
		return bank->other ? ask_other(bank, jiffies, len_bytes, reason, is_paused)
				   : reason;
	return bank->flags & RF_BANK_IN_FORCE ? reason : RF_NO_LIMIT;
}

/* Counts a packet, and returns its verdict. */
static __always_inline int count_reason(enum rf_reason reason, __u32 len_bytes, int is_paused)
{
	__u32 first = 0;
	struct rf_counters *sums = bpf_map_lookup_elem(&counters, &first);

	if (reason >= RF_FIRST_DROP && is_paused)
		reason = RF_PAUSED;
	RF_OPAQUE(reason); /* preserves the comparison, which the verifier needs */
	if (!sums || reason >= RF_REASON_COUNT)
		return XDP_PASS; /* cannot happen; for the verifier */
	count(&sums->reason[reason], 1, len_bytes);
	return verdict_of(config.is_sampling ? note_reason(reason) : reason);
}

static __always_inline int handle_packet(struct xdp_md *ctx, const struct rf_packet *packet,
					 int version, __u32 len_bytes, enum frame frame)
{
	enum rf_reason why;
	const int verdict = judge_packet(ctx, packet, version, len_bytes, frame, &why);

	if (verdict != STEP_COUNT)
		return verdict;
	return count_reason(why, len_bytes, why >= RF_FIRST_DROP && read_pause(read_jiffies()));
}

/* Handles a packet of a frame that is not plain, as parsed. */
static __always_inline int handle_either(struct xdp_md *ctx, enum rf_parsed parsed,
					 const struct rf_packet *packet, __u32 len_bytes,
					 enum frame frame)
{
	if (parsed != RF_PARSED_SOURCE) {
		const int is_paused = read_pause(read_jiffies());

		return count_reason(
			judge_sourceless(rf_parsed_reason(parsed), len_bytes, is_paused), len_bytes,
			is_paused);
	}
	if (packet->version == 4)
		return handle_packet(ctx, packet, 4, len_bytes, frame);
	return handle_packet(ctx, packet, 6, len_bytes, frame);
}

/* Plain frames have a separate path, in which their constants need no register and no branch. */
static __always_inline int handle_frame(struct xdp_md *ctx)
{
	const void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	const __u32 len_bytes = end - data;
	struct rf_packet packet;
	enum rf_parsed found;

	if (likely(rf_packet_is_plain4(data, end, &packet)))
		return handle_packet(ctx, &packet, 4, len_bytes, FRAME_PLAIN);
	if (rf_packet_is_plain6(data, end, &packet))
		return handle_packet(ctx, &packet, 6, len_bytes, FRAME_PLAIN);
	found = rf_packet_parse(data, end, &packet);
	return handle_either(ctx, found, &packet, len_bytes, FRAME_LINEAR);
}

/*
 * The same for a frame that can span several buffers. A truncated TCP header might continue outside
 * the linear part.
 */
static __always_inline int handle_frags(struct xdp_md *ctx)
{
	const __u32 len_bytes = bpf_xdp_get_buff_len(ctx);
	const void *data = (void *)(long)ctx->data, *end = (void *)(long)ctx->data_end;
	const struct parsed *parsed;
	struct rf_packet packet;
	enum rf_parsed found;

	if (rf_packet_is_plain4(data, end, &packet) && !(packet.flags & RF_TCP_CUT))
		return handle_packet(ctx, &packet, 4, len_bytes, FRAME_PLAIN);
	if (rf_packet_is_plain6(data, end, &packet) && !(packet.flags & RF_TCP_CUT))
		return handle_packet(ctx, &packet, 6, len_bytes, FRAME_PLAIN);
	found = parse_frame(ctx, len_bytes);
	parsed = find_parsed();
	if (!parsed)
		return XDP_PASS; /* cannot happen; for the verifier */
	return handle_either(ctx, found, &parsed->packet, len_bytes, FRAME_PARSED);
}

/* ---- a newcomer over the newcomers rate ---- */

/* Is the source of a newcomer's packet banned, by a limit that matches it or from all traffic? */
static __always_inline int is_banned_newcomer(const struct question *question)
{
	const struct rf_bank *bank = bank_of(question);

	return bank->bans &&
	       find_ban_of(question, bank->bans & (class_asked(question)->limits | bank->bans_all));
}

/*
 * Examines the packet in parsed_frame. Returns XDP_DROP; XDP_TX: send the response; STEP_ASK:
 * evaluate lists and limits again, with the proof.
 */
static __always_inline int judge_newcomer(struct xdp_md *ctx, int parsed)
{
	struct question *question = find_question();
	int reason = RF_NEWCOMER_DROP;

	if (!question)
		return XDP_DROP; /* cannot happen; for the verifier */
	if (parsed == RF_PARSED_SOURCE && !is_banned_newcomer(question))
		reason = examine(ctx, question);
	if (reason < RF_FIRST_DROP) {
		clear_answers(question);
		question->proof = reason;
		return STEP_ASK;
	}
	count_reason(reason, question->len_bytes, 0);
	return reason == RF_CHALLENGED ? XDP_TX : XDP_DROP;
}

__noinline int judge_newcomer_linear(struct xdp_md *ctx)
{
	return judge_newcomer(ctx, parse_linear(ctx));
}

__noinline int judge_newcomer_frags(struct xdp_md *ctx)
{
	return judge_newcomer(ctx, parse_frame(ctx, bpf_xdp_get_buff_len(ctx)));
}

/* The result of ask_and_count for the packet in packet_question, as a verdict. */
static __always_inline int judge_question(void)
{
	struct question *question = find_question();

	if (!question)
		return XDP_DROP; /* cannot happen; for the verifier */
	return verdict_of(rf_rules_are_ipv6(question->who.rules) ? ask_and_count(question, 1)
								 : ask_and_count(question, 0));
}

/* The verdict for a packet that no lease has handled: continues with `step`. */
static __always_inline int judge_by_steps(struct xdp_md *ctx, int step, int is_in_frags)
{
	RF_NO_UNROLL
	for (int round = 0; round < 2; round++) {
		if (step == STEP_ASK)
			step = judge_question();
		if (step != STEP_EXAMINE)
			break;
		step = is_in_frags ? judge_newcomer_frags(ctx) : judge_newcomer_linear(ctx);
		if (step != STEP_ASK)
			break;
	}
	return step;
}

/* ---- after the verdict ---- */

/* The note for the packet that parse_frame or parse_linear stored, which a lease has handled. */
__noinline __u64 note_of_packet(struct xdp_md *ctx, __u32 len_bytes)
{
	const struct parsed *parsed = find_parsed();
	const struct rf_packet *packet;
	const struct rf_bank *bank;
	struct rf_who who;
	__u64 generation;
	__u32 index;

	bank = bank_in_force(&generation);
	if (!bank || !parsed)
		return 0;
	packet = &parsed->packet;
	index = class_of(bank, generation, packet);
	if (!bank->packet_class[index].limits && bank->packet_class[index].by_shape) {
		index = class_of_parsed(ctx, index, generation, len_bytes);
		RF_OPAQUE(index);
	}
	index %= RF_PACKET_CLASSES_MAX;
	if (packet->version == 4)
		set_who(&who, packet, 4, bank);
	else
		set_who(&who, packet, 6, bank);
	who.rules = rf_who_rules(generation, index, packet->version != 4);
	return note_by_lease(&who);
}

/*
 * The note for a packet that a lease of this CPU has just handled; 0: no lease did. Looks the lease
 * up again, which saves the common path from storing the result for the few packets that are
 * sampled.
 */
__noinline __u64 note_of_lease(struct xdp_md *ctx, __u32 len_bytes)
{
	return parse_linear(ctx) == RF_PARSED_SOURCE ? note_of_packet(ctx, len_bytes) : 0;
}

__noinline __u64 note_of_frags_lease(struct xdp_md *ctx, __u32 len_bytes)
{
	return parse_frame(ctx, len_bytes) == RF_PARSED_SOURCE ? note_of_packet(ctx, len_bytes) : 0;
}

/* Does `noted` belong to this packet, and does the capture request its reason? */
static __always_inline int is_wanted(__u64 noted, int verdict)
{
	return is_of_verdict(noted, verdict) && is_asked_for(noted);
}

/* Samples the packet if the capture requests its reason. Returns the packet's verdict. */
__noinline int take_sample(struct xdp_md *ctx, int verdict)
{
	const __u32 len_bytes = ctx->data_end - ctx->data;
	__u64 noted = count_again(verdict);

	if (noted == NOT_ASKED_FOR)
		return verdict;
	if (!is_of_verdict(noted, verdict))
		noted = note_of_lease(ctx, len_bytes);
	if (is_wanted(noted, verdict))
		write_sample(ctx, noted, len_bytes, 0);
	return verdict;
}

__noinline int take_frags_sample(struct xdp_md *ctx, int verdict)
{
	const __u32 len_bytes = bpf_xdp_get_buff_len(ctx);
	__u64 noted = count_again(verdict);

	if (noted == NOT_ASKED_FOR)
		return verdict;
	if (!is_of_verdict(noted, verdict))
		noted = note_of_frags_lease(ctx, len_bytes);
	if (is_wanted(noted, verdict))
		write_sample(ctx, noted, len_bytes, 1);
	return verdict;
}

/* ---- a DNS query over a limit ---- */

/* True for `drawn` of `one_in` packets. */
static __always_inline int is_drawn(__u32 drawn, __u32 one_in)
{
	return ((__u64)bpf_get_prandom_u32() * one_in >> 32) < drawn;
}

/* The limits that refused the packet in parsed_frame by a lease, as a bit set of slots; 0: none. */
static __always_inline __u32 refused_by_lease(struct xdp_md *ctx, struct question *question,
					      const struct rf_packet *packet, __u32 len_bytes)
{
	const __u64 noted = note_of_packet(ctx, len_bytes);

	if (!noted || noted_reason(noted) != RF_OVER_LIMIT)
		return 0;
	question->who.rules = rf_who_rules(noted >> 9, 0, packet->version == 6);
	set_source(question, packet, packet->version);
	question->jiffies = read_jiffies();
	return noted >> 32;
}

/*
 * The packet in parsed_frame was dropped, and drawn among `one_in`. `refused`: the limits that
 * refused it, if no lease did. Returns XDP_TX with a response, if such a limit truncates.
 */
__noinline int truncate_parsed(struct xdp_md *ctx, __u32 len_bytes, __u32 refused, __u32 one_in)
{
	struct examination *its = find_examination();
	struct question *question = find_question();
	const struct parsed *parsed = find_parsed();
	const struct rf_bank *bank;
	__u32 slot;

	if (!its || !question || !parsed || parsed->packet.protocol != IPPROTO_UDP)
		return XDP_DROP;
	if (!refused)
		refused = refused_by_lease(ctx, question, &parsed->packet, len_bytes);
	bank = bank_of(question);
	refused &= bank->truncates;
	if (!refused)
		return XDP_DROP;
	slot = first_slot(refused);
	if (!is_drawn(one_in, bank->limit[slot].truncate_one_in) ||
	    !read_headers(ctx, its, &parsed->packet) || !answer_dns(ctx, question))
		return XDP_DROP;
	count_truncated(&bank->policy[slot], len_bytes);
	return XDP_TX;
}

/* The limits that refused the packet; 0: a lease did, or none. Called for each dropped packet. */
static __always_inline __u32 take_refused(void)
{
	struct question *question = find_question();
	__u32 refused;

	if (!question)
		return 0; /* cannot happen; for the verifier */
	refused = question->refused;
	question->refused = 0;
	return refused;
}

/* XDP_TX, with a response: the dropped packet is one of N DNS queries over a limit. */
__noinline int truncate_linear(struct xdp_md *ctx)
{
	const __u32 refused = take_refused(), one_in = config.truncate_one_in;

	if (!is_drawn(1, one_in) || parse_linear(ctx) != RF_PARSED_SOURCE)
		return XDP_DROP;
	return truncate_parsed(ctx, ctx->data_end - ctx->data, refused, one_in);
}

__noinline int truncate_frags(struct xdp_md *ctx)
{
	const __u32 len_bytes = bpf_xdp_get_buff_len(ctx), one_in = config.truncate_one_in;
	const __u32 refused = take_refused();

	if (!is_drawn(1, one_in) || parse_frame(ctx, len_bytes) != RF_PARSED_SOURCE)
		return XDP_DROP;
	return truncate_parsed(ctx, len_bytes, refused, one_in);
}

/* ---- the entries ---- */

/* Not inlined: most fences do neither, and the code would add to the stack of the entry. */
__noinline int count_by_interface(struct xdp_md *ctx, int verdict)
{
	return count_interface(ctx->ingress_ifindex, ctx->data_end - ctx->data, verdict);
}

__noinline int count_frags_by_interface(struct xdp_md *ctx, int verdict)
{
	return count_interface(ctx->ingress_ifindex, bpf_xdp_get_buff_len(ctx), verdict);
}

SEC("xdp")
int ringfence(struct xdp_md *ctx)
{
	int verdict = handle_frame(ctx);

	if (unlikely(verdict < 0))
		verdict = judge_by_steps(ctx, verdict, 0);
	if (likely(!config.after_verdict))
		return verdict;
	RF_OPAQUE(ctx); /* otherwise clang 22 saves a copy, for which the stack has no room */
	if (config.is_sampling && is_due())
		verdict = take_sample(ctx, verdict);
	if (config.by_interface)
		verdict = count_by_interface(ctx, verdict);
	if (config.truncate_one_in && verdict == XDP_DROP)
		verdict = truncate_linear(ctx);
	return verdict == XDP_TX ? send_answer(ctx) : verdict;
}

/*
 * For frames in several buffers (jumbo MTU). Linux 5.18 introduced these and their length helper.
 */
SEC("xdp.frags")
int ringfence_frags(struct xdp_md *ctx)
{
	int verdict = handle_frags(ctx);

	if (unlikely(verdict < 0))
		verdict = judge_by_steps(ctx, verdict, 1);
	if (!config.after_verdict)
		return verdict;
	RF_OPAQUE(ctx); /* as in the other entry */
	if (config.is_sampling && is_due())
		verdict = take_frags_sample(ctx, verdict);
	if (config.by_interface)
		verdict = count_frags_by_interface(ctx, verdict);
	if (config.truncate_one_in && verdict == XDP_DROP)
		verdict = truncate_frags(ctx);
	return verdict == XDP_TX ? send_answer(ctx) : verdict;
}
