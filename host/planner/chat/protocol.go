package chat

import (
	"encoding/json"
	"strings"
)

// Protocol is one way to talk to a server.
type Protocol interface {
	// Name is that of the planner: openai, ollama.
	Name() string
	DefaultURL() string
	// Chat is the path of an inference below the URL, and Encode its body.
	Chat() string
	Encode(i Inference) ([]byte, error)
	// Decode reads one message of an answer: an event of a stream, a line, or
	// the whole body.
	Decode(message []byte) (Part, error)
	// Models is the path of the list of models, and DecodeModels reads it.
	Models() string
	DecodeModels(body []byte) ([]string, error)
}

// Inference is one question to a model. It is asked at temperature 0.
type Inference struct {
	Model         string
	Messages      []Message
	Schema        json.RawMessage // nil: none is sent
	MaxTokens     int
	ContextTokens int
	Stream        bool
	Without       Without
}

// Without are parts of a request that some servers refuse. A planner finds out
// by being refused, and remembers it.
type Without struct {
	Schema      bool
	Temperature bool // models that reason take none
	MaxTokens   bool // they want the limit under its newer name
}

// Message is one turn of a conversation with a model.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Part is what one message of an answer adds.
type Part struct {
	Text  string
	Extra int    // bytes of what is not the answer: thinking
	Done  bool   // the answer is complete
	Cut   bool   // it ended at the limit of tokens
	Error string // what the server says went wrong
}

// ServerError returns the message of an error in any of the forms that servers
// use, "" when there is none.
func ServerError(raw json.RawMessage) string {
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var object struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(raw, &object) == nil && object.Message != "" {
		return object.Message
	}
	return string(raw)
}

// clip shortens text to so many bytes.
func clip(s string, most int) string {
	s = strings.TrimSpace(s)
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
