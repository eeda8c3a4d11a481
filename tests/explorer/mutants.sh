# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# Mutants that the explorer must detect: changes to a function of the limiter, the leases, the
# slots, the filter, the bans or the counts of responses, or to the order in slots_actors.c, each by
# a sed -E command. `plain_store` is a function of the explorer. Sourced by test_explorer.sh, which
# defines try_mutant ALGORITHM EXPECTED NAME FUNCTION COMMAND: the rows of ALGORITHM must detect the
# mutant. A `loose` mutant admits too much, an `uncounted` one loses counts, a `strict` one admits
# too little or counts too much, an `endless` one retries, an `absent` one loses a source, and a
# `ban` one bans wrongly.

mutants_of_sliding() {
	try_mutant sliding loose "a plain store in place of the maximum in a cell" rf_cell_raise \
		's/if \(rf_cell_holds\(.*/if (0)/; s/found = rf_cas\(cell, old, (.*)\);/found = old, plain_store(cell, \1);/'
	try_mutant sliding loose "the maximum in a cell is stored plainly" rf_cell_raise \
		's/found = rf_cas\(cell, old, (.*)\);/found = old, plain_store(cell, \1);/'
	try_mutant sliding uncounted "the last sum wins over a larger one" rf_cell_holds \
		's/rf_half\(word, epoch\) >= half/rf_half(word, epoch) == half/'
	try_mutant sliding loose "an addition to the head after a lost race" rf_take_sliding \
		'/rf_cas\(/ { n; s/RF_LOST_RACE/rf_word_used(rf_fetch_add(\&window->head, cost)) + cost <= policy->limit ? RF_UNDER : RF_OVER/ }'
	try_mutant sliding loose "a head only N cells ahead counts as the past" rf_head_is_present \
		's/return \(__s64\).*/return 0;/; s/<= RF_CELLS_AHEAD/< 3/'
	try_mutant sliding loose "a load and a store in place of the addition" rf_add \
		's/rf_fetch_add\((.*), cost\);/rf_load(\1);\nplain_store(\1, head + cost);/'
	try_mutant sliding loose "the load decides, not what the addition returned" rf_add \
		's/return !past \&\& .* <= policy->limit/return !past/'
	try_mutant sliding loose "a lost race for the head counts as won" rf_take_sliding \
		's/if \((rf_cas\(.*\)) != head\)/\1;\nif (0)/'
	try_mutant sliding loose "a lost race for a cell counts as won" rf_cell_raise \
		's/return found == old \|\| .*/return 1 || found;/'
	try_mutant sliding loose "the head is stored, whoever won" rf_take_sliding \
		's/if \(rf_cas\(&window->head, head, (.*)\) != head\)/plain_store(\&window->head, \1);\nif (0)/'
	try_mutant sliding loose "the sum of the window is a cell too short" rf_window_sums \
		's/rf_map_before\(now, count\)/rf_map_before(now, count - !!count)/'
	try_mutant sliding strict "the sum of cells before the head is a cell too short" rf_window_sums \
		's/rf_map_before\(own, count\)/rf_map_before(own, count - !!count)/'
	try_mutant sliding strict "the sum of the window is a cell too long" rf_window_sums \
		's/rf_map_before\(now, count\)/rf_map_before(now, count + 1)/'
	try_mutant sliding loose "the sum of cells before the head is a cell too long" rf_window_sums \
		's/rf_map_before\(own, count\)/rf_map_before(own, count + 1)/'
	try_mutant sliding loose "the sum of cells before the head counts the head's cell as well" \
		rf_window_sums \
		's/rf_map_before\(own, count\)/rf_map_before(own + 1, count + 1)/'
	try_mutant sliding strict "the head's own cell counts twice" rf_window_sums \
		's/ & ~is_own//'
	try_mutant sliding loose "words of the lap before that read as newer do not count" \
		rf_window_sums \
		's/rf_is_of_lap\(word, now\)/rf_is_of_lap(word, own)/'
	try_mutant sliding loose "words of any lap count" rf_is_of_lap \
		's/return .*/return 1;/'
	try_mutant sliding loose "a closed cell does not count for the next one" rf_closed_counts \
		's/\? rf_half_used\(.*\) : 0/\&\& 0/'
	try_mutant sliding loose "a closed cell counts for a cell too short" rf_closed_counts \
		's/now - epoch < policy->cells/now - epoch + 1 < policy->cells/'
	try_mutant sliding loose "a head in the window is not closed" rf_head_leave \
		's/ < counts\)/ + 1 < counts)/'
	try_mutant sliding loose "a word of the lap before counts as current" rf_head_leave \
		's/now >> 32 \|\| now/(__u32)now/'
	try_mutant sliding full "a sum that a word does not hold" rf_head_close \
		's/rf_in_head\(sums.behind\)/sums.behind/'
	try_mutant sliding loose "the head is not read again after the sum" rf_head_close \
		's/if \(rf_word_epoch\(.*/if (0)/'
	try_mutant sliding loose "a cell is held, wherever the head is" rf_cell_holds \
		's/return rf_word_epoch\(rf_load\(&window->head\)\) != epoch;/return 1;/'
	try_mutant sliding loose "a cell is written, wherever the head is" rf_cell_holds \
		's/return (rf_word_epoch\(rf_load\(&window->head\)\) != epoch);/return rf_word_epoch(word) - epoch < 1U << 16 \&\& \1;/'
	try_mutant sliding loose "a closed cell is not written" rf_head_close \
		's/!rf_cell_raise\(.*\) \|\|/0 ||/'
	try_mutant sliding loose "the other cell of a word goes with each write" rf_word_with \
		's/if \(rf_word_epoch\(word\) != .*/if (1)/'
	try_mutant sliding uncounted "the other cell of an older word stays" rf_word_with \
		's/if \(rf_word_epoch\(word\) != .*/if (0)/'
	try_mutant sliding loose "a cell of the same word is written as its neighbour" rf_word_with \
		's/half << shift/half << (RF_HALF_BITS - shift)/; s/RF_HALF_MAX << shift/RF_HALF_MAX << (RF_HALF_BITS - shift)/'
	try_mutant sliding loose "a word's maximum is of both cells together" rf_cell_holds \
		's/rf_half\(word, epoch\) >= half/rf_word_used(word) >= half/'
	try_mutant sliding loose "a word of another pair counts as the cell's" rf_cell_holds \
		's/if \(rf_word_epoch\(word\) == .*/if (1)/'
	try_mutant sliding loose "both cells of a word are as old as the even one" rf_window_sums \
		's/map >> 1 & /map \& /'
	try_mutant sliding strict "the sum has the even cells only" rf_window_sums \
		's/rf_half\(word, 1\)/0/'
	try_mutant sliding loose "a closed cell counts what its neighbour has" rf_closed_counts \
		's/rf_half\(word, epoch\)/rf_half(word, epoch + 1)/'
	try_mutant sliding loose "a closed cell is rounded down" rf_half_of \
		's/ \+ \(1U << shift\) - 1\)/)/'
	try_mutant sliding strict "refused packets flow over from a half" rf_half_of \
		's/return rf_least\((.*), RF_HALF_MAX\)/return \1/'
	try_mutant sliding strict "a closed cell keeps what refused packets added" rf_own_of \
		's/used < clip \? used : clip/used/'
	try_mutant sliding loose "the newest epoch is not kept" rf_newest_raise \
		's/return .*/return 1 || old || now ||/'
	try_mutant sliding loose "a lost race for the newest epoch counts as won" rf_newest_raise \
		's/rf_cas\((.*)\) == old/(rf_cas(\1), 1)/'
	try_mutant sliding loose "the newest epoch by a plain store" rf_newest_raise \
		's/rf_cas\(&window->newest, old, now\) == old/(plain_store(\&window->newest, now), 1)/'
	try_mutant sliding uncounted "a refused packet does not count" rf_refuse \
		's/if \(rf_counts_rejected\(.*/if (0)/'
	try_mutant sliding uncounted "a refused packet does not count in a new cell" rf_take_sliding \
		's/if \(ok \|\| .*/if (ok)/'
	try_mutant sliding strict "refused packets count until the word is full" rf_refuse \
		's/ \&\& rf_word_used\(head\) < RF_USED_MAX//'
	try_mutant sliding strict "a packet short of L" "rf_take_(sliding|present)" \
		's/ > policy->limit/ >= policy->limit/; s/\(__u64\)base \+ cost/base + cost + 1/'
	try_mutant sliding endless "retries without end" RF_TAKE_BY \
		's/i < RF_RETRIES/1 || i/'
}

