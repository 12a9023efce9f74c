package bundle

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"stepbox.dev/host/fault"
)

// module is a valid module of one empty type section and a name.
const module = header + "\x01\x01\x00" + "\x00\x05\x04name"

var files = map[string][]byte{"skill.yaml": []byte("name: demo\n"), "profiles/a b.yaml": []byte(strings.Repeat("x", 1000)), "empty": {}, "имя.txt": []byte("п")}

func packed(t testing.TB) []byte {
	out, err := Pack(KindSkill, "demo", "1.2.3", []byte(module), files)
	require.NoError(t, err)
	return out
}

func TestPackAndRead(t *testing.T) {
	one := packed(t)
	require.Equal(t, one, packed(t), "not reproducible")
	is, err := Is(one)
	require.NoError(t, err)
	require.True(t, is)
	is, err = Is([]byte(module))
	require.NoError(t, err)
	require.False(t, is)
	_, err = Is(one[:len(one)-1])
	require.Error(t, err)
	require.True(t, bytes.HasPrefix(one, []byte(module)), "the module is unchanged")

	b, err := Read(one)
	require.NoError(t, err)
	require.Equal(t, module, string(b.Module))
	require.Equal(t, files, b.Files)
	require.Equal(t, "demo 1.2.3 skill", b.Manifest.Name+" "+b.Manifest.Version+" "+b.Manifest.Kind)
	require.Nil(t, b.Signature)

	signed, err := Sign(one, []byte("first"))
	require.NoError(t, err)
	signed, err = Sign(signed, []byte("second"))
	require.NoError(t, err)
	s, err := Read(signed)
	require.NoError(t, err)
	require.Equal(t, "second", string(s.Signature))
	require.Equal(t, b.Text, s.Text, "a signature changes nothing that it signs")
	require.True(t, bytes.HasPrefix(signed, one))

	_, err = Pack(KindSkill, "demo", "1.2.3", one, files)
	require.ErrorContains(t, err, "a bundle already")
}

func TestPackRefuses(t *testing.T) {
	for _, c := range []struct{ name, skill, version, file, want string }{
		{"name", "../x", "1.0.0", "a", "the name"}, {"version", "x", "../1", "a", "the version"},
		{"path out", "x", "1.0.0", "../a", "cannot travel"}, {"absolute", "x", "1.0.0", "/a", "cannot travel"},
		{"backslash", "x", "1.0.0", `a\b`, "cannot travel"}, {"drive", "x", "1.0.0", "C:a", "cannot travel"},
		{"newline", "x", "1.0.0", "a\nb", "cannot travel"}, {"hidden", "x", "1.0.0", "a/.b", "cannot travel"},
		{"dots", "x", "1.0.0", "a/../b", "cannot travel"}, {"no text", "x", "1.0.0", "a\xff", "cannot travel"},
		{"device", "x", "1.0.0", "data/AUX.txt", "cannot travel"}, {"device alone", "x", "1.0.0", "con", "cannot travel"},
		{"device, space", "x", "1.0.0", "nul .txt", "cannot travel"}, {"long", "x", "1.0.0", strings.Repeat("a", 256), "cannot travel"},
		{"decomposed", "x", "1.0.0", "cafe\u0301", "cannot travel"}, {"right to left", "x", "1.0.0", "a\u202e", "cannot travel"},
		{"invisible", "x", "1.0.0", "a\u200b", "cannot travel"}, {"control", "x", "1.0.0", "a\u009b", "cannot travel"},
		{"flag", "x", "1.0.0", "a/-rf", "cannot travel"}, {"name a flag", "--yes", "1.0.0", "a", "the name"},
		{"name a device", "con", "1.0.0", "a", "the name"}, {"name empty", "", "1.0.0", "a", "the name"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Pack(KindSkill, c.skill, c.version, []byte(module), map[string][]byte{c.file: nil})
			require.ErrorContains(t, err, c.want)
		})
	}
	_, err := Pack(KindSkill, "x", "1.0.0", []byte(module), map[string][]byte{"caf\u00e9/console.txt": nil, "a-b/c d.x": nil})
	require.NoError(t, err, "ordinary names")
	_, err = Pack(KindSkill, "x", "1.0.0", []byte(module), map[string][]byte{"a": nil, "A": nil})
	require.ErrorContains(t, err, "upper and lower case")
	_, err = Pack(KindSkill, "x", "1.0.0", []byte(module), map[string][]byte{"a": nil, "A/b": nil})
	require.ErrorContains(t, err, "a file and a folder")
	_, err = Pack(KindSkill, "x", "1.0.0", []byte("#!/bin/sh"), nil)
	require.ErrorContains(t, err, "no WebAssembly module")
}

