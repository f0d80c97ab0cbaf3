import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { TestGateway } from '../support/gateway.ts';
import { type Fields, type ModelEntity, references } from './deck-model.ts';

/** Parents first: decK writes one level after the other. */
const levels: readonly (readonly string[])[] = [
  ['certificates', 'ca_certificates', 'consumers'],
  [
    'snis',
    'services',
    'upstreams',
    'keyauth_credentials',
    'basicauth_credentials',
    'hmacauth_credentials',
    'jwt_secrets',
    'oauth2_credentials',
    'mtls_auth_credentials',
    'acls',
  ],
  ['routes', 'targets'],
  ['plugins'],
];

/** Paths of credentials, below their consumer and by themselves. */
const credentialPaths: Readonly<Record<string, readonly [string, string]>> = {
  keyauth_credentials: ['key-auth', 'key-auths'],
  basicauth_credentials: ['basic-auth', 'basic-auths'],
  hmacauth_credentials: ['hmac-auth', 'hmac-auths'],
  jwt_secrets: ['jwt', 'jwts'],
  oauth2_credentials: ['oauth2', 'oauth2'],
  mtls_auth_credentials: ['mtls-auth', 'mtls-auths'],
  acls: ['acls', 'acls'],
};

/** An entity with the id that decK gives it. */
export interface WrittenEntity {
  readonly collection: string;
  readonly path: string;
  /** What was sent, with references as `{ id }`. */
  readonly fields: Fields;
}

/** The calls of `deck gateway sync` into an empty gateway: a PUT for each entity, with all of its fields. */
export async function deckSync(
  gateway: TestGateway,
  entities: readonly (ModelEntity & { readonly filled: Fields })[],
): Promise<readonly WrittenEntity[]> {
  const ids = new Map(entities.map(({ collection, name, id }) => [`${collection} ${name}`, id ?? randomUUID()]));
  const written: WrittenEntity[] = [];
  for (const level of levels) {
    const list = entities.filter(({ collection }) => level.includes(collection));
    written.push(...(await Promise.all(list.map((entity) => put(gateway, entity, ids)))));
  }
  return written;
}

async function put(
  gateway: TestGateway,
  { collection, name, id, filled }: ModelEntity & { readonly filled: Fields },
  ids: ReadonlyMap<string, string>,
): Promise<WrittenEntity> {
  const own = hasName(collection) ? ids.get(`${collection} ${name}`) : id;
  const path = `${parentPath(collection, filled, ids)}/${own ?? randomUUID()}`;
  const fields = Object.fromEntries(
    Object.entries(filled).map(([field, value]) => {
      const parent = references[field];
      if (parent === undefined || value == null) return [field, value];
      return [field, { id: ids.get(`${parent} ${value}`) ?? value }];
    }),
  );
  let { status, body } = await gateway.admin('PUT', path, fields);
  if (collection === 'targets' && status === 404) {
    const [collectionPath, last] = [path.slice(0, path.lastIndexOf('/')), path.slice(path.lastIndexOf('/') + 1)];
    ({ status, body } = await gateway.admin('POST', collectionPath, { ...fields, id: last }));
  }
  assert.ok(status < 300, `PUT ${path}: ${status} ${JSON.stringify(body)}`);
  return { collection, path, fields };
}

/** Others may share a name: plugins, credentials, targets. */
function hasName(collection: string): boolean {
  return ['services', 'routes', 'consumers', 'upstreams', 'certificates', 'ca_certificates'].includes(collection);
}

function parentPath(collection: string, fields: Fields, ids: ReadonlyMap<string, string>): string {
  if (collection === 'targets') return `/upstreams/${ids.get(`upstreams ${fields['upstream']}`)}/targets`;
  const nested = credentialPaths[collection]?.[0];
  return nested === undefined ? `/${collection}` : `/consumers/${ids.get(`consumers ${fields['consumer']}`)}/${nested}`;
}

/** The calls of `deck gateway reset`. */
export async function deckReset(gateway: TestGateway, entities: readonly WrittenEntity[]): Promise<void> {
  for (const level of levels.toReversed()) {
    const list = entities.filter(({ collection }) => level.includes(collection));
    const answers = await Promise.all(list.map(({ path }) => gateway.admin('DELETE', path)));
    for (const { status } of answers) assert.equal(status, 204);
  }
}
