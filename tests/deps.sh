#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Installs packages for one or more purposes: `build`, `demo` (used by `make demo`), `demo-fleet`,
# `test`, `lint`, `fuzz`, `bench` (the programs to compare with), `packages` (packages of
# distributions), `arm64` (build them for arm64), `ecosystem` (the programs that ringfence works
# with), `vm` (run on other kernels), `clangs` (a second clang, for the tests that use all installed
# clangs). Installed packages are not changed. If the package manager is unknown, the script lists
# the requirements.
# `list MANAGER` before the purposes prints the names for this package manager, without installing
# anything; docs/packages.md also lists them.
set -eu

manager=
if [ "${1-}" = list ]; then
	manager=$2
	shift 2
fi
kinds=("${@:-build}")
kind=${kinds[0]}

needs='a C compiler, make, clang and llvm (14 or newer), libbpf 1.1 and libxdp 1.3 with headers, bpftool,
the Linux UAPI headers, libelf, zlib, hiredis, jansson, dygraphs (for plots on the page), libmicrohttpd, libmnl, libseccomp, ncurses, nettle, SQLite, pkg-config'
[ "$kind" = demo ] && needs='iproute2, jq, sysctl, nsenter'
[ "$kind" = demo-fleet ] && needs='Redis 7 or Valkey'
[ "$kind" = test ] && needs='cmocka, xdp-tools, iproute2, jq, curl, ethtool, strace, tcpdump, tshark, tmux, SQLite, stunnel, OpenSSL,
systemd-analyze, bash, zsh, fish, Redis 7 or Valkey, Python 3 with jsonschema, nginx, NSD, dig, nftables'
[ "$kind" = lint ] && needs='clang-format 14, shellcheck, mandoc, man'
[ "$kind" = fuzz ] && needs="clang's runtime libraries: libFuzzer and the sanitizers"
[ "$kind" = vm ] && needs='Debian: its kernels are fetched by apt; QEMU, qemu-user, cross compilers, clang'
[ "$kind" = bench ] && needs='nftables, iptables, xdp-filter (xdp-tools), gnuplot, nginx, NSD, dig, curl'
[ "$kind" = ecosystem ] && needs='fail2ban, nftables, Prometheus with promtool, node_exporter, Python 3 with prometheus_client, jq, Chromium with chromedriver, Node.js 20'
[ "$kind" = packages ] && needs='a Debian system: debhelper, lintian, debootstrap, rpm, makepkg'
[ "$kind" = arm64 ] && needs='a Debian system: a cross compiler and libraries for arm64'

newest_clang() {
	apt-cache pkgnames clang- | grep -xE 'clang-[0-9]+' | sort -V | tail -n 1
}

packages() {
	case $1-$kind in
	apt-build) echo gcc make clang llvm libbpf-dev libxdp-dev bpftool linux-libc-dev libelf-dev zlib1g-dev \
		libjansson-dev libjs-dygraphs libhiredis-dev libmicrohttpd-dev libmnl-dev libncurses-dev libseccomp-dev nettle-dev libsqlite3-dev \
		pkg-config ;;
	# gojq: in place of Debian 12's jq, which starts slowly
	apt-test) echo libcmocka-dev xdp-tools iproute2 jq gojq curl ethtool strace python3-jsonschema sqlite3 tmux procps util-linux \
		systemd tcpdump tshark zsh fish redis-server stunnel4 openssl nginx-light nsd bind9-dnsutils nftables ;;
	apt-demo | zypper-demo) echo iproute2 jq procps util-linux ;;
	apt-demo-fleet) echo redis-server ;;
	*-demo-fleet) echo valkey ;;
	apt-lint) echo clang-format-14 clang-format shellcheck mandoc man-db ;;
	apt-fuzz) echo clang libclang-rt-dev ;;
	apt-clangs) echo clang-19 ;;
	apt-bench) echo nftables iptables xdp-tools gnuplot-nox nginx-light nsd bind9-dnsutils curl ;;
	apt-packages) echo debhelper dpkg-dev fakeroot lintian debootstrap rpm makepkg pacman-package-manager \
		libarchive-tools ;;
	apt-arm64) echo crossbuild-essential-arm64 {libbpf,libelf,libhiredis,libjansson,libmicrohttpd,libmnl,libncurses,libseccomp,libsqlite3,libxdp,nettle,zlib1g}-dev:arm64 \
		pkg-config:arm64 ;;
	apt-ecosystem) echo fail2ban nftables nodejs python3 python3-prometheus-client jq prometheus prometheus-node-exporter chromium chromium-driver ;;
	apt-vm) echo qemu-system-x86 qemu-system-arm qemu-system-misc qemu-user busybox-static kmod cpio \
		xz-utils gcc-aarch64-linux-gnu gcc-s390x-linux-gnu clang-14 "$(newest_clang)" ;;
	dnf-build) echo gcc make clang llvm libbpf-devel libxdp-devel bpftool kernel-headers elfutils-libelf-devel \
		zlib-devel jansson-devel hiredis-devel libmicrohttpd-devel libmnl-devel libseccomp-devel ncurses-devel nettle-devel sqlite-devel \
		pkgconf-pkg-config ;;
	dnf-test) echo libcmocka-devel xdp-tools libasan libubsan iproute jq curl ethtool strace python3-jsonschema sqlite tmux \
		procps-ng util-linux systemd tcpdump wireshark-cli zsh fish valkey stunnel openssl nginx nsd bind-utils nftables ;;
	dnf-demo) echo iproute jq procps-ng util-linux ;;
	dnf-lint) echo clang-tools-extra ShellCheck mandoc man-db ;;
	dnf-fuzz) echo clang compiler-rt ;;
	dnf-ecosystem) echo fail2ban-server nftables nodejs python3 jq chromium chromedriver ;;
	dnf-bench) echo nftables iptables-nft xdp-tools gnuplot nginx nsd bind-utils curl ;;
	pacman-build) echo gcc make clang llvm libbpf libxdp bpf linux-api-headers libelf zlib jansson hiredis libmicrohttpd libmnl \
		libseccomp ncurses nettle sqlite pkgconf ;;
	pacman-test) echo cmocka xdp-tools iproute2 jq curl ethtool strace python-jsonschema tmux procps-ng util-linux systemd \
		tcpdump wireshark-cli zsh fish valkey stunnel openssl nginx nsd bind nftables ;;
	pacman-demo) echo iproute2 jq procps-ng util-linux ;;
	pacman-lint) echo clang shellcheck mandoc man-db ;;
	pacman-fuzz) echo clang compiler-rt ;;
	pacman-ecosystem) echo fail2ban nftables nodejs python python-prometheus_client jq prometheus prometheus-node-exporter chromium ;;
	pacman-bench) echo nftables iptables xdp-tools gnuplot nginx nsd bind curl ;;
	zypper-build) echo gcc make clang llvm libbpf-devel libxdp-devel bpftool linux-glibc-devel libelf-devel \
		zlib-devel libjansson-devel hiredis-devel libmicrohttpd-devel libmnl-devel libseccomp-devel ncurses-devel libnettle-devel sqlite3-devel \
		pkg-config ;;
	zypper-test) echo libcmocka-devel xdp-tools iproute2 jq curl ethtool strace python3-jsonschema sqlite3 tmux procps util-linux \
		systemd tcpdump wireshark zsh fish valkey stunnel openssl nginx nsd bind-utils nftables ;;
	zypper-lint) echo clang ShellCheck mandoc man ;;
	zypper-fuzz) echo clang ;; # contains the sanitizers' runtime
	zypper-ecosystem) echo fail2ban nftables nodejs-default python3 jq chromium chromedriver ;;
	zypper-bench) echo nftables iptables xdp-tools gnuplot nginx nsd bind-utils curl ;;
	esac
}

