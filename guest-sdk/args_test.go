package guest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stepbox.dev/abi"
)

type filterArgs struct {
	Pattern []string `json:"pattern"`
	MinSize Size     `json:"min_size"`
	Empty   *bool    `json:"empty"`
}

type sampleArgs struct {
	filterArgs
	Path   []string         `json:"path" role:"input" required:"true" min:"1" max:"3"`
	Format string           `json:"format" enum:"zip,tar.gz" help:"The kind of archive."`
	Types  []string         `json:"types" enum:"text,image"`
	Count  int              `json:"count" min:"1" max:"9"`
	Ratio  float64          `json:"ratio"`
	Since  Date             `json:"since"`
	Wait   Duration         `json:"wait"`
	Found  []map[string]any `json:"found"`
	Beside string           `json:"beside" role:"input"`
}

func number64(f float64) *float64 { return &f }

func TestSchema(t *testing.T) {
	got, err := Schema[sampleArgs]()
	require.NoError(t, err)
	require.Equal(t, map[string]abi.ArgSchema{
		"pattern":  {Type: abi.TypeArray, Items: abi.TypeString},
		"min_size": {Type: abi.TypeSize},
		"empty":    {Type: abi.TypeBoolean},
		"path":     {Type: abi.TypeArray, Items: abi.TypeString, PathRole: abi.RoleInput, Required: true, Min: number64(1), Max: number64(3)},
		"format":   {Type: abi.TypeEnum, Enum: []string{"zip", "tar.gz"}, Help: "The kind of archive."},
		"types":    {Type: abi.TypeArray, Items: abi.TypeEnum, Enum: []string{"text", "image"}},
		"count":    {Type: abi.TypeInteger, Min: number64(1), Max: number64(9)},
		"ratio":    {Type: abi.TypeNumber},
		"since":    {Type: abi.TypeDate},
		"wait":     {Type: abi.TypeDuration},
		"found":    {Type: abi.TypeArray, Items: abi.TypeObject},
		"beside":   {Type: abi.TypeString, PathRole: abi.RoleInput},
	}, got)
}

func TestSchemaRefusesWhatCannotTravel(t *testing.T) {
	_, err := Schema[struct {
		F func() `json:"f"`
	}]()
	require.ErrorContains(t, err, "type func() cannot be an argument")
	_, err = Schema[struct{ Name string }]()
	require.ErrorContains(t, err, "field Name")
	_, err = Schema[string]()
	require.ErrorContains(t, err, "arguments are a struct")
}

func rawArgs(t *testing.T, text string) map[string]json.RawMessage {
	t.Helper()
	var raw map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(text), &raw))
	return raw
}

func TestDecode(t *testing.T) {
	in, err := decode[sampleArgs](rawArgs(t, `{"path":["a"],"pattern":["*.txt"],"min_size":"1.5 GiB","empty":false,"format":"tar.gz",
		"types":["image"],"count":9,"ratio":0.5,"since":"2026-01-31","wait":"90s","found":[{"path":"x"}]}`))
	require.NoError(t, err)
	require.Equal(t, []string{"*.txt"}, in.Pattern)
	require.Equal(t, Size(3<<29), in.MinSize)
	require.False(t, *in.Empty)
	require.Equal(t, Date("2026-01-31"), in.Since)
	require.Equal(t, Duration(90*time.Second), in.Wait)
}

// A handler must never see an argument that its contract does not allow, and
// the message must help whoever wrote the plan.
func TestDecodeRefuses(t *testing.T) {
	for name, c := range map[string]struct{ args, want string }{
		"missing":       {`{}`, `argument "path" is missing`},
		"null":          {`{"path":null}`, `argument "path" is missing`},
		"unknown":       {`{"path":["a"],"Path":["b"]}`, `argument "Path" is unknown`},
		"type":          {`{"path":"a"}`, `argument "path": is not an array`},
		"fraction":      {`{"path":["a"],"count":1.5}`, `argument "count": is not an integer`},
		"enum":          {`{"path":["a"],"format":"rar"}`, `argument "format" is "rar", not one of zip, tar.gz`},
		"enum in list":  {`{"path":["a"],"types":["text","movie"]}`, `argument "types" is "movie", not one of text, image`},
		"below":         {`{"path":["a"],"count":0}`, `argument "count" is 0, less than 1`},
		"above":         {`{"path":["a","b","c","d"]}`, `argument "path" has a length of 4, more than 3`},
		"size":          {`{"path":["a"],"min_size":"big"}`, `argument "min_size": "big" is not a size`},
		"negative size": {`{"path":["a"],"min_size":-5}`, `is not a size`},
		"date":          {`{"path":["a"],"since":"yesterday"}`, `"yesterday" is not a date`},
		"duration":      {`{"path":["a"],"wait":"1 day"}`, `"1 day" is not a duration`},
		"empty list":    {`{"path":[]}`, `argument "path" is an empty list`},
		"null, given":   {`{"path":["a"],"pattern":null}`, `argument "pattern" is null`},
		"empty date":    {`{"path":["a"],"since":""}`, `"" is not a date`},
		"empty path":    {`{"path":["a"],"beside":""}`, `argument "beside" is an empty path`},
		"all at once":   {`{"count":0,"x":1}`, `argument "count" is 0, less than 1; argument "path" is missing; argument "x" is unknown`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := decode[sampleArgs](rawArgs(t, c.args))
			require.ErrorContains(t, err, c.want)
			require.Equal(t, abi.CodeBadRequest, asError(err).Code)
		})
	}
}

