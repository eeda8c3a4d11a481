#!lua name=ringfence
-- SPDX-License-Identifier: GPL-2.0
-- The ledger of a fleet, as a library of functions of Redis 7 or Valkey. The rules are those of
-- user/fleet/ledger.c, which says why; a test compares them call by call. user/fleet/wire.h has the
-- calls, docs/fleet.md what is kept and for how long.
--
-- Names of eight bytes (nonce, joined, run) are strings here: a number of Lua has 53 bits.

local SLOTS, REPORTS_MAX = 1024, 64
local GRACE_MAX, WINDOW_MAX = 60000, 2592000000
local KEPT = 600000 -- a claim, beyond G + W; a bucket's hosts as well
local IDLE = 10000  -- a record without claims: longer than a host backs off

local DONE, REFUSED, STRANGER, OLD, GARBAGE = 0, 1, 2, 3, 4

local NONE = '\0\0\0\0\0\0\0\0'
local CALL, CALL_SIZE = '<I4c8c8I4I4', 28
local REPORT, REPORT_SIZE = '<IIIIIII', 28
-- The hosts of a bucket: a head, then each slot that is or was a host's, from the lowest.
local HEAD, HEAD_SIZE = '<c8I8I8I4I2Bc8', 39
local HOST, HOST_SIZE = '<I2I2Bc8c8I8', 29
-- A record: contested-until, then each claim: whose it is, how much, and the report that it follows.
-- Whose: the generation, and from bit 16 the slot. With VAIN it wants in vain. Little-endian too.
local CLAIM, CLAIM_SIZE, VAIN = '<III', 12, 2147483648
local RECORD_MAX, SHORT = 8 + 12 * SLOTS, 44 -- a longer one is changed in its place

-- The engine's libraries, which are there only once a function is called.
local pack, unpack, floor, max, min, sub, concat

-- The buckets that there are, by the names of their hosts' keys.
local buckets = {}
for b = 0, 15 do
	local prefix = 'rf:{' .. b .. '}:'
	buckets[prefix .. 'hosts'] = {slot = prefix .. 'h:', record = prefix .. 'l:'}
end

-- ---- time, run, names of memberships ----

-- This is the run: this library, as this process has loaded it. Another process, a replica that was
-- promoted, a copy that was synchronized in full, another load: each has another one. Names of
-- memberships are counted from anywhere, so that none was used in a run before.
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

-- Milliseconds, and a name that was never used.
local function now()
	local time = redis.call('TIME')

	if not run then start_run(time) end
	last_stamp = last_stamp + 1
	return time[1] * 1000 + floor(time[2] / 1000), pack('<I8', last_stamp)
end

-- ---- the hosts of a bucket ----

-- What was read or written last, by key. It holds as long as the key has its version: a name that
-- each write of hosts brings.
local cache = {}

local function pack_host(host)
	local flags = (host.is_complete and 1 or 0) + (host.is_expected and 2 or 0)

	return pack(HOST, host.slot, host.generation, flags, host.nonce, host.joined, host.heard)
end

-- nil: these bytes are no hosts.
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

-- Bytes of a key, '' where there is none, nil where it is something else. No more than make sense.
local function get(key, from, to)
	local value = redis.pcall('GETRANGE', key, from, to)

	if type(value) ~= 'table' then return value end
	if string.find(value.err, 'WRONGTYPE', 1, true) then return nil end
	return redis.call('GETRANGE', key, from, to)
end

-- What makes no sense is as good as lost: an empty ledger, which learns. Its generations begin
-- anywhere, so that no claim of before counts as that of a new host.
local function empty_ledger(stamp)
	return {order = {}, hosts = {}, run = NONE, newest = 0, learns_from = 0, window = 0,
		base = unpack('<I2', stamp), is_learning = false, is_rewritten = true}
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
		ledger.version = unpack(HEAD, head)
	ledger.is_learning = learns == 1
	ledger.head = head
	return ledger
end

local function pack_head(ledger)
	return pack(HEAD, ledger.run, ledger.newest, ledger.learns_from, ledger.window, ledger.base,
		ledger.is_learning and 1 or 0, ledger.version)
end

-- Writes what has changed: all, or the head and one host.
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

-- ---- time and learning ----

local function has_missed(ledger, call)
	local quiet = floor(call.grace / 2)

	return ledger.run ~= call.run or call.now > ledger.newest + quiet or
		call.now + quiet < ledger.newest
end

