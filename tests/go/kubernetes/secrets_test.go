// Secrets as an API server stores them, by its own code and its own configuration file.
package kubernetes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/server/options/encryptionconfig"
	"k8s.io/apiserver/pkg/storage/value"
	"k8s.io/apiserver/pkg/storage/value/encrypt/envelope/kmsv2"
	"k8s.io/klog/v2"

	"tinyot/tests/daemons"
)

// Its lines tell of errors that a test looks at.
func init() {
	klog.SetLogger(logr.Discard())
}

// A has the cluster; the key is there.
func startDaemons(t *testing.T, stock string) (a, b *daemons.Daemon) {
	t.Helper()
	a, b = daemons.Start(t, daemons.Pair{
		Stock: stock,
		KeysA: `allow { user: "ME" key: "secrets" may: [CREATE, ENCRYPT, DECRYPT] }`,
		KeysB: `
allow { peer: true key: "secrets" may: CREATE }
allow { peer: true key: "secrets" may: [ENCRYPT, DECRYPT] shown_prefix: "tinyot kms v2" }`,
		CustodyA: `kms { socket: "DIR/kms" label: "secrets" }`,
	})
	a.MakeKey("create", "secrets")
	return a, b
}

type apiServer struct {
	t           *testing.T
	transformer value.Transformer
	health      func() error
}

var inStore = value.DefaultContext("/registry/secrets/default/password")

func startAPIServer(t *testing.T, socket string) apiServer {
	t.Helper()
	file := filepath.Join(t.TempDir(), "encryption.yaml")
	daemons.Write(t, file, fmt.Sprintf(`
apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
  - resources: [secrets]
    providers:
      - kms:
          apiVersion: v2
          name: tinyot
          endpoint: unix://%s
          timeout: 3s
`, socket))
	ctx, stop := context.WithCancel(context.Background())
	t.Cleanup(stop)
	loaded, err := encryptionconfig.LoadEncryptionConfig(ctx, file, false, "test")
	if err != nil {
		t.Fatal(err)
	}
	check := loaded.HealthChecks[0]
	return apiServer{t, loaded.Transformers[schema.ParseGroupResource("secrets")], func() error {
		return check.Check(&http.Request{})
	}}
}

func (s apiServer) write(secret string) ([]byte, error) {
	stored, err := s.transformer.TransformToStorage(context.Background(), []byte(secret), inStore)
	if err == nil && (!bytes.HasPrefix(stored, []byte("k8s:enc:kms:v2:tinyot:")) ||
		bytes.Contains(stored, []byte(secret))) {
		err = fmt.Errorf("stored is %q", stored)
	}
	return stored, err
}

func (s apiServer) mustWrite(secret string) []byte {
	s.t.Helper()
	stored, err := s.write(secret)
	if err != nil {
		s.t.Fatal(err)
	}
	return stored
}

func (s apiServer) read(stored []byte, want string) (stale bool, err error) {
	plain, stale, err := s.transformer.TransformFromStorage(context.Background(), stored, inStore)
	if err == nil && string(plain) != want {
		err = fmt.Errorf("read %q, not %q", plain, want)
	}
	return stale, err
}

func (s apiServer) mustRead(stored []byte, want string) (stale bool) {
	s.t.Helper()
	stale, err := s.read(stored, want)
	if err != nil {
		s.t.Fatal(err)
	}
	return stale
}

func (s apiServer) becomesHealthy() {
	s.t.Helper()
	daemons.BecomesTrue(s.t, "the provider is healthy", s.health)
}

func TestSecretsThroughRotationAndRestarts(t *testing.T) {
	a, b := startDaemons(t, "low { ands: 300000 } high { ands: 1000000 }")
	kms := a.Path("kms")
	first := startAPIServer(t, kms)
	first.becomesHealthy()
	old := first.mustWrite("old secret")
	isStale := func(server apiServer, stored []byte, want string, expected bool) {
		t.Helper()
		if server.mustRead(stored, want) != expected {
			t.Fatalf("%q: stale is not %v", want, expected)
		}
	}
	isStale(first, old, "old secret", false)
	// Another one has to ask for the seed.
	isStale(startAPIServer(t, kms), old, "old secret", false)

	// Whoever runs sees a rotation when it polls the status.
	if _, err := a.Key("rotate", "secrets"); err != nil {
		t.Fatal(err)
	}
	daemons.BecomesTrue(t, "what the old version has encrypted is stale", func() error {
		if err := first.health(); err != nil {
			return err
		}
		if !first.mustRead(old, "old secret") {
			return errors.New("it is not")
		}
		return nil
	})
	next := first.mustWrite("new secret")
	isStale(startAPIServer(t, kms), next, "new secret", false)

	// Whoever has the seed does without the daemon.
	a.Kill()
	isStale(first, next, "new secret", false)
	a.Start()
	second := startAPIServer(t, kms)
	daemons.BecomesTrue(t, "the restarted daemon decrypts", func() error {
		_, err := second.read(old, "old secret")
		return err
	})
	isStale(second, old, "old secret", true)
	isStale(second, next, "new secret", false)

	// Without the peer, whoever runs goes on, and whoever starts waits.
	b.Kill()
	daemons.BecomesTrue(t, "the API server knows that the peer is away", func() error {
		if err := first.health(); err == nil || !strings.Contains(err.Error(), "b: not connected") {
			return fmt.Errorf("its health is: %v", err)
		}
		return nil
	})
	var later atomic.Int64
	defer kmsv2.SetNowFuncForTests("tinyot", func() time.Time {
		return time.Now().Add(time.Duration(later.Load()))
	})()
	later.Store(int64(10 * time.Minute))
	var third []byte
	daemons.BecomesTrue(t, "it writes ten minutes later", func() (err error) {
		first.health()
		third, err = first.write("third secret")
		return err
	})
	isStale(first, third, "third secret", false)
	starting := startAPIServer(t, kms)
	if _, err := starting.read(third, "third secret"); err == nil {
		t.Fatal("it was decrypted without the peer")
	} else {
		t.Log("without the peer: ", err)
	}

	// Without the daemon it does not.
	a.Kill()
	later.Store(int64(20 * time.Minute))
	if _, err := first.write("fourth secret"); err == nil {
		t.Fatal("it was written though nobody has said that the key is the same")
	}
	isStale(first, third, "third secret", false)
	a.Start()
	b.Start()
	starting.becomesHealthy()
	isStale(starting, third, "third secret", false)
	isStale(starting, old, "old secret", true)
}
