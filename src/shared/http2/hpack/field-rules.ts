import { BlockBuffer } from './block-buffer.ts';
import { appendText } from './huffman-encoder.ts';
import { staticTable } from './static-table.ts';

/** How a field is encoded. */
export const Coding = {
  /** Not at all. */
  dropped: 0,
  /** With a place in the dynamic table: its value repeats. */
  indexed: 1,
  /** Its name gets a place in the dynamic table, with the first value; later values are literals. */
  nameIndexed: 2,
  /** As a literal. */
  literal: 3,
  /** As a literal that nobody may index (RFC 7541 7.1.3). */
  neverIndexed: 4,
} as const;
export type Coding = (typeof Coding)[keyof typeof Coding];

/** A field name as it appears in header blocks, and how it is sent. */
export class FieldRule {
  /** The name as it was found, with its colon. */
  readonly prefix: Uint8Array;
  readonly coding: Coding;
  /** The name in lower case. */
  readonly name: string;
  /** The same as a string literal. */
  readonly literal: Uint8Array;
  /** Its first index in the static table; 0: none. */
  readonly staticIndex: number;
  /** The values that follow each other in the static table from there on. */
  readonly staticValues: readonly Uint8Array[];
  /** For names with a place in the dynamic table: their number, else -1. */
  readonly slot: number;
  /** The rule of the field that followed last time: fields tend to come in the same order. */
  next: FieldRule | null = null;

  constructor(found: string, coding: Coding) {
    const name = found.toLowerCase();
    this.prefix = Buffer.from(`${found}:`, 'latin1');
    this.coding = coding;
    this.name = name;
    this.literal = literalOf(name);
    this.staticIndex = staticTable.findIndex(([known]) => known === name) + 1;
    this.staticValues = staticTable.flatMap(([known, value]) =>
      known === name && value !== '' ? [Buffer.from(value, 'latin1')] : [],
    );
    this.slot = slots.get(name) ?? -1;
  }
}

function literalOf(name: string): Uint8Array {
  const buffer = new BlockBuffer(name.length + 8);
  appendText(buffer, Buffer.from(name, 'latin1'), 0, name.length);
  return Uint8Array.from(buffer.bytes.subarray(0, buffer.length));
}

/** Names whose values repeat from one message to the next. */
const indexed: readonly string[] = [
  ':status',
  ':authority',
  ':method',
  ...['accept', 'accept-encoding', 'accept-language', 'accept-ranges', 'age', 'allow', 'alt-svc'],
  ...['access-control-allow-credentials', 'access-control-allow-headers', 'access-control-allow-methods'],
  ...['access-control-allow-origin', 'access-control-expose-headers', 'access-control-max-age'],
  ...['cache-control', 'content-encoding', 'content-language', 'content-security-policy', 'content-type'],
  ...['cross-origin-embedder-policy', 'cross-origin-opener-policy', 'cross-origin-resource-policy', 'date'],
  ...['grpc-accept-encoding', 'grpc-encoding', 'grpc-status', 'permissions-policy', 'pragma', 'priority'],
  ...['referrer-policy', 'server', 'strict-transport-security', 'te', 'user-agent', 'vary', 'via'],
  ...['x-content-type-options', 'x-forwarded-host', 'x-forwarded-port', 'x-forwarded-proto', 'x-frame-options'],
  ...['x-kong-upstream-status', 'x-powered-by', 'x-ratelimit-limit-hour', 'x-ratelimit-limit-minute'],
  ...['x-ratelimit-limit-second', 'ratelimit-limit', 'x-xss-protection', 'x-cache-status'],
];

/** Names whose values differ. */
const nameIndexed: readonly string[] = [
  ...['traceparent', 'grpc-timeout', 'x-consumer-id', 'x-consumer-username', 'x-credential-identifier'],
  ...['ratelimit-remaining', 'ratelimit-reset', 'x-ratelimit-remaining-hour', 'x-ratelimit-remaining-minute'],
  ...['x-ratelimit-remaining-second', 'x-forwarded-for', 'x-forwarded-path', 'x-forwarded-prefix', 'x-real-ip'],
  ...['x-kong-proxy-latency', 'x-kong-request-id', 'x-kong-response-latency', 'x-kong-upstream-latency'],
  ...['x-request-id', 'x-correlation-id', 'kong-request-id'],
];

/** Secrets. An index would let others on a shared connection find their values by trial (RFC 7541 7.1). */
const neverIndexed: readonly string[] = [
  ...['apikey', 'api-key', 'authorization', 'cookie', 'proxy-authorization', 'set-cookie', 'x-amz-security-token'],
  ...['x-api-key', 'x-auth-token', 'x-csrf-token', 'x-access-token'],
];

const slots: ReadonlyMap<string, number> = new Map([...indexed, ...nameIndexed].map((name, slot) => [name, slot]));
export const slotCount: number = slots.size;

const codings: ReadonlyMap<string, Coding> = new Map([
  ...indexed.map((name) => [name, Coding.indexed] as const),
  ...nameIndexed.map((name) => [name, Coding.nameIndexed] as const),
  ...neverIndexed.map((name) => [name, Coding.neverIndexed] as const),
]);

/** Names above this number are converted each time. */
const maxKnown = 1000;
/** A longer name is not worth the memory. */
const maxKnownLength = 64;

/** Finds the rules of the names in header blocks. */
export class FieldRules {
  readonly #known = new Map<string, FieldRule>();
  readonly #dropped: ReadonlySet<string>;
  /** What precedes the first field. */
  readonly first: FieldRule = new FieldRule('', Coding.dropped);

  /** `dropped`: names, in lower case, of fields that are not sent. */
  constructor(dropped: readonly string[]) {
    this.#dropped = new Set(dropped);
  }

  /** The rule of the field whose line begins at `at`, after a field with the rule `previous`. `bytes`: the same as `block`. */
  at(block: string, bytes: Uint8Array, at: number, previous: FieldRule): FieldRule {
    const likely = previous.next;
    if (likely !== null && beginsWith(bytes, at, likely.prefix)) return likely;
    const name = block.slice(at, block.indexOf(':', at));
    const known = this.#known.get(name);
    if (known !== undefined) {
      previous.next = known;
      return known;
    }
    return this.#learn(name);
  }

  #learn(found: string): FieldRule {
    // A copy: a slice of a block would retain the whole block.
    const name = Buffer.from(found, 'latin1').toString('latin1');
    const lower = name.toLowerCase();
    const rule = new FieldRule(
      name,
      this.#dropped.has(lower) ? Coding.dropped : (codings.get(lower) ?? Coding.literal),
    );
    if (this.#known.size < maxKnown && name.length <= maxKnownLength) this.#known.set(name, rule);
    return rule;
  }
}

/** The range from `at` on begins with these bytes. */
export function beginsWith(bytes: Uint8Array, at: number, wanted: Uint8Array): boolean {
  for (let index = 0; index < wanted.length; index++) if (bytes[at + index] !== wanted[index]) return false;
  return true;
}