func TestDecodeOpenSkipsVariables(t *testing.T) {
	in, later, err := decodeOpen[sampleArgs](rawArgs(t, `{"found":"$x.entries","pattern":"$x.names","count":3}`))
	require.NoError(t, err)
	require.Equal(t, []string{"found"}, later, "what cannot be told is named")
	require.Equal(t, 3, in.Count)
	require.Empty(t, in.Found)
	require.Equal(t, []string{"$x.names"}, in.Pattern)
	_, err = decode[sampleArgs](rawArgs(t, `{"path":["a"],"found":"$x.entries"}`))
	require.Error(t, err)
}

// An intent is expanded before variables have values: it hands on texts that
// are some, and must not leave out anything else that is one.
func TestDecodeLent(t *testing.T) {
	in, err := decodeLent[sampleArgs](rawArgs(t, `{"path":"$x.paths","pattern":["a","$y"]}`))
	require.NoError(t, err)
	require.Equal(t, []string{"$x.paths"}, in.Path)
	require.Equal(t, []string{"a", "$y"}, in.Pattern)
	for args, want := range map[string]string{
		`{"path":["a"],"min_size":"$x.size"}`: `argument "min_size" cannot be a variable here`,
		`{"path":["a"],"types":["$x"]}`:       `argument "types" cannot be a variable here`,
		`{"path":["a"],"found":"$x.entries"}`: `argument "found" cannot be a variable here`,
		`{"path":"$$x"}`:                      `argument "path": is not an array`,
		`{}`:                                  `argument "path" is missing`,
	} {
		_, err := decodeLent[sampleArgs](rawArgs(t, args))
		require.ErrorContains(t, err, want, args)
	}
}

func TestIsVariable(t *testing.T) {
	for text, want := range map[string]bool{
		"$a": true, "$a1_b.paths.0": true, "$_": true, "": false, "$": false, "$5": false, "$a-b": false, "$$a": false, "a$b": false, "$RECYCLE.BIN": true, "$.x": false,
	} {
		require.Equal(t, want, IsVariable(text), text)
	}
	require.Equal(t, "$RECYCLE.BIN", Plain("$$RECYCLE.BIN"))
	require.Equal(t, "$5", Plain("$5"))
}

func TestArgsOf(t *testing.T) {
	no := false
	got := ArgsOf(sampleArgs{filterArgs: filterArgs{MinSize: 5, Empty: &no}, Path: []string{"a"}})
	require.Equal(t, map[string]any{"min_size": Size(5), "empty": &no, "path": []string{"a"}}, got)
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]Size{
		"0": 0, "512": 512, "10MB": 10_000_000, "10 mb": 10_000_000, "10MiB": 10 << 20, "900k": 900_000, "1.5 GiB": 3 << 29, "2T": 2e12, "7 bytes": 7,
	} {
		got, err := ParseSize(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "MB", "-1", "1e9", "10 apples", "1.2.3", "99999999T", "1 000"} {
		_, err := ParseSize(text)
		require.Error(t, err, text)
	}
	for size, want := range map[Size]string{0: "0 B", 999: "999 B", 1000: "1 kB", 1500: "1.5 kB", 999_949: "999.9 kB", 999_950: "1 MB", 12_345_678: "12.3 MB", 5e15: "5 PB"} {
		require.Equal(t, want, size.String())
	}
}

func TestDates(t *testing.T) {
	zone := time.FixedZone("X", 7200)
	for text, want := range map[Date]string{
		"2026-01-31":                "2026-01-31T00:00:00+02:00",
		"2026-01-31T10:00":          "2026-01-31T10:00:00+02:00",
		"2026-01-31T10:00:00Z":      "2026-01-31T10:00:00Z",
		"2026-01-31T10:00:00-05:00": "2026-01-31T10:00:00-05:00",
	} {
		got, err := text.In(zone)
		require.NoError(t, err)
		require.Equal(t, want, got.Format(time.RFC3339))
	}
	_, err := Date("2026-02-30").In(zone)
	require.Error(t, err)
}
