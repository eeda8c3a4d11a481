# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
# The common part of the kernel matrix's scripts: the list of kernels, their sources, and the place
# where each is stored. A script that sources this file then runs at the top of the tree.
#
# A kernel is identified by a suite and the package that depends on the suite's current kernel.
# Versions are never pinned, because the mirror only has the last few.

set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
PATH=$PATH:/usr/sbin:/sbin
export LC_ALL=C

# shellcheck disable=SC2034 # for those who source this
all_kernels='5.10 6.1 6.12 newest arm64 s390x'

die() {
	echo "$0: $*" >&2
	exit 1
}

# The suites of network cards, one per driver.
cards='igb virtio_net vmxnet3 e1000e'

is_card() { # SUITE
	[[ " $cards " = *" $1 "* ]]
}

# kernel_for KERNEL SUITE: the kernel that runs that suite of tests. Cloud kernels are small, but
# lack drivers of network cards.
kernel_for() {
	if is_card "$2" || [ "$2" = bond ] || [ "$2" = challenge ]; then echo "$1-generic"; else echo "$1"; fi
}

# suites_of KERNEL: the suites to search; the highest version among them is taken.
suites_of() {
	case ${1%-generic} in
	5.10) echo bullseye ;;
	6.1) echo bookworm ;;
	6.12 | arm64 | s390x) echo trixie ;;
	newest) echo trixie trixie-backports sid ;;
	*) die "kernel '$1' is not known; there are: $all_kernels" ;;
	esac
}

architecture_of() { # KERNEL
	case $1 in
	arm64 | s390x) echo "$1" ;;
	*) echo amd64 ;;
	esac
}

# The package that depends on the suite's current kernel. There is no cloud kernel for s390x.
package_of() { # KERNEL
	case $1 in
	*-generic | s390x) echo "linux-image-$(architecture_of "$1")" ;;
	*) echo "linux-image-cloud-$(architecture_of "$1")" ;;
	esac
}

# The expected result: the kernel runs the fence, or is refused.
duty_of() { # KERNEL
	case $1 in
	5.10) echo refuses ;;
	*) echo fence ;;
	esac
}

# ---- apt, with a separate configuration ----

# The address of Debian's archive, or of its security archive, in this system's configuration.
mirror() { # LABEL
	# shellcheck disable=SC2016 # apt's own variables
	apt-get indextargets --format '$(LABEL)|$(REPO_URI)' 'Created-By: Packages' |
		sed -n "s/^$1|//p" | head -n 1
}

# use_suites NAME ARCHITECTURE SUITE…: configures apt for these suites only, in build/vm/apt/NAME,
# without changing the system's package lists.
use_suites() {
	local directory suite debian security

	directory=$PWD/build/vm/apt/$1
	debian=$(mirror Debian)
	security=$(mirror Debian-Security)
	[ -n "$debian" ] || die "apt here knows no mirror of Debian; is this Debian, and did" \
		"'apt-get update' run?"
	mkdir -p "$directory/lists/partial" "$directory/cache/archives/partial" "$directory/none"
	: >"$directory/status"
	: >"$directory/sources"
	for suite in "${@:3}"; do
		echo "deb $debian $suite main" >>"$directory/sources"
		case $suite in
		sid | *-backports) ;;
		*) [ -z "$security" ] || echo "deb $security $suite-security main" >>"$directory/sources" ;;
		esac
	done
	cat >"$directory/conf" <<-END
		#clear APT::Architectures;
		APT::Architecture "$2";
		APT::Architectures { "$2"; };
		APT::Sandbox::User "root";
		Acquire::Languages "none";
		Acquire::Retries "3";
		Dir::Etc::sourcelist "$directory/sources";
		Dir::Etc::sourceparts "$directory/none";
		Dir::State::status "$directory/status";
		Dir::State::lists "$directory/lists";
		Dir::Cache "$directory/cache";
	END
	export APT_CONFIG=$directory/conf
	apt-get -qq update 2>"$directory/log" && return
	# The security archive of a rare architecture is sometimes out of date.
	sed -i '/-security /d' "$directory/sources"
	apt-get -qq update || die "cannot read the package lists of ${*:3}"
	echo "# ${*:3}: without the security archive, which apt could not read"
}
