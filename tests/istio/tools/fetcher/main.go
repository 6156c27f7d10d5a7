// Command fetcher pulls a Wasm image with the fetcher of Istio's agent and writes the module to a file.
//
// Usage: fetcher IMAGE FILE. IMAGE is a reference without the oci:// of a WasmPlugin.
package main

import (
	"context"
	"fmt"
	"os"

	"istio.io/istio/pkg/wasm"
)

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(image, file string) error {
	fetch, _, err := wasm.NewImageFetcher(context.Background(), wasm.ImageFetcherOption{}).PrepareFetch(image)
	if err != nil {
		return err
	}
	module, err := fetch()
	if err != nil {
		return err
	}
	return os.WriteFile(file, module, 0o600)
}
