// SPDX-License-Identifier: GPL-2.0
#include "cli/commands.h"

#define DEL_HELP                                                                                \
	"The prefix must be written as it was added. A longer prefix within it that was added " \
	"separately stays."
#define KEEPS_WINDOWS                                                                              \
	"The sources keep their windows if only COUNT, 'burst', 'shadow', 'exact', the time of a " \
	"ban or the packets it applies to change. They start afresh if anything else changes, "    \
	"or if COUNT of a sliding or fixed limit crosses 65535, 262140 or the next fourfold of "   \
	"these."
#define LIST_HELP "Prints each prefix, and how long it stays on the list."
#define LOAD_HELP                                                                             \
	"Adds the prefixes in a file, one a line; '#' begins a comment, and '-' is standard " \
	"input. A prefix that was on the list for a time stays for good."
#define FLUSH_HELP "Takes every prefix off the list, at once."

/* sparse: the other commands accept --json. */
const char *const rf_no_json[RF_CMD_COUNT] = {
	[RF_CMD_REPAIR] = "repair prints what it does as text; 'doctor --json' prints JSON",
	[RF_CMD_FLEET_RUN] = "the agent prints what happens as text; leave it out",
	[RF_CMD_SAVE] = "save prints the rules as commands; for JSON use 'limit list', 'allow "
			"list' and 'deny list'",
	[RF_CMD_METRICS] = "metrics prints the format of Prometheus; 'stats --json' prints JSON",
	[RF_CMD_HISTORY_SCHEMA] = "the schema is SQL, and is only printed as that",
	[RF_CMD_COMPLETION] = "completion prints a script for a shell",
	[RF_CMD_HELP] = "help prints text; leave it out",
};