local function start_learning(ledger, call)
	ledger.run = call.run
	ledger.is_learning, ledger.is_rewritten = true, true
	ledger.learns_from, ledger.newest = call.now, call.now
	for _, host in ipairs(ledger.order) do
		host.joined, host.heard, host.is_complete = NONE, call.now, false
	end
end

local function all_are_complete(ledger)
	for _, host in ipairs(ledger.order) do
		if (host.nonce ~= NONE or host.is_expected) and not host.is_complete then
			return false
		end
	end
	return true
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

local function may_take(ledger, host, call, beat)
	if not ledger.is_learning or beat.resumes then return true end
	return not host.is_expected and ledger.newest - ledger.learns_from >= call.grace
end

local function join(ledger, host, call, beat)
	if host.nonce ~= NONE and ledger.newest - host.heard >= call.grace + ledger.window then
		host.nonce, ledger.members = NONE, nil
	end
	if host.nonce ~= NONE and host.nonce ~= call.nonce then return false end
	if host.nonce == NONE then
		if not may_take(ledger, host, call, beat) then return false end
		host.generation, host.joined = (host.generation + 1) % 65536, NONE
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

-- ---- claims ----

local function is_member(ledger, call)
	local host = ledger.hosts[call.slot]

	return host and host.nonce == call.nonce and host.joined == call.joined and
		call.joined ~= NONE
end

local formats = {}

