#!lua name=ringfence
-- SPDX-License-Identifier: GPL-2.0
-- The ledger of a fleet, as a library of functions of Redis 7 or Valkey. The rules are those of
-- user/fleet/ledger.c, which says why; a test compares them call by call. user/fleet/wire.h has the
-- calls, docs/fleet.md what is kept and for how long.
--
-- Names of eight bytes (nonce, joined, run) are strings here: a number of Lua has 53 bits.

local SLOTS, REPORTS_MAX = 1024, 64
local GRACE_MAX, WINDOW_MAX = 60000, 2592000000
local KEPT = 600000 -- a bucket's hosts, beyond G + W
local SPARE = 60000 -- a claim, beyond G + 2 W, but no longer than KEPT beyond G + W
local IDLE = 10000  -- a record without claims that somebody wants: longer than a host backs off
local LEFT = 500    -- one that nobody wants: longer than a report of before is late

local DONE, REFUSED, STRANGER, OLD, GARBAGE = 0, 1, 2, 3, 4

local NONE = '\0\0\0\0\0\0\0\0'
local CALL, CALL_SIZE = '<I4c8c8I4I4', 28
local REPORT, REPORT_SIZE = '<IIIIIII', 28
-- The hosts of a bucket: a head, then each slot that is or was a host's, from the lowest.
local HEAD, HEAD_SIZE = '<c8I8I8I4I2BI4c8', 43
local HOST, HOST_SIZE = '<I2I2Bc8c8I8', 29
-- A record: contested-until, then each claim: whose it is, how much, and the report that it follows.
-- Whose: the generation, and from bit 16 the slot. With VAIN it wants in vain.
local CLAIM, CLAIM_SIZE, VAIN = '<III', 12, 2147483648
local SHORT, SHORT_SIZE, FEW = '<I8', 8, 3
-- With more claims than that a record also says what counting them came to, for as long as it holds:
-- the epoch, who was heard the longest ago, the sum and how many share.
local LONG, LONG_SIZE = '<I8I4I6I6I2', 26
local RECORD_MAX = LONG_SIZE + SLOTS * CLAIM_SIZE

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
		base = unpack('<I2', stamp), epoch = unpack('<I4', stamp), is_learning = false,
		is_rewritten = true}
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
		ledger.epoch, ledger.version = unpack(HEAD, head)
	ledger.is_learning = learns == 1
	ledger.head = head
	return ledger
end

local function pack_head(ledger)
	return pack(HEAD, ledger.run, ledger.newest, ledger.learns_from, ledger.window, ledger.base,
		ledger.is_learning and 1 or 0, ledger.epoch, ledger.version)
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

-- From now on a claim may be void that was not before, other than by silence.
local function begin_epoch(ledger, call)
	ledger.epoch = unpack('<I4', call.stamp)
	ledger.members = nil
end

local function start_learning(ledger, call)
	begin_epoch(ledger, call)
	ledger.run = call.run
	ledger.is_learning, ledger.is_rewritten = true, true
	ledger.learns_from, ledger.newest = call.now, call.now
	for _, host in ipairs(ledger.order) do
		host.joined, host.heard, host.is_complete = NONE, call.now, false
	end
end

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
		host.nonce = NONE
		begin_epoch(ledger, call)
	end
	if host.nonce ~= NONE and host.nonce ~= call.nonce then return false end
	if host.nonce == NONE then
		if not may_take(ledger, host, call, beat) then return false end
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

-- ---- a host that is gone ----

-- nil: there is none; else how much longer its claims may count. Silent for G and W, it could lose
-- the slot to another host as well: see join().
local function time_left(ledger, host, call)
	if not host or host.nonce == NONE then return nil end
	return max(0, call.grace + ledger.window - (ledger.newest - host.heard))
end

local function forget(ledger, host, call)
	host.nonce = NONE
	begin_epoch(ledger, call)
	ledger.is_rewritten = true
end

-- ---- claims ----

local function is_member(ledger, call)
	local host = ledger.hosts[call.slot]

	return host and host.nonce == call.nonce and host.joined == call.joined and
		call.joined ~= NONE
end

-- The size of a record's head, by its own; nil: no record has that size.
local function head_of(size)
	local few = SHORT_SIZE + FEW * CLAIM_SIZE

	if size <= few then return (size - SHORT_SIZE) % CLAIM_SIZE == 0 and SHORT_SIZE or nil end
	return (size - LONG_SIZE) % CLAIM_SIZE == 0 and LONG_SIZE or nil
