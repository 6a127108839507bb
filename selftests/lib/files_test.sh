#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Where a profile is written that cannot be, or should not be, where it belongs; without
# the device.  Whatever happens, the old file is there or the new one, or a line says why not.
# Usage: files_test.sh LIBDIR COMPILER...
set -eu

here=$(cd "$(dirname "$0")" && pwd)
lib=$(cd "$1" && pwd)
shift
CC="$* -O2 -pg -pthread"
# shellcheck source-path=SCRIPTDIR source=tap.sh
. "$here/tap.sh"
# shellcheck source-path=SCRIPTDIR source=gprof.sh
. "$here/gprof.sh"
export PROFIL_QUIET=1
calls=$tmp/calls

# begin: an empty folder that is the working directory
begin() {
	# a test may have closed it
	test ! -e "$tmp/run" || chmod 755 "$tmp/run"
	rm -rf "$tmp/run"
	mkdir "$tmp/run"
	cd "$tmp/run"
}

# leaf N [VARIABLE=VALUE...]: a program calls leaf() so often; what it says is in $tmp/err
leaf() {
	number=$1
	shift
	env LD_PRELOAD="$lib/libprofil.so" "$@" "$calls" threads 1 "$number" 2>"$tmp/err"
}

# as_user COMMAND...: as somebody who may not write everywhere
as_user() {
	if [ "$(id -u)" = 0 ]; then
		setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
	else
		"$@"
	fi
}

# has N [FILE [PROGRAM]]: so many calls
has() {
	counted leaf "$1" "${3:-$calls}" "${2:-gmon.out}"
}

# says LINE-PATTERN: that alone
says() {
	cat "$tmp/err"
	grep -E "^profil: $1\$" "$tmp/err"
	test "$(wc -l <"$tmp/err")" = 1
}

says_nothing() {
	cat "$tmp/err"
	test ! -s "$tmp/err"
}

# only FILE...: these are in the folder
only() {
	ls -A >"$tmp/have"
	printf '%s\n' "$@" | sort | diff -u - "$tmp/have"
}

# locked_folder COMMAND...: as a user who may write the file in it alone
locked_folder() {
	chmod 666 gmon.out
	chmod 555 .
	: >"$tmp/err"
	as_user env LD_PRELOAD="$tmp/libprofil.so" "$@" 2>"$tmp/err"
	chmod 755 .
}

# The old one is longer, and nothing of it is left.
folder_not_writable() {
	begin
	head -c 1000000 /dev/zero >gmon.out
	locked_folder "$calls" threads 1 7
	says_nothing
	only gmon.out
	has 7
	test "$(wc -c <gmon.out)" -lt 100000
}

# Nor is half a file left where that one gets no room.
folder_not_writable_full() {
	begin
	echo old >gmon.out
	locked_folder sh -c "ulimit -f 1; exec '$calls' many 1"
	says 'cannot write gmon.out: File too large; .*\(ulimit -f\)'
	only gmon.out
	test "$(cat gmon.out)" = old
}

# Of one that is far longer, as anybody may have left there, only the beginning is read.
folder_not_writable_long() {
	begin
	truncate -s 1M gmon.out
	locked_folder sh -c "ulimit -f 200; exec '$calls' threads 1 9"
	says_nothing
	only gmon.out
	has 9
	test "$(stat -c %s gmon.out)" -lt 100000
	head -c 1M /dev/zero | tr '\0' x >gmon.out
	cp gmon.out "$tmp/long"
	locked_folder sh -c "ulimit -f 1; exec '$calls' many 1"
	says 'cannot write gmon.out: File too large; .*\(ulimit -f\)'
	cmp "$tmp/long" gmon.out
}

# Numbers as errno has them on all machines.
mount_point() {
	begin
	: >gmon.out
	ln gmon.out outside
	leaf 8 LD_PRELOAD="$tmp/fails.so:$lib/libprofil.so" RENAME=16
	says_nothing
	only gmon.out outside
	has 8 outside
}

