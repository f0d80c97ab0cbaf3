import type { JsonObject, JsonValue } from '../../../../plugin-kit/json/index.ts';
import type { Row } from '../../../../shared/entities/entity.ts';
import { foreignId } from '../../../../shared/entities/row-fields.ts';
import { covers } from '../../../apis/plan/covers.ts';
import type { Plan, PlannedPlugin } from '../../../apis/plan/plan-api.ts';
import type { ImportWarning } from '../../../apis/plan/warnings.ts';
import type { StoreWriter } from '../../../store/store.ts';
import type { AdminContext } from '../../crud/admin-context.ts';
import { idOf } from '../../crud/find-entity.ts';
import { showEntity } from '../../crud/show-entity.ts';
import { insertEntity, patchEntity } from '../../crud/write-entity.ts';
import { answerOf } from '../../errors.ts';
import { HttpError, plainError } from '../../http/http-error.ts';
import { iterateRows } from '../../lists/iterate-rows.ts';

/** What an import does with one entity. */
export interface ImportStep {
  readonly operation: 'create' | 'update' | 'unchanged';
  readonly entity: string;
  readonly id: string;
  readonly name: string;
  /** Of a plugin: the route that it is on; null: the service. */
  readonly route: string | null;
  /** Where the document describes it. */
  readonly place: string;
  /** The fields that the document sets. */
  readonly fields: JsonObject;
  /** The fields that an update changes. */
  readonly changed: readonly string[];
}

export interface WrittenImport {
  readonly steps: readonly ImportStep[];
  readonly warnings: readonly ImportWarning[];
}

export interface ApiOfImport {
  readonly name: string;
  readonly fields: JsonObject;
}

/** Routes that are named in warnings. */
const maxLeftOvers = 100;

/**
 * Writes what differs from the plan. An existing entity keeps the fields that the document does not set, so a second import of the same
 * document changes nothing. Throws the answer to what the gateway refuses, with its place in the document.
 */
export async function writeImport(
  context: AdminContext,
  writer: StoreWriter,
  plan: Plan,
  api: ApiOfImport,
): Promise<WrittenImport> {
  const steps: ImportStep[] = [];
  const put = async (planned: Planned): Promise<string> => {
    const step = await placed(planned, () => writeOne(context, writer, planned));
    steps.push(step);
    return step.id;
  };

  const known = await findNamed(writer, 'services', plan.service);
  const service = await put({
    ...{ entity: 'services', name: plan.service, row: known, place: '', route: null },
    fields: plan.fields,
    references: { name: plan.service },
  });
  const own = { service: { id: service } };
  for (const plugin of plan.plugins) {
    await put(await plannedPlugin(writer, plugin, own, null));
  }
  for (const { name, fields, place, plugins } of plan.routes) {
    const row = await findNamed(writer, 'routes', name);
    if (row !== null && foreignId(row, 'service') !== service) throw foreignRoute(name, place);
    const references = { name, ...own };
    const id = await put({ entity: 'routes', name, row, place, route: null, fields, references });
    for (const plugin of plugins) await put(await plannedPlugin(writer, plugin, { route: { id } }, name));
  }
  const row = await findNamed(writer, 'apis', api.name);
  await put({
    ...{ entity: 'apis', name: api.name, row, place: '/info', route: null, fields: api.fields },
    references: { name: api.name, ...own },
  });
  return { steps, warnings: await leftOvers(writer, service, plan) };
}

interface Planned {
  readonly entity: string;
  readonly name: string;
  readonly route: string | null;
  readonly place: string;
  /** The row that exists; null: none. */
  readonly row: Row | null;
  /** What the document sets. */
  readonly fields: JsonObject;
  /** Name, and what it refers to. */
  readonly references: JsonObject;
  /** Of a new row; default: generated. */
  readonly id?: string;
}

async function findNamed(writer: StoreWriter, entity: string, name: string): Promise<Row | null> {
  // A UUID in a path is an id, never a name.
  return idOf(name) === null ? writer.findBy(entity, 'name', name) : null;
}

async function writeOne(context: AdminContext, writer: StoreWriter, planned: Planned): Promise<ImportStep> {
  const { entity, name, place, route, row, fields, references, id } = planned;
  const definition = context.entity(entity);
  const facts = { entity, name, place, route, fields };
  if (row === null) {
    const input = { ...(id === undefined ? {} : { id }), ...fields, ...references };
    const created = await insertEntity(context, writer, definition, input);
    return { ...facts, operation: 'create', id: String(created['id']), changed: [] };
  }
  const shown = (await showEntity(context, writer, definition, row)) as JsonObject;
  const wanted = { ...fields, ...references };
  const changed = Object.entries(wanted).filter(([field, value]) => !covers(shownField(shown, field), value));
  if (changed.length === 0) return { ...facts, operation: 'unchanged', id: row.id, changed: [] };
  await patchEntity(context, writer, definition, row, Object.fromEntries(changed));
  return { ...facts, operation: 'update', id: row.id, changed: changed.map(([field]) => field) };
}

function shownField(shown: JsonObject, field: string): JsonValue {
  return Object.hasOwn(shown, field) ? (shown[field] ?? null) : null;
}

/** An instance of the same plugin at the same place is that of the document, also one that somebody else made. */
async function plannedPlugin(
  writer: StoreWriter,
  { id, fields, place }: PlannedPlugin,
  scope: JsonObject,
  route: string | null,
): Promise<Planned> {
  const name = String(fields['name']);
  const [field = 'service', reference] = Object.entries(scope)[0] ?? [];
  const parent = (reference as { readonly id: string }).id;
  const rows = await writer.list('plugins', { where: { [field]: parent }, limit: 1000 });
  const others = ['route', 'service', 'consumer'].filter((other) => other !== field);
  const same = rows.find((row) => row['name'] === name && others.every((other) => foreignId(row, other) === null));
  const row = same ?? (await writer.get('plugins', id));
  return { entity: 'plugins', name, route, place, row, fields, references: scope, ...(row === null ? { id } : {}) };
}

async function placed<T>({ entity, name, place }: Planned, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    let known = true;
    const answer = answerOf(error, {
      failed: () => {
        known = false;
      },
      storeUnavailable: () => {
        known = false;
      },
    });
    // Slow checks leave the transaction by an exception, too.
    if (!known || answer.status >= 500) throw error;
    const body = Object(answer.json) as Readonly<Record<string, unknown>>;
    const message = `${entity} '${name}': ${String(body['message'])}`;
    throw new HttpError(answer.status, { ...body, message, entity, entity_name: name, place });
  }
}

function foreignRoute(name: string, place: string): HttpError {
  const { status, body } = plainError(
    409,
    `route '${name}' belongs to another service: choose other names with route_prefix`,
  );
  return new HttpError(status, { ...body, entity: 'routes', entity_name: name, place });
}

/** Routes of an earlier document. Only the operator may remove them. */
async function leftOvers(writer: StoreWriter, service: string, { routes }: Plan): Promise<readonly ImportWarning[]> {
  const names = new Set(routes.map(({ name }) => name));
  const found: ImportWarning[] = [];
  for await (const row of iterateRows(writer, 'routes', { where: { service } })) {
    const name = typeof row['name'] === 'string' ? row['name'] : row.id;
    if (names.has(name)) continue;
    if (found.length === maxLeftOvers) break;
    found.push({ place: '/paths', message: `route ${name} is not in the document, and stays as it is` });
  }
  return found;
}
