package install

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/gostap/gostap/cmd/internal/slip"
)

// manager is who has applied the fields of objects, as the API server notes it.
const manager = "gostap-fleet"

// Cluster is one, and where it is said what becomes of it.
type Cluster struct {
	host    string
	client  dynamic.Interface
	known   discovery.CachedDiscoveryInterface
	mapper  meta.RESTMapper
	out     io.Writer
	between time.Duration // two looks at what is waited for
}

// New is the cluster of a configuration. What its API server warns of is written to errw.
func New(config *rest.Config, out, errw io.Writer) (*Cluster, error) {
	config = rest.CopyConfig(config)
	config.Timeout, config.UserAgent = 30*time.Second, manager
	config.QPS, config.Burst = 50, 100
	config.WarningHandler = rest.NewWarningWriter(errw, rest.WarningWriterOptions{Deduplicate: true})
	c := &Cluster{host: config.Host, out: out, between: time.Second}
	var err error
	if c.client, err = dynamic.NewForConfig(config); err != nil {
		return nil, c.configured(err)
	}
	d, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, c.configured(err)
	}
	c.known = memory.NewMemCacheClient(d)
	c.mapper = restmapper.NewDeferredDiscoveryRESTMapper(c.known)
	return c, nil
}

func (c *Cluster) configured(err error) error {
	return fmt.Errorf("the cluster at %s: %w", c.host, err)
}

// Unknown is the error of a cluster that no configuration names.
func Unknown(err error) error {
	if clientcmd.IsEmptyConfig(err) || errors.Is(err, rest.ErrNotInCluster) {
		return slip.New("no cluster is known: neither $KUBECONFIG nor ~/.kube/config names one, and this is no pod",
			"KUBECONFIG=FILE gostap-fleet install")
	}
	return fmt.Errorf("the cluster: %w", err)
}

// reach says why a cluster does not answer, before anything is asked of it.
func (c *Cluster) reach(ctx context.Context) error {
	_, err := discovery.ToDiscoveryInterfaceWithContext(c.known).ServerVersionWithContext(ctx)
	if err != nil {
		return c.broken(err)
	}
	return nil
}

// broken is the error of an API server that gives no answer about an object.
func (c *Cluster) broken(err error) error {
	var u *url.Error
	switch {
	case apierrors.IsUnauthorized(err):
		return slip.New("the cluster at "+c.host+" does not know who asks: "+err.Error(),
			"the user of $KUBECONFIG's current context is not, or no more, one of this cluster")
	case errors.As(err, &u):
		if u.Timeout() {
			err = errors.New("no answer in 30 s")
		} else {
			err = u.Err
		}
		return lost{slip.New("the cluster at "+c.host+" cannot be reached: "+err.Error(),
			"kubectl cluster-info --request-timeout=5s asks the same; $KUBECONFIG says which cluster it is")}
	}
	return c.configured(err)
}

// lost is the error of a cluster that may answer later.
type lost struct{ error }

func (l lost) Unwrap() error { return l.error }

// again says that it may go better the next time.
func again(err error) bool {
	_, gone := errors.AsType[lost](err)
	return gone || apierrors.IsInternalError(err) || apierrors.IsServiceUnavailable(err) || apierrors.IsTimeout(err) ||
		apierrors.IsServerTimeout(err) || apierrors.IsTooManyRequests(err)
}

// failed is the error of a verb on an object.
func (c *Cluster) failed(verb string, x *unstructured.Unstructured, err error) error {
	var status apierrors.APIStatus
	switch {
	case errors.Is(err, context.Canceled):
		return errors.New("ended at " + title(x))
	case !errors.As(err, &status) || apierrors.IsUnauthorized(err):
		return c.broken(err)
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return slip.New(title(x)+": its namespace is being deleted", "when it is gone the same command makes it anew")
	case apierrors.IsForbidden(err):
		where := ""
		if n := x.GetNamespace(); n != "" {
			where = " -n " + n
		}
		return slip.New(fmt.Sprintf("no right to %s %s: %v", verb, title(x), err), fmt.Sprintf("kubectl auth can-i "+
			"%s %s%s asks for it; who is bound to the role cluster-admin has it", verb, c.plural(x), where))
	}
	return fmt.Errorf("%s: %s: %w", title(x), verb, err)
}

// plural is how the API server calls objects of a kind.
func (c *Cluster) plural(x *unstructured.Unstructured) string {
	k := x.GroupVersionKind()
	m, err := c.mapper.RESTMapping(k.GroupKind(), k.Version)
	if err != nil {
		return strings.ToLower(k.Kind)
	}
	return m.Resource.GroupResource().String()
}

// resource is where an object is.
func (c *Cluster) resource(x *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	k := x.GroupVersionKind()
	m, err := c.mapper.RESTMapping(k.GroupKind(), k.Version)
	switch {
	case meta.IsNoMatchError(err):
		return nil, fmt.Errorf("the cluster at %s knows no %s of %s", c.host, k.Kind, k.GroupVersion())
	case err != nil:
		return nil, c.broken(err)
	case m.Scope.Name() == meta.RESTScopeNameNamespace:
		return c.client.Resource(m.Resource).Namespace(x.GetNamespace()), nil
	}
	return c.client.Resource(m.Resource), nil
}

// get is an object as it is there, nil if it is not.
func (c *Cluster) get(ctx context.Context, x *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	r, err := c.resource(x)
	if err != nil {
		return nil, err
	}
	got, err := r.Get(ctx, x.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, c.failed("get", x, err)
	}
	return got, nil
}

// write applies an object. Fields are taken from whoever has set them, as from kubectl, by which it was installed.
func (c *Cluster) write(ctx context.Context, x *unstructured.Unstructured, dry bool) (*unstructured.Unstructured,
	error) {
	r, err := c.resource(x)
	if err != nil {
		return nil, err
	}
	return r.Apply(ctx, x.GetName(), x, metav1.ApplyOptions{FieldManager: manager, Force: true, DryRun: dryRun(dry)})
}
