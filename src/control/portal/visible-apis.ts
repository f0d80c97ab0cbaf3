import type { Row } from '../../shared/entities/entity.ts';
import { foreignId, isEnabled, text, texts } from '../../shared/entities/row-fields.ts';
import { effectivePlugins } from '../apis/demands/effective-plugins.ts';
import { type ApiSurroundings, describeApi, readSurroundings } from '../apis/describe-api.ts';
import type { ReferenceCache } from '../apis/reference/reference-cache.ts';
import type { StoreReader } from '../store/store.ts';
import { PortalError } from './portal-request.ts';

/** APIs that are regarded, and memberships of one consumer. */
const maxApis = 1_000;
const maxGroups = 1_000;

/** An API that a consumer may call, with the routes that admit it. */
interface VisibleApi {
  readonly api: Row;
  readonly surroundings: ApiSurroundings;
}

/** The APIs that the consumer may call: those of the portal with a route whose `acl` admits it. */
export async function listVisibleApis(reader: StoreReader, consumer: Row, hasAcls: boolean) {
  const groups = await groupsOf(reader, consumer, hasAcls);
  const rows = await reader.list('apis', { limit: maxApis });
  const found = [];
  for (const api of rows) {
    if (await visible(reader, api, consumer, groups)) found.push(summaryOf(api));
  }
  return found;
}

/** The reference of one of them. Throws the same 404 for one that is hidden and one that does not exist. */
export async function showVisibleApi(
  reader: StoreReader,
  references: ReferenceCache,
  { consumer, id, hasAcls }: { readonly consumer: Row; readonly id: string; readonly hasAcls: boolean },
) {
  const api = await reader.get('apis', id);
  const groups = await groupsOf(reader, consumer, hasAcls);
  const found = api === null ? null : await visible(reader, api, consumer, groups);
  if (api === null || found === null) throw new PortalError(404, 'There is no such API');
  const document = text(api, 'document');
  const built = document === null ? null : await references.of(document);
  if (built === null || !built.ok) throw new PortalError(422, 'The document of this API cannot be shown');
  const described = describeApi(built.reference, found.surroundings, consumer.id);
  return {
    api: summaryOf(api),
    ...described,
    // Routes and groups are how the operator has configured the gateway.
    operations: described.operations.flatMap(({ route, ...shown }) => (route === null ? [] : [shown])),
    demands: described.demands.map(({ groups: _, ...shown }) => shown),
  };
}

/** Null: the consumer may call nothing of it. */
async function visible(
  reader: StoreReader,
  api: Row,
  consumer: Row,
  groups: ReadonlySet<string>,
): Promise<VisibleApi | null> {
  if (api['portal'] === false) return null;
  const surroundings = await readSurroundings(reader, api);
  const { service, routes, plugins } = surroundings;
  if (service === null || !isEnabled(service)) return null;
  const admitted = routes.filter((route) => {
    const scope = { route: route.id, service: foreignId(api, 'service'), consumer: consumer.id };
    return isAdmitted(effectivePlugins(plugins, scope).get('acl'), groups);
  });
  return admitted.length === 0 ? null : { api, surroundings: { service, routes: admitted, plugins } };
}

/** As the plugin `acl` decides for a consumer. */
function isAdmitted(acl: Row | undefined, groups: ReadonlySet<string>): boolean {
  const config = acl?.['config'];
  if (typeof config !== 'object' || config === null) return true;
  const rules = config as Row;
  const allow = texts(rules, 'allow') ?? [];
  if (allow.length > 0) return allow.some((group) => groups.has(group));
  return !(texts(rules, 'deny') ?? []).some((group) => groups.has(group));
}

async function groupsOf(reader: StoreReader, { id }: Row, hasAcls: boolean): Promise<ReadonlySet<string>> {
  if (!hasAcls) return new Set();
  const rows = await reader.list('acls', { where: { consumer: id }, limit: maxGroups });
  return new Set(rows.flatMap((row) => text(row, 'group') ?? []));
}

function summaryOf(api: Row) {
  return { id: api.id, name: text(api, 'name'), title: text(api, 'title'), version: text(api, 'version') };
}
