// SPDX-License-Identifier: GPL-2.0
/* Do the packets of the fence's interfaces meet its program? */
#include <string.h>

#include "base/netlink.h"
#include "snapshot/scanner.h"

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

void rf_scan_received(struct rf_scanner *scanner)
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

static void judge(struct rf_scanner *scanner, int i, const struct rf_snapshot *snapshot,
		  const struct rf_by_interface *sums, struct rf_bypass *bypass)
{
	const struct rf_interface *interface = &scanner->fence.interface[i];
	struct rf_interface_watch *watch = find_watch(scanner, i);
	struct rf_bypass_sample sample = {
		.time_ns = snapshot->awake_ns,
		.counted_before = watch->counted,
		.rx_packets = watch->rx_packets,
	};

	sample.counted_after = rf_bypass_count(&scanner->fence, interface, &snapshot->counters,
					       sums, &sample.is_shared);
	if (sample.counted_before > sample.counted_after)
		sample.counted_before = sample.counted_after; /* counted anew */
	watch->counted = sample.counted_after;
	if (rf_bypass_applies(&scanner->fence, interface))
		rf_bypass_judge(&watch->look, &sample, bypass);
}

void rf_scan_interfaces(struct rf_scanner *scanner, struct rf_snapshot *snapshot)
{
	struct rf_by_interface sums;
	struct rf_error ignored;

	if (rf_fence_by_interface(&scanner->fence, &sums, &ignored))
		return;
	snapshot->interfaces = count_interfaces(scanner);
	for (int i = 0; i < snapshot->interfaces; i++) {
		struct rf_interface_seen *seen = &snapshot->interface[i];

		memcpy(seen->name, scanner->fence.interface[i].name, sizeof(seen->name));
		judge(scanner, i, snapshot, &sums, &seen->bypass);
	}
}
