# SPDX-License-Identifier: GPL-2.0
# Changes the tag of the program: one more instruction in each entry, without effect, and no more
# stack.
/^int ringfence.*(struct xdp_md \*ctx)$/ {
n
s/{/{\n\tasm volatile("r0 = 0" ::: "r0");/
}
