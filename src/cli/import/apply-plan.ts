import { covers } from '../../control/apis/plan/covers.ts';
import type { Plan } from '../../control/apis/plan/plan-api.ts';
import { isJsonObject, type JsonObject } from '../../plugin-kit/json/json.ts';
import type { AdminClient } from '../admin-api/admin-client.ts';
import { CliError } from '../cli-error.ts';

type Outcome = 'created' | 'updated' | 'unchanged';

/**
 * Writes the differences. `api`: fields of the API that stands for the document; null: there is none. An existing entity keeps the fields that the document does not set. A second run changes nothing.
 */
export async function applyPlan(
  plan: Plan,
  api: JsonObject | null,
  admin: AdminClient,
  out: (line: string) => void,
): Promise<void> {
  const counts: Record<Outcome, number> = { created: 0, updated: 0, unchanged: 0 };
  const put = async (what: string, path: string, fields: JsonObject): Promise<string> => {
    const { outcome, id } = await writeEntity(admin, path, fields);
    counts[outcome]++;
    if (outcome !== 'unchanged') out(`${what}: ${outcome}`);
    return id;
  };
  const servicePath = `/services/${encodeURIComponent(plan.service)}`;
  await refuseForeignRoutes(plan, admin, servicePath);
  const serviceId = await put(`service ${plan.service}`, servicePath, plan.fields);
  const service = { service: { id: serviceId } };
  for (const { id, fields } of plan.plugins) {
    await put(`plugin ${fields['name']} of ${plan.service}`, `/plugins/${id}`, { ...fields, ...service });
  }
  for (const route of plan.routes) {
    const routeId = await put(`route ${route.name}`, routePath(route.name), { ...route.fields, ...service });
    for (const { id, fields } of route.plugins) {
      await put(`plugin ${fields['name']} of ${route.name}`, `/plugins/${id}`, { ...fields, route: { id: routeId } });
    }
  }
  if (api !== null) {
    await put(`api ${plan.service}`, `/apis/${encodeURIComponent(plan.service)}`, { ...api, ...service });
  }
  await reportLeftOvers(plan, admin, servicePath, out);
  out(`${counts.created} created, ${counts.updated} updated, ${counts.unchanged} unchanged`);
}

async function writeEntity(
  admin: AdminClient,
  path: string,
  fields: JsonObject,
): Promise<{ readonly outcome: Outcome; readonly id: string }> {
  const known = await admin.find(path);
  if (known === null) return { outcome: 'created', id: String((await admin.write('PUT', path, fields))['id']) };
  const changed = Object.entries(fields).filter(([name, value]) => !covers(known[name] ?? null, value));
  if (changed.length > 0) await admin.write('PATCH', path, Object.fromEntries(changed));
  return { outcome: changed.length > 0 ? 'updated' : 'unchanged', id: String(known['id']) };
}

/** Before anything is written. */
async function refuseForeignRoutes(plan: Plan, admin: AdminClient, servicePath: string): Promise<void> {
  const serviceId = (await admin.find(servicePath))?.['id'];
  for (const { name } of plan.routes) {
    const service = (await admin.find(routePath(name)))?.['service'];
    if (service === undefined || (isJsonObject(service) && service['id'] === serviceId)) continue;
    throw new CliError(`route ${name} belongs to another service: choose other names with --route-prefix`);
  }
}

function routePath(name: string): string {
  return `/routes/${encodeURIComponent(name)}`;
}

/** Reports routes of an earlier document. Only the operator may remove them. */
async function reportLeftOvers(
  plan: Plan,
  admin: AdminClient,
  servicePath: string,
  out: (line: string) => void,
): Promise<void> {
  const names = new Set(plan.routes.map(({ name }) => name));
  let next: string | null = `${servicePath}/routes?size=1000`;
  while (next !== null) {
    const page: JsonObject | null = await admin.find(next);
    for (const route of Array.isArray(page?.['data']) ? page['data'] : []) {
      const name = isJsonObject(route) ? route['name'] : null;
      if (typeof name === 'string' && !names.has(name)) out(`route ${name}: not in the document, left unchanged`);
    }
    next = typeof page?.['next'] === 'string' ? page['next'] : null;
  }
}
