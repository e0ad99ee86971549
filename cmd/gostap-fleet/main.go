// Command gostap-fleet traces pods for those who ask by a resource of Kubernetes, Trace: its controller and its
// webhooks. gostap has none of its libraries.
//
// In: arguments, traces of a cluster. Out: YAML to install, or what is installed; sessions of gostap over the agents on
// the nodes.
package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/gostap/gostap/cmd/internal/asked"
	"github.com/gostap/gostap/cmd/internal/fleet/api"
	"github.com/gostap/gostap/cmd/internal/fleet/chart"
	"github.com/gostap/gostap/cmd/internal/fleet/command"
	"github.com/gostap/gostap/cmd/internal/fleet/controller"
	"github.com/gostap/gostap/cmd/internal/fleet/gate"
	"github.com/gostap/gostap/cmd/internal/fleet/kubectl"
	"github.com/gostap/gostap/cmd/internal/fleet/manifests"
	"github.com/gostap/gostap/cmd/internal/fleet/session"
	"github.com/gostap/gostap/cmd/internal/remote/ledger"
	"github.com/gostap/gostap/cmd/internal/remote/links"
	"github.com/gostap/gostap/cmd/internal/slip"
)

const usage = `gostap-fleet - traces pods for those who ask by a resource of Kubernetes, Trace

usage: gostap-fleet install [options]      applies the agents and the controller, and waits until they run
       gostap-fleet uninstall [options]    deletes them
       gostap-fleet manifests [options]    the controller as YAML, for kubectl apply -f -
       gostap-fleet chart DIR              the agents and the controller as a chart for Helm
       gostap-fleet run [options]          the controller and its webhooks

  -n, --namespace NS   the namespace of the controller, gostap if not said
      --agents NS      the namespace of gostap's agents, gostap if not said

options of install and manifests:
      --image IMAGE    with gostap and gostap-fleet in $PATH, gostap:latest if not said
      --replicas N     of the controller, 2 if not said: one works, the others answer the API server and wait
      --valid TIME     how long a certificate for the webhooks holds, 8760h if not said. manifests makes one each time,
                       install where there is none that holds for a third of its time
      --export NAME=DESTINATION  of the controller, see run
      --metrics PORT   where the controller tells metrics, by plain HTTP; nowhere if not said
      --agent-metrics PORT  likewise the agents (install)

options of install and uninstall:
      --agent-image I  of the agents, with gostap in $PATH; that of --image if not said (install)
      --dry-run        asks the API server what would come of it, and changes nothing
      --wait TIME      how long pods, and what is deleted, are waited for, 5m if not said; 0s: not
      --delete-traces  ends and deletes the Traces that there are; without it these are in the way (uninstall)

options of manifests:
      --url URL        where the API server reaches a controller outside of the cluster: https://HOST:PORT

options of run:
      --gostap FILE    gostap, the one beside this program or in $PATH if not said
      --certs DIR      with tls.crt and tls.key of the webhooks
      --listen ADDR    of the webhooks, [HOST]:PORT, :9443 if not said
      --sessions N     so many at a time, 32 if not said
      --every TIME     how often a status is written at most, 2s if not said
      --metrics ADDR   of /metrics, [HOST]:PORT, by plain HTTP; nothing listens if not said
      --health ADDR    of /healthz and /readyz, likewise
      --export NAME=DESTINATION  where Traces can be delivered to (gostap --export), by a name of theirs; any number of
                       times

The cluster is that of $KUBECONFIG, or the one that this runs in. See docs/fleet.md.
`

