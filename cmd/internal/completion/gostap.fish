# fish completion for gostap: the command itself says how a line could go on.
complete -c gostap -f -a '(gostap complete-line fish (commandline -cp) 2>/dev/null)'