end

-- Where in a longer record a claim is; nil: nowhere.
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

-- What a longer record says of itself, without the caller's claim; nil: it has to be counted anew.
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

-- When a claim's host was heard; false: the claim is void. `whose` as in a record, without VAIN.
local function heard_of(ledger, whose, silent)
	local host = ledger.hosts[floor(whose / 65536)]

	if not host or host.nonce == NONE or host.generation ~= whose % 65536 or
		ledger.newest - host.heard >= silent then
		return false
	end
	return host.heard
end

local formats = {}

-- The numbers of a record's claims, three of each.
local function claims_of(raw, head)
	local size = #raw

	if not formats[size] then
		formats[size] = '<' .. string.rep(sub(CLAIM, 2), (size - head) / CLAIM_SIZE)
	end
	local claims = {unpack(formats[size], raw, head + 1)}
	claims[#claims] = nil -- where reading has ended
	return claims
end

-- The claims of others that are not void: their sum, how many of them share, their bytes, and whose
-- host was heard the longest ago. And the caller's own.
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

-- nil: what is kept there is no record.
local function read_record(ledger, call, key, window)
	local raw = sub(key, 1, #call.records) == call.records and get(key, 0, RECORD_MAX)

	if not raw then return nil end
	if raw == '' then raw = NONE end
	local head = head_of(#raw)
	if not head then return nil end
	return head == LONG_SIZE and recall(ledger, call, raw, window) or
		count_claims(ledger, call, raw, head, window)
end

-- `mine`: the caller's claim, which is `claim`, and shares if `shares`.
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

local function rf_gone(keys, args)
	local call, refused = read_call(keys, args[1])

	if not call then return refused end
	if #keys ~= 2 or #args ~= 1 or #args[1] ~= CALL_SIZE + 2 then
		return refuse('this names no host')
	end
	local ledger = read_ledger(keys[2], call.stamp)
	open_ledger(ledger, call)
	local host = ledger.hosts[unpack('<I2', args[1], CALL_SIZE + 1)]
	local left = time_left(ledger, host, call)
	if left == 0 then forget(ledger, host, call) end
	write_ledger(keys[2], ledger, call)
	return pack('<BI4', left and left > 0 and REFUSED or DONE, left or 0)
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

		call.heard = {}
		call.whose = host.slot * 65536 + host.generation
		call.may_grow = host.is_complete and not ledger.is_learning
	end
	local answers = {}
	for i = 2, #args do answers[i - 1] = note(ledger, call, keys[i + 1], args[i]) end
	return answers
end

-- ---- bans ----

local BANS, BANS_EACH = 1024, 128 -- of all hosts, of each
local BAN_MOST = 3600000
local BANS_HEAD, BANS_HEAD_SIZE = '<I8', 8
local BAN, BAN_SIZE = '<I8I8I2BBB', 21 -- stamp, until, slot, ended, version, length; then the address
local BAN_CALL, BAN_CALL_SIZE = '<I4I4BB', 10
local BANS_MAX = BANS_HEAD_SIZE + BANS * (BAN_SIZE + 16)

local ADDRESS = {[4] = 4, [6] = 16}
local LEAST, LONGEST = {[4] = 24, [6] = 48}, {[4] = 32, [6] = 128}

local function is_prefix(version, length, left)
	return ADDRESS[version] and length >= LEAST[version] and length <= LONGEST[version] and
		left >= ADDRESS[version]
end

-- nil: these bytes are no ban.
local function parse_ban(raw, at)
	if #raw < at + BAN_SIZE - 1 then return nil end
	local stamp, untl, slot, ended, version, length = unpack(BAN, raw, at)
	local from = at + BAN_SIZE

	if not is_prefix(version, length, #raw - from + 1) or slot >= SLOTS or ended > 1 then
		return nil
	end
	local to = from + ADDRESS[version] - 1
	return {stamp = stamp, untl = untl, slot = slot, ended = ended == 1, version = version,
		length = length, address = sub(raw, from, to)}, to + 1
end

-- The bans that have not run out, from the oldest, and the newest stamp. What makes no sense is as
-- good as lost. Where the clock has stepped back, no ban is longer for it.
local function read_bans(key, time)
	local raw = get(key, 0, BANS_MAX - 1) or ''
	local bans, at = {newest = 0}, BANS_HEAD_SIZE + 1

	if #raw < BANS_HEAD_SIZE then return bans end
	local newest = unpack(BANS_HEAD, raw)
	if newest > time + BAN_MOST then return bans end
	while at <= #raw do
		local ban, after = parse_ban(raw, at)

		if not ban or ban.stamp > newest then return {newest = 0} end
		ban.untl = min(ban.untl, time + BAN_MOST)
		if ban.untl > time then bans[#bans + 1] = ban end
		at = after
	end
	bans.newest = newest
	return bans
end

local function write_bans(key, bans, time)
	local packed, last = {pack(BANS_HEAD, bans.newest)}, time + 1

	for i, ban in ipairs(bans) do
		packed[i + 1] = pack(BAN, ban.stamp, ban.untl, ban.slot, ban.ended and 1 or 0,
			ban.version, ban.length) .. ban.address
		last = max(last, ban.untl)
	end
	redis.call('SET', key, concat(packed), 'PX', last - time)
end

-- Takes the ban of that prefix by that host out of the list.
local function take_out(bans, like)
	for i, ban in ipairs(bans) do
		if ban.slot == like.slot and ban.version == like.version and
			ban.length == like.length and ban.address == like.address then
			return table.remove(bans, i)
		end
	end
end

-- nil: these bytes are no ban of that slot.
local function read_ban_call(keys, bytes)
	if not bytes or #bytes < BAN_CALL_SIZE then return nil end
	local slot, time, version, length = unpack(BAN_CALL, bytes)

	if slot >= SLOTS or time > BAN_MOST or keys[1] ~= 'rf:{m}:h:' .. slot or
		not is_prefix(version, length, #bytes - BAN_CALL_SIZE) or
		#bytes ~= BAN_CALL_SIZE + ADDRESS[version] then
		return nil
	end
	return {slot = slot, time = time, version = version, length = length, ended = time == 0,
		address = sub(bytes, BAN_CALL_SIZE + 1)}
end

-- One more of that host? FULL: it has as many as it may; FULL_ALL: all hosts together have.
local FULL, FULL_ALL, NO_BAN = 1, 2, 3

local function may_ban(bans, slot)
	local own = 0

	for _, ban in ipairs(bans) do
		if ban.slot == slot then own = own + 1 end
	end
	return own >= BANS_EACH and FULL or #bans >= BANS and FULL_ALL or DONE
end

-- A ban that was ended stays in the list for its time, so that all hosts hear of its end.
local function rf_ban(keys, args)
	local time = now()
	local ban = #keys == 2 and keys[2] == 'rf:{m}:bans' and #args == 1 and
		read_ban_call(keys, args[1])

	if not ban then return refuse('this is no ban') end
	local bans = read_bans(keys[2], time)
	local before = take_out(bans, ban)
	local status = may_ban(bans, ban.slot)
	if ban.ended and (not before or before.ended) then return pack('B', NO_BAN) end
	if status ~= DONE then return pack('B', status) end
	bans.newest = max(bans.newest + 1, time)
	ban.stamp = bans.newest
	ban.untl = ban.ended and before.untl or time + ban.time
	bans[#bans + 1] = ban
	write_bans(keys[2], bans, time)
	return pack('B', DONE)
end

-- The bans after a stamp, each with the time that is left to it; 0: it has been ended.
local function rf_bans(keys, args)
	local time = now()

	if #keys ~= 1 or keys[1] ~= 'rf:{m}:bans' or #args ~= 1 or #args[1] ~= 8 then
		return refuse('this asks for no bans')
	end
	local from = unpack('<I8', args[1])
	local bans = read_bans(keys[1], time)
	local packed = {pack(BANS_HEAD, bans.newest)}
	for _, ban in ipairs(bans) do
		if ban.stamp > from then
			packed[#packed + 1] = pack('<I8I2I4BB', ban.stamp, ban.slot,
				ban.ended and 0 or ban.untl - time, ban.version, ban.length) .. ban.address
		end
	end
	return concat(packed)
end

redis.register_function('rf_beat', rf_beat)
redis.register_function('rf_ban', rf_ban)
redis.register_function('rf_bans', rf_bans)
redis.register_function('rf_gone', rf_gone)
redis.register_function('rf_report', rf_report)
