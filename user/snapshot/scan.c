// SPDX-License-Identifier: GPL-2.0
/* Scans of a fence, one after the other: of its fleet, its interfaces and its sources. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/netlink.h"
#include "base/text.h"
#include "base/time.h"
#include "base/units.h"
#include "fleet/socket.h"
#include "snapshot/scanner.h"

/* ---- an agent's report of itself, as user/agent/status.c writes it; pure ---- */

static bool read_members(json_t *members, struct rf_agent_seen *agent)
{
	json_t *slot;
	size_t i;

	if (!json_is_array(members))
		agent->is_settled = false; /* unknown which members are alive */
	json_array_foreach (members, i, slot) {
		const json_int_t number = json_integer_value(slot);

		if (!json_is_integer(slot) || number < 0 || number >= RF_FLEET_HOSTS_MAX)
			return false;
		agent->member[number / 64] |= 1ULL << number % 64;
	}
	return true;
}

static bool read_all(json_t *all, struct rf_agent_seen *agent, uint64_t now_ns)
{
	json_int_t started, written, hosts, grace, slot, shares, contested, sent, put_off;
	json_int_t times = 0, ns = 0; /* an agent of an older build does not report them */
	int alone, learning, refused;
	json_t *members, *trouble;

	if (json_unpack(all,
			"{s:I, s:I, s:I, s:I, s:{s:{s:o}}, s:{s:I, s:i, s:i, s:i, s:o},"
			" s?I, s?I, s:{s:I, s:I}, s:{s:I, s:I}}",
			"started_ns", &started, "written_ns", &written, "hosts", &hosts, "grace_ms",
			&grace, "server", "heartbeats", "last_error", &trouble, "membership",
			"slot", &slot, "offline", &alone, "learning", &learning, "refused",
			&refused, "alive", &members, "offline_count", &times, "offline_ns", &ns,
			"sources", "shares", &shares, "contested", &contested, "counts",
			"requests_sent", &sent, "requests_deferred", &put_off) ||
	    started <= 0 || written < started || hosts < 0 || hosts > RF_FLEET_HOSTS_MAX ||
	    slot < 0 || slot >= RF_FLEET_HOSTS_MAX || grace <= 0 || shares < 0 || contested < 0 ||
	    sent < 0 || put_off < 0 || times < 0 || ns < 0)
		return false;
	*agent = (struct rf_agent_seen){
		.is_up = now_ns < (uint64_t)written + RF_AGENT_STALE_NS,
		.is_settled = !alone && !learning && !refused,
		.started_ns = started,
		.grace_ns = grace * RF_NS_PER_MS,
		.hosts = hosts,
		.slot = slot,
		.shares = shares,
		.contested = contested,
		.asks_sent = sent,
		.asks_put_off = put_off,
		.alone_times = times,
		.alone_ns = ns,
	};
	if (json_is_string(trouble))
		snprintf(agent->trouble, sizeof(agent->trouble), "%s", json_string_value(trouble));
	rf_hide_controls(agent->trouble, false);
	return read_members(members, agent);
}

void rf_agent_read(struct rf_agent_seen *agent, const char *text, uint64_t now_ns)
{
	json_t *all = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

	if (!read_all(all, agent, now_ns))
		*agent = (struct rf_agent_seen){};
	json_decref(all);
}

uint32_t rf_agent_members(const struct rf_agent_seen *agent)
{
	uint32_t members = 0;

	for (int i = 0; i < RF_FLEET_HOSTS_MAX / 64; i++)
		members += __builtin_popcountll(agent->member[i]);
	return members;
}

/* ---- a scan's view of the fleet ---- */

#define TOLD_SIZE (32 << 10) /* 32 limits and a thousand members are less */

static char *read_text(const char *fence, char *text, size_t size)
{
	char path[sizeof(RF_AGENT_STATUS) + RF_NAME_SIZE];
	ssize_t length;
	int fd;

	snprintf(path, sizeof(path), RF_AGENT_STATUS, fence);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return NULL;
	length = read(fd, text, size - 1);
	close(fd);
	text[length > 0 ? length : 0] = '\0';
	return text;
}

