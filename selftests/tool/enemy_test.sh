#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What somebody else has made: files beside a program, maps in /tmp, what lies where a profile is to
# be written, and profiles.  Root runs the command there, too.
set -eu
. "$(dirname "$0")/lib.sh"

cd "$tmp"

hot=$(at "$planted" hot)

# of_program FILE: a table with ten ticks in its function hot
of_program() {
	printf 'process 0 0 0 10 0 others\nobject 10 %s\nslot 10 %s 0 10 0\n' "$1" "$hot" >table
}

# A debug file that is a pipe: nobody waits for its other end, and what the program itself says stays.
pipes_for_debug() {
	mkdir -p linked/.debug unlinked/.debug
	strip -K hot -o linked/app "$planted"
	echo >linked/app.debug
	objcopy --remove-section .note.gnu.build-id --add-gnu-debuglink linked/app.debug linked/app
	rm linked/app.debug
	mkfifo linked/.debug/app.debug
	of_program "$tmp/linked/app"
	says 0 profil run -q -o linked.pb.gz true
	[ ! -s err ]
	says 0 profil report --tsv linked.pb.gz
	grep -P '^function\t10\t.*\thot\t' out
	# without a link there may be one for each of two names
	objcopy --remove-section .gnu_debuglink linked/app unlinked/app
	cp "$planted" unlinked/app.debug
	mkfifo unlinked/.debug/app
	of_program "$tmp/unlinked/app"
	says 0 profil run -q -o unlinked.pb.gz true
	[ ! -s err ]
	# nor for what several programs have in common
	mkdir -p shared/side
	mkfifo shared/side/common
	printf 'side/common\0%020d' 1 >common
	objcopy --add-section .gnu_debugaltlink=common "$planted" shared/app
	of_program "$tmp/shared/app"
	says 0 profil run -q -o shared.pb.gz true
	[ ! -s err ]
}

# A function whose name is larger than all that a reader may say costs nothing but its end.
name_without_end() {
	{ printf 'cold '; head -c 20000000 /dev/zero | tr '\0' n; echo; } >redefine
	objcopy --redefine-syms=redefine "$planted" endless
	of_program "$tmp/endless"
	for i in $(seq 0 7); do
		printf 'slot 10 %x 0 1 0\n' $((0x$(at "$planted" cold) + i))
	done >>table
	says 0 profil run -q -o endless.pb.gz true
	[ ! -s err ]
	says 0 profil report --tsv endless.pb.gz
	grep -P '^function\t10\t.*\thot\t' out
	grep -P '^function\t8\t.*\tn+\t' out | cut -c 1-100
}

# A map each of whose lines names all of the code: the last one counts, and no other is of use.
map_of_all() {
	local map=/tmp/perf-99999997.map i
	printf 'process 0 0 0 0 0 others\nprocess 99999997 0 1 4000 0 node\n' >table
	for ((i = 0; i < 4000; i++)); do
		printf 'slot 2 %x 1 1 0\n' $((20480 + 16 * i))
	done >>table
	rm -f $map
	{ seq -f '0 ffffffff name%.0f' 300000; echo '5010 10 second'; printf '5020 10 third'; } >$map
	(ulimit -t 40 && profil run -q -o map.pb.gz true)
	rm $map
	says 0 profil report --tsv map.pb.gz
	[ "$(grep ^function out | cut -f 2,8 | sort)" = "$(printf '%s\n' '1	second' '1	third' '3998	name300000' | sort)" ]
}

# In somebody's folder lies a pipe, or a link to a device, of the name that a profile would have.
theirs() {
	local kind
	if [ "$(id -u)" != 0 ]; then
		echo 'only root can make what is not his'
		return
	fi
	for kind in pipe link; do
		mkdir -p "$kind"
		if [ $kind = pipe ]; then
			mkfifo pipe/profil.pb.gz
			cat pipe/profil.pb.gz >stolen 2>&1 &
		else
			ln -s /dev/full link/profil.pb.gz
		fi
		chown -h 12345:12345 $kind/profil.pb.gz
		table >"$tmp/table"
		(cd $kind && says 0 profil run -q -- true)
		[ -f $kind/profil.pb.gz ]
		[ ! -L $kind/profil.pb.gz ]
		says 0 profil report $kind/profil.pb.gz
	done
	kill $! || true
	[ ! -s stolen ]
	# one's own are as they were meant
	mkfifo own
	cat own >got &
	says 0 profil run -q -o own -- true
	wait $!
	says 0 profil report got
	ln -s /dev/null device
	says 0 profil run -q -o device -- true
	[ -L device ]
	# but not where somebody else could put another one while one looks at it
	mkdir his open group own_group sticky
	chown 12345 his
	chmod 777 open
	chgrp 12345 group
	chmod 775 group own_group
	chmod 1777 sticky
	for kind in his open group own_group sticky; do
		ln -s /dev/null $kind/device
		says 0 profil run -q -o $kind/device -- true
	done
	[ ! -L his/device ]
	[ ! -L open/device ]
	[ ! -L group/device ]
	[ -L own_group/device ]
	[ -L sticky/device ]
}

