// Package daemons runs two daemons with custody between them on this machine.
package daemons

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Pair is what differs between tests. ME stands for the user, DIR for a directory.
type Pair struct {
	Stock        string // low and high
	KeysA, KeysB string // key policies
	CustodyA     string // further fields of custody at A
	DaemonA      string // further fields of A's daemon
}

// Daemon of one party.
type Daemon struct {
	t                     *testing.T
	directory             string
	configuration, socket string
	process               *exec.Cmd
	log                   bytes.Buffer
}

// Start starts both; A has the clients.
func Start(t *testing.T, pair Pair) (a, b *Daemon) {
	t.Helper()
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	directory := t.TempDir()
	Write(t, filepath.Join(directory, "policy"), "")
	for _, party := range []string{"a", "b"} {
		Write(t, filepath.Join(directory, party+".store_key"), "store key of 32 bytes, party "+party+"..")
		run(t, "keygen", "--output", filepath.Join(directory, party+".pem"))
	}
	made := func(party, other, link, keys, custody, daemon string) *Daemon {
		path := func(name string) string { return filepath.Join(directory, party+"."+name) }
		Write(t, path("keys"), filled(keys, me.Uid, directory))
		Write(t, path("conf"), filled(fmt.Sprintf(`
directory: "DIR/%[1]s" socket: "DIR/%[1]s.sock" store_key: "DIR/%[1]s.store_key" %[6]s
access { user: "ME" may: [USE_KEYS, MANAGE_KEYS] }
peer {
  name: "%[2]s" %[3]s: "%[7]s" key: "DIR/%[1]s.pem" peer_key: "@DIR/%[2]s.pem.crt"
  policy: "DIR/policy" profile: "fast" sigma: 64 %[4]s
  custody { policy: "DIR/%[1]s.keys" %[5]s }
}`, party, other, link, pair.Stock, custody, daemon, address), me.Uid, directory))
		d := &Daemon{t: t, directory: directory, configuration: path("conf"), socket: path("sock")}
		t.Cleanup(func() {
			d.Kill()
			if t.Failed() {
				t.Log(d.log.String())
			}
		})
		d.Start()
		return d
	}
	a = made("a", "b", "party: A listen", pair.KeysA, pair.CustodyA, pair.DaemonA)
	b = made("b", "a", "party: B connect", pair.KeysB, "", "")
	return a, b
}

// Start returns once it serves.
func (d *Daemon) Start() {
	d.t.Helper()
	d.process = exec.Command(binary(d.t), "serve", "--config", d.configuration)
	d.process.Stderr = &d.log
	if err := d.process.Start(); err != nil {
		d.t.Fatal(err)
	}
	BecomesTrue(d.t, "the daemon serves", func() error {
		connection, err := net.Dial("unix", d.socket)
		if err == nil {
			connection.Close()
		}
		return err
	})
}

// Kill ends it at once, if it runs.
func (d *Daemon) Kill() {
	if d.process != nil {
		d.process.Process.Kill()
		d.process.Wait()
		d.process = nil
	}
}

// Path of a file in DIR.
func (d *Daemon) Path(name string) string { return filepath.Join(d.directory, name) }

// Key runs `tinyot key`, and returns what it prints.
func (d *Daemon) Key(arguments ...string) (string, error) {
	arguments = append(append([]string{"key"}, arguments...), "--server", "unix:"+d.socket)
	output, err := exec.Command(binary(d.t), arguments...).Output()
	if exit, ok := err.(*exec.ExitError); ok {
		err = fmt.Errorf("tinyot %v: %w: %s", arguments, err, exit.Stderr)
	}
	return string(output), err
}

// MakeKey does so once there are the link and the stock.
func (d *Daemon) MakeKey(arguments ...string) {
	d.t.Helper()
	BecomesTrue(d.t, "a key is made", func() error {
		_, err := d.Key(arguments...)
		return err
	})
}

// BecomesTrue waits until the check has no error.
func BecomesTrue(t *testing.T, what string, check func() error) {
	t.Helper()
	end := time.Now().Add(2 * time.Minute)
	for err := check(); err != nil; err = check() {
		if time.Now().After(end) {
			t.Fatalf("never: %s: %v", what, err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// Write makes a file that only its owner reads.
func Write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o400); err != nil {
		t.Fatal(err)
	}
}

func filled(text, me, directory string) string {
	return strings.NewReplacer("ME", me, "DIR", directory).Replace(text)
}

// That of the build.
func binary(t *testing.T) string {
	t.Helper()
	path := os.Getenv("TINYOT_BINARY")
	if path == "" {
		t.Fatal("TINYOT_BINARY names no tinyot: tests/go/run BUILD PACKAGE")
	}
	return path
}

func run(t *testing.T, arguments ...string) {
	t.Helper()
	if output, err := exec.Command(binary(t), arguments...).CombinedOutput(); err != nil {
		t.Fatalf("tinyot %v: %v\n%s", arguments, err, output)
	}
}