/* The same from its file. `rules` are the active ones. */
static void look_at_fleet(struct rf_fleet_seen *seen, const struct rf_fence *fence,
			  const struct rf_bank *rules, uint64_t now_ns)
{
	char text[TOLD_SIZE];

	*seen = (struct rf_fleet_seen){};
	if (!rf_fence_has_shares(fence))
		return;
	for (int i = 0; i < RF_LIMITS_MAX; i++)
		seen->limits += rules->policy[i].id && rules->policy[i].flags & RF_FLEET;
	if (!seen->limits)
		return;
	seen->standing = rf_fence_fleet(fence);
	if (read_text(fence->name, text, sizeof(text)))
		rf_agent_read(&seen->agent, text, now_ns);
}

/* ---- do the packets of the interfaces meet the program? ---- */

static int count_interfaces(const struct rf_scanner *scanner)
{
	const int count = scanner->fence.interfaces;

	return count < RF_SNAPSHOT_INTERFACES ? count : RF_SNAPSHOT_INTERFACES;
}

/* The watch of an interface is in its place, unless interfaces came or went. */
static struct rf_interface_watch *find_watch(struct rf_scanner *scanner, int i)
{
	struct rf_interface_watch *watch = &scanner->interface[i];
	const unsigned int index = scanner->fence.interface[i].index;

	if (watch->look.index == index)
		return watch;
	*watch = (struct rf_interface_watch){};
	rf_bypass_load(&scanner->fence, index, &watch->look);
	watch->counted = watch->look.counted;
	return watch;
}

/* What interfaces received is read before the counters of the fence, and compared after. */
static void read_received(struct rf_scanner *scanner)
{
	struct rf_received received[RF_SNAPSHOT_INTERFACES];
	const int count = count_interfaces(scanner);

	for (int i = 0; i < count; i++) {
		received[i].packets = find_watch(scanner, i)->rx_packets;
		if (!if_indextoname(scanner->fence.interface[i].index, received[i].name))
			*received[i].name = '\0';
	}
	rf_received_read(received, count);
	for (int i = 0; i < count; i++)
		scanner->interface[i].rx_packets = received[i].packets;
}

static void judge_interface(struct rf_scanner *scanner, int i, const struct rf_snapshot *snapshot,
			    struct rf_bypass *bypass)
{
	const struct rf_interface *interface = &scanner->fence.interface[i];
	struct rf_interface_watch *watch = find_watch(scanner, i);
	struct rf_bypass_sample sample = {
		.time_ns = snapshot->awake_ns,
		.counted_before = watch->counted,
		.rx_packets = watch->rx_packets,
	};

	sample.counted_after = rf_bypass_count(&scanner->fence, interface, &snapshot->sums.counters,
					       &snapshot->sums.interfaces, &sample.is_shared);
	if (sample.counted_before > sample.counted_after)
		sample.counted_before = sample.counted_after; /* recounted */
	watch->counted = sample.counted_after;
	if (rf_bypass_applies(&scanner->fence, interface))
		rf_bypass_judge(&watch->look, &sample, bypass);
}

static void see_interfaces(struct rf_scanner *scanner, struct rf_snapshot *snapshot)
{
	snapshot->interfaces = count_interfaces(scanner);
	for (int i = 0; i < snapshot->interfaces; i++) {
		struct rf_interface_seen *seen = &snapshot->interface[i];

		memcpy(seen->name, scanner->fence.interface[i].name, sizeof(seen->name));
		judge_interface(scanner, i, snapshot, &seen->bypass);
	}
}

/* ---- a scanner ---- */

#define BOOT_ID "/proc/sys/kernel/random/boot_id"

