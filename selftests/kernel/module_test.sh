#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Coming and going of the module, and its hooks.  Loads it again and again, and
# at the end with the parameters it was found with; runs as root, alone.
#
# PROFIL_MODULE is the file of the module, if that is not where the project's
# VM has it.
#
# shellcheck disable=SC2317 # the tests are called by their names

module=${PROFIL_MODULE:-/vm/module.ko}
helper=$(dirname "$0")/profil_helper
params=/sys/module/profil/parameters
ftrace=/proc/sys/kernel/ftrace_enabled
kprobes=/sys/kernel/debug/kprobes/enabled
holder='' number=0 failed=0

tests='
	is_busy_while_a_process_is_profiled
	goes_once_the_process_has_ended
	comes_and_goes_many_times
	refuses_unknown_parameters
	shows_what_nohz_full_is
	task_work_is_used_where_the_kernel_exports_it
	hook_ftrace_counts
	hook_kprobe_counts
	hook_hrtimer_counts
	hook_goes_some_time_after_the_last_user
	hook_stays_for_longer_the_second_time
	hook_always_armed_without_users
	hook_ftrace_switched_off_is_replaced
	hook_kprobe_switched_off_is_replaced
'

diag()
{
	echo "# $*"
	return 1
}

hold()
{
	: >/tmp/profil_holder
	"$helper" hold >/tmp/profil_holder &
	holder=$!
	until grep -q . /tmp/profil_holder; do
		sleep 0.1
	done
	grep -q holding /tmp/profil_holder || diag 'nobody could be profiled'
}

release()
{
	[ "$holder" ] || return 0
	kill -9 "$holder" 2>/dev/null
	wait "$holder" 2>/dev/null
	holder=
}

loaded()
{
	grep -q '^profil ' /proc/modules
}

# What the last process held is given back a little later, by workers.
unload()
{
	release
	loaded || return 0
	for _ in $(seq 600); do
		rmmod profil 2>/dev/null && return 0
		sleep 0.1
	done
	diag 'rmmod profil fails though nobody is profiled'
}

# load PARAMETER…: as it was found, but for these
load()
{
	unload || return
	# shellcheck disable=SC2086 # parameters are words
	insmod "$module" $found "$@" || diag "insmod $module $found $* fails"
}

query()
{
	"$helper" query
}

# wait_query WHAT: a minute at most
wait_query()
{
	for _ in $(seq 600); do
		[ "$(query)" != "$1" ] || return 0
		sleep 0.1
	done
	diag "QUERY says '$(query)', not '$1'"
}

is_busy_while_a_process_is_profiled()
{
	load && hold || return
	! rmmod profil 2>/tmp/profil_rmmod || diag 'rmmod succeeds' || return
	grep -qi -e busy -e unavailable -e 'in use' /tmp/profil_rmmod ||
		diag "rmmod says: $(cat /tmp/profil_rmmod)" || return
	kill -0 "$holder" && "$helper" count 20
}

goes_once_the_process_has_ended()
{
	load && hold || return
	release
	unload && ! loaded && [ ! -e /dev/profil ]
}

comes_and_goes_many_times()
{
	for _ in $(seq 15); do
		load && "$helper" count 20 >/tmp/profil_count ||
			diag "$(cat /tmp/profil_count)" || return
	done
	for _ in $(seq 30); do
		load || return
	done
}

refuses_unknown_parameters()
{
	unload || return
	for word in deliver=never hook=bell arm=sometimes nohz_full=always nohz_full=; do
		! insmod "$module" "$word" 2>/dev/null ||
			diag "insmod with $word succeeds" || return
	done
	load
}

# hook_counts NAME
hook_counts()
{
	load "hook=$1" && hold || return
	[ "$(query)" = "$1 0" ] || diag "QUERY says '$(query)'" || return
	"$helper" count 30
}

