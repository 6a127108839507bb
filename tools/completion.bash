# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Completion for bash.  Commands and options are those that the command's help names.

# Where the program is that run or top profiles, in $program; 0 if it has not been named yet.
_profil_program()
{
	local i

	program=0
	for ((i = 2; i <= COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		--)
			program=$((i + 1))
			return
			;;
		# the shell makes three words of --output=file
		= | -d | -F | -n | -o | -p | -r | -s) i=$((i + 1)) ;;
		--by | --duration | --frequency | --interval | --intervals | --output | --pid | --rows | --runs | \
			--slice | --slots) [ "${COMP_WORDS[i + 1]}" = = ] || i=$((i + 1)) ;;
		-*) ;;
		*)
			program=$i
			return
			;;
		esac
	done
}

# Functions that the profile in this folder has, but for those whose name the shell would cut.
_profil_functions()
{
	local i

	for ((i = 2; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		--from | --names | --to) [ "${COMP_WORDS[i + 1]}" = = ] || i=$((i + 1)) ;;
		=) i=$((i + 1)) ;;
		-*) ;;
		*) return ;;
		esac
	done
	profil report --tsv 2>/dev/null | awk -F '\t' '$1 == "function" && $8 ~ /^[A-Za-z0-9_.]+$/ { print $8 }'
}

# Units, containers or programs of that profile.
_profil_names()
{
	profil report --tsv --by "$1" 2>/dev/null |
		awk -F '\t' -v by="$1" '$1 == by && $8 ~ /^[A-Za-z0-9_.@-]+$/ { print $8 }'
}

# _profil_options [COMMAND]: long ones, which its help names
_profil_options()
{
	profil "$@" --help 2>/dev/null | grep -oE '^ +(-[^ ], +)?--[a-z-]+=?' | sed 's/.*--/--/'
}

_profil()
{
	local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words='' program=0

	COMPREPLY=()
	if [ "$current" = = ]; then
		current=''
	elif [ "$before" = = ]; then
		before=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	if [[ $COMP_CWORD = 1 && $current = -* ]]; then
		words=$(_profil_options)
	elif [ "$COMP_CWORD" = 1 ] || [[ $COMP_CWORD = 2 && ${COMP_WORDS[1]} = help && $current != -* ]]; then
		words=$(profil --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
	else
		[[ ${COMP_WORDS[1]} != @(run|top) ]] || _profil_program
		if [ $program != 0 ] && [ $program -lt "$COMP_CWORD" ]; then
			! declare -F _command_offset >/dev/null || _command_offset $program
			return
		elif [ $program != 0 ] && [[ $current != -* || ${COMP_WORDS[program - 1]} = -- ]]; then
			mapfile -t COMPREPLY < <(compgen -c -- "$current")
			return
		fi
		case $before in
		-p | --pid) words=$(pgrep -u "$EUID" 2>/dev/null) ;;
		-f | --format) words='pprof callgrind collapsed cpuprofile gmon html json tsv' ;;
		--by)
			words='function object process unit container program'
			[ "${COMP_WORDS[1]}" = top ] || words+=' line address time'
			;;
		--unit | --container | --program) words=$(_profil_names "${before#--}") ;;
		-d | -F | -n | -o | -r | -s | --duration | --frequency | --from | --interval | --intervals | --names | --rows | \
			--runs | --output | --slice | --slots | --to) return ;;
		*)
			if [[ $current != -* ]]; then
				[ "${COMP_WORDS[1]}" = annotate ] || return
				words=$(_profil_functions)
			else
				words=$(_profil_options "${COMP_WORDS[1]}")
			fi
			;;
		esac
	fi
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
	# shellcheck disable=SC2128 # the first: its value comes without a blank
	[[ ${#COMPREPLY[@]} != 1 || $COMPREPLY != *= ]] || compopt -o nospace 2>/dev/null
} && complete -o default -F _profil profil
