import type { NodeReport } from '../../control/nodes/node-report.ts';
import type { Migrations } from '../../control/store/open-migrations.ts';

/** Milliseconds without a report after which a node does not count as running. */
const silentFor = 30_000;

/** The nodes that have reported in the store lately. */
export async function reportingNodes(migrations: Migrations): Promise<readonly NodeReport[]> {
  const { now, nodes } = await migrations.nodes();
  return nodes.filter(({ seenAt }) => now - seenAt < silentFor).map(({ data }) => JSON.parse(data) as NodeReport);
}
