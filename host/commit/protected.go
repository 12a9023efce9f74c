package commit

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
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
