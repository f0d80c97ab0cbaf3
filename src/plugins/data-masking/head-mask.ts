import { framingHeaders, isFramingHeader } from '../../plugin-sdk/index.ts';
import { type FieldMask, fieldMask, maskedPairs } from './form-body.ts';
import type { Rule } from './rules.ts';

/** Masks headers and queries by some rules. */
export class HeadMask {
  /** Names in lower case that rules give. */
  readonly names: readonly string[];
  /** Some rule looks through all headers. */
  readonly allHeaders: boolean;
  readonly query: ((query: string) => string) | null;
  readonly #field: FieldMask;

  /** `everywhere`: kinds and patterns are looked for in all headers and arguments, whatever the rules say. */
  constructor(rules: readonly Rule[], everywhere = false) {
    const named = rules.flatMap(({ config }) => config.headers ?? []).map((name) => name.toLowerCase());
    this.names = [...new Set(named)].filter((name) => !isFramingHeader(name));
    const searches = (rule: Rule) => everywhere && rule.search !== null;
    this.allHeaders = rules.some((rule) => rule.inHeaders || searches(rule));
    this.#field = fieldMask(
      rules,
      ({ config }) => config.headers?.map((name) => name.toLowerCase().replaceAll('_', '-')) ?? null,
      (rule) => rule.inHeaders || searches(rule),
    );
    const queries = rules.some(
      (rule) => rule.inQuery || searches(rule) || (rule.config.query_arguments?.length ?? 0) > 0,
    );
    const argument = fieldMask(
      rules,
      ({ config }) => config.query_arguments,
      (rule) => rule.inQuery || searches(rule),
    );
    this.query = queries ? (query) => maskedPairs(query, argument) : null;
  }

  get isEmpty(): boolean {
    return this.names.length === 0 && !this.allHeaders && this.query === null;
  }

  /** A value, one char for each byte. `name` in lower case; underscores in it count as hyphens. */
  header(name: string, value: string): string {
    const text = beyondAscii.test(value) ? Buffer.from(value, 'latin1').toString('utf8') : value;
    const masked = this.#field(name.includes('_') ? name.replaceAll('_', '-') : name, text);
    if (masked === text) return value;
    return masked === value || !beyondAscii.test(masked) ? masked : Buffer.from(masked).toString('latin1');
  }

  /** The values of a field of which some are masked; null: none is. */
  headers(name: string, values: readonly string[]): readonly string[] | null {
    let changed = false;
    const masked = values.map((value) => {
      const one = this.header(name, value);
      if (one !== value) changed = true;
      return one;
    });
    return changed ? masked : null;
  }
}

const beyondAscii = /[^\0-\x7f]/;

/** They tell how a message is read or where it goes: nothing is looked for in them unless a rule names them. */
const ownFields: ReadonlySet<string> = new Set([
  ...framingHeaders,
  'accept',
  'accept-encoding',
  'age',
  'allow',
  'cache-control',
  'content-encoding',
  'content-type',
  'date',
  'etag',
  'expires',
  'forwarded',
  'host',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-unmodified-since',
  'last-modified',
  'retry-after',
  'vary',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-real-ip',
]);

/** Names of the fields that `mask` looks at among those of a message. */
export function fieldsOf(mask: HeadMask, all: () => Readonly<Record<string, unknown>>): readonly string[] {
  if (!mask.allHeaders) return mask.names;
  return [...new Set([...mask.names, ...Object.keys(all()).filter((name) => !ownFields.has(name))])];
}