# A page is shown around: what is called like source may lead to what is none.
link_for_source() {
	printf 'password of root\n%.0s' $(seq 40) >secret
	ln -s secret link.c
	printf 'a line of source\n%.0s' $(seq 40) >source.c
	ln -s source.c other.c
	for name in link other; do
		printf '%s\n' "object	$planted	1000	2000" "place	0	$hot	hot	$PWD/$name.c	12" 'sample	0	0	10	0' |
			compose $name.pb.gz
		says 0 profil export -o $name.html $name.pb.gz
	done
	none grep -F 'password of root' link.html
	grep -F 'a line of source' other.html
}

# A file that becomes a pipe as soon as somebody has looked what it is: that file is read, or none.
changed() {
	cat >shim.c <<-'END'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <fcntl.h>
		#include <stdarg.h>
		#include <stdio.h>
		#include <string.h>
		#include <sys/stat.h>
		static void seen(const char *path) { if (strstr(path, "/turns.c")) rename("turned", path); }
		int stat(const char *path, struct stat *st)
		{
			int (*real)(const char *, struct stat *) = dlsym(RTLD_NEXT, "stat"), result = real(path, st);
			seen(path);
			return result;
		}
		int open(const char *path, int flags, ...)
		{
			int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, "open"), result;
			va_list args;
			va_start(args, flags);
			result = real(path, flags, va_arg(args, int));
			va_end(args);
			seen(path);
			return result;
		}
	END
	gcc -shared -fPIC -o shim.so shim.c
	mkfifo turned
	printf '%s\n' 'int main(int argc, char **argv)' '{' 'return argc + !argv; /* a line of source */' '}' >turns.c
	gcc -g -o turns turns.c
	printf '%s\n' "object	$PWD/turns	1000	2000" "place	0	$(at turns main)	main		0" 'sample	0	0	10	0' |
		compose turns.pb.gz
	LD_PRELOAD=$PWD/shim.so "$O/plain/profil" annotate -s main turns.pb.gz | tee out
	[ -p turns.c ]
	grep -F 'a line of source' out
}

