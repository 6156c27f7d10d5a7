// Command server is an xDS control plane for tests: go-control-plane's ADS server over a snapshot cache.
//
// It reads DiscoveryResponses from standard input, one in JSON form a line. Each is a whole snapshot: listeners, routes,
// clusters and endpoints together. It writes JSON lines: {"port": N} first, then for every answer of Envoy
// {"type": TYPE_URL, "version": V} or the same with "error". The end of standard input ends it.
package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"sync"

	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	"github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/server/v3"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	// Types that stand in an Any must be linked in to be read from JSON.
	_ "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/header_mutation/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/upstream_codec/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/wasm/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/http/early_header_mutation/header_mutation/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/common_inputs/network/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/router/cluster_specifiers/matcher/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/upstreams/http/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
)

const (
	nodeID      = "test"
	maxSnapshot = 16 << 20
)

var kinds = [types.UnknownType]string{}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	for kind := range kinds {
		url, err := cache.GetResponseTypeURL(types.ResponseType(kind))
		if err != nil {
			return err
		}
		kinds[kind] = url
	}
	snapshots := cache.NewSnapshotCache(true, cache.IDHash{}, nil)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	out := &lines{encoder: json.NewEncoder(os.Stdout)}
	grpcServer := grpc.NewServer()
	ads := server.NewServer(context.Background(), snapshots, out.callbacks())
	discovery.RegisterAggregatedDiscoveryServiceServer(grpcServer, ads)
	go func() { _ = grpcServer.Serve(listener) }()
	defer grpcServer.Stop()
	out.write(map[string]any{"port": listener.Addr().(*net.TCPAddr).Port})
	return follow(snapshots)
}

// follow makes a snapshot of every line of standard input.
func follow(snapshots cache.SnapshotCache) error {
	scanner := bufio.NewScanner(os.Stdin)
	scanner.Buffer(nil, maxSnapshot)
	for scanner.Scan() {
		snapshot, err := snapshotOf(scanner.Bytes())
		if err != nil {
			return err
		}
		if err := snapshots.SetSnapshot(context.Background(), nodeID, snapshot); err != nil {
			return err
		}
	}
	return scanner.Err()
}

// snapshotOf gives each type of resource a version of its own, so that Envoy is sent only the types that changed.
func snapshotOf(line []byte) (*cache.Snapshot, error) {
	var response discovery.DiscoveryResponse
	if err := protojson.Unmarshal(line, &response); err != nil {
		return nil, err
	}
	byType := map[string][]types.Resource{}
	for _, item := range response.Resources {
		resource, err := item.UnmarshalNew()
		if err != nil {
			return nil, err
		}
		byType[item.TypeUrl] = append(byType[item.TypeUrl], resource)
	}
	snapshot := &cache.Snapshot{}
	for kind, url := range kinds {
		version, err := versionOf(byType[url])
		if err != nil {
			return nil, err
		}
		snapshot.Resources[kind] = cache.NewResources(version, byType[url])
	}
	return snapshot, snapshot.Consistent()
}

func versionOf(resources []types.Resource) (string, error) {
	digest := sha256.New()
	for _, resource := range resources {
		bytes, err := proto.MarshalOptions{Deterministic: true}.Marshal(resource)
		if err != nil {
			return "", err
		}
		digest.Write(bytes)
	}
	return hex.EncodeToString(digest.Sum(nil)[:8]), nil
}

// lines writes JSON lines from several goroutines.
type lines struct {
	mutex   sync.Mutex
	encoder *json.Encoder
}

func (l *lines) write(line map[string]any) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	_ = l.encoder.Encode(line)
}

func (l *lines) callbacks() server.Callbacks {
	return server.CallbackFuncs{StreamRequestFunc: func(_ int64, request *discovery.DiscoveryRequest) error {
		if request.ResponseNonce == "" {
			return nil
		}
		line := map[string]any{"type": request.TypeUrl, "version": request.VersionInfo}
		if request.ErrorDetail != nil {
			line["error"] = request.ErrorDetail.Message
		}
		l.write(line)
		return nil
	}}
}
