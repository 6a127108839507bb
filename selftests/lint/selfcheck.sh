#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A check that cannot fail is worth nothing: plants a defect for each check of
# run.sh, in a copy of the tree, and wants to see it found.
set -uo pipefail

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$TOP" || exit 1
number=0 failed=0
TMP=$(mktemp -d)
trap 'rm -rf "$TMP"' EXIT

# planted CHECK FINDING PLANT: the shell command PLANT, run in a fresh copy,
# makes CHECK fail and say something that matches FINDING.  Those that look at each file by
# itself, and take minutes for all, look at what PLANT changes.
planted() {
	local out option=''
	copy
	case $1 in coccinelle | checkpatch | shellcheck) option=--changed && remember ;; esac
	(cd "$TMP/tree" && eval "$3") || { report 1 "cannot plant: $3" ''; return; }
	out=$(cd "$TMP/tree" && selftests/lint/run.sh $option "$1" 2>&1)
	grep -q '^not ok' <<<"$out" && grep -qE "$2" <<<"$out"
	report $? "$1: $2" "$out"
}

# edited CHECKS FAILING PLANT: all was well before the shell command PLANT, so --changed
# runs these checks, each time until those that fail do no more
edited() {
	local out again
	copy
	remember
	out=$(cd "$TMP/tree" && eval "$3" && selftests/lint/run.sh --changed 2>&1)
	again=$(cd "$TMP/tree" && selftests/lint/run.sh --changed 2>&1)
	[ "$(results "$out")" = "$(tr ' ' '\n' <<<"$1" | sort | paste -sd ' ')" ] &&
		[ "$(grep '^not ok' <<<"$out" | cut -d ' ' -f 5)" = "$2" ] &&
		[ "$(results "$again")" = "${2:+$(results "$out")}" ]
	report $? "--changed, after $3" "$out$again"
}

# results OUTPUT: the names of the checks that ran
results() {
	sed -nE 's/^(not )?ok [0-9]+ lint ([^ ]*)$/\2/p' <<<"$1" | sort | paste -sd ' '
}

# copy: the tree as it is, in $TMP/tree.  It is copied once, and put back as it was then, but for
# what was built in it: only what a plant changes is compiled again.
copy() {
	local git=(git --git-dir="$TMP/git" --work-tree="$TMP/tree" -c core.autocrlf=false)
	if [ -d "$TMP/git" ]; then
		rm -f "$TMP/tree/build/lint.passed"
		(cd "$TMP/tree" && "${git[@]}" clean -ffdqx -e /build && "${git[@]}" checkout -q -f -- .) && return
		echo "Bail out! git cannot put the copy of the tree back"
		exit 1
	fi
	mkdir "$TMP/tree"
	# nor what another lane is building in it just now
	tar -c --exclude=./build --exclude=./.git --exclude='*.o' --exclude='*.ko' --exclude='*.mod' \
		--exclude='*.mod.c' --exclude='*.cmd' --exclude='.checkpatch*' . | tar -x -C "$TMP/tree"
	(cd "$TMP/tree" && find . -type f | sort | xargs sha256sum | sed 's,  \./, ,') >"$TMP/passed"
	(cd "$TMP/tree" && "${git[@]}" init -q && "${git[@]}" add -A -f .) || exit
}

# remember: all is well with the copy
remember() {
	mkdir -p "$TMP/tree/build"
	cp "$TMP/passed" "$TMP/tree/build/lint.passed"
}

# report STATUS WHAT OUTPUT
report() {
	number=$((number + 1))
	if [ "$1" = 0 ]; then
		echo "ok $number lint selfcheck $2"
	else
		failed=$((failed + 1))
		echo "not ok $number lint selfcheck $2"
		echo "# ${3//$'\n'/$'\n'# }"
	fi
}

