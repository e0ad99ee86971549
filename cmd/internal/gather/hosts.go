package gather

import (
	"strings"

	"github.com/gostap/gostap/cmd/internal/remote"
)

// Recorder makes what takes the lines or rows of a host.
func (s *Stream) Recorder() func(name string, h remote.Host) remote.Recorder {
	return func(name string, h remote.Host) remote.Recorder {
		return s.Source(func() Origin {
			o := Origin{Machine: name}
			if h.Follow == nil || h.Follow.Names == nil {
				return o
			}
			var pods []string
			o.Node, pods = h.Follow.Names()
			for i, pod := range pods {
				namespace, name, _ := strings.Cut(pod, "/")
				if i == 0 {
					o.Namespace, o.Pod = namespace, name
				}
				// What is said may be of any of them.
				if i > 0 {
					o.Pod = ""
				}
				if namespace != o.Namespace {
					o.Namespace = ""
				}
			}
			return o
		})
	}
}
