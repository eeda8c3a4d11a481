-- SPDX-License-Identifier: GPL-2.0
-- ---- members ----

local function add_host(ledger, slot)
	local host = {slot = slot, generation = ledger.base, is_complete = false,
		is_expected = false, nonce = NONE, joined = NONE, heard = ledger.newest}
	local at = #ledger.order + 1

	while at > 1 and ledger.order[at - 1].slot > slot do at = at - 1 end
	table.insert(ledger.order, at, host)
	ledger.hosts[slot] = host
	ledger.is_rewritten = true
	return host
end

-- Whether a host that is not a member can take this slot. In the first G of recovery, the slot's
-- previous host might still use its share and its `first`, without being known to any present host.
-- So only a host that reports the slot as its own gets it, and an expected host's slot is reserved
-- until recovery has finished.
local function may_take(ledger, host, call, beat)
	if not ledger.is_learning or beat.resumes then return true end
	return not host.is_expected and ledger.newest - ledger.learns_from >= call.grace
end

local function is_silent(ledger, host, call)
	return ledger.newest - host.heard >= call.grace + ledger.window
end

local function is_foreign(ledger, call, beat)
	if ledger.key == beat.key then return false end
	for _, host in ipairs(ledger.order) do
		if host.nonce ~= NONE and not is_silent(ledger, host, call) then return true end
	end
	return false
end

-- The claims of others are void. A host that was offline with this key reports its usage.
local function take_key(ledger, call, key)
	if ledger.key == key then return end
	ledger.key, ledger.is_rewritten = key, true
	for _, host in ipairs(ledger.order) do host.nonce = NONE end
	if not ledger.is_learning then start_learning(ledger, call) end
end

local function join(ledger, host, call, beat)
	if host.nonce ~= NONE and is_silent(ledger, host, call) then
		host.nonce = NONE
		begin_epoch(ledger, call)
	end
	if host.nonce ~= NONE and host.nonce ~= call.nonce then return false end
	if host.nonce == NONE then
		if not may_take(ledger, host, call, beat) then return false end
		take_key(ledger, call, beat.key)
		host.generation, host.joined = (host.generation + 1) % 65536, NONE
		begin_epoch(ledger, call)
	end
	if host.joined == NONE then
		host.nonce, host.joined, host.is_complete = call.nonce, call.stamp, false
		ledger.members = nil
	end
	return true
end

local function expect(ledger, known)
	if not ledger.is_learning then return end
	for _, slot in ipairs(known) do
		local host = ledger.hosts[slot] or add_host(ledger, slot)

		if not host.is_expected then host.is_expected, ledger.is_rewritten = true, true end
	end
end

-- The slots of all members, packed.
local function members_of(ledger)
	if not ledger.members then
		local slots = {}

		for _, host in ipairs(ledger.order) do
			if host.nonce ~= NONE then slots[#slots + 1] = pack('<I2', host.slot) end
		end
		ledger.members = concat(slots)
	end
	return ledger.members
end

local function hear(ledger, host, call, beat)
	if not join(ledger, host, call, beat) then
		return pack('<Bc8BB', REFUSED, NONE, 0, ledger.is_learning and 1 or 0)
	end
	host.heard = ledger.newest
	if beat.is_complete and call.joined == host.joined then host.is_complete = true end
	end_learning(ledger, call)
	return pack('<Bc8BB', DONE, host.joined, host.is_complete and 1 or 0,
		ledger.is_learning and 1 or 0) .. members_of(ledger)
end

-- ---- removed hosts ----

-- nil: no such host; otherwise the time for which its claims can still count. After G + W without a
-- heartbeat, another host could also take the slot: see join().
local function time_left(ledger, host, call)
	if not host or host.nonce == NONE then return nil end
	return max(0, call.grace + ledger.window - (ledger.newest - host.heard))
end

local function forget(ledger, host, call)
	host.nonce = NONE
	begin_epoch(ledger, call)
	ledger.is_rewritten = true
end
