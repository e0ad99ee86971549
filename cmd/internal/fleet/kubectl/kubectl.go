// Package kubectl is as much of the command of that name as gostap kube needs: "get pods", also watching, "get
// node", and "exec" of a command in a pod. With it an image of gostap-fleet needs no kubectl, and no shell.
//
// In: the command line, a configuration of the cluster by the environment. Out: the command's streams and status.
package kubectl

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/remotecommand"
	utilexec "k8s.io/client-go/util/exec"
	"k8s.io/streaming/pkg/httpstream"
)

// Config is how the cluster is reached: $KUBECONFIG, or the service account of the pod that this is.
func Config() (*rest.Config, error) {
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(clientcmd.NewDefaultClientConfigLoadingRules(),
		&clientcmd.ConfigOverrides{}).ClientConfig()
}

// request is a command line: exec of a command in a pod, get of the pods with the labels of a selector, or of a node.
type request struct {
	node                      string
	namespace, pod, container string
	command                   []string
	selector                  string
	watch                     bool
}

// parse reads "exec -i -q --namespace NS POD [--container NAME] -- COMMAND..." and "get pods --namespace NS --selector
// SELECTOR [--watch --output-watch-events] --output json" and "get node NODE --output json".
func parse(args []string) (*request, error) {
	fs := pflag.NewFlagSet("kubectl", pflag.ContinueOnError)
	fs.SetOutput(io.Discard)
	var r request
	fs.StringVarP(&r.namespace, "namespace", "n", "", "")
	fs.StringVarP(&r.container, "container", "c", "", "")
	in := fs.BoolP("stdin", "i", false, "")
	fs.BoolP("quiet", "q", false, "")
	fs.StringVarP(&r.selector, "selector", "l", "", "")
	fs.BoolVarP(&r.watch, "watch", "w", false, "")
	events := fs.Bool("output-watch-events", false, "")
	output := fs.StringP("output", "o", "", "")
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	n := fs.ArgsLenAtDash()
	switch {
	case n < 0 && fs.NArg() == 3 && fs.Arg(0) == "get" && fs.Arg(1) == "node" && *output == "json" && !r.watch &&
		!*events && r.selector == "":
		r.node = fs.Arg(2)
		return &r, nil
	case r.namespace == "":
	case n == 2 && fs.Arg(0) == "exec" && fs.NArg() > 2 && *in:
		r.pod, r.command = fs.Arg(1), fs.Args()[2:]
		return &r, nil
	case n < 0 && fs.NArg() == 2 && fs.Arg(0) == "get" && fs.Arg(1) == "pods" && r.selector != "" &&
		*output == "json" && r.watch == *events:
		return &r, nil
	}
	return nil, errors.New("this kubectl knows exec -i --namespace NS POD [--container NAME] -- COMMAND, " +
		"get pods --namespace NS --selector SELECTOR --output json, and get node NODE --output json")
}

// Main runs a command line without the command's own name. It gives the exit status.
func Main(ctx context.Context, args []string, in io.Reader, out, errw io.Writer) int {
	r, err := parse(args)
	var c *rest.Config
	if err == nil {
		c, err = Config()
	}
	switch {
	case err != nil:
	case r.pod == "":
		err = r.get(ctx, c, out)
	default:
		err = r.exec(ctx, c, in, out, errw)
	}
	var exit utilexec.CodeExitError
	switch {
	case errors.As(err, &exit):
		return exit.Code
	case err != nil:
		fmt.Fprintf(errw, "error: %v\n", err)
		return 1
	}
	return 0
}

// get writes what the API server answers: a list, or a line for each change.
func (r *request) get(ctx context.Context, c *rest.Config, out io.Writer) error {
	set, err := kubernetes.NewForConfig(c)
	if err != nil {
		return err
	}
	ask := set.CoreV1().RESTClient().Get().SetHeader("Accept", "application/json")
	if r.node != "" {
		ask = ask.Resource("nodes").Name(r.node)
	} else {
		ask = ask.Namespace(r.namespace).Resource("pods").
			VersionedParams(&metav1.ListOptions{LabelSelector: r.selector, Watch: r.watch}, scheme.ParameterCodec)
	}
	answer, err := ask.Stream(ctx)
	if err != nil {
		return err
	}
	defer answer.Close()
	_, err = io.Copy(out, answer)
	return err
}

func (r *request) exec(ctx context.Context, c *rest.Config, in io.Reader, out, errw io.Writer) error {
	set, err := kubernetes.NewForConfig(c)
	if err != nil {
		return err
	}
	var options runtime.Object = &corev1.PodExecOptions{Container: r.container, Command: r.command, Stdin: true,
		Stdout: true, Stderr: true}
	url := set.CoreV1().RESTClient().Post().Resource("pods").Namespace(r.namespace).Name(r.pod).SubResource("exec").
		VersionedParams(options, scheme.ParameterCodec).URL()
	web, err := remotecommand.NewWebSocketExecutor(c, "GET", url.String())
	if err != nil {
		return err
	}
	old, err := remotecommand.NewSPDYExecutor(c, "POST", url)
	if err != nil {
		return err
	}
	e, err := remotecommand.NewFallbackExecutor(web, old, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	})
	if err != nil {
		return err
	}
	return e.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: in, Stdout: out, Stderr: errw})
}