func main() {
	if filepath.Base(os.Args[0]) == "kubectl" { // gostap calls it, to reach pods and agents
		// What would end it comes from gostap: the end of its input.
		signal.Ignore(syscall.SIGINT)
		os.Exit(kubectl.Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	if err := do(os.Args[1:], os.Stdout); err != nil {
		os.Exit(slip.Failed(os.Stderr, err))
	}
}

func do(args []string, out io.Writer) error {
	if len(args) == 0 || args[0] == "help" || args[0] == "--help" || args[0] == "-h" {
		_, err := io.WriteString(out, usage)
		return err
	}
	fs := pflag.NewFlagSet("gostap-fleet", pflag.ContinueOnError)
	fs.SetOutput(io.Discard)
	namespace := fs.StringP("namespace", "n", "gostap", "")
	agents := fs.String("agents", "gostap", "")
	help := fs.BoolP("help", "h", false, "")
	var then func() error
	switch args[0] {
	case "manifests":
		o := manifests.Options{}
		made(fs, &o)
		fs.StringVar(&o.URL, "url", "", "")
		then = func() error {
			o.Namespace, o.Agents = *namespace, *agents
			return manifests.Write(out, o)
		}
	case "install", "uninstall":
		i := &installer{out: out, ends: args[0] == "uninstall"}
		i.flags(fs)
		then = func() error {
			i.o.Namespace, i.o.Agents = *namespace, *agents
			return i.run()
		}
	case "chart":
		then = func() error {
			if fs.NArg() != 1 {
				return slip.New("gostap-fleet chart takes a folder for the chart", "")
			}
			return chart.Write(fs.Arg(0))
		}
	case "run":
		r := runner{}
		fs.Var(&r.exports, "export", "")
		fs.StringVar(&r.gostap, "gostap", "", "")
		fs.StringVar(&r.certs, "certs", "", "")
		fs.StringVar(&r.listen, "listen", ":9443", "")
		fs.IntVar(&r.sessions, "sessions", 32, "")
		fs.DurationVar(&r.every, "every", 2*time.Second, "")
		fs.StringVar(&r.metrics, "metrics", "", "")
		fs.StringVar(&r.health, "health", "", "")
		then = func() error {
			r.namespace, r.agents = *namespace, *agents
			return r.run()
		}
	default:
		hint := slip.Meant(args[0], []string{"install", "uninstall", "manifests", "chart", "run", "help"})
		return slip.New(fmt.Sprintf("there is no %q", args[0]), hint)
	}
	if err := fs.Parse(args[1:]); err != nil {
		return slip.New(err.Error(), "gostap-fleet --help lists the options")
	}
	switch {
	case *help:
		_, err := io.WriteString(out, usage)
		return err
	case fs.NArg() > 0 && args[0] != "chart":
		return slip.New(fmt.Sprintf("gostap-fleet %s takes no %q", args[0], fs.Arg(0)), "")
	}
	return then()
}

// made are options of what is written or installed.
func made(fs *pflag.FlagSet, o *manifests.Options) {
	fs.StringVar(&o.Image, "image", "gostap:latest", "")
	fs.IntVar(&o.Replicas, "replicas", 2, "")
	fs.DurationVar(&o.Valid, "valid", 365*24*time.Hour, "")
	fs.Var(&o.Exports, "export", "")
	fs.IntVar(&o.Metrics, "metrics", 0, "")
}

// runner is "gostap-fleet run".
type runner struct {
	namespace, agents, gostap, certs, listen string
	sessions                                 int
	every                                    time.Duration
	exports                                  asked.Exports
	metrics, health                          string // "" for none
}

// check looks at the options, and finds gostap.
func (r *runner) check() (host string, port int, err error) {
	host, p, err := net.SplitHostPort(r.listen)
	if err == nil {
		port, err = strconv.Atoi(p)
	}
	switch {
	case err != nil || port < 1 || port > 65535:
		return "", 0, slip.New(fmt.Sprintf("--listen takes [HOST]:PORT, not %q", r.listen), "")
	case r.certs == "":
		return "", 0, slip.New("--certs is missing: the directory with tls.crt and tls.key",
			"gostap-fleet manifests makes them, as the Secret gostap-fleet-tls")
	case r.sessions < 1:
		return "", 0, slip.New("--sessions is a number from 1", "")
	case r.every < 100*time.Millisecond:
		return "", 0, slip.New("--every is a time from 100ms", "")
	}
	for option, at := range map[string]string{"--metrics": r.metrics, "--health": r.health} {
		if err := ledger.Address(option, at); at != "" && err != nil {
			return "", 0, err
		}
	}
	if r.gostap == "" {
		if self, err := os.Executable(); err == nil {
			r.gostap = filepath.Join(filepath.Dir(self), "gostap")
		}
		if _, err := os.Stat(r.gostap); err != nil {
			if r.gostap, err = exec.LookPath("gostap"); err != nil {
				return "", 0, slip.New("there is no gostap beside this program, nor in $PATH", "--gostap FILE names it")
			}
		}
	}
	if r.gostap, err = filepath.Abs(r.gostap); err == nil {
		_, err = os.Stat(r.gostap)
	}
	return host, port, slip.Plain(err)
}

func (r *runner) run() error {
	host, port, err := r.check()
	if err != nil {
		return err
	}
	log := logr.FromSlogHandler(slog.NewTextHandler(os.Stderr, nil))
	ctrl.SetLogger(log)
	klog.SetLogger(log)
	// gostap finds a kubectl there, which is this program.
	dir, err := os.MkdirTemp("", "gostap-fleet-")
	if err != nil {
		return slip.Plain(err)
	}
	defer os.RemoveAll(dir)
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, filepath.Join(dir, "kubectl"))
	}
	if err != nil {
		return err
	}
	config, err := kubectl.Config()
	if err != nil {
		return fmt.Errorf("the cluster: %w", err)
	}
	// It is asked for the links to agents, too, which would be as many processes.
	at := &net.UnixAddr{Name: filepath.Join(dir, "links"), Net: "unixpacket"}
	l, err := net.ListenUnix(at.Net, at)
	if err != nil {
		return slip.Plain(err)
	}
	defer l.Close()
	go links.Serve(l, kubectl.Main)
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return err
	}
	api.AddTo(scheme)
	stop := 20 * time.Second
	m, err := ctrl.NewManager(config, ctrl.Options{Scheme: scheme, LeaderElection: true,
		LeaderElectionID: "gostap-fleet", LeaderElectionNamespace: r.namespace, LeaderElectionReleaseOnCancel: true,
		Metrics:                metricsserver.Options{BindAddress: cmp.Or(r.metrics, "0")},
		HealthProbeBindAddress: cmp.Or(r.health, "0"), GracefulShutdownTimeout: &stop,
		WebhookServer: webhook.NewServer(webhook.Options{Host: host, Port: port, CertDir: r.certs})})
	if err != nil {
		return err
	}
	c := &controller.Controller{Client: m.GetClient(), Live: m.GetAPIReader(),
		Events: m.GetEventRecorder("gostap-fleet"), Most: r.sessions, Every: r.every,
		Config: &session.Config{Gostap: r.gostap, Agents: r.agents, Kubectl: dir,
			Env: append(cluster(os.Environ()), links.Variable+"="+at.Name), Exports: r.exports}}
	defer c.Close()
	if err := c.SetUp(m); err != nil {
		return err
	}
	checker := command.NewChecker(r.gostap, 20*time.Second)
	checker.Exports = r.exports
	hooks := m.GetWebhookServer()
	if err := watched(m, c, hooks); err != nil {
		return err
	}
	hooks.Register(manifests.MutatePath, &admission.Webhook{Handler: gate.Namer{}})
	hooks.Register(manifests.ValidatePath, &admission.Webhook{Handler: &gate.Guard{Client: m.GetClient(),
		Script: checker}})
	// Whoever is not the leader any more has no sessions: they end here, and the next leader says so in their traces.
	if err := m.Add(manager.RunnableFunc(func(ctx context.Context) error {
		<-ctx.Done()
		c.Close()
		return nil
	})); err != nil {
		return err
	}
	return m.Start(ctrl.SetupSignalHandler())
}

// cluster is what of an environment says how the cluster is reached, and what it has for destinations: those of
// OpenTelemetry, and whose certificates hold.
func cluster(env []string) (out []string) {
	for _, v := range env {
		if strings.HasPrefix(v, "KUBECONFIG=") || strings.HasPrefix(v, "KUBERNETES_SERVICE_") ||
			strings.HasPrefix(v, "OTEL_EXPORTER_OTLP_") || strings.HasPrefix(v, "SSL_CERT_FILE=") ||
			strings.HasPrefix(v, "SSL_CERT_DIR=") {
			out = append(out, v)
		}
	}
	return out
}
