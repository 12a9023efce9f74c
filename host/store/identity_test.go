package store

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"testing"

	"github.com/stretchr/testify/require"

	"stepbox.dev/host/fault"
	"stepbox.dev/host/skill/bundle"
)

func TestAnotherSignerIsShownOnceTrusted(t *testing.T) {
	s, ada, eve := newStore(t), signer(t, "ada"), signer(t, "eve")
	require.NoError(t, install(t, s, sign(t, ada, pack(t, "demo", "1.0.0", "", "look read")), Terms{}))
	require.NoError(t, s.Trust(context.Background(), eve.Key, "friend"))
	p, err := s.Propose(examine(t, sign(t, eve, pack(t, "demo", "2.0.0", "", "look read"))), Terms{Update: true})
	require.NoError(t, err)
	require.Contains(t, p.Differences, Difference{"signer", "demo", "ada " + string(ada.Key), "friend " + string(eve.Key)})
	require.NoError(t, s.Install(context.Background(), p))
	e, _, err := s.Find(bundle.KindSkill, "demo")
	require.NoError(t, err)
	require.Equal(t, "friend", e.Signer.Name, "by the name that the person gave, not the one it claims")

	require.NoError(t, s.Forget(context.Background(), "friend"))
	_, err = s.Load(e)
	require.ErrorContains(t, err, "no longer trusted")
	require.Equal(t, fault.CheckFailed, fault.Of(err))
}

// A key that was pinned for one bundle cannot take over another, nor bring a new
// one without somebody who looks at it.
func TestPinnedForOneBundle(t *testing.T) {
	s, ada, eve := newStore(t), signer(t, "ada"), signer(t, "eve")
	any := Terms{Unsigned: true, Update: true}
	require.NoError(t, install(t, s, sign(t, ada, pack(t, "demo", "1.0.0", "", "look read")), Terms{}))
	require.NoError(t, install(t, s, sign(t, eve, pack(t, "evil", "1.0.0", "", "look read")), Terms{}))
	_, err := s.Propose(examine(t, sign(t, eve, pack(t, "demo", "2.0.0", "", "look read"))), any)
	require.ErrorContains(t, err, "is signed by eve")
	require.Equal(t, fault.CheckFailed, fault.Of(err))

	propose := func(name, version string, terms Terms) *Proposal {
		p, err := s.Propose(examine(t, sign(t, eve, pack(t, name, version, "", "look read"))), terms)
		require.NoError(t, err)
		return p
	}
	require.Equal(t, "trusted only for the skill evil", propose("other", "1.0.0", Terms{}).SignerIs)
	require.Empty(t, propose("evil", "2.0.0", any).SignerIs)
	require.NoError(t, s.Trust(context.Background(), eve.Key, "eve"))
	require.Empty(t, propose("other", "1.0.0", Terms{}).SignerIs, "trusted by hand, for everything")
	p := propose("demo", "2.0.0", any)
	require.Contains(t, p.SignerIs, "not who signed the one installed, ada", "that has to be seen, too")
	require.NoError(t, s.Forget(context.Background(), "eve"))
	require.ErrorContains(t, s.Install(context.Background(), p), "is signed by eve", "and is looked at again when it is installed")
}

// A key has one spelling, and is none when anybody can sign with it.
func TestKeysThatAreNone(t *testing.T) {
	k := string(signer(t, "ada").Key)
	for name, text := range map[string]string{
		"a line break": k[:20] + "\n" + k[20:], "two": k[:20] + "\r\n" + k[20:], "padded": k + "=", "bits that are not used": k[:len(k)-1] + "B",
		"short": k[:len(k)-1], "no prefix": k[len(keyPrefix):], "nothing": "",
	} {
		_, err := ParseKey(text)
		require.ErrorContains(t, err, "is no key", name)
	}
	_, err := ParseKey(k)
	require.NoError(t, err)

	// Any of these is a key for which R = 1, S = 0 signs one message in eight.
	anybody := make([]byte, ed25519.SignatureSize)
	anybody[0] = 1
	top := bytes.Repeat([]byte{0xff}, 32)
	points := append([][]byte{}, smallOrder...)
	for low := 0xec; low <= 0xff; low++ { // p-1, and p and so on: other spellings of 0, 1, …
		points = append(points, append([]byte{byte(low)}, append(bytes.Clone(top[1:31]), 0x7f)...))
	}
	forged := 0
	for _, y := range points {
		for _, sign := range []byte{0, 0x80} {
			key := append(bytes.Clone(y), make([]byte, 32-len(y))...)
			key[31] |= sign
			_, err := ParseKey(string(keyOf(key)))
			require.ErrorContains(t, err, "anybody", "%x", key)
			for i := range 256 {
				if ed25519.Verify(key, []byte{byte(i)}, anybody) {
					forged++
					break
				}
			}
		}
	}
	require.GreaterOrEqual(t, forged, 12, "or the points above are not those of small order")
}

// A key that was pinned for one bundle is known, but not trusted for another,
// until somebody agreed to that one too or trusted it by hand.
func TestKnownForWhat(t *testing.T) {
	s, eve := newStore(t), signer(t, "eve")
	known := func(name string) (known, forThis bool) {
		who, known, forThis, err := s.Known(eve.Key, bundle.KindSkill, name)
		require.NoError(t, err)
		require.Equal(t, known, who.Key == eve.Key)
		return known, forThis
	}
	check := func(name string, wantKnown, wantForThis bool) {
		t.Helper()
		gotKnown, gotForThis := known(name)
		require.Equal(t, []bool{wantKnown, wantForThis}, []bool{gotKnown, gotForThis})
	}
	check("evil", false, false)
	require.NoError(t, install(t, s, sign(t, eve, pack(t, "evil", "1.0.0", "", "look read")), Terms{}))
	check("evil", true, true)
	check("other", true, false)
	require.NoError(t, install(t, s, sign(t, eve, pack(t, "other", "1.0.0", "", "look read")), Terms{}))
	check("other", true, true)
	check("third", true, false)
	require.NoError(t, s.Trust(context.Background(), eve.Key, "eve"))
	check("third", true, true)
}
