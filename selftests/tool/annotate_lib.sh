# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# For the tests of profil annotate: a program, and profiles of it.

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

cd "$tmp"
mkdir src
cat >src/loop.c <<'END'
/* A loop with a hot line, and a function that is put into it. */
static volatile int sink;

static inline __attribute__((always_inline)) int scale(int n)
{
	return n * 3 + sink;
}

__attribute__((noinline)) int hot(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++) {
		if (i & 1)
			sum += scale(i);
		else
			sum -= i;
	}
	return sum;
}

int main(int argc, char **argv)
{
	(void)argv;
	return hot(argc);
}
END
gcc -g -O1 -fno-asynchronous-unwind-tables -o loop "$tmp/src/loop.c"
touch -r loop src/loop.c
hot=$(at loop hot)

# places FILE FUNCTION: the addresses of its instructions, as objdump has them
places() {
	objdump -d --no-show-raw-insn "$1" | sed -n "/<$2>:\$/,/^\$/p" |
		sed -nE 's/^ +([0-9a-f]+):\t.*/\1/p'
}

# line_of NUMBER FILE: the first instruction of hot that is of this line, as addr2line has it
line_of() {
	local address
	for address in $(places "$2" hot); do
		[ "$(addr2line -e "$2" "$address" | sed 's/.*://; s/ .*//')" != "$1" ] || { echo "$address"; return; }
	done
	return 1
}

# slots OBJECT ADDRESS:USER:SYSTEM...
slots() {
	local object=$1 address user system
	shift
	for slot; do
		IFS=: read -r address user system <<<"$slot"
		echo "slot $object $address 1 $user $system"
	done
}

# profile FILE: what the table on standard input makes
profile() {
	{ printf 'process 0 0 0 0 0 others\nprocess 7 0 1 0 0 loop\n'; cat; } >"$tmp/table"
	profil run -q -o "$1" true
}

# of_loop FILE [OBJECT]: a profile with samples in each of its lines that have some
of_loop() {
	{ echo "object 10 ${2:-$tmp/loop}"; slots 10 "$scale:60:3" "$less:10:0" "$hot:1:0" "$(at loop main):4:1"; } | profile "$1"
}

scale=$(line_of 6 loop)
less=$(line_of 17 loop)

# sum FILE: of the samples of all lines
sum() {
	awk -F '\t' '$1 == "line" || $1 == "instruction" { sum += $2 } END { print sum + 0 }' "$1"
}