/* Ids of maps are unique until the next boot, so they distinguish a fence from its successor. */
static int read_identity(struct rf_scanner *scanner, struct rf_error *error)
{
	FILE *file = fopen(BOOT_ID, "re");
	char boot[40] = "";

	if (!file || !fgets(boot, sizeof(boot), file)) {
		if (file)
			fclose(file);
		return rf_error_failed(error, -EIO, "cannot read " BOOT_ID);
	}
	fclose(file);
	boot[strcspn(boot, "\n")] = '\0';
	snprintf(scanner->identity, sizeof(scanner->identity), "%s-%u", boot,
		 scanner->fence.map_id[RF_MAP_CONFIG]);
	return 0;
}

struct rf_scanner *rf_scanner_open(const char *interface, struct rf_error *error)
{
	struct rf_scanner *scanner = calloc(1, sizeof(*scanner));

	if (!scanner) {
		rf_error_failed(error, -ENOMEM, "cannot watch: %s", strerror(ENOMEM));
		return NULL;
	}
	scanner->fence = RF_FENCE_NONE;
	if (!rf_fence_open_on(&scanner->fence, interface, error) && !read_identity(scanner, error))
		return scanner;
	rf_scanner_close(scanner);
	return NULL;
}

void rf_scanner_close(struct rf_scanner *scanner)
{
	if (!scanner)
		return;
	rf_fence_close(&scanner->fence);
	rf_known_free(&scanner->known);
	rf_follow_free(&scanner->follow);
	free(scanner->aggregate);
	free(scanner);
}

const struct rf_fence *rf_scanner_fence(const struct rf_scanner *scanner)
{
	return &scanner->fence;
}

/* ---- its scans ---- */

static int scan_all(struct rf_scanner *scanner, struct rf_snapshot *snapshot,
		    struct rf_error *error)
{
	const struct rf_fence *fence = &scanner->fence;
	int err = rf_fence_find_interfaces(&scanner->fence, error);

	if (!err)
		return rf_error_failed(error, -ENODEV, "fence '%s': it was detached", fence->name);
	if (err < 0)
		return err;
	read_received(scanner);
	snapshot->standing = rf_fence_standing(fence);
	err = rf_fence_bans(fence, &snapshot->bans, error);
	if (err)
		return err;
	look_at_fleet(&snapshot->fleet, fence, &snapshot->bans.rules, snapshot->awake_ns);
	err = rf_scan_sources(scanner, snapshot, error);
	if (!err)
		see_interfaces(scanner, snapshot);
	return err;
}

int rf_scan(struct rf_scanner *scanner, struct rf_snapshot *snapshot, struct rf_error *error)
{
	const struct rf_fence *fence = &scanner->fence;
	int err;

	*snapshot = (struct rf_snapshot){
		.time_ns = rf_time_wall(),
		.awake_ns = rf_time_awake(),
		.capacity = fence->sources,
	};
	memcpy(snapshot->fence, fence->name, sizeof(snapshot->fence));
	memcpy(snapshot->identity, scanner->identity, sizeof(snapshot->identity));
	err = scan_all(scanner, snapshot, error);
	if (!err)
		scanner->scanned_ns = snapshot->awake_ns;
	return err;
}

void rf_snapshot_free(struct rf_snapshot *snapshot)
{
	free(snapshot->cells);
	rf_bans_free(&snapshot->bans);
	rf_source_rows_free(&snapshot->sources);
}

/* ---- cells between two scans ---- */

void rf_scanner_follow(struct rf_scanner *scanner, const __u64 *key)
{
	if (scanner->has_followers && !key)
		rf_follow_free(&scanner->follow);
	scanner->has_followers = key;
	if (key)
		memcpy(scanner->follow.key, key, sizeof(scanner->follow.key));
}

uint64_t rf_scanner_cells_due_ns(const struct rf_scanner *scanner)
{
	return scanner->has_followers ? rf_follow_due_ns(&scanner->follow) : UINT64_MAX;
}

bool rf_scanner_read_cells(struct rf_scanner *scanner, struct rf_cells_row **cells, size_t *count)
{
	/* Without memory the unread cells are missing, which the data shows. */
	rf_follow_read(&scanner->follow, &scanner->fence, rf_time_awake(), false);
	if (!rf_follow_is_full(&scanner->follow))
		return false;
	*cells = rf_follow_take(&scanner->follow, count);
	return true;
}
