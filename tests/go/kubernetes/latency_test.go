// Times of calls with 32 bytes, the seed of a key, as the API server's client makes them, beside
// those of tinyot.v1.Keys.
package kubernetes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apiserver/pkg/storage/value/encrypt/envelope/kmsv2"
	"k8s.io/kms/pkg/service"

	"tinyot/tests/daemons"
)

// Messages that are encoded already.
type raw struct{}

func (raw) Name() string                        { return "proto" }
func (raw) Marshal(message any) ([]byte, error) { return *message.(*[]byte), nil }
func (raw) Unmarshal(data []byte, message any) error {
	*message.(*[]byte) = bytes.Clone(data)
	return nil
}

// tinyot.v1.EncryptRequest of the same encryption.
func encryptRequest(key string, plaintext []byte) (message []byte) {
	for number, value := range map[protowire.Number][]byte{
		2: []byte(key), 3: plaintext, 4: []byte("tinyot kms v2" + key),
	} {
		message = protowire.AppendTag(message, number, protowire.BytesType)
		message = protowire.AppendBytes(message, value)
	}
	shown := protowire.AppendTag(message, 5, protowire.VarintType)
	return protowire.AppendVarint(shown, 1)
}

func print(what string, times []time.Duration) {
	slices.Sort(times)
	at := func(percent int) float64 {
		return times[(len(times)-1)*percent/100].Seconds() * 1000
	}
	fmt.Printf("%-32s p50 %7.2f ms  p99 %7.2f ms  longest %7.2f ms\n", what, at(50), at(99), at(100))
}

func TestLatency(t *testing.T) {
	calls := 1000
	if text := os.Getenv("TINYOT_KMS_CALLS"); text != "" {
		calls, _ = strconv.Atoi(text)
	}
	const batch = 20
	a, _ := startDaemons(t, "low { ands: 1500000 } high { ands: 4000000 }")
	ctx := context.Background()
	kms, err := kmsv2.NewGRPCService(ctx, "unix://"+a.Path("kms"), "tinyot", 3*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	connection, err := grpc.NewClient("unix:"+a.Path("a.sock"),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	seed := bytes.Repeat([]byte{7}, 32)
	stocked := func() {
		daemons.BecomesTrue(t, "there is stock", func() error {
			status, err := kms.Status(ctx)
			if err == nil && status.Healthz != "ok" {
				err = errors.New(status.Healthz)
			}
			return err
		})
	}
	// In turns, so that all three meet the same machine.
	var sealed *service.EncryptResponse
	var request, reply []byte
	measured := []struct {
		what string
		call func() error
	}{
		{"KMS v2 Encrypt", func() (err error) {
			sealed, err = kms.Encrypt(ctx, "uid", seed)
			return err
		}},
		{"KMS v2 Decrypt", func() error {
			plain, err := kms.Decrypt(ctx, "uid", &service.DecryptRequest{
				Ciphertext: sealed.Ciphertext, KeyID: sealed.KeyID,
			})
			if err == nil && !bytes.Equal(plain, seed) {
				err = errors.New("another plaintext")
			}
			return err
		}},
		{"tinyot.v1.Keys Encrypt", func() error {
			request = encryptRequest(sealed.KeyID, seed)
			return connection.Invoke(ctx, "/tinyot.v1.Keys/Encrypt", &request, &reply,
				grpc.ForceCodec(raw{}))
		}},
	}
	times := make([][]time.Duration, len(measured))
	for i := range calls {
		if i%batch == 0 {
			stocked()
		}
		for j, each := range measured {
			begun := time.Now()
			if err := each.call(); err != nil {
				t.Fatalf("%s: %v", each.what, err)
			}
			times[j] = append(times[j], time.Since(begun))
		}
	}
	for j, each := range measured {
		print(each.what, times[j])
	}
}
