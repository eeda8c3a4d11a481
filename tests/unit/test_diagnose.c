// SPDX-License-Identifier: GPL-2.0
/*
 * The findings of `doctor` on simulated machines and interfaces: given the facts, it reports one
 * finding, with the command that fixes it, and no other problem.
 */
#include "findings.h"

#include <errno.h>
#include <linux/capability.h>

/* ---- interfaces ---- */

#define COMBINED(count, max) \
	.has_channels = true, .channels = {.combined = (count), .combined_max = (max)}
#define APART(rx_count, tx_count, max) \
	.has_channels = true,          \
	.channels = {.rx = (rx_count), .tx = (tx_count), .rx_max = (max), .tx_max = (max)}

#define FENCED .program_id = 5, .program_name = "ringfence", .ours = true

struct interface_row {
	struct rf_interface_facts facts;
	const char *check;
	enum rf_level level;
	const char *part; /* of the text */
	const char *command;
	int problems; /* in all */
};

static void diagnose_interface(void **state)
{
	const struct interface_row *row = *state;
	struct rf_findings findings = {};

	rf_diagnose_interface(&row->facts, &findings);
	assert_finding(&findings, row->check, row->level, row->part, row->command);
	assert_int_equal(rf_findings_count(&findings, RF_PROBLEM), row->problems);
}

#define ROW(title, ...) \
	UNIT_ROW_OF(title, diagnose_interface, (&(struct interface_row){__VA_ARGS__}))
#define FINE(title, says, part, ...) \
	ROW("doctor, '" says "' is ok: " title, FACTS(__VA_ARGS__), says, RF_OK, part, "", 0)
#define NOTED(title, says, part, command, ...)                                              \
	ROW("doctor, '" says "' is noted: " title, FACTS(__VA_ARGS__), says, RF_NOTE, part, \
	    command, 0)
#define WRONG(title, says, part, command, ...)                                                     \
	ROW("doctor, '" says "' is a problem: " title, FACTS(__VA_ARGS__), says, RF_PROBLEM, part, \
	    command, 1)

/*
 * An interface without Ethernet headers: the program would pass everything, so this is the only
 * finding.
 */
#define BARE(title, type, called, command, ...)                                  \
	WRONG(title, "frames", called "): a fence here limits nothing", command, \
	      .hardware = (type), .native = RF_NO, __VA_ARGS__)

/* ---- a whole machine of interfaces ---- */

static void relate_interfaces(void **state)
{
	struct rf_interface_facts facts[] = {
		{.name = "eth0", .master = "bond0"},
		{.name = "eth1", .master = "bond0", .program_id = 7},
		{.name = "bond0",
		 .kind = "bond",
		 .driver = "bonding",
		 .program_id = 8,
		 .ours = true},
		{.name = "v10", .kind = "vlan", .parent = "bond0"},
		{.name = "v20", .kind = "vlan", .parent = "eth1"},
		{.name = "va", .kind = "veth", .parent = "vb"},
		{.name = "vb", .kind = "veth", APART(1, 3, 4)},
		{.name = "vc", .kind = "veth", .parent = "gone", .master = "gone"},
		{.name = "tun0", .hardware = ARPHRD_NONE},
		{.name = "gre0", .hardware = ARPHRD_IPGRE, .parent = "tun0"},
		{.name = "gre1", .hardware = ARPHRD_IPGRE, .parent = "eth9"},
		{.name = "eth9", .hardware = ARPHRD_ETHER},
	};

	(void)state;
	rf_diagnose_relate(facts, UNIT_ARRAY_SIZE(facts));
	assert_string_equal(facts[0].master_kind, "bond");
	assert_string_equal(facts[0].master_driver, "bonding");
	assert_true(facts[0].master_occupied && facts[0].master_fenced);
	assert_string_equal(facts[2].ports, "eth0 eth1");
	assert_int_equal(facts[2].port_count, 2);
	assert_int_equal(facts[2].ports_fenced, 0); /* eth1 has a foreign program */
	assert_true(facts[3].parent_fenced);
	assert_false(facts[4].parent_fenced);
	assert_int_equal(facts[5].peer_tx, 3);
	assert_string_equal(facts[7].master_kind, "");
	assert_int_equal(facts[7].peer_tx, 0);
	assert_false(facts[9].parent_ethernet);
	assert_true(facts[10].parent_ethernet);
}

