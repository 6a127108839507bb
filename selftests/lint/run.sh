#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Checks that need neither a VM nor the module loaded.
#
#   selftests/lint/run.sh [CHECK...]
#   selftests/lint/run.sh --changed	only what files can make red that have changed since
#					all was well, which build/lint.passed tells; many checks
#					look at these files alone.  The module is built for 6.12,
#					and only what has to be built anew
#
# One TAP line a check; what it found follows when it fails.  A missing tool is
# a failure too.  A check is a function check_NAME below: it fails by its exit
# status, and whatever it prints explains the failure.
set -uo pipefail

LINT=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TOP=$(cd "$LINT/../.." && pwd)
VM=$TOP/selftests/vm
MEMORY=build/lint.passed
cd "$TOP" || exit 1
# make -s would not say which files it checks
unset MAKEFLAGS

# Slow ones first, so that two at a time end together.  Of build-6.1 and build-7.2, which have a
# lane of their own, one asks by name.
CHECKS='checkpatch build-6.12 shellcheck order coccinelle
	install kernel-doc rst mandoc manual abi uapi-dialects kselftest compat spdx size names comparison
	statements version debian mutants'

# What a check reads, as a regular expression of names; the others read all.
declare -A READS=(
	[build-6.12]='^(module/|uapi/|Kbuild$|selftests/race/race\.c$)'
	[coccinelle]='^module/.*\.c$'
	[checkpatch]='\.[ch]$'
	[install]='^(Makefile|Documentation/|libwrap/|uapi/|README.md|CHANGELOG.md|COPYING|LICENSES/|dkms.conf|Kbuild)'
	[kernel-doc]='^(uapi|module)/'
	[rst]='\.rst$|^uapi/|^Documentation/.*\.(py|svg)$'
	[mandoc]='^Documentation/man/'
	[manual]='^(Documentation/man/|debian/examples/|uapi/|module/)'
	[abi]='^(uapi/|Documentation/userspace-api/abi-1\.txt$|selftests/kernel/abi)'
	[uapi-dialects]='^uapi/'
	[kselftest]='^(selftests/kernel/|uapi/)'
	[compat]='^(module/|Kbuild$)'
	[order]='^(module/|libwrap/|Kbuild$)'
	[size]='^(module|libwrap)/'
	[comparison]='^(Documentation/comparison.rst|selftests/kernel/)'
	[version]='^(Makefile|libwrap/Makefile|tools/(Makefile|command\.h)$|module/main.c|dkms.conf|debian/changelog|CHANGELOG.md|README.md|packaging/)'
	[debian]='^(Documentation/man/|debian/|selftests/setup\.sh$)'
	[statements]='^(Documentation/(security|userspace-api/profil)\.rst$|selftests/(kernel|tool|race/mutants)/)'
	[mutants]='^(module|selftests/race/mutants)/'
)

# need COMMAND PACKAGE
need() {
	command -v "$1" >/dev/null && return
	echo "$1 is not installed: apt-get install $2"
	return 1
}

# Files of the tree, not what builds leave in it: all_files FIND-TESTS...
all_files() {
	find . \( -name .git -o -path ./build \) -prune -o -type f \( "$@" \) -print |
		grep -vE '\.(o|ko|mod|mod\.c|cmd)$|/\.checkpatch' | sort
}

# files FIND-TESTS...: of these, what has changed, if that is all that is asked for
files() {
	if [ -e "$TMP/changed" ]; then
		all_files "$@" | grep -xFf <(sed 's,^,./,' "$TMP/changed")
	else
		all_files "$@"
	fi
}

# The content of all files, one in a line.
contents() {
	all_files -name '*' | tr '\n' '\0' | xargs -0 sha256sum | sed 's,  \./, ,'
}