mutants_of_weighted() {
	try_mutant weighted loose "a plain store to the head" rf_take_weighted \
		's/if \(rf_cas\(&window->head, head, (.*)\) == head\)/plain_store(\&window->head, \1);/'
	try_mutant weighted loose "a lost race for the head counts as won" rf_take_weighted \
		's/if \((rf_cas\(.*\)) == head\)/\1;/'
	try_mutant weighted strict "an addition to the present head" rf_take_weighted \
		's/if \((rf_cas\(.*\)) == head\)/if (present) {\nconst __u64 found = rf_fetch_add(\&window->head, cost);\nreturn rf_word_used(found) + rf_edge_part(window, policy, rf_word_epoch(found), time) + cost <= policy->limit ? RF_UNDER : RF_OVER;\n}\n&/'
	try_mutant weighted loose "the edge is a cell further back" rf_edge_used \
		's/epoch - policy->cells/epoch - policy->cells - 1/'
	try_mutant weighted loose "the edge is a cell less far back" rf_edge_used \
		's/epoch - policy->cells/epoch - policy->cells + 1/'
	try_mutant weighted loose "the edge does not count" rf_part_inside \
		's/return part < .*/return 0 \& part;/'
	try_mutant weighted strict "the edge counts in full" rf_part_inside \
		's/left -= time % policy->cell;/left -= 0;/'
	try_mutant weighted loose "the part of the edge is rounded down" rf_part_inside \
		's/ \+ cell - 1\) \/ cell/) \/ cell/'
	try_mutant weighted loose "the part of the edge is a unit of time too small" rf_part_inside \
		's/left -= time % policy->cell;/left -= time % policy->cell + 1;/'
	try_mutant weighted loose "the part of the edge is taken at the caller's time in a head that is ahead" \
		rf_part_inside \
		's/if \(is_present\)/if (1)/'
	try_mutant weighted strict "the part of the edge is taken from a cell of any epoch" rf_cell_used \
		's/if \(rf_word_epoch\(word\) != .*/if (0)/'
	try_mutant weighted loose "the edge is the other cell of its word" rf_cell_used \
		's/rf_half\(word, epoch\)/rf_half(word, epoch + 1)/'
	try_mutant weighted loose "the time left of the edge is rounded down" rf_part_inside \
		's/left = \(left \+ .*/left >>= scale;/'
	try_mutant weighted strict "the part of the edge may be more than the whole cell" rf_part_inside \
		's/return part < .*/return part;/'
	try_mutant weighted loose "a head whose cell is on the edge is not closed" rf_take_weighted \
		's/policy->cells \+ 1, \&used/policy->cells, \&used/'
	try_mutant weighted loose "the head's own count is ignored" rf_take_weighted \
		's/ok = used \+ /ok = (present ? 0 : used) + /'
	try_mutant weighted loose "room for one more than L" rf_take_weighted \
		's/<= policy->limit/<= policy->limit + 1/'
	try_mutant weighted strict "a packet short of L" rf_take_weighted \
		's/<= policy->limit/< policy->limit/'
	try_mutant weighted loose "the cost of a packet is ignored" rf_take_weighted \
		's/ \+ cost <= policy->limit/ < policy->limit/'
	try_mutant weighted uncounted "a refused packet does not count" rf_refuse \
		's/if \(rf_counts_rejected\(.*/if (0)/'
	try_mutant weighted strict "a refused packet counts, wanted or not" rf_refuse \
		's/rf_counts_rejected\(policy\) \&\& //'
	try_mutant weighted uncounted "a refused packet does not count in a new cell" rf_take_weighted \
		's/if \(ok \|\| .*/if (ok)/'
	try_mutant weighted strict "refused packets count until the word is full" rf_refuse \
		's/ \&\& rf_word_used\(head\) < RF_USED_MAX//'
	try_mutant weighted uncounted "a sum that a word does not hold" rf_head_close \
		's/rf_in_head\(sums.behind\)/sums.behind/'
	try_mutant weighted strict "a closed cell counts for a cell too long" rf_closed_counts \
		's/now - epoch < policy->cells/now - epoch <= policy->cells/'
	try_mutant weighted endless "retries without end" RF_TAKE_BY \
		's/i < RF_RETRIES/1 || i/'
}

