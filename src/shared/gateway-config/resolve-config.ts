import type { GatewayConfigSource } from './gateway-config.ts';

/** A value that cannot be in a config, such as a function. */
export class ConfigValueError extends TypeError {}

/**
 * The document of a config in TypeScript, as JSON would have it: plain values, without absent fields, and with `_format_version`. Rejects
 * with what its function throws, or when it contains what is no data.
 */
export async function resolveConfig(source: GatewayConfigSource): Promise<Readonly<Record<string, unknown>>> {
  const config: unknown = await (typeof source === 'function' ? source() : source);
  if (typeof config !== 'object' || config === null || Array.isArray(config)) {
    throw new ConfigValueError(`a config is an object, not ${describe(config)}`);
  }
  return { _format_version: '3.0', ...plainFields(config, '', new Set()) };
}

function plain(value: unknown, path: string, parents: Set<object>): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number')
    return value;
  if (typeof value !== 'object') throw new ConfigValueError(`${path}: ${describe(value)} cannot be in a config`);
  if (!Array.isArray(value)) return plainFields(value, path, parents);
  return guarded(value, path, parents, () => value.map((item, index) => plain(item, `${path}[${index}]`, parents)));
}

function plainFields(value: object, path: string, parents: Set<object>): Record<string, unknown> {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    throw new ConfigValueError(`${path === '' ? 'config' : path}: ${describe(value)} cannot be in a config`);
  }
  return guarded(value, path, parents, () =>
    Object.fromEntries(
      Object.entries(value)
        .filter(([, inner]) => inner !== undefined)
        .map(([name, inner]) => [name, plain(inner, path === '' ? name : `${path}.${name}`, parents)]),
    ),
  );
}

/** The same object may be in two places, but not within itself. */
function guarded<T>(value: object, path: string, parents: Set<object>, read: () => T): T {
  if (parents.has(value)) throw new ConfigValueError(`${path}: the config contains itself`);
  parents.add(value);
  const result = read();
  parents.delete(value);
  return result;
}

function describe(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value !== 'object') return value === undefined ? 'undefined' : `a ${typeof value}`;
  const name = (value.constructor as { readonly name?: string } | undefined)?.name;
  return name === undefined || name === '' || name === 'Object' ? 'an object' : `a ${name}`;
}
