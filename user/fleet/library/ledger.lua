-- SPDX-License-Identifier: GPL-2.0
-- ---- time, run, identifiers of memberships ----

-- Identifies this run: this library, as loaded by this process. A different process, a promoted
-- replica, a fully synchronized copy and every reload have a different value. Identifiers of
-- memberships are counted from an arbitrary start, so none was used in a previous run.
local run, last_stamp

local function start_run(time)
	local name = redis.sha1hex(tostring({}) .. time[1] .. '.' .. time[2])

	pack, unpack, concat = struct.pack, struct.unpack, table.concat
	floor, max, min, sub = math.floor, math.max, math.min, string.sub
	run = string.gsub(sub(name, 1, 16), '%x%x', function(byte)
		return string.char(tonumber(byte, 16))
	end)
	last_stamp = tonumber(sub(name, 17, 29), 16)
end

-- Milliseconds, and an identifier that was never used.
local function now()
	local time = redis.call('TIME')

	if not run then start_run(time) end
	last_stamp = last_stamp + 1
	return time[1] * 1000 + floor(time[2] / 1000), pack('<I8', last_stamp)
end

-- ---- the hosts of a bucket ----

-- The value last read or written, by key. It is valid while the key has the same version, an
-- identifier that changes with each write of hosts.
local cache = {}

local function pack_host(host)
	local flags = (host.is_complete and 1 or 0) + (host.is_expected and 2 or 0)

	return pack(HOST, host.slot, host.generation, flags, host.nonce, host.joined, host.heard)
end

-- nil: not a valid list of hosts.
local function parse_hosts(body)
	local order, hosts, least = {}, {}, 0

	for at = 1, #body, HOST_SIZE do
		local slot, generation, flags, nonce, joined, heard = unpack(HOST, body, at)

		if slot < least or slot >= SLOTS or flags > 3 then return nil end
		local host = {slot = slot, generation = generation, is_complete = flags % 2 == 1,
			is_expected = flags > 1, nonce = nonce, joined = joined, heard = heard, at = at - 1}
		order[#order + 1] = host
		hosts[slot] = host
		least = slot + 1
	end
	return {order = order, hosts = hosts}
end

-- The bytes of a key, '' if it does not exist, nil if it has a different type. At most the size of
-- a valid value.
local function get(key, from, to)
	local value = redis.pcall('GETRANGE', key, from, to)

	if type(value) ~= 'table' then return value end
	if string.find(value.err, 'WRONGTYPE', 1, true) then return nil end
	return redis.call('GETRANGE', key, from, to)
end

-- Invalid data is handled like lost data: an empty ledger in recovery. Its generations start at an
-- arbitrary number, so that no previous claim counts as a claim of a new host.
local function empty_ledger(stamp)
	return {order = {}, hosts = {}, run = NONE, newest = 0, learns_from = 0, window = 0,
		base = unpack('<I2', stamp), epoch = unpack('<I4', stamp), is_learning = false,
		key = NONE, is_rewritten = true}
end

local function read_hosts(key)
	local body = get(key, HEAD_SIZE, HEAD_SIZE + SLOTS * HOST_SIZE)

	return body and #body % HOST_SIZE == 0 and parse_hosts(body)
end

local function read_ledger(key, stamp)
	local head = get(key, 0, HEAD_SIZE - 1)
	local ledger, learns = cache[key], nil

	cache[key] = nil
	if not head or #head < HEAD_SIZE then return empty_ledger(stamp) end
	if not ledger or ledger.version ~= sub(head, -8) then ledger = read_hosts(key) end
	if not ledger then return empty_ledger(stamp) end
	ledger.run, ledger.newest, ledger.learns_from, ledger.window, ledger.base, learns,
		ledger.epoch, ledger.key, ledger.version = unpack(HEAD, head)
	ledger.is_learning = learns == 1
	ledger.head = head
	return ledger
end

local function pack_head(ledger)
	return pack(HEAD, ledger.run, ledger.newest, ledger.learns_from, ledger.window, ledger.base,
		ledger.is_learning and 1 or 0, ledger.epoch, ledger.key, ledger.version)
end

-- Writes the changes: everything, or the head and one host.
local function write_ledger(key, ledger, call, host)
	local life = KEPT + call.grace + ledger.window

	if host or ledger.is_rewritten then ledger.version = call.stamp end
	local head = pack_head(ledger)
	if ledger.is_rewritten then
		local packed = {head}

		for i, each in ipairs(ledger.order) do
			packed[i + 1] = pack_host(each)
			each.at = (i - 1) * HOST_SIZE
		end
		ledger.is_rewritten, ledger.members = nil, nil
		redis.call('SET', key, concat(packed), 'PX', life)
	else
		if head ~= ledger.head then redis.call('SETRANGE', key, 0, head) end
		if host then
			redis.call('SETRANGE', key, HEAD_SIZE + host.at, pack_host(host))
			redis.call('PEXPIRE', key, life)
		end
	end
	cache[key] = ledger
end

-- ---- time and recovery ----

-- Whether the ledger might have missed calls, and must recover before it grants.
local function has_missed(ledger, call)
	local quiet = floor(call.grace / 2)

	return ledger.run ~= call.run or call.now > ledger.newest + quiet or
		call.now + quiet < ledger.newest
end

-- From now on, claims can be void for reasons other than missed heartbeats.
local function begin_epoch(ledger, call)
	ledger.epoch = unpack('<I4', call.stamp)
	ledger.members = nil
end

-- Every member remains a member, and has all its claims until it could have reported them.
local function start_learning(ledger, call)
	begin_epoch(ledger, call)
	ledger.run = call.run
	ledger.is_learning, ledger.is_rewritten = true, true
	ledger.learns_from, ledger.newest = call.now, call.now
	for _, host in ipairs(ledger.order) do
		host.joined, host.heard, host.is_complete = NONE, call.now, false
	end
end

-- Before the first heartbeat it is unknown which hosts to wait for.
local function all_are_complete(ledger)
	local is_any = false

	for _, host in ipairs(ledger.order) do
		if (host.nonce ~= NONE or host.is_expected) and not host.is_complete then
			return false
		end
		is_any = is_any or host.nonce ~= NONE
	end
	return is_any
end

local function end_learning(ledger, call)
	local learned = ledger.newest - ledger.learns_from

	if not ledger.is_learning or learned < call.grace then return end
	if learned < call.grace + ledger.window and not all_are_complete(ledger) then return end
	ledger.is_learning, ledger.is_rewritten = false, true
	for _, host in ipairs(ledger.order) do host.is_expected = false end
end

local function open_ledger(ledger, call)
	if has_missed(ledger, call) then start_learning(ledger, call) end
	if call.now > ledger.newest then ledger.newest = call.now end
	if call.window > ledger.window then ledger.window = call.window end
	end_learning(ledger, call)
end
