#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# profil run, where the module refuses: one sentence that names the cause and what to do.
set -eu
. "$(dirname "$0")/lib.sh"

cd "$tmp"

# refused STATUS SENTENCE OPTION...: of profil run, with the device that refuses
refused() {
	says "$1" profil-refused run -q "${@:3}" -- touch begun
	[ ! -e begun ]
	grep -E "^profil: $2" err
	[ "$(wc -l <err)" = 1 ]
}

nothing_refused() {
	says 0 profil-refused run -q -- touch begun
	rm begun
}

sessions_of_a_user() {
	REFUSE_SESSION=28 refused 125 'no session could be made: your user has as many as max_sessions_user allows; end another profil run, '
}

slots_of_a_user() {
	REFUSE_SESSION=28 REFUSE_SLOTS=1024 refused 125 'no session could be made: those of your user have as many places as max_slots_user allows; ask for fewer --slots, '
	REFUSE_SESSION=28 REFUSE_SLOTS=1024 says 0 profil-refused run -q --slots=1024 true
}

sessions_of_a_process() {
	REFUSE_JOIN=28 refused 125 'touch cannot be counted: four sessions count it already, or .*; end another profil run$'
}

kernel() {
	REFUSE_SESSION=1 refused 125 'where the kernel is cannot be counted: --kernel needs CAP_PERFMON; sudo profil run --kernel …, or, .* sudo setcap cap_perfmon,cap_syslog\+ep ' --kernel
	# without the option it is not about that
	REFUSE_SESSION=1 refused 125 'no session could be made: Operation not permitted; '
	REFUSE_FLAGS=8 refused 125 'where the kernel is cannot be counted: this module is too old for --kernel; ' --kernel
	REFUSE_FLAGS=8 says 0 profil-refused run -q true
	# one without any sessions is not too old for that alone
	REFUSE_FLAGS=31 refused 125 'this module has no sessions: ' --kernel
}

whole_machine() {
	REFUSE_SESSION=1 refused 125 'the whole machine cannot be profiled: profil run -a needs CAP_PERFMON; sudo profil run -a …$' -a
	REFUSE_SESSION=1 refused 125 'the whole machine cannot be profiled: profil run -a needs CAP_PERFMON; ' -a --kernel
	REFUSE_FLAGS=16 refused 125 'the whole machine cannot be profiled: this module is too old for profil run -a; ' -a
	REFUSE_FLAGS=16 says 0 profil-refused run -q true
	REFUSE_FLAGS=31 refused 125 'this module has no sessions: ' -a
	REFUSE_SESSION=28 refused 125 'no session could be made: four of the whole machine are there already, or ' -a
	REFUSE_SESSION=28 REFUSE_SLOTS=1024 refused 125 'no session could be made: those of your user have as many places as max_slots_user allows; ' -a
}

# What mends it is named.
checked() {
	REFUSE_OPEN=13 says 1 profil-refused check
	grep -A 1 '^device ' out | grep -F 'sudo chmod 666 /dev/profil'
	REFUSE_OPEN=1 says 1 profil-refused check
	grep -A 1 '^device ' out | grep -F 'in a container: start it with --device /dev/profil'
	REFUSE_TICKS=1 says 1 profil-refused check
	grep -E '^cpus +[^ ].* have no tick while one program has them alone ' out
	grep -F ': sudo rmmod profil && sudo modprobe profil nohz_full=tick' out
	REFUSE_JOIN=28 says 1 profil-refused check
	grep -E '^test +a process cannot be counted: No space left on device +FAIL$' out
	grep -A 1 '^test ' out | grep -F 'max_profiles and max_profiles_user allow; end another profil run'
	none grep -F "kernel's tick" out
	REFUSE_FORK=11 says 1 profil-refused check
	grep -E '^test +a process cannot be had: Resource temporarily unavailable +FAIL$' out
	grep -A 1 '^test ' out | grep -F 'raise ulimit -u'
}

watch() {
	REFUSE_SESSION=1 says 1 profil-refused watch -o mine
	grep -Fx 'profil: the whole machine cannot be profiled: profil watch needs CAP_PERFMON; sudo profil watch …' err
	[ "$(wc -l <err)" = 1 ]
	[ ! -e mine ]
	REFUSE_SESSION=1 says 125 profil-refused top -a -n 1
	grep -F '; sudo profil top -a …' err
}

rates() {
	refused 125 '251 samples a second are too many: this module samples at the tick, at most 250 times; ' -F 251
}

check 'refused: nothing' nothing_refused
check 'refused: too many sessions' sessions_of_a_user
check 'refused: too many slots' slots_of_a_user
check 'refused: too many sessions of a process' sessions_of_a_process
check 'refused: places in the kernel' kernel
check 'refused: the whole machine' whole_machine
check 'refused: profil watch, profil top' watch
check 'refused: rates' rates
check 'refused: what profil check names' checked
plan