// Whatever the contents are, what Pack writes is not refused for being large.
func TestPackedSize(t *testing.T) {
	noise := make([]byte, 3<<20)
	rand.NewChaCha8([32]byte{}).Read(noise)
	for _, size := range []int{0, 1, 100, 1 << 14, 1<<14 + 1, 1 << 16, 3 << 20} {
		wasm, err := Pack(KindSkill, "x", "1.0.0", []byte(module), map[string][]byte{"a": noise[:size], "b": nil})
		require.NoError(t, err)
		_, err = Read(wasm)
		require.NoError(t, err, "%d bytes", size)
	}
}

// forge makes a bundle of any manifest and any stream of files.
func forge(manifest string, stream []byte) []byte {
	return appendSection(appendSection([]byte(module), sectionManifest, []byte(manifest)), sectionFiles, stream)
}

func deflate(data []byte) []byte {
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestCompression)
	if err != nil {
		panic(err)
	}
	if _, err := w.Write(data); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func manifest(edit func(*Manifest)) string {
	m := Manifest{ABI: 1, Bundle: 1, Files: []File{}, Kind: KindSkill, Module: partOf([]byte(module)), Name: "demo", Version: "1.0.0"}
	edit(&m)
	text, err := m.encode()
	if err != nil {
		panic(err)
	}
	return string(text)
}

