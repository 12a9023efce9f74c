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
//
// The line: a name is here when some program acts on it by itself, because
// somebody enters or opens the folder, lists it, or starts a tool in it for
// something else. What a person starts by its name or by that of its tool stays
// out, or nothing could be done to a project: Makefile, package.json, setup.py,
// pyproject.toml, build.rs, Gemfile, Dockerfile, scripts. So do programs, which
// count by their mode. What makes a folder a git repository under any name is in
// repository.go.

// protectedNames says why, by folded name. A name that ends in * is a prefix,
// one that begins with * a suffix.
var protectedNames = func() map[string]string {
	m := make(map[string]string)
	for why, names := range map[string]string{
		"version control runs hooks and commands from it": ".git .hg .svn .bzr .jj .sl .gitconfig .gitmodules .gitattributes .githooks .hgrc .husky git~1 " +
			".pre-commit-config.yaml .pre-commit-hooks.yaml lefthook.* .lefthook.* lefthook-local.* .lefthook-local.* .overcommit.yml .fslckout _fossil_ .p4config",
		"a shell runs it": ".envrc .direnv .env .env.* .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .login .logout .cshrc .tcshrc .kshrc .mkshrc " +
			".zshrc .zshenv .zprofile .zlogin .zlogout .zsh .oh-my-zsh .inputrc .xinitrc .xsession .xsessionrc .xprofile .xserverrc .tmux.conf .screenrc " +
			".tool-versions .mise.toml mise.toml .rvmrc .ruby-version .python-version .node-version .nvmrc .mise .asdfrc .autoenv .autoenv.zsh .dir_colors .dircolors " +
			".venv activate activate.csh activate.fish activate.nu activate.ps1 activate.bat activate_this.py pyvenv.cfg",
		"an editor or a tool runs commands from it": ".vimrc .gvimrc .exrc .nvimrc .nvim.lua .lvimrc .local.vimrc _vimrc _gvimrc .vim .nvim .ideavimrc .vsvimrc .vimspector.json " +
			".emacs .emacs.d .dir-locals.el .dir-locals-2.el .projectile .editorconfig .vscode *.code-workspace .idea .fleet .zed .helix .vs *.sublime-project " +
			".ycm_extra_conf.py .clangd .ccls hie.yaml .merlin .bsp .metals .bloop .luarc.json .luacheckrc .sourcekit-lsp " +
			".devcontainer devcontainer.json .gdbinit .gdbearlyinit .lldbinit .wgetrc .curlrc .lesskey .lessfilter .nanorc .ackrc .mailcap .muttrc .forward .procmailrc " +
			".claude .cursor .gemini .codex .continue .roo .roomodes .clinerules .kiro .junie .aider* .mcp.json agents.md claude.md gemini.md .cursorrules .windsurfrules .windsurf",
		"a language or its tools load it by themselves": "conftest.py sitecustomize.py usercustomize.py *.pth site-packages dist-packages .ipython .jupyter .pdbrc .pythonrc .pythonrc.py .pytest.ini " +
			".pylintrc pylintrc .flake8 .coveragerc .mypy.ini .pypirc .condarc " +
			".npmrc .yarnrc .yarnrc.yml .yarn .pnpmfile.cjs .pnp.cjs .pnp.js .pnp.loader.mjs .bin .node_modules .node_libraries " +
			".eslintrc .eslintrc.* .prettierrc .prettierrc.* .babelrc .babelrc.* .stylelintrc .stylelintrc.* .mocharc.* .lintstagedrc .lintstagedrc.* " +
			".gemrc .irbrc .pryrc .rspec .bundle .railsrc .rubocop.yml .simplecov .rprofile .renviron .ghci .ocamlinit .utoprc .iex.exs .formatter.exs .credo.exs " +
			".octaverc .sqliterc .psqlrc .perldb .proverc .mvn .gradle .sbtopts .jvmopts .jshellrc go.work .cargo rust-toolchain rust-toolchain.toml .luarocks .busted",
		"a build service runs it": ".github .gitlab .gitlab-ci.yml .circleci .travis.yml .drone.yml .woodpecker .woodpecker.yml .buildkite .appveyor.yml appveyor.yml " +
			"azure-pipelines.yml bitbucket-pipelines.yml jenkinsfile .teamcity .semaphore .cirrus.yml .gitea .forgejo .ci cloudbuild.yaml",
		"it holds keys or settings that other programs trust": ".ssh .gnupg .aws .azure .kube .docker .netrc .pgpass .my.cnf .git-credentials .config .local .mozilla .pam_environment " +
			".rhosts .shosts .k5login authorized_keys known_hosts .terraformrc .password-store",
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

// protectedPrefixes are the beginnings among the names.
var protectedPrefixes = func() (list []string) {
	for name := range protectedNames {
		if prefix, ok := strings.CutSuffix(name, "*"); ok {
			list = append(list, prefix)
		}
	}
	return list
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
		for _, prefix := range protectedPrefixes {
			if strings.HasPrefix(f, prefix) {
				return protectedNames[prefix+"*"]
			}
		}
	}
	return ""
}

// fold brings names together that some file system takes for one: without
// case, in one Unicode form, without characters that HFS+ ignores and without
// the dots and spaces that Windows drops from an end. Windows takes what follows
// a colon for a stream of the file in front of it.
func fold(name string) string {
	file, _ := cutStream(alike(name))
	return file
}

// cutStream takes the name of a stream off that of its file, if there is one.
func cutStream(name string) (file string, cut bool) {
	if i := strings.IndexByte(name, ':'); i > 0 {
		return name[:i], true
	}
	return name, false
}

// alike is fold without a look at colons.
func alike(name string) string {
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
	return name
}
