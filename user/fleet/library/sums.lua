-- SPDX-License-Identifier: GPL-2.0
-- ---- sums: packets of a source that all hosts together received, for bans by a limit of the fleet
-- ----

-- A host reads the number of packets received in a window repeatedly. The difference between two
-- readings is reported once, with the time of the earlier one: none of its packets was received
-- before that time. A lost report is not repeated. Therefore the ledger counts each packet at most
-- once, and none with a time later than its arrival. It adds packets to cells of W/16, by the
-- ledger's clock: the sum of the cells that started within W never exceeds the packets received
-- within W. Hosts report times by the ledger's clock, see user/fleet/member.h.

local SUM, SUM_SIZE = '<I8I4I4', 16 -- from when, units, W
local CELLS = 16
-- A sum: run, start of the last recovery, the latest cell, W; then the units of each cell, from the
-- latest one back.
local TOTAL = '<c8I8I8I4I4I4I4I4I4I4I4I4I4I4I4I4I4I4I4I4I4'
local TOTAL_SIZE, UNITS_MAX = 28 + 4 * (CELLS + 1), 4294967295

-- nil: not the key of a sum, or an invalid value. A sum of a previous run or window is empty.
local function read_total(ledger, call, key, window)
	local raw = sub(key, 1, #call.records) == call.records and sub(key, -4) == ':sum' and
		get(key, 0, TOTAL_SIZE)

	if not raw or #raw > 0 and #raw ~= TOTAL_SIZE then return nil end
	local total = {cell = 0, size = math.ceil(window / CELLS)}
	if raw == '' then return total end
	local numbers = {unpack(TOTAL, raw)}
	local is_of_this_time = numbers[1] == ledger.run and numbers[2] == ledger.learns_from and
		numbers[4] == window and numbers[3] <= floor(ledger.newest / total.size)
	if is_of_this_time then
		total.cell = numbers[3]
		for i = 0, CELLS do total[i] = numbers[5 + i] end
	end
	return total
end

-- Makes the current cell the latest one, and adds up the cells that started within W.
local function add_units(ledger, total, from, units, window)
	local now, cells, all = ledger.newest, {}, 0
	local cell = floor(now / total.size)
	local back = cell - floor(min(from, now) / total.size)

	for i = 0, CELLS do
		local had = total[i - (cell - total.cell)] or 0

		cells[i] = i == back and min(had + units, UNITS_MAX) or had
		if i <= cell and (cell - i) * total.size + window > now then all = all + cells[i] end
	end
	return cell, cells, min(all, UNITS_MAX)
end

local function total_answer(status, ledger, all)
	return pack('<BI4I8', status, all or 0, ledger.newest)
end

local function note_sum(ledger, call, key, bytes)
	if #bytes ~= SUM_SIZE then return total_answer(GARBAGE, ledger) end
	local from, units, window = unpack(SUM, bytes)
	if window < 1 or window > call.window then return total_answer(GARBAGE, ledger) end
	if not call.is_member then return total_answer(STRANGER, ledger) end
	local total = read_total(ledger, call, key, window)
	if not total then return total_answer(GARBAGE, ledger) end
	local cell, cells, all = add_units(ledger, total, from, units, window)
	local packed = {pack('<c8I8I8I4', ledger.run, ledger.learns_from, cell, window)}
	for i = 0, CELLS do packed[i + 2] = pack('<I4', cells[i]) end
	redis.call('SET', key, concat(packed), 'PX', window + total.size)
	return total_answer(DONE, ledger, all)
end
