#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The units under a real systemd: a guest of this Debian release, whose first process is systemd,
# runs guest_systemd.sh, which installs with 'make install', and then the packages of 'make deb'.
# Results are TAP.

# shellcheck source=tests/vm/kernels.sh
source "$(dirname "$0")/kernels.sh"

kernel=6.1
kept=build/vm/systemd/root # without the packages, for later runs
root=build/vm/systemd/guest
out=build/vm/systemd/out
seconds=${VM_SECONDS:-2700} # limit for a guest that hangs, on a loaded machine
also='systemd, systemd-sysv, dbus, udev, kmod, iproute2, iputils-ping, curl, procps, make'

bail() {
	echo "Bail out! $*"
	exit 1
}

# What 'make install' reads, as it was built.
copy_tree() { # DIRECTORY
	local file

	mkdir -p "$1/build"
	cp -a --parents Makefile README.md docs packaging user/completion "$1" || return
	for file in build/ringfence{,-watch,-fleet,.bpf.o,.lua}; do
		cp "$file" "$1/build" || return
	done
	strip "$1"/build/ringfence{,-watch,-fleet}
}

# Services of the packages must not start while they are unpacked, but can start in the guest.
make_root() {
	rm -rf --one-file-system "$root"
	cp -a "$kept" "$root" || return
	rm -rf "$root"/usr/share/{doc,locale,man}/* "$root"/var/lib/apt/lists/* \
		"$root/usr/sbin/policy-rc.d" "$root/etc/fstab"
	mkdir -p "$root/usr/lib/modules" "$root/etc/systemd/system/multi-user.target.wants"
	cp -a "build/vm/kernels/$kernel"/lib/modules/* "$root/usr/lib/modules" || return
	cp "$@" "$root/root" || return
	cp tests/vm/guest_systemd.sh "$root/root/guest.sh"
	copy_tree "$root/root/tree" || return
	: >"$root/etc/machine-id"
	ln -sf sbin/init "$root/init"
	ln -sf /lib/systemd/system/multi-user.target "$root/etc/systemd/system/default.target"
	ln -sf ../guest.service "$root/etc/systemd/system/multi-user.target.wants/guest.service"
	cat >"$root/etc/systemd/system/guest.service" <<-'end'
		[Unit]
		After=dbus.service basic.target

		[Service]
		ExecStart=/bin/sh -c 'bash /root/guest.sh >/dev/ttyS1 2>&1; systemctl poweroff -ff'
	end
}

boot() {
	timeout -k 5 "$seconds" qemu-system-x86_64 -cpu max -accel tcg -smp 2 -m 2500 -nodefaults \
		-display none -no-reboot -serial "file:$out/console" -serial "file:$out/tap" \
		-kernel "build/vm/kernels/$kernel/vmlinuz" -initrd "$out/image" \
		-append 'console=ttyS0 no_timer_check panic=-1 quiet mitigations=off init_on_alloc=0' \
		</dev/null >"$out/qemu" 2>&1
}

[ "$(id -u)" = 0 ] || bail 'it makes a root; run it as root'
packages=(build/deb/ringfence_*.deb build/deb/ringfence-watch_*.deb)
for package in "${packages[@]}"; do
	[ -f "$package" ] || bail "there are no packages; run 'make deb'"
done
rm -rf "$out" && mkdir -p "$out" "${kept%/*}"
tests/vm/fetch.sh "$kernel" >"$out/fetch" 2>&1 || bail "cannot fetch the kernel: $(tail -n 3 "$out/fetch")"
ALSO=$also tests/packaging/chroot.sh "$kept" "${packages[@]}" >"$out/chroot" 2>&1 ||
	bail "cannot make the root: $(tail -n 5 "$out/chroot")"
make_root "${packages[@]}" || bail 'cannot prepare the root'
(cd "$root" && find . -xdev -print0 | cpio --quiet -0 -o -H newc) | gzip -1 >"$out/image"
: >"$out/tap"
boot
status=$?
rm -rf --one-file-system "$root" "$out/image"
tr -d '\r' <"$out/tap" | grep -v '^# the guest ends'
grep -q '^# the guest ends' "$out/tap" && exit
echo "not ok - the guest did not end (QEMU: $status); its console ends with:"
tail -n 30 "$out/console" | tr -d '\r' | sed 's/^/#   /'
exit 1
