package gate

import "strings"

// PathAnswer is the path that a person's answer says: people answer "to backup"
// or "in the folder backup" where "backup" was asked for. Quotes keep a name
// whole.
func PathAnswer(answer string) string {
	answer = strings.TrimSpace(answer)
	for _, q := range []string{`"`, "'", "`"} {
		if in, ok := strings.CutPrefix(answer, q); ok && len(in) > 1 && strings.HasSuffix(in, q) {
			return in[:len(in)-len(q)]
		}
	}
	words := strings.Fields(answer)
	from, to := 0, len(words)
	for to-from > 1 && leads(fold(words[from])) {
		from++
	}
	if from > 0 && to-from > 1 && folders[fold(words[to-1])] { // "into the backup folder"
		to--
	}
	if from == 0 && to == len(words) {
		return answer
	}
	return strings.Join(words[from:to], " ")
}

// leads says that a word comes before a path in an answer and is no part of it.
func leads(word string) bool { return places[word] || articles[word] || folders[word] }
