#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# profil watch: names of the kernel are read once a boot, as long as they are those of what runs;
# and so are those of files that have no time of their own.
set -eu
# shellcheck source-path=SCRIPTDIR source=watch_lib.sh
. "$(dirname "$0")/watch_lib.sh"

{
	machine
	cat <<-END
		slot 5 ffffffff81000110 2 0 30
		slot 5 ffffffff81000350 2 0 7
		slot 5 ffffffffc0001020 2 0 17
	END
} >"$PROFIL_FAKE"
cat >first <<'END'
ffffffff81000000 T _stext
ffffffff81000100 T vfs_read
ffffffff81000200 T _etext
ffffffff81000300 D data
ffffffff81000400 B _end
ffffffffc0001000 t ext4_first	[ext4]
ffffffffc0001010 t ext4_read	[ext4]
ffffffffc0001400 t ext4_last	[ext4]
ffffffffc0002000 t bpf_prog_1	[bpf]
END
sed s/vfs_read/vfs_other/ first >second
sed s/bpf_prog_1/bpf_prog_2/ second >third
cat first >kallsyms
echo one >boot

# one_interval: of a kernel that has these names, and booted so
one_interval() {
	rm -rf kept/*.pb.gz
	# shellcheck disable=SC2016 # for sh
	start sh -c 'mount --bind kallsyms /proc/kallsyms
		mount --bind boot /proc/sys/kernel/random/boot_id
		exec "$(command -v profil)" watch -o kept --every 1h'
	until_is catches
	stop 0
	profil report --tsv kept/*.pb.gz | awk -F '\t' '$1 == "function" && $9 ~ /^\[/ { print $8, $9 }' | sort >names
	cat names
}

# has NAME: of the kernel's
has() {
	grep -qx "$1" names
}

kept() {
	one_interval
	has 'vfs_read \[kernel\]'
	has 'ext4_read \[ext4\]'
	has '\[kernel\] \[kernel\]'
	cp names names.first
	profil report --tsv --by address kept/*.pb.gz | grep -P '^address.*ext4' >addresses
	# what is kept is what is used: names that are another's now are not seen
	cat second >kallsyms
	one_interval
	diff names.first names
	profil report --tsv --by address kept/*.pb.gz | grep -P '^address.*ext4' | diff addresses -
}

booted() {
	echo two >boot
	one_interval
	has 'vfs_other \[kernel\]'
}

# What comes and goes without a change of the list of modules is looked at each time.
others_code() {
	echo "slot 5 ffffffffc0002010 2 0 5" >>"$PROFIL_FAKE"
	one_interval
	has 'bpf_prog_1 \[bpf\]'
	cat third >kallsyms
	one_interval
	has 'bpf_prog_2 \[bpf\]'
	none has 'bpf_prog_1 \[bpf\]'
	has 'ext4_read \[ext4\]'
}

# known FOLDER: a profile has names of the kernel
known() {
	profil report --tsv "$1"/*.pb.gz >known && grep -P '\tvfs_read\t' known
}

# Reading them may take longer than such an interval: it is done when the profile is written, and
# the next ones have them.
short_intervals() {
	cat first >kallsyms
	echo three >boot
	# shellcheck disable=SC2016 # for sh
	start sh -c 'mount --bind kallsyms /proc/kallsyms
		mount --bind boot /proc/sys/kernel/random/boot_id
		exec "$(command -v profil)" watch -o short --every 1s'
	until_is files short 1
	until_is known short
	stop 0
	none grep -F lost err
	[ "$(all short/.names | grep -c kernel)" = 1 ]
	mkdir begin
	mv "short/$(list short | head -n 1)" begin
	none known begin
	grep '^function' known
}

# image BOOT: of a machine whose files are of an image, which has times in whole seconds; the number of
# tables goes to the file num
image() {
	echo "$1" >boot
	# shellcheck disable=SC2016 # for sh
	start sh -c 'mount --bind boot /proc/sys/kernel/random/boot_id
		LD_PRELOAD=$PWD/seconds.so exec "$O/plain/profil-fake" watch -o image --every 1h'
	until_is catches
	stop 0
	all image/.names | grep -cv kernel >num
}

# After a boot there may be another image, with files of the same numbers, sizes and times.
of_images() {
	local once
	gcc -shared -fPIC -o seconds.so -x c - <<-'END'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <sys/stat.h>
		int fstat(int fd, struct stat *st)
		{
			int err = ((int (*)(int, struct stat *))dlsym(RTLD_NEXT, "fstat"))(fd, st);
			st->st_ctim.tv_nsec = 0;
			return err;
		}
	END
	image four
	once=$(cat num)
	[ "$once" -gt 0 ]
	image four
	[ "$(cat num)" = "$once" ]
	image five
	[ "$(cat num)" -gt "$once" ]
}

check 'watch: names of the kernel are kept' kept
check 'watch: after another boot' booted
check 'watch: programs of BPF' others_code
check 'watch: names of the kernel, in short intervals' short_intervals
check 'watch: names of files of an image, after another boot' of_images
plan