mutants_of_log() {
	try_mutant log loose "a plain store to the slot" rf_take_log \
		's/found = rf_cas\((.*), oldest, log.now\);/plain_store(\1, log.now);\nfound = oldest;/'
	try_mutant log loose "a lost race for the slot counts as won" rf_take_log \
		's/if \(found == oldest\)//'
	try_mutant log loose "the slot is read again before the race" rf_take_log \
		's/found = rf_cas\((.*), oldest, log.now\);/const __u64 again = rf_load(\1);\nfound = rf_cas(\1, again, log.now) == again ? oldest : again;/'
	try_mutant log loose "of equal times one CPU's first slot, another's last" "rf_(log_read|take_log)" \
		's/when << 4 \| i\)/when << 4 | (i ^ (time % 2 * 15)))/; s/log.oldest % 16 % RF_CELLS/(log.oldest ^ (time % 2 * 15)) % 16 % RF_CELLS/'
	try_mutant log loose "the first slot is replaced, even if it is not the oldest" rf_log_read \
		's/log.oldest = rf_least\(/if (!i)\n&/'
	try_mutant log loose "room for one packet more than L" rf_take_log \
		's/log.used < policy->limit/log.used <= policy->limit/'
	try_mutant log strict "room for one packet less than L" rf_take_log \
		's/log.used < policy->limit/log.used + 1 < policy->limit/'
	try_mutant log loose "an interval without its last moment" rf_log_read \
		's/rf_less\(policy->cell, /rf_less(policy->cell - 1, /'
	try_mutant log strict "an interval that is too long by one" rf_log_read \
		's/rf_less\(policy->cell, /rf_less(policy->cell + 1, /'
	try_mutant log strict "an empty slot reads as just now" rf_log_read \
		's/rf_less\(0, when\) \& ~/1 \& ~/'
	try_mutant log loose "the caller's time, where the newest is later" rf_log_read \
		's/log.now = ~rf_least\(.*//'
	try_mutant log loose "the time 0 reads as an empty slot" rf_log_read \
		's/time \? time : 1/time/'
	try_mutant log loose "a slot without the newest is not read" rf_log_read \
		's/log.used \+= /if (i)\n&/'
	try_mutant log uncounted "a refused packet does not count" rf_take_log \
		's/if \(!ok \&\& .*/if (!ok)/'
	try_mutant log strict "a refused packet counts, wanted or not" rf_take_log \
		's/if \(!ok \&\& .*/if (0)/'
	try_mutant log endless "retries without end" RF_TAKE_BY \
		's/i < RF_RETRIES/1 || i/'
}

mutants_of_bucket() {
	try_mutant token loose "a plain store to the bucket" rf_take_bucket \
		's/if \(rf_cas\(&window->head, empty, (.*)\) == empty\)/plain_store(\&window->head, \1);/'
	try_mutant token loose "a lost race for the bucket counts as won" rf_take_bucket \
		's/if \((rf_cas\(.*\)) == empty\)/\1;/'
	try_mutant token loose "a level without its cap" rf_bucket_level \
		's/return level < .*/return level;/'
	try_mutant token loose "a bucket that holds a packet more" rf_bucket_level \
		's/policy->depth/(policy->depth + policy->cell)/g'
	try_mutant token loose "an empty bucket keeps its time, and more than a burst flows in" rf_take_bucket \
		's/ok \? now - \(level - flow\) : now/ok ? (empty ? empty + flow : now - (level - flow)) : now/'
	try_mutant token loose "a caller before the bucket was empty finds it full" rf_bucket_level \
		's/now > empty \? now - empty : 0/now - empty/'
	try_mutant token loose "a packet's flow is rounded down" rf_bucket_flow \
		's/ \+ \(1ULL << scale\) - 1\)/)/'
	try_mutant token loose "a packet's flow is too short by 1/16 ns" rf_take_bucket \
		's/flow = rf_bucket_flow\(policy, cost\)/flow = rf_bucket_flow(policy, cost) - 1/'
	try_mutant token strict "a packet's flow is too long by 1/16 ns" rf_take_bucket \
		's/flow = rf_bucket_flow\(policy, cost\)/flow = rf_bucket_flow(policy, cost) + 1/'
	try_mutant token loose "room for 1/16 ns more" rf_take_bucket \
		's/ok = flow <= level/ok = flow <= level + 1/'
	try_mutant token strict "room for 1/16 ns less" rf_take_bucket \
		's/ok = flow <= level/ok = flow < level/'
	try_mutant token loose "a packet larger than the burst" rf_take_bucket \
		's/ \&\& cost <= policy->limit//'
	try_mutant token strict "time 0 is when the bucket was empty" rf_bucket_time \
		's/ \+ RF_BUCKET_ZERO//'
	try_mutant token uncounted "a refused packet does not count" rf_take_bucket \
		's/if \(!ok \&\& .*/if (!ok)/'
	try_mutant token strict "a refused packet counts, wanted or not" rf_take_bucket \
		's/if \(!ok \&\& .*/if (!ok \&\& !level)/'
	try_mutant token loose "a refused packet before the bucket was empty fills it" rf_take_bucket \
		's/rf_counts_rejected\(policy\) \&\& level\)/rf_counts_rejected(policy))/'
	try_mutant token endless "retries without end" RF_TAKE_BY \
		's/i < RF_RETRIES/1 || i/'
}

