// OpenBao's seal: its barrier key, encrypted through PKCS#11 by its own wrapper. With SoftHSM, and
// with the module that TINYOT_PKCS11_MODULE names.
package openbao

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	wrapping "github.com/openbao/go-kms-wrapping/v2"
	"github.com/openbao/go-kms-wrapping/wrappers/pkcs11/v2"

	"tinyot/tests/daemons"
)

// A token with a key of the label "seal". The ids are those of PKCS#11, in hex.
type token struct {
	module, name, pin string
	key               []byte
	id                string
	rotate            func() (id string)
}

func (o token) wrapper(t *testing.T, label, id string) (*pkcs11.Wrapper, error) {
	t.Helper()
	wrapper := pkcs11.NewWrapper()
	_, err := wrapper.SetConfig(context.Background(), wrapping.WithConfigMap(map[string]string{
		"lib": o.module, "token_label": o.name, "pin": o.pin, "key_label": label, "key_id": id,
		"mechanism": "CKM_AES_GCM",
	}))
	return wrapper, err
}

// As OpenBao does at a start: each has a wrapper of its own, which it finalizes.
func (o token) with(t *testing.T, label, id string, use func(*pkcs11.Wrapper)) {
	t.Helper()
	wrapper, err := o.wrapper(t, label, id)
	if err != nil {
		t.Fatal(err)
	}
	defer wrapper.Finalize(context.Background())
	use(wrapper)
}

func (o token) seals(t *testing.T) {
	ctx := context.Background()
	barrier := make([]byte, 32)
	rand.Read(barrier)
	sealedWith := func(id string) (blob *wrapping.BlobInfo) {
		o.with(t, "seal", id, func(wrapper *pkcs11.Wrapper) {
			var err error
			if blob, err = wrapper.Encrypt(ctx, barrier); err != nil {
				t.Fatal(err)
			}
			if keyID, err := wrapper.KeyId(ctx); err != nil || keyID != "seal:"+id {
				t.Fatalf("key %q, %v", keyID, err)
			}
		})
		return blob
	}
	first := sealedWith(o.id)

	// What another library says of it.
	block, err := aes.NewCipher(o.key)
	if err != nil {
		t.Fatal(err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := gcm.Open(nil, first.Iv, first.Ciphertext, nil)
	if err != nil || !bytes.Equal(plain, barrier) {
		t.Fatalf("crypto/cipher: %v", err)
	}

	// After a rotation and a restart; blobs name their key.
	next := o.rotate()
	second := sealedWith(next)
	o.with(t, "seal", next, func(wrapper *pkcs11.Wrapper) {
		for _, blob := range []*wrapping.BlobInfo{first, second} {
			plain, err := wrapper.Decrypt(ctx, blob)
			if err != nil || !bytes.Equal(plain, barrier) {
				t.Fatalf("key %s: %v", blob.KeyInfo.KeyId, err)
			}
		}
		long := bytes.Repeat([]byte("recovery keys "), 70)
		blob, err := wrapper.Encrypt(ctx, long)
		if err != nil {
			t.Fatal(err)
		}
		if plain, err := wrapper.Decrypt(ctx, blob); err != nil || !bytes.Equal(plain, long) {
			t.Fatalf("980 bytes: %v", err)
		}
		blob.Ciphertext[0] ^= 1
		_, err = wrapper.Decrypt(ctx, blob)
		if err == nil {
			t.Fatal("an altered ciphertext was opened")
		}
		t.Log("altered: ", err)
	})
	o.with(t, "another", next, func(wrapper *pkcs11.Wrapper) {
		_, err := wrapper.Encrypt(ctx, barrier)
		if err == nil {
			t.Fatal("there is no such key")
		}
		t.Log("no key: ", err)
	})
	other := o
	other.name = "another"
	if _, err := other.wrapper(t, "seal", next); err == nil {
		t.Fatal("there is no such token")
	} else {
		t.Log("no token: ", err)
	}
}

// Of printable bytes: softhsm2-util ends a key at a zero byte or a newline.
func keyFile(t *testing.T) (path string, key []byte) {
	t.Helper()
	half := make([]byte, 16)
	rand.Read(half)
	key = []byte(hex.EncodeToString(half))
	path = filepath.Join(t.TempDir(), "key")
	daemons.Write(t, path, string(key))
	return path, key
}

func TestWithSoftHSM(t *testing.T) {
	directory := t.TempDir()
	daemons.Write(t, filepath.Join(directory, "conf"),
		"directories.tokendir = "+directory+"\nobjectstore.backend = file\nlog.level = ERROR\n")
	t.Setenv("SOFTHSM2_CONF", filepath.Join(directory, "conf"))
	util := func(arguments ...string) {
		t.Helper()
		if output, err := exec.Command("softhsm2-util", arguments...).CombinedOutput(); err != nil {
			t.Fatalf("softhsm2-util %v: %v\n%s", arguments, err, output)
		}
	}
	util("--init-token", "--free", "--label", "bao", "--so-pin", "1234", "--pin", "1234")
	imported := func(id string) (key []byte) {
		path, key := keyFile(t)
		util("--import", path, "--aes", "--token", "bao", "--label", "seal", "--id", id, "--pin", "1234")
		return key
	}
	module := os.Getenv("TINYOT_SOFTHSM_MODULE")
	if module == "" {
		module = "/usr/lib/softhsm/libsofthsm2.so"
	}
	token{module, "bao", "1234", imported("01"), "01", func() string {
		imported("02")
		return "02"
	}}.seals(t)
}

func TestWithKeyInTwoShares(t *testing.T) {
	module := os.Getenv("TINYOT_PKCS11_MODULE")
	if module == "" {
		t.Skip("TINYOT_PKCS11_MODULE names no module")
	}
	// OpenBao chooses the nonces.
	const may = `may: [IMPORT, CREATE, ENCRYPT, DECRYPT] nonces: CALLER }`
	a, _ := daemons.Start(t, daemons.Pair{
		Stock:   "low { ands: 500000 } high { ands: 2000000 }",
		KeysA:   `allow { user: "ME" key: "seal" ` + may,
		KeysB:   `allow { peer: true key: "seal" ` + may,
		DaemonA: `pkcs11 { socket: "DIR/pkcs11" }`,
	})
	path, key := keyFile(t)
	a.MakeKey("import", "seal", "--key-file", path, "--nonces", "caller")
	newest := func() string {
		t.Helper()
		var shown struct{ ID string }
		text, err := a.Key("show", "seal", "--format", "json")
		if err == nil {
			err = json.Unmarshal([]byte(text), &shown)
		}
		if err != nil {
			t.Fatal(err)
		}
		return shown.ID
	}
	t.Setenv("TINYOT_PKCS11_SOCKET", a.Path("pkcs11"))
	token{module, "b", "no PIN", key, newest(), func() string {
		if _, err := a.Key("rotate", "seal"); err != nil {
			t.Fatal(err)
		}
		return newest()
	}}.seals(t)
}
