# bash completion for gostap: the command itself says how a line could go on.
_gostap() {
	local IFS=$'\n'
	COMPREPLY=($(gostap complete-line bash "${COMP_LINE:0:COMP_POINT}" 2>/dev/null))
	# Only a word that is whole is followed by a blank.
	if [[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} == *[/\(\".=] || ${COMP_LINE:0:COMP_POINT} == *[\'\"]* ]]; then
		compopt -o nospace
	fi
}
complete -o noquote -F _gostap gostap 2>/dev/null || complete -F _gostap gostap