# find_changed: what differs from when all was well, also files that are gone, into
# $TMP/changed; fails if everything has to be looked at.
find_changed() {
	[ -r "$MEMORY" ] || return
	comm -3 <(sort "$MEMORY") <(sort "$TMP/contents") | cut -d ' ' -f 2- | sort -u >"$TMP/changed"
	! grep -q '^selftests/lint/' "$TMP/changed" || { rm "$TMP/changed"; return 1; }
}

# concerned CHECK: something has changed that it reads
concerned() {
	grep -qE "${READS[$1]:-.}" "$TMP/changed"
}

shell_files() {
	{ files -name '*' || true; } |
		xargs -r awk 'FNR == 1 { shown = 0 }
			!shown && /^#!\/bin\/(ba)?sh|^#!\/usr\/bin\/env (ba)?sh|^# shellcheck shell=/ { print FILENAME; shown = 1 }'
}

# The scripts for checking that only the kernel's own source has.
source_tree() {
	SOURCE=$("$VM/kernels.sh" source) && [ -d "$SOURCE/scripts" ] && return
	echo "no kernel source for its checking scripts: run selftests/vm/kernels.sh source"
	return 1
}

# Warnings of gcc and of sparse are errors here; the test build has all files.
# KBUILD_CHECKSRC: 7.2 asks a script that Debian leaves out whether sparse is any
# good, and goes on without.
build() {
	local out
	need sparse sparse || return
	# what has been built was checked then, and would not be there otherwise
	out=$(KEEP=$([ ! -e "$TMP/changed" ] || echo 1) \
		MODULE_MAKE='PROFIL_TEST=y C=1 KBUILD_CHECKSRC=1 CF=-Wsparse-error KCFLAGS=-Werror' \
		"$VM/module.sh" "$1" 2>&1) || { echo "$out"; return 1; }
	[ -e "$TMP/changed" ] || [ "$(grep -c '^ *CHECK ' <<<"$out")" = "$(files -path './module/*.c' -o -path ./selftests/race/race.c | wc -l)" ] ||
		{ echo "sparse did not check every file:"; echo "$out"; return 1; }
}

check_build_6_1() { build 6.1; }
check_build_6_12() { build 6.12; }
check_build_7_2() { build 7.2; }

# The rules that look for bugs of ordinary drivers.  spatch needs python for
# its reports, and says nothing at all when it finds none: so a bug is planted.
# Two rules for drivers that this is not would need a compiler of OCaml.
cocci_rules() {
	grep -rl --include='*.cocci' '^virtual report' "$SOURCE"/scripts/coccinelle/{api,free,locks,null} |
		xargs grep -L 'ocaml' | sort
}

# It also asks the first python3 of PATH several times for what Debian's alone can tell it.
cocci_run() {
	PATH=/usr/bin:$PATH spatch --very-quiet -D report --no-show-diff --no-includes --cocci-file "$@" 2>"$TMP/spatch.$$"
}

check_coccinelle() {
	local out
	need spatch coccinelle && source_tree || return
	export -f cocci_run
	out=$(cocci_run "$SOURCE/scripts/coccinelle/free/kfree.cocci" "$LINT/planted_free.c")
	if ! grep -q 'reference preceded by free' <<<"$out"; then
		echo "spatch finds nothing in planted_free.c, so it would find nothing anywhere: apt-get install libpython3-dev"
		cat "$TMP"/spatch.*
		return 1
	fi
	# shellcheck disable=SC2016 # expanded there
	out=$(cocci_rules | sources=$(files -path './module/*.c') xargs -P 2 -I{} \
		bash -c 'cocci_run {} $sources || echo "spatch failed on {}"')
	[ -z "$out" ] || { echo "$out"; return 1; }
}