# Errors of leases. If credits are returned as in the first three, with everything else correct, a
# cell that is closed late would be too large, and the next lease would admit too little.
mutants_of_leases() {
	local head='__u64 head = rf_load(\&window->head), *word = (__u64 *)\&window->head;'
	local same='rf_word_epoch(head) == (__u32)(lease->until \/ policy->cell - 1) \&\&'
	local held='lease->has_credits \&\& lease->credits'
	local enough='rf_word_used(head) >= lease->credits'

	try_mutant leases loose "credits go back, by compare-and-swap, in their own cell" rf_lease_renew \
		"s/^\t\tlease->over = 1;/if ($held) {\n$head\nif ($same $enough)\nrf_cas(word, head, head - lease->credits);\n}\n&/"
	try_mutant leases loose "credits go back, by an addition" rf_lease_renew \
		"s/^\t\tlease->over = 1;/if ($held) {\n$head\nif ($same $enough)\nrf_fetch_add(word, -(__u64)lease->credits);\n}\n&/"
	try_mutant leases loose "credits go back, into whatever cell" rf_lease_renew \
		"s/^\t\tlease->over = 1;/if ($held) {\n$head\nif ($enough)\nrf_cas(word, head, head - lease->credits);\n}\n&/"
	try_mutant leases loose "credits by an addition, whatever room is left" rf_charged_take \
		's/rf_cas\((.*), head, head \+ units\) != head/(rf_fetch_add(\1, units), 0)/'
	try_mutant leases loose "a lost race for credits counts as won" rf_charged_take \
		's/(rf_cas\(.*\)) != head\)/(\1, 0))/'
	try_mutant leases loose "credits may be spent for a cell longer" rf_charged_read \
		's/epoch \+ 1\)/epoch + 2)/'
	try_mutant leases loose "credits of a cell are kept in the next" rf_lease_enter \
		's/lease->credits = 0;/if (!lease->has_credits)\n&/'
	try_mutant leases loose "a refusal's room is taken for credits" rf_lease_enter \
		's/lease->credits = 0;/if (lease->has_credits)\n&/'
	try_mutant leases loose "credits are answered, and not spent" rf_lease_answers \
		's/lease->credits_word -= .*//'
	try_mutant leases loose "a credit is enough, whatever the cost" rf_lease_answers \
		's/if \(cost > lease->credits\)/if (!lease->credits)/'
	try_mutant leases loose "credits are given without a look at the edge" rf_head_room \
		's/if \(rf_is_weighted\(policy\)\)/if (0)/'
	try_mutant leases strict "a lease refuses packets of any cost" rf_lease_answers \
		's/\} else if \(cost <= lease->threshold\)/} else if (0)/'
	try_mutant leases strict "a refusal for a cell too long" rf_cells_reopen \
		's/policy->cells - oldest\)/policy->cells - oldest + 1)/'
	try_mutant leases strict "a refusal until the head's own cell ends" rf_oldest_cell \
		's/oldest = age;/oldest = 0;/'
	try_mutant leases strict "a lease refuses although the window has moved on" rf_cells_reopen \
		's/if \(rf_fits\(.*/if (0)/'
	try_mutant leases strict "a lease refuses although the window moves on meanwhile" rf_cells_reopen \
		's/ \|\| rf_word_epoch\(rf_load\(&window->head\)\) != epoch//'
	try_mutant leases strict "a refusal under another L still holds" rf_lease_is_for \
		's/lease->rules == who->rules/1/'
	try_mutant leases strict "a refusal until a weighted cell ends" rf_weighted_reopens \
		's/^\treturn end - .*/\treturn end;/'
	try_mutant leases strict "a refusal for a unit of a log's time too long" rf_log_reopens \
		's/policy->cell \+ 1;/policy->cell + 2;/'
	try_mutant leases strict "a refusal for a unit of a bucket's time too long" rf_bucket_reopens \
		's/>> RF_BUCKET_SHIFT : 0\)/&+ 1/'
	try_mutant leases strict "a refusal that is rounded up to jiffies" rf_lease_until \
		's/ \/ ask->tick_ns;/ \/ ask->tick_ns + 1;/'
}

# Errors with several limits.
mutants_of_several() {
	try_mutant several loose "no peek before the first charge" rf_peek \
		's/return rf_peek_sliding\(/return 1 || rf_peek_sliding(/'
	try_mutant several loose "a peek without the head's own cell" rf_peek_sum \
		's/sum \+= rf_peek_own\(.*/;/'
	try_mutant several strict "a peek that counts the head's own cell when it has left" rf_peek_sum \
		's/if \(\(__u32\)now - own_epoch < policy->cells\)/if (1)/'
	try_mutant several strict "a peek that counts a closed cell twice" rf_peek_sum \
		's/own_epoch, now\)/own_epoch + 1, now)/'
	try_mutant several loose "a peek reads what the head had before it was closed" rf_peek_sliding \
		's/rf_head_is_present\(window, head, now\)/now - now/; s/rf_word_used\(head\)/0/'
	try_mutant several loose "room at once for a packet too much" rf_has_room_at_once \
		's/ \+ cost\)/)/'
	try_mutant several loose "an addition at once for a packet too much" rf_may_add \
		's/ \+ cost,/,/'
	try_mutant several strict "an addition at once to a head of a cell that has passed" rf_may_add \
		's/rf_is_present_at_once\(policy, head, now\)/1/'
	try_mutant several loose "credits until the last cell ends" rf_charged_read \
		's/if \(time < charged->end\)/if (time > charged->end || charged->end == RF_FOREVER)/'
	try_mutant several loose "credits are as many as the first limit has room for" rf_charged_read \
		's/if \(room < charged->room\)/if (charged->room == ~0U)/'
	try_mutant several loose "a lost race for the second limit counts as won" rf_charged_take \
		's/return taken;/return taken == RF_TAKEN_NONE ? taken : RF_TAKEN_ALL;/'
	try_mutant several loose "what was charged to the first alone is kept" rf_lease_take_credits \
		's/if \(taken == RF_TAKEN_ALL\)/if (taken)/'
}

# Errors of loans: the word of a window, the lease of a CPU, and the order of both.
mutants_of_loans() {
	try_mutant loans loose "loans of the period before do not count" rf_loans_count \
		's/ \+ \(rf_loans_before\(word\) & -before\)//'
	try_mutant loans lends "loans do not count in the frame after their period" rf_loans_count \
		's/\(1ULL << log\) - 1\);/(1ULL << log));/'
	try_mutant loans loose "loans of the period before do not count in the first frame" rf_loans_count \
		's/rf_is_negative\(since - 1\)/rf_is_negative(since)/'
	try_mutant loans strict "loans count as long as the word is there" rf_loans_count \
		's/now = rf_is_negative\(.*/now = 1;/'
	try_mutant loans lends "a CPU that is behind counts only what the word has" rf_loans_count \
		's/ \| -all;/;/'
	try_mutant loans loose "the head is not read again after a grant" rf_lend \
		's/return used \+ .*/return 1;/'
	try_mutant loans loose "the loans are not read again after an admission" rf_add \
		's/units \+= rf_lent\(.*/;/'
	try_mutant loans loose "the loans are not read again after the head has moved" rf_take_sliding \
		's/lent = rf_lent\(.*/lent = 0;/'
	try_mutant loans lends "a CPU that is behind turns the word of loans back" rf_loan_room \
		's/in_use = \(__u64\)used \+ .*/in_use = used;/'
	try_mutant loans loose "a lost race for the word of loans counts as won" rf_lend \
		's/(rf_cas\(.*\)) != word\)/(\1, 0))/'
	try_mutant loans loose "a loan by a plain store" rf_lend \
		's/rf_cas\((.*), word, raised\) != word\)/(plain_store(\1, raised), 0))/'
	try_mutant loans loose "a grant forgets the loans of the period before" rf_loans_raised \
		's/age == 1 \? rf_loans_now\(word\) : 0/0/'
	try_mutant loans loose "a frame shorter than TIME" rf_lease_next_frame \
		's/rf_lease_frame\(lease\)\) - 1/(rf_lease_frame(lease) - 1)) - 1/'
	try_mutant loans loose "a loan is renewed after its period" rf_lease_has_loan \
		's/ && jiffies <= last//'
	try_mutant loans loose "all of a loan in each of two frames" rf_loan_in_frame \
		's/ >> rf_less\(frame, period\)//'
	try_mutant loans loose "a loan that grows passes all of it again in its frame" rf_lease_set_loan \
		's/rf_loan_gains\(terms, had,/rf_loan_gains(terms, 0,/'
	try_mutant loans loose "a loan grows by more than was borrowed" rf_lease_wants_loan \
		's/return rf_loan_units\(size\) - had/return 1/'
	try_mutant loans loose "a window that is created again counts nothing as lent" rf_loans_all \
		's/return rf_loans\(.*/return 0;/'
	try_mutant loans lent "more than the share of L is lent in a period" rf_loan_room \
		's/\(most - lent\) & -rf_less\(lent, most\)/RF_LOAN_MAX - lent/'
	try_mutant loans lent "a loan beyond the room of a window" rf_loan_room \
		's/policy->limit \/ RF_LOAN_ROOM/~0U/'
	try_mutant loans loose "credits leave no room for loans" rf_head_room \
		's/used \+= rf_lent_most.*//'
	try_mutant loans strict "a lease refuses although loans expire" rf_cells_reopen \
		's/return lent \? .* : reopens/return reopens/'
	try_mutant loans loose "only the first of several limits lends" lend_by_all \
		's/i < row->limits/i < 1/'
	try_mutant loans loose "a loan that one of several limits refused" lend_by_all \
		's/return false;/;/'
	try_mutant loans loose "of several limits the shortest frame" rf_loan_terms_join \
		's/rf_most\(one.frame, other.frame\)/one.frame \&\& one.frame < other.frame ? one.frame : other.frame/'
}