/* Names that do not fit are left out, but all ports are counted. */
static void relate_many_ports(void **state)
{
	struct rf_interface_facts facts[41] = {{.name = "br0", .kind = "bridge"}};

	(void)state;
	for (int i = 1; i <= 40; i++)
		facts[i] = (struct rf_interface_facts){
			.name = "a-long-name-000", .master = "br0", .program_id = 1, .ours = true};
	rf_diagnose_relate(facts, 41);
	assert_int_equal(facts[0].port_count, 40);
	assert_int_equal(facts[0].ports_fenced, 40);
	assert_int_equal(facts[0].ports_named, 6);
	assert_int_equal(strlen(facts[0].ports), 6 * 15 + 5);
}

/*
 * A running fence gets no finding about obstacles to an attach, except in generic mode, but one
 * about later changes.
 */
static void say_what_was_changed(void **state)
{
	struct rf_interface_facts facts =
		FACTS(.driver = "ixgbe", .mtu = 9000, .lro = RF_YES, .program_id = 5,
		      .program_name = "ringfence", .ours = true);
	struct rf_findings native = {}, generic = {};

	(void)state;
	rf_diagnose_interface(&facts, &native);
	assert_finding(&native, "mtu", RF_PROBLEM, "larger than 3050 to a fence",
		       "ip link set dev eth0 mtu 3050");
	assert_finding(&native, "lro", RF_NOTE, "under an attached fence",
		       "ethtool -K eth0 lro off");
	assert_finding(&native, "program", RF_OK, "native mode (program id 5)", "");
	facts.generic = true;
	rf_diagnose_interface(&facts, &generic);
	assert_finding(&generic, "program", RF_NOTE, "merged by the kernel (GRO)",
		       "ethtool -K eth0 gro off");
	assert_finding(&generic, "mtu", RF_NOTE, "9000", "ip link set dev eth0 mtu 3050");
	assert_finding(&generic, "lro", RF_NOTE, "is on", "ethtool -K eth0 lro off");
	assert_int_equal(rf_findings_count(&generic, RF_PROBLEM), 0);
}

/* ---- the machine ---- */

#define CAN(capability) (1ULL << (capability))
#define ENOUGH (CAN(CAP_SYS_ADMIN) | CAN(CAP_NET_ADMIN))

static struct rf_machine_facts machine_facts(void)
{
	struct rf_machine_facts machine = {
		.release = "5.10.0-1",
		.btf = true,
		.bpffs = true,
		.capabilities = ENOUGH,
		.lockdown = RF_LOCKDOWN_NONE,
	};

	for (int i = 0; i < RF_FEATURE_COUNT; i++)
		machine.features.has[i] = RF_YES;
	return machine;
}

struct machine_row {
	void (*change)(struct rf_machine_facts *machine);
	const char *check;
	enum rf_level level;
	const char *part, *command;
	int problems;
};

static void diagnose_machine(void **state)
{
	const struct machine_row *row = *state;
	struct rf_machine_facts machine = machine_facts();
	struct rf_findings findings = {};

	row->change(&machine);
	rf_diagnose_machine(&machine, &findings);
	assert_finding(&findings, row->check, row->level, row->part, row->command);
	assert_int_equal(rf_findings_count(&findings, RF_PROBLEM), row->problems);
}

static void nothing(struct rf_machine_facts *machine)
{
	(void)machine;
}

static void no_atomics(struct rf_machine_facts *machine)
{
	machine->features.has[RF_FEATURE_ATOMICS] = RF_NO;
	machine->load_err = -EINVAL;
}

