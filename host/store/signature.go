package store

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"slices"
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
	raw, err := base64.RawURLEncoding.DecodeString(text)
	// Keys are compared as text, so a key has one spelling: the decoder would
	// skip line breaks.
	if !ok || err != nil || len(raw) != ed25519.PublicKeySize || keyOf(raw) != k {
		return nil, fault.New(fault.Usage, "%q is no key: it must be %s and 43 characters", string(k), keyPrefix)
	}
	if anybodys(raw) {
		return nil, fault.New(fault.Usage, "%q is a key that anybody can sign with", string(k))
	}
	return raw, nil
}

// smallOrder are the y coordinates of the points of small order. With such a
// point for a key, signatures are made without any secret.
var smallOrder = [][]byte{
	{},  // 0
	{1}, // 1
	{0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67, 0x0f, 0x2a, 0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a},
	{0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98, 0xf0, 0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05},
}

// anybodys reports whether a key is of small order, or another spelling of a
// number that has a shorter one: neither is ever made by KeyGen.
func anybodys(key ed25519.PublicKey) bool {
	y := bytes.Clone(key)
	y[31] &= 0x7f // the sign of x
	for _, low := range smallOrder {
		if bytes.Equal(y, append(bytes.Clone(low), make([]byte, len(y)-len(low))...)) {
			return true
		}
	}
	// p-1 and everything from p = 2²⁵⁵-19 on begin so, from the top.
	return y[31] == 0x7f && y[0] >= 0xec && !slices.ContainsFunc(y[1:31], func(b byte) bool { return b != 0xff })
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
