#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Runs one suite in one kernel with the program of one compiler, and prints the results in TAP. The
# script is called through a link, whose name selects them: KERNEL+CLANG+SUITE.

# shellcheck source=tests/vm/kernels.sh
source "$(dirname "$(readlink -f "$0")")/kernels.sh"

cell=$(basename "$0")
IFS=+ read -r kernel clang suite <<<"$cell"
architecture=$(architecture_of "$kernel")
out=$PWD/build/vm/results/$cell
image=$PWD/build/vm/results/$cell.cpio
seconds=${VM_SECONDS:-1800} # limit for a guest that hangs

# nic TAP MAC PROPERTIES
nic() {
	local bus=pci

	[ "$architecture" = s390x ] && bus=ccw
	echo "-netdev tap,id=$1,ifname=$1,script=no,downscript=no,queues=4"
	# The interface filters no VLANs, because tagged frames must arrive.
	echo "-device virtio-net-$bus,netdev=$1,mac=$2,mq=on,ctrl_vlan=off,$3"
}

# card HUB MODEL: a network card, and a virtio_net that sends to it, joined by a hub.
card() {
	local last

	for last in 1 2; do
		echo "-netdev hubport,id=hub$1-$last,hubid=$1"
	done
	echo "-device virtio-net-pci,netdev=hub$1-1,mac=02:00:00:00:0$1:01"
	echo "-device $2,netdev=hub$1-2,mac=02:00:00:00:0$1:02"
}

machine() {
	local vectors=,vectors=10,romfile= # romfile: disables booting from the card

	case $architecture in
	amd64) echo qemu-system-x86_64 -cpu max ;;
	arm64) echo qemu-system-aarch64 -M virt -cpu max,pauth-impdef=on ;;
	s390x) echo qemu-system-s390x -cpu max && vectors='' ;;
	esac
	nic tap0 02:00:00:00:03:01 "ctrl_guest_offloads=on$vectors"
	nic tap1 02:00:00:00:03:02 "ctrl_guest_offloads=on$vectors"
	nic tap2 02:00:00:00:04:02 "ctrl_guest_offloads=off$vectors"
	case $suite in
	igb | vmxnet3 | e1000e) card 5 "$suite" ;;
	bond) card 5 igb ;;
	challenge) card 5 igb && card 6 vmxnet3 && card 7 e1000e ;;
	esac
}

# The kernel's command line. A busy host delays ticks so much that the kernel would consider the
# timer broken.
words() {
	case $architecture in
	amd64) echo console=ttyS0 no_timer_check ;;
	arm64) echo console=ttyAMA0 ;;
	s390x) echo console=ttysclp0 ;;
	esac
	echo panic=-1 quiet mitigations=off init_on_alloc=0
}

boot() {
	: >"$out.tap"
	# shellcheck disable=SC2046 # words
	timeout -k 5 "$seconds" tests/vm/wires.sh $(machine) -accel tcg -smp 2 -m 2048 \
		-nodefaults -display none -no-reboot -serial "file:$out.console" \
		-device virtio-serial -chardev "file,id=results,path=$out.tap" \
		-device virtserialport,chardev=results,name=results \
		-kernel "build/vm/kernels/$kernel/vmlinuz" -initrd "$image" \
		-append "$(words | xargs)" </dev/null >"$out.qemu" 2>&1
	status=$?
}

# Newer kernels crash at random in their own patched code under this emulator.
died_of_emulation() {
	grep -q 'Oops: int3' "$out.console"
}

ended() {
	grep -q '^# the guest ends' "$out.tap"
}

mkdir -p build/vm/results
rm -f "$out".*
tests/vm/image.sh "$kernel" "$clang" "$suite" "$image" || die "cannot make an image for $cell"
boot
if ! ended && died_of_emulation; then
	mv "$out.console" "$out.first-console"
	echo "# $cell: Oops: int3; booted once more"
	echo 1 >"$out.retries"
	boot
fi
rm -f "$image"
cat "$out.tap"
ended && [ "$status" = 0 ] && exit
echo "not ok - $cell: the guest did not end (QEMU: $status); its console ends with:"
tail -n 30 "$out.console" | tr -d '\r' | sed 's/^/#   /'
sed 's/^/# QEMU: /' "$out.qemu"
exit 1