# Whom a file has taken over that reads it: it does here what such a one could want, in the place of
# a library, and what succeeds is said, in memory of the command's.  The same in another process shows
# that all of it can be done.
taken_over() {
	cat >evil.c <<-'END'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <fcntl.h>
		#include <signal.h>
		#include <stdarg.h>
		#include <stdio.h>
		#include <string.h>
		#include <sys/mman.h>
		#include <sys/ptrace.h>
		#include <sys/resource.h>
		#include <sys/socket.h>
		#include <sys/stat.h>
		#include <sys/time.h>
		#include <sys/wait.h>
		#include <unistd.h>
		#define TRY(call) do { if ((call) >= 0) tell("could %s\n", #call); } while (0)
		static char *told;
		static pid_t command;
		static void tell(const char *format, ...)
		{
			va_list args;
			va_start(args, format);
			vsprintf(told + strlen(told), format, args);
			va_end(args);
		}
		__attribute__((constructor)) static void begin(void)
		{
			command = getpid();
			told = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		}
		__attribute__((destructor)) static void end(void)
		{
			if (getpid() == command)
				fputs(told, stderr);
		}
		static void attack(void)
		{
			char line[256], path[64];
			pid_t parent = getppid(), child;
			struct rlimit limit;
			struct itimerval timer = { 0 };
			FILE *status = fopen("/proc/self/status", "r");
			TRY(open("made", O_WRONLY | O_CREAT, 0666));
			TRY(open("open/there", O_RDWR));
			TRY(open("open/there", O_RDONLY | O_TRUNC));
			TRY(creat("open/made", 0666));
			TRY(truncate("open/there", 0));
			TRY(rename("open/there", "open/moved"));
			TRY(rename("open/moved", "open/there"));
			TRY(chmod("open/there", 0666));
			TRY(mkdir("open/folder", 0777));
			TRY(symlink("there", "open/link"));
			TRY(unlink("open/link"));
			TRY(socket(AF_INET, SOCK_STREAM, 0));
			TRY(socket(AF_UNIX, SOCK_STREAM, 0));
			TRY(kill(parent, 0));
			TRY(prlimit(parent, RLIMIT_NOFILE, NULL, &limit));
			TRY(fcntl(2, F_SETOWN, parent));
			TRY(fcntl(2, F_SETFL, O_APPEND));
			TRY(fcntl(2, F_SETLK, &(struct flock) { .l_type = F_UNLCK }));
			TRY(setitimer(ITIMER_REAL, &timer, NULL));
			for (int i = 0; i < 1000; i++) {
				sprintf(path, "/proc/self/fd/%d", i);
				memset(line, 0, sizeof(line));
				if (readlink(path, line, sizeof(line) - 1) > 0)
					tell("fd %d %s\n", i, line);
			}
			getrlimit(RLIMIT_CORE, &limit);
			tell("core %ld\n", (long)limit.rlim_max);
			getrlimit(RLIMIT_CPU, &limit);
			tell("cpu %ld %ld\n", (long)limit.rlim_cur, (long)limit.rlim_max);
			TRY(child = fork());
			if (!child)
				_exit(0);
			if (child > 0)
				waitpid(child, NULL, 0);
			if (child > 0 && !(child = vfork())) {
				execl("/bin/true", "true", NULL);
				_exit(1);
			}
			while (status && fgets(line, sizeof(line), status))
				if (!strncmp(line, "Uid", 3) || !strncmp(line, "CapPrm", 6) ||
				    !strncmp(line, "NoNewPrivs", 10) || !strncmp(line, "Seccomp:", 8))
					tell("%s", line);
			if (getpid() == command)
				end();
			TRY(execl("/bin/echo", "echo", "could execute", NULL));
		}
		void *dwfl_begin(const void *callbacks)
		{
			void *(*real)(const void *) = dlsym(RTLD_NEXT, "dwfl_begin");
			attack();
			return real(callbacks);
		}
		#ifdef MAIN
		int main(void) { attack(); }
		#endif
	END
	gcc -shared -fPIC -o evil.so evil.c
	gcc -DMAIN -o evil evil.c
	mkdir -p open
	touch open/there
	chmod 777 open
	./evil 2>&1 | tee out
	[ "$(grep -c '^could' out)" -ge 20 ]
	grep -x 'could execute' out
	rm -r made open/made open/folder
	chmod 666 open/there
	printf '%s\n' "object	$planted	1000	2000" "place	0	$hot	hot		0" 'sample	0	0	10	0' |
		compose evil.pb.gz
	LD_PRELOAD=$PWD/evil.so "$O/plain/profil" annotate -s hot evil.pb.gz >out 2>err 5<open/there
	cat err
	grep -F 'planted.c' out
	none grep could out err
	grep -xP 'NoNewPrivs:\t1' err
	grep -xP 'Seccomp:\t2' err
	# of the command it has the file, and where it tells what it has read
	[ "$(grep -cx 'fd [012] /dev/null' err)" = 3 ]
	[ "$(grep '^fd' err | cut -d ' ' -f 3 | sed 's/:.*//' | grep -vE '^/(dev/null|proc/.*)$' | sort | paste -sd ' ')" = "$planted pipe" ]
	# of limits there is nothing to be raised
	grep -x 'core 0' err
	grep -x 'cpu 60 61' err
	[ ! -e made ]
	if [ "$(id -u)" = 0 ]; then
		grep -xP 'Uid:\t65534\t65534\t65534\t65534' err
		grep -xP 'CapPrm:\t0000000000000004' err
	else
		grep -xP 'CapPrm:\t0000000000000000' err
	fi
}

# One that no timer ends, since it wants none, and one that says all and stays.  An hour is a minute here.
stays() {
	local begin=$SECONDS
	gcc -shared -fPIC -x c -o stays.so - <<-'END'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <poll.h>
		#include <signal.h>
		#include <stdlib.h>
		#include <sys/syscall.h>
		#include <time.h>
		#include <unistd.h>
		void *dwfl_begin(const void *callbacks)
		{
			signal(SIGALRM, SIG_IGN);
			if (getenv("CLOSES"))
				for (int i = 0; i < 100; i++)
					close(i);
			for (;;)
				sleep(1);
		}
		int clock_gettime(clockid_t clock, struct timespec *time)
		{
			int error = syscall(SYS_clock_gettime, clock, time);
			time->tv_sec *= 60;
			time->tv_sec += time->tv_nsec / (1000000000 / 60);
			return error;
		}
		int poll(struct pollfd *polled, nfds_t num, int ms)
		{
			int (*real)(struct pollfd *, nfds_t, int) = dlsym(RTLD_NEXT, "poll");
			return real(polled, num, ms > 0 ? ms / 60 + 1 : ms);
		}
	END
	of_program "$planted"
	for closes in '' CLOSES=1; do
		env $closes LD_PRELOAD="$PWD/stays.so" timeout 60 "$O/plain/profil-fake" run -q -o stays.pb.gz true 2>err
		cat err
		grep -F "$planted could not be read for names (Killed)" err
	done
	[ $((SECONDS - begin)) -lt 30 ]
}

