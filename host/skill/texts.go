package skill

import (
	"bytes"
	"path/filepath"
	"strings"

	"gopkg.in/yaml.v3"
	"stepbox.dev/host/registry/yamldoc"
)

// lexicon keeps the text of the lexicon, which package lexicon reads. Layers
// are merged here, so that it sees one document.
func (l *loader) lexicon(m *yamldoc.Node) {
	name := l.fileName(m, "lexicon", lexiconFile)
	base, ok := l.files[name]
	if !ok && m.Has("lexicon") {
		l.faults.Add(m.Get("lexicon"), "lexicon names %q, which is not there", name)
		return
	}
	l.skill.lexicon = base
	for _, layer := range l.layers {
		data, laid := layer.files[lexiconFile]
		switch {
		case !laid:
			continue
		case l.skill.lexicon == nil:
			l.skill.lexicon = data
			continue
		}
		merged := l.document(name, lexiconFile)
		text, err := yaml.Marshal(tree(merged))
		if err != nil {
			l.faults.AddError(err)
			return
		}
		l.skill.lexicon = text
		return // document has merged the later layers too
	}
}

// tree turns a node back into what the YAML encoder takes, order kept.
func tree(n *yamldoc.Node) *yaml.Node {
	switch n.Kind {
	case yamldoc.Map:
		out := &yaml.Node{Kind: yaml.MappingNode}
		for _, e := range n.Entries {
			key := &yaml.Node{}
			key.SetString(e.Key)
			out.Content = append(out.Content, key, tree(e.Value))
		}
		return out
	case yamldoc.List:
		out := &yaml.Node{Kind: yaml.SequenceNode}
		for _, item := range n.Items {
			out.Content = append(out.Content, tree(item))
		}
		return out
	case yamldoc.String:
		out := &yaml.Node{}
		out.SetString(n.Text)
		return out
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Value: n.Text}
}

// markdown reads SKILL.md: front matter with name and description, then
// instructions. A contract need not have one.
func (l *loader) markdown() {
	text, file := l.files[markdownFile], filepath.Join(l.dir, markdownFile)
	for _, layer := range l.layers {
		if data, ok := layer.files[markdownFile]; ok {
			text, file = data, filepath.Join(layer.dir, markdownFile)
		}
	}
	if text == nil {
		return
	}
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	front, body, ok := bytes.Cut(bytes.TrimPrefix(text, []byte("---\n")), []byte("\n---\n"))
	if !bytes.HasPrefix(text, []byte("---\n")) || !ok {
		l.faults.AddAt(file, 1, "must begin with front matter: a line ---, name and description, a line ---")
		return
	}
	// A line of its own first, so that lines are counted from the file's top.
	head := l.read(file, append([]byte("\n"), front...))
	if head.Kind != yamldoc.Map {
		return
	}
	name := l.faults.Text(head, "name")
	if same := strings.NewReplacer("_", "-"); same.Replace(name) != same.Replace(l.skill.name) {
		l.faults.Add(head, "the name %q is not that of the skill, %q", name, l.skill.name)
	}
	if strings.TrimSpace(l.faults.Text(head, "description")) == "" {
		l.faults.Add(head, "the description is missing")
	}
	l.skill.instructions = strings.TrimSpace(string(body))
}
