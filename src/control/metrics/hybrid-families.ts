import type { MetricFamily } from '../../plugin-sdk/metrics.ts';
import type { KnownDataPlane } from '../hybrid/known-data-plane.ts';
import type { CoreFacts } from './core-facts.ts';
import { gauge, type Point } from './families.ts';
import { withTimeout } from './with-timeout.ts';

/** Timeout in milliseconds for an answer of the store. */
const answerTimeout = 1000;
/** Hexadecimal digits of the hash that a floating-point number represents exactly. */
const hashDigits = 13;

/** Kong's metrics of a control plane about its data planes, and of a data plane about its connection. None on other nodes. */
export async function hybridFamilies({
  dataPlanes,
  clusterCertificateExpiry,
}: HybridFacts): Promise<readonly MetricFamily[]> {
  const families: MetricFamily[] = [];
  if (clusterCertificateExpiry !== undefined) {
    families.push(
      gauge(
        'kong_data_plane_cluster_cert_expiry_timestamp',
        "Unix timestamp of Data Plane's cluster_cert expiry time",
        [],
        [[Math.floor(clusterCertificateExpiry / 1000)]],
      ),
    );
  }
  if (dataPlanes === undefined) return families;
  const known = await withTimeout(dataPlanes(), answerTimeout, () => []);
  return [...families, ...familiesOf(known)];
}

export type HybridFacts = Pick<CoreFacts, 'dataPlanes' | 'clusterCertificateExpiry'>;

function familiesOf(known: readonly KnownDataPlane[]): readonly MetricFamily[] {
  const labels = ['node_id', 'hostname', 'ip'];
  const points = (value: (node: KnownDataPlane) => number): readonly Point[] =>
    known.map((node): Point => [node.id, node.hostname, node.ip, value(node)]);
  return [
    gauge('kong_data_plane_last_seen', 'Last time data plane contacted control plane', labels, points(seenAt)),
    gauge('kong_data_plane_config_hash', 'Config hash numeric value of the data plane', labels, points(hashNumber)),
    gauge(
      'kong_data_plane_version_compatible',
      'Version compatible status of the data plane, 0 is incompatible',
      [...labels, 'kong_version'],
      known.map((node): Point => {
        return [node.id, node.hostname, node.ip, node.version, node.refused === null ? 1 : 0];
      }),
    ),
  ];
}

function seenAt(node: KnownDataPlane): number {
  return Math.floor(node.seenAt / 1000);
}

function hashNumber(node: KnownDataPlane): number {
  return Number.parseInt(node.configHash.slice(0, hashDigits), 16);
}
