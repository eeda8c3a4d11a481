/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The facts of this machine, for `diagnose`: from /proc, /sys, netlink and ethtool's ioctl. Changes
 * nothing, and needs no privilege; a fact that cannot be read remains "not known". The facts that
 * require BPF are found by kernel/probe.
 */
#ifndef RINGFENCE_FACTS_H
#define RINGFENCE_FACTS_H

#include "base/error.h"
#include "doctor/diagnose.h"

void rf_facts_machine(struct rf_machine_facts *machine);

/*
 * The facts of all interfaces of this network namespace, without their programs, and without what
 * rf_diagnose_relate() fills in. Returns how many; the caller frees `*facts` in any case.
 */
int rf_facts_interfaces(struct rf_interface_facts **facts, struct rf_error *error);

/*
 * Adds to facts->challenge: the settings and the sockets of this network namespace, and whether a
 * peer in another one has a program. The facts about
 * the rules are set. (facts_challenge.c)
 */
void rf_facts_challenge(struct rf_interface_facts *facts);

#endif /* RINGFENCE_FACTS_H */
