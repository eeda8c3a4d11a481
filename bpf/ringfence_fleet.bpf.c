// SPDX-License-Identifier: GPL-2.0
/*
 * The same program for a fence that shares limits with other hosts: its windows have shares, see
 * ringfence/share.h. A program of its own, so that no other fence pays for them.
 */
#define RF_WITH_SHARES
#include "ringfence.bpf.c"