// Whatever is wrong with a bundle, it is refused whole, soon, with the reason.
func TestHostileBundles(t *testing.T) {
	file := func(name string, data []byte) File { return File{name, partOf(data)} }
	plain := manifest(func(*Manifest) {})
	x := []byte("x")
	for name, c := range map[string]struct {
		wasm []byte
		want string
	}{
		"nothing":             {nil, "no WebAssembly module"},
		"no sections":         {[]byte(module), "carries no contract"},
		"no files":            {appendSection([]byte(module), sectionManifest, []byte(plain)), "one manifest, then its files"},
		"files first":         {appendSection(appendSection([]byte(module), sectionFiles, deflate(nil)), sectionManifest, []byte(plain)), "one manifest, then its files"},
		"two manifests":       {appendSection(forge(plain, deflate(nil)), sectionManifest, []byte(plain)), "one manifest, then its files"},
		"two signatures":      {appendSection(appendSection(forge(plain, deflate(nil)), sectionSignature, x), sectionSignature, x), "one manifest, then its files"},
		"unknown section":     {appendSection(forge(plain, deflate(nil)), prefix+"other", x), "one manifest, then its files"},
		"code after it":       {append(forge(plain, deflate(nil)), "\x01\x01\x00"...), "stands after those of the bundle"},
		"section too long":    {append([]byte(module), 0, 0xff, 0xff, 0xff, 0xff, 0x0f), "cut short"},
		"length of 40 bits":   {append([]byte(module), 0, 0x80, 0x80, 0x80, 0x80, 0x80, 1), "cut short"},
		"padded length":       {padded(forge(plain, deflate(nil))), "not in canonical form"},
		"empty signature":     {appendSection(forge(plain, deflate(nil)), sectionSignature, nil), "which is no signature"},
		"no JSON":             {forge("{", deflate(nil)), "not valid JSON"},
		"form is a text":      {forge(`{"abi":"1","bundle":1}`, deflate(nil)), "does not say of which form"},
		"files are a text":    {forge(strings.Replace(plain, `"files":[]`, `"files":""`, 1), deflate(nil)), "of another type"},
		"spaces":              {forge(" "+plain, deflate(nil)), "not in canonical form"},
		"unknown key":         {forge(strings.Replace(plain, `{"abi"`, `{"aaa":1,"abi"`, 1), deflate(nil)), "not in canonical form"},
		"key twice":           {forge(strings.Replace(plain, `"name":"demo"`, `"name":"evil","name":"demo"`, 1), deflate(nil)), "not in canonical form"},
		"newer form":          {forge(`{"bundle":2,"anything":[]}`, nil), "a newer stepbox is needed"},
		"newer ABI":           {forge(manifest(func(m *Manifest) { m.ABI = 7 }), deflate(nil)), "needs ABI 7"},
		"no form":             {forge(manifest(func(m *Manifest) { m.Bundle = 0 }), deflate(nil)), "does not know"},
		"kind":                {forge(manifest(func(m *Manifest) { m.Kind = "x" }), deflate(nil)), "neither skill nor engine"},
		"name":                {forge(manifest(func(m *Manifest) { m.Name = "../../x" }), deflate(nil)), "the name"},
		"version":             {forge(manifest(func(m *Manifest) { m.Version = "1/../2" }), deflate(nil)), "the version"},
		"another module":      {forge(manifest(func(m *Manifest) { m.Module = partOf(x) }), deflate(nil)), "not the one that the manifest names"},
		"path out":            {forge(manifest(func(m *Manifest) { m.Files = []File{file("../x", x)} }), deflate(x)), "cannot travel"},
		"file twice":          {forge(manifest(func(m *Manifest) { m.Files = []File{file("x", x), file("x", x)} }), deflate([]byte("xx"))), "is there twice"},
		"out of order":        {forge(manifest(func(m *Manifest) { m.Files = []File{file("y", x), file("x", x)} }), deflate([]byte("xx"))), "not in order"},
		"file of other bytes": {forge(manifest(func(m *Manifest) { m.Files = []File{file("x", x)} }), deflate([]byte("y"))), "not the one that the manifest names"},
		"cut short":           {forge(manifest(func(m *Manifest) { m.Files = []File{file("x", []byte("xyz"))} }), deflate(x)), "ends after 1 of 3"},
		"no deflate":          {forge(manifest(func(m *Manifest) { m.Files = []File{file("x", x)} }), []byte("\xff\xff")), "ends after 0 of 1"},
		"more than said":      {forge(plain, deflate(x)), "more than the manifest says"},
		"more after the end":  {forge(plain, append(deflate(nil), 0)), "more than the manifest says"},
		"bomb":                {forge(plain, deflate(make([]byte, 64<<20))), "their contents need at most"},
		"small bomb":          {forge(plain, deflate(make([]byte, 20<<10))), "more than the manifest says"},
		"padded with blocks":  {forge(plain, append(bytes.Repeat([]byte{0, 0, 0, 0xff, 0xff}, 4<<20), deflate(nil)...)), "their contents need at most"},
		"promised bomb":       {forge(manifest(func(m *Manifest) { m.Files = []File{{"x", Part{strings.Repeat("0", 64), 1 << 40}}} }), deflate(nil)), "larger than 8 MiB"},
		"bomb of many": {forge(manifest(func(m *Manifest) {
			for i := range 5 {
				m.Files = append(m.Files, File{fmt.Sprint(i), Part{strings.Repeat("0", 64), 8 << 20}})
			}
		}), deflate(nil)), "larger than 32 MiB together"},
		"negative": {forge(manifest(func(m *Manifest) { m.Files = []File{{"x", Part{strings.Repeat("0", 64), -1}}} }), deflate(nil)), "larger than"},
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			_, err := Read(c.wasm)
			require.ErrorContains(t, err, c.want)
			require.Equal(t, fault.CheckFailed, fault.Of(err))
			require.Less(t, time.Since(began), 2*time.Second)
		})
	}
	whole := packed(t)
	text := packedText(t, whole)
	for i := len(module); i < len(whole); i++ {
		_, err := Read(whole[:i])
		require.Error(t, err, "cut at %d", i)
		changed := bytes.Clone(whole)
		changed[i] ^= 0x20
		if b, err := Read(changed); err == nil { // only in what a signature covers
			require.False(t, bytes.Equal(text, b.Text), "byte %d changed unseen", i)
		}
	}
}

