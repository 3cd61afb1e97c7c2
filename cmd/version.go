package cmd

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

type versionOptions struct {
	Streams
	JSON bool
}

func newVersion(s Streams, runF func(context.Context, *versionOptions) error) *cobra.Command {
	o := &versionOptions{Streams: s}
	c := &cobra.Command{
		Use:         "version",
		Short:       "Print the version of this build",
		Example:     "  turnlog version\n  turnlog version --json",
		Annotations: map[string]string{"codes": codes()},
		RunE:        func(c *cobra.Command, _ []string) error { return runF(c.Context(), o) },
	}
	c.Flags().BoolVar(&o.JSON, "json", false, "print a JSON object")
	return c
}

func versionRun(_ context.Context, o *versionOptions) error {
	b := readBuild()
	if o.JSON {
		return json.NewEncoder(o.Out).Encode(b)
	}
	_, err := fmt.Fprintln(o.Out, b)
	return err
}

// build says what was built from what. It comes from the binary itself, so
// that go install needs no flags.
type build struct {
	Version  string `json:"version"`            // of the module, "(devel)" for a work tree
	Revision string `json:"revision,omitempty"` // commit
	Time     string `json:"time,omitempty"`     // of the commit
	Modified bool   `json:"modified"`           // whether the work tree had changes
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

func readBuild() build {
	b := build{Version: "(devel)", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if info.Main.Version != "" {
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

func (b build) String() string {
	s := fmt.Sprintf("turnlog %s %s/%s %s", b.Version, b.OS, b.Arch, b.Go)
	if b.Revision != "" {
		s += " " + b.Revision
	}
	if b.Modified {
		s += " (modified)"
	}
	return s
}
