/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finds what prevents a fence, and the command that removes it: facts in, findings out. Makes no
 * system call, so a row of a test can describe any hardware. `facts` and kernel/probe find the
 * facts of this machine.
 */
#ifndef RINGFENCE_DIAGNOSE_H
#define RINGFENCE_DIAGNOSE_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/names.h"
#include "kernel/needs.h"
#include "ringfence/abi.h"

#define RF_DEVICE_NAME_SIZE 32

/* ---- findings ---- */

enum rf_level {
	RF_OK,
	RF_NOTE,
	RF_PROBLEM, /* it prevents a fence */
};

struct rf_finding {
	enum rf_level level;
	const char *check; /* the subject, in a word or two */
	char text[960];
	char command[384]; /* the fix; "" if there is none, or none to type */
};

#define RF_FINDINGS_MAX 48

struct rf_findings {
	struct rf_finding finding[RF_FINDINGS_MAX];
	int count;
};

const char *rf_level_name(enum rf_level level);
/* How many findings have that level. */
int rf_findings_count(const struct rf_findings *findings, enum rf_level level);

/* Adds a finding. rf_findings_remedy() sets its command. */
__attribute__((format(printf, 4, 5))) void rf_findings_add(struct rf_findings *findings,
							   enum rf_level level, const char *check,
							   const char *format, ...);
/* Sets the command of the latest finding. */
__attribute__((format(printf, 2, 3))) void rf_findings_remedy(struct rf_findings *findings,
							      const char *format, ...);

/*
 * ---- drivers ----
 *
 * Facts about each driver: one row a driver, from its code in Linux 6.12 with pages of 4096 bytes.
 * All advice about a driver is derived from its row and from the running kernel.
 */

/* A version of Linux. */
struct rf_version {
	int major, minor; /* 0, 0: none, or not known */
};

/* A driver's reaction to merging of packets (LRO, GRO-HW) when a program is attached. */
enum rf_merging {
	RF_MERGING_NOT_KNOWN,
	RF_MERGING_REFUSED,	 /* refuses the program while it is on */
	RF_MERGING_SWITCHED_OFF, /* switches it off automatically */
	RF_MERGING_WITHOUT_EFFECT,
};

/* What happens to the link at the first attach and the last detach. */
enum rf_link_effect {
	RF_LINK_NOT_KNOWN,
	RF_LINK_UNCHANGED,
	RF_LINK_RESTARTED,
	RF_LINK_RESTARTED_BY_SWAP, /* by a swap of the program as well */
};

/* The queues that a driver requires to accept a program. */
enum rf_queue_need {
	RF_QUEUES_ANY,
	RF_QUEUES_HALF,	    /* as many again to send: at most half of the maximum */
	RF_QUEUES_SPARE,    /* one for each CPU to send by, or sending is slower */
	RF_QUEUES_COMBINED, /* each for both directions */
	RF_QUEUES_OF_PEER,  /* to receive, as many as the peer has to send */
};

struct rf_driver {
	const char *name;
	struct rf_version native; /* since which Linux; none: no native mode in 6.12 */
	struct rf_version frags;  /* likewise, for frames in several buffers */
	int mtu_max;		  /* for a program that takes one buffer; 0: not known */
	int mtu_max_before;	  /* likewise, before `frags`; 0: the same */
	enum rf_merging lro, gro_hw;
	enum rf_queue_need queues;
	bool queues_fixed; /* refuses 'ethtool -L' while a program is attached */
	enum rf_link_effect link;
	bool forgets;	   /* forgets the program when the link goes down or the MTU changes */
	const char *flag;  /* the private flag that must be off for several buffers */
	const char *drops; /* the counter of XDP drops in 'ethtool -S' */
};

/* NULL: unknown driver. */
const struct rf_driver *rf_driver_find(const char *name);

/* Is `version` the same as `since`, or later? False where either is not known. */
bool rf_version_reaches(struct rf_version version, struct rf_version since);
/* Reads the version from a release as `uname -r` prints it. */
struct rf_version rf_version_of(const char *release);

/* ---- the machine ---- */

enum rf_lockdown {
	RF_LOCKDOWN_UNSEEN,
	RF_LOCKDOWN_NONE,
	RF_LOCKDOWN_INTEGRITY,
	RF_LOCKDOWN_CONFIDENTIALITY,
};

struct rf_machine_facts {
	char release[72];
	struct rf_features features;
	int load_err; /* of this build's program; 0: it loads */
	bool btf;
	bool bpffs; /* mounted at RF_BPFFS */
	uint64_t capabilities;
	bool in_user_namespace;
	enum rf_lockdown lockdown;
};

void rf_diagnose_machine(const struct rf_machine_facts *machine, struct rf_findings *findings);

/* ---- an interface ---- */

/* Numbers of queues, as ethtool reports them: present, and at most. */
struct rf_channels {
	uint32_t rx, tx, combined;
	uint32_t rx_max, tx_max, combined_max;
};

#define RF_DNS_PORTS_CHECKED 8

