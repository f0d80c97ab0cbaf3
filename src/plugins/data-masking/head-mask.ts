import { framingHeaders, isFramingHeader } from '../../plugin-sdk/index.ts';
import { type FieldMask, fieldMask, maskedPairs } from './bodies/form-body.ts';
import type { Rule } from './rules/rules.ts';

/** Masks headers and queries. */
export class HeadMask {
  /** Lower-case names of the headers that rules name. */
  readonly names: readonly string[];
  /** Some rule searches all headers. */
  readonly allHeaders: boolean;
  readonly query: ((query: string) => string) | null;
  readonly #field: FieldMask;

  /** `everywhere`: searches kinds and patterns in all headers and arguments, for all rules. */
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

  /** Masks one value, with one char for each byte. `name` in lower case; underscores count as hyphens. */
  header(name: string, value: string): string {
    const text = beyondAscii.test(value) ? Buffer.from(value, 'latin1').toString('utf8') : value;
    const masked = this.#field(name.includes('_') ? name.replaceAll('_', '-') : name, text);
    if (masked === text) return value;
    return masked === value || !beyondAscii.test(masked) ? masked : Buffer.from(masked).toString('latin1');
  }

  /** Masks the values of a field; null: nothing to mask. */
  headers(name: string, values: readonly string[]): readonly string[] | null {
    let changed = false;
    const masked = values.map((value) => {
      const maskedValue = this.header(name, value);
      if (maskedValue !== value) changed = true;
      return maskedValue;
    });
    return changed ? masked : null;
  }
}

const beyondAscii = /[^\0-\x7f]/;

/** Headers that control parsing and routing: they are searched only if a rule names them. */
const controlFields: ReadonlySet<string> = new Set([
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

/** The names of the fields of a message that `mask` applies to. */
export function fieldsOf(mask: HeadMask, all: () => Readonly<Record<string, unknown>>): readonly string[] {
  if (!mask.allHeaders) return mask.names;
  return [...new Set([...mask.names, ...Object.keys(all()).filter((name) => !controlFields.has(name))])];
}
