-- SPDX-License-Identifier: GPL-2.0
-- ---- calls ----

local function refuse(why)
	return redis.error_reply('RINGFENCE ' .. why)
end

-- The fields that every call has, or nil and the reason for refusing it.
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

-- nil: not a valid heartbeat.
local function read_beat(bytes)
	local size = #bytes - CALL_SIZE - 10

	if size < 0 or size % 2 ~= 0 then return nil end
	local is_complete, resumes, key = unpack('BBc8', bytes, CALL_SIZE + 1)
	if is_complete > 1 or resumes > 1 then return nil end
	local beat = {is_complete = is_complete == 1, resumes = resumes == 1, key = key, known = {}}
	local least = 0
	for at = CALL_SIZE + 11, #bytes, 2 do
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
	if is_foreign(ledger, call, beat) then
		write_ledger(keys[2], ledger, call)
		return pack('<Bc8BBc8', FOREIGN, NONE, 0, ledger.is_learning and 1 or 0, ledger.key)
	end
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

-- A call with items, each for the record of its key; `note_one` returns the reply to one item.
local function answer_each(keys, args, note_one)
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
	for i = 2, #args do answers[i - 1] = note_one(ledger, call, keys[i + 1], args[i]) end
	return answers
end

local function rf_report(keys, args)
	return answer_each(keys, args, note)
end

local function rf_sums(keys, args)
	return answer_each(keys, args, note_sum)
end
