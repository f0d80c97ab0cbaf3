import { CliError } from '../../../cli-error.ts';
import {
  type Fields,
  isFields,
  type KongSource,
  type ReadEntity,
  references,
  shown,
  type UnreadPart,
} from '../kong-entity.ts';
import { type KongCollection, kongCollections } from './collections.ts';
import { withLabels } from './entity-labels.ts';
import type { KongClient } from './kong-client.ts';

/** Requests for the targets of upstreams at the same time. */
const concurrency = 8;

/** Reads every collection of a running Kong. Rejects with a `CliError` unless all of them are complete. */
export async function readKong(client: KongClient, maxEntities: number): Promise<KongSource> {
  const version = await versionOf(client);
  const reading = new Reading(client, maxEntities);
  for (const collection of kongCollections) await reading.read(collection);
  await reading.readTargets();
  await reading.noteWorkspaces();
  return {
    version,
    format: '3.0',
    hashedPasswords: true,
    entities: withLabels(reading.entities),
    unread: reading.unread,
  };
}

class Reading {
  readonly entities: ReadEntity[] = [];
  readonly unread: UnreadPart[] = [];
  readonly #client: KongClient;
  readonly #maxEntities: number;

  constructor(client: KongClient, maxEntities: number) {
    this.#client = client;
    this.#maxEntities = maxEntities;
  }

  async read({ name, path, absent }: KongCollection): Promise<void> {
    for await (const page of this.#pages(path, absent, name)) this.#add(name, page);
  }

  async readTargets(): Promise<void> {
    const upstreams = this.entities.filter(({ collection }) => collection === 'upstreams').values();
    const work = async (): Promise<void> => {
      for (const { fields } of upstreams) {
        const id = encodeURIComponent(String(fields['id']));
        for await (const page of this.#pages(`/upstreams/${id}/targets`, [], 'targets')) this.#add('targets', page);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, work));
  }

  /** Enterprise: other workspaces are other configs. */
  async noteWorkspaces(): Promise<void> {
    const { status, body } = await this.#client.get('/workspaces?size=1000');
    if (status !== 200 || !isFields(body) || !Array.isArray(body['data'])) return;
    const names = body['data'].map((row: unknown) => (isFields(row) ? row['name'] : null));
    const current = new URL(this.#client.address).pathname.split('/').at(-1) || 'default';
    for (const name of names.filter((one) => typeof one === 'string' && one !== current)) {
      this.unread.push({
        what: `workspace ${shown(name)}`,
        why: 'only one workspace is read, and this gateway has none',
        collection: null,
        todo: `to import it as well: --admin-url ${new URL(this.#client.address).origin}/${encodeURIComponent(String(name))}`,
      });
    }
  }

  async *#pages(path: string, absent: readonly number[], name: string): AsyncGenerator<readonly unknown[]> {
    const seen = new Set<string>();
    let offset: string | null = null;
    do {
      const query: string = offset === null ? '' : `&offset=${encodeURIComponent(offset)}`;
      const { status, body } = await this.#client.get(`${path}?size=1000${query}`);
      if (offset === null && absent.includes(status)) return;
      if (offset === null && status === 403 && absent.length > 0) {
        const todo = 'use a token with the right to read it, or leave it out';
        this.unread.push({ what: name, why: 'Kong refuses to show it (403)', todo, collection: name });
        return;
      }
      const page = this.#pageOf(path, status, body);
      yield page.data;
      offset = page.offset;
      if (offset !== null && (seen.has(offset) || page.data.length === 0)) {
        throw new CliError(`cannot read ${this.#client.address}${path}: its pages do not end`);
      }
      if (offset !== null) seen.add(offset);
    } while (offset !== null);
  }

  #pageOf(
    path: string,
    status: number,
    body: unknown,
  ): { readonly data: readonly unknown[]; readonly offset: string | null } {
    const where = `${this.#client.address}${path}`;
    if (status === 401 || status === 403) {
      throw new CliError(`${where} answers ${status}: pass a token, for example --header 'Kong-Admin-Token: <token>'`);
    }
    if (status < 200 || status > 299) throw new CliError(`cannot read ${where}: it answers ${status}`);
    // An empty list of Lua is `{}`.
    const list = isFields(body) ? body['data'] : null;
    const data = isFields(list) && Object.keys(list).length === 0 ? [] : list;
    if (!isFields(body) || !Array.isArray(data)) throw new CliError(`${where} is not a list of the Admin API of Kong`);
    const { offset } = body;
    return { data, offset: typeof offset === 'string' && offset !== '' ? offset : null };
  }

  #add(collection: string, rows: readonly unknown[]): void {
    for (const row of rows) {
      if (!isFields(row) || typeof row['id'] !== 'string') {
        throw new CliError(`${this.#client.address}: an element of ${collection} is not an entity with an id`);
      }
      this.entities.push({ collection, fields: withoutNesting(collection, row) });
    }
    if (this.entities.length > this.#maxEntities) {
      throw new CliError(`${this.#client.address} has more than ${this.#maxEntities} entities`);
    }
  }
}

async function versionOf(client: KongClient): Promise<string> {
  const { status, body } = await client.get('/');
  if (status === 401 || status === 403) {
    throw new CliError(
      `${client.address} answers ${status}: pass a token, for example --header 'Kong-Admin-Token: <token>'`,
    );
  }
  const version = isFields(body) ? body['version'] : null;
  if (status !== 200 || typeof version !== 'string') {
    throw new CliError(`${client.address} is not the Admin API of a Kong: GET / answers ${status} without a version`);
  }
  const major = Number(/^(\d+)\./.exec(version)?.[1]);
  if (!(major >= 3)) {
    throw new CliError(
      `Kong ${shown(version)} is too old: its config must be that of Kong 3.0 or later; upgrade it first`,
    );
  }
  return shown(version);
}

/** References become ids. `snis` of a certificate are entities of their own. */
function withoutNesting(collection: string, row: Fields): Fields {
  const entries = Object.entries(row).filter(([name]) => !(collection === 'certificates' && name === 'snis'));
  return Object.fromEntries(
    entries.map(([name, value]) => [
      name,
      Object.hasOwn(references, name) && isFields(value) && typeof value['id'] === 'string' ? value['id'] : value,
    ]),
  );
}