static void no_link(struct rf_machine_facts *machine)
{
	machine->features.has[RF_FEATURE_LINK] = RF_NO;
}

static void no_syscall(struct rf_machine_facts *machine)
{
	machine->features.has[RF_FEATURE_SYSCALL] = RF_NO;
}

static void no_frags(struct rf_machine_facts *machine)
{
	machine->features.has[RF_FEATURE_FRAGS] = RF_NO;
}

static void no_jit(struct rf_machine_facts *machine)
{
	machine->features.has[RF_FEATURE_JIT] = RF_NO;
}

static void no_btf(struct rf_machine_facts *machine)
{
	machine->btf = false;
}

static void no_bpffs(struct rf_machine_facts *machine)
{
	machine->bpffs = false;
}

static void locked(struct rf_machine_facts *machine)
{
	machine->lockdown = RF_LOCKDOWN_CONFIDENTIALITY;
}

static void no_net_admin(struct rf_machine_facts *machine)
{
	machine->capabilities = CAN(CAP_SYS_ADMIN);
}

static void just_enough(struct rf_machine_facts *machine)
{
	machine->capabilities = CAN(CAP_BPF) | CAN(CAP_PERFMON) | CAN(CAP_NET_ADMIN);
}

static void container(struct rf_machine_facts *machine)
{
	machine->in_user_namespace = true;
}

static void no_perfmon(struct rf_machine_facts *machine)
{
	machine->capabilities = CAN(CAP_BPF) | CAN(CAP_NET_ADMIN);
	machine->features.has[RF_FEATURE_ITERATORS] = RF_NOT_KNOWN;
	machine->load_err = -EACCES;
}

static void no_iterators(struct rf_machine_facts *machine)
{
	machine->features.has[RF_FEATURE_ITERATORS] = RF_NOT_KNOWN;
}

static void no_files(struct rf_machine_facts *machine)
{
	machine->features.has[RF_FEATURE_BATCH] = RF_NOT_KNOWN;
	machine->features.ran_out = EMFILE;
	machine->load_err = -EMFILE;
}

static void no_files_at_all(struct rf_machine_facts *machine)
{
	no_files(machine);
	memset(machine->features.has, 0, sizeof(machine->features.has));
}

static void nobody(struct rf_machine_facts *machine)
{
	machine->features = (struct rf_features){};
	machine->capabilities = 0;
	machine->load_err = -EPERM;
}

#define MACHINE(title, ...)                                          \
	UNIT_ROW_OF("doctor of a machine: " title, diagnose_machine, \
		    (&(struct machine_row){__VA_ARGS__}))

/* The report for each error of a program that does not load. */
static void name_missing(void **state)
{
	struct rf_features features = machine_facts().features;
	char text[RF_MISSING_TEXT_SIZE];

	(void)state;
	assert_false(rf_features_missing(&features, text));
	features.has[RF_FEATURE_SYSCALL] = RF_NO; /* for rules, not to load it */
	features.has[RF_FEATURE_FRAGS] = RF_NO;
	features.has[RF_FEATURE_ATOMICS] = RF_NOT_KNOWN;
	assert_false(rf_features_missing(&features, text));
	features.has[RF_FEATURE_ATOMICS] = RF_NO;
	assert_true(rf_features_missing(&features, text));
	assert_string_equal(text,
			    "atomic operations that return a value (fetch-add, compare-and-swap), "
			    "which came with Linux 5.12");
	features.has[RF_FEATURE_JIFFIES] = RF_NO;
	assert_true(rf_features_missing(&features, text));
	assert_non_null(strstr(text, "5.12, and the helper bpf_jiffies64, which came with "
				     "Linux 5.5"));
	for (int i = 0; i < RF_FEATURE_COUNT; i++)
		features.has[i] = RF_NO;
	assert_true(rf_features_missing(&features, text));
	assert_true(strlen(text) < sizeof(text));
}

