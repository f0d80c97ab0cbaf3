import { isRecordSchema } from '../../../shared/schema/export/export.ts';
import type { Field } from '../../../shared/schema/field-meta.ts';
import type { RecordSchema } from '../../../shared/schema/fields.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Replaces the value of a secret in a record. */
export const redacted = 'REDACTED';

/**
 * A row, or a part of one, without secrets: fields that the schema marks as secrets are masked, and so are values that look like secrets
 * in free-form fields. A field that is not in the schema may be a secret, too.
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

/** Of a URL that may contain a secret, the origin is recorded: a reader of the audit must see that log records go elsewhere now. */
function withoutSecret(value: unknown): string {
  if (typeof value !== 'string' || !/^https?:/i.test(value) || !URL.canParse(value)) return redacted;
  return `${new URL(value).origin}/${redacted}`;
}

/** Numbers and switches are no secrets; times that the store adds are among them. */
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

/** Names of headers, arguments and settings that carry secrets by general use, with any prefix: `clientSecret`, `X-Auth-Token`. */
const secretName =
  /(?:^(?:(?:proxy-)?authorization|(?:set-)?cookie|jwt)|(?:api|access|private|auth|subscription|shared|signing|encryption)[-_]?key|secret|token|passwd|password|passphrase|credentials?)$/i;

export function looksSecret(name: string): boolean {
  return secretName.test(name);
}

const namedValue = /^\s*([!#$%&'*+.^_`|~0-9A-Za-z-]{1,256})\s*[:=]/;
const argument = /([?&#])([^=&#?\s]{1,256})=[^&#\s]+/g;
const member = /("([^"\\]{1,256})"\s{0,64}:\s{0,64})(?:"(?:[^"\\]|\\.)*"?|-?\d[\d.eE+-]*)/gs;
const userInfo = /([a-z][a-z0-9+.-]{0,31}:\/\/)[^/?#\s]*@/gi;

/** Maximum characters of a text that are scanned; no record has that many. */
const maxRead = 65_536;

/** `Authorization: Bearer ...` in a list of headers, a password or token in a URL, a form or JSON, a private key. */
function redactText(whole: string): string {
  const text = whole.slice(0, maxRead);
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
