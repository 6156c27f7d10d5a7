package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/anypb"
)

// Lowerer is one running attempt-router.
type Lowerer struct {
	in  io.Writer
	out *bufio.Reader
}

// Lower takes all resources of a snapshot together; what comes back is in the same order, with added ones at the end.
func (l *Lowerer) Lower(native []*anypb.Any) ([]*anypb.Any, error) {
	var line struct {
		Resources []json.RawMessage                `json:"resources"`
		Errors    []struct{ Path, Message string } `json:"errors,omitempty"`
	}
	for _, resource := range native {
		text, err := protojson.Marshal(resource)
		if err != nil {
			return nil, err
		}
		line.Resources = append(line.Resources, text)
	}
	if err := json.NewEncoder(l.in).Encode(line); err != nil {
		return nil, err
	}
	answer, err := l.out.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	line.Resources = nil
	if err := json.Unmarshal(answer, &line); err != nil {
		return nil, err
	}
	var wrong error
	for _, e := range line.Errors {
		wrong = errors.Join(wrong, fmt.Errorf("%s: %s", e.Path, e.Message))
	}
	lowered := make([]*anypb.Any, len(line.Resources))
	for i, text := range line.Resources {
		lowered[i] = &anypb.Any{}
		wrong = errors.Join(wrong, protojson.Unmarshal(text, lowered[i]))
	}
	return lowered, wrong
}
