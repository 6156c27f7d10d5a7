// A go-control-plane control plane that keeps native resources and sends lowered ones: every snapshot passes through one
// `attempt-router serve --stdio`, whose command line is this program's.
package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/router/cluster_specifiers/matcher/v3"
	groupsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/router/cluster_specifiers/priority_group/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
)

func main() {
	command := exec.Command(os.Args[1], os.Args[2:]...)
	command.Stderr = os.Stderr
	in, _ := command.StdinPipe()
	out, _ := command.StdoutPipe()
	check(command.Start())
	lowerer := &Lowerer{in, bufio.NewReader(out)}
	for _, groups := range [][]string{{"provider_a", "provider_b"}, {}} {
		lowered, err := lowerer.Lower([]*anypb.Any{pack(routes(groups))})
		if err != nil {
			fmt.Println("refused:", err) // keep the last snapshot
			continue
		}
		config := &routev3.RouteConfiguration{}
		check(lowered[0].UnmarshalTo(config)) // goes into cache.NewSnapshot, with the other resources
		specifier := config.VirtualHosts[0].Routes[0].GetRoute().GetInlineClusterSpecifierPlugin().GetExtension()
		check(specifier.TypedConfig.UnmarshalTo(&matcherv3.MatcherClusterSpecifier{}))
		fmt.Println("lowered:", specifier.Name)
	}
	check(in.Close())
	check(command.Wait())
}

// routes is the native resource of some priority groups of one cluster each.
func routes(clusters []string) *routev3.RouteConfiguration {
	groups := &groupsv3.PriorityGroupClusterSpecifier{}
	for _, name := range clusters {
		text := fmt.Sprintf(`{"name": %q, "clusters": [{"cluster_name": %q, "weight": 1}]}`, name, name)
		group := &groupsv3.PriorityGroup{}
		check(protojson.Unmarshal([]byte(text), group))
		groups.PriorityGroups = append(groups.PriorityGroups, group)
	}
	config := &routev3.RouteConfiguration{}
	check(protojson.Unmarshal([]byte(`{"name": "routes", "virtual_hosts": [{"name": "all", "domains": ["*"], "routes": [
	  {"match": {"prefix": "/"}, "route": {"retry_policy": {"retry_on": "5xx", "refresh_cluster_on_retry": true},
	    "inline_cluster_specifier_plugin": {"extension": {"name": "envoy.router.cluster_specifier_plugin.priority_group"}}}}]}]}`), config))
	config.VirtualHosts[0].Routes[0].GetRoute().GetInlineClusterSpecifierPlugin().Extension.TypedConfig = pack(groups)
	return config
}

func pack(message proto.Message) *anypb.Any {
	packed, err := anypb.New(message)
	check(err)
	return packed
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
