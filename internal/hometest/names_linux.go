package hometest

// systemNames are names that only Linux takes: bytes that are not UTF-8.
func systemNames() []string { return []string{"invalid \xff utf8.txt", "half \xf0\x9f.txt"} }