const struct rf_command_row rf_commands[RF_CMD_COUNT] = {
	[RF_CMD_ATTACH] =
		{"Loads the program and pins it, with a bpf_link for each interface. Without "
		 "'fence', each interface gets a fence of its own name; with 'fence', the "
		 "interfaces share one fence, and so each source has one budget on all of them. "
		 "An interface that is attached already keeps its windows and counters; if the "
		 "program of this build is another one, it is swapped atomically.",
		 "'ip -force link set … obj' over a fence that 'ip' attached makes a new, empty "
		 "fence: the old rules, windows and counters are lost, and nothing is dropped. "
		 "Over a fence that 'ringfence attach' made, that command fails; over a chain, it "
		 "removes the whole chain.",
		 {"attach eth0", "attach eth0 confirm 5m"},
		 rf_cmd_attach},
	[RF_CMD_DETACH] =
		{"Removes ringfence's program, never another one, however it was attached. With "
		 "its last interface the fence is removed, with its rules, windows and counters; "
		 "the command prints what was lost. 'save' before keeps limits and lists. The name "
		 "of a fence stands for all its interfaces. If any of the names is wrong, "
		 "nothing is detached. 'detach dev IF' is the same.",
		 NULL,
		 {"detach eth0"},
		 rf_cmd_detach},
	[RF_CMD_PAUSE] =
		{"In an emergency: drops nothing until TIME is over or 'resume' is run, on the "
		 "interfaces or fences that are named, or on all. Limits, lists, bans and the "
		 "newcomers rate stay as they are, and may be changed meanwhile. What would be "
		 "dropped is counted as 'would drop', as by a shadow limit; no ban begins. The "
		 "pause ends by itself, without a daemon. 'pause' again replaces TIME.",
		 NULL,
		 {"pause", "pause eth0 for 2m"},
		 rf_cmd_pause},
	[RF_CMD_RESUME] = {"Ends a pause at once: from now on the rules in force drop again. Where "
			   "nothing is paused it says so, and changes nothing.",
			   NULL,
			   {"resume", "resume eth0"},
			   rf_cmd_resume},
	[RF_CMD_REPAIR] =
		{"Checks every 2 seconds, and when the link changes, whether the packets of an "
		 "attached interface meet the program, and whether the program suits the MTU; if "
		 "not, repairs that in place, as 'attach IF' does. Runs until it is interrupted, "
		 "or until the interface is removed. 'ringfence-repair@IF.service' runs it beside "
		 "'ringfence@IF.service'.",
		 NULL,
		 {"repair eth0"},
		 rf_cmd_repair},
	[RF_CMD_ADOPT] =
		{"A fence that 'ip' attached is found by the id of its program, which takes "
		 "CAP_SYS_ADMIN. Once it is pinned, CAP_BPF and CAP_NET_ADMIN find it, and "
		 "members of the group 'ringfence' read its counters without any capability. "
		 "'attach' pins its fences itself, and for the group if that exists.",
		 NULL,
		 {"adopt eth0"},
		 rf_cmd_adopt},
	[RF_CMD_LIMIT_ADD] =
		{"From now on every source passes at most COUNT packets in any interval of length "
		 "TIME; packets over the limit are dropped. A source is an IPv4 address or an "
		 "IPv6 /64, unless 'per' or 'per6' says otherwise. A fence has 32 limits at most. "
		 "A packet is charged to every limit it matches, 4 at most, and passes if all of "
		 "them have room. A limit in bytes is a token bucket: COUNT at once, and COUNT in "
		 "TIME from then on.",
		 NULL,
		 {"limit add any rate 20k/1s", "limit add syn rate 100/10s match tcp syn",
		  "limit add dns rate 500/1s match udp dport 53 shadow",
		  "limit add ntp rate 500/1s match udp sport 123 shadow",
		  "limit add big rate 200k/1s from 198.51.100.0/24",
		  "limit add subnet rate 1M/1s per /24", "limit add any rate 10mbit",
		  "limit add ssh rate 5/1m match tcp syn dport 22 algorithm log",
		  "limit add even rate 100/1s algorithm leaky burst 5 shadow",
		  "limit add no-telnet rate 0 match tcp dport 23"},
		 rf_cmd_limit_add},
	[RF_CMD_LIMIT_SET] =
		{"Replaces the whole definition of an existing limit: an option that is not given "
		 "gets its default, not its old value. The counters go on. " KEEPS_WINDOWS
		 " Prints what changed.",
		 NULL,
		 {"limit set any rate 50k/1s shadow"},
		 rf_cmd_limit_set},
	[RF_CMD_LIMIT_CHANGE] =
		{"Changes the parts that are named, and keeps the others. 'no' and the word of a "
		 "part takes the part away. " KEEPS_WINDOWS " Prints what changed.",
		 NULL,
		 {"limit change any rate 50k/1s", "limit change dns no from no shadow confirm 60s"},
		 rf_cmd_limit_change},
	[RF_CMD_LIMIT_ARM] =
		{"From now on these limits drop what is over them. Their windows and counters go "
		 "on. A shadow that allows at least as much as a wider limit, and differs from it "
		 "in 'from' alone, keeps its sources from that limit; the command warns of such "
		 "shadows.",
		 NULL,
		 {"limit arm dns", "limit arm dns syn confirm 60s"},
		 rf_cmd_limit_arm},
	[RF_CMD_LIMIT_SHADOW] =
		{"From now on these limits only count what they would drop. Their windows and "
		 "counters go on.",
		 NULL,
		 {"limit shadow dns"},
		 rf_cmd_limit_shadow},
	[RF_CMD_LIMIT_DEL] = {"Deletes its counters as well; the totals stay. Without a limit the "
			      "fence only observes.",
			      NULL,
			      {"limit del any"},
			      rf_cmd_limit_del},
	[RF_CMD_LIMIT_LIST] = {"Prints the limits as the commands that set them.",
			       NULL,
			       {"limit list"},
			       rf_cmd_limit_list},
	[RF_CMD_LIMIT_TRY] =
		{"Runs the recorded cells of a limit through another limit, and prints how many "
		 "packets it would have dropped, as an interval that has the true number: where in "
		 "a cell a packet came is not recorded. Parts that are not named stay as they are. "
		 "Changes nothing. ringfence-watch records the cells of up to 512 sources for 2 "
		 "hours; of the others a sample gives an estimate, marked '~'. Packets that the "
		 "limit itself dropped are not in its cells.",
		 NULL,
		 {"limit try any rate 2k/1s", "limit try any rate 100k/1m since -2h until -1h"},
		 rf_cmd_limit_try},
	[RF_CMD_ALLOW_ADD] =
		{"Packets from this network pass, whatever the limits and the deny list say, and "
		 "are charged to nothing. For a prefix that is on the list already, the new time "
		 "replaces the old one.",
		 NULL,
		 {"allow add 203.0.113.0/24", "allow add 2001:db8::/32 for 1h"},
		 rf_cmd_allow_add},
	[RF_CMD_ALLOW_DEL] = {DEL_HELP, NULL, {"allow del 203.0.113.0/24"}, rf_cmd_allow_del},
	[RF_CMD_ALLOW_LIST] = {LIST_HELP, NULL, {"allow list"}, rf_cmd_allow_list},
	[RF_CMD_ALLOW_LOAD] = {LOAD_HELP, NULL, {"allow load partners.txt"}, rf_cmd_allow_load},
	[RF_CMD_ALLOW_FLUSH] = {FLUSH_HELP, NULL, {"allow flush"}, rf_cmd_allow_flush},
	[RF_CMD_DENY_ADD] =
		{"Packets from this network are dropped, unless it is on the allow list. ARP and "
		 "other packets that are not IP, IPv6 neighbour discovery and router messages are "
		 "never dropped.",
		 NULL,
		 {"deny add 192.0.2.66 for 10m", "deny add 192.0.2.66 for 10m fleet"},
		 rf_cmd_deny_add},
	[RF_CMD_DENY_DEL] = {DEL_HELP,
			     NULL,
			     {"deny del 192.0.2.66", "deny del 192.0.2.66 fleet"},
			     rf_cmd_deny_del},
	[RF_CMD_DENY_LIST] = {LIST_HELP, NULL, {"deny list --json"}, rf_cmd_deny_list},
	[RF_CMD_DENY_LOAD] = {LOAD_HELP,
			      NULL,
			      {"deny load blocklist.txt", "deny load blocklist.txt replace"},
			      rf_cmd_deny_load},
	[RF_CMD_DENY_FLUSH] = {FLUSH_HELP, NULL, {"deny flush"}, rf_cmd_deny_flush},
	[RF_CMD_NEWCOMERS] =
		{"A newcomer is a source without a window. Under a flood from random sources, "
		 "every packet is a newcomer's. Sources that have a window are not affected.",
		 NULL,
		 {"newcomers rate 10k/1s then aggregate"},
		 rf_cmd_newcomers},
	[RF_CMD_FLEET_JOIN] =
		{"Writes /etc/ringfence/FENCE.fleet, which the agent reads, and sets the number of "
		 "hosts as 'fleet hosts' does. The fence must have been attached with 'fleet'. "
		 "Then 'systemctl enable --now ringfence-fleet@FENCE' starts the agent. The engine "
		 "keeps no rules: each host has its own, and limits that differ are not shared.",
		 "To change a setting, join again with all of them, and restart the agent.",
		 {"fleet join edge redis 192.0.2.10:6379 hosts 10"},
		 rf_cmd_fleet_join},
	[RF_CMD_FLEET_LEAVE] =
		{"Removes /etc/ringfence/FENCE.fleet. The rules stay: once the agent is stopped, "
		 "limits with 'fleet' are those of this host alone.",
		 NULL,
		 {"fleet leave edge"},
		 rf_cmd_fleet_leave},
	[RF_CMD_FLEET_RUN] =
		{"Runs the agent of a fence, 'ringfence-fleet run FENCE', until a signal ends it: "
		 "to see what it says. 'systemctl enable --now ringfence-fleet@FENCE' runs it as a "
		 "service. Takes root.",
		 NULL,
		 {"fleet run edge"},
		 rf_cmd_fleet_run},
	[RF_CMD_FLEET_CHECK] =
		{"Looks at the settings, the fence and its limits, the agent, the engine and the "
		 "other hosts, and prints a line for each. A 'problem' keeps this host from "
		 "sharing its limits, or breaks the bound, and makes the exit status 1; a 'note' "
		 "is worth knowing. Each says what to type. Changes nothing. Takes root.",
		 NULL,
		 {"fleet check edge"},
		 rf_cmd_fleet_check},
	[RF_CMD_FLEET_STATUS] =
		{"Prints what the agent of a fence says: whether the host hears the engine, how "
		 "many hosts are members, and the definitions of its limits. Hosts share a limit "
		 "where name and definition are the same; those that differ are named. Where "
		 "something is wrong, prints what it is; 'fleet check' says what to type. Takes "
		 "root.",
		 NULL,
		 {"fleet status edge"},
		 rf_cmd_fleet_status},
	[RF_CMD_FLEET_SHOW] =
		{"Prints, for each limit of the fleet, what the engine has of a source: the claim "
		 "of each host; and what this host has: its share, what the source has used, and "
		 "since when. A claim is what a host may pass, or has passed, beyond 'first'. "
		 "Takes root.",
		 NULL,
		 {"fleet show 192.0.2.1"},
		 rf_cmd_fleet_show},
	[RF_CMD_FLEET_TOP] =
		{"Prints the N sources (default: 10) that come first over all hosts. Each host "
		 "tells the engine 32 of its sources, every 5 s: those that it drops the most of, "
		 "and those that send the most. So a source that is far down on every host may be "
		 "missing. Takes root.",
		 NULL,
		 {"fleet top", "fleet top 20 by rate"},
		 rf_cmd_fleet_top},
	[RF_CMD_FLEET_GONE] =
		{"Forgets a host that will not come back; HOST is its name or its number in "
		 "'fleet status'. Then nobody waits for it when the engine was restarted. It is "
		 "refused while the host was heard within grace + TIME, the longest of all limits: "
		 "until then nobody knows what the host passed, and its claims keep the bound. "
		 "After that they are void by themselves. Takes root.",
		 NULL,
		 {"fleet gone web3"},
		 rf_cmd_fleet_gone},
	[RF_CMD_FLEET_HOSTS] =
		{"Over how many hosts at most the limits with the word 'fleet' are shared: all "
		 "machines that may be in the fleet, this one included, and one more for reboots. "
		 "Without N, prints the number. A limit that does not say 'first' gets another one "
		 "with it.",
		 NULL,
		 {"fleet hosts 10", "fleet hosts"},
		 rf_cmd_fleet_hosts},
	[RF_CMD_FLEET_BANS] =
		{"The bans that this host has taken from other hosts of its fleet, which it does "
		 "if its agent was told so by 'bans take' in 'fleet join'. They are on the deny "
		 "list: 'allow' comes before them, an entry of this host takes the place of "
		 "theirs, and they end by themselves. 'flush' ends them all, and they are not "
		 "taken again.",
		 NULL,
		 {"fleet bans", "fleet bans flush"},
		 rf_cmd_fleet_bans},
	[RF_CMD_BATCH] =
		{"Runs the commands in a file, one a line and in their order, as one change: "
		 "'limit' with 'add', 'set', 'change', 'arm', 'shadow' or 'del', 'allow' and "
		 "'deny' with 'add', 'del', 'load' or 'flush', 'newcomers', 'unban' and 'fleet "
		 "hosts'. '#' "
		 "begins a comment, and FILE '-' is standard input. If lines are wrong, each is "
		 "reported and nothing is changed. Rules that the file does not name stay.",
		 NULL,
		 {"batch changes", "batch -"},
		 rf_cmd_batch},
	[RF_CMD_SAVE] = {"Prints limits, lists and newcomers as commands. A list entry gets the "
			 "time that is left to it. While rules are on trial it prints those; with "
			 "'confirmed', those that return without 'confirm'.",
			 NULL,
			 {"save > rules"},
			 rf_cmd_save},
	[RF_CMD_APPLY] =
		{"The file has commands, one a line: 'limit add …', 'allow add …', 'allow load "
		 "FILE', the same with deny, and 'newcomers …'; '#' begins a comment, and FILE "
		 "'-' is standard input. Rules that are not in the file are deleted. Limits of "
		 "the same name keep their counters and, unless their meaning changes, their "
		 "windows.",
		 NULL,
		 {"apply rules confirm 60s"},
		 rf_cmd_apply},
	[RF_CMD_CONFIRM] = {"Ends a trial, begun by 'confirm TIME' after 'apply', 'limit arm' or "
			    "'attach': the rules in force stay.",
			    NULL,
			    {"confirm"},
			    rf_cmd_confirm},
	[RF_CMD_REVERT] = {"Ends a trial of rules without waiting for its time: the rules before "
			   "it are in force again.",
			   NULL,
			   {"revert"},
			   rf_cmd_revert},
	[RF_CMD_CHECK] = {"Reads the file as 'apply' does, and changes nothing. Needs neither root "
			  "nor a fence.",
			  NULL,
			  {"check rules"},
			  rf_cmd_check},
	[RF_CMD_DIFF] =
		{"Compares the rules in force with those of the file, and changes nothing. Prints "
		 "what 'apply' would add (+), delete (-) and change (~), and which windows would "
		 "start afresh. The exit status is 0 "
		 "where nothing would change, 1 where something would, and 2 after an error. Times "
		 "on a list that differ by less than 5 s count as equal.",
		 NULL,
		 {"diff rules", "diff rules all", "save | ringfence diff -"},
		 rf_cmd_diff},
	[RF_CMD_STATUS] = {"Prints the fence's interfaces, mode, program and rules, and warnings: "
			   "rules on trial, windows nearly full, newcomers refused. Without 'dev', "
			   "prints every fence.",
			   NULL,
			   {"status"},
			   rf_cmd_status},
	[RF_CMD_STATS] =
		{"Prints totals, reasons and limits since the fence was attached or 'stats "
		 "reset' ran. A reset keeps the counters of sources, which 'top' prints. "
		 "Without 'dev', prints every fence.",
		 NULL,
		 {"stats", "stats watch 5 reasons", "stats reset", "stats at 14:02"},
		 rf_cmd_stats},
	[RF_CMD_METRICS] =
		{"Prints counters and gauges of every fence, or of the one that 'dev' names, in "
		 "the text format of Prometheus. ringfence-metrics(5) explains each. The daemon "
		 "'ringfence-watch' serves the same over HTTP; where it does not run, a timer "
		 "runs 'metrics file' each minute.",
		 NULL,
		 {"metrics", "metrics file ringfence.prom"},
		 rf_cmd_metrics},
	[RF_CMD_PAGE] = {"Prints the URL of the page that 'ringfence-watch' serves, with the token "
			 "that it takes. Open it in a browser of this machine; from another "
			 "machine, through 'ssh -L 9436:127.0.0.1:9436'. The page shows every "
			 "fence, and changes nothing. For root and members of the group "
			 "'ringfence'.",
			 NULL,
			 {"page"},
			 rf_cmd_page},
	[RF_CMD_TOP] =
		{"Prints the N sources (default: 10) that come first. On a terminal and without "
		 "N, shows a screen, which goes on until 'q'; '?' there explains its keys. Rows "
		 "with ~ are estimates, of sources that have no window: see 'sample'.",
		 NULL,
		 {"top 20 by rate", "top sample 2s", "top at -10m"},
		 rf_cmd_top},
	[RF_CMD_SHOW] = {"Prints what happens to the next packet of the source, and why; then how "
			 "much of each limit it has used, cell by cell. With a PREFIX, prints what "
			 "is known of the network: lists, bans, and sources with a window.",
			 NULL,
			 {"show 192.0.2.1", "show 192.0.2.0/24", "show 192.0.2.66 at -2h"},
			 rf_cmd_show},
	[RF_CMD_BANS] = {"Prints the sources that limits have banned: by which limit, for how much "
			 "longer, and since when.",
			 NULL,
			 {"bans", "bans --json"},
			 rf_cmd_bans},
	[RF_CMD_UNBAN] =
		{"Ends the bans of an address, or of every source in a network; to end a ban on a "
		 "network, give any address in it. Takes effect within 50 ms. The limits go on: a "
		 "source that is still over one is banned again. 'allow add' prevents that.",
		 NULL,
		 {"unban 192.0.2.1", "unban all"},
		 rf_cmd_unban},
	[RF_CMD_CAPTURE] =
		{"Writes the first 128 bytes of some packets into a file that Wireshark and "
		 "tcpdump "
		 "read (pcapng). Each packet has a comment: why it was dropped or passed, and by "
		 "which limits. tcpdump itself sees no packet that is dropped here. Needs the "
		 "right "
		 "to change the fence. While ringfence-watch has settings, 'sources full' must be "
		 "one of them, since packets have addresses.",
		 NULL,
		 {"capture write drops.pcapng from 192.0.2.0/24 for 2s",
		  "capture reason denied one in 1 for 1s write denied.pcapng"},
		 rf_cmd_capture},
	[RF_CMD_EVENTS] =
		{"Prints the events of each history: sources over a limit, floods, bans, changes "
		 "of the rules. In brackets is an event's id, which joins a start and its end; "
		 "'report ID' puts that attack on a page. ringfence-watch records events.",
		 NULL,
		 {"events watch", "events since -1h", "events of flood_started,flood_ended",
		  "events from 192.0.2.0/24 since 13:00 until 14:00"},
		 rf_cmd_events},
	[RF_CMD_REPORT] =
		{"Reports one attack from the history: when, how much, which sources and limits, "
		 "what passed, and the rules then. ID is that of an event; without it, reports the "
		 "last attack. With 'since', reports all that happened in that time.",
		 NULL,
		 {"report", "report since -2h", "report since 13:00 until 14:00"},
		 rf_cmd_report},
	[RF_CMD_SUGGEST] =
		{"Prints how much of COUNT in TIME the sources use, how many would be over which "
		 "rate, and the rate that leaves honest sources room: twice the median of the "
		 "hours, of what 99.9 % of the sources stay below in each. Times of floods are "
		 "left out. The history gives it, once ringfence-watch has recorded 24 hours with "
		 "a limit, which may be a shadow; 'for' watches without a history.",
		 NULL,
		 {"suggest", "suggest limit probe since -36h", "suggest for 10m"},
		 rf_cmd_suggest},
	[RF_CMD_HISTORY_LIST] =
		{"Prints the size of each history, how far its seconds, minutes and cells reach "
		 "back, and the last times when nothing was recorded. ringfence-watch records a "
		 "history of each fence.",
		 NULL,
		 {"history list"},
		 rf_cmd_history_list},
	[RF_CMD_HISTORY_EXPORT] =
		{"Copies the history of a fence into a new file, while ringfence-watch goes on: an "
		 "SQLite database that other tools read. Only you may read the file, since it may "
		 "have addresses.",
		 NULL,
		 {"history export history.db", "history export eth0.db dev eth0"},
		 rf_cmd_history_export},
	[RF_CMD_HISTORY_CHECK] = {"Reads the whole file of each history, and reports damage.",
				  NULL,
				  {"history check"},
				  rf_cmd_history_check},
	[RF_CMD_HISTORY_SCHEMA] =
		{"Prints the tables of a history as SQL, with what each column means.",
		 NULL,
		 {"history schema"},
		 rf_cmd_history_schema},
	[RF_CMD_DOCTOR] =
		{"Checks what ringfence needs of this machine, and the interfaces; with IF, that "
		 "interface in full. Prints a line for each check. A 'problem' prevents a fence, "
		 "and makes the exit status 1; a 'note' is worth knowing. Changes nothing, and "
		 "needs no privilege; it names what it may not look at.",
		 NULL,
		 {"doctor", "doctor eth0"},
		 rf_cmd_doctor},
	[RF_CMD_COMPLETION] =
		{"Prints a script that the shell reads. 'make install' and the Debian package "
		 "install it. The script asks ringfence for the words that may come next; names "
		 "of limits and prefixes on lists appear for those who may read the fence.",
		 NULL,
		 {"completion > ringfence.bash", "completion fish > ringfence.fish"},
		 rf_cmd_completion},
	[RF_CMD_HELP] = {"Explains a command, or lists all commands.",
			 NULL,
			 {"help", "help limit add"},
			 NULL},
	[RF_CMD_VERSION] = {"Prints the version of ringfence, and that of its maps, the map ABI. "
			    "'--version' and '-V' are the same.",
			    NULL,
			    {"version"},
			    NULL},
};
