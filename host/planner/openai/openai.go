// Package openai asks a model over the chat completions protocol, which
// llama.cpp's server, vLLM, LM Studio, Ollama and hosted services speak. It was
// written from the published API reference as of 2025; no transcripts of real
// servers were at hand.
package openai

import (
	"encoding/json"

	"stepbox.dev/host/planner/chat"
)

// Protocol is chat completions.
type Protocol struct{}

var _ chat.Protocol = Protocol{}

// Name implements chat.Protocol.
func (Protocol) Name() string { return "openai" }

// DefaultURL implements chat.Protocol: where llama.cpp's server listens. A
// hosted service is never a default.
func (Protocol) DefaultURL() string { return "http://127.0.0.1:8080/v1" }

// Chat implements chat.Protocol.
func (Protocol) Chat() string { return "/chat/completions" }

// request is the body of a chat completion.
type request struct {
	Model               string         `json:"model"`
	Messages            []chat.Message `json:"messages"`
	Temperature         *float64       `json:"temperature,omitempty"`
	MaxTokens           int            `json:"max_tokens,omitempty"`
	MaxCompletionTokens int            `json:"max_completion_tokens,omitempty"`
	Stream              bool           `json:"stream"`
	ResponseFormat      *format        `json:"response_format,omitempty"`
}

type format struct {
	Type       string `json:"type"`
	JSONSchema struct {
		Name   string          `json:"name"`
		Schema json.RawMessage `json:"schema"`
	} `json:"json_schema"`
}

// Encode implements chat.Protocol.
func (Protocol) Encode(i chat.Inference) ([]byte, error) {
	r := request{Model: i.Model, Messages: i.Messages, MaxTokens: i.MaxTokens, Stream: i.Stream, Temperature: new(float64)}
	if i.Without.Temperature {
		r.Temperature = nil
	}
	if i.Without.MaxTokens {
		r.MaxTokens, r.MaxCompletionTokens = 0, i.MaxTokens
	}
	if i.Schema != nil {
		r.ResponseFormat = &format{Type: "json_schema"}
		r.ResponseFormat.JSONSchema.Name, r.ResponseFormat.JSONSchema.Schema = "plan", i.Schema
	}
	return json.Marshal(r)
}

// Decode implements chat.Protocol: a chunk of a stream, or a whole completion.
func (Protocol) Decode(message []byte) (chat.Part, error) {
	type content struct {
		Content   *string `json:"content"`
		Reasoning string  `json:"reasoning_content"`
	}
	var m struct {
		Error   json.RawMessage `json:"error"`
		Choices []struct {
			Delta        content  `json:"delta"`
			Message      *content `json:"message"`
			FinishReason string   `json:"finish_reason"`
		} `json:"choices"`
	}
	if err := json.Unmarshal(message, &m); err != nil {
		return chat.Part{}, err
	}
	part := chat.Part{Error: chat.ServerError(m.Error)}
	if len(m.Choices) == 0 { // the last chunk may count tokens only
		return part, nil
	}
	choice := m.Choices[0]
	said := choice.Delta
	if choice.Message != nil {
		said, part.Done = *choice.Message, true
	}
	if said.Content != nil {
		part.Text = *said.Content
	}
	part.Extra = len(said.Reasoning)
	part.Done = part.Done || choice.FinishReason != ""
	part.Cut = choice.FinishReason == "length"
	if choice.FinishReason == "content_filter" {
		part.Error = "the server's own filter stopped the answer"
	}
	return part, nil
}

// Models implements chat.Protocol.
func (Protocol) Models() string { return "/models" }

// DecodeModels implements chat.Protocol.
func (Protocol) DecodeModels(body []byte) ([]string, error) {
	var m struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return nil, err
	}
	var names []string
	for _, d := range m.Data {
		names = append(names, d.ID)
	}
	return names, nil
}
