package commit

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"stepbox.dev/host/fault"
	"stepbox.dev/host/stage"
)

// This file is the one list of what is protected: changes that a person must
// agree to by name, because other programs execute or trust what they find
// there. It is compared without case, Unicode form, and characters that a file
// system ignores; a name protects everything below it too.

// protectedNames says why, by folded name. A name that ends in * is a prefix,
// one that begins with * a suffix.
var protectedNames = func() map[string]string {
	m := make(map[string]string)
	for why, names := range map[string]string{
		"version control runs hooks and commands from it": ".git .hg .svn .bzr .jj .gitconfig .gitmodules .gitattributes .githooks .husky git~1 " +
			".pre-commit-config.yaml .pre-commit-hooks.yaml lefthook.yml .lefthook.yml",
		"a shell runs it": ".envrc .direnv .env .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .login .logout .cshrc .tcshrc .kshrc " +
			".zshrc .zshenv .zprofile .zlogin .zlogout .zsh .oh-my-zsh .inputrc .xinitrc .xsession .xsessionrc .xprofile .xserverrc .tmux.conf .screenrc " +
			".tool-versions .mise.toml mise.toml .rvmrc .ruby-version .python-version .node-version .nvmrc .mise .asdfrc",
		"an editor or a tool runs commands from it": ".vimrc .gvimrc .exrc .nvimrc .vim .nvim .emacs .emacs.d .dir-locals.el .editorconfig .vscode .idea .fleet .zed .sublime-project " +
			".devcontainer devcontainer.json .gdbinit .lldbinit .pylintrc .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .pypirc .condarc .gemrc .irbrc .pryrc .wgetrc .curlrc .rprofile .renviron " +
			".claude .cursor .aider.conf.yml .mcp.json agents.md claude.md .cursorrules .windsurfrules",
		"a build service runs it": ".github .gitlab .gitlab-ci.yml .circleci .travis.yml .drone.yml .woodpecker .woodpecker.yml .buildkite .appveyor.yml appveyor.yml " +
			"azure-pipelines.yml bitbucket-pipelines.yml jenkinsfile .teamcity .semaphore .cirrus.yml .gitea .forgejo .ci cloudbuild.yaml",
		"it holds keys or settings that other programs trust": ".ssh .gnupg .aws .azure .kube .docker .netrc .pgpass .my.cnf .git-credentials .config .local .mozilla .pam_environment " +
			".rhosts .shosts authorized_keys known_hosts .cargo .terraformrc .password-store",
		"the desktop runs it":               "*.desktop autorun.inf desktop.ini .autorun *.lnk *.url *.scf *.library-ms *.webloc *.app .autostart launchagents launchdaemons",
		"it changes what a web server does": ".htaccess .htpasswd .user.ini web.config",
		"it is stepbox's own":               ".stepbox* @skill @tmp",
	} {
		for n := range strings.FieldsSeq(names) {
			m[n] = why
		}
	}
	return m
}()

// ProtectedName reports whether a path is protected by its name, or by that of
// a folder it lies in.
func ProtectedName(path string) bool { return protectedName(path) != "" }

// protectedName returns why a path is protected, or "".
func protectedName(path string) string {
	for name := range strings.SplitSeq(path, "/") {
		f := fold(name)
		if why, ok := protectedNames[f]; ok {
			return why
		}
		if i := strings.LastIndexByte(f, '.'); i >= 0 {
			if why, ok := protectedNames["*"+f[i:]]; ok {
				return why
			}
		}
		if strings.HasPrefix(f, ".stepbox") {
			return protectedNames[".stepbox*"]
		}
	}
	return ""
}

// fold brings names together that some file system takes for one: without
// case, in one Unicode form, without characters that HFS+ ignores and without
// the dots and spaces that Windows drops from an end.
func fold(name string) string {
	plain := true
	for i := 0; i < len(name); i++ {
		c := name[i]
		if c >= utf8.RuneSelf || 'A' <= c && c <= 'Z' {
			plain = false
			break
		}
	}
	if !plain {
		name = strings.Map(func(r rune) rune {
			if unicode.Is(unicode.Cf, r) || r >= 0xfe00 && r <= 0xfe0f {
				return -1
			}
			return r
		}, name)
		name = norm.NFKC.String(cases.Fold().String(norm.NFKC.String(name)))
	}
	if t := strings.TrimRight(name, ". "); t != "" {
		name = t
	}
	if i := strings.IndexByte(name, ':'); i > 0 { // an NTFS stream of the file
		name = name[:i]
	}
	return name
}

// protect marks the changes that need an answer of their own.
func (rd *reader) protect(ctx context.Context, list []Change) error {
	at := make(map[string]int) // item by path after the commit
	for i, it := range rd.c.items {
		if it.to != "" {
			at[it.to] = i
		}
	}
	twins, err := rd.twins()
	if err != nil {
		return err
	}
	for i := range list {
		ch := &list[i]
		i, arrives := at[ch.Path]
		m := rd.c.made[i]
		if arrives && m.over > 0 && rd.c.items[m.over-1].was.links > 1 {
			ch.Note = "the file has other names (hard links), which keep the old content"
		}
		switch why := protectedName(ch.Path); {
		case why != "":
			ch.Protected = why
		case ch.From != "" && protectedName(ch.From) != "":
			ch.Protected = protectedName(ch.From)
		case !arrives || ch.Kind == Delete:
		case m.over > 0 && rd.c.items[m.over-1].was.mode&0o111 != 0:
			ch.Protected = "it is executable"
		case ch.Entry == Link && rd.linkLeadsOut(i, ch):
			ch.Protected = "the link leads out of the sandbox"
		case ch.Entry == Folder && ch.Kind == Move:
			if ch.Protected, err = rd.folderLeadsOut(ctx, ch); err != nil {
				return err
			}
		case twins[ch.Path] != "":
			ch.Protected = "its name looks the same as that of " + quoted(twins[ch.Path]) + " beside it"
		}
	}
	return nil
}

// twins finds new names that differ from another one of their folder only by
// case or Unicode form: after path → the other name.
func (rd *reader) twins() (map[string]string, error) {
	leaves := make(map[string]bool)
	for _, it := range rd.c.items {
		if !it.touch && it.from != "" {
			leaves[it.from] = true
		}
	}
	// For each folder that gets names: folded name → name that was there.
	before := make(map[*stage.Node]map[string]string)
	out := make(map[string]string)
	for _, n := range rd.tree.Nodes() {
		p := n.Parent
		if n.Dead || p == nil || !p.HasOrigin || n.InPlace() {
			continue
		}
		set, ok := before[p]
		if !ok {
			names, err := rd.names(p.Origin.Path)
			if err != nil {
				return nil, fault.New(fault.CheckFailed, "%q cannot be listed any more: %w", p.Origin.Path, err)
			}
			set = make(map[string]string, len(names))
			for name := range names {
				if !leaves[stage.Join(p.Origin.Path, name)] {
					set[fold(name)] = name
				}
			}
			before[p] = set
		}
		if other, ok := set[fold(n.Name)]; ok && other != n.Name {
			out[n.Path()] = other
		}
	}
	return out, nil
}
