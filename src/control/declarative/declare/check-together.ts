import type { Row } from '../../../shared/entities/entity.ts';
import { protocolProblem } from '../../../shared/entities/plugins.ts';
import { foreignId, texts } from '../../../shared/entities/row-fields.ts';
import type { ErrorTree } from '../../../shared/schema/validate.ts';
import type { ConfigRows } from '../contract.ts';
import type { Entry } from './entry.ts';
import type { Pace } from './pace.ts';

/*
 * Rules over several entities, as the Admin API has them in its extras of entities: protocols of plugins and routes; authorities that
 * services name in a list of ids, which no foreign key protects.
 */

type Entries = ReadonlyMap<string, readonly Entry[]>;

export interface Misfit {
  readonly entry: Entry;
  readonly errors: ErrorTree;
}

/** The entries whose rows do not fit the others. */
export async function findMisfits(entries: Entries, current: ConfigRows, pace: Pace): Promise<readonly Misfit[]> {
  return [...(await misfitPlugins(entries, pace)), ...(await lostAuthorities(entries, current, pace))];
}

async function misfitPlugins(entries: Entries, pace: Pace): Promise<readonly Misfit[]> {
  const plugins = entries.get('plugins') ?? [];
  if (plugins.length === 0) return [];
  const byId = new Map<string, Row>();
  const byService = new Map<string, Row[]>();
  for (const { row } of entries.get('routes') ?? []) {
    const wait = pace();
    if (wait !== null) await wait;
    if (row === null) continue;
    byId.set(row.id, row);
    const service = foreignId(row, 'service');
    if (service === null) continue;
    const list = byService.get(service);
    if (list === undefined) byService.set(service, [row]);
    else list.push(row);
  }
  const found: Misfit[] = [];
  for (const entry of plugins) {
    const wait = pace();
    if (wait !== null) await wait;
    if (entry.row === null) continue;
    const route = foreignId(entry.row, 'route');
    const service = foreignId(entry.row, 'service');
    const rows = route !== null ? [byId.get(route)] : service !== null ? byService.get(service) : [];
    const routes = (rows ?? []).filter((row) => row !== undefined).map((row) => ({ protocols: protocolsOf(row) }));
    const problem = protocolProblem(protocolsOf(entry.row), route !== null ? 'route' : 'service', routes);
    if (problem !== null) found.push({ entry, errors: { protocols: problem } });
  }
  return found;
}

function protocolsOf(row: Row): readonly string[] {
  return texts(row, 'protocols') ?? [];
}

/** A service must not name an authority that the document removes; one that never existed is accepted, as in Kong. */
async function lostAuthorities(
  entries: Entries,
  { ca_certificates: current = [] }: ConfigRows,
  pace: Pace,
): Promise<readonly Misfit[]> {
  if (current.length === 0) return [];
  const lost = new Set(current.map(({ id }) => id));
  for (const { id } of entries.get('ca_certificates') ?? []) lost.delete(id);
  if (lost.size === 0) return [];
  const found: Misfit[] = [];
  for (const entry of entries.get('services') ?? []) {
    const wait = pace();
    if (wait !== null) await wait;
    const id = entry.row === null ? undefined : texts(entry.row, 'ca_certificates')?.find((one) => lost.has(one));
    if (id === undefined) continue;
    const message = `ca certificate ${id} is still referenced by services (id = ${entry.id})`;
    found.push({ entry, errors: { ca_certificates: message } });
  }
  return found;
}
