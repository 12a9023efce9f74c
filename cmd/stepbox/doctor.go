package main

import (
	"context"
	"fmt"
	"maps"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stepbox.dev/cmd/stepbox/internal/display"
	"stepbox.dev/host"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/worker"
)

// checkup is doctor --json.
type checkup struct {
	Walls  []worker.Wall     `json:"walls"`
	State  string            `json:"state"`
	Cache  string            `json:"cache"`
	Go     string            `json:"go"` // "" when there is none: skills cannot be built from source
	Skills map[string]string `json:"skills"`
	// Model is what a look at the configured model found, nil when there is none.
	Model *host.ModelHealth `json:"model"`
}

func newDoctor(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say which walls of the sandbox stand on this machine, and what is where",
		Long: `Doctor tries every wall of the sandbox in a child process. When one is missing,
runs are refused on this machine, and the exit code is 7. When a model is
configured it is asked one short question; trouble with it is told and is no
error, because requests are still planned without it.`,
		Example:     `  stepbox doctor`,
		Args:        args(0, 0, "no arguments"),
		Annotations: exitCodes(fault.Usage, fault.Stopped),
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := a.host(cmd.Context())
			if err != nil {
				return err
			}
			c, err := examine(cmd.Context(), h)
			if err != nil {
				return err
			}
			if asJSON {
				err = a.printJSON(c)
			} else {
				err = a.write([]byte(c.text()))
			}
			if err != nil {
				return err
			}
			return c.verdict()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func examine(ctx context.Context, h *host.Host) (checkup, error) {
	c := checkup{State: h.State(), Cache: h.Cache(), Skills: map[string]string{}}
	var err error
	if c.Walls, err = h.Walls(ctx); err != nil {
		return c, err
	}
	if out, err := exec.CommandContext(ctx, "go", "env", "GOVERSION").Output(); err == nil {
		c.Go = strings.TrimSpace(string(out))
	}
	if m, configured := h.Model(ctx); configured {
		c.Model = &m
	}
	found, err := h.Skills(ctx)
	if err != nil {
		return c, err
	}
	for _, f := range found {
		c.Skills[f.Name] = f.Path
		if f.Err != nil {
			c.Skills[f.Name] = "broken: " + f.Err.Error()
		}
	}
	return c, nil
}

func (c checkup) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "walls on %s/%s\n", runtime.GOOS, runtime.GOARCH)
	var rows [][]string
	for _, w := range c.Walls {
		state := "stands"
		if !w.Stands {
			state = "MISSING"
		}
		rows = append(rows, []string{"  " + w.Name, state, w.Detail})
	}
	display.Table(&b, rows)
	toolchain := c.Go
	if toolchain == "" {
		toolchain = "none: skills cannot be built from source"
	}
	b.WriteString("folders and tools\n")
	display.Table(&b, [][]string{{"  state", c.State}, {"  cache", c.Cache}, {"  go", toolchain}})
	b.WriteString("model\n")
	display.Table(&b, c.model())
	b.WriteString("skills\n")
	if len(c.Skills) == 0 {
		b.WriteString("  none that can be named; a folder always can, for example ./skills/files\n")
	}
	rows = nil
	for _, name := range slices.Sorted(maps.Keys(c.Skills)) {
		rows = append(rows, []string{"  " + name, c.Skills[name]})
	}
	display.Table(&b, rows)
	return b.String()
}

// model is what was found of the configured model, in rows.
func (c checkup) model() [][]string {
	m := c.Model
	if m == nil {
		return [][]string{{"  none", "requests that are not understood become questions"}}
	}
	rows := [][]string{{"  server", m.Planner + " at " + m.URL + " " + m.Server}, {"  model", m.Model}, {"  schema", schemas[m.Schema]}}
	if m.Error != "" {
		rows = append(rows, []string{"  TROUBLE", m.Error})
		if len(m.Models) > 0 {
			rows = append(rows, []string{"  it has", strings.Join(m.Models, ", ")})
		}
	}
	return rows
}

// schemas says what a server does with a schema.
var schemas = map[string]string{
	"honoured": "honoured: the model can write nothing else",
	"ignored":  "ignored: plans are checked here alone",
	"refused":  "refused: plans are checked here alone",
	"unknown":  "not known",
}

// verdict is an error when a wall is missing.
func (c checkup) verdict() error {
	var missing []string
	for _, w := range c.Walls {
		if !w.Stands {
			missing = append(missing, w.Name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fault.New(fault.Stopped, "missing walls: %s", strings.Join(missing, ", ")).
		Hint("stepbox runs nothing without them, unless `stepbox config set missing_walls allow` says so")
}
