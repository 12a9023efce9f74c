package bundle

import (
	"path"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

var (
	validName    = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)
	validVersion = regexp.MustCompile(`^[0-9]{1,9}\.[0-9]{1,9}\.[0-9]{1,9}(-[0-9A-Za-z.-]{1,64})?$`)
	// deviceName is what Windows takes for a device in any folder, whatever
	// follows the first dot.
	deviceName = regexp.MustCompile(`(?i)^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])$`)
)

// ValidName reports whether a skill or an engine may be called that: what is a
// file anywhere, no path, no flag, and nothing to a shell.
func ValidName(name string) bool {
	return validName.MatchString(name) && !deviceName.MatchString(name)
}

// ValidVersion reports whether a version is one: three numbers, and perhaps a
// suffix.
func ValidVersion(version string) bool { return validVersion.MatchString(version) }

// maxPart is how many bytes a name in a path may have: file systems take no
// more.
const maxPart = 255

// cleanPath reports whether a name is the same file on every system.
func cleanPath(p string) bool {
	if p == "" || len(p) > 512 || !utf8.ValidString(p) || path.Clean(p) != p || p[0] == '/' || strings.ContainsAny(p, "\\:*?\"<>|") {
		return false
	}
	for _, part := range strings.Split(p, "/") {
		stem, _, _ := strings.Cut(part, ".")
		if part == "" || len(part) > maxPart || part[0] == '.' || part[0] == '-' || strings.HasSuffix(part, ".") ||
			strings.HasPrefix(part, " ") || strings.HasSuffix(part, " ") || deviceName.MatchString(strings.TrimRight(stem, " ")) {
			return false
		}
	}
	// What nobody sees, or what a system writes in another form.
	return norm.NFC.IsNormalString(p) && !strings.ContainsFunc(p, func(r rune) bool {
		return unicode.In(r, unicode.C, unicode.Zl, unicode.Zp)
	})
}