# shows_nohz_full WORD
shows_nohz_full()
{
	[ "$(cat "$params/nohz_full")" = "$1" ] ||
		diag "nohz_full is '$(cat "$params/nohz_full")', not $1"
}

shows_what_nohz_full_is()
{
	unload && insmod "$module" && shows_nohz_full leave || return
	for word in leave tick; do
		load "nohz_full=$word" && shows_nohz_full "$word" &&
			"$helper" count 20 || return
	done
}

task_work_is_used_where_the_kernel_exports_it()
{
	exported=N
	! grep -q ' __ksymtab_task_work_add$' /proc/kallsyms || exported=Y
	unload && insmod "$module" || return
	[ "$(cat "$params/task_work")" = "$exported" ] ||
		diag "the kernel exports it: $exported, the module uses it: $(cat "$params/task_work")" || return
	unload && load
}

hook_ftrace_counts()
{
	hook_counts ftrace
}

hook_kprobe_counts()
{
	hook_counts kprobe
}

hook_hrtimer_counts()
{
	hook_counts hrtimer
}

hook_goes_some_time_after_the_last_user()
{
	load && [ "$(query)" = 'none 0' ] && hold || return
	[ "$(query)" != 'none 0' ] || diag 'no hook though profiled' || return
	release
	wait_query 'none 0'
}

# In hundredths of a second.
uptime()
{
	awk '{ print int(100 * $1) }' /proc/uptime
}

# A second, and two.  Half a second less, for who counts ticks late.
hook_stays_for_longer_the_second_time()
{
	load || return
	for least in 50 150; do
		hold || return
		before=$(uptime)
		release
		wait_query 'none 0' || return
		took=$(($(uptime) - before))
		[ "$took" -ge "$least" ] ||
			diag "the hook went after $took hundredths of a second, not $least" || return
	done
}

hook_always_armed_without_users()
{
	load arm=always || return
	[ "$(query)" != 'none 0' ] || diag 'no hook'
}

# log_says HOOK MARK: after that line, for the log forgets its beginning
log_says()
{
	dmesg | sed "1,/$2/d" | grep -q "profil: the $1 hook was switched off"
}

# hook_switched_off NAME SWITCH
hook_switched_off()
{
	mark="module_test $$: $1 is to be switched off"
	echo "$mark" >/dev/kmsg
	load "hook=$1" || return
	"$helper" count 20 && hold || return
	[ "$(query)" = "$1 0" ] || diag "QUERY says '$(query)'" || return
	echo 0 >"$2" || diag "$2 cannot be switched off" || return
	[ "$(cat "$2")" = 0 ] || diag "$2 did not take it" || return
	# counting goes on: this ends only if it does
	"$helper" count 100 && wait_query 'hrtimer 1' || return
	log_says "$1" "$mark" ||
		diag 'the kernel log does not say it' || return
	"$helper" count 30
}

hook_ftrace_switched_off_is_replaced()
{
	hook_switched_off ftrace "$ftrace"
}

hook_kprobe_switched_off_is_replaced()
{
	hook_switched_off kprobe "$kprobes"
}

# What a test may have left.
restore()
{
	release
	[ ! -e $ftrace ] || echo 1 >$ftrace
	[ ! -e $kprobes ] || echo 1 >$kprobes
}

echo 'TAP version 13'
if [ "$(id -u)" != 0 ] || [ ! -e "$module" ] || ! loaded; then
	echo "1..0 # SKIP needs root, the module loaded, and its file at $module"
	exit 4
fi
# shellcheck disable=SC2086 # a list of words
set -- $tests
echo "1..$#"
found=$(cd $params && for name in *; do
	echo "$name=$(cat "$name")"
done | sed -e '/=(null)$/d' -e '/^hook=/d' -e '/^arm=/d' -e '/^race_/d')
for test; do
	number=$((number + 1))
	if $test; then
		echo "ok $number $test"
	else
		echo "not ok $number $test"
		failed=$((failed + 1))
	fi
	restore
done
load
exit $((failed > 0))
