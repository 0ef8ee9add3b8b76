// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/yaml"

	"github.com/diskbench/diskbench/controllers"
	"github.com/diskbench/diskbench/internal/azure/catalog/embedded"
	"github.com/diskbench/diskbench/internal/azure/retail"
)

const (
	// patience is far above what any step takes, for a busy machine.
	patience = 30 * time.Second
	// glance is how long something that must not happen is waited for.
	glance  = 700 * time.Millisecond
	polling = 20 * time.Millisecond

	testImage = "example.test/diskbench:v0"
)

var (
	// operatorConfig has the rights of config/rbac/role.yaml and no others.
	operatorConfig *rest.Config
	// k8s has every right.
	k8s client.WithWatch
)

func TestControllers(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Controllers")
}

var _ = BeforeSuite(func() {
	ctrl.SetLogger(zap.New(zap.WriteTo(GinkgoWriter), zap.UseDevMode(true)))
	SetDefaultEventuallyTimeout(patience)
	SetDefaultEventuallyPollingInterval(polling)
	SetDefaultConsistentlyDuration(glance)
	SetDefaultConsistentlyPollingInterval(polling)

	env := &envtest.Environment{
		CRDDirectoryPaths:     []string{"../config/crd/bases"},
		ErrorIfCRDPathMissing: true,
	}
	config, err := env.Start()
	Expect(err).NotTo(HaveOccurred(), "run the tests with make test, which provides etcd and kube-apiserver")
	DeferCleanup(env.Stop)
	config.QPS = -1 // the tests' own requests must not wait for the client's rate limit

	k8s, err = client.NewWithWatch(config, client.Options{Scheme: controllers.Scheme()})
	Expect(err).NotTo(HaveOccurred())
	operatorConfig = restrictedUser(env)
})

// restrictedUser makes a user with the operator's rights, so that each test shows that they suffice.
func restrictedUser(env *envtest.Environment) *rest.Config {
	data, err := os.ReadFile("../config/rbac/role.yaml")
	Expect(err).NotTo(HaveOccurred())
	role := &rbacv1.ClusterRole{}
	Expect(yaml.UnmarshalStrict(data, role)).To(Succeed())
	Expect(k8s.Create(context.Background(), role)).To(Succeed())
	Expect(k8s.Create(context.Background(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "operator"}},
	})).To(Succeed())
	user, err := env.AddUser(envtest.User{Name: "operator"}, nil)
	Expect(err).NotTo(HaveOccurred())

	limited, err := client.New(user.Config(), client.Options{Scheme: controllers.Scheme()})
	Expect(err).NotTo(HaveOccurred())
	err = limited.List(context.Background(), &corev1.SecretList{})
	Expect(apierrors.IsForbidden(err)).To(BeTrue(), "the operator may read Secrets: %v", err)
	return user.Config()
}

// offsetClock is the real time and what a test has added to it.
type offsetClock struct {
	mu     sync.Mutex
	offset time.Duration
}

func (c *offsetClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.offset)
}

func (c *offsetClock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

func (c *offsetClock) step(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset += d
}

// world is a namespace of its own, with an operator that sees no other, a pretended cluster around
// it, and a watch that holds every status to the invariants.
type world struct {
	namespace string
	clock     *offsetClock
	limit     int           // of runs at a time
	client    client.Client // the operator's, where a test makes its requests fail
	// driver of the volumes, and their attributes, where they matter.
	driver     string
	attributes map[string]string
	// retail is the address of a price API; empty leaves prices to the catalog.
	retail  string
	stop    context.CancelFunc
	stopped chan struct{}
}

// newWorld makes a namespace that enforces PodSecurity "restricted": what the operator creates has
// to pass it in every test.
func newWorld(ctx context.Context) *world {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		GenerateName: "test-",
		Labels:       map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
	Expect(k8s.Create(ctx, ns)).To(Succeed())
	w := &world{namespace: ns.Name, clock: &offsetClock{}, limit: 1}
	allowCatalog(ctx, ns.Name)
	keepInvariants(w.namespace)
	collectGarbage(w.namespace)
	DeferCleanup(w.stopOperator)
	return w
}

// overlay is the ConfigMap of a user's catalog.
func (w *world) overlay() types.NamespacedName {
	return types.NamespacedName{Namespace: w.namespace, Name: "diskbench-catalog"}
}

// allowCatalog gives the operator the rights of config/rbac/catalog_role.yaml in its namespace, and no
// others on ConfigMaps.
func allowCatalog(ctx context.Context, namespace string) {
	data, err := os.ReadFile("../config/rbac/catalog_role.yaml")
	Expect(err).NotTo(HaveOccurred())
	role := &rbacv1.Role{}
	Expect(yaml.UnmarshalStrict(data, role)).To(Succeed())
	role.Namespace = namespace
	Expect(k8s.Create(ctx, role)).To(Succeed())
	Expect(k8s.Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name, Namespace: namespace},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "operator"}},
	})).To(Succeed())
}

func (w *world) startOperator() {
	mgr, err := ctrl.NewManager(operatorConfig, ctrl.Options{
		Scheme:  controllers.Scheme(),
		Cache:   controllers.CacheOptions([]string{w.namespace}, w.overlay()),
		Metrics: metricsserver.Options{BindAddress: "0"},
	})
	Expect(err).NotTo(HaveOccurred())
	r := &controllers.DiskBenchmarkReconciler{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Recorder: mgr.GetEventRecorder("diskbench.dev/manager"),
		Clock: w.clock, EngineImage: testImage, MaxConcurrentRuns: w.limit,
		PollInterval: 100 * time.Millisecond, SkipNameValidation: true,
	}
	base, err := embedded.Load()
	Expect(err).NotTo(HaveOccurred())
	r.Catalogs = &controllers.Catalogs{Base: base, Overlay: w.overlay(), Reader: mgr.GetClient()}
	if w.retail != "" {
		prices, err := retail.NewClient(w.retail, base, clock.RealClock{})
		Expect(err).NotTo(HaveOccurred())
		r.Catalogs.Retail = retail.NewSource(prices, base, clock.RealClock{})
		Expect(mgr.Add(r.Catalogs.Retail)).To(Succeed())
	}
	if w.client != nil {
		// It has no cache of this namespace alone, and must not see the runs of other tests.
		r.Client = client.NewNamespacedClient(w.client, w.namespace)
	}
	Expect(r.SetupWithManager(mgr)).To(Succeed())
	Expect((&controllers.CatalogReconciler{
		Catalogs: r.Catalogs, Recorder: r.Recorder, SkipNameValidation: true,
	}).SetupWithManager(mgr)).To(Succeed())

	ctx, cancel := context.WithCancel(context.Background())
	w.stop, w.stopped = cancel, make(chan struct{})
	go func(stopped chan struct{}) {
		defer GinkgoRecover()
		defer close(stopped)
		Expect(mgr.Start(ctx)).To(Succeed())
	}(w.stopped)
}

func (w *world) stopOperator() {
	if w.stop != nil {
		w.stop()
		<-w.stopped
		w.stop = nil
	}
}

// restartOperator is a new process: nothing but the API's state is left.
func (w *world) restartOperator() {
	w.stopOperator()
	w.startOperator()
}
