import type { EntityDefinition } from '../../../shared/entities/entity.ts';
import { schemaOf } from '../../../shared/entities/rows.ts';
import { isRecordSchema } from '../../../shared/schema/export/export.ts';
import type { RecordSchema } from '../../../shared/schema/fields.ts';
import { splitUrl } from '../../../shared/schema/formats.ts';
import { suggest } from '../../../shared/util/suggest.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A refused write. */
export interface Refusal {
  /** Messages by field, as the client receives them. */
  readonly fields: Fields;
  /** What the client sent, and whether it was a form. */
  readonly input: Fields;
  readonly form: boolean;
  /** The entity that the path names. */
  readonly definition: EntityDefinition | undefined;
  /** Plugins that are loaded. */
  readonly pluginNames: readonly string[];
}

/** How to fix a schema violation; null when the messages are enough. The first rule that applies wins. */
export function violationHint(refusal: Refusal): string | null {
  for (const rule of rules) {
    const hint = rule(refusal);
    if (hint !== null) return hint;
  }
  return null;
}

type Rule = (refusal: Refusal) => string | null;

const rules: readonly Rule[] = [jsonAsForm, urlHint, pluginHint, targetHint, hostHint, listHint, pemHint, unknownField];

function jsonAsForm({ form, input }: Refusal): string | null {
  if (!form || !Object.keys(input).some((name) => /^\s*[{[]/.test(name))) return null;
  return 'the body looks like JSON but was sent as a form: send Content-Type: application/json (curl --json)';
}

function urlHint({ fields, input }: Refusal): string | null {
  const { url } = input;
  if (typeof url !== 'string' || !['protocol', 'host', 'port', 'path'].some((name) => name in fields)) return null;
  const { scheme, host, port } = splitUrl(url);
  if (port !== null && 'port' in fields) return `the port of url must be from 0 to 65535, not ${port.slice(0, 20)}`;
  if (host !== null && scheme !== null) return null;
  const place = /^[A-Za-z0-9.\-_[\]:]+(?:\/|$)/.test(url) && !url.startsWith('http:') && !url.startsWith('https:');
  return `url needs a scheme and a host: http://${place ? url.slice(0, 200) : '127.0.0.1:9001'}`;
}

function pluginHint({ fields, input, pluginNames }: Refusal): string | null {
  const { name } = input;
  if (typeof name !== 'string' || typeof fields['name'] !== 'string' || !fields['name'].includes('not enabled')) {
    return null;
  }
  const guess = suggest(name.toLowerCase(), pluginNames) ?? pluginNames.find((known) => known.startsWith(name));
  return guess === undefined ? 'GET /plugins/enabled lists the plugins' : `did you mean '${guess}'?`;
}

function targetHint({ fields, input }: Refusal): string | null {
  const { target } = input;
  if (typeof fields['target'] !== 'string' || typeof target !== 'string') return null;
  if (target.includes('/')) return 'a target is a host and a port, without a scheme or a path: 10.0.0.1:8080';
  const port = /:(\d+)$/.exec(target)?.[1];
  if (port !== undefined && Number(port) > 65_535) return `the port must be from 0 to 65535, not ${port.slice(0, 20)}`;
  return 'a target is a host and a port: 10.0.0.1:8080, [2001:db8::1]:8080 or backend.internal:8080';
}

function hostHint({ fields, input }: Refusal): string | null {
  for (const name of ['hosts', 'snis', 'host', 'host_header']) {
    if (!(name in fields)) continue;
    const values: readonly unknown[] = Array.isArray(input[name]) ? input[name] : [input[name]];
    const url = values.find((value) => typeof value === 'string' && value.includes('/'));
    if (typeof url !== 'string') continue;
    const host = splitUrl(url).host ?? url.split('/')[0];
    return `${name} must be a host name without a scheme or a path${host ? `: ${host.slice(0, 200)}` : ''}`;
  }
  return null;
}

function listHint({ form, fields, input }: Refusal): string | null {
  if (!form) return null;
  const name = Object.keys(fields).find(
    (field) => fields[field] === 'expected an array' || fields[field] === 'expected a set',
  );
  const value = name === undefined ? undefined : input[name];
  if (typeof value !== 'object' || value === null || !('0' in value)) return null;
  return `positions in a form begin with 1: ${name}[1]=..., or ${name}[]=... for the next one`;
}

function pemHint({ fields, input, form }: Refusal): string | null {
  for (const name of ['cert', 'key', 'cert_alt', 'key_alt']) {
    const message = fields[name];
    const text = input[name];
    if (typeof message !== 'string' || !message.startsWith('invalid ') || typeof text !== 'string') continue;
    if (!text.includes('-----BEGIN ')) {
      return `${name} takes PEM text, from -----BEGIN to -----END; with curl: --form '${name}=<file.pem'`;
    }
    if (text.includes('\\n')) return `${name} has \\n as two characters where PEM has line breaks`;
    if (form && / /.test(text.replace(/-----[A-Z ]+-----/g, ''))) {
      return `a form turns + into a blank: encode the text (curl --data-urlencode) or send the file (curl --form '${name}=<file.pem')`;
    }
    return `${name} is PEM, but its content is not readable: check that the file is complete and of the right kind`;
  }
  return null;
}

/** Looks for a misspelt name at every level. */
function unknownField({ definition, fields, input }: Refusal): string | null {
  return definition === undefined ? null : misspelt(schemaOf(definition, input), fields, '');
}

function misspelt(schema: RecordSchema, fields: Fields, prefix: string): string | null {
  for (const [name, message] of Object.entries(fields)) {
    if (message === 'unknown field') {
      const guess = suggest(name, [...schema.fields.keys(), ...schema.shorthands.keys()]);
      if (guess !== null) return `did you mean ${prefix}${guess}?`;
      continue;
    }
    const inner = schema.fields.get(name);
    if (inner === undefined || !isRecordSchema(inner) || typeof message !== 'object' || message === null) continue;
    const hint = misspelt(inner, message as Fields, `${prefix}${name}.`);
    if (hint !== null) return hint;
  }
  return null;
}