# What is not asked for, and why:
#  MACRO_ARG_REUSE   the macros that use an argument twice take names of types
#                    and members, which have no side effects
#  CAMELCASE         compares with the names of a whole kernel tree
checkpatch_kernel=MACRO_ARG_REUSE,CAMELCASE
# and, in user space, what it would rather see is not there:
#  PREFER_DEFINED_ATTRIBUTE_MACRO  noinline, __printf()
#  ARRAY_SIZE, STRCPY, BIT_MACRO, PREFER_KERNEL_TYPES
#                                  ARRAY_SIZE(), strscpy(), BIT(), u64
#  VOLATILE                        READ_ONCE(); a loop to be profiled needs it
#  AVOID_EXTERNS                   declares what the linker makes: etext
#  MACRO_WITH_FLOW_CONTROL         a failed assertion returns
#  MULTISTATEMENT_MACRO_USE_DO_WHILE  a fixture is a struct and two functions
#  EMBEDDED_FUNCTION_NAME          messages name fields of a file, not functions
#  LONG_LINE_STRING, SPLIT_STRING  messages are whole sentences; help has several of them
checkpatch_user=$checkpatch_kernel,PREFER_DEFINED_ATTRIBUTE_MACRO,ARRAY_SIZE,STRCPY,BIT_MACRO,PREFER_KERNEL_TYPES
checkpatch_user=$checkpatch_user,VOLATILE,AVOID_EXTERNS,MACRO_WITH_FLOW_CONTROL,EMBEDDED_FUNCTION_NAME
checkpatch_user=$checkpatch_user,MULTISTATEMENT_MACRO_USE_DO_WHILE,LONG_LINE_STRING,SPLIT_STRING

# checkpatch IGNORE FILE...
checkpatch() {
	# The kernel's headers it searches for names, and the cache it writes to the
	# current folder, are of no use here.
	mkdir -p "$TMP/include"
	(cd "$TMP" && printf "$TOP/%s\n" "${@:2}" |
		xargs -n 12 perl "$SOURCE/scripts/checkpatch.pl" --no-tree --root "$TMP" \
			--typedefsfile "$LINT/typedefs" --strict --quiet --terse \
			--no-summary --show-types --ignore "$1" --file | sed "s,^$TOP/\./,,")
}

