-- SPDX-License-Identifier: GPL-2.0
-- ---- claims ----

local function is_member(ledger, call)
	local host = ledger.hosts[call.slot]

	return host and host.nonce == call.nonce and host.joined == call.joined and
		call.joined ~= NONE
end

-- The size of a record's head, by the size of the record; nil: no record has this size.
local function head_of(size)
	local few = SHORT_SIZE + FEW * CLAIM_SIZE

	if size <= few then return (size - SHORT_SIZE) % CLAIM_SIZE == 0 and SHORT_SIZE or nil end
	return (size - LONG_SIZE) % CLAIM_SIZE == 0 and LONG_SIZE or nil
end

-- The position of a claim in a long record; nil: not found.
local function find_claim(raw, whose)
	local name, at = pack('<I', whose), LONG_SIZE + 1
	local slot = string.byte(name, 4)

	name = sub(name, 1, 3)
	while true do
		at = string.find(raw, name, at, true)
		if not at then return nil end
		if (at - LONG_SIZE - 1) % CLAIM_SIZE == 0 and string.byte(raw, at + 3) % 128 == slot then
			return at
		end
		at = at + 1
	end
end

-- The cached totals of a long record, without the caller's claim; nil: they must be computed again.
local function recall(ledger, call, raw, window)
	local contested, epoch, oldest, sum, sharers = unpack(LONG, raw)

	if epoch ~= ledger.epoch or ledger.newest - oldest >= call.grace + window then return nil end
	local at = find_claim(raw, call.whose)
	if not at then return nil end
	local whose, claim, seq = unpack(CLAIM, raw, at)
	if claim > 0 or whose >= VAIN then sharers = sharers - 1 end
	return {contested = contested, sum = sum - claim, sharers = sharers, oldest = oldest, seq = seq,
		wanted = whose >= VAIN, claim = claim, at = at}
end

-- The time of the last heartbeat of a claim's host; false: the claim is void. `whose` as in a
-- record, without VAIN.
local function heard_of(ledger, whose, silent)
	local host = ledger.hosts[floor(whose / 65536)]

	if not host or host.nonce == NONE or host.generation ~= whose % 65536 or
		ledger.newest - host.heard >= silent then
		return false
	end
	return host.heard
end

local formats = {}

-- The numbers of a record's claims, three for each claim.
local function claims_of(raw, head)
	local size = #raw

	if not formats[size] then
		formats[size] = '<' .. string.rep(sub(CLAIM, 2), (size - head) / CLAIM_SIZE)
	end
	local claims = {unpack(formats[size], raw, head + 1)}
	claims[#claims] = nil -- where reading has ended
	return claims
end

-- The other hosts' claims that are not void: their sum, the number of sharers, their bytes, and the
-- oldest heartbeat of their hosts. Also the caller's claim.
local function count_claims(ledger, call, raw, head, window)
	local mine, heard_at = call.whose, call.heard[window] or {}
	local claims, own, wanted, kept = claims_of(raw, head), nil, false, {}
	local sum, sharers, oldest = 0, 0, ledger.hosts[call.slot].heard

	call.heard[window] = heard_at
	for i = 1, #claims, 3 do
		local whose, in_vain = claims[i], false

		if whose >= VAIN then whose, in_vain = whose - VAIN, true end
		local heard = heard_at[whose]
		if heard == nil then
			heard = heard_of(ledger, whose, call.grace + window)
			heard_at[whose] = heard
		end
		if heard and whose == mine then
			own, wanted = i, in_vain
		elseif heard then
			local claim, at = claims[i + 1], head + (i - 1) * 4

			sum = sum + claim
			if claim > 0 or in_vain then sharers = sharers + 1 end
			if heard < oldest then oldest = heard end
			kept[#kept + 1] = sub(raw, at + 1, at + CLAIM_SIZE)
		end
	end
	return {contested = unpack(SHORT, raw), sum = sum, sharers = sharers, oldest = oldest,
		seq = own and claims[own + 2], wanted = wanted, claim = own and claims[own + 1],
		kept = kept}
end

-- nil: the value is not a valid record.
local function read_record(ledger, call, key, window)
	local raw = sub(key, 1, #call.records) == call.records and get(key, 0, RECORD_MAX)

	if not raw then return nil end
	if raw == '' then raw = NONE end
	local head = head_of(#raw)
	if not head then return nil end
	return head == LONG_SIZE and recall(ledger, call, raw, window) or
		count_claims(ledger, call, raw, head, window)
end

-- `mine`: the caller's claim, of `claim` units; `shares`: it counts as a sharer.
local function write_record(ledger, key, record, mine, claim, shares, life)
	local kept, head = record.kept, nil

	if not kept or #kept >= FEW then
		head = pack(LONG, record.contested, ledger.epoch, record.oldest, record.sum + claim,
			record.sharers + (shares and 1 or 0))
	else
		head = pack(SHORT, record.contested)
	end
	if kept then
		redis.call('SET', key, head .. concat(kept) .. mine, 'PX', life)
	else
		redis.call('SETRANGE', key, 0, head)
		redis.call('SETRANGE', key, record.at - 1, mine)
		redis.call('PEXPIRE', key, life)
	end
end

local function answer(status, seq, share, lower_to)
	return pack('<BI4I4I4', status, seq, share or 0, lower_to or 0)
end

-- Records a host's report of a source, and grants its request as far as the pool has room next to
-- the claims of others. While hosts contest the source, no host grows beyond an even part:
-- otherwise the amount returned for hosts with less would go to the first requester, which would
-- then have to return it again. The pool would be shared among the hosts with a claim, the hosts
-- that request one, and the caller. A host whose request fails and that has less than an even part
-- starts a contest: hosts with more then return a part of their share, until it has an even part.
-- Any further host with less reports that in its next report.
local function note(ledger, call, key, bytes)
	if #bytes ~= REPORT_SIZE then return answer(GARBAGE, 0) end
	local seq, used, has, wants, pool, first, window = unpack(REPORT, bytes)
	if window < 1 or window > call.window then return answer(GARBAGE, seq) end
	if not call.is_member then return answer(STRANGER, seq) end
	local record = read_record(ledger, call, key, window)
	if not record then return answer(GARBAGE, seq) end
	if record.seq and (seq - record.seq - 1) % 4294967296 >= 2147483647 then
		return answer(OLD, seq)
	end

	local newest, sum, share = ledger.newest, record.sum, has
	local even = floor(pool / (record.sharers + 1))
	if call.may_grow then
		local free = pool > sum and pool - sum or 0
		local most = newest < record.contested and even or pool

		share = max(has, min(wants, free, most))
	end
	local claim = max(share, used - first)
	local in_vain = wants > share
	if in_vain and not ledger.is_learning and share < even then
		record.contested = newest + call.grace + floor(window / 2)
	elseif record.wanted and record.claim < even and share >= even then
		record.contested = 0
	end
	local lower_to = share
	if newest < record.contested and share > even then
		lower_to = even + floor((share - even) / 2)
	end

	local life = LEFT
	if claim > 0 or sum > 0 then
		life = min(window + SPARE, KEPT) + call.grace + window
	elseif in_vain or record.sharers > 0 then
		life = IDLE + call.grace + window
	end
	write_record(ledger, key, record,
		pack(CLAIM, call.whose + (in_vain and VAIN or 0), claim, seq), claim,
		claim > 0 or in_vain, life)
	return answer(DONE, seq, share, lower_to)
end
