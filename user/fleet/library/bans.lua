-- SPDX-License-Identifier: GPL-2.0
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

-- nil: not a valid ban.
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

-- The bans that have not expired, oldest first, and the latest stamp. An invalid record is handled
-- like a lost one. If the clock was set back, no ban is extended by it.
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

-- Removes the ban of this prefix by this host from the list.
local function take_out(bans, like)
	for i, ban in ipairs(bans) do
		if ban.slot == like.slot and ban.version == like.version and
			ban.length == like.length and ban.address == like.address then
			return table.remove(bans, i)
		end
	end
end

-- nil: not a valid ban of this slot.
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

-- Whether the host can add a ban. FULL: the host has the maximum; FULL_ALL: all hosts together have
-- it.
local FULL, FULL_ALL, NO_BAN = 1, 2, 3

local function may_ban(bans, slot)
	local own = 0

	for _, ban in ipairs(bans) do
		if ban.slot == slot then own = own + 1 end
	end
	return own >= BANS_EACH and FULL or #bans >= BANS and FULL_ALL or DONE
end

-- A ban that was lifted remains in the list until it would have expired, to inform all hosts.
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

-- The bans after a stamp, each with its remaining time; 0: it was lifted.
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
