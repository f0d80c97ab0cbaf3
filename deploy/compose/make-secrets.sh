#!/bin/sh
# Writes a random secret for each service into secrets/, next to this script. Existing files stay.
# The files are readable by all, because Compose mounts them as they are and each service runs as a user of its own. The
# folder is open to its owner alone.
set -eu
cd "$(dirname "$0")"
mkdir -p -m 0700 secrets
random() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }
write() { [ -e "secrets/$1" ] || printf "$2\n" "$(random)" >"secrets/$1"; chmod 0444 "secrets/$1"; }
write pg_password '%s'
write admin_token '%s'
write grafana_password '%s'
write redis.conf 'requirepass %s'
