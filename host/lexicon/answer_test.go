package lexicon

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Whoever is asked yes or no answers so in their own language. A word that is
// taken for neither becomes a part of the request.
func TestReplyOf(t *testing.T) {
	for want, answers := range map[Reply][]string{
		Yes:      {"yes", "Y", " Yes. ", "ok", "OK!", "ja", "Ja, bitte", "oui", "sí", "si", "да", "Да!", "好", "好的。", "是的", "yes, please"},
		No:       {"no", "N", "No, thanks", "nein", "Nein.", "non", "не", "нет", "不", "不要", "don't"},
		LeaveOut: {"leave it out", "Lass es weg", "sans ça", "пропусни го", "忽略", "never mind."},
		Words:    {"", "note", "yes.pdf", `"yes"`, "no.txt", "y2", "yesterday", "delete it", "not.txt", "好.txt", "all"},
	} {
		for _, a := range answers {
			require.Equal(t, want, ReplyOf(a), "%q", a)
		}
	}
}
