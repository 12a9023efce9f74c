package main

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stepbox.dev/cmd/stepbox/internal/display"
	"stepbox.dev/host/fault"
	"stepbox.dev/host/store"
)

func newKeys(a *app) *cobra.Command {
	return group(&cobra.Command{
		Use:         "keys",
		Short:       "Make a key to sign bundles with, and say whose bundles are trusted",
		Example:     `  stepbox keys new ada@example.org`,
		Annotations: exitCodes(fault.Usage, fault.Stopped, fault.CheckFailed),
	}, newKeysNew(a), newKeysList(a), newKeysTrust(a), newKeysForget(a))
}

func newKeysNew(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "new NAME",
		Short: "Make a key to sign with: skills pack --sign NAME",
		Long: `New makes an Ed25519 key, keeps its secret half in stepbox's data folder, where
only you can read it, trusts it, and prints the public half. Give that to those
who install what you sign.`,
		Example:     `  stepbox keys new ada@example.org`,
		Args:        args(1, 1, "the NAME of the signer"),
		Annotations: exitCodes(fault.Usage, fault.Stopped, fault.CheckFailed),
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := a.host(cmd.Context())
			if err != nil {
				return err
			}
			who, err := h.Store().NewSigningKey(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.done("the key "+who.Name+" was made and is trusted, as stepbox keys list says", who.Name+"  "+string(who.Key))
		},
	}
}

// keyList is keys list --json.
type keyList struct {
	Own     []store.Signer  `json:"own"` // they can sign
	Trusted []store.Trusted `json:"trusted"`
}

func newKeysList(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:         "list",
		Short:       "List your own keys and those that are trusted",
		Example:     `  stepbox keys list`,
		Args:        args(0, 0, "no arguments"),
		Annotations: exitCodes(fault.Usage, fault.Stopped, fault.CheckFailed),
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := a.host(cmd.Context())
			if err != nil {
				return err
			}
			ring, err := h.Store().Ring()
			if err != nil {
				return err
			}
			own, err := h.Store().SigningKeys()
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(keyList{own, ring.Trusted})
			}
			var rows [][]string
			for _, t := range ring.Trusted {
				why := "trusted by hand"
				if t.For != "" {
					why = "pinned for the " + t.For
				}
				for _, o := range own {
					if o.Key == t.Key {
						why = "your own"
					}
				}
				rows = append(rows, []string{t.Name, string(t.Key), t.Since.Format(time.DateOnly), why})
			}
			var b strings.Builder
			display.Table(&b, rows)
			return a.write([]byte(b.String()))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

func newKeysTrust(a *app) *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:   "trust KEY",
		Short: "Trust what a key signs",
		Long: `Trust puts a key into the key ring, under the name that you give. Bundles that it
signed can then be installed without showing the key again. Compare the key with
its owner first.`,
		Example:     `  stepbox keys trust ed25519:11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo --name ada@example.org`,
		Args:        args(1, 1, "a KEY, as keys list prints it"),
		Annotations: exitCodes(fault.Usage, fault.Stopped, fault.CheckFailed),
		RunE: func(cmd *cobra.Command, args []string) error {
			key, err := store.ParseKey(args[0])
			if err != nil {
				return err
			}
			if name == "" {
				return fault.New(fault.Usage, "whose key is it?").Hint("--name NAME says what you call its owner")
			}
			h, err := a.host(cmd.Context())
			if err != nil {
				return err
			}
			return h.Store().Trust(cmd.Context(), key, name)
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "call its owner `NAME`")
	return cmd
}

func newKeysForget(a *app) *cobra.Command {
	return &cobra.Command{
		Use:               "forget NAME|KEY",
		ValidArgsFunction: a.completeSigner,
		Short:             "Trust a key no more; what it signed runs no more",
		Example:           `  stepbox keys new ada@example.org && stepbox keys forget ada@example.org`,
		Args:              args(1, 1, "a NAME or a KEY"),
		Annotations:       exitCodes(fault.Usage, fault.Stopped, fault.CheckFailed),
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := a.host(cmd.Context())
			if err != nil {
				return err
			}
			return h.Store().Forget(cmd.Context(), args[0])
		},
	}
}
