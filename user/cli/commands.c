// SPDX-License-Identifier: GPL-2.0
/* The command table: all that usage, help and completion are printed from. */
#include "cli/commands.h"

static const struct rf_command_row rows[] = {
	{"attach", "IF… [fence NAME] [mode native|generic] [chain|replace] [OPTION…]",
	 "attach to interfaces, or upgrade in place",
	 "Loads the program and pins it, with a bpf_link for each interface. Without 'fence', "
	 "each\n"
	 "interface gets a fence of its own, called after it; with it, they share one, and so "
	 "share\n"
	 "the budget of a source. An interface that is attached already keeps its windows and\n"
	 "counters; if this build's program is another one, it is swapped atomically.\n"
	 "  dev IF        an interface that is called like a word of these, 'mode' say\n"
	 "  mode          native (default): in the driver. generic: in the stack, slow, and what\n"
	 "                the kernel has merged (GRO) counts as one packet\n"
	 "  sources N     windows for each address family, 65536 by default\n"
	 "  leases N      verdicts that each CPU may keep, 32 bytes each; 0: none. By default the\n"
	 "                CPUs share 131072; twice as many as the sources that a CPU sees at a "
	 "time\n"
	 "                are enough\n"
	 "  confirm TIME  the fence is on trial: unless 'ringfence confirm' is run in time, it\n"
	 "                drops nothing any more, whatever its rules are. Of a new fence only\n"
	 "Another XDP program that is in place stays there, unless one of these is said:\n"
	 "  chain         run beside others, through libxdp's dispatcher: behind those of a\n"
	 "                priority below 20, like xdp-filter, before the others. What an earlier\n"
	 "                one drops is neither counted nor charged. An upgrade in place puts the\n"
	 "                new program beside the old one for a moment, in which packets are\n"
	 "                charged twice, and none passes without a fence\n"
	 "  replace       take it off first, or a fence of another map ABI; between the two\n"
	 "                programs a packet may pass. One that a bpf_link holds is not taken off\n"
	 "'ip -force link set … obj' over a fence that 'ip' attached makes a new, empty one: its\n"
	 "rules, windows and counters are lost, and it drops nothing. Over one that 'ringfence\n"
	 "attach' made it fails; a whole chain it takes off.\n"
	 "Example: ringfence attach eth0\n"
	 "Example: ringfence attach eth0 confirm 5m",
	 rf_cmd_attach},
	{"detach", "IF", "take ringfence off an interface",
	 "Removes ringfence's program, never another one, however it was attached. The fence goes\n"
	 "with its last interface: its rules, windows and counters too. 'detach dev IF' is the "
	 "same.\n"
	 "Example: ringfence detach eth0",
	 rf_cmd_detach},
	{"adopt", "IF", "pin a fence that ip attached, and let a group read it",
	 "A fence that 'ip' attached is found by the id of its program, which takes "
	 "CAP_SYS_ADMIN.\n"
	 "Pinned, it is found by who has CAP_BPF and CAP_NET_ADMIN, and its counters are read by\n"
	 "members of the group 'ringfence', without any capability. 'attach' pins its fences\n"
	 "itself; for the group it does so where that exists.\n"
	 "Example: ringfence adopt eth0",
	 rf_cmd_adopt},
	{"limit add", "NAME rate COUNT/TIME [OPTION…]", "set a new limit",
	 "From now on every source passes at most COUNT packets in any interval of length TIME;\n"
	 "what is over it is dropped. A source is an IPv4 address or an IPv6 /64, unless 'per' "
	 "says\n"
	 "otherwise. There may be 32 limits. A packet is charged to each that is for it, 4 at "
	 "most,\n"
	 "and passes if all of them have room.\n"
	 "  COUNT  100, 20k, 1.5M; of bytes also 10mbit       TIME  500ms, 1s, 10s, 5m, 1h\n"
	 "\n"
	 "Which packets it is for; without these words, all:\n"
	 "  match tcp|udp      for TCP, for UDP\n"
	 "  match icmp         for ICMP and ICMPv6\n"
	 "  match tcp syn      for SYNs without ACK: attempts to connect\n"
	 "  match proto N      for an IP protocol by its number\n"
	 "  match any          for every packet (default)\n"
	 "  match other        for what is not IP, and IPv6 neighbour discovery, which no other\n"
	 "                     limit drops: one window for all of it. One limit at most\n"
	 "  dport P|P-Q|P,Q    of TCP and UDP, those to these ports. Later fragments have none, "
	 "and\n"
	 "                     are charged to limits without 'dport' and 'syn' only\n"
	 "  from PREFIX,…      those from these networks. Where limits differ in nothing but "
	 "this,\n"
	 "                     the one with the longest prefix is for a packet, and only that\n"
	 "  from file PATH     the same, of the prefixes in a file, one a line\n"
	 "\n"
	 "Who a source is:\n"
	 "  per /N             of IPv4: a whole /N has one budget (default: /32)\n"
	 "  per6 /N            of IPv6 (default: /64)\n"
	 "\n"
	 "How it counts. Options, in any order, each of them once:\n"
	 "  packets            what COUNT counts (default)\n"
	 "  bytes              of the frames, with their Ethernet headers; where COUNT is in "
	 "kbit,\n"
	 "                     mbit or gbit, it is so anyway, and TIME 1s if it is left out\n"
	 "  algorithm sliding  COUNT in any interval of TIME (default)\n"
	 "  algorithm fixed    aligned windows: up to twice COUNT across an edge\n"
	 "  algorithm log      COUNT in any interval of TIME, exactly: 1-16 packets\n"
	 "  algorithm token    a bucket of tokens: COUNT in TIME flow in, 'burst' fit in\n"
	 "  algorithm leaky    even spacing: COUNT in TIME flow out, 'burst' fit in\n"
	 "  burst COUNT        of token (default: COUNT) and leaky (default: 1 packet)\n"
	 "  cells N            of sliding: 2-16 (default: 16); fewer are coarser to even senders\n"
	 "  edge strict        of sliding: the oldest cell counts in full (default)\n"
	 "  edge weighted      of sliding: the oldest cell counts by its part within TIME\n"
	 "  edge coarse        of sliding: it does not count: COUNT in TIME less one cell\n"
	 "  shadow             only count what would be dropped, and pass it\n"
	 "  count rejected     what is dropped uses up the limit as well\n"
	 "  exact              charge each packet by itself; else a CPU may charge some at once\n"
	 "  ban TIME           a source over the limit is dropped for so long, as far as its "
	 "packets\n"
	 "                     match the limit. Not for what can be forged: with UDP, ICMP or "
	 "SYNs\n"
	 "                     anybody can send in the name of your resolver, and have it banned.\n"
	 "                     'allow add' protects those that you cannot do without\n"
	 "  ban TIME all       the same, of all its packets, whatever they match\n"
	 "\n"
	 "Example: ringfence limit add all rate 20k/1s\n"
	 "Example: ringfence limit add syn rate 100/10s match tcp syn\n"
	 "Example: ringfence limit add dns rate 500/1s match udp dport 53 shadow\n"
	 "Example: ringfence limit add big rate 200k/1s from 198.51.100.0/24\n"
	 "Example: ringfence limit add subnet rate 1M/1s per /24\n"
	 "Example: ringfence limit add all rate 10mbit algorithm token burst 1M\n"
	 "Example: ringfence limit add login rate 5/1m match tcp syn dport 22 algorithm log\n"
	 "Example: ringfence limit add even rate 100/1s algorithm leaky burst 5 shadow",
	 rf_cmd_limit_add},
	{"limit set", "NAME rate COUNT/TIME [OPTION…]", "replace a limit's definition",
	 "As 'limit add', for a limit there is; what is not said is as by default, not as it was.\n"
	 "If only the count, 'burst', 'shadow', 'exact' or which packets it is for changes, the\n"
	 "sources keep their windows; else they start afresh. The counters go on.\n"
	 "Example: ringfence limit set all rate 50k/1s shadow",
	 rf_cmd_limit_set},
	{"limit del", "NAME", "delete a limit",
	 "Its counters go with it; the totals stay. Without a limit the fence only observes.\n"
	 "Example: ringfence limit del all",
	 rf_cmd_limit_del},
	{"limit list", "", "list the limits",
	 "Prints them as the commands that would set them.\n"
	 "Example: ringfence limit list",
	 rf_cmd_limit_list},
	{"allow add", "PREFIX [for TIME]", "never drop a network",
	 "What comes from there passes, whatever the limits and the deny list say, and is charged\n"
	 "to nothing. With 'for' it ends by itself, without 'for' it is for good; of a prefix "
	 "that\n"
	 "is there already the time is the new one.\n"
	 "Example: ringfence allow add 203.0.113.0/24\n"
	 "Example: ringfence allow add 2001:db8::/32 for 1h",
	 rf_cmd_allow_add},
	{"allow del", "PREFIX", "take it off the list",
	 "The prefix as it was added; one within it stays, if that was added by itself.\n"
	 "Example: ringfence allow del 203.0.113.0/24",
	 rf_cmd_allow_del},
	{"allow list", "", "show the list",
	 "Prints each prefix, and how long it stays there.\n"
	 "Example: ringfence allow list",
	 rf_cmd_allow_list},
	{"allow load", "FILE", "add many at once",
	 "Adds the prefixes of a file, one a line; '#' begins a comment, and '-' is standard "
	 "input.\n"
	 "Example: ringfence allow load partners.txt",
	 rf_cmd_allow_load},
	{"deny add", "PREFIX [for TIME]", "drop a network",
	 "What comes from there is dropped, unless it is on the allow list. Never dropped are ARP\n"
	 "and its like, IPv6 neighbour discovery and router messages.\n"
	 "Example: ringfence deny add 192.0.2.66 for 10m",
	 rf_cmd_deny_add},
	{"deny del", "PREFIX", "take it off the list",
	 "The prefix as it was added; one within it stays, if that was added by itself.\n"
	 "Example: ringfence deny del 192.0.2.66",
	 rf_cmd_deny_del},
	{"deny list", "", "show the list",
	 "Prints each prefix, and how long it stays there.\n"
	 "Example: ringfence deny list --json",
	 rf_cmd_deny_list},
	{"deny load", "FILE", "add many at once",
	 "Adds the prefixes of a file, one a line; '#' begins a comment, and '-' is standard "
	 "input.\n"
	 "Example: ringfence deny load blocklist.txt",
	 rf_cmd_deny_load},
	{"newcomers", "rate COUNT/TIME then open|closed|aggregate | off",
	 "limit sources that are new, as a group",
	 "A source without a window is a newcomer. So many of their packets get a window; beyond\n"
	 "that, under a flood from random sources, they\n"
	 "  open       pass, and are charged to nothing\n"
	 "  closed     are dropped\n"
	 "  aggregate  are charged to a window that their /24 or /48 shares\n"
	 "Sources that have a window do not notice. 'off' gives each newcomer a window. A COUNT "
	 "of\n"
	 "more than a quarter of the fence's 'sources' is spread over TIME.\n"
	 "Example: ringfence newcomers rate 10k/1s then aggregate",
	 rf_cmd_newcomers},
	{"save", "", "print all rules, for 'apply'",
	 "Prints limits, lists and newcomers as commands; times of lists are what is left of "
	 "them.\n"
	 "Example: ringfence save > rules",
	 rf_cmd_save},
	{"apply", "FILE [confirm TIME]", "replace all rules, all or nothing",
	 "The file has commands, one a line: 'limit add …', 'allow add …', 'allow load FILE', the\n"
	 "same with deny, and 'newcomers …'; '#' begins a comment, and FILE '-' is standard "
	 "input.\n"
	 "What it does not say is gone. Limits of the same name keep their counters and, unless\n"
	 "these would mean something else, their windows.\n"
	 "  confirm TIME  unless 'ringfence confirm' is run in time, the old rules are back. The\n"
	 "                data path sees to it: nothing has to run meanwhile\n"
	 "Example: ringfence apply rules confirm 60s",
	 rf_cmd_apply},
	{"confirm", "", "keep what is on trial",
	 "Ends the trial of 'apply … confirm' or 'attach … confirm': the rules in force stay.\n"
	 "Example: ringfence confirm",
	 rf_cmd_confirm},
	{"check", "FILE", "check a rule file",
	 "Reads it as 'apply' does, and changes nothing. Needs neither root nor a fence.\n"
	 "Example: ringfence check rules",
	 rf_cmd_check},
	{"status", "", "what is attached, and how",
	 "The fence's interfaces, mode, program and rules, and what there is to mind: rules on\n"
	 "trial, windows that are nearly full, newcomers that are refused.\n"
	 "Example: ringfence status",
	 rf_cmd_status},
	{"stats", "[watch [SECONDS]]", "count what passed and what was dropped, and why",
	 "Totals, reasons and limits, since the fence was attached. With 'watch', a line of rates\n"
	 "every SECONDS (1 by default) until interrupted.\n"
	 "Example: ringfence stats watch 5",
	 rf_cmd_stats},
	{"top", "[N] [by drops|rate]", "the sources that matter most",
	 "The N sources (10 by default) with the most drops, or with the highest rate over the\n"
	 "limit's present window.\n"
	 "Example: ringfence top 20 by rate",
	 rf_cmd_top},
	{"show", "ADDRESS", "what holds for one source",
	 "Whether it is on a list or banned, how much of each limit it has used, cell by cell, "
	 "and\n"
	 "when its next packet will pass.\n"
	 "Example: ringfence show 192.0.2.1",
	 rf_cmd_show},
	{"bans", "[list]", "who is banned",
	 "The sources that limits have banned, by which limit, how long they still are, and since\n"
	 "when.\n"
	 "Example: ringfence bans\n"
	 "Example: ringfence bans --json",
	 rf_cmd_bans},
	{"unban", "ADDRESS|PREFIX|all", "end bans",
	 "Ends the bans of an address, of all that lies in a network, or in which that lies, or "
	 "of\n"
	 "everybody; within 50 ms. The limits go on: a source that is still over one is banned\n"
	 "again. 'allow add' keeps it from that.\n"
	 "Example: ringfence unban 192.0.2.1\n"
	 "Example: ringfence unban all",
	 rf_cmd_unban},
	{"doctor", "[IF]", "what stands in the way, and the remedy",
	 "Tries what ringfence needs of this machine, and looks at the interfaces; with IF, at "
	 "that\n"
	 "one in full. A line for each check: 'problem' stands in the way, and the status is 1 "
	 "then;\n"
	 "'note' is worth knowing. Changes nothing, and needs no privilege; what it may not look "
	 "at\n"
	 "it says.\n"
	 "Example: ringfence doctor\n"
	 "Example: ringfence doctor eth0",
	 rf_cmd_doctor},
	{"completion", "", "print the completion of bash",
	 "Prints a script that bash reads, for instance from\n"
	 "/usr/share/bash-completion/completions/ringfence, where 'make install' puts it.\n"
	 "Example: ringfence completion > ringfence.bash",
	 rf_cmd_completion},
};

const struct rf_command_table rf_commands = {rows, sizeof(rows) / sizeof(rows[0])};
