// Copyright The diskbench Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/ascii85"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/diskbench/diskbench/engine/workload"
)

// The termination message is one line of text, at most 4,096 bytes, which is what Kubernetes keeps
// of it:
//
//	diskbench/2 R 1c291ca3 <Ascii85>             a report
//	diskbench/2 F 1c291ca3 NoSpace: <message>    a failure
//
// The hexadecimal number is the CRC-32 (IEEE) of the letter and of what follows the number, so
// that a message that was cut shows. wire.go has the report's form.

const (
	// MaxMessageBytes is the longest termination message.
	MaxMessageBytes = 4096

	messageVersion = 3
	messagePrefix  = "diskbench/"
	kindReport     = "R"
	kindFailure    = "F"

	// maxFailureBytes leaves room in a pod of many containers: Kubernetes keeps 12 KiB of
	// messages for all of them together.
	maxFailureBytes = 2048
)

// What Decode says of a message that holds neither a report nor a failure.
var (
	// ErrEmpty: the container ended without a message.
	ErrEmpty = errors.New("the termination message is empty: the engine ended without a result")
	// ErrCorrupt: the message was cut or is not the engine's.
	ErrCorrupt = errors.New("the termination message is cut or damaged")
	// ErrOlder: the engine is of an older version than this program.
	ErrOlder = errors.New("the termination message is of an older diskbench-engine: use the same version on both sides")
	// ErrNewer: the engine is of a newer version than this program.
	ErrNewer = errors.New("the termination message is of a newer diskbench-engine: use the same version on both sides")
	// ErrOtherPlan: the message is about other workloads.
	ErrOtherPlan = errors.New("the termination message is about other workloads than these")
)

// Encode makes the termination message of a report. Where that has too little room, series become
// coarser: again and again the longest of them, of several the first, gets half of its points, down to
// one for each repetition, of which there is always room. Nothing else gives way but the ends of long
// texts. It fails for a report beyond the limits of a plan.
func Encode(r *Report) ([]byte, error) {
	if err := check(r); err != nil {
		return nil, err
	}
	shorter := *r
	shorter.Workloads = slices.Clone(r.Workloads)
	message := frameReport(&shorter)
	for len(message) > MaxMessageBytes && coarsen(shorter.Workloads) {
		message = frameReport(&shorter)
	}
	if len(message) > MaxMessageBytes {
		return nil, fmt.Errorf("the report takes %d bytes, a termination message has %d", len(message), MaxMessageBytes)
	}
	return message, nil
}

func frameReport(r *Report) []byte { return frame(kindReport, encodeText(marshal(r))) }

// The text form of the payload is Ascii85, which has a quarter more characters than bytes; base64 has
// a third more. Two other characters stand for those that quoted text would have to escape.
var (
	toPlain   = strings.NewReplacer(`"`, "v", `\`, "w")
	fromPlain = strings.NewReplacer("v", `"`, "w", `\`)
)

func encodeText(payload []byte) string {
	text := make([]byte, ascii85.MaxEncodedLen(len(payload)))
	return toPlain.Replace(string(text[:ascii85.Encode(text, payload)]))
}

func decodeText(text string) ([]byte, error) {
	text = fromPlain.Replace(text)
	payload := make([]byte, 4*len(text)) // a z is four zeros
	n, _, err := ascii85.Decode(payload, []byte(text), true)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return payload[:n], nil
}

// EncodeFailure makes the termination message of a failure. A very long text is cut.
func EncodeFailure(f *Failure) []byte {
	return frame(kindFailure, cut(f.Error(), maxFailureBytes))
}

func frame(kind, body string) []byte {
	return fmt.Appendf(nil, "%s%d %s %08x %s", messagePrefix, messageVersion, kind, checksum(kind, body), body)
}

func checksum(kind, body string) uint32 { return crc32.ChecksumIEEE([]byte(kind + body)) }

// Decode reads a termination message about the given workloads, all those of a plan in its order; of a
// failure it takes none. Figures come back as the wire carries them: counts, bytes and windows exact,
// rates computed from those; latencies, other rates and counters within 0.04%. Of repetitions that took
// different times, each one's is within 1/500 of the series' interval.
//
// The error is a *Failure when the engine failed, and otherwise one of ErrEmpty, ErrCorrupt,
// ErrOlder, ErrNewer and ErrOtherPlan, wrapped.
func Decode(message []byte, ws []workload.Workload) (*Report, error) {
	kind, body, err := unframe(strings.TrimSpace(string(message)))
	if err != nil {
		return nil, err
	}
	if kind == kindFailure {
		reason, text, ok := strings.Cut(body, ": ")
		if !ok {
			return nil, fmt.Errorf("%w: a failure without a reason", ErrCorrupt)
		}
		return nil, &Failure{Reason: Reason(reason), Message: text}
	}
	payload, err := decodeText(body)
	if err != nil {
		return nil, err
	}
	return unmarshal(payload, ws)
}

func unframe(message string) (kind, body string, err error) {
	if message == "" {
		return "", "", ErrEmpty
	}
	if len(message) > MaxMessageBytes {
		return "", "", fmt.Errorf("%w: %d bytes, at most %d", ErrCorrupt, len(message), MaxMessageBytes)
	}
	rest, ok := strings.CutPrefix(message, messagePrefix)
	parts := strings.SplitN(rest, " ", 4)
	version, err := strconv.Atoi(parts[0])
	if !ok || err != nil {
		return "", "", fmt.Errorf("%w: it begins with %q", ErrCorrupt, cut(message, 40))
	}
	if version > messageVersion {
		return "", "", fmt.Errorf("%w (form %d, this program knows %d)", ErrNewer, version, messageVersion)
	}
	if version < messageVersion {
		return "", "", fmt.Errorf("%w (form %d, this program knows %d)", ErrOlder, version, messageVersion)
	}
	if len(parts) != 4 {
		return "", "", fmt.Errorf("%w: %d bytes, ends too early", ErrCorrupt, len(message))
	}
	kind, body = parts[1], parts[3]
	if want := fmt.Sprintf("%08x", checksum(kind, body)); parts[2] != want {
		return "", "", fmt.Errorf("%w: %d bytes, the checksum says %.8s and is %s", ErrCorrupt, len(message), parts[2], want)
	}
	if kind != kindReport && kind != kindFailure {
		return "", "", fmt.Errorf("%w: it is of the unknown kind %q", ErrCorrupt, cut(kind, 10))
	}
	return kind, body, nil
}

// cut shortens s to at most n bytes of valid UTF-8. White space at the ends does not survive a
// message anyway.
func cut(s string, n int) string {
	s = strings.TrimSpace(strings.ToValidUTF8(s, "?"))
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return strings.TrimSpace(s[:n])
}
