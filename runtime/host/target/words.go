package target

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// simple is a command that needs no shell: a program with its arguments, and where its streams go.
type simple struct {
	words []string
	// files are the redirections, in order.
	files []redirection
}

// redirection is n>file and the like. With dup >= 0 it is n>&dup.
type redirection struct {
	fd   int
	file string
	flag int
	dup  int
}

// words takes a command apart as the shell would, if it is made of nothing but words, quotes and redirections of
// the three streams.
func words(command string) (simple, bool) {
	var s simple
	var word []byte
	in := false // within a word
	var next *redirection
	end := func() {
		if !in {
			return
		}
		if next != nil {
			next.file = string(word)
			s.files = append(s.files, *next)
			next = nil
		} else {
			s.words = append(s.words, string(word))
		}
		word, in = nil, false
	}
	for i := 0; i < len(command); i++ {
		c := command[i]
		switch {
		case c == ' ' || c == '\t':
			end()
		case c == '\'':
			j := strings.IndexByte(command[i+1:], '\'')
			if j < 0 {
				return s, false
			}
			word, in = append(word, command[i+1:i+1+j]...), true
			i += j + 1
		case c == '"':
			in = true
			for i++; ; i++ {
				if i >= len(command) || command[i] == '$' || command[i] == '`' || command[i] == '!' {
					return s, false
				}
				if command[i] == '"' {
					break
				}
				if command[i] == '\\' && i+1 < len(command) && strings.IndexByte("$`\"\\", command[i+1]) >= 0 {
					i++
				}
				word = append(word, command[i])
			}
		case c == '\\':
			if i++; i >= len(command) || command[i] == '\n' {
				return s, false
			}
			word, in = append(word, command[i]), true
		case c == '<' || c == '>':
			r := redirection{fd: 1, dup: -1, flag: os.O_WRONLY | os.O_CREATE | os.O_TRUNC}
			if c == '<' {
				r.fd, r.flag = 0, os.O_RDONLY
			}
			if in && len(word) == 1 && word[0] >= '0' && word[0] <= '2' && command[i-1] == word[0] &&
				(i < 2 || command[i-2] == ' ' || command[i-2] == '\t') {
				r.fd, word, in = int(word[0]-'0'), nil, false
			} else if in && len(word) > 0 && strings.Trim(string(word), "0123456789") == "" {
				return s, false
			}
			end()
			if next != nil {
				return s, false
			}
			rest := command[i+1:]
			switch {
			case c == '>' && strings.HasPrefix(rest, ">"):
				r.flag = os.O_WRONLY | os.O_CREATE | os.O_APPEND
				i++
			case c == '>' && len(rest) > 1 && rest[0] == '&' && rest[1] >= '0' && rest[1] <= '2' &&
				(len(rest) == 2 || rest[2] == ' ' || rest[2] == '\t'):
				r.dup = int(rest[1] - '0')
				s.files = append(s.files, r)
				i += 2
				continue
			case strings.HasPrefix(rest, "&"), strings.HasPrefix(rest, "<"), strings.HasPrefix(rest, "|"),
				strings.HasPrefix(rest, ">"), strings.HasPrefix(rest, "("):
				return s, false
			}
			next = &r
		case c == '~' && in || c == '#' && in || c == '=' && len(s.words) > 0 || c >= '0' && c <= '9' ||
			c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80, strings.IndexByte("_@%+:,./-^", c) >= 0:
			word, in = append(word, c), true
		default:
			return s, false // the shell's
		}
	}
	end()
	return s, next == nil && len(s.words) > 0
}

// open opens the files of the redirections and gives where the three streams go. later does what must wait until
// the command runs.
func (s *simple) open(streams [3]any, dir string) (out [3]any, files []*os.File, later func(), ok bool) {
	var empty []*os.File
	out = streams
	later = func() {
		for _, f := range empty {
			f.Truncate(0)
		}
	}
	for _, r := range s.files {
		if r.dup >= 0 {
			if r.fd == 0 || r.dup == 0 {
				return out, files, later, false
			}
			out[r.fd] = out[r.dup]
			continue
		}
		name := r.file
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		// What may wait for somebody at the other end is left to the shell.
		if st, err := os.Stat(name); err == nil && !st.Mode().IsRegular() && st.Mode()&os.ModeCharDevice == 0 {
			return out, files, later, false
		}
		f, err := os.OpenFile(name, r.flag&^os.O_TRUNC, 0o666)
		if err != nil {
			return out, files, later, false
		}
		if r.flag&os.O_TRUNC != 0 {
			empty = append(empty, f)
		}
		files = append(files, f)
		out[r.fd] = f
	}
	return out, files, later, true
}

// program finds the file that a shell would run for a word, and "" where that is left to the shell: when there is
// none, or when it is not the kernel that runs it.
func program(word string, env []string, dir string) string {
	try := func(path string) bool {
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		st, err := os.Stat(path)
		if err != nil || !st.Mode().IsRegular() || st.Mode()&0o111 == 0 {
			return false
		}
		f, err := os.Open(path)
		if err != nil {
			return false
		}
		defer f.Close()
		head := make([]byte, 4)
		n, _ := f.Read(head)
		return string(head[:n]) == "\x7fELF" || n >= 2 && string(head[:2]) == "#!"
	}
	if strings.Contains(word, "/") {
		if try(word) {
			return word
		}
		return ""
	}
	path := os.Getenv("PATH")
	if i := slices.IndexFunc(env, func(e string) bool { return strings.HasPrefix(e, "PATH=") }); i >= 0 {
		path = strings.TrimPrefix(env[i], "PATH=")
	}
	for _, d := range filepath.SplitList(path) {
		if d == "" {
			d = "."
		}
		if p := filepath.Join(d, word); try(p) {
			if !strings.Contains(p, "/") {
				p = "./" + p
			}
			return p
		}
	}
	return ""
}

// builtins are the words that only a shell knows, or knows better.
var builtins = strings.Fields("exit cd for if while case until set read : eval exec ulimit umask . trap wait time " +
	"export unset alias command ! { } [[")

func builtin(word string) bool { return slices.Contains(builtins, word) }