# Root reads what belongs to a program in a folder of somebody's own.
folders_of_others() {
	if [ "$(id -u)" != 0 ]; then
		echo 'only root can make what is not his'
		return
	fi
	mkdir -p home/.debug
	strip -o home/app "$planted"
	objcopy --only-keep-debug "$planted" home/.debug/app.debug
	(cd home/.debug && objcopy --add-gnu-debuglink app.debug ../app)
	chown -R 12345:12345 home
	chmod 700 home home/.debug
	chmod 600 home/app home/.debug/app.debug
	of_program "$tmp/home/app"
	says 0 profil run -q -o home.pb.gz true
	says 0 profil report --tsv home.pb.gz
	grep -P '^function\t10\t.*\thot\t' out
}

# A small file with one comment, very many times.
comments() {
	python3 - <<-'END'
		import gzip
		def varint(n):
		    return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)
		def field(number, data):
		    return varint(number << 3 | 2) + varint(len(data)) + data
		texts = [b"", b"samples", b"count", b"cpu", b"nanoseconds",
		         b"process 1 parent 0 programs 1 samples 1 user_ns 1 system_ns 1 x"]
		types = field(1, b"\x08\x01\x10\x02") + field(1, b"\x08\x03\x10\x04")
		for name, num in ("few", 1000), ("many", 4000001):
		    file = types + b"".join(field(6, text) for text in texts) + field(13, b"\x05" * num)
		    open(name, "wb").write(gzip.compress(file, 6))
	END
	says 0 profil report few
	says 1 profil report many
	grep -xF 'profil: many is no profile: it has more than 4 million comments; make one with profil run' err
}

# Far more samples beside the code of a function than in it: a bar is no longer than its column.
beside_code() {
	printf '%s\n' "object	$planted	1000	2000" "place	0	$hot	hot		0" 'place	0	900000	hot		0' \
		'sample	0	0	1	0' 'sample	1	0	4000000	0' | compose beside.pb.gz
	(ulimit -f 100 && says 0 profil annotate hot beside.pb.gz)
	grep -F 'at addresses that are not in this code' out
	[ "$(grep -o '█' out | wc -l)" = 10 ]
}

# What is to be given to a shell is one word for each name.
words() {
	local evil="/a/\`touch ran\`" function="it's; touch ran; #"
	printf '%s\n' "object	$planted	1000	2000" "object	$evil	1000	2000" "place	0	$hot	$function		0" \
		"place	1	$hot	$function		0" 'sample	0	0	20	0' 'sample	1	0	10	0' | compose words.pb.gz
	says 0 profil annotate "$function" words.pb.gz
	sed -n 's/^  also .* samples: profil annotate/printf "%s\\n"/p' out >commands
	[ "$(bash commands)" = "$function@${evil##*/}" ]
	says 0 profil export -o x.gmon words.pb.gz
	sed 's/^gprof -b -p/printf "%s\\n"/' err >commands
	[ "$(bash commands | head -2)" = "$(printf '%s\n' "$evil" "x.gmon.${evil##*/}")" ]
	[ ! -e ran ]
}

check 'enemy: pipes in the place of debug files' pipes_for_debug
check 'enemy: a function whose name has no end' name_without_end
check 'enemy: a map whose every line names all code' map_of_all
check 'enemy: a pipe, and a link to a device, in the place of a profile' theirs
check 'enemy: a link that is called like source' link_for_source
check 'enemy: a file that becomes a pipe when it was looked at' changed
check 'enemy: a reader that a file has taken over' taken_over
check 'enemy: a reader that nothing ends' stays
check 'enemy: debug files in folders of others' folders_of_others
check 'enemy: a comment four million times' comments
check 'enemy: samples beside the code of a function' beside_code
check 'enemy: names in commands that are shown' words
plan
