import type { KnownDataPlane } from '../../hybrid/known-data-plane.ts';
import type { AdminDependencies } from '../contract.ts';
import { type AdminRoute, ok } from '../http/admin-route.ts';
import { refusing } from './static-responses.ts';

const onlyControlPlanes =
  'this endpoint is only available when Kong is configured to run as Control Plane for the cluster';
const paths = ['/clustering/data-planes', '/clustering/status'] as const;

/** `/clustering/...`: the data planes of a control plane, with Kong's fields. */
export function dataPlaneRoutes({ dataPlanes }: AdminDependencies): readonly AdminRoute[] {
  if (dataPlanes === null) return paths.map((path) => refusing(path, ['GET'], onlyControlPlanes));
  return [
    {
      path: '/clustering/data-planes',
      tag: 'node',
      operations: {
        GET: {
          access: 'read',
          handle: async () => ok({ data: (await dataPlanes()).map(shown), next: null }),
          notes: { summary: 'Data planes, whichever control plane they are connected to', answer: 'object' },
        },
      },
    },
    {
      path: '/clustering/status',
      tag: 'node',
      operations: {
        GET: {
          access: 'read',
          handle: async () => ({
            status: 200,
            json: Object.fromEntries((await dataPlanes()).map((node) => [node.id, inShort(node)])),
            headers: { Deprecation: 'true' },
          }),
          notes: { summary: 'Data planes by id; use /clustering/data-planes', answer: 'object' },
        },
      },
    },
  ];
}

const seconds = (milliseconds: number): number => Math.floor(milliseconds / 1000);

function shown(node: KnownDataPlane) {
  const { id, ip, hostname, version, configHash, seenAt, labels, certificateExpiry, ttl } = node;
  return {
    id,
    ip,
    hostname,
    version,
    config_hash: configHash,
    last_seen: seconds(seenAt),
    updated_at: seconds(seenAt),
    sync_status: statusOf(node),
    labels,
    cert_details: certificateExpiry === null ? {} : { expiry_timestamp: seconds(certificateExpiry) },
    rpc_capabilities: [],
    ttl: Math.max(0, seconds(ttl)),
  };
}

function inShort({ ip, hostname, configHash, seenAt }: KnownDataPlane) {
  return { ip, hostname, config_hash: configHash, last_seen: seconds(seenAt) };
}

function statusOf({ refused, configHash }: KnownDataPlane): string {
  if (refused !== null) return 'kong_version_incompatible';
  return /^0+$/.test(configHash) ? 'unknown' : 'normal';
}