# shellcheck disable=SC2016 # the plants are expanded in the copy
all() {
	planted build-6.12 'planted_unused' \
		'echo "static int planted_unused(void) { return 0; }" >>module/main.c'
	planted build-6.1 'dereference of noderef' \
		'echo "int planted(int __user *p); int planted(int __user *p) { return *p; }" >>module/main.c'
	planted build-7.2 'planted_undeclared' \
		'echo "int planted(void) { return planted_undeclared; }" >>module/main.c'
	planted coccinelle 'reference preceded by free' \
		'printf "static int planted(struct foo *p)\n{\n\tkfree(p);\n\treturn p->x;\n}\n" >>module/main.c'
	planted coccinelle 'finds nothing in planted_free.c' \
		'sed -i /kfree/d selftests/lint/planted_free.c'
	planted checkpatch 'main.c.*SPACING' 'echo "static int planted=1;" >>module/main.c'
	planted checkpatch 'ex.c.*SPACING' 'echo "static int planted=1;" >>Documentation/examples/ex.c'
	planted shellcheck 'SC2086' 'sed -i "\$a rm \$1" selftests/setup.sh'
	planted kernel-doc "'region_num' not described" \
		'sed -i "/@region_num:/d" uapi/linux/profil.h'
	planted install 'gprof.rst is not installed' 'sed -i "s, Documentation/\*.rst,," Makefile'
	planted install 'this is left' 'sed -i "/rm -rf .*DOCDIR/d" Makefile'
	planted install '^# /.*/lib' 'sed -i "s,lib/modules/\$\$kernel/updates,lib/modules/\$(KVER)/updates," Makefile'
	planted install 'half a module is installed' 'sed -i "/test -n \"\$\$kernel\"/d" Makefile'
	planted rst 'kernel-doc has nothing' \
		'printf "\n.. kernel-doc:: uapi/linux/profil.h\n   :identifiers: planted\n" >>Documentation/userspace-api/profil.rst'
	planted rst 'the interface has no struct' 'sed -i "/^.. kernel-doc/,/:identifiers/d" Documentation/userspace-api/profil.rst'
	planted rst 'its comment' 'sed -i "/@jitter: /,+1d" uapi/linux/profil.h'
	planted rst 'start-string without end-string' \
		'printf "\n*planted\n" >>Documentation/internals.rst'
	planted mandoc 'unknown macro: .Planted' 'echo .Planted >>Documentation/man/profil.3'
	planted mandoc "can't break line" \
		'printf ".Bl -column %s 0123456789012345678901234567890123456789 wide -compact\n.It a Ta b Ta wider than what is left of the line\n.El\n" 0123456789012345678901234567890123456789 >>Documentation/man/gmon.out.5'
	planted mandoc 'mandoc is not installed' \
		'mkdir bin && ln -s /usr/bin/* bin/ && rm bin/mandoc && sed -i "2i PATH=$PWD/bin" selftests/lint/run.sh'
	planted manual '^# -max_timer_rate' \
		'sed -i "/^.Op Cm max_timer_rate/d" Documentation/man/profil.4'
	planted manual '^# -ENODEV' 'sed -i "/^.It Bq Er ENODEV/d" Documentation/man/profil.4'
	planted abi 'frozen, and not in the header: profil_ioc_stop.cookie +__u64, 8 bytes at 8' \
		'sed -i "/^struct profil_ioc_stop {/a __u64 planted;" uapi/linux/profil.h'
	planted abi 'in the header: profil_process.planted' \
		'sed -i "s/__aligned_u64 cgroup;/& __aligned_u64 planted;/" uapi/linux/profil.h'
	planted abi 'frozen, and not in the header: PROFIL_START_F_NOINHERIT +0x2' \
		'sed -i "/define PROFIL_START_F_NOINHERIT/s/<< 1/<< 2/" uapi/linux/profil.h'
	planted abi 'in the header: PROFIL_PLANTED +0x9' 'sed -i "/define PROFIL_ABI/i #define PROFIL_PLANTED 9" uapi/linux/profil.h'
	planted abi 'on i386-linux-gnu uapi/linux/profil.h is not' \
		'sed -i "/^struct profil_process {/,/^}/s/comm.16./comm[sizeof(long) * 2]/" uapi/linux/profil.h'
	planted abi 'padding' \
		'sed -i "/^struct profil_ioc_stop {/a __u32 planted; __aligned_u64 wide;" uapi/linux/profil.h'
	planted abi 'its numbers are macros' 'sed -i "/define PROFIL_ABI/i enum planted { PLANTED };" uapi/linux/profil.h'
	planted abi 'abi_test.c:.*PROFIL_IOC_STOP' 'echo "int planted = PROFIL_IOC_STOP;" >>selftests/kernel/abi_test.c'
	planted statements 'abi_test has no test planted' \
		'echo "\`\`abi_test: planted\`\`" >>Documentation/userspace-api/profil.rst'
	planted uapi-dialects 'C\+\+ style comments' 'echo "// planted" >>uapi/linux/profil.h'
	planted kselftest 'kselftest would build' 'sed -i "s/^TEST_GEN_PROGS :=.*/TEST_GEN_PROGS := uapi_test/" selftests/kernel/Makefile'
	planted kselftest 'No such file' 'sed -i "1i #include \"../vm/planted.h\"" selftests/kernel/uapi_test.c'
	planted compat 'HAVE_PLANTED' 'echo "#ifdef HAVE_PLANTED" >>module/main.c'
	planted spdx 'planted.sh: no SPDX' 'echo true >selftests/planted.sh'
	planted order 'has flush above tick, and tick.c uses profil_flush_all' \
		'echo "void profil_flush_all(struct profil_reg *reg); void planted(struct profil_reg *reg); void planted(struct profil_reg *reg) { profil_flush_all(reg); }" >>module/tick.c'
	planted order 'has tick above find, and module/find.c includes tick.h' 'sed -i "1a #include \"tick.h\"" module/find.c'
	planted order 'libwrap/ORDER has write above objects, and objects.c uses libprofil_write' \
		'echo "int planted(void) { return libprofil_write(0); }" >>libwrap/gmon/objects.c'
	planted size 'planted.c has 301 lines' 'seq 301 >module/planted.c'
	planted comparison '^# -planted' \
		'echo "test            \`\`planted\`\`" >>Documentation/comparison.rst'
	planted comparison 'uapi_test has no test planted' \
		'echo "test            \`\`uapi_test: planted\`\`" >>Documentation/comparison.rst'
	planted comparison '^# \+planted' 'echo "TEST(planted) {}" >>selftests/kernel/semantics_test.c'
	planted statements 'uapi_test has no test planted' \
		'echo "\`\`uapi_test: planted\`\`" >>Documentation/security.rst'
	planted statements 'no mutant "planted" says that' 'sed -i "s/([*]tracer[*])/(*planted*)/" Documentation/security.rst'
	planted version 'dkms.conf 9.9.9' 'sed -i "s/^PACKAGE_VERSION=.*/PACKAGE_VERSION=\"9.9.9\"/" dkms.conf'
	planted version 'tools/command.h 9.9.9' 'sed -i "s/^#define VERSION .*/#define VERSION \"9.9.9\"/" tools/command.h'
	planted version 'debian/changelog has no version' 'sed -i "/^profil (/d" debian/changelog'
	planted debian '^# -planted.3' 'touch Documentation/man/planted.3'
	planted debian 'names planted.rst, which is not there' 'echo planted.rst >>debian/libprofil-dev.docs'
	planted debian '^# -libjansson-dev' 'sed -i "/^libjansson-dev/s/ command//" selftests/setup.sh'
	planted mutants 'mutants/gap.patch does not apply' 'sed -i "s/^ /&planted/" selftests/race/mutants/gap.patch'
	planted manual '^# \+planted' 'echo "# options profil planted=1" >>debian/examples/profil.conf'
	edited '' '' true
	edited 'install rst shellcheck spdx names' '' 'echo >>Documentation/internals.rst'
	edited 'debian install mandoc manual shellcheck spdx names' mandoc 'echo .Planted >>Documentation/man/profil.3'
	edited 'checkpatch install order shellcheck size spdx names' checkpatch 'echo "static int planted=1;" >>libwrap/calls.c'
	edited "checkpatch kselftest comparison statements shellcheck spdx names" kselftest "rm selftests/kernel/ticks.h"
	planted names 'TODO: planted' 'echo "/* TODO: planted */" >>module/main.c'
}

echo "TAP version 13"
all
echo "1..$number"
echo "# $((number - failed)) passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
