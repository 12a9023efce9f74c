package embedded_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A stranger's file that is called like a part of an order does not change the
// order: "except a.txt" beside a.txt would take the exception away.
func TestNamesThatAreOrders(t *testing.T) {
	plain := home(t)
	for _, c := range []struct{ name, request string }{
		{"inbox/x", "delete txt files in downloads except readme.txt"},
		{"except readme.txt", "delete txt files in downloads except readme.txt"},
		{"downloads except readme.txt", "delete txt files in downloads except readme.txt"},
		{"but not app.log", "delete logs but not app.log"},
		{"not app.log", "delete logs but not app.log"},
		{"delete todo.txt", "delete todo.txt"},
		{"downloads except pdfs", "delete everything in downloads except pdfs"},
		{"my downloads except pdfs", "delete everything in my downloads except pdfs"},
		{"downloads and archive", "delete pdfs in downloads and archive"},
		{"除了readme.txt", "删除downloads里除了readme.txt以外的文件"},
		{"copy of todo.txt", "copy of todo.txt"},
		{"to todo.txt", "rename ideas.md to todo.txt"},
		{"and todo.txt", "move readme.txt and todo.txt to archive"},
		{"from old.zip", "extract the pdfs from old.zip"},
	} {
		t.Run(c.name, func(t *testing.T) {
			odd := home(t)
			exists := odd.exists
			odd.exists = func(p string) (bool, bool) {
				if p == c.name {
					return true, false
				}
				return exists(p)
			}
			_, want := plain.ask(t, c.request)
			_, got := odd.ask(t, c.request)
			require.Equal(t, short(want), short(got))
		})
	}
}

// In quotes it is a name, whatever it says.
func TestQuotedNamesThatAreOrders(t *testing.T) {
	b := home(t)
	exists := b.exists
	b.exists = func(p string) (bool, bool) {
		if p == "except readme.txt" {
			return true, false
		}
		return exists(p)
	}
	b.plans(t, `delete "except readme.txt"`, `delete_files {"items":["except readme.txt"]}`)
}
