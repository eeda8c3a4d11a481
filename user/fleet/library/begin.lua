#!lua name=ringfence
-- SPDX-License-Identifier: GPL-2.0
-- The ledger of a fleet, as a library of functions of Redis 7 or Valkey: its rules, one bucket of
-- sources at a time. docs/fleet-proof.md has the scheme, the proof, what is kept and for how long;
-- user/fleet/wire.h the calls. tests/fleet/model/ has the same rules in C, for walks and searches,
-- and tests/engine compares both call by call.
--
-- Members. A host is a member by its slot and its nonce. Its heartbeats keep its claims; silent for
-- G + W, it is void, and so are they. `joined` names one membership: a new one begins when a slot
-- is taken, and for all when learning begins. A call that names another is answered by the present
-- one, and changes nothing. A member is complete once it says that it has reported all its claims
-- since it joined; only then may the host trust its shares for longer.
--
-- Claims. claim = max(has, used - f, given), and the sum of what is given never exceeds P. A claim
-- follows its host's newest report, by sequence number, up or down. So a report that was lost does
-- not matter, nor one that comes twice or late.
--
-- Learning. Whoever the ledger has forgotten may still use a share. So while it learns, claims are
-- noted and nothing is given. It begins with an empty ledger, with another run of the engine, and
-- when no call came for G/2 of the engine's time or the time went back by as much. It ends
-- once all members that somebody knew are complete, but not before G, when those whom nobody knew
-- have gone alone; and after G + W in any case, when nothing counts that was passed before.
--
-- Keys. Members have one key of buckets, see rf_bucket_by(): under two, a source would have its
-- whole limit in each of two buckets. A host with another key than a member, one that was heard in
-- G + W, is foreign, and changes nothing. Once there is no such member a host of another key may
-- join: all others are forgotten, and the ledger learns.
--
-- Names of eight bytes (nonce, joined, run, key) are strings here: a number of Lua has 53 bits.

local SLOTS, REPORTS_MAX = 1024, 64
local GRACE_MAX, WINDOW_MAX = 60000, 2592000000
local KEPT = 600000 -- a bucket's hosts, beyond G + W
local SPARE = 60000 -- a claim, beyond G + 2 W, but no longer than KEPT beyond G + W
local IDLE = 10000  -- a record without claims that somebody wants: longer than a host backs off
local LEFT = 500    -- one that nobody wants: longer than a report of before is late

local DONE, REFUSED, STRANGER, OLD, GARBAGE, FOREIGN = 0, 1, 2, 3, 4, 5

local NONE = '\0\0\0\0\0\0\0\0'
local CALL, CALL_SIZE = '<I4c8c8I4I4', 28
local REPORT, REPORT_SIZE = '<IIIIIII', 28
-- The hosts of a bucket: a head, then each slot that is or was a host's, from the lowest.
local HEAD, HEAD_SIZE = '<c8I8I8I4I2BI4c8c8', 51
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