# Errors of shares: when a share is written, when it is released, and when a cell is closed.
mutants_of_shares() {
	try_mutant shares loose "the clip is not kept when a share is lowered" rf_clip_for \
		's/had > share \? had : share/share/; s/before > most \? before : most/most/'
	try_mutant shares loose "the clip falls while what was admitted still counts" rf_share_span \
		's/return .*/return 0;/'
	try_mutant shares loose "the clip follows the share, and does not precede it" rf_share_write \
		's/rf_whose\(tag, clip\)/rf_whose(tag, rf_whose_clip(whose))/'
	try_mutant shares loose "the clip is not looked at" rf_shared_clip \
		's/return clip > .*/return policy->first;/'
	try_mutant shares loose "the clip is read before the head" rf_head_leave \
		's/^\{/{\n\tconst __u32 clip = policy->first;/; s/if \(now >> 32/if (rf_word_used(head) > clip) head = rf_word(rf_word_epoch(head), clip);\n&/'
	try_mutant shares loose "what was used is read without a wait for programs" waits \
		's/return true/return false/'
	try_mutant shares loose "the tag of a share is ignored" rf_limit_by_words \
		's/if \(rf_whose_tag.*/if (0)/'
	try_mutant shares loose "the tag of an ample share is ignored" rf_limit_at_once \
		's/ \|\|$/ || 0 \&\&/'
	try_mutant shares loose "an addition is judged by the share that is there afterwards" rf_add_by \
		's/RF_LIMIT_BY_WORDS\([^)]*\)/rf_limit_of(window, policy)/'
	try_mutant shares loose "one of several limits is judged by the share that is there afterwards" rf_add \
		's/words = rf_share_read\(window\);/;/; s/return rf_add_by\(.*/const __u64 units = rf_add_to(window, now, cost); return units <= enough || units <= rf_limit_of(window, policy) ? RF_UNDER : RF_OVER;/'
	try_mutant shares strict "an addition after others has no more than was told at once" rf_add_by \
		's/RF_LIMIT_BY_WORDS\([^)]*\)/0/'
	try_mutant shares loose "all of L is told at once to one of several limits" rf_fits_at \
		's/\*enough = rf_limit_at_once\(.*/*enough = policy->limit;/'
	try_mutant shares loose "a share goes over to another definition" rf_share_write \
		's/if \(rf_whose_tag\(whose\) != tag \&\& had\)/if (0)/'
	try_mutant shares loose "an addition near the limit is judged by the share that is there afterwards" rf_take_present \
		's/(rf_add_to\(.*\)) <= limit/\1 <= rf_limit_of(window, policy)/'
	try_mutant shares loose "what passed while alone is forgotten" rf_has_been_alone \
		's/ \|\| now < .*/;/; s/now >= .* \|\|$/now >= rf_load(\&hearing->deadline);/; s/^\t +now < .*//'
	try_mutant shares loose "a deadline moves before it is told that the host was alone" rf_hear \
		's/rf_cas\(&hearing->alone_until, until, RF_FOREVER\);//; s/rf_cas\(&hearing->alone_until, RF_FOREVER, until\)/rf_store(\&hearing->alone_until, until)/'
	try_mutant shares loose "the clip is what was heard when the packet came" rf_shared_clip \
		's/^\{/{\nextern __u64 current_time;/; s/now = rf_hearing_now\(\)/now = current_time/'
	try_mutant shares loose "a share is more than L" rf_limit_by \
		's/return .*/return policy->first + share;/'
	try_mutant shares ban "an addition that lost a race counts as refused as well" rf_added \
		's/return fits .*/return fits ? RF_UNDER : RF_OVER;/'
	try_mutant shares ban "what was refused counts for ever" rf_refused_count \
		's/\(__u32\)now - since \+ 1 < policy->cells/1/'
	try_mutant shares ban "a head of a later cell counts for a ban" rf_share_is_over \
		's/rf_word_epoch\(head\) == \(__u32\)now/rf_is_present_at_once(policy, head, now)/'
	try_mutant shares ban "what was received is added up by a plain store" rf_received_count \
		's/rf_fetch_add\(received, cost\)/rf_store(received, rf_load(received) + cost)/'
	try_mutant shares ban "a source that sent as much as the limit to all hosts is banned" add_up \
		's/> row->limit/>= row->limit/'
	try_mutant shares ban "a packet that was refused is not received" take \
		's/^\tif \(row->sums\)$/\tif (row->sums \&\& local->result != RF_OVER)/'
	try_mutant shares ban "a packet is received twice" take \
		's/rf_received_count\(&memory->received, 1\)/rf_received_count(\&memory->received, 2)/'
}

