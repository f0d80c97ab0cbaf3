import type { KongEntity } from '../kong-entity.ts';
import { choicesOf, type LeftOut, leftOut } from './left-out.ts';
import { similarPlugins } from './similar-plugins.ts';
import type { WithoutList } from './without-list.ts';

interface Collection {
  readonly why: string;
  readonly todo: string;
  /** Nothing that a request meets depends on it: it is left out without a question. */
  readonly harmless?: true;
}

const missingCollections: Readonly<Record<string, Collection>> = {
  vaults: {
    why: 'there are no vaults',
    todo: 'write the values that {vault://...} refers to into the configuration',
    harmless: true,
  },
  keys: { why: 'there are no key entities', todo: 'put the key where it is used', harmless: true },
  key_sets: { why: 'there are no key entities', todo: 'put the keys where they are used', harmless: true },
  partials: { why: 'there are no partials', todo: 'write their fields into the plugins that use them', harmless: true },
  oauth2_tokens: { why: 'tokens are state', todo: 'clients get new ones', harmless: true },
  sessions: { why: 'sessions are state', todo: 'users log in again', harmless: true },
  acme_storage: { why: 'it is state of the plugin', todo: 'certificates are ordered again', harmless: true },
  workspaces: { why: 'there is one workspace', todo: 'nothing', harmless: true },
  filter_chains: {
    why: 'there are no Wasm filters',
    todo: 'replace the filters by plugins: they may protect routes',
  },
  consumer_groups: {
    why: 'there are no consumer groups',
    todo: 'use acl groups, or plugins of the consumers: the plugins of a group do not run',
  },
};

/** Nothing that a request meets depends on entities of the collection. */
export function isHarmless(collection: string): boolean {
  return missingCollections[collection]?.harmless === true;
}

/** Why the gateway cannot have the entity; null: it can. `plugins`: those of the gateway. */
export function unsupported(
  entity: KongEntity,
  plugins: ReadonlySet<string>,
  collections: ReadonlySet<string>,
  without: WithoutList,
): LeftOut | null {
  const { collection, fields } = entity;
  const missing = missingCollections[collection];
  if (missing !== undefined) {
    return leftOut(entity, { ...missing, choices: missing.harmless === true ? [] : [collection] }, without);
  }
  if (!collections.has(collection)) {
    const todo = 'remove it from the file, or leave it out';
    return leftOut(entity, { why: 'the gateway has no such entity', todo, choices: [collection] }, without);
  }
  if (collection === 'plugins') return unsupportedPlugin(entity, plugins, without);
  if (choicesOf(entity).some((choice) => without.has(choice))) {
    return leftOut(entity, { why: 'as --without says', todo: 'nothing', choices: choicesOf(entity) }, without);
  }
  if (collection !== 'routes' || fields['expression'] == null) return null;
  const why = 'it has an expression: there is only the router with hosts, paths, methods and headers';
  return leftOut(entity, { why, todo: 'write the route with those', choices: choicesOf(entity) }, without);
}

function unsupportedPlugin(entity: KongEntity, plugins: ReadonlySet<string>, without: WithoutList): LeftOut | null {
  const { fields } = entity;
  const name = String(fields['name']);
  if (fields['consumer_group'] != null) {
    const why = 'it belongs to a consumer group, and there are none';
    const todo = 'add it to the consumers or routes instead';
    return leftOut(entity, { why, todo, choices: [name, 'consumer_groups'] }, without);
  }
  if (plugins.has(name)) {
    if (!without.has(name)) return null;
    return leftOut(entity, { why: 'as --without says', todo: 'nothing', choices: [name] }, without);
  }
  const why = 'the gateway has no such plugin';
  if (fields['enabled'] === false) {
    return leftOut(entity, { why, todo: 'nothing: it is disabled', choices: [] }, without);
  }
  return leftOut(entity, { why, todo: replacementOf(name), choices: [name] }, without);
}

function replacementOf(name: string): string {
  const similar = Object.hasOwn(similarPlugins, name) ? similarPlugins[name] : undefined;
  const other = similar === undefined ? 'another plugin' : `${similar.join(' or ')}, which does much the same`;
  return `replace it by ${other}, or write one (docs/plugins.md)`;
}