read_only() {
	begin
	echo old >gmon.out
	chmod 444 gmon.out
	leaf 8 LD_PRELOAD="$tmp/fails.so:$lib/libprofil.so" CREATE=30 GMON_OUT_PREFIX=p
	says 'cannot write p\.[0-9]+: Read-only file system; .*'
	only gmon.out
}

# No room for another file is enough for one in the place of the old one.
disk_full() {
	begin
	leaf 8 LD_PRELOAD="$tmp/fails.so:$lib/libprofil.so" CREATE=28
	says 'cannot write gmon.out: No space left on device; .*'
	test -z "$(ls -A)"
	head -c 65536 /dev/zero >gmon.out
	leaf 8 LD_PRELOAD="$tmp/fails.so:$lib/libprofil.so" CREATE=28
	says_nothing
	has 8
}

no_prefix_folder() {
	begin
	leaf 9 GMON_OUT_PREFIX=/nowhere/name
	says 'cannot write /nowhere/name\.[0-9]+: No such file or directory; it is gmon.out'
	only gmon.out
	has 9
	begin
	touch name
	leaf 9 GMON_OUT_PREFIX=name/sub
	says 'cannot write name/sub\.[0-9]+: Not a directory; it is gmon.out'
	has 9
}

# Of a program that ends by itself: without the signal, and with the old file.
file_limit() {
	begin
	echo old >gmon.out
	(ulimit -f 1 && LD_PRELOAD=$lib/libprofil.so "$calls" many 1 2>"$tmp/err")
	says 'cannot write gmon.out: File too large; .*\(ulimit -f\)'
	only gmon.out
	test "$(cat gmon.out)" = old
}

# The program's own signal is left to it.
file_limit_handled() {
	begin
	status=0
	(ulimit -f 1 && LD_PRELOAD=$lib/libprofil.so "$tmp/ends" xfsz 1 >"$tmp/out" 2>"$tmp/err") || status=$?
	test "$status" = 153
}

fifo() {
	begin
	mkfifo gmon.out
	timeout 20 cat gmon.out >"$tmp/read" &
	leaf 10
	wait $!
	says_nothing
	test -p gmon.out
	has 10 "$tmp/read"
}

# As with the C library, it waits for one, and may be ended meanwhile.
fifo_waits() {
	begin
	mkfifo gmon.out
	LD_PRELOAD=$lib/libprofil.so "$calls" threads 1 11 &
	sleep 0.3
	kill -0 $!
	timeout 20 cat gmon.out >"$tmp/read"
	wait $!
	has 11 "$tmp/read"
	LD_PRELOAD=$lib/libprofil.so "$calls" threads 1 11 &
	sleep 0.3
	kill -TERM $!
	status=0
	wait $! || status=$?
	test "$status" = 143
}

# A file on demand waits for nobody.
fifo_on_demand() {
	begin
	mkfifo gmon.out
	LD_PRELOAD=$lib/libprofil.so PROFIL_SIGNAL=USR1 "$tmp/ends" asked 1 >"$tmp/out" 2>"$tmp/err" || test $? = 137
	test "$(grep -c '^profil: cannot write gmon.out: No such device or address; ' "$tmp/err")" = 2
}

# Nor does it where one was there to open it for, and leaves before a byte is written.
fifo_abandoned() {
	begin
	mkfifo gmon.out
	timeout -s KILL 20 env LD_PRELOAD="$tmp/fails.so:$lib/libprofil.so" LEAVES=1 PROFIL_SIGNAL=USR1 \
		"$tmp/ends" asked 1 >"$tmp/out" 2>"$tmp/err" || test $? = 137
	test "$(grep -c '^profil: cannot write gmon.out: Broken pipe; ' "$tmp/err")" = 2
}

