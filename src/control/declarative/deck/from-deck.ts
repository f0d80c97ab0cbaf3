/*
 * A file of decK as a document of Kong. What decK adds:
 *
 * - `_info.select_tags`: added to the tags of every entity; the file declares only entities with all of them.
 * - `_info.defaults`: values for the services, routes, upstreams and targets of the file that do not set them.
 * - `_plugin_configs`: configurations by name; a plugin with `_config` begins with one of them.
 * - references as objects: `service: {name: users}`, in nested entities too; names of SNIs as strings.
 * - `_workspace` and `_konnect` say where decK sends the file. They mean nothing here.
 *
 * decK replaces `${{ env "DECK_X" }}` before it reads a file. Such text is refused: as a password it would be accepted literally.
 */

import { type ConfigDocument, DocumentError, type DocumentPath } from '../contract.ts';

type Fields = Readonly<Record<string, unknown>>;

const own = ['_info', '_workspace', '_konnect', '_plugin_configs'];

/** Lists in an entity whose elements are entities too. All others are fields. */
const nested: ReadonlySet<string> = new Set([
  'services',
  'routes',
  'plugins',
  'upstreams',
  'targets',
  'certificates',
  'snis',
  'ca_certificates',
  'consumers',
  'keyauth_credentials',
  'basicauth_credentials',
  'hmacauth_credentials',
  'jwt_secrets',
  'oauth2_credentials',
  'mtls_auth_credentials',
  'acls',
]);

/** Lists of ids and names that have the name of an entity, by the entity that they are fields of. */
const plainLists: Readonly<Record<string, string>> = { services: 'ca_certificates', routes: 'snis' };

/** Foreign fields that a file may write as an object. */
const references = ['service', 'route', 'consumer', 'upstream', 'certificate', 'client_certificate', 'ca_certificate'];

const singular: Readonly<Record<string, string>> = {
  services: 'service',
  routes: 'route',
  upstreams: 'upstream',
  targets: 'target',
};

interface Rules {
  readonly document: ConfigDocument;
  readonly tags: readonly string[];
  readonly defaults: Fields;
  readonly configs: Fields;
}

/** Throws a `DocumentError` when decK's own keys are not what decK expects. */
export function fromDeck(document: ConfigDocument): ConfigDocument {
  const { content } = document;
  const info = section(document, content['_info'], ['_info']);
  const rules: Rules = {
    document,
    tags: tagsOf(document, info['select_tags']),
    defaults: section(document, info['defaults'], ['_info', 'defaults']),
    configs: section(document, content['_plugin_configs'], ['_plugin_configs']),
  };
  const converted: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(content)) {
    if (own.includes(key)) continue;
    converted[key] = nested.has(key) ? entitiesOf(rules, key, value, [key]) : value;
  }
  return {
    content: converted,
    hash: document.hash,
    deck: true,
    positionOf: (path) => document.positionOf(path),
    ...(rules.tags.length > 0 && { selectTags: rules.tags }),
  };
}

function entitiesOf(rules: Rules, name: string, value: unknown, path: DocumentPath): unknown {
  if (!Array.isArray(value)) return value;
  return value.map((entity: unknown, index) => {
    if (name === 'snis' && typeof entity === 'string') return entityOf(rules, name, { name: entity }, [...path, index]);
    return isFields(entity) ? entityOf(rules, name, entity, [...path, index]) : entity;
  });
}

function entityOf(rules: Rules, name: string, entity: Fields, path: DocumentPath): Fields {
  const defaults = section(rules.document, rules.defaults[singular[name] ?? ''], ['_info', 'defaults']);
  const output: Record<string, unknown> = { ...withDefaults(defaults, entity) };
  for (const [key, value] of Object.entries(entity)) {
    const hasEntities = nested.has(key) && plainLists[name] !== key;
    if (!hasEntities) refuseTemplates(rules, value, [...path, key]);
    if (hasEntities) output[key] = entitiesOf(rules, key, value, [...path, key]);
    else if (references.includes(key)) output[key] = nameOf(value);
  }
  if (name === 'plugins') addConfig(rules, output, path);
  if (rules.tags.length > 0) output['tags'] = joined(output['tags'], rules.tags);
  return output;
}

/** An explicit null is a value. */
function withDefaults(defaults: Fields, fields: Fields): Fields {
  const output: Record<string, unknown> = { ...defaults, ...fields };
  for (const [key, value] of Object.entries(defaults)) {
    const given = fields[key];
    if (isFields(value) && isFields(given)) output[key] = withDefaults(value, given);
  }
  return output;
}

function addConfig({ document, configs }: Rules, plugin: Record<string, unknown>, path: DocumentPath): void {
  const name = plugin['_config'];
  if (name === undefined) return;
  delete plugin['_config'];
  const shared = typeof name === 'string' && Object.hasOwn(configs, name) ? configs[name] : null;
  const position = document.positionOf([...path, '_config']);
  if (!isFields(shared)) throw new DocumentError(`_config: there is no '${String(name)}' in _plugin_configs`, position);
  const config = plugin['config'];
  if (config == null) plugin['config'] = shared;
  else if (isFields(config)) plugin['config'] = withDefaults(shared, config);
}

function nameOf(value: unknown): unknown {
  if (!isFields(value)) return value;
  const { id, name, username } = value;
  return id ?? name ?? username ?? value;
}

function joined(given: unknown, more: readonly string[]): unknown {
  if (given == null) return more;
  return Array.isArray(given) ? [...given, ...more.filter((tag) => !given.includes(tag))] : given;
}

const template = /\$\{\{\s*env\b/;

function refuseTemplates(rules: Rules, value: unknown, path: DocumentPath): void {
  if (typeof value === 'string') {
    if (!value.includes('${{') || !template.test(value)) return;
    throw new DocumentError(
      'has a variable of decK: replace it before, for example with `deck file render`',
      rules.document.positionOf(path),
    );
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    refuseTemplates(rules, inner, [...path, Array.isArray(value) ? Number(key) : key]);
  }
}

function tagsOf(document: ConfigDocument, value: unknown): readonly string[] {
  if (value == null) return [];
  if (Array.isArray(value) && value.every((tag) => typeof tag === 'string')) return value;
  throw new DocumentError(
    '_info.select_tags: expected a list of strings',
    document.positionOf(['_info', 'select_tags']),
  );
}

function section(document: ConfigDocument, value: unknown, path: DocumentPath): Fields {
  if (value == null) return {};
  if (isFields(value)) return value;
  throw new DocumentError(`${path.join('.')}: expected an object`, document.positionOf(path));
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
