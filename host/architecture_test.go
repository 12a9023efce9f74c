package host_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// declared are the names of the repository's Go code: "ident", "package.ident",
// and "Type.member" of methods, fields and the methods of interfaces.
func declared(t *testing.T, root string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == ".git" || d.Name() == "dist") {
			return errOr(err, fs.SkipDir)
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		add := func(owner, name string) {
			names[name], names[owner+"."+name] = true, true
		}
		for _, decl := range file.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				owner := file.Name.Name
				if decl.Recv != nil {
					owner = receiver(decl.Recv.List[0].Type)
				}
				add(owner, decl.Name.Name)
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					switch spec := spec.(type) {
					case *ast.ValueSpec:
						for _, name := range spec.Names {
							add(file.Name.Name, name.Name)
						}
					case *ast.TypeSpec:
						add(file.Name.Name, spec.Name.Name)
						for _, field := range members(spec.Type) {
							add(spec.Name.Name, field)
						}
					}
				}
			}
		}
		return nil
	}))
	return names
}

func errOr(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}

// receiver is the type that a method belongs to.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// members are the fields of a struct, or the methods of an interface.
func members(e ast.Expr) []string {
	var list *ast.FieldList
	switch e := e.(type) {
	case *ast.StructType:
		list = e.Fields
	case *ast.InterfaceType:
		list = e.Methods
	default:
		return nil
	}
	var names []string
	for _, f := range list.List {
		for _, name := range f.Names {
			names = append(names, name.Name)
		}
	}
	return names
}

// ARCHITECTURE.md leads a newcomer by names. Each name in it exists: what is
// renamed or moved takes the page along.
func TestArchitectureNamesWhatExists(t *testing.T) {
	const root = ".."
	page, err := os.ReadFile(filepath.Join(root, "ARCHITECTURE.md"))
	require.NoError(t, err)
	names := declared(t, root)
	tools, err := os.ReadFile(filepath.Join(root, "skills/files/tools.yaml"))
	require.NoError(t, err)

	var checked, wrong []string
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(string(page), -1) {
		word := strings.TrimSuffix(strings.ReplaceAll(m[1], "NAME", "files"), "()")
		ok := false
		switch {
		case strings.ContainsAny(word, " -"): // a command line
			continue
		case strings.ContainsRune(word, '/') || filepath.Ext(word) == ".go":
			_, err := os.Lstat(filepath.Join(root, word))
			ok = err == nil
		case strings.HasSuffix(word, ".yaml"):
			_, err := os.Lstat(filepath.Join(root, "skills/files", word))
			ok = err == nil
		default:
			ok = exists(names, root, word) || strings.Contains(string(tools), "\n"+word+":")
		}
		if checked = append(checked, word); !ok {
			wrong = append(wrong, word)
		}
	}
	require.Greater(t, len(checked), 100, "the page names what it speaks of")
	require.Empty(t, wrong)
}

// exists reports whether a name is declared, or is a folder at the top. Of
// package.Type.member both halves are looked at.
func exists(names map[string]bool, root, word string) bool {
	if parts := strings.Split(word, "."); len(parts) == 3 {
		return names[parts[0]+"."+parts[1]] && names[parts[1]+"."+parts[2]]
	}
	if names[word] {
		return true
	}
	info, err := os.Lstat(filepath.Join(root, word))
	return err == nil && info.IsDir() && !strings.Contains(word, ".")
}
