import { derivedId } from '../../../../shared/util/derived-id.ts';
import { CliError } from '../../../cli-error.ts';
import { endpointKeys, type Fields, isFields, type ReadEntity } from '../kong-entity.ts';

/** The entities that an entity may contain, and the field of theirs that refers to it. */
const nesting: Readonly<Record<string, { readonly field: string; readonly lists: readonly string[] }>> = {
  services: { field: 'service', lists: ['routes', 'plugins', 'filter_chains'] },
  routes: { field: 'route', lists: ['plugins', 'filter_chains'] },
  consumers: {
    field: 'consumer',
    lists: [
      'plugins',
      'keyauth_credentials',
      'basicauth_credentials',
      'hmacauth_credentials',
      'jwt_secrets',
      'oauth2_credentials',
      'mtls_auth_credentials',
      'acls',
    ],
  },
  consumer_groups: { field: 'consumer_group', lists: ['plugins'] },
  upstreams: { field: 'upstream', lists: ['targets'] },
  certificates: { field: 'certificate', lists: ['snis'] },
  key_sets: { field: 'set', lists: ['keys'] },
};

/**
 * Every entity of a document by itself. Nested ones refer to their parent by its id, else by its endpoint key; a parent with neither
 * gets an id that depends on its content only. Throws a `CliError` when the document has another form.
 */
export function flattenDocument(content: Fields, file: string): readonly ReadEntity[] {
  const found: ReadEntity[] = [];
  for (const [key, value] of Object.entries(content)) {
    if (!key.startsWith('_')) collect(key, value, {}, file);
  }
  return found;

  function collect(collection: string, value: unknown, parent: Fields, place: string): void {
    if (value === null) return;
    if (!Array.isArray(value)) throw new CliError(`${place}: ${collection} is not a list`);
    for (const [at, element] of value.entries()) {
      const where = `${place}: ${collection}[${at}]`;
      if (!isFields(element)) throw new CliError(`${where} is not an entity`);
      collectOne(collection, { ...element, ...parent }, where);
    }
  }

  function collectOne(collection: string, entity: Fields, where: string): void {
    const { field = '', lists = [] } = nesting[collection] ?? {};
    const children = lists.filter((name) => Object.hasOwn(entity, name));
    const ignored = new Set([...children, '_comment', '_ignore']);
    const own = Object.fromEntries(Object.entries(entity).filter(([name]) => !ignored.has(name)));
    const { fields, reference } = named(collection, own, children.length > 0);
    found.push({ collection, fields });
    for (const name of children) collect(name, entity[name], { [field]: reference }, where);
  }
}

function named(
  collection: string,
  fields: Fields,
  isParent: boolean,
): { readonly fields: Fields; readonly reference: unknown } {
  const key = endpointKeys[collection];
  const reference = fields['id'] ?? (key === undefined ? null : fields[key]);
  if (reference != null || !isParent) return { fields, reference };
  const id = derivedId(`${collection} ${JSON.stringify(Object.entries(fields).sort())}`);
  return { fields: { id, ...fields }, reference: id };
}
