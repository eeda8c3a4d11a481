// SPDX-License-Identifier: GPL-2.0
/*
 * The same program for a fence that shares limits with other hosts: its windows have shares, see
 * ringfence/share.h. A separate program, so other fences do not pay for shares.
 */
#define RF_WITH_SHARES
#include "ringfence.bpf.c"
