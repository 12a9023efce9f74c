// Package ollama asks a model over Ollama's own protocol, /api/chat, which can
// set the length of the context where the compatible one cannot. It was written
// from the published API reference of version 0.5 and later, the first that
// takes a schema; no transcripts of real servers were at hand.
package ollama

import (
	"encoding/json"

	"stepbox.dev/host/planner/chat"
)

// Protocol is Ollama's.
type Protocol struct{}

var _ chat.Protocol = Protocol{}

// Name implements chat.Protocol.
func (Protocol) Name() string { return "ollama" }

// DefaultURL implements chat.Protocol.
func (Protocol) DefaultURL() string { return "http://127.0.0.1:11434" }

// Chat implements chat.Protocol.
func (Protocol) Chat() string { return "/api/chat" }

type request struct {
	Model    string          `json:"model"`
	Messages []chat.Message  `json:"messages"`
	Stream   bool            `json:"stream"`
	Format   json.RawMessage `json:"format,omitempty"`
	Options  options         `json:"options"`
}

type options struct {
	Temperature float64 `json:"temperature"`
	Context     int     `json:"num_ctx"`
	Predict     int     `json:"num_predict"`
}

// Encode implements chat.Protocol.
func (Protocol) Encode(i chat.Inference) ([]byte, error) {
	return json.Marshal(request{
		Model: i.Model, Messages: i.Messages, Stream: i.Stream, Format: i.Schema,
		Options: options{Context: i.ContextTokens, Predict: i.MaxTokens},
	})
}

// Decode implements chat.Protocol: a line of a stream, or a whole answer.
func (Protocol) Decode(message []byte) (chat.Part, error) {
	var m struct {
		Error   json.RawMessage `json:"error"`
		Message struct {
			Content  string `json:"content"`
			Thinking string `json:"thinking"`
		} `json:"message"`
		Done   bool   `json:"done"`
		Reason string `json:"done_reason"`
	}
	if err := json.Unmarshal(message, &m); err != nil {
		return chat.Part{}, err
	}
	return chat.Part{
		Text: m.Message.Content, Extra: len(m.Message.Thinking), Done: m.Done, Cut: m.Reason == "length",
		Error: chat.ServerError(m.Error),
	}, nil
}

// Models implements chat.Protocol.
func (Protocol) Models() string { return "/api/tags" }

// DecodeModels implements chat.Protocol. A model may be named without its tag
// when that is "latest".
func (Protocol) DecodeModels(body []byte) ([]string, error) {
	var m struct {
		Models []struct {
			Name string `json:"name"`
		} `json:"models"`
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return nil, err
	}
	var names []string
	for _, d := range m.Models {
		names = append(names, d.Name)
	}
	return names, nil
}
