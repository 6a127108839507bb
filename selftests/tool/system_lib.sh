# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# For tests of sessions of the whole machine, after lib.sh, without the module: control groups that are
# folders, and a table.

hex=4d2fe8c1b0a79665544332211000ffeeddccbbaa99887766554433221100abcd

# groups PATH...: in the folder cgroup, where planted_groups has profil find them
groups() {
	mkdir -p "${@/#/$tmp/cgroup/}"
	echo "30 25 0:26 / $tmp/cgroup rw,nosuid,nodev,noexec - cgroup2 cgroup2 rw" >"$tmp/mountinfo"
}

# group PATH: its number
group() {
	stat -c %i "$tmp/cgroup/$1"
}

# planted_groups COMMAND...: which finds only these groups, and whose number is in the file pid
planted_groups() {
	# shellcheck disable=SC2016 # for the shell that becomes the command
	planted_system 'echo $$ >pid.own; mv pid.own pid; mount --bind "$2" /proc/$$/mountinfo; shift 2; exec "$@"' \
		"$tmp/mountinfo" "$@"
}

# 1000 ticks of three units, one of which has ended
machine() {
	groups system.slice/nginx.service system.slice/cron.service "system.slice/docker-$hex.scope"
	# shellcheck disable=SC2154 # lib.sh has it
	cat <<-END
		object 10 $planted
		object 11 /lib/libfoo.so
		row 0 0 1 0 -
		row $(group system.slice/nginx.service) 4242 400 40 nginx
		row $(group "system.slice/docker-$hex.scope") 4243 200 20 planted
		row $(group system.slice/cron.service) 4244 60 10 sh
		row 999999999 4245 9 1 short-lived
		row $(group .) 2 0 50 kworker
		row $(group system.slice/nginx.service) 4246 5 4 -
		slot 10 $(at "$planted" hot) 1 380 20
		slot 10 ffffffffffffffff 1 20 20
		slot 10 $(at "$planted" hot) 2 150 10
		slot 10 $(at "$planted" cold) 2 49 10
		slot 2 7f0000001000 3 50 2
		slot 4 10 3 10 1
		slot 11 1000 4 9 1
		slot 11 1000 6 5 4
		slot 11 ffffffffffffffff 0 1 0
		idle 200
		kthreads 50
		interrupts 7
		exec 1
	END
}