check_checkpatch() {
	need perl perl && source_tree || return
	local kernel user status=0
	mapfile -t kernel < <(files -path './module/*.[ch]' -o -path './selftests/vm/plant/*.[ch]' \
		-o -path './selftests/bench/floor/*.[ch]')
	mapfile -t user < <(files -name '*.[ch]' ! -path './module/*' \
		! -path './selftests/vm/plant/*' ! -path './selftests/bench/floor/*' ! -name 'planted_*')
	[ ${#kernel[@]} = 0 ] || checkpatch "$checkpatch_kernel" "${kernel[@]}" || status=1
	[ ${#user[@]} = 0 ] || checkpatch "$checkpatch_user" "${user[@]}" || status=1
	return $status
}

check_shellcheck() {
	need shellcheck shellcheck || return
	shell_files | xargs -r -P 2 -n 4 shellcheck -x -P SCRIPTDIR
}

# The library of this tree, for two checks that may run at the same time.
library() {
	mkdir -p build
	flock build/lint.library make -s -C libwrap
}

# For a kernel that is not this one, and is no more than its name; then without a module,
# and with half of one.  What install puts somewhere, uninstall takes away.  The objects of the
# library are not compiled once more for that, but install has to link them.
check_install() {
	local root=$TMP/root tree=$TMP/installed kdir=$TMP/kdir file said
	library 2>&1 || return
	mkdir -p "$root" "$tree/build/lib" "$kdir"
	tar -c --exclude=./build --exclude=./.git --exclude=./profil.ko . | tar -x -C "$tree"
	cp -p build/lib/*.o "$tree/build/lib"
	# shellcheck disable=SC2016 # a variable of make
	printf 'modules:\n\tprintf "\\0vermagic=9.9.9-planted SMP\\0" >$(M)/profil.ko\n' >"$kdir/Makefile"
	set -- make -s -C "$tree" DESTDIR="$root"
	"$@" install 2>&1 | grep 'make modules as the user who owns this folder' || { echo 'a missing module is not said'; return 1; }
	for file in lib/libprofil.so.1 include/profil.h share/man/man4/profil.4 share/doc/profil/gprof.rst \
		share/doc/profil/examples/ex.c; do
		[ -e "$root/usr/local/$file" ] || { echo "$file is not installed"; return 1; }
	done
	"$@" uninstall 2>&1 && "$@" all KDIR="$kdir" 2>&1 && "$@" install install-dkms 2>&1 || return
	[ -s "$root/lib/modules/9.9.9-planted/updates/profil.ko" ] || { find "$root/lib"; return 1; }
	"$@" uninstall 2>&1 || return
	! find "$root" -mindepth 1 | grep . || { echo 'this is left'; return 1; }
	: >"$tree/profil.ko"
	! said=$("$@" install 2>&1) || { echo 'half a module is installed'; return 1; }
	grep 'is no whole module and was not installed' <<<"$said"
}

check_kernel_doc() {
	need perl perl && source_tree || return
	# shellcheck disable=SC2046 # our own names, without spaces
	perl "$SOURCE/scripts/kernel-doc" -none -Wall -Werror \
		$(files -path './uapi/*.h' -o -path './module/*.[ch]') 2>&1
}

# Without a warning, outside of a kernel's source; and what the header says is there.
check_rst() {
	need sphinx-build python3-sphinx || return
	PYTHONDONTWRITEBYTECODE=1 sphinx-build -q -W --keep-going -d "$TMP/doctrees" Documentation "$TMP/doc" 2>&1 &&
		{ grep -q 'id="c.profil_ioc_start.regions_uptr"' "$TMP/doc/userspace-api/profil.html" ||
			{ echo 'the interface has no struct profil_ioc_start'; return 1; }; }
}

check_mandoc() {
	need mandoc mandoc && need groff groff-base || return
	local pages
	pages=$(all_files -path './Documentation/man/*.[0-9]')
	[ -n "$pages" ] || { echo "there are no manual pages in Documentation/man"; return 1; }
	# Which other manual pages this machine has is no matter of ours.
	# shellcheck disable=SC2086
	! {
		mandoc -T lint -W style $pages 2>&1 || :
		printf '%s\n' $pages | xargs -I{} groff -ww -z -t -mandoc -T utf8 {} 2>&1 || echo 'groff fails'
	} | grep -v 'referenced manual not found\|outdated mandoc.db'
}

# same LABEL FILE FILE [LABEL]: the lines of what LABEL says, and of the page
same() {
	diff --label "$1" --label "${4:-Documentation/man/profil.4}" -U 0 "$2" "$3" 2>&1
}

# All parameters twice, and all errors of the header, are in the manual page; the parameters
# in the example for modprobe.d, too.
check_manual() {
	local page=Documentation/man/profil.4 params status=0
	params=$(sed -nE 's/^module_param_(named|cb)\(([a-z_]+),.*/\2/p' module/*.c | sort)
	same 'module parameters' <(echo "$params") \
		<(sed -nE 's/^\.Op Cm ([a-z_]+) .*/\1/p' $page | sort) || status=1
	same 'module parameters' <(echo "$params") \
		<(sed -n '/^\.Ss Parameters/,/^\.Sh/s/^\.It Cm //p' $page | sort) || status=1
	same 'module parameters' <(echo "$params") \
		<(sed -nE 's/^# options profil ([a-z_]+)=.*/\1/p' debian/examples/profil.conf | sort) \
		debian/examples/profil.conf || status=1
	same 'uapi/linux/profil.h' \
		<(sed -nE 's/^ \* (E[A-Z0-9]+) .*/\1/p' uapi/linux/profil.h | sort) \
		<(sed -nE 's/^\.It Bq Er //p' $page | sort) || status=1
	return $status
}

# What is frozen of the interface is what the header says, on each architecture; and the
# programs that say what it means do so in numbers.
check_abi() {
	local frozen=Documentation/userspace-api/abi-1.txt now=$TMP/abi.now target status=0
	need clang clang && need pahole pahole || return
	[ -s "$frozen" ] || { echo "there is no $frozen"; return 1; }
	for target in x86_64-linux-gnu i386-linux-gnu aarch64-linux-gnu \
		arm-linux-gnueabihf powerpc64-linux-gnu; do
		"$LINT/abi.sh" $target >"$now" 2>&1 ||
			{ cat "$now"; echo "uapi/linux/profil.h does not compile for $target"; return 1; }
		! grep -v '^#' $frozen | grep -vxFf "$now" | sed 's/^/frozen, and not in the header: /' | grep . || status=1
		! grep -vxFf $frozen "$now" | sed 's/^/in the header: /' | grep . || status=1
		[ "$status" = 0 ] && continue
		echo "on $target uapi/linux/profil.h is not the interface that $frozen freezes: put it back, or add what is new at the end of a structure, or a new number, to that file"
		return 1
	done
	! grep -nE 'PROFIL_[A-Z]|\bprofil_(ioc|region|slot|process|object|session)' selftests/kernel/abi* ||
		{ echo 'these programs have numbers instead of names, which would change with the header'; return 1; }
}

check_uapi_dialects() {
	need gcc gcc && need g++ g++ || return
	local header='#include <linux/profil.h>'
	gcc -x c -std=c89 -pedantic -Wall -Wextra -Werror -fsyntax-only -Iuapi - <<<"$header" 2>&1 &&
		g++ -x c++ -std=c++98 -pedantic -Wall -Wextra -Werror -fsyntax-only -Iuapi - <<<"$header" 2>&1
}

# Copied to a kernel's source, the folder of the programs builds as one of kselftest's: it
# lists them all, and one is tried.
check_kselftest() {
	local root=$TMP/linux tests listed
	source_tree || return
	tests=$root/tools/testing/selftests
	mkdir -p "$tests" "$root/usr/include" "$root/out"
	ln -s "$SOURCE/scripts" "$root/scripts"
	ln -s "$SOURCE/tools/include" "$SOURCE/tools/scripts" "$root/tools"
	ln -s "$SOURCE"/tools/testing/selftests/{*.h,lib.mk} "$tests"
	cp -r selftests/kernel "$tests/profil"
	set -- make -C "$tests/profil" KHDR_INCLUDES="-isystem $TOP/uapi" OUTPUT="$root/out"
	listed=$("$@" -n all | grep -oE "$root/out/[a-z_0-9]+_test\b" | sort -u | wc -l)
	[ "$listed" = $(($(find selftests/kernel -name '*_test.c' | wc -l) - 3)) ] ||
		{ echo "kselftest would build $listed programs: all but semantics_test, off_test and gmon_test, which need the library, were to be"; return 1; }
	"$@" "$root/out/uapi_test" 2>&1 && [ -x "$root/out/uapi_test" ]
}

# Differences between kernels live in module/compat/ alone.
check_compat() {
	! grep -nE 'LINUX_VERSION_CODE|KERNEL_VERSION|\bHAVE_[A-Z]' Kbuild module/*.[ch]
}

# Some files of Debian's have no place for one.
check_spdx() {
	local without
	# grep fails where it finds none, and where each file has one
	without=$(files ! -path './LICENSES/*' ! -path ./debian/changelog ! -path ./debian/copyright \
		! -path ./debian/source/format | { xargs -r grep -L 'SPDX-License-Identifier: ' || :; })
	[ ! "$without" ] || { echo "${without//$'\n'/: no SPDX line$'\n'}: no SPDX line"; return 1; }
}

check_size() {
	all_files -path './module/*.[ch]' -o -path './libwrap/*.[chS]' | xargs wc -l | awk '
		{ most = 300 }
		$2 != "total" && $1 > most { print $2 " has " $1 " lines, more than " most; bad = 1 }
		END { exit bad || NR < 50 }'
}

# ordered FOLDER: on standard input, "FILE "INCLUDED"" and "OBJECT TYPE SYMBOL"; calls and
# includes go down the list in FOLDER/ORDER only.  A .c file and its .h are one; what a name
# belongs to, its object says, and of two the weak one.
ordered() {
	awk -v status=0 -v list="$1/ORDER" '
		function room(file) { sub(/.*\//, "", file); sub(/\..*/, "", file); return file }
		function place(name) {
			if (!(name in order)) { print name " is not in " list; order[name] = 0; status = 1 }
			return order[name]
		}
		NR == FNR { order[$1] = FNR; next }
		$2 ~ /^"/ { gsub(/"/, "", $2); arrow[room($1) " " room($2)] = $1 " includes " $2; next }
		$2 == "V" || ($2 ~ /[TDBRC]/ && !($3 in home)) { home[$3] = room($1) }
		$2 ~ /[Uw]/ { uses[room($1) " " $3] }
		END {
			for (use in uses) {
				split(use, part, " ")
				if (part[2] in home)
					arrow[part[1] " " home[part[2]]] = part[1] ".c uses " part[2] "()"
			}
			for (a in arrow) {
				split(a, part, " ")
				if (place(part[1]) > place(part[2])) {
					print list " has " part[2] " above " part[1] ", and " arrow[a]
					status = 1
				}
			}
			exit status || !length(home)
		}' "$1/ORDER" -
}

