# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# For the tests of profil top: a terminal that can be looked at.

# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

cd "$tmp"
trap 'mux kill-server 2>/dev/null; rm -rf "$tmp"' EXIT

# mux COMMAND...: of the terminal
mux() {
	tmux -S "$tmp/mux" -f /dev/null "$@"
}

# begin COLUMNS ROWS COMMAND: on a terminal; its status goes to the file status, the
# terminal's state before and after it to files of these names
begin() {
	mux kill-server 2>/dev/null || :
	until_is none mux list-sessions
	rm -f status before after profil.pb.gz*
	cat >begin.sh <<-END
		stty -a >before
		$3 2>>"$tmp/err"
		echo \$? >status.new
		stty -a >after
		mv status.new status
		exec sleep 1000
	END
	mux new-session -d -x "$1" -y "$2" "bash begin.sh"
}

# until_is COMMAND...: waits until it succeeds
until_is() {
	for _ in $(seq 1200); do
		! "$@" >/dev/null 2>&1 || return 0
		sleep 0.05
	done
	echo "never: $*"
	tail -n 3 err
	mux capture-pane -p | grep .
	return 1
}

# shows PATTERN: a line of the screen
shows() {
	mux capture-pane -p | grep -E -- "$1"
}

# ended STATUS: and the terminal is as it was
ended() {
	until_is [ -s status ]
	[ "$(cat status)" = "$1" ]
	# but for its size
	diff <(sed 1d before) <(sed 1d after)
	[ "$(mux display -p '#{alternate_on} #{cursor_flag}')" = '0 1' ]
}

# marked_row: the row in reverse, which may have begun in the line above
marked_row() {
	mux capture-pane -p -e | awk -v esc="$esc" '{
		plain = ""
		while (match($0, esc "\\[[0-9;]*m")) {
			plain = plain substr($0, 1, RSTART - 1)
			if (RSTART > 1) here = here || on
			on = substr($0, RSTART, RLENGTH) ~ /[[;]7m$/ || (on && substr($0, RSTART, RLENGTH) !~ /\[0?m$/)
			$0 = substr($0, RSTART + RLENGTH)
		}
		plain = plain $0
		if ((here || (on && $0 != "")) && plain !~ /^ +now /) print plain
		here = 0
	}'
}

# marked NAME
marked() {
	marked_row | NAME=" $1 " awk '$0 ~ ENVIRON["NAME"] { found = 1 } END { exit !found }'
}

# marks_another ROW: than this one
marks_another() {
	[ "$(marked_row)" != "$1" ]
}
