#!/usr/bin/env bash
# run.sh NAME: one function of Kubernetes' command tests, on a server that runs already.
#
# The tests are started by hack/make-rules/test-cmd.sh, which builds and starts a server of its own; this stands in its
# place. It is run in the directory with the scripts, and told by the environment:
#   KUBECONFIG   the server's, whose root certificate is taken for the one that the tests look for
#   TMPDIR       a directory of its own
#   SECURE_API_PORT
chosen=$1
set --

# The kubectl under test need not be of the same commit as the server.
export ALLOW_SKEW=1 KUBE_JUNIT_REPORT_DIR=$TMPDIR/junit
source hack/lib/init.sh
source hack/lib/test.sh
source test/cmd/legacy-script.sh

kube::util::ensure-temp-dir
# Their own search for GNU sed closes a pipe early, and now and then takes that for an answer.
SED=sed
trap 'stop-proxy >/dev/null 2>&1; rm -rf "$KUBE_TEMP"' EXIT
kubectl config view --raw --flatten --output 'jsonpath={.clusters[0].cluster.certificate-authority-data}' |
  base64 -d > "$TMPDIR/apiserver.crt"

# As its own setup does, without building and starting anything. The token is that of hack/testdata/auth-tokens.csv.
unset KUBECONFIG
HOME=$KUBE_TEMP
CONTEXT=test
kubectl config set-credentials test-admin --token admin-token
kubectl config set-cluster local --insecure-skip-tls-verify --server "https://127.0.0.1:$SECURE_API_PORT"
kubectl config set-context "$CONTEXT" --user test-admin --cluster local
kubectl config use-context "$CONTEXT"
# Their server lets everybody do everything; this is the same for those whom they act as and ask about.
kubectl create clusterrolebinding everybody --clusterrole=cluster-admin --group=system:authenticated --group=the-group ||
  kubectl get clusterrolebinding everybody
kubectl get node 127.0.0.1 2>/dev/null || kubectl create -f - << __EOF__
{"kind": "Node", "apiVersion": "v1", "metadata": {"name": "127.0.0.1", "annotations": {"save-managers": "true"}},
 "status": {"capacity": {"memory": "1Gi"}}}
__EOF__
export SUPPORTED_RESOURCES=("*")
# Most functions make a namespace and leave it to the next, which may count on one that is empty.
create_and_use_new_namespace
# So late do the others come that the node has been given up.
if [ "$chosen" = run_nodes_tests ]; then
  kubectl wait --for=condition=Ready=Unknown node/127.0.0.1 --timeout=120s
fi

if [ "$chosen" = inline ]; then
  # What stands between the calls of the functions.
  record_command() { :; }
else
  # Only names of one form can be asked for.
  run_this_tests() { "$chosen"; }
  export WHAT=this
fi
runTests