# The reader takes 20 bytes, of a pipe that does not hold them all, and leaves.
fifo_broken() {
	begin
	mkfifo gmon.out
	perl -MFcntl -e 'sysopen(FIFO, "gmon.out", O_RDONLY | O_NONBLOCK) && fcntl(FIFO, 1031, 4096) or die;
		$pid = fork // die;
		exec @ARGV unless $pid;
		vec($bits, fileno FIFO, 1) = 1;
		select $bits, undef, undef, 20;
		sysread FIFO, $bytes, 20;
		close FIFO;
		waitpid $pid, 0;
		exit $? != 0' env LD_PRELOAD="$lib/libprofil.so" "$calls" many 1 2>"$tmp/err"
	says 'cannot write gmon.out: Broken pipe; .*'
	test -p gmon.out
}

# Put there after the name was looked at: it is not touched, and the profile is elsewhere.
fifo_became_file() {
	begin
	echo old >gmon.out
	leaf 12 LD_PRELOAD="$tmp/fails.so:$lib/libprofil.so" WAS=fifo
	says 'cannot write gmon.out: File exists; it is gmon.out.[0-9]+-[0-9a-f]+'
	test "$(cat gmon.out)" = old
	has 12 gmon.out.*
}

# In a folder where it cannot be replaced.
file_became_fifo() {
	begin
	mkfifo gmon.out
	leaf 12 LD_PRELOAD="$tmp/fails.so:$lib/libprofil.so" WAS=file CREATE=13
	says 'cannot write gmon.out: File exists; .*'
	only gmon.out
}

# Neither it nor what is behind it is touched, as in the C library; but there is a profile.
symbolic_link() {
	begin
	echo old >target
	ln -s target gmon.out
	leaf 12
	says 'cannot write gmon.out: Too many levels of symbolic links; it is gmon.out.[0-9]+-[0-9a-f]+'
	test -L gmon.out
	test "$(cat target)" = old
	has 12 gmon.out.*
}

hard_link() {
	begin
	echo old >gmon.out
	ln gmon.out other
	leaf 13
	says_nothing
	test "$(cat other)" = old
	has 13
}

# Two programs in namespaces of their own, and the same folder.
same_pid() {
	begin
	for number in 15 16; do
		leaf $number LD_PRELOAD="$tmp/fails.so:$lib/libprofil.so" PID=77 GMON_OUT_PREFIX=p
		says_nothing
	done
	test "$(find . -type f | wc -l)" = 2
	has 15 p.77
	has 16 p.77-*
}

# As on FUSE, where neither is known; and where one is.  A file that is there stays.
no_links() {
	for without in 'NOREPLACE=22' 'NOREPLACE=22 LINK=1' 'NOREPLACE=38 LINK=95'; do
		begin
		for number in 15 16; do
			# shellcheck disable=SC2086 # words
			leaf $number LD_PRELOAD="$tmp/fails.so:$lib/libprofil.so" PID=77 GMON_OUT_PREFIX=p $without
			says_nothing
		done
		only p.77 p.77-*
		has 15 p.77
		has 16 p.77-*
	done
}

# Nor is an empty file left where that fails.
no_links_no_rename() {
	begin
	leaf 17 LD_PRELOAD="$tmp/fails.so:$lib/libprofil.so" GMON_OUT_PREFIX=p NOREPLACE=22 LINK=1 RENAME=5
	says 'cannot write p\.[0-9]+: Input/output error; .*'
	test -z "$(ls -A)"
}

# A child in a namespace of its own.
child_of_same_pid() {
	begin
	env LD_PRELOAD="$tmp/fails.so:$lib/libprofil.so" PID=77 PROFIL_EXIT=_exit \
		"$tmp/ends" fork 17 >"$tmp/out" 2>"$tmp/err"
	says_nothing
	only gmon.out gmon.out.77
	has 17 gmon.out "$tmp/ends"
	has 17 gmon.out.77 "$tmp/ends"
}