# What slots, and the filter of who has a window, may do wrong, and the order that they are used in.
mutants_of_slots() {
	local count='if (rf_slot_state(old) == RF_SLOT_RESIDENT)\nrf_residents_remove(\&memory->residents);'

	# A touch.
	try_mutant slots touched "a touch of a slot of any generation" rf_slot_touch \
		's/rf_slot_generation\(old\) != generation \|\| //; s/rf_slot_word\(generation,/rf_slot_word(rf_slot_generation(old),/'
	try_mutant slots stolen "a touch by a plain store" rf_slot_touch \
		's/if \(rf_cas\(word, old,/rf_store(word,/; s/, last\)\) == old\)/, last));/'
	try_mutant slots untouched "a touch of a slot that is claimed" rf_slot_touch \
		's/ \|\| state < RF_SLOT_NEW//'
	try_mutant slots untouched "a lost race for a touch counts as won" rf_slot_touch \
		's/\)\) == old\)/)) \&\& 1)/'
	try_mutant slots untouched "a touch that lost all its races tells that it settled" rf_slot_touch \
		's/^\treturn RF_SLOT_FREE;/return RF_SLOT_RESIDENT;/'
	try_mutant slots untouched "a touch by a CPU that is behind turns a slot back" rf_slot_touch \
		's/\(__s32\)\(tick - last\) > 0/tick != last/'
	try_mutant slots untouched "a touch is not noted in the slot" rf_slot_touch \
		's/last = tick;/;/'
	try_mutant slots untouched "a source that is seen again stays new" rf_slot_touch \
		's/state = RF_SLOT_PROBATION;/;/'
	try_mutant slots untouched "a source that is seen again in its first tick stays new" insert \
		's/local->tick - 1/local->tick/'
	try_mutant slots untouched "the slot reference is written although the slot was not touched" touch \
		's/local->state != RF_SLOT_FREE/1/'
	try_mutant slots leaked "the slot reference by a plain store" touch \
		's/rf_cas\((.*), local->slot_ref,/rf_store(\1,/'
	try_mutant slots untouched "ticks that do not wrap" rf_slot_touch \
		's/\(__s32\)\(tick - last\) > 0/tick > last/'
	try_mutant slots untouched "a resident is touched too seldom" rf_slot_ref_is_recent \
		's/times->resident_touch/times->resident_touch + 1/'
	try_mutant slots untouched "a source on probation is touched as seldom as a resident" rf_slot_ref_is_recent \
		's/rf_slot_ref_is_resident\(slot_ref\) \? times->resident_touch : 1/times->resident_touch/'

	# Who settles.
	try_mutant slots settled "a source on probation settles at once" rf_slot_may_settle \
		's/>= times->probation_for/>= 0/g'
	try_mutant slots settled "a source settles by its idle time, not by its arrival" rf_slot_may_settle \
		's/times->probation_for \|\|/times->probation_for - 1 ||/'
	try_mutant slots settled "a CPU that is behind finds that a source arrived long ago" rf_slot_touch \
		's/\(__s32\)\(tick - last\) > 0/tick != last/; s/last = tick;/last = (__s32)(tick - last) > 0 ? tick : last;/'

	# Residents.
	try_mutant slots miscounted "a lost race counts one more resident" rf_slot_touch \
		's/^\t\tif \(reserved\)/if (0)/'
	try_mutant slots miscounted "residents are counted after the race, and none is refused" rf_slot_touch \
		's/reserved = rf_residents_add.*;/reserved = rf_load(residents) < times->residents_max;/; s/^\t\t\treturn state;/return reserved ? rf_fetch_add(residents, 1), state : state;/; s/^\t\tif \(reserved\)/if (0)/'
	try_mutant slots miscounted "residents by a load and a store" rf_residents_add \
		's/rf_fetch_add\(residents, 1\) < max/(rf_store(residents, rf_load(residents) + 1), 1)/'
	try_mutant slots miscounted "residents are read, and one more is counted whatever their number" \
		rf_residents_add \
		's/if \(rf_fetch_add\(residents, 1\) < max\)/if (rf_fetch_add(residents, 1) + 1)/'
	try_mutant slots miscounted "a resident over the most is not taken back" rf_residents_add \
		's/rf_fetch_add\(residents, ~0ULL\);/;/'
	try_mutant slots miscounted "a source over quota is marked as a resident" rf_slot_touch \
		's/RF_SLOT_OVER_QUOTA/RF_SLOT_RESIDENT/'
	try_mutant slots miscounted "a source over quota counts as a resident" make_window \
		's/insert\(memory, local, /if (rf_slot_state(old) == RF_SLOT_OVER_QUOTA)\nrf_residents_remove(\&memory->residents);\n&/'
	try_mutant slots miscounted "a resident is counted out before its window is deleted" evict \
		"s/if \(!delete_window/if (local->errand != TAKES_OVER) {\n$count\n}\n&/; s/^\tif \(rf_slot_state\(old\) == RF_SLOT_RESIDENT .*/if (0)/"
	try_mutant slots miscounted "a resident whose window was deleted still counts" evict \
		's/^\tif \(rf_slot_state\(old\) == RF_SLOT_RESIDENT .*/if (0)/'
	try_mutant slots miscounted "a resident that moves is counted out" evict \
		's/ \&\& local->errand != TAKES_OVER\)/)/'
	try_mutant slots miscounted "a resident whose new window failed still counts" insert \
		's/if \(state == RF_SLOT_RESIDENT\)/if (0)/'

	# Which windows can be evicted.
	try_mutant slots rested "an active resident rests" rf_slot_rest \
		's/times->resident_idle/times->probation_idle/'
	try_mutant slots rested "a resident that rests was seen just now" rf_slot_rest \
		's/rf_slot_last\(old\)\)\)/tick))/'
	try_mutant slots miscounted "a resident is counted out before it rests" rf_slot_rest \
		's/if \(rf_cas\(/rf_residents_remove(residents);\n&/; s/^\t\trf_residents_remove.*/return;/'
	try_mutant slots miscounted "a lost race to rest a resident counts it out" rf_slot_rest \
		's/== old\)/+ 1 > 0)/'
	try_mutant slots miscounted "a resident that rests still counts" rf_slot_rest \
		's/rf_residents_remove.*/;/'
	try_mutant slots rested "a resident rests by a plain store" rf_slot_rest \
		's/if \(rf_cas\(word, old,/rf_store(word,/; s/\)\)\) == old\)/)));/; s/rf_slot_last\(old\)\)\) == old\)/rf_slot_last(old)));/'

	try_mutant slots evicted "a slot whose time is ahead counts as idle for long" rf_slot_idle \
		's/if \(idle < 0\)/if (0)/'
	try_mutant slots evicted "a resident is evicted after a source on probation's idle time" rf_slot_score \
		's/times->resident_idle/times->probation_idle/'
	try_mutant slots evicted "the idle times of sources on probation and residents are swapped" rf_slot_score \
		's/probation_idle/swap/; s/resident_idle/probation_idle/; s/swap/resident_idle/'
	try_mutant slots evicted "a source on probation is evicted at its idle time" rf_slot_score \
		's/idle > times->probation_idle/idle >= times->probation_idle/'
	try_mutant slots evicted "a resident is evicted like a source over quota" rf_slot_score \
		's/return eager == .* \? 1U << 28 \| idle : 0;/return 1U << 28 | idle;/'
	try_mutant slots evicted "a new source is evicted at any time" rf_slot_score \
		's/return eager == .* \? 4U << 28 \| idle : 0;/return 4U << 28 | idle;/'
	try_mutant slots evicted "a source on probation is evicted at any time" rf_slot_score \
		's/return eager == .* \? RF_SLOT_PROBATION_SCORE \| idle : 0;/return RF_SLOT_PROBATION_SCORE | idle;/'
	try_mutant slots evicted "a resident gives way to a sibling window" rf_slot_score \
		's/eager == RF_SLOT_EAGER_ALL/eager/'
	try_mutant slots evicted "an active source gives way to a sibling of a source on probation" rf_slot_score \
		's/return eager != .* \? 3U << 28 \| idle : 0;/return 3U << 28 | idle;/'
	try_mutant slots evicted "a sibling of a source on probation is as eager as a newcomer" eager_of \
		's/return local->has_kin .* : RF_SLOT/return RF_SLOT/'
	try_mutant slots settled "a sibling window is protected from newcomers" state_of_new \
		's/is_sibling\(local\) \? RF_SLOT_SIBLING : //'
	try_mutant slots settled "a sibling window settles at once" rf_slot_may_settle \
		's/\) == RF_SLOT_OVER_QUOTA\)/) >= RF_SLOT_OVER_QUOTA)/'
	try_mutant slots settled "a sibling window that is seen again is on probation" rf_slot_touch \
		's/if \(state == RF_SLOT_NEW\)/if (state == RF_SLOT_NEW || state == RF_SLOT_SIBLING)/'
	try_mutant slots stolen "a slot that is claimed may be claimed" rf_slot_score \
		's/return 0;/return 1;/'

	# A claim.
	try_mutant slots leaked "a lost race for a slot counts as won" rf_slot_claim \
		's/return (rf_cas\(.*\)) == old;/return \1 + 1 > 0;/'
	try_mutant slots evicted "a slot is claimed by a plain store" rf_slot_claim \
		's/return rf_cas\((.*), old, (.*)\) == old;/rf_store(\1, \2);\nreturn 1;/'
	try_mutant slots touched "the same generation after a claim" rf_slot_claimed \
		's/rf_slot_generation\(old\) \+ 1/rf_slot_generation(old)/'
	try_mutant slots evicted "a slot of any generation is taken over" choose_slot \
		's/rf_slot_generation\(\*old\) == rf_slot_ref_generation\(local->slot_ref\)/1/'
	try_mutant slots evicted "a slot of any source is taken over" slot_holds \
		's/\(int\)rf_load\(&slot->key\) == key/(int)rf_load(\&slot->key) >= 0 * key/'
	try_mutant slots crowded "a delete that failed counts as done" evict \
		's/if \(!delete_window\((.*)\)\) \{/if (delete_window(\1), 0) {/'
	try_mutant slots leaked "a delete failed, and the slot stays claimed" evict \
		's/rf_slot_restore\(.*\);/;/'
	try_mutant slots leaked "a delete failed, and the slot is free" evict \
		's/rf_slot_restore\((.*), old\);/rf_slot_free(\1, rf_slot_generation(old) + 1);/'
	try_mutant slots leaked "a delete failed, and the slot is of a new generation" rf_slot_restore \
		's/, old\);/, old + (1ULL << 44));/'

	# A new window.
	try_mutant slots crowded "the new window is inserted before the old one is deleted" evict \
		's/^\tif \(!delete_window/insert_window(memory, local->key, rf_slot_ref(local->slot, rf_slot_generation(old) + 1, 0, local->tick), false);\n&/'
	try_mutant slots crowded "the window of a slot's key is not deleted" make_window \
		's/ \&\& !evict\(memory, local, old\)/ \&\& 0/'
	try_mutant slots leaked "a slot is published before its window is there" insert \
		's/^\tif \(insert_window/rf_slot_publish(\&slot->word, generation, state, local->tick);\n&/'
	try_mutant slots leaked "the key is written when the slot is published" insert \
		's/^\trf_store\(&slot->key.*//; s/^\t\treturn;/rf_store(\&slot->key, local->key);\nreturn;/'
	try_mutant slots leaked "a window that was there already, and the slot stays claimed" insert \
		's/^\trf_slot_free\(.*//'
	try_mutant slots leaked "a window that was there already, and the slot is published" insert \
		's/^\trf_slot_free\((.*), generation\);/rf_slot_publish(\1, generation, state, local->tick);/'
	try_mutant slots leaked "the slot reference is of the generation before" insert \
		's/rf_slot_ref\(local->slot, generation,/rf_slot_ref(local->slot, generation - 1,/'
	try_mutant slots leaked "the slot is of the generation before" rf_slot_publish \
		's/rf_slot_word\(generation,/rf_slot_word(generation - 1,/'
	try_mutant slots untouched "the slot is published as seen two ticks before" rf_slot_publish \
		's/tick, tick\)/tick, tick - 2)/'
	try_mutant slots miscounted "a resident that moves is on probation again" insert \
		's/^\t\trf_slot_publish\((.*), state, /rf_slot_publish(\1, state == RF_SLOT_RESIDENT ? RF_SLOT_PROBATION : state, /'

	# The filter.
	try_mutant slots absent "a window is inserted before the filter has it" insert \
		's/^\trf_known_filter_add\(.*//; s/^\t\trf_slot_publish/rf_known_filter_add(\&memory->line, hash_of(local->key));\n&/; s/^\trf_known_filter_remove\(.*//'
	try_mutant slots absent "the filter lacks a window that is deleted only then" evict \
		's/^\trf_known_filter_remove\(.*//; s/^\tif \(!delete_window/rf_known_filter_remove(\&memory->line, hash_of(key));\n&/; s/^\t\trf_slot_restore/rf_known_filter_add(\&memory->line, hash_of(key));\n&/'
	try_mutant slots miscounted "the filter keeps a window that was deleted" evict \
		's/^\trf_known_filter_remove\(.*//'
	try_mutant slots miscounted "the filter keeps a window that could not be inserted" insert \
		's/^\trf_known_filter_remove\(.*//'
	try_mutant slots miscounted "the filter by a load and a store" rf_known_filter_count \
		's/rf_fetch_add\(word, (.*)\);/rf_store(word, rf_load(word) + (\1));/'
	try_mutant slots miscounted "a counter that others share is emptied" rf_known_filter_remove \
		's/rf_known_filter_count\(.*/for (int i = 0; i < RF_KNOWN_FILTER_HASHES; i++)\n__sync_fetch_and_and(\&line->count[rf_known_filter_word(hash, i)], ~(0xffULL << rf_known_filter_up(hash, i)));/'
	try_mutant slots absent "the next counter is looked at" rf_known_filter_has \
		's/rf_known_filter_up\(hash, i\)/rf_known_filter_up(hash, i + 1)/'
}

