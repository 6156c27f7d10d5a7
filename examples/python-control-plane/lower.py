"""A control plane in Python: every snapshot passes through one `attempt-router serve --stdio`, which the arguments start."""

import json
import subprocess
import sys

ROUTES = "type.googleapis.com/envoy.config.route.v3.RouteConfiguration"
GROUPS = "type.googleapis.com/envoy.extensions.router.cluster_specifiers.priority_group.v3.PriorityGroupClusterSpecifier"


class Lowerer:
    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def lower(self, resources):
        """All resources of a snapshot, each with its @type; they come back in the same order, with added ones at the end."""
        self.process.stdin.write(json.dumps({"resources": resources}) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if "errors" in answer:
            raise ValueError("\n".join(f"{error['path']}: {error['message']}" for error in answer["errors"]))
        return answer["resources"]


def routes(clusters):
    """The native resource of some priority groups of one cluster each."""
    groups = [{"name": name, "clusters": [{"cluster_name": name, "weight": 1}]} for name in clusters]
    extension = {"name": "priority_group", "typed_config": {"@type": GROUPS, "priority_groups": groups}}
    retries = {"retry_on": "5xx", "refresh_cluster_on_retry": True}
    action = {"inline_cluster_specifier_plugin": {"extension": extension}, "retry_policy": retries}
    host = {"name": "all", "domains": ["*"], "routes": [{"match": {"prefix": "/"}, "route": action}]}
    return {"@type": ROUTES, "name": "routes", "virtual_hosts": [host]}


lowerer = Lowerer(sys.argv[1:])
for clusters in ["provider_a", "provider_b"], []:
    try:
        lowered = lowerer.lower([routes(clusters)])
    except ValueError as error:
        print("refused:", error)  # keep the last snapshot
        continue
    action = lowered[0]["virtual_hosts"][0]["routes"][0]["route"]
    print("lowered:", action["inline_cluster_specifier_plugin"]["extension"]["name"])
