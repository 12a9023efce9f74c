package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"stepbox.dev/host/fault"
)

// Bounds on what a server may send, whatever it is asked.
const (
	maxAnswer  = 4 << 20  // bytes of an answer as it travels, thinking included
	maxError   = 64 << 10 // of a message that says what went wrong
	maxWait    = 30 * time.Second
	maxHeaders = 64 << 10
)

var errSlow = errors.New("the model did not answer in time")

func newClient() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy:                  http.ProxyFromEnvironment, // loopback never goes through it
			DialContext:            (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
			TLSHandshakeTimeout:    10 * time.Second,
			MaxResponseHeaderBytes: maxHeaders,
			DisableCompression:     true, // a cap on bytes must be a cap on what they become
			ForceAttemptHTTP2:      true,
			IdleConnTimeout:        30 * time.Second,
		},
		// A redirect would carry request and key to a place nobody configured.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// checkURL refuses an address that could not be meant, or would give the key
// away.
func checkURL(o Options) error {
	u, err := url.Parse(o.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return fault.New(fault.Usage, "the model's url must be a web address").Hint("for example http://127.0.0.1:8080/v1")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return fault.New(fault.Usage, "the model's url holds more than an address").
			Hint("a key belongs into an environment variable; key_variable names it")
	case u.Scheme == "http" && o.Key != "" && !loopback(u.Hostname()):
		return fault.New(fault.Usage, "the key in %s would travel to %s unencrypted", o.KeyName, u.Host).
			Hint("use an https address, or unset the variable")
	}
	for _, c := range []byte(o.Key) {
		if c <= ' ' || c > '~' {
			return fault.New(fault.Usage, "the key in %s holds a character that no key has", o.KeyName)
		}
	}
	return nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// ask gets one answer, with as many attempts as it takes and is allowed.
func (p *Planner) ask(ctx context.Context, messages []Message, schema json.RawMessage, asking func(int)) (string, error) {
	wait := p.o.Backoff
	for attempt := 1; ; attempt++ {
		out, err := p.adapting(ctx, messages, schema, asking)
		if err == nil {
			return out, nil
		}
		var again *retryError
		switch {
		case ctx.Err() != nil:
			return "", ended(ctx)
		case !errors.As(err, &again):
			return "", err
		case attempt >= p.o.Attempts, again.after > maxWait:
			return "", again.err
		}
		timer := time.NewTimer(max(wait, again.after))
		select {
		case <-ctx.Done():
			timer.Stop()
			return "", ended(ctx)
		case <-timer.C:
		}
		wait = min(2*wait, maxWait)
	}
}

// ended is why the context ended: the model's own time, or what ended the run.
func ended(ctx context.Context) error {
	if context.Cause(ctx) == errSlow {
		return fault.New(fault.Timeout, "%w", errSlow).Hint("raise timeout in the configuration, or use a faster model")
	}
	return ctx.Err()
}

// retryError is a failure that may pass.
type retryError struct {
	err   error
	after time.Duration // the server asks for so much patience
}

func (e *retryError) Error() string { return e.err.Error() }

// refusedError is a request that the server does not take as it is.
type refusedError struct {
	err     error
	message string
}

func (e *refusedError) Error() string { return e.err.Error() }
func (e *refusedError) Unwrap() error { return e.err }

// adapting leaves out what the server says it does not take.
func (p *Planner) adapting(ctx context.Context, messages []Message, schema json.RawMessage, asking func(int)) (string, error) {
	for {
		p.mu.Lock()
		without := p.without
		p.mu.Unlock()
		i := Inference{
			Model: p.o.Model, Messages: messages, MaxTokens: p.o.MaxTokens, ContextTokens: p.o.ContextTokens,
			Stream: !p.o.NoStream, Without: without,
		}
		if !without.Schema {
			i.Schema = schema
		}
		out, err := p.once(ctx, i, asking)
		var refused *refusedError
		if !errors.As(err, &refused) {
			return out, err
		}
		less := without.after(strings.ToLower(refused.message))
		if less == without {
			return "", refused.err
		}
		p.mu.Lock()
		p.without = less
		p.mu.Unlock()
	}
}

// after adds what a refusal names to what is left out.
func (w Without) after(message string) Without {
	switch {
	case !w.MaxTokens && strings.Contains(message, "max_completion_tokens"):
		w.MaxTokens = true
	case !w.Temperature && strings.Contains(message, "temperature"):
		w.Temperature = true
	case !w.Schema && (strings.Contains(message, "schema") || strings.Contains(message, "grammar") || strings.Contains(message, "format")):
		w.Schema = true
	}
	return w
}

// once sends one inference and reads its answer.
func (p *Planner) once(ctx context.Context, i Inference, asking func(int)) (string, error) {
	body, err := p.protocol.Encode(i)
	if err != nil {
		return "", fault.New(fault.Internal, "request to %s: %w", p.protocol.Name(), err)
	}
	resp, err := p.send(ctx, http.MethodPost, p.protocol.Chat(), body)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return "", p.status(resp)
	}
	return p.read(resp, asking)
}

