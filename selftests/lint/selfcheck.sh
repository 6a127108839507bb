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
# makes CHECK fail and say something that matches FINDING
planted() {
	local out
	rm -rf "$TMP/tree"
	mkdir "$TMP/tree"
	tar -c --exclude=./build --exclude=./.git . | tar -x -C "$TMP/tree"
	(cd "$TMP/tree" && eval "$3") || { echo "# cannot plant: $3"; failed=$((failed + 1)); return; }
	out=$(cd "$TMP/tree" && selftests/lint/run.sh "$1" 2>&1)
	number=$((number + 1))
	if grep -q '^not ok' <<<"$out" && grep -qE "$2" <<<"$out"; then
		echo "ok $number lint selfcheck $1: $2"
	else
		failed=$((failed + 1))
		echo "not ok $number lint selfcheck $1: $2"
		echo "# ${out//$'\n'/$'\n'# }"
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
	planted rst 'kernel-doc has nothing' \
		'printf "\n.. kernel-doc:: uapi/linux/profil.h\n   :identifiers: planted\n" >>Documentation/userspace-api/profil.rst'
	planted rst 'start-string without end-string' \
		'printf "\n*planted\n" >>Documentation/internals.rst'
	planted mandoc 'unknown macro: .Planted' 'echo .Planted >>Documentation/man/profil.3'
	planted mandoc 'mandoc is not installed' \
		'mkdir bin && ln -s /usr/bin/* bin/ && rm bin/mandoc && sed -i "2i PATH=$PWD/bin" selftests/lint/run.sh'
	planted manual '^# -max_timer_rate' \
		'sed -i "/^.Op Cm max_timer_rate/d" Documentation/man/profil.4'
	planted manual '^# -ENODEV' 'sed -i "/^.It Bq Er ENODEV/d" Documentation/man/profil.4'
	planted uapi-layout 'profil_stop' \
		'sed -i "/^struct profil_stop {/a __u32 planted;" uapi/linux/profil.h'
	planted uapi-layout 'padding' \
		'sed -i "/^struct profil_stop {/a __u32 planted; __aligned_u64 wide;" uapi/linux/profil.h'
	planted uapi-dialects 'C\+\+ style comments' 'echo "// planted" >>uapi/linux/profil.h'
	planted compat 'HAVE_PLANTED' 'echo "#ifdef HAVE_PLANTED" >>module/main.c'
	planted spdx 'planted.sh: no SPDX' 'echo true >selftests/planted.sh'
	planted size 'planted.c has 251 lines' 'seq 251 >module/planted.c'
	planted comparison '^# -planted' \
		'echo "test            \`\`planted\`\`" >>Documentation/comparison.rst'
	planted comparison 'uapi_test has no test planted' \
		'echo "test            \`\`uapi_test: planted\`\`" >>Documentation/comparison.rst'
	planted comparison '^# \+planted' 'echo "TEST(planted) {}" >>selftests/kernel/semantics_test.c'
	planted statements 'uapi_test has no test planted' \
		'echo "\`\`uapi_test: planted\`\`" >>Documentation/security.rst'
	planted names 'TODO: planted' 'echo "/* TODO: planted */" >>module/main.c'
}

echo "TAP version 13"
all
echo "1..$number"
echo "# $((number - failed)) passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