# The packages of every kind.
all_packages() {
	for kind in "${kinds[@]}"; do
		packages "$1"
	done
}

if [ -n "$manager" ]; then
	all_packages "$manager"
	exit
fi

# A different package can provide this name, as zlib-ng-compat-devel does for zlib-devel.
missing_rpm() { # MANAGER
	local package

	for package in $(all_packages "$1"); do
		rpm -q --whatprovides "$package" >/dev/null || echo "$package"
	done
}

missing_apt() {
	local package

	for package in $(all_packages apt); do
		dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' ||
			echo "$package"
	done
}

need_root() {
	[ "$(id -u)" = 0 ] && return
	echo "installing packages needs root; missing: $*" >&2
	exit 1
}

# Waits for a running apt, instead of failing.
apt_get() {
	DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120 "$@"
}

# The version that apt has installed or would install.
candidate() { # PACKAGE
	apt-cache policy "$1" | sed -n 's/^ *Candidate: //p'
}

# Debian 12's QEMU has no igb, whose driver supports XDP; the QEMU in its backports does. Their
# package lists are stored separately, to leave apt's configuration unchanged.
newer_qemu() {
	local suite mirror directory options packages=(qemu-system-{x86,arm,misc})

	! dpkg --compare-versions "$(candidate "${packages[0]}")" ge 1:8 || return 0
	suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)-backports
	# shellcheck disable=SC2016 # apt's own variables
	mirror=$(apt-get indextargets --format '$(LABEL)|$(REPO_URI)' 'Created-By: Packages' |
		sed -n '/^Debian|/ { s///p; q }')
	need_root "QEMU 8 or newer, of $suite"
	directory=$(mktemp -d)
	mkdir -p "$directory/lists/partial"
	echo "deb $mirror $suite main" >"$directory/list"
	options=(-o Dir::Etc::sourcelist="$directory/list" -o Dir::State::lists="$directory/lists")
	apt_get "${options[@]}" update
	apt_get "${options[@]}" install -y --no-install-recommends \
		-t "$suite" "${packages[@]}"
	rm -r "$directory"
}

if command -v apt-get >/dev/null; then
	[[ " ${kinds[*]} " != *' vm '* ]] || newer_qemu
	mapfile -t missing < <(missing_apt)
	[ "${#missing[@]}" = 0 ] && exit
	need_root "${missing[@]}"
	apt_get update
	apt_get install -y --no-install-recommends "${missing[@]}"
elif command -v dnf >/dev/null; then
	mapfile -t missing < <(missing_rpm dnf)
	[ "${#missing[@]}" = 0 ] && exit
	need_root "${missing[@]}"
	dnf install -y "${missing[@]}"
elif command -v pacman >/dev/null; then
	mapfile -t missing < <(for p in $(all_packages pacman); do pacman -T "$p"; done)
	[ "${#missing[@]}" = 0 ] && exit
	need_root "${missing[@]}"
	pacman -Sy --noconfirm --needed "${missing[@]}"
elif command -v zypper >/dev/null; then
	mapfile -t missing < <(missing_rpm zypper)
	[ "${#missing[@]}" = 0 ] && exit
	need_root "${missing[@]}"
	zypper --non-interactive install "${missing[@]}"
else
	# Not an error: everything might have been installed by other means.
	printf 'make deps: no package manager that it knows (apt, dnf, pacman, zypper); needed are:\n%s\n' \
		"$needs" >&2
fi
