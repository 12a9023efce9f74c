package worker

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"

	"stepbox.dev/abi"
	"stepbox.dev/host/sandbox"
)

// Host and child talk in frames over one stream socket: a kind, the lengths of
// a JSON head and of a raw body, then both. The host trusts no byte it reads:
// lengths are checked against caps before anything is allocated, and a frame
// of the wrong kind at the wrong time ends the child.

// frameVersion is the first byte of every frame. Host and child are the same
// executable, so a mismatch means garbage on the wire.
const frameVersion = 1

// kind is what a frame is.
type kind uint8

// Frames from the host.
const (
	kindSetup  kind = iota + 1 // setup; body: the module, then the skill's files
	kindCall                   // call; body: the input
	kindSeal                   // seal: how the host judged the result
	kindAnswer                 // answer to confirm, engine or claim
	kindJob                    // job; body: the standard input
)

// Frames from the child.
const (
	kindReady    kind = iota + 64 // ready: confined and loaded, or why not
	kindResult                    // result; body: the output
	kindSealed                    // sealed
	kindOutput                    // body: one line
	kindProgress                  // abi.Progress
	kindConfirm                   // abi.ConfirmRequest
	kindWalls                     // []Wall
	kindEngine                    // body: abi.EngineRequest
	kindAlive                     // an engine did something
	kindClaim                     // claim
	kindJobDone                   // jobDone; body: the standard output, then the error
)

// Caps of what the host accepts from a child, beside the result's own cap.
const (
	maxHead     = 1 << 20
	maxLine     = 4 << 10
	frameHeader = 10
)

// setup is the first frame a child gets.
type setup struct {
	Module   int        `json:"module"`   // bytes of the body that are the module
	Skill    []skillDoc `json:"skill"`    // the rest of the body, in order
	Compiled string     `json:"compiled"` // folder of compiled code
	Lower    bool       `json:"lower"`    // descriptors that follow the socket, in this order
	Stage    bool       `json:"stage"`
	Tmp      bool       `json:"tmp"`
	Limits   Limits     `json:"limits"`
	Flavour  flavour    `json:"flavour"`
	// MissingWallsOK goes on where the kernel cannot build a wall.
	MissingWallsOK bool `json:"missing_walls_ok,omitempty"`
}

type skillDoc struct {
	Path string `json:"path"`
	Size int    `json:"size"`
}

// call asks for one call of one export.
type call struct {
	Export string   `json:"export"`
	Mode   abi.Mode `json:"mode"`
	Index  int      `json:"index"`
	// Real gives the guest the real clock, sleep and random numbers.
	Real bool `json:"real"`
	// Seals says that the host will judge the result, and the child waits.
	Seals bool `json:"seals"`
}

type ready struct {
	Fault string `json:"fault,omitempty"` // why the child cannot serve
	Wall  bool   `json:"wall,omitempty"`  // a wall is missing
	// DiskFull says that there is no room for the stage, or for compiled code.
	DiskFull bool `json:"disk_full,omitempty"`
}

// ending is how a call ended in the child's words.
type ending string

const (
	endOK      ending = "ok"
	endError   ending = "error"   // the module set an error: Text
	endMissing ending = "missing" // no such export
	endCrash   ending = "crash"   // trap, exit, stack overflow: Text
	endTooBig  ending = "too_big" // the result, Size bytes
)

type result struct {
	End     ending           `json:"end"`
	Text    string           `json:"text,omitempty"`
	Size    int64            `json:"size,omitempty"`
	Denials []sandbox.Denial `json:"denials,omitempty"`
	// DiskFull says that a write failed for that; the guest sees any error.
	DiskFull bool `json:"disk_full,omitempty"`
	// OutputCut says that some of what the guest printed was dropped.
	OutputCut bool `json:"output_cut,omitempty"`
}

// job asks an engine for one run.
type job struct {
	Call       int                 `json:"call"` // of the program
	Mode       abi.Mode            `json:"mode"`
	Argv       []string            `json:"argv"`
	Env        map[string]string   `json:"env,omitempty"`
	StdoutFile string              `json:"stdout_file,omitempty"`
	Progress   *abi.EngineProgress `json:"progress,omitempty"`
	Stdout     int                 `json:"stdout"` // bytes to keep
	Stderr     int                 `json:"stderr"`
}

// claim asks whether a job may change something.
type claim struct {
	What string `json:"what"`
}

type claimed struct {
	Yes bool `json:"yes"`
}

// jobDone is how a job ended.
type jobDone struct {
	Exit      int              `json:"exit"`
	Stdout    int              `json:"stdout"` // bytes of the body
	StdoutCut bool             `json:"stdout_cut,omitempty"`
	StderrCut bool             `json:"stderr_cut,omitempty"`
	Denials   []sandbox.Denial `json:"denials,omitempty"`
	DiskFull  bool             `json:"disk_full,omitempty"`
	// Changed is what a job that did not end well changed and cannot give back.
	Changed string `json:"changed,omitempty"`
	Fault   string `json:"fault,omitempty"` // what it made could not be taken back
}

type seal struct {
	Keep bool `json:"keep"`
}

type sealed struct {
	Fault string `json:"fault,omitempty"`
}

// writeFrame sends one frame. head may be nil.
func writeFrame(w io.Writer, k kind, head any, bodies ...[]byte) error {
	var h []byte
	if head != nil {
		var err error
		if h, err = json.Marshal(head); err != nil {
			return fmt.Errorf("encode frame: %w", err)
		}
	}
	var n int
	for _, b := range bodies {
		n += len(b)
	}
	if _, err := w.Write(append(header(k, len(h), n), h...)); err != nil {
		return err
	}
	for _, b := range bodies {
		if len(b) == 0 {
			continue
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return nil
}

// header is what a frame begins with.
func header(k kind, head, body int) []byte {
	b := []byte{frameVersion, byte(k)}
	b = binary.LittleEndian.AppendUint32(b, uint32(head))
	return binary.LittleEndian.AppendUint32(b, uint32(body))
}

// frame is one received frame.
type frame struct {
	kind kind
	head []byte
	body []byte
}

// decode reads the head into v, strictly.
func (f frame) decode(v any) error {
	if err := strictJSON(f.head, v); err != nil {
		return fmt.Errorf("frame %d: %w", f.kind, err)
	}
	return nil
}

// readFrame reads one frame whose body is at most maxBody bytes long.
func readFrame(r *bufio.Reader, maxBody int64) (frame, error) {
	var hdr [frameHeader]byte
	if _, err := io.ReadFull(r, hdr[:]); err != nil {
		return frame{}, err
	}
	if hdr[0] != frameVersion {
		return frame{}, fmt.Errorf("frame version %d, want %d", hdr[0], frameVersion)
	}
	head := binary.LittleEndian.Uint32(hdr[2:])
	body := binary.LittleEndian.Uint32(hdr[6:])
	if head > maxHead || int64(body) > maxBody {
		return frame{}, fmt.Errorf("frame of %d+%d bytes is over the cap", head, body)
	}
	buf := make([]byte, int(head)+int(body))
	if _, err := io.ReadFull(r, buf); err != nil {
		return frame{}, err
	}
	return frame{kind(hdr[1]), buf[:head:head], buf[head:]}, nil
}