static const struct CMUnitTest tests[] = {
	FINE("a driver that the kernel vouches for", "native", "according to the kernel",
	     .driver = "ice"),
	WRONG("a driver that has no XDP", "native", "no native mode here, according to the kernel",
	      GENERIC, .driver = "e1000", .native = RF_NO),
	FINE("an old kernel, a driver of the list", "native", "since Linux 5.6", .driver = "ena",
	     .asked_kernel = false),
	NOTED("an old kernel, a driver that nobody knows", "native", "not known", GENERIC,
	      .driver = "frob", .asked_kernel = false),
	NOTED("an interface that is down", "up", "it is down", "ip link set dev eth0 up",
	      .driver = "ice", .is_up = false),

	WRONG("a program of another user", "program", "'other' (id 7)",
	      "ip link set dev eth0 xdp off", .driver = "ice", .program_id = 7,
	      .program_name = "other"),
	WRONG("a program of another user that a link holds", "program", "held by bpf_link 9",
	      "bpftool link detach id 9", .driver = "ice", .program_id = 7, .program_name = "other",
	      .link_id = 9),

	BARE("a tun", ARPHRD_NONE, "65534: none, as of tun and wireguard", "", .driver = "tun"),
	BARE("a tun whose driver had native mode", ARPHRD_NONE, "tun and wireguard", "",
	     .driver = "tun", .native = RF_YES),
	BARE("a wireguard", ARPHRD_NONE, "tun and wireguard", "", .kind = "wireguard"),
	BARE("an ipip tunnel on an interface", ARPHRD_TUNNEL, "ipip", "ringfence attach eth1",
	     .kind = "ipip", .parent = "eth1", .parent_ethernet = true),
	BARE("an ipip tunnel on an interface with a fence", ARPHRD_TUNNEL, "ipip", "",
	     .kind = "ipip", .parent = "eth1", .parent_ethernet = true, .parent_fenced = true),
	BARE("a gre tunnel on a tun", ARPHRD_IPGRE, "gre", "", .kind = "gre", .parent = "tun0"),
	BARE("a sit tunnel", ARPHRD_SIT, "sit", "", .kind = "sit"),
	BARE("a ppp link", ARPHRD_PPP, "ppp", "", .kind = "ppp"),
	BARE("some other hardware", ARPHRD_CAN, "280: see linux/if_arp.h", "", .kind = "vcan"),
	BARE("a fence on a tun", ARPHRD_NONE, "tun and wireguard", "ringfence detach eth0",
	     .driver = "tun", .program_id = 5, .program_name = "ringfence", .ours = true,
	     .generic = true),
	WRONG("the loopback interface, which has Ethernet headers", "native", "loopback interface",
	      GENERIC, .hardware = ARPHRD_LOOPBACK, .is_loopback = true),

	WRONG("a VLAN", "native", "arrive on eth1: a fence there sees them, with their tags",
	      "ringfence attach eth1", .kind = "vlan", .parent = "eth1", .native = RF_NO),
	FINE("a VLAN on an interface with a fence", "native", "arrive on eth1", .kind = "vlan",
	     .parent = "eth1", .parent_fenced = true, .native = RF_NO),
	WRONG("a macvlan of a container", "native", "in another network namespace", GENERIC,
	      .kind = "macvlan", .native = RF_NO),
	NOTED("a member of a bond", "member", "a fence there covers all", "ringfence attach bond0",
	      .driver = "ice", .master = "bond0", .master_kind = "bond"),
	FINE("a member of a bond with a fence", "member", "whose fence covers it", .driver = "ice",
	     .master = "bond0", .master_kind = "bond", .master_occupied = true,
	     .master_fenced = true),
	WRONG("a member of a bond with a program", "member", "no member can have one",
	      "ringfence doctor bond0", .driver = "ice", .master = "bond0", .master_kind = "bond",
	      .master_occupied = true),
	FINE("a port of a bridge", "port", "of br0", .driver = "ice", .master = "br0",
	     .master_kind = "bridge"),
	FINE("a bond in a mode with XDP", "bond", "mode 802.3ad, of eth0 eth1", .driver = "bonding",
	     .kind = "bond", .bond_mode = 4, .port_count = 2, .ports = "eth0 eth1"),
	WRONG("a bond in a mode without XDP", "bond", "mode balance-alb", GENERIC,
	      .driver = "bonding", .kind = "bond", .bond_mode = 6, .port_count = 2,
	      .native = RF_NO),
	WRONG("a bond without members", "members", "no member", "", .driver = "bonding",
	      .kind = "bond", .bond_mode = 1, .native = RF_NO),
	WRONG("a bond of drivers without XDP", "native", "the driver of a member", GENERIC,
	      .driver = "bonding", .kind = "bond", .bond_mode = 1, .port_count = 1,
	      .native = RF_NO),
	WRONG("a bridge", "native", "its ports: eth1 eth2", "ringfence attach eth1 eth2 fence eth0",
	      .kind = "bridge", .native = RF_NO, .ports = "eth1 eth2", .port_count = 2,
	      .ports_named = 2, .ports_fenced = 1),
	WRONG("a bridge of more ports than are named", "native",
	      "its 3 ports can have it: eth1 eth2, and others", "", .kind = "bridge",
	      .native = RF_NO, .ports = "eth1 eth2", .port_count = 3, .ports_named = 2),
	WRONG("a bridge whose name no fence can have", "native", "its ports: eth1 eth2",
	      "ringfence attach eth1 eth2 fence ports", .name = "br0.5", .kind = "bridge",
	      .native = RF_NO, .ports = "eth1 eth2", .port_count = 2, .ports_named = 2),
	WRONG("a bridge without ports", "native", "its ports can have it", GENERIC,
	      .kind = "bridge", .native = RF_NO),

	FINE("jumbo frames in several buffers", "mtu", "several buffers", .driver = "ice",
	     .mtu = 9000, .frags = RF_YES),
	WRONG("jumbo frames in one buffer", "mtu", "is rejected", "ip link set dev eth0 mtu 3050",
	      .driver = "ixgbe", .mtu = 9000),
	WRONG("a frame a byte larger than one buffer", "mtu", "3499",
	      "ip link set dev eth0 mtu 3498", .driver = "ena", .mtu = 3499, .asked_kernel = false),
	FINE("jumbo frames of an old kernel, by the list", "mtu", "several buffers",
	     .driver = "mlx5_core", .mtu = 9000, .asked_kernel = false),
	NOTED("jumbo frames of a driver that nobody knows", "mtu", "is unknown",
	      "ip link set dev eth0 mtu 3498", .driver = "frob", .mtu = 9000,
	      .asked_kernel = false),

	NOTED("LRO of a driver that nobody knows", "lro", "some drivers refuse",
	      "ethtool -K eth0 lro off", .driver = "frob", .lro = RF_YES),
	WRONG("virtio, merging by the host for good", "gro-hw", "guest_tso4", GENERIC,
	      .driver = "virtio_net", .gro_hw = RF_YES, .gro_hw_fixed = true),
	FINE("virtio, merging by the host, which the driver ends", "lro", "off",
	     .driver = "virtio_net", .gro_hw = RF_YES),

	WRONG("HW-GRO of mlx5", "gro-hw", "refuses native mode", "ethtool -K eth0 rx-gro-hw off",
	      .driver = "mlx5_core", .gro_hw = RF_YES),
	WRONG("LRO of ixgbe", "lro", "refuses native mode", "ethtool -K eth0 lro off",
	      .driver = "ixgbe", .lro = RF_YES),
	FINE("LRO of vmxnet3", "lro", "switches it off", .driver = "vmxnet3", .lro = RF_YES),
	FINE("LRO of a bond", "lro", "no effect", .driver = "bonding", .kind = "bond",
	     .bond_mode = 1, .port_count = 1, .ports = "eth1", .lro = RF_YES),
	NOTED("LRO switched on under a fence", "lro", "under an attached fence",
	      "ethtool -K eth0 lro off", .driver = "mlx5_core", .lro = RF_YES, FENCED),
	FINE("virtio_net with a fence, whose GRO-HW is shown as on", "drops", "rxN_xdp_drops",
	     .driver = "virtio_net", .gro_hw = RF_YES, FENCED),
	FINE("the largest frame of one buffer of virtio_net before several buffers", "mtu", "4064",
	     .driver = "virtio_net", .kernel = {6, 1}, .asked_kernel = false, .mtu = 4064),
	WRONG("jumbo frames of virtio_net on Linux 6.1", "mtu",
	      "since Linux 6.3; this is Linux 6.1", "ip link set dev eth0 mtu 4064",
	      .driver = "virtio_net", .kernel = {6, 1}, .asked_kernel = false, .mtu = 9000),
	WRONG("jumbo frames of mlx5 with striding RQ", "mtu", "private flag rx_striding_rq off",
	      "ethtool --set-priv-flags eth0 rx_striding_rq off", .driver = "mlx5_core",
	      .mtu = 9000),
	NOTED("vmxnet3 with a fence", "link", "forgets the program when the link goes down",
	      "ringfence attach eth0", .driver = "vmxnet3", FENCED),
	FINE("the link of igc", "link", "an upgrade of the program restart the link",
	     .driver = "igc"),
	FINE("the link of virtio_net", "link", "leave the link up", .driver = "virtio_net"),
	NOTED("one queue of virtio_net with a fence", "queues", "refuses to change that",
	      "ringfence detach eth0 && ethtool -L eth0 combined 4 && ringfence attach eth0",
	      .driver = "virtio_net", COMBINED(1, 8), FENCED),
	NOTED("one queue of virtio_net without a fence", "queues", "1 of 4 CPUs does",
	      "ethtool -L eth0 combined 4", .driver = "virtio_net", COMBINED(1, 8)),
	WRONG("the VF of hv_netvsc", "vf", "attach to eth1, never to this interface",
	      "ringfence attach eth1", .driver = "mlx5_core", .lro = RF_YES, .master = "eth1",
	      .master_driver = "hv_netvsc"),
	WRONG("the VF of hv_netvsc with a fence", "vf", "attach to eth1",
	      "ringfence detach eth0 && ringfence attach eth1", .driver = "mlx5_core",
	      .master = "eth1", .master_driver = "hv_netvsc", FENCED),
	FINE("the VF of hv_netvsc with a fence on the synthetic interface", "vf",
	     "passes its fence on", .driver = "mana", .master = "eth1",
	     .master_driver = "hv_netvsc", .master_occupied = true, .master_fenced = true, FENCED),

	FINE("virtio, with queues to spare", "queues to send", "for each CPU",
	     .driver = "virtio_net", COMBINED(4, 8)),
	NOTED("virtio, with too few queues to spare", "queues to send", "4 of at most 6",
	      "ethtool -L eth0 combined 2", .driver = "virtio_net", COMBINED(4, 6)),
	NOTED("virtio, with no way to get queues to spare", "queues to send", "4 of at most 4", "",
	      .driver = "virtio_net", COMBINED(4, 4)),
	FINE("ena, with half of its queues", "queues to send", "4 are free", .driver = "ena",
	     COMBINED(4, 8)),
	WRONG("ena, with more than half of its queues", "queues to send", "5 queues of at most 8",
	      "ethtool -L eth0 combined 4", .driver = "ena", COMBINED(5, 8)),
	WRONG("ena, with its only queue", "queues to send", "1 queue", GENERIC, .driver = "ena",
	      COMBINED(1, 1)),
	FINE("gve, with half of its queues", "queues to send", "8 are free", .driver = "gve",
	     APART(8, 8, 16)),
	WRONG("gve, with more than half of its queues", "queues to send", "gve refuses",
	      "ethtool -L eth0 rx 8 tx 8", .driver = "gve", APART(16, 16, 16)),
	WRONG("gve, with other queues to send", "queues to send", "gve refuses",
	      "ethtool -L eth0 rx 8 tx 8", .driver = "gve", APART(4, 8, 16)),
	WRONG("bnxt, one direction each", "combined", "for one direction",
	      "ethtool -L eth0 rx 0 tx 0 combined 4", .driver = "bnxt_en", APART(4, 4, 8)),
	WRONG("a veth whose peer sends by too many queues", "peer",
	      "vb has more send queues than eth0 has receive queues", "ethtool -L eth0 rx 3",
	      .driver = "veth", .kind = "veth", .parent = "vb", .native = RF_NO, .peer_tx = 3,
	      APART(1, 1, 4)),
	WRONG("a veth whose peer sends by more queues than it can have", "peer",
	      "vb has more send queues than eth0 has receive queues", "ethtool -L vb tx 2",
	      .driver = "veth", .kind = "veth", .parent = "vb", .native = RF_NO, .peer_tx = 3,
	      APART(2, 1, 2)),
	WRONG("a veth whose peer is in another network namespace", "peer",
	      "in another network namespace", "ethtool -L eth0 rx 4", .driver = "veth",
	      .kind = "veth", .native = RF_NO, APART(1, 1, 4)),
	WRONG("a veth whose peer sends by too many queues, on a kernel that cannot be asked",
	      "peer", "vb has more send queues than eth0 has receive queues",
	      "ethtool -L eth0 rx 3", .driver = "veth", .kind = "veth", .parent = "vb",
	      .asked_kernel = false, .peer_tx = 3, APART(1, 1, 4)),

	FINE("a queue for each CPU", "queues", "4 receive queues, 4 CPUs", .driver = "ice",
	     COMBINED(4, 64)),
	NOTED("one queue for four CPUs", "queues", "1 of 4 CPUs does", "ethtool -L eth0 combined 4",
	      .driver = "ice", COMBINED(1, 64)),
	NOTED("one queue of ena, which may have two beside a fence", "queues", "1 of 4 CPUs does",
	      "ethtool -L eth0 combined 2", .driver = "ena", COMBINED(1, 4)),
	FINE("as many queues as the driver has", "queues", "2 receive queues, 4 CPUs",
	     .driver = "ice", COMBINED(2, 2)),
	FINE("a table of RSS that uses all queues", "spread", "all 4", .driver = "ice", .rings = 4,
	     .rings_used = 4),
	NOTED("a table of RSS that uses some queues", "spread", "3 of 4", "ethtool -X eth0 equal 4",
	      .driver = "ice", .rings = 4, .rings_used = 3),
	NOTED("a table of RSS that uses one queue", "spread", "one CPU does all",
	      "ethtool -X eth0 equal 4", .driver = "ice", .rings = 4, .rings_used = 1),

	WRONG("another program", "program", "'frob' (id 9)", "ip link set dev eth0 xdp off",
	      .driver = "ice", .program_id = 9, .program_name = "frob"),
	WRONG("another program in generic mode", "program", "'frob' (id 9)",
	      "ip link set dev eth0 xdpgeneric off", .driver = "ice", .program_id = 9,
	      .program_name = "frob", .generic = true),
	WRONG("libxdp's dispatcher", "program", "libxdp's dispatcher",
	      "ringfence attach eth0 chain", .driver = "ice", .program_id = 9,
	      .program_name = "xdp_dispatcher"),
	NOTED("a program that may not be looked at", "program",
	      "only CAP_SYS_ADMIN can read its owner", "", .driver = "ice", .program_id = 9),
	NOTED("a fence in generic mode for no reason", "program", "forgets",
	      "ringfence detach eth0 && ringfence attach eth0", .driver = "ice", .program_id = 9,
	      .program_name = "ringfence", .ours = true, .generic = true),
	UNIT_ROW("doctor finds how interfaces are related", relate_interfaces),
	UNIT_ROW("doctor counts the ports of a large bridge", relate_many_ports),
	UNIT_ROW("doctor of a fence in native mode names what was changed since",
		 say_what_was_changed),

	MACHINE("a machine that has every feature", nothing, "program", RF_OK, "loads", "", 0),
	MACHINE("no atomic operations: the feature", no_atomics, "atomics", RF_PROBLEM,
		"Linux 5.10.0-1 lacks atomic operations", "", 2),
	MACHINE("no atomic operations: the program", no_atomics, "program", RF_PROBLEM,
		"Invalid argument", "", 2),
	MACHINE("no links of XDP", no_link, "link", RF_PROBLEM, "attach by 'ip link'", "", 1),
	MACHINE("no program to read the clock", no_syscall, "syscall", RF_PROBLEM,
		"rules cannot be set", "", 1),
	MACHINE("no frames in several buffers", no_frags, "frags", RF_NOTE, "jumbo MTU", "", 0),
	MACHINE("no JIT", no_jit, "jit", RF_NOTE, "slow", "sysctl -w net.core.bpf_jit_enable=1", 0),
	MACHINE("no JIT, and so no iterators that work", no_jit, "iterators", RF_NOTE,
		"need the BPF JIT: no counters to 'cat'", "", 0),
	MACHINE("no BTF of the kernel", no_btf, "btf", RF_NOTE, "only iterators", "", 0),
	MACHINE("no BPF file system", no_bpffs, "bpffs", RF_PROBLEM, "no BPF file system",
		"mount -t bpf -o mode=0700 bpf /sys/fs/bpf", 1),
	MACHINE("a kernel that is locked down", locked, "lockdown", RF_NOTE, "confidentiality", "",
		0),
	MACHINE("without CAP_NET_ADMIN", no_net_admin, "privileges", RF_PROBLEM,
		"lacks CAP_NET_ADMIN, which", "sudo ringfence doctor", 1),
	MACHINE("three capabilities", just_enough, "privileges", RF_NOTE, "CAP_SYS_ADMIN only", "",
		0),
	MACHINE("without CAP_PERFMON", no_perfmon, "privileges", RF_PROBLEM,
		"lacks CAP_PERFMON, which", "sudo ringfence doctor", 1),
	MACHINE("without CAP_PERFMON, what takes it to try", no_perfmon, "iterators", RF_NOTE,
		"not known", "", 1),
	MACHINE("a kernel that forbids iterators to root", no_iterators, "iterators", RF_NOTE,
		"Linux 5.10.0-1 forbids BPF iterators over maps, also to root: no counters", "", 0),
	MACHINE("too few files to load it", no_files, "program", RF_PROBLEM, "too few files",
		"ulimit -n 1024", 1),
	MACHINE("too few files to try a feature", no_files, "batch", RF_NOTE,
		"not known: trying it failed: Too many open files", "", 1),
	MACHINE("too few files to try anything", no_files_at_all, "xdp", RF_NOTE,
		"not known: trying it failed: Too many open files", "", 1),
	MACHINE("root of a container", container, "privileges", RF_PROBLEM, "user namespace", "",
		1),
	MACHINE("no capability", nobody, "privileges", RF_PROBLEM,
		"lacks CAP_BPF, CAP_NET_ADMIN, CAP_PERFMON, which", "sudo ringfence doctor", 1),
	MACHINE("no capability to try the kernel", nobody, "kernel", RF_NOTE,
		"the features of Linux 5.10.0-1 are not known", "", 1),
	UNIT_ROW("an error names the missing features", name_missing),
};

int main(void)
{
	return cmocka_run_group_tests(tests, NULL, NULL);
}