mutants_of_answers() {
	try_mutant answers loose "a load and a store in place of the addition to the count" rf_answers_take \
		's/return \(__u32\)rf_fetch_add\(word, 1\) < most;/plain_store(word, seen + 1);\nreturn 1;/'
	try_mutant answers loose "the load of the count decides" rf_answers_take \
		's/return \(__u32\)rf_fetch_add\(word, 1\) < most;/rf_fetch_add(word, 1);\nreturn 1;/'
	try_mutant answers loose "room for one response more than MOST" rf_answers_take \
		's/ < most;/ <= most;/; s/seen >= most/seen > most/'
	try_mutant answers strict "one response less than MOST" rf_answers_take \
		's/seen >= most/seen + 1 >= most/'
	try_mutant answers loose "the first response of a period does not count" rf_answers_take \
		's/<< 32 \| 1\)/<< 32)/'
	try_mutant answers loose "a response when MOST is 0" rf_answers_take \
		's/return most > 0;/return 1;/'
	try_mutant answers loose "a period is started by a plain store" rf_answers_take \
		's/found = rf_cas\(word, seen, (.*)\);/found = seen;\nplain_store(word, \1);/'
	try_mutant answers loose "a lost race for a period counts as won" rf_answers_take \
		's/if \(found == seen\)/if (1)/'
	try_mutant answers strict "a lost race for a period is refused" rf_answers_take \
		's/if \(rf_answers_are_over\(found, period\)\)/if (1)/'
	try_mutant answers strict "a lost race for a period counts in the previous one" rf_answers_take \
		's/if \(rf_answers_are_over\(found, period\)\)/if (0)/'
	try_mutant answers strict "after a lost race, the previous count decides" rf_answers_take \
		's/seen = found;//'
	try_mutant answers strict "refused packets count" rf_answers_take \
		's/if \(\(__u32\)seen >= most\)/if (0)/'
	try_mutant answers strict "an earlier period starts again" rf_answers_are_over \
		's/ > 0;/ != 0;/'
	try_mutant answers loose "the same period starts again" rf_answers_are_over \
		's/ > 0;/ >= 0;/'
	try_mutant answers strict "no period starts" rf_answers_are_over \
		's/return .*/return 0 \&\& word + period;/'
	try_mutant answers strict "periods do not wrap" rf_answers_are_over \
		's/return .*/return period > (__u32)(word >> 32);/'
	try_mutant answers strict "a period is compared by its last bit" rf_answers_are_over \
		's/return .*/return (period \& 1) != (word >> 32 \& 1);/'
}