# symbols NAME OBJECT...: for ordered, of those that have a NAME
symbols() {
	nm -A "${@:2}" | sed -n -E "s/:[0-9a-f ]* ([A-Za-z]) ($1)$/ \1 \2/p"
}

# In module/ and in libwrap/, where headers are shared: there, calls alone.
check_order() {
	local objects=build/k/6.12/profil.d/module library=build/lib status=0
	"$VM/module.sh" 6.12 && library || return
	{
		grep -H '^#include "' module/*.[ch] | sed 's/:#include//'
		# not of files that have gone
		# shellcheck disable=SC2046 # our own names, without spaces
		symbols 'profil_.*' $(printf '%s\n' module/*.c | sed "s,^module/\(.*\)c$,$objects/\1o," | xargs ls 2>/dev/null)
	} | ordered module || status=1
	# shellcheck disable=SC2046
	symbols '.*' $(find libwrap -name '*.[cS]' | sed "s,.*/\(.*\)[cS]$,$library/\1o," | xargs ls 2>/dev/null) |
		ordered libwrap || status=1
	return $status
}

# Names of the machine it was written on do not belong in a public tree.
check_names() {
	! files ! -path './LICENSES/*' ! -path './selftests/lint/*.sh' |
		xargs -r grep -nE '(^|[^A-Za-z0-9_}])/(work|root)/|TODO|FIXME'
}

# Each test that DOCUMENT names together with its program is there.
# shellcheck disable=SC2016 # quotes of reStructuredText
named_tests() {
	local program name named=0 missing=0
	while IFS=': ' read -r program name; do
		named=$((named + 1))
		grep -qE "^TEST(_F)?\\(([a-z0-9_]+, *)?$name\\)|^$name\\(\\)" \
			"selftests/kernel/$program.c" "selftests/kernel/$program" 2>/dev/null && continue
		echo "$1: $program has no test $name"
		missing=1
	done < <(grep -oE '``[a-z_]+_test(\.sh)?: [a-z0-9_]+``' "$1" | tr -d '`')
	[ "$named" -gt 0 ] && [ "$missing" = 0 ]
}

# Each row of the table of systems has its test: one of semantics_test, each of which
# has its row, or one of a program that is named before it.
# shellcheck disable=SC2016 # quotes of reStructuredText
check_comparison() {
	local status=0
	diff --label 'Documentation/comparison.rst' --label 'selftests/kernel/semantics_test.c' -U 0 \
		<(awk '/^[^ ]/ { row = /^test / } row' Documentation/comparison.rst |
			grep -oE '``[^`]+``' | tr -d '`' | grep -vE '^[a-z_]+_test(\.sh)?: ' | sort -u) \
		<(sed -nE 's/^TEST(_F)?\(([a-z0-9_]+, *)?([a-z0-9_]+)\).*/\3/p' \
			selftests/kernel/semantics_test.c | sort) 2>&1 || status=1
	named_tests Documentation/comparison.rst || status=1
	return $status
}

# threats: the rows of its table in DOCUMENT, each in a line
threats() {
	awk '/^Threats, one by one/ { on = 1; next }
		on && /^What / { exit }
		on && /^   \* - / { if (row) print row; row = "" }
		on && /^   ( |\*)  ?[^:]/ { row = row " " $0 }
		END { print row }' "$1" | grep -v 'Somebody tries to'
}

# Each threat has a test, and a mutant that this very test finds out, or says why there is none.
# shellcheck disable=SC2016 # quotes of reStructuredText
check_statements() {
	local row mutant program name found=0 missing=0
	named_tests Documentation/security.rst || missing=1
	named_tests Documentation/userspace-api/profil.rst || missing=1
	while read -r row; do
		found=$((found + 1))
		[[ $row == *_test* ]] || { echo "Documentation/security.rst: no test: $row"; missing=1; }
		[[ $row != *'(argued'* ]] || continue
		mutant=$(grep -oE '\(\*[a-z-]+\*\)' <<<"$row" | tr -d '(*)')
		while IFS=': ' read -r program name; do
			grep -qE "^Test: $program( [a-z_0-9]+)* $name( |$)" \
				"selftests/race/mutants/$mutant.patch" 2>/dev/null && continue
			echo "Documentation/security.rst: no mutant \"$mutant\" says that $program $name finds it out"
			missing=1
		done < <(grep -oE '``[a-z_]+_test: [a-z0-9_]+``' <<<"$row" | tr -d '`')
	done < <(threats Documentation/security.rst)
	while IFS=: read -r program name; do
		found=$((found + 1))
		grep -qE "^check '[a-z]+:$name'" "selftests/tool/$program" 2>/dev/null && continue
		echo "Documentation/security.rst: selftests/tool/$program has no check \"$name\""
		missing=1
	done < <(grep -oE '``[a-z_]+_test\.sh: [^`]+ [^`]+``' Documentation/security.rst | tr -d '`')
	[ "$found" -gt 50 ] && [ "$missing" = 0 ]
}

# One version everywhere: each line is a place and what it says.
versions() {
	local where pattern
	while read -r where pattern; do
		sed -nE "s|$pattern.*|$where \\1|p" "$where" | head -n 1 | grep . ||
			echo "$where has no version"
	done <<-'END'
		Makefile ^VERSION\s*:= ([0-9.]+)
		libwrap/Makefile ^VERSION\s*\?= ([0-9.]+)
		tools/Makefile ^VERSION\s*\?= ([0-9.]+)
		tools/command.h ^#define VERSION "([0-9.]+)"
		module/main.c ^MODULE_VERSION\("([0-9.]+)"
		dkms.conf ^PACKAGE_VERSION="([0-9.]+)"
		debian/changelog ^profil \(([0-9.]+)-
		CHANGELOG.md ^## \[([0-9.]+)\]
		packaging/arch/PKGBUILD ^pkgver=([0-9.]+)
		packaging/profil.spec ^Version:\s*([0-9.]+)
		README.md .*dkms install profil/([0-9.]+)
	END
}

check_version() {
	versions | awk '{ print; if (NR > 1 && $2 != version) bad = 1; version = $2 }
		END { exit bad || NR != 11 }'
}

# Each manual page is in a package, and each file is there that a package names.  Whoever builds
# the command from the source is told to install what the packages are built with.
check_debian() {
	local name status=0
	named() { cat "$@" | grep -v '^#'; }
	diff --label Documentation/man --label 'debian/*.manpages' -U 0 \
		<(basename -a Documentation/man/* | sed 's/^profil\.3$/&profil/' | sort) \
		<(named debian/*.manpages | xargs -n 1 basename | sort) 2>&1 || status=1
	for name in $(named debian/*.docs debian/*.examples | sort); do
		[ -e "$name" ] || { echo "debian/ names $name, which is not there"; status=1; }
	done
	diff --label 'Build-Depends-Arch, gcc, libc6-dev, make' --label 'selftests/setup.sh command' -U 0 \
		<({ echo gcc; echo libc6-dev; echo make
			awk '/^Build-Depends-Arch:/ { on = 1; $1 = "" } on && /^[A-Z]/ { exit } on' debian/control |
				tr -d ' ' | tr ',' '\n' | grep .; } | sort) \
		<(awk '/ command( |$)/ && /^[a-z]/ { print $1 }' <(sed -n '/^packages()/,/^END/p' selftests/setup.sh) |
			sort) || status=1
	return $status
}

# Each mutant of the module can be made: at the very lines that it was made for, or it may
# break something else.
check_mutants() {
	local patch said status=0
	need patch patch || return
	for patch in selftests/race/mutants/*.patch; do
		said=$(patch -f -s -F 0 -p 1 --dry-run <"$patch" 2>&1) && continue
		echo "$said"
		echo "$patch does not apply to the module as it is: make it anew"
		status=1
	done
	return $status
}

if [ "${1:-}" = --one ]; then
	status=0
	check=check_${2//[-.]/_}
	"$check" >"$TMP/$2" </dev/null || status=$?
	echo "$2 $status"
	exit 0
fi

changed=''
if [ "${1:-}" = --changed ]; then
	changed=1
	shift
fi
[ $# -gt 0 ] || read -ra checks -d '' <<<"$CHECKS"
[ $# = 0 ] || checks=("$@")
for check in "${checks[@]}"; do
	declare -F "check_${check//[-.]/_}" >/dev/null ||
		{ echo "lint: no check is called $check; they are: build-6.1 build-7.2 $CHECKS" >&2; exit 2; }
done

TMP=$(mktemp -d)
export TMP
trap 'rm -rf "$TMP"' EXIT
# hashes of all files, where somebody asks for them
if [ $# = 0 ] || [ "$changed" ]; then
	contents >"$TMP/contents"
fi
if [ "$changed" ] && find_changed; then
	all=("${checks[@]}") checks=()
	for check in "${all[@]}"; do
		! concerned "$check" || checks+=("$check")
	done
fi
echo "TAP version 13"
echo "1..${#checks[@]}"
number=0
failed=0
while read -r check status; do
	number=$((number + 1))
	if [ "$status" = 0 ]; then
		echo "ok $number lint $check"
	else
		failed=$((failed + 1))
		echo "not ok $number lint $check"
		sed 's/^/# /' "$TMP/$check"
	fi
done < <(printf '%s\n' ${checks[@]+"${checks[@]}"} | xargs -r -P 2 -I{} "$LINT/run.sh" --one {})
echo "# $((number - failed)) passed, $failed failed, 0 skipped"
[ "$failed" = 0 ] && [ "$number" = "${#checks[@]}" ] || exit
# nobody has touched a file meanwhile, and nothing was left out by name
if [ $# = 0 ] && cmp -s <(contents) "$TMP/contents"; then
	mkdir -p build
	cp "$TMP/contents" "$MEMORY.new" && mv "$MEMORY.new" "$MEMORY"
fi
