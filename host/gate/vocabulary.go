package gate

import (
	"strings"
	"unicode"
)

// The words that the gates know, folded, in the languages that contracts are
// written for: English, German, Spanish, French, Bulgarian, Russian, Chinese.
// They are about language and kinds of file, not about any tool.

// set splits a list of words.
func set(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}

var (
	// widening words say that what follows limits nothing.
	widening = set(`except but besides excluding without unlike including even plus also incl
		außer ausser ohne inklusive auch excepto salvo menos sin incluso incluyendo también sauf hormis sans même
		кроме освен без включая включително дори даже 除`)
	// sequence words begin a clause.
	sequence = set(`then afterwards after before dann danach luego después puis ensuite потом затем после след 然 再`)
	// joining words begin a clause when a verb follows.
	joining = set(`and or und oder y e o et ou и или 和 并 或`)
	// articles stand between a preposition and its noun.
	articles = set(`the a an my our your this that these those der die das den dem meine meinem el la los las mi mis le les mon mes ma`)
	// determiners point at something: "the video" describes, it does not name.
	determiners = set(`the my our your this that these those a an der die das den dem ein eine einen mein meine meinen
		el la los las un una mi mis este esta le les une mon ma mes ce cette този тази това моя моето этот эта это мой моё 这 那 我`)
	// places are prepositions that a folder follows.
	places = set(`in from on inside under within to into onto at im in aus auf von nach en de desde dans sur depuis vers в во из на от с към 在 从 到`)
	// ordering words are followed by how something is sorted or grouped, which
	// says nothing about what it is.
	ordering = set(`by nach por par по according order`)
	// folders are words beside which a folder's name stands.
	folders = set(`folder directory dir subfolder ordner verzeichnis carpeta directorio dossier répertoire папка папката папке папку директория каталог`)
	// batch words say that many files are meant.
	batch = set(`all every each everything anything whatever batch bulk any both
		alle alles jede jeden jedes jeder sämtliche stapel todo todos toda todas cada lote tous tout toutes toute chaque lot
		всички всичко всеки всяка всяко все всех всё каждый каждую пакет партида партиден 所 全 每 都 批`)
)

// kinds are kinds of file: the words for them, and their extensions.
var kinds = []struct{ nouns, extensions map[string]bool }{
	{set(`video videos clip clips movie movies film films footage vídeo vídeos vidéo vidéos видео видеото видеа клип клипа клипове ролик 视频 片`),
		set(`mp4 mov mkv webm avi m4v mpg mpeg wmv flv 3gp ts mts ogv`)},
	{set(`audio sound song songs track music recording ton lied musik canción música son chanson musique звук аудио музика музыка песен 音频`),
		set(`mp3 wav flac aac ogg opus m4a wma aiff aif`)},
	{set(`image images picture pictures photo photos pic pics bild bilder foto fotos imagen imágenes photographie снимка снимки изображение фото картинка 图 图片 照片`),
		set(`jpg jpeg png gif bmp webp tif tiff heic svg ico avif`)},
	{set(`document documents doc docs dokument dokumente documento documentos документ документа документи документы 文档`),
		set(`pdf doc docx odt rtf txt md tex pages epub html htm`)},
	{set(`spreadsheet spreadsheets sheet sheets tabelle hoja tableur таблица 表格`), set(`xls xlsx ods csv tsv`)},
	{set(`presentation presentations slides deck präsentation presentación présentation презентация 演示`), set(`ppt pptx odp key`)},
	{set(`archive archives archiv archivo comprimido архив 压缩包`), set(`zip tar gz tgz bz2 xz 7z rar zst`)},
	{set(`log logs`), set(`log`)},
	{set(`script scripts code`), set(`sh py js ts go rs c h cpp rb pl java css php lua sql ps1 bat`)},
	{set(`text notes`), set(`txt md`)},
	{set(`config configuration settings`), set(`ini conf cfg yaml yml toml json xml env`)},
	{set(`temporary`), set(`tmp temp bak old part swp`)},
	{set(`executable program`), set(`exe msi dll so bin app apk deb rpm iso dmg`)},
}

// extensions are the extensions of all kinds.
var extensions = func() map[string]bool {
	out := map[string]bool{}
	for _, k := range kinds {
		for e := range k.extensions {
			out[e] = true
		}
	}
	return out
}()

// things are words for files and folders of any kind.
var things = set(`file files datei dateien archivo archivos fichero ficheros fichier fichiers файл файла файлове файлы 文件
	folder folders directory directories ordner verzeichnis verzeichnisse carpeta carpetas dossier dossiers папка папки
	item items entry entries thing things content contents stuff names details`)

// nouns are words that describe a file by its kind and name none.
var nouns = func() map[string]bool {
	out := set(`file files datei dateien archivo archivos fichero fichier fichiers файл файла файлове файлы 文件 folder directory ordner carpeta dossier папка`)
	for _, k := range kinds {
		for n := range k.nouns {
			out[n] = true
		}
	}
	return out
}()

// ordinals are the beginnings of the words for a position, from the first; the
// last entry means the last.
var ordinals = []map[string]bool{
	set(`first 1st erste ersten erster primer primero primera premier première първи първия първата первый первую`),
	set(`second 2nd zweite zweiten zweiter segundo segunda deuxième second втори втория втората второй вторую`),
	set(`third 3rd dritte dritten dritter tercer tercero tercera troisième трети третия третата третий третью`),
	set(`fourth 4th vierte vierten cuarto cuarta quatrième четвърти четвърти четвёртый четвертый`),
	set(`fifth 5th fünfte fünften quinto quinta cinquième пети петия пятый`),
	set(`last letzte letzten letzter último última dernier dernière последен последния последната последний последнюю`),
}

// ordinal returns the position that a word says, from 0, or -1 for the last.
func ordinal(word string) (position int, ok bool) {
	for i, words := range ordinals {
		if words[word] {
			if i == len(ordinals)-1 {
				return -1, true
			}
			return i, true
		}
	}
	return 0, false
}

// speaksOfMany says that a request holds a batch word.
func speaksOfMany(said []token) bool {
	for _, t := range said {
		if batch[t.text] && !t.file {
			return true
		}
	}
	return false
}

// kindsOf returns the extensions that a word for a kind of file means, nil when
// the word is none: "video", "pdf", "PDFs".
func kindsOf(word string) map[string]bool {
	if e := singular(word); extensions[word] || extensions[e] {
		return map[string]bool{word: true, e: true}
	}
	for _, k := range kinds {
		if k.nouns[word] {
			return k.extensions
		}
		// Bulgarian and German put an article or another noun at the end: "4K-Video", "видеото".
		for n := range k.nouns {
			if len(n) > 7 && unicode.Is(unicode.Cyrillic, []rune(n)[0]) && strings.HasPrefix(word, n) {
				return k.extensions
			}
		}
	}
	return nil
}

// links stand between the name of an argument and its value.
var links = set(`is be to as of ist lautet auf es a est е есть это 是 为`)
