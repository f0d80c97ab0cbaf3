import { isFields, type KongEntity } from '../kong-entity.ts';

export function is({ collection }: KongEntity, name: string): boolean {
  return collection === name;
}

export function isPlugin({ collection, fields }: KongEntity, ...names: readonly string[]): boolean {
  return collection === 'plugins' && names.includes(String(fields['name']));
}

export function configOf({ collection, fields }: KongEntity): KongEntity['fields'] {
  const { config } = fields;
  return collection === 'plugins' && isFields(config) ? config : {};
}

export function limitBy(entity: KongEntity): string {
  return String(configOf(entity)['limit_by'] ?? 'consumer');
}

export function listOf({ fields }: KongEntity, field: string): readonly unknown[] {
  const value = fields[field];
  return Array.isArray(value) ? value : [];
}

export function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

export function protocolsOf(entity: KongEntity): readonly string[] {
  const given = textsOf(entity.fields['protocols']);
  return given.length === 0 ? ['http', 'https'] : given;
}

export function regexPaths(entity: KongEntity): readonly string[] {
  return is(entity, 'routes') ? textsOf(entity.fields['paths']).filter((path) => path.startsWith('~')) : [];
}

export function headerValues(entity: KongEntity): readonly string[] {
  const { headers } = entity.fields;
  return is(entity, 'routes') && isFields(headers) ? Object.values(headers).flatMap(textsOf) : [];
}

/** A `|` outside of groups, classes and escapes. */
export function hasTopLevelAlternative(source: string): boolean {
  const bare = source.replace(/\\./g, '').replace(/\[\^?\]?[^\]]*\]/g, '');
  let depth = 0;
  for (const character of bare) {
    if (character === '(') depth++;
    else if (character === ')') depth--;
    else if (character === '|' && depth === 0) return true;
  }
  return false;
}

/** Null when the entity is not an upstream. */
export function algorithm(entity: KongEntity): string | null {
  return is(entity, 'upstreams') ? String(entity.fields['algorithm'] ?? 'round-robin') : null;
}

export function activeCheck(entity: KongEntity, field: string): unknown {
  const { healthchecks } = entity.fields;
  const active = is(entity, 'upstreams') && isFields(healthchecks) ? healthchecks['active'] : null;
  return isFields(active) ? active[field] : undefined;
}

export function hasTemplate(entity: KongEntity): boolean {
  return isPlugin(entity, 'request-transformer') && /\$\([^)]*\)/.test(JSON.stringify(configOf(entity)));
}

export function hasLuaFields(entity: KongEntity): boolean {
  const lua = configOf(entity)['custom_fields_by_lua'];
  return isFields(lua) && Object.keys(lua).length > 0;
}