-- contested-until, then three numbers for each claim; nil: these bytes are no record.
local function parse_record(raw)
	local count = (#raw - 8) / CLAIM_SIZE

	if raw == '' then return {0} end
	if count < 0 or count ~= floor(count) then return nil end
	if not formats[count] then
		formats[count] = '<I8' .. string.rep(sub(CLAIM, 2), count)
	end
	local record = {unpack(formats[count], raw)}
	record[#record] = nil -- where reading has ended
	return record
end

-- Is a claim not void? `whose` as in a record, without VAIN.
local function is_live(ledger, whose, silent)
	local host = ledger.hosts[floor(whose / 65536)]

	return host ~= nil and host.nonce ~= NONE and host.generation == whose % 65536 and
		ledger.newest - host.heard < silent
end

-- Of the claims of others that are not void: their sum, and how many of them share. Where in the
-- record the caller's own is. Whether any claim was void; it is then false in the record.
local function count_claims(ledger, call, record, window)
	local mine, live = call.whose, call.live[window]
	local sum, sharers, own, is_short = 0, 0, nil, false

	if not live then
		live = {}
		call.live[window] = live
	end
	for i = 2, #record, 3 do
		local whose, in_vain = record[i], false

		if whose >= VAIN then whose, in_vain = whose - VAIN, true end
		local lives = live[whose]
		if lives == nil then
			lives = is_live(ledger, whose, call.grace + window)
			live[whose] = lives
		end
		if not lives then
			record[i], is_short = false, true
		elseif whose == mine then
			own = i
		else
			local claim = record[i + 1]

			sum = sum + claim
			if claim > 0 or in_vain then sharers = sharers + 1 end
		end
	end
	return sum, sharers, own, is_short
end

-- The bytes of all claims but the one at `own` and those that are void.
local function others_of(record, raw, own, is_short)
	if not is_short then
		if not own then return sub(raw, 9) end
		local at = 9 + (own - 2) * 4
		return sub(raw, 9, at - 1) .. sub(raw, at + CLAIM_SIZE)
	end
	local kept = {}
	for i = 2, #record, 3 do
		local at = 9 + (i - 2) * 4

		if record[i] and i ~= own then kept[#kept + 1] = sub(raw, at, at + CLAIM_SIZE - 1) end
	end
	return concat(kept)
end

-- A longer record, where no other claim has changed.
local function change_record(key, record, contested, own, mine, life)
	if contested ~= record[1] then redis.call('SETRANGE', key, 0, pack('<I8', contested)) end
	redis.call('SETRANGE', key, 8 + (own - 2) * 4, mine)
	redis.call('PEXPIRE', key, life)
end

local function answer(status, seq, share, lower_to)
	return pack('<BI4I4I4', status, seq, share or 0, lower_to or 0)
end

local function note(ledger, call, key, bytes)
	if #bytes ~= REPORT_SIZE then return answer(GARBAGE, 0) end
	local seq, used, has, wants, pool, first, window = unpack(REPORT, bytes)
	if window < 1 or window > call.window then return answer(GARBAGE, seq) end
	if not call.is_member then return answer(STRANGER, seq) end
	local raw = sub(key, 1, #call.records) == call.records and get(key, 0, RECORD_MAX)
	local record = raw and parse_record(raw)
	if not record then return answer(GARBAGE, seq) end

	local newest, contested = ledger.newest, record[1]
	local sum, sharers, own, is_short = count_claims(ledger, call, record, window)
	if own and (seq - record[own + 2] - 1) % 4294967296 >= 2147483647 then
		return answer(OLD, seq)
	end

	local share = has
	if call.may_grow then
		local free = pool > sum and pool - sum or 0

		share = max(has, min(wants, free))
	end
	local claim = max(share, used - first)
	local in_vain = wants > share
	local even = floor(pool / (sharers + 1))
	if in_vain and not ledger.is_learning and share < even then
		contested = newest + call.grace + floor(window / 2)
	end
	local lower_to = share
	if newest < contested and share > even then
		lower_to = even + floor((share - even) / 2)
	end

	local mine = pack(CLAIM, call.whose + (in_vain and VAIN or 0), claim, seq)
	local life = call.grace + window + ((claim > 0 or sum > 0) and KEPT or IDLE)
	if own and not is_short and #raw > SHORT then
		change_record(key, record, contested, own, mine, life)
	else
		redis.call('SET', key, pack('<I8', contested) ..
			others_of(record, raw, own, is_short) .. mine, 'PX', life)
	end
	return answer(DONE, seq, share, lower_to)
end

-- ---- calls ----

local function refuse(why)
	return redis.error_reply('RINGFENCE ' .. why)
end

-- What every call brings, or nil and why it is refused.
local function read_call(keys, bytes)
	local bucket = buckets[keys[2] or '']
	local time, stamp = now()

	if not bucket or not bytes or #bytes < CALL_SIZE then
		return nil, refuse('this call is too short, or names no bucket')
	end
	local slot, nonce, joined, grace, window = unpack(CALL, bytes)
	if keys[1] ~= bucket.slot .. slot then return nil, refuse('this key is not of slot ' .. slot) end
	if slot >= SLOTS or nonce == NONE or grace < 1 or grace > GRACE_MAX or window < 1 or
		window > WINDOW_MAX then
		return nil, refuse('no host calls with such figures')
	end
	return {slot = slot, nonce = nonce, joined = joined, grace = grace, window = window,
		records = bucket.record, now = time, stamp = stamp, run = run}
end

-- nil: these bytes are no heartbeat.
local function read_beat(bytes)
	local size = #bytes - CALL_SIZE - 2

	if size < 0 or size % 2 ~= 0 then return nil end
	local is_complete, resumes = unpack('BB', bytes, CALL_SIZE + 1)
	if is_complete > 1 or resumes > 1 then return nil end
	local beat = {is_complete = is_complete == 1, resumes = resumes == 1, known = {}}
	local least = 0
	for at = CALL_SIZE + 3, #bytes, 2 do
		local slot = unpack('<I2', bytes, at)

		if slot < least or slot >= SLOTS then return nil end
		beat.known[#beat.known + 1] = slot
		least = slot + 1
	end
	return beat
end

local function rf_beat(keys, args)
	local call, refused = read_call(keys, args[1])

	if not call then return refused end
	local beat = #keys == 2 and #args == 1 and read_beat(args[1])
	if not beat then return refuse('this is no heartbeat') end
	local ledger = read_ledger(keys[2], call.stamp)
	open_ledger(ledger, call)
	expect(ledger, beat.known)
	local host = ledger.hosts[call.slot] or add_host(ledger, call.slot)
	local heard = hear(ledger, host, call, beat)
	write_ledger(keys[2], ledger, call, host)
	return heard
end

local function rf_report(keys, args)
	local call, refused = read_call(keys, args[1])

	if not call then return refused end
	if #args[1] ~= CALL_SIZE or #args ~= #keys - 1 or #args < 2 or #args > REPORTS_MAX + 1 then
		return refuse('these are no reports')
	end
	local ledger = read_ledger(keys[2], call.stamp)
	open_ledger(ledger, call)
	write_ledger(keys[2], ledger, call)
	call.is_member = is_member(ledger, call)
	if call.is_member then
		local host = ledger.hosts[call.slot]

		call.live = {}
		call.whose = host.slot * 65536 + host.generation
		call.may_grow = host.is_complete and not ledger.is_learning
	end
	local answers = {}
	for i = 2, #args do answers[i - 1] = note(ledger, call, keys[i + 1], args[i]) end
	return answers
end

redis.register_function('rf_beat', rf_beat)
redis.register_function('rf_report', rf_report)