/* Of an interface whose fence examines newcomers, or responds to packets over a rate. */
struct rf_challenge_facts {
	/* By the active rules; all 0: no fence, or other rules. */
	bool challenges, excepts_established; /* newcomers */
	bool truncates;			      /* a limit, by 'over truncate' */
	/* The ports at which it responds to DNS queries, as many as there is room for. */
	struct rf_dns_facts {
		uint16_t port;
		bool has_udp, has_tcp; /* a socket there, on an address that is no loopback's */
	} dns[RF_DNS_PORTS_CHECKED];
	int dns_ports;
	enum rf_answer listens; /* a TCP socket, likewise */
	/* Settings of this network namespace; -1: it cannot be read. */
	int syncookies, timestamps, fast_open, conntrack_loose;
	bool forwards4, forwards6;	   /* from this interface */
	enum rf_answer peer_receives;	   /* of a veth: the peer has a program in native mode */
	uint64_t own_mac[RF_OWN_MACS_MAX]; /* as the fence stores them */
	int own_macs;
	uint64_t host_mac[RF_OWN_MACS_MAX]; /* as the fence would store them now */
	int host_macs;
	/* An interface that gets its packets, and whose address the fence lacks; "": none. */
	char unknown_mac_of[IF_NAMESIZE];
	uint64_t old_mac; /* that the fence stores, and that is no longer the host's; 0: none */
	/* A VLAN on it, and the card that removes its tags, mostly this interface; "": none. */
	char vlan[IF_NAMESIZE], untagged_by[IF_NAMESIZE];
	bool untags_always; /* the driver does not allow to change that */
};

/* Do its rules send responses by XDP? */
static inline bool rf_responds(const struct rf_challenge_facts *challenge)
{
	return challenge->challenges || challenge->truncates;
}

struct rf_interface_facts {
	char name[IF_NAMESIZE];
	char driver[RF_DEVICE_NAME_SIZE];
	char kind[RF_DEVICE_NAME_SIZE]; /* veth, vlan, bond …; "" for hardware */
	unsigned int hardware;		/* ARPHRD_… */
	char parent[IF_NAMESIZE]; /* the interface below a vlan or macvlan; the peer of a veth */
	bool parent_fenced, parent_ethernet;
	/* Of a parent in another network namespace; 0: none. */
	unsigned int parent_index;
	uint32_t parent_namespace; /* the id by which this network namespace knows it */
	char master[IF_NAMESIZE];  /* the bond or bridge that it belongs to */
	char master_kind[RF_DEVICE_NAME_SIZE], master_driver[RF_DEVICE_NAME_SIZE];
	bool master_occupied, master_fenced; /* by an XDP program, by ringfence */
	char ports[96]; /* of a bond or bridge, separated by spaces, as many as fit */
	int port_count, ports_named, ports_fenced;
	int bond_mode; /* as the kernel numbers them; -1: no bond */
	bool is_loopback, is_up;
	uint64_t mac; /* as in rf_config.own_mac */
	int mtu;
	int cpus;

	struct rf_version kernel;     /* that runs; none: not known */
	bool asked_kernel;	      /* for its list of drivers' features, since 6.3 */
	enum rf_answer native, frags; /* from that list */

	bool has_channels;
	struct rf_channels channels;
	uint32_t peer_tx;		 /* queues by which a veth's peer sends; 0: not known */
	enum rf_answer lro, gro, gro_hw; /* RF_YES: on */
	bool gro_hw_fixed;
	enum rf_answer rx_vlan; /* the card removes VLAN tags; RF_YES: on */
	bool rx_vlan_fixed;
	uint32_t rings, rings_used; /* from the RSS table; 0: not known */

	uint32_t program_id;			/* 0: none */
	char program_name[RF_DEVICE_NAME_SIZE]; /* "": no permission to read it */
	bool ours, generic;
	uint32_t link_id;   /* of the bpf_link that holds a program of others; 0: none */
	char alien[512];    /* the error of a fence of another build; "": it can be read */
	bool is_bypassed;   /* it receives packets that ringfence does not see */
	char bypass[96];    /* observations of that */
	uint64_t paused_ns; /* how long its fence drops nothing yet; 0: it is not paused */
	bool needs_frags;   /* ringfence is attached by the entry that its MTU has outgrown */
	struct rf_challenge_facts challenge;
};

/*
 * Fills in relations between facts: parent_fenced, master_…, port…, peer_tx, peer_receives,
 * unknown_mac_of, old_mac, vlan, untagged_by.
 */
void rf_diagnose_relate(struct rf_interface_facts *facts, int count);

/* ---- findings from the driver's row ---- */

/* Obstacles to an attach: the MTU, and merging of packets. The effect of an attach on the link. */
void rf_diagnose_driver(const struct rf_interface_facts *facts, struct rf_findings *findings);
/* Problems that appeared since the attach in native mode. */
void rf_diagnose_attached(const struct rf_interface_facts *facts, struct rf_findings *findings);

/* ---- findings from the rules for newcomers, and from 'over truncate' ---- */

void rf_diagnose_challenge(const struct rf_interface_facts *facts, struct rf_findings *findings);

/* ---- all findings ---- */

void rf_diagnose_interface(const struct rf_interface_facts *facts, struct rf_findings *findings);

#endif /* RINGFENCE_DIAGNOSE_H */
