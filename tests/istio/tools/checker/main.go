// Command checker reads manifests from standard input, YAML documents, and fails where one has a field that the types of
// Istio or Envoy Gateway do not have, or a value that these types refuse.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	gateway "github.com/envoyproxy/gateway/api/v1alpha1"
	"google.golang.org/protobuf/encoding/protojson"
	networking "istio.io/api/networking/v1alpha3"
	"k8s.io/apimachinery/pkg/util/yaml"
	strict "sigs.k8s.io/yaml"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	input, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	decoder := yaml.NewDocumentDecoder(io.NopCloser(bytes.NewReader(input)))
	buffer := make([]byte, len(input)+1)
	for {
		size, err := decoder.Read(buffer)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := check(buffer[:size]); err != nil {
			return err
		}
	}
}

func check(document []byte) error {
	var manifest struct {
		Kind string          `json:"kind"`
		Spec json.RawMessage `json:"spec"`
	}
	if err := strict.Unmarshal(document, &manifest); err != nil {
		return err
	}
	switch manifest.Kind {
	case "EnvoyFilter":
		return protojson.Unmarshal(manifest.Spec, &networking.EnvoyFilter{})
	case "EnvoyExtensionPolicy":
		return strict.UnmarshalStrict(document, &gateway.EnvoyExtensionPolicy{})
	case "EnvoyPatchPolicy":
		return strict.UnmarshalStrict(document, &gateway.EnvoyPatchPolicy{})
	}
	return fmt.Errorf("unknown kind %q", manifest.Kind)
}
