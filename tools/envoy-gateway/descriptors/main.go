// Writes the descriptors of the messages that `attempt-router serve` reads and writes as a gzipped FileDescriptorSet:
// Envoy Gateway's extension service, and every message of Envoy's that `lower` knows. Run by `npm run generate:descriptors`.
package main

import (
	"bytes"
	"compress/gzip"
	"log"
	"os"
	"slices"

	"github.com/envoyproxy/gateway/proto/extension"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	_ "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	aggregate "github.com/envoyproxy/go-control-plane/envoy/extensions/clusters/aggregate/v3"
	composite "github.com/envoyproxy/go-control-plane/envoy/extensions/clusters/composite/v3"
	credential "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/credential_injector/v3"
	mutation "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/header_mutation/v3"
	lua "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/lua/v3"
	rbac "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	router "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	state "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/set_filter_state/v3"
	codec "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/upstream_codec/v3"
	wasm "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/wasm/v3"
	manager "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	early "github.com/envoyproxy/go-control-plane/envoy/extensions/http/early_header_mutation/header_mutation/v3"
	generic "github.com/envoyproxy/go-control-plane/envoy/extensions/http/injected_credentials/generic/v3"
	allow "github.com/envoyproxy/go-control-plane/envoy/extensions/internal_redirect/allow_listed_routes/v3"
	inputs "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/common_inputs/network/v3"
	matcher "github.com/envoyproxy/go-control-plane/envoy/extensions/router/cluster_specifiers/matcher/v3"
	groups "github.com/envoyproxy/go-control-plane/envoy/extensions/router/cluster_specifiers/priority_group/v3"
	tls "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	upstreams "github.com/envoyproxy/go-control-plane/envoy/extensions/upstreams/http/v3"
	typematcher "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
)

// What an Any may hold that is read or written; any other passes as its bytes.
var roots = []protoreflect.FileDescriptor{
	extension.File_proto_extension_service_proto,
	aggregate.File_envoy_extensions_clusters_aggregate_v3_cluster_proto,
	composite.File_envoy_extensions_clusters_composite_v3_cluster_proto,
	credential.File_envoy_extensions_filters_http_credential_injector_v3_credential_injector_proto,
	mutation.File_envoy_extensions_filters_http_header_mutation_v3_header_mutation_proto,
	lua.File_envoy_extensions_filters_http_lua_v3_lua_proto,
	rbac.File_envoy_extensions_filters_http_rbac_v3_rbac_proto,
	router.File_envoy_extensions_filters_http_router_v3_router_proto,
	state.File_envoy_extensions_filters_http_set_filter_state_v3_set_filter_state_proto,
	codec.File_envoy_extensions_filters_http_upstream_codec_v3_upstream_codec_proto,
	wasm.File_envoy_extensions_filters_http_wasm_v3_wasm_proto,
	manager.File_envoy_extensions_filters_network_http_connection_manager_v3_http_connection_manager_proto,
	early.File_envoy_extensions_http_early_header_mutation_header_mutation_v3_header_mutation_proto,
	generic.File_envoy_extensions_http_injected_credentials_generic_v3_generic_proto,
	allow.File_envoy_extensions_internal_redirect_allow_listed_routes_v3_allow_listed_routes_config_proto,
	inputs.File_envoy_extensions_matching_common_inputs_network_v3_network_inputs_proto,
	matcher.File_envoy_extensions_router_cluster_specifiers_matcher_v3_matcher_proto,
	groups.File_envoy_extensions_router_cluster_specifiers_priority_group_v3_priority_group_proto,
	tls.File_envoy_extensions_transport_sockets_tls_v3_tls_proto,
	upstreams.File_envoy_extensions_upstreams_http_v3_http_protocol_options_proto,
	typematcher.File_envoy_type_matcher_v3_http_inputs_proto,
}

func main() {
	set := &descriptorpb.FileDescriptorSet{}
	seen := map[string]bool{}
	for _, root := range roots {
		add(set, seen, root)
	}
	raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(set)
	if err != nil {
		log.Fatal(err)
	}
	var out bytes.Buffer
	writer, _ := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if _, err := writer.Write(raw); err != nil {
		log.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(os.Args[1], out.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}

// Imported files come first, as whoever reads the set needs them.
func add(set *descriptorpb.FileDescriptorSet, seen map[string]bool, file protoreflect.FileDescriptor) {
	if seen[file.Path()] {
		return
	}
	seen[file.Path()] = true
	imports := file.Imports()
	for i := range imports.Len() {
		if keeps(imports.Get(i)) {
			add(set, seen, imports.Get(i).FileDescriptor)
		}
	}
	set.File = append(set.File, lean(protodesc.ToFileDescriptorProto(file)))
}

// Files that hold nothing but options, which are left out.
var optionFiles = []string{
	"google/protobuf/descriptor.proto", "validate/validate.proto",
	"udpa/annotations/", "xds/annotations/", "envoy/annotations/",
}

func keeps(file protoreflect.FileImport) bool {
	return !isOptionFile(file.Path())
}

func isOptionFile(path string) bool {
	return slices.ContainsFunc(optionFiles, func(prefix string) bool {
		return len(path) >= len(prefix) && path[:len(prefix)] == prefix
	})
}

// Without options, save those that say how bytes are written.
func lean(file *descriptorpb.FileDescriptorProto) *descriptorpb.FileDescriptorProto {
	file.Options = nil
	file.Dependency = slices.DeleteFunc(file.Dependency, isOptionFile)
	file.PublicDependency, file.WeakDependency = nil, nil
	file.Extension = nil
	leanEnums(file.EnumType)
	leanMessages(file.MessageType)
	for _, service := range file.Service {
		service.Options = nil
		for _, method := range service.Method {
			method.Options = nil
		}
	}
	return file
}

func leanMessages(messages []*descriptorpb.DescriptorProto) {
	for _, message := range messages {
		if message.Options.GetMapEntry() {
			message.Options = &descriptorpb.MessageOptions{MapEntry: proto.Bool(true)}
		} else {
			message.Options = nil
		}
		message.Extension = nil
		for _, field := range message.Field {
			if field.Options != nil && field.Options.Packed != nil {
				field.Options = &descriptorpb.FieldOptions{Packed: field.Options.Packed}
			} else {
				field.Options = nil
			}
		}
		for _, oneof := range message.OneofDecl {
			oneof.Options = nil
		}
		leanEnums(message.EnumType)
		leanMessages(message.NestedType)
	}
}

func leanEnums(enums []*descriptorpb.EnumDescriptorProto) {
	for _, enum := range enums {
		enum.Options = nil
		for _, value := range enum.Value {
			value.Options = nil
		}
	}
}