mutants_of_bans() {
	try_mutant bans ban "the word of a ban is not read again" rf_ban_stands \
		's/ && *$/ \&\&/; s/^\t *rf_cas\(at, word, word\) == word;/1;/'
	try_mutant bans ban "a ban matches by the first half of a source" rf_ban_is_of \
		's/rf_load\(&ban->source\[1\]\) == whom->source\[1\]/1/'
	try_mutant bans ban "a ban is published before it is written" rf_ban_write \
		's/^\tif \(rf_cas\(at, word, claimed\) != word\)/\tif (rf_cas(at, word, fresh) != word)/; s/^\trf_cas\(at, claimed, fresh\);//'
	try_mutant bans ban "a place for a ban is claimed by a plain store" rf_ban_write \
		's/rf_cas\(at, word, claimed\) != word/plain_store(at, claimed), 0/'
	try_mutant bans ban "a lost race for a place for a ban counts as won" rf_ban_write \
		's/if \(rf_cas\(at, word, claimed\) != word\)/rf_cas(at, word, claimed);\nif (0)/'
	try_mutant bans ban "a ban that stands is replaced" rf_ban_gives_room \
		's/\(rf_ban_until.*>> 63 & //'
	try_mutant bans ban "a place that is being written counts as free" rf_ban_gives_room \
		's/& ~word & RF_BAN_WRITTEN/\& 1/'
	try_mutant bans ban "a ban that has ended gives no room yet" rf_ban_gives_room \
		's/- 1\) >> 63/+ 1) >> 63/'
	try_mutant bans ban "a place for a ban is looked for after its source" rf_ban_start \
		's/^\tif \(!room\)/for (room = i = 0; i < RF_BAN_WAYS; i++) room |= rf_ban_gives_room(rf_load(\&set->word[i]), whom->since) << i;\n&/'
	try_mutant bans ban "a place for a ban is not checked when it is taken" rf_ban_start \
		's/!rf_ban_gives_room\(word, whom->since\) \|\|//'
	try_mutant bans ban "a ban that is over is found" rf_ban_find \
		's/rf_ban_until\(word\) <= jiffies \|\| //'
	try_mutant bans ban "only the first place is searched for a ban" rf_ban_find \
		's/i < RF_BAN_WAYS/i < 1/'
	try_mutant bans ban "a new ban keeps the version of its place" rf_ban_next_version \
		's/ \+ 1;/;/'
	try_mutant bans ban "a ban is ended by a plain store" rf_ban_lift \
		's/rf_cas\(&set->word\[i % RF_BAN_WAYS\], word, over\) == word/(plain_store(\&set->word[i % RF_BAN_WAYS], over), 1)/'
}

each_mutant() {
	mutants_of_sliding
	mutants_of_weighted
	mutants_of_log
	mutants_of_bucket
	mutants_of_leases
	mutants_of_loans
	mutants_of_several
	mutants_of_shares
	mutants_of_slots
	mutants_of_bans
	mutants_of_answers
}
