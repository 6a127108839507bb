#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Replays the session that README.md shows, in a VM that has what "make install"
# installs: as an ordinary user, but for the lines that say sudo.  The output
# must be the one shown, but for the numbers, and these must be plausible.
set -euo pipefail

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$TOP"
kernel=${KERNEL:-6.12}
stage=build/transcript
number=0 failed=0

# report STATUS WHAT [WHY]
report() {
	number=$((number + 1))
	if [ "$1" = 0 ]; then
		echo "ok $number transcript: $2"
	else
		failed=$((failed + 1))
		printf 'not ok %d transcript: %s\n%s\n' "$number" "$2" "${3:-}" | sed '2,$s/^/# /'
	fi
}

# The block of README.md with an insmod in it.
shown() {
	awk '/^```/ { inside = !inside; if (!inside && block ~ /insmod/) printf "%s", block
		block = ""; next }
	     inside { block = block $0 "\n" }' README.md
}

# without_numbers: columns are as wide as the numbers
without_numbers() {
	sed -E 's/^ +//; s/[0-9]+/N/g'
}

selftests/vm/kernels.sh fetch "$kernel"
selftests/vm/module.sh "$kernel"
rm -rf "$stage"
mkdir -p "$stage"
# not in build/lib, where others may be installing to other folders
make -s -C libwrap O="$PWD/$stage/lib"
make -s -C libwrap install O="$PWD/$stage/lib" DESTDIR="$PWD/$stage/root" PREFIX=/usr/local
cp "build/k/$kernel/profil.ko" Documentation/examples/ex.c "$stage"
shown >"$stage/shown"
grep -q '^\$ sudo insmod profil.ko$' "$stage/shown" || { echo "transcript.sh: README.md shows no session with insmod" >&2; exit 1; }

# One line a command, as a shell with a prompt would show it.
cat >"$stage/replay" <<'END'
set -eu
mount --bind "$PWD/root/usr/local" /usr/local
ldconfig -C /tmp/ld.so.cache
mount --bind /tmp/ld.so.cache /etc/ld.so.cache
cp profil.ko ex.c /tmp
here=$PWD
cd /tmp
grep '^\$ ' "$here/shown" | while read -r prompt command; do
	echo "$prompt $command"
	case $command in
	sudo\ *) sh -c "${command#sudo }" ;;
	*) setpriv --reuid=1000 --regid=1000 --clear-groups sh -c "$command" ;;
	esac </dev/null 2>&1 || { echo "exit status $?"; exit 1; }
done
END
status=0
# time is counted in instructions, so that no tick is lost while this machine does
# something else; the kernel's tests of its ciphers would go on beside it
selftests/vm/run.sh --kernel "$kernel" --cpus 1 --icount 3 --append cryptomgr.notests --timeout 1200 \
	--module none --mem 1024 --root9p --dir "$stage" -- \
	sh ./replay >"$stage/seen" || status=$?
echo "TAP version 13"
report "$status" "every command succeeds" "$(cat "$stage/seen")"
difference=$(diff <(without_numbers <"$stage/shown") <(without_numbers <"$stage/seen") || :)
report "$([ -z "$difference" ] && echo 0 || echo 1)" "it prints what README.md shows" "$difference"

# ex.c uses two seconds of CPU time, at 100 samples each, three quarters in work.
# Of so many samples the bounds of the ratio are more than four standard deviations
# away, if each were by chance.
count() {
	awk -v name="$1" '$2 == "samples" && $4 == name { n = $1 } END { print n + 0 }' "$stage/seen"
}
work=$(count work) play=$(count play)
status=0
[ $((work + play)) -ge 180 ] && [ $((work + play)) -le 220 ] || status=1
report $status "about 200 samples" "$work + $play"
status=0
[ $((10 * work)) -ge $((15 * play)) ] && [ "$work" -le $((8 * play)) ] || status=1
report $status "about three times as many in work as in play" "$work : $play"
echo "1..$number"
echo "# $((number - failed)) passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