# It has no calls, and nothing of its parent's file.  It is not shown to gprof, which takes
# what is no header for sizes, and all memory for them.
child_amid_file() {
	begin
	env LD_PRELOAD="$tmp/forks.so:$lib/libprofil.so" FORK=write PROFIL_SIGNAL=USR1 \
		"$tmp/ends" asked 19 >"$tmp/out" 2>"$tmp/err" || test $? = 137
	for file in gmon.out gmon.out.[0-9]*; do
		test "$(head -c 4 "$file")" = gmon
	done
	test "$(find . -type f | wc -l)" = 2
	has 38 gmon.out "$tmp/ends"
	test "$(wc -c <"$(echo gmon.out.[0-9]*)")" -lt "$(wc -c <gmon.out)"
}

# taken_by_others VARIABLE=VALUE...
taken_by_others() {
	begin
	env LD_PRELOAD="$lib/libprofil.so" PROFIL_SIGNAL=USR1 "$@" \
		"$tmp/ends" taken 18 >"$tmp/out" 2>"$tmp/err"
	says_nothing
	pid=$(head -n 1 "$tmp/out")
	test "$(cat "p.$pid" "gmon.out.tmp$pid")" = "$(printf 'other\nother')"
}

# A file of its own is replaced, that of another one is not, nor one that is being written.
taken() {
	taken_by_others GMON_OUT_PREFIX=p
	only "p.$pid" "gmon.out.tmp$pid" p.*-*
	has 36 p.*-* "$tmp/ends"
	taken_by_others PROFIL_VERBOSE=0
	only "p.$pid" "gmon.out.tmp$pid" gmon.out
	has 36 gmon.out "$tmp/ends"
}

# Where samples are, and where calls are: no more.
is_short() {
	begin
	${CC% -pg*} -no-pie -I"$here/../../libwrap/gmon" -o "$tmp/big" "$here/big.c" "$lib/libprofil.a"
	"$tmp/big" 1024
	test "$(wc -c <gmon.out)" -lt 20000
	gprof -b -p "$tmp/big" gmon.out gmon.out | grep -E ' 4000\.00 .* work$'
}

$CC -o "$calls" "$here/calls.c"
$CC -o "$tmp/ends" "$here/ends.c"
${CC% -pg*} -fPIC -shared -o "$tmp/fails.so" "$here/fails.c"
${CC% -pg*} -fPIC -shared -o "$tmp/forks.so" "$here/forks.c"
# where another user finds it
cp "$lib/libprofil.so" "$tmp"
chmod 755 "$tmp"
check 'a file that may be written, in a folder that may not' folder_not_writable
check 'keeps what it had where there is no room' folder_not_writable_full
check 'and reads no more of a long one than it writes over' folder_not_writable_long
check 'a file that is a mount point' mount_point
check 'a read-only file system is told' read_only
check 'so is a full disk, unless there is an old file of enough room' disk_full
check 'GMON_OUT_PREFIX in no folder: gmon.out, as in the C library, and a line' no_prefix_folder
check 'ulimit -f ends no program, and keeps the old file' file_limit
check 'but a signal for which the program waits is its own' file_limit_handled
check 'a FIFO is written, not replaced' fifo
check 'which waits for a reader, unless it is killed' fifo_waits
check 'but only at the end' fifo_on_demand
check 'also if the only reader leaves at once' fifo_abandoned
check 'a reader who leaves does not end it' fifo_broken
check 'nor is a file written that took the place of one' fifo_became_file
check 'nor one that took the place of a file' file_became_fifo
check 'a symbolic link is not followed, and not replaced' symbolic_link
check 'of a hard link this name alone is another file' hard_link
check 'two processes of the same number have a file each' same_pid
check 'also without links, and where no rename() tells what it would replace' no_links
check 'and what cannot be renamed leaves nothing' no_links_no_rename
check 'so has a child of the same number' child_of_same_pid
check 'a child that is forked amid a file has a whole one of its own' child_amid_file
check 'no file of another program is replaced, but its own is' taken
check 'a file is as short as what was counted' is_short
plan
