import type { Row } from '../../shared/entities/entity.ts';
import { isEnabled, text, texts } from '../../shared/entities/row-fields.ts';
import { iterateRows } from '../admin/lists/iterate-rows.ts';
import { effectivePlugins } from '../apis/demands/effective-plugins.ts';
import { type ApiPlace, type ApiSurroundings, describeApi, readPlace, readPlugins } from '../apis/describe-api.ts';
import { ReferenceCache } from '../apis/reference/reference-cache.ts';
import type { StoreReader } from '../store/store.ts';
import { PortalError } from './portal-request.ts';
import { visiblePart } from './visible-part.ts';

/** APIs that are regarded. */
const maxApis = 1_000;

/** An API in the list of a consumer. */
export interface ApiSummary {
  readonly id: string;
  readonly name: string | null;
  readonly title: string | null;
  readonly version: string | null;
}

/** Which APIs consumers may call: those of the portal with a route whose `acl` admits the consumer. */
export class VisibleApis {
  readonly #reader: StoreReader;
  readonly #hasAcls: boolean;
  readonly #references = new ReferenceCache();

  /** `hasAcls`: the plugin `acl` is loaded. */
  constructor(reader: StoreReader, hasAcls: boolean) {
    this.#reader = reader;
    this.#hasAcls = hasAcls;
  }

  async list(consumer: Row): Promise<readonly ApiSummary[]> {
    const rows = await this.#reader.list('apis', { limit: maxApis });
    const places: (readonly [Row, ApiPlace])[] = [];
    for (const api of rows) places.push([api, await readPlace(this.#reader, api)]);
    const access = await this.#accessOf(consumer);
    return places.flatMap(([api, place]) => (visible(api, place, access) === null ? [] : [summaryOf(api)]));
  }

  /** The reference of one of them. Throws the same 404 for one that is hidden and one that does not exist. */
  async show(id: string, consumer: Row) {
    const api = await this.#reader.get('apis', id);
    const place = api === null ? null : await readPlace(this.#reader, api);
    const access = await this.#accessOf(consumer);
    const found = api === null || place === null ? null : visible(api, place, access);
    if (api === null || found === null) throw new PortalError(404, 'There is no such API');
    const document = text(api, 'document');
    const built = document === null ? null : await this.#references.of(document);
    if (built === null || !built.ok) throw new PortalError(422, 'The document of this API cannot be shown');
    return { api: summaryOf(api), ...visiblePart(describeApi(built.reference, found, consumer.id)) };
  }

  /** Read after the routes: a new one must not be shown without the `acl` that came with it. */
  async #accessOf({ id }: Row): Promise<Access> {
    const groups = new Set<string>();
    if (this.#hasAcls) {
      // All of them: one that is left out could be the one that an `acl` refuses.
      for await (const row of iterateRows(this.#reader, 'acls', { where: { consumer: id } })) {
        groups.add(text(row, 'group') ?? '');
      }
    }
    return { consumer: id, groups, plugins: await readPlugins(this.#reader) };
  }
}

/** What decides about the requests of a consumer. */
interface Access {
  readonly consumer: string;
  readonly groups: ReadonlySet<string>;
  readonly plugins: readonly Row[];
}

/** Null: the consumer may call nothing of it. Else only the routes that admit it. */
function visible(
  api: Row,
  { service, routes }: ApiPlace,
  { consumer, groups, plugins }: Access,
): ApiSurroundings | null {
  if (api['portal'] === false || service === null || !isEnabled(service)) return null;
  const admitted = routes.filter((route) => {
    const scope = { route: route.id, service: service.id, consumer };
    return isAdmitted(effectivePlugins(plugins, scope).get('acl'), groups);
  });
  return admitted.length === 0 ? null : { service, routes: admitted, plugins };
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

function summaryOf(api: Row): ApiSummary {
  return { id: api.id, name: text(api, 'name'), title: text(api, 'title'), version: text(api, 'version') };
}
