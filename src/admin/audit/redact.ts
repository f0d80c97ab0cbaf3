import { isRecordSchema } from '../../schema/export.ts';
import type { Field, RecordSchema } from '../../schema/fields.ts';

type Fields = Readonly<Record<string, unknown>>;

/** What stands in a record for the value of a secret. */
export const redacted = 'REDACTED';

/**
 * A row, or a part of one, as it may be kept for others to read: what the schema marks as a secret is replaced, and so is what
 * looks like one in fields that may hold anything. A field that the schema does not know may be a secret, too.
 */
export function redactFields(schema: RecordSchema, fields: Fields): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      const field = schema.fields.get(name);
      return [name, field === undefined ? unknownValue(name, value) : redactValue(field, name, value)];
    }),
  );
}

function redactValue(field: Field, name: string, value: unknown): unknown {
  if (value === null || value === undefined) return value ?? null;
  if (field.meta.encrypted === true) return withoutSecret(value);
  if (isRecordSchema(field)) return isFields(value) ? redactFields(field, value) : redacted;
  const { elements, values } = field.meta;
  if (Array.isArray(value)) {
    return value.map((item) => (elements === undefined ? anyValue(name, item) : redactValue(elements, name, item)));
  }
  if (isFields(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => {
        if (looksSecret(key)) return [key, redacted];
        return [key, values === undefined ? anyValue(key, item) : redactValue(values, key, item)];
      }),
    );
  }
  return typeof value === 'string' ? redactText(value) : value;
}

/** Of an address that may hold a secret it is told where it leads: whoever reads the audit must see that records go elsewhere now. */
function withoutSecret(value: unknown): string {
  if (typeof value !== 'string' || !/^https?:/i.test(value) || !URL.canParse(value)) return redacted;
  return `${new URL(value).origin}/${redacted}`;
}

/** Numbers and switches tell no secret; times that the store adds are among them. */
function unknownValue(name: string, value: unknown): unknown {
  if (value === null || typeof value === 'boolean') return value;
  return typeof value === 'number' && !looksSecret(name) ? value : redacted;
}

function anyValue(name: string, value: unknown): unknown {
  if (looksSecret(name)) return redacted;
  if (typeof value === 'string') return redactText(value);
  if (Array.isArray(value)) return value.map((item) => anyValue(name, item));
  if (!isFields(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, anyValue(key, item)]));
}

/** Names of headers, arguments and settings that carry secrets by general use, whatever stands before: `clientSecret`, `X-Auth-Token`. */
const secretName =
  /(?:^(?:(?:proxy-)?authorization|(?:set-)?cookie|jwt)|(?:api|access|private|auth|subscription|shared|signing|encryption)[-_]?key|secret|token|passwd|password|passphrase|credentials?)$/i;

export function looksSecret(name: string): boolean {
  return secretName.test(name);
}

const namedValue = /^\s*([!#$%&'*+.^_`|~0-9A-Za-z-]{1,256})\s*[:=]/;
const argument = /([?&#])([^=&#?\s]{1,256})=[^&#\s]+/g;
const member = /("([^"\\]{1,256})"\s{0,64}:\s{0,64})(?:"(?:[^"\\]|\\.)*"?|-?\d[\d.eE+-]*)/gs;
const userInfo = /([a-z][a-z0-9+.-]{0,31}:\/\/)[^/?#\s]*@/gi;

/** Characters of a text that are read: no record holds as many. */
const longestRead = 65_536;

/** `Authorization: Bearer ...` in a list of headers, a password or token in a URL, a form or JSON, a private key. */
function redactText(whole: string): string {
  const text = whole.slice(0, longestRead);
  const rest = whole.length - text.length;
  return rest === 0 ? redactPart(text) : `${redactPart(text)} and ${rest} characters more`;
}

function redactPart(text: string): string {
  const name = namedValue.exec(text);
  if (name !== null && looksSecret(name[1] ?? '')) return `${name[0]}${redacted}`;
  if (text.includes('PRIVATE KEY-----')) return redacted;
  const shown = text.includes('://') ? text.replace(userInfo, `$1${redacted}@`) : text;
  return shown
    .replace(argument, (whole, before: string, key: string) =>
      looksSecret(decoded(key)) ? `${before}${key}=${redacted}` : whole,
    )
    .replace(member, (whole, before: string, key: string) => (looksSecret(key) ? `${before}"${redacted}"` : whole));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
