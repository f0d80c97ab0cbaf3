import { type FieldSchema, fieldsOf, type NamedField } from '../forms/schema.ts';
import { isObject, type Value } from '../forms/value.ts';

/** Stands for a secret in everything that is shown or copied. */
export const secretText = '<secret>';

/** Names of headers, arguments and settings that carry secrets by general use. */
const secretName =
  /(?:^(?:(?:proxy-)?authorization|(?:set-)?cookie|jwt)|(?:api|access|private|auth|subscription|shared|signing|encryption)[-_]?key|secret|token|passwd|password|passphrase|credentials?)$/i;
const namedValue = /^\s*([!#$%&'*+.^_`|~0-9A-Za-z-]{1,256})\s*[:=]/;

/** The values of an entity with `secretText` in place of its secrets. */
export function withoutSecrets(fields: readonly NamedField[], value: Value): Value {
  const known = new Map(fields.map(({ name, schema }) => [name, schema]));
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, masked(known.get(name), name, item)]));
}

function masked(schema: FieldSchema | undefined, name: string, value: unknown): unknown {
  if (value === null || value === undefined || value === '') return value;
  if (schema?.encrypted === true) return secretText;
  if (Array.isArray(value)) return value.map((item) => masked(schema?.elements, name, item));
  if (isObject(value)) {
    if (schema?.type === 'record') return withoutSecrets(fieldsOf(schema), value);
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [
        key,
        secretName.test(key) && !isObject(item) ? secretText : masked(schema?.values, key, item),
      ]),
    );
  }
  return typeof value === 'string' ? withoutSecretText(value) : value;
}

/** `Authorization: Bearer ...` in a list of headers, a password in a URL, a private key. */
function withoutSecretText(text: string): string {
  if (text.includes('PRIVATE KEY-----')) return secretText;
  const [start, name] = namedValue.exec(text) ?? [];
  if (start !== undefined && name !== undefined && secretName.test(name)) return `${start} ${secretText}`;
  return text.replace(/([a-z][a-z0-9+.-]{0,31}:\/\/)[^/?#\s@]{1,1024}@/gi, `$1${secretText}@`);
}
