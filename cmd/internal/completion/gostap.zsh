#compdef gostap
# zsh completion for gostap: the command itself says how a line could go on.
_gostap() {
	local -a words_
	words_=(${(f)"$(gostap complete-words "${(@Q)words[1,CURRENT-1]}" "$PREFIX" 2>/dev/null)"})
	(( $#words_ )) || return 1
	local -a plain open
	local w
	for w in $words_; do
		if [[ $w == *[/\(\".=] ]]; then open+=($w); else plain+=($w); fi
	done
	(( $#open )) && compadd -S '' -- $open
	(( $#plain )) && compadd -- $plain
	return 0
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -u; }
if [ "$funcstack[1]" = "_gostap" ]; then _gostap "$@"; else compdef _gostap gostap; fi
