#!lua name=ringfence
-- SPDX-License-Identifier: GPL-2.0
-- The ledger of a fleet, as a library of functions for Redis 7 or Valkey: the rules, for one bucket
-- of sources at a time. docs/fleet-proof.md describes the scheme, the proof, which data is stored
-- and for how long; user/fleet/wire.h the calls. tests/fleet/model/ implements the same rules in C,
-- for random walks and exhaustive searches, and tests/engine compares both call by call.
--
-- Members. A slot and a nonce identify a member. Its heartbeats preserve its claims; after G + W
-- without a heartbeat, the member and its claims are void. `joined` identifies one membership: a
-- new membership starts when a slot is taken, and for all hosts when recovery starts. A call with a
-- different `joined` gets the current one as the reply and changes nothing. A member is complete as
-- soon as it has reported that all its claims since it joined are recorded; only then can the host
-- rely on its shares for longer.
--
-- Claims. claim = max(has, used - first, granted), and the sum of all grants never exceeds P. A
-- claim follows the latest report of its host, by sequence number, up or down. Therefore lost,
-- duplicate and late reports are harmless.
--
-- Recovery (`is_learning`). A host that is missing from the ledger might still use a share. During
-- recovery, claims are recorded, but not granted. It starts with an empty ledger, with a new
-- run of the server, and when no call arrived for G/2 of the server's time or the server's clock
-- was set back by that much. It stops when all members known to any host are complete, but not
-- before G, when unknown hosts have gone offline; and after G + W in any case, when previously
-- passed packets no longer count.
--
-- Keys. All members use the same key of buckets, see rf_bucket_by(): with two keys, a source would
-- have its full limit in each of two buckets. A host whose key differs from the key of a member
-- with a heartbeat in the last G + W is foreign, and changes nothing. Without any such member, a
-- host with a different key can join: all other members are removed, and recovery starts.
--
-- Identifiers of eight bytes (nonce, joined, run, key) are strings here, because a Lua number has
-- 53 bits.

local SLOTS, REPORTS_MAX = 1024, 64
local GRACE_MAX, WINDOW_MAX = 60000, 2592000000
local KEPT = 600000 -- lifetime of the hosts of a bucket, beyond G + W
local SPARE = 60000 -- lifetime of a claim, beyond G + 2 W, but at most KEPT beyond G + W
local IDLE = 10000  -- lifetime of a record without claims that a host requests: longer than a host's backoff
local LEFT = 500    -- lifetime of a record that no host requests: longer than the delay of a late report

local DONE, REFUSED, STRANGER, OLD, GARBAGE, FOREIGN = 0, 1, 2, 3, 4, 5

local NONE = '\0\0\0\0\0\0\0\0'
local CALL, CALL_SIZE = '<I4c8c8I4I4', 28
local REPORT, REPORT_SIZE = '<IIIIIII', 28
-- The hosts of a bucket: a head, then each slot that is or was in use, in ascending order.
local HEAD, HEAD_SIZE = '<c8I8I8I4I2BI4c8c8', 51
local HOST, HOST_SIZE = '<I2I2Bc8c8I8', 29
-- A record: contested-until, then each claim: its owner, the amount, and the sequence number of the
-- report that set it. Owner: the generation, and from bit 16 the slot. VAIN marks a request that
-- could not be satisfied.
local CLAIM, CLAIM_SIZE, VAIN = '<III', 12, 2147483648
local SHORT, SHORT_SIZE, FEW = '<I8', 8, 3
-- With more claims, the head also caches the totals, while they are valid: the epoch, the oldest
-- heartbeat, the sum and the number of sharers.
local LONG, LONG_SIZE = '<I8I4I6I6I2', 26
local RECORD_MAX = LONG_SIZE + SLOTS * CLAIM_SIZE

-- The server's libraries, which exist only when a function is called.
local pack, unpack, floor, max, min, sub, concat

-- All buckets, by the names of their hosts' keys.
local buckets = {}
for b = 0, 15 do
	local prefix = 'rf:{' .. b .. '}:'
	buckets[prefix .. 'hosts'] = {slot = prefix .. 'h:', record = prefix .. 'l:'}
end