func (p *Planner) send(ctx context.Context, method, path string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimRight(p.o.URL, "/")+path, bytes.NewReader(body))
	if err != nil {
		return nil, fault.New(fault.Usage, "the model's url: %w", err)
	}
	req.Header.Set("User-Agent", "stepbox")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if p.o.Key != "" {
		req.Header.Set("Authorization", "Bearer "+p.o.Key)
	}
	resp, err := p.client.Do(req)
	if err == nil {
		return resp, nil
	}
	var (
		name *net.DNSError
		of   *url.Error
	)
	if errors.As(err, &of) { // the address is told once
		err = of.Err
	}
	f := fault.New(fault.Usage, "%s cannot be reached at %s: %s", p.protocol.Name(), p.o.URL, p.clean(err.Error())).
		Hint("start the server, or set another address: stepbox config set url ADDRESS")
	if errors.Is(err, syscall.ECONNREFUSED) || errors.As(err, &name) && name.IsNotFound {
		return nil, f // nobody is there, and will not be in a second
	}
	return nil, &retryError{err: f}
}

// status turns an answer that is none into an error.
func (p *Planner) status(resp *http.Response) error {
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxError))
	if err != nil {
		raw = nil // the status alone has to do
	}
	var body struct {
		Error json.RawMessage `json:"error"`
	}
	message := ""
	if json.Unmarshal(raw, &body) == nil {
		message = ServerError(body.Error)
	}
	if message == "" {
		message = string(raw)
	}
	message = p.clean(message)
	where := p.protocol.Name() + " at " + p.o.URL
	said := where + " says " + strconv.Itoa(resp.StatusCode)
	if message != "" {
		said += ": " + message
	}
	switch code := resp.StatusCode; {
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		// What a server says about a key may repeat parts of it.
		f := fault.New(fault.Usage, "%s refuses the key (%d)", where, code)
		if p.o.Key == "" {
			return f.Hint("put a key into the environment variable that key_variable names")
		}
		return f.Hint("look at the environment variable %s", p.o.KeyName)
	case code == http.StatusTooManyRequests, code >= 500:
		return &retryError{fault.New(fault.Internal, "%s", said).Hint("try again later, or use another server"), retryAfter(resp.Header, time.Now())}
	case code == http.StatusNotFound:
		return fault.New(fault.Usage, "%s", said).Hint("`stepbox doctor` says which models the server has")
	case code >= 300 && code < 400:
		return fault.New(fault.Usage, "%s wants to send requests elsewhere (%d)", where, code).Hint("set the url that is meant: stepbox config set url ADDRESS")
	default:
		return &refusedError{fault.New(fault.Usage, "%s", said).Hint("`stepbox doctor` says more about the server"), message}
	}
}

// retryAfter reads how long a server asks to wait, in either form of the header.
func retryAfter(h http.Header, now time.Time) time.Duration {
	v := h.Get("Retry-After")
	if s, err := strconv.Atoi(v); err == nil && s > 0 {
		return time.Duration(min(s, 1<<20)) * time.Second
	}
	if t, err := http.ParseTime(v); err == nil {
		return max(0, t.Sub(now))
	}
	return 0
}

// clean makes text from elsewhere fit for a message: short, and without the key.
func (p *Planner) clean(s string) string {
	if p.o.Key != "" {
		s = strings.ReplaceAll(s, p.o.Key, "(key)")
	}
	return clip(strings.Join(strings.Fields(s), " "), 300)
}
