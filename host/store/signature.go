package store

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"strings"

	"stepbox.dev/host/fault"
	"stepbox.dev/host/skill/bundle"
)

// Key is a public key as people compare it: ed25519: and 43 characters. It is
// the identity; a name is only what somebody calls it.
type Key string

const keyPrefix = "ed25519:"

// Signer is an identity and its name.
type Signer struct {
	Name string `json:"name"`
	Key  Key    `json:"key"`
}

func keyOf(public ed25519.PublicKey) Key {
	return Key(keyPrefix + base64.RawURLEncoding.EncodeToString(public))
}

// ParseKey reads a key that somebody typed.
func ParseKey(s string) (Key, error) {
	k := Key(s)
	if _, err := k.public(); err != nil {
		return "", err
	}
	return k, nil
}

func (k Key) public() (ed25519.PublicKey, error) {
	text, ok := strings.CutPrefix(string(k), keyPrefix)
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if !ok || err != nil || len(raw) != ed25519.PublicKeySize {
		return nil, fault.New(fault.Usage, "%q is no key: it must be %s and 43 characters", string(k), keyPrefix)
	}
	return raw, nil
}

// signerName is what a signer may be called, also as a file name.
var signerName = regexp.MustCompile(`^[a-z0-9][a-z0-9._@+-]{0,63}$`)

func checkSignerName(name string) error {
	if !signerName.MatchString(name) || strings.Contains(name, "..") || strings.HasSuffix(name, ".") {
		return fault.New(fault.Usage, "the name %q must be lower case letters, digits and . _ @ + -, at most 64", name).
			Hint("for example ada@example.org")
	}
	return nil
}

// signature is the text of a bundle's signature section: canonical JSON.
type signature struct {
	Key       Key    `json:"key"`
	Signature []byte `json:"signature"`
	Signer    string `json:"signer"`
}

// signed is what a signature signs: its purpose, the name it was made under,
// and the digest of the manifest, which names every part of the bundle.
func signed(signer string, manifest []byte) []byte {
	sum := sha256.Sum256(manifest)
	return []byte("stepbox bundle signature, form 1\n" + signer + "\n" + hex.EncodeToString(sum[:]) + "\n")
}

// Verify returns who signed a bundle, nil when nobody did. A signature that
// does not hold is an error of kind fault.CheckFailed. Whether the signer is
// to be trusted is another question.
func Verify(b *bundle.Bundle) (*Signer, error) {
	if b.Signature == nil {
		return nil, nil
	}
	var s signature
	broken := func(why string) error {
		return fault.New(fault.CheckFailed, "the signature of %q is broken: %s", b.Manifest.Name, why)
	}
	if err := json.Unmarshal(b.Signature, &s); err != nil {
		return nil, broken("it is not valid JSON")
	}
	if again, err := json.Marshal(s); err != nil || !bytes.Equal(again, b.Signature) {
		return nil, broken("it is not in canonical form")
	}
	public, err := s.Key.public()
	if err != nil || checkSignerName(s.Signer) != nil {
		return nil, broken("its key or its signer's name is none")
	}
	if !ed25519.Verify(public, signed(s.Signer, b.Text), s.Signature) {
		return nil, broken("it was made for something else, or by another key")
	}
	return &Signer{Name: s.Signer, Key: s.Key}, nil
}

// SigningKey is a person's own key.
type SigningKey struct {
	Signer
	private ed25519.PrivateKey
}

// Sign returns a bundle with its signature made or replaced.
func (k *SigningKey) Sign(wasm []byte) ([]byte, error) {
	b, err := bundle.Read(wasm)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(signature{
		Key: k.Key, Signer: k.Name, Signature: ed25519.Sign(k.private, signed(k.Name, b.Text)),
	})
	if err != nil {
		return nil, fault.New(fault.Internal, "signature: %w", err)
	}
	return bundle.Sign(wasm, text)
}
