// Two daemons with custody between them, on this machine.
package kubernetes

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"testing"
	"time"
)

// That of the build.
func binary(t *testing.T) string {
	t.Helper()
	path := os.Getenv("TINYOT_BINARY")
	if path == "" {
		t.Fatal("TINYOT_BINARY names no tinyot: tests/kubernetes/run BUILD")
	}
	return path
}

func run(t *testing.T, arguments ...string) {
	t.Helper()
	if output, err := exec.Command(binary(t), arguments...).CombinedOutput(); err != nil {
		t.Fatalf("tinyot %v: %v\n%s", arguments, err, output)
	}
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func becomesTrue(t *testing.T, what string, check func() error) {
	t.Helper()
	end := time.Now().Add(2 * time.Minute)
	for err := check(); err != nil; err = check() {
		if time.Now().After(end) {
			t.Fatalf("never: %s: %v", what, err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

type daemon struct {
	t                          *testing.T
	configuration, socket, kms string
	process                    *exec.Cmd
	log                        bytes.Buffer
}

func (d *daemon) start() {
	d.t.Helper()
	d.process = exec.Command(binary(d.t), "serve", "--config", d.configuration)
	d.process.Stderr = &d.log
	if err := d.process.Start(); err != nil {
		d.t.Fatal(err)
	}
	becomesTrue(d.t, "the daemon serves", func() error {
		connection, err := net.Dial("unix", d.socket)
		if err == nil {
			connection.Close()
		}
		return err
	})
}

func (d *daemon) kill() {
	if d.process != nil {
		d.process.Process.Kill()
		d.process.Wait()
		d.process = nil
	}
}

// A is that of the cluster.
func startDaemons(t *testing.T, stock string) (a, b *daemon) {
	t.Helper()
	directory := t.TempDir()
	path := func(name string) string { return filepath.Join(directory, name) }
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	write(t, path("a.keys"), fmt.Sprintf(`
allow { user: "%s" key: "secrets" may: [CREATE, ENCRYPT, DECRYPT] }`, me.Uid), 0o600)
	write(t, path("b.keys"), `
allow { peer: true key: "secrets" may: CREATE }
allow { peer: true key: "secrets" may: [ENCRYPT, DECRYPT] shown_prefix: "tinyot kms v2" }`, 0o600)
	write(t, path("policy"), "", 0o600)
	both := []*daemon{}
	for _, name := range []string{"a", "b"} {
		run(t, "keygen", "--output", path(name+".pem"))
		write(t, path(name+".store_key"), "thirty-two bytes of store key "+name+name, 0o400)
	}
	for _, party := range []struct{ name, other, link, kms string }{
		{"a", "b", "party: A listen", fmt.Sprintf(`kms { socket: "%s" label: "secrets" }`, path("kms"))},
		{"b", "a", "party: B connect", ""},
	} {
		write(t, path(party.name+".conf"), fmt.Sprintf(`
directory: "%s" socket: "%s" store_key: "%s"
access { user: "%s" may: [USE_KEYS, MANAGE_KEYS] }
peer {
  name: "%s" %s: "%s" key: "%s" peer_key: "@%s" policy: "%s"
  profile: "fast" sigma: 64 %s
  custody { policy: "%s" %s }
}`, path(party.name), path(party.name+".sock"), path(party.name+".store_key"), me.Uid, party.other,
			party.link, address, path(party.name+".pem"), path(party.other+".pem.crt"), path("policy"),
			stock, path(party.name+".keys"), party.kms), 0o600)
		one := &daemon{
			t: t, configuration: path(party.name + ".conf"), socket: path(party.name + ".sock"),
			kms: path("kms"),
		}
		t.Cleanup(func() {
			one.kill()
			if t.Failed() {
				t.Log(one.log.String())
			}
		})
		both = append(both, one)
	}
	for _, one := range both {
		one.start()
	}
	return both[0], both[1]
}

func (d *daemon) key(arguments ...string) error {
	arguments = append(append([]string{"key"}, arguments...), "--server", "unix:"+d.socket)
	if output, err := exec.Command(binary(d.t), arguments...).CombinedOutput(); err != nil {
		return fmt.Errorf("tinyot %v: %w: %s", arguments, err, output)
	}
	return nil
}

// Waits for the link and the stock.
func (d *daemon) create(label string) {
	d.t.Helper()
	becomesTrue(d.t, "key "+label+" is made", func() error { return d.key("create", label) })
}