// Peek tells what a file is and never more than Read would accept of it.
func TestPeek(t *testing.T) {
	whole := packed(t)
	m, ok := Peek(bytes.NewReader(whole), int64(len(whole)))
	require.True(t, ok)
	require.Equal(t, "demo 1.2.3 skill", m.Name+" "+m.Version+" "+m.Kind)
	end := bytes.Index(whole, []byte(sectionFiles))
	for i := range end - 8 {
		_, ok := Peek(bytes.NewReader(whole[:i]), int64(i))
		require.False(t, ok, "cut at %d", i)
	}
	for name, wasm := range map[string]string{
		"a module": module, "nothing": "", "text": "hello, I am no module",
		"files first":   string(appendSection([]byte(module), sectionFiles, nil)),
		"too long":      module + "\x00\xff\xff\xff\xff\x0f",
		"name too long": module + "\x00\x03\x10" + sectionManifest + "{}",
		"not JSON":      string(appendSection([]byte(module), sectionManifest, []byte("{"))),
		"not to trust":  string(forge(manifest(func(m *Manifest) { m.Name = "../x" }), nil)),
	} {
		_, ok := Peek(strings.NewReader(wasm), int64(len(wasm)))
		require.False(t, ok, name)
	}
}

func packedText(t *testing.T, wasm []byte) []byte {
	b, err := Read(wasm)
	require.NoError(t, err)
	return b.Text
}

// padded writes the length of the last section with a needless byte.
func padded(wasm []byte) []byte {
	s, err := split(wasm)
	if err != nil {
		panic(err)
	}
	last := s.own[1]
	body := append(appendVarint(nil, uint32(len(last.name))), last.name+string(last.data)...)
	out := wasm[:len(wasm)-len(appendSection(nil, last.name, last.data))]
	return append(append(bytes.Clone(out), 0, byte(len(body))|0x80, 0), body...)
}

func TestManifestIsCanonicalJSON(t *testing.T) {
	var keys map[string]any
	require.NoError(t, json.Unmarshal(packedText(t, packed(t)), &keys))
	again, err := json.Marshal(keys)
	require.NoError(t, err)
	require.JSONEq(t, string(again), string(packedText(t, packed(t))))
	require.True(t, strings.HasPrefix(string(packedText(t, packed(t))), `{"abi":1,"bundle":1,"files":[{"path":"empty","sha256":"e3b0`))
}

// FuzzRead: what reads, packs again to the same bytes but for the compression.
func FuzzRead(f *testing.F) {
	f.Add(packed(f))
	f.Add(forge(manifest(func(*Manifest) {}), deflate(nil)))
	f.Fuzz(func(t *testing.T, wasm []byte) {
		b, err := Read(wasm)
		if err != nil {
			return
		}
		again, err := Pack(b.Manifest.Kind, b.Manifest.Name, b.Manifest.Version, b.Module, b.Files)
		require.NoError(t, err)
		second, err := Read(again)
		require.NoError(t, err)
		require.Equal(t, b.Text, second.Text)
	})
}

// FuzzPeek: no file makes it fail in any way but by saying no, and what it says
// yes to carries the manifest that Read reads.
func FuzzPeek(f *testing.F) {
	f.Add(packed(f))
	f.Add([]byte(module + "\x00\x03\x10" + sectionManifest))
	f.Fuzz(func(t *testing.T, wasm []byte) {
		m, ok := Peek(bytes.NewReader(wasm), int64(len(wasm)))
		if b, err := Read(wasm); err == nil {
			require.True(t, ok)
			require.Equal(t, b.Manifest, m)
		}
	})
}

func BenchmarkRead20MB(b *testing.B) {
	big := []byte(header)
	big = appendSection(big, "filler", bytes.Repeat([]byte("code"), 5<<20))
	wasm, err := Pack(KindSkill, "demo", "1.0.0", big, files)
	require.NoError(b, err)
	b.SetBytes(int64(len(wasm)))
	for b.Loop() {
		if _, err := Read(wasm); err != nil {
			b.Fatal(err)
		}
	}
}
