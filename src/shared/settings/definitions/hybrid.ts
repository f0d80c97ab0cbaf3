import { hostPorts, nodeLabels } from '../kinds/hybrid-kinds.ts';
import { duration, integer, oneOf, optionalString } from '../kinds/kinds.ts';
import { listen } from '../kinds/listen.ts';
import { kong, own } from './definition.ts';

export const hybrid = {
  cluster_mtls: kong(
    oneOf(['shared', 'pki']),
    'shared',
    'How control planes and data planes authenticate each other. `shared`: all of them have the same certificate. `pki`: each has its own, signed by an authority in `cluster_ca_cert`.',
  ),
  cluster_cert: kong(
    optionalString,
    '',
    'Certificate for the connection between control planes and data planes: a file, PEM text or base64 of PEM. `sluicegate hybrid gen_cert` generates one.',
  ),
  cluster_cert_key: kong(optionalString, '', 'Private key of `cluster_cert`.', { secret: true }),
  cluster_ca_cert: kong(
    optionalString,
    '',
    'Authorities that sign the certificates of both ends, for `cluster_mtls = pki`: a file, PEM text or base64 of PEM.',
  ),
  cluster_server_name: kong(
    optionalString,
    '',
    'Name in the certificate of control planes, for `cluster_mtls = pki` on a data plane. Default: the host in `cluster_control_plane`.',
  ),
  cluster_listen: kong(
    listen,
    '0.0.0.0:8005',
    'Listeners of a control plane for its data planes. They always have TLS.',
  ),
  cluster_control_plane: kong(
    hostPorts,
    '127.0.0.1:8005',
    'Control planes of a data plane, the preferred one first: `cp-1.internal:8005, cp-2.internal:8005`. The data plane connects to one of them.',
  ),
  cluster_dp_labels: kong(
    nodeLabels,
    '',
    'Labels of a data plane, shown by its control planes: `region:eu-west, tier:edge`.',
  ),
  cluster_max_payload: kong(
    integer(4_194_304, 1_073_741_824),
    '16777216',
    'Maximum size of a message between control plane and data plane, in bytes. A message that names many rows is sent in parts of this size.',
  ),
  cluster_data_plane_purge_delay: kong(
    integer(60, 1_000_000_000),
    '1209600',
    'How many seconds a data plane that no longer reports stays in `GET /clustering/data-planes`.',
  ),
  cluster_timeout: own(
    duration('ms'),
    '5s',
    'How long a data plane waits for an answer of its control plane, and for a connection to it.',
  ),
} as const;
