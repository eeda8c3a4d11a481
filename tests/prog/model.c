// SPDX-License-Identifier: GPL-2.0
#include "model.h"

#include "ringfence/limiter.h"
#include "tests/peek.h"
#include "tests/unit/unit.h"

uint64_t model_time(const struct model *model, const struct rf_policy *policy)
{
	return policy->clock == RF_KTIME ? model->now_ns : model->now_ns / model->tick_ns;
}

static bool is_link_local(const struct rf_address *source)
{
	const unsigned char *byte = (const unsigned char *)source->word;

	return source->version == 6 && byte[0] == 0xfe && byte[1] / 64 == 2;
}

static struct rf_address mask_address(const struct rf_address *source,
				      const struct rf_policy *policy)
{
	struct rf_address masked = *source;

	if (is_link_local(source) && policy->mask6[0])
		return masked;
	if (source->version == 4)
		masked.word[0] &= policy->mask4;
	for (int i = 0; source->version == 6 && i < 4; i++)
		masked.word[i] &= policy->mask6[i];
	return masked;
}

static struct rf_source *model_source(struct model *model, const struct rf_address *source,
				      int slot)
{
	const struct rf_policy *policy = &model->bank.policy[slot];
	const struct rf_address masked = mask_address(source, policy);
	struct model_window *window = model->window;

	for (; window < model->window + model->windows; window++)
		if (window->slot == slot && memcmp(&window->source, &masked, sizeof(masked)) == 0)
			return &window->state;
	assert_true(model->windows++ < WINDOWS_MAX);
	*window = (struct model_window){.source = masked, .slot = slot};
	rf_window_start(&window->state.window, policy, model_time(model, policy));
	return &window->state;
}

static void add(struct rf_count *sum, uint64_t bytes)
{
	sum->packets++;
	sum->bytes += bytes;
}

static bool model_has_room(struct model *model, const struct sent *sent, int slot)
{
	const struct rf_policy *policy = &model->bank.policy[slot];
	const struct rf_source *state = model_source(model, &sent->source, slot);

	if (policy->ban && state->banned_until > model->now_ns / model->tick_ns)
		return false;
	return rf_peek(&state->window, policy, model_time(model, policy),
		       rf_cost(policy, sent->frame.length));
}

static enum rf_verdict model_take(struct model *model, const struct sent *sent, int slot)
{
	const struct rf_policy *policy = &model->bank.policy[slot];

	return rf_take(&model_source(model, &sent->source, slot)->window, policy,
		       model_time(model, policy), rf_cost(policy, sent->frame.length));
}

/* Only this one refuses and is reported; `is_told`: it was evaluated by taking. */
static enum rf_reason model_refuse(struct model *model, const struct sent *sent, int slot,
				   bool is_told)
{
	const struct rf_policy *policy = &model->bank.policy[slot];
	const uint64_t jiffies = model->now_ns / model->tick_ns;
	struct rf_source *state = model_source(model, &sent->source, slot);

	add(&model->limit[slot].dropped, sent->frame.length);
	state->dropped++;
	if (policy->ban && state->banned_until > jiffies)
		return RF_BANNED;
	if (rf_counts_rejected(policy) && !is_told)
		model_take(model, sent, slot);
	if (policy->ban)
		state->banned_until = jiffies + policy->ban;
	return RF_OVER_LIMIT;
}

/* A single limit is not peeked at: if it refuses, it can still enter a new cell. */
static bool model_refuses_alone(struct model *model, const struct sent *sent, int slot)
{
	const struct rf_policy *policy = &model->bank.policy[slot];
	struct rf_source *state = model_source(model, &sent->source, slot);
	const struct rf_source before = *state;

	if (policy->ban && state->banned_until > model->now_ns / model->tick_ns)
		return true;
	if (model_take(model, sent, slot) != RF_UNDER)
		return true;
	*state = before; /* it is charged by the caller */
	return false;
}

static enum rf_reason model_charge(struct model *model, const struct sent *sent)
{
	enum rf_reason reason = RF_UNDER_LIMIT;

	for (uint32_t left = sent->limits; left; left &= left - 1) {
		const int slot = __builtin_ctz(left);
		struct rf_source *state = model_source(model, &sent->source, slot);

		if (model_take(model, sent, slot) == RF_UNDER) {
			add(&model->limit[slot].passed, sent->frame.length);
			state->passed++;
			continue;
		}
		assert_true(model->bank.policy[slot].flags & RF_SHADOW);
		add(&model->limit[slot].would_drop, sent->frame.length);
		state->would_drop++;
		reason = RF_SHADOW_OVER;
	}
	return reason;
}

static enum rf_reason model_answer_windows(struct model *model, const struct sent *sent)
{
	const bool is_alone = !(sent->limits & (sent->limits - 1));

	if (!sent->limits)
		return RF_NO_LIMIT;
	for (uint32_t left = sent->limits; left; left &= left - 1)
		model_source(model, &sent->source, __builtin_ctz(left));
	if (is_alone && !(sent->limits & model->bank.shadows) &&
	    model_refuses_alone(model, sent, __builtin_ctz(sent->limits)))
		return model_refuse(model, sent, __builtin_ctz(sent->limits), true);
	for (uint32_t left = sent->limits & ~model->bank.shadows; left; left &= left - 1)
		if (!model_has_room(model, sent, __builtin_ctz(left)))
			return model_refuse(model, sent, __builtin_ctz(left), false);
	return model_charge(model, sent);
}

/* Limits of rate 0 have no windows: an enforced one drops the packet, a shadow counts it. */
static enum rf_reason model_answer(struct model *model, const struct sent *sent)
{
	const uint32_t rate0 = sent->limits & model->bank.rate0;
	struct sent others = *sent;
	enum rf_reason reason;

	if (rate0 & ~model->bank.shadows) {
		add(&model->limit[__builtin_ctz(rate0 & ~model->bank.shadows)].dropped,
		    sent->frame.length);
		return RF_OVER_LIMIT;
	}
	others.limits &= ~rate0;
	reason = model_answer_windows(model, &others);
	if (!rate0 || reason >= RF_FIRST_DROP)
		return reason;
	for (uint32_t left = rate0; left; left &= left - 1)
		add(&model->limit[__builtin_ctz(left)].would_drop, sent->frame.length);
	return RF_SHADOW_OVER;
}

bool model_send(struct model *model, const struct sent *sent)
{
	const enum rf_reason reason = model_answer(model, sent);

	add(&model->reason[reason], sent->frame.length);
	return reason < RF_FIRST_DROP;
}
