import { addVary } from '../../plugin-kit/http/index.ts';
import { BoundedCache } from '../../plugin-kit/runtime/index.ts';
import {
  type AccessContext,
  type BodyTransform,
  contextKey,
  type HeaderFilterContext,
  type PluginPhases,
  type ResponseHeadEdit,
} from '../../plugin-sdk/index.ts';
import { type Coding, type Preference, preferredCoding } from './accept-encoding.ts';
import { typeRules } from './content-types.ts';
import { Encoder } from './encoder.ts';
import { Engines } from './engines.ts';
import type { CompressionConfig } from './schema.ts';

interface Choice {
  readonly coding: Coding;
  /** Every chunk must reach the client at once. */
  readonly live: boolean;
}

const choiceKey = contextKey<Choice>('content coding');
const encoderKey = contextKey<Encoder>('encoder');

/** Headers that describe the uncompressed bytes. */
const ofOtherBytes = ['Accept-Ranges', 'Content-MD5', 'Digest', 'Content-Digest', 'Repr-Digest'];

export function compress(config: CompressionConfig): PluginPhases {
  const { min_bytes: minBytes } = config;
  const engines = new Engines({ gzip: config.gzip_level, br: config.br_level, zstd: config.zstd_level });
  // Relies on undocumented behaviour of Node's engines: refuse to start rather than break responses.
  for (const coding of config.codings) tryOut(coding, engines);
  const ruleOf = typeRules(config);
  const preferenceOf = preferences(config.codings);

  function choose({ request, response }: HeaderFilterContext): Choice | null {
    const { status } = response;
    if (status === 304) noteUnchanged(response, request.headerValues('if-none-match'));
    if (status < 200 || status === 204 || status === 205 || status === 206 || status === 304) return null;
    const rule = ruleOf(response.header('content-type'));
    const length = response.bodyLength;
    if (!rule.eligible || length === 0 || isSettled(response)) return null;
    addVary(response, 'Accept-Encoding');
    const { coding, mustCode } = preferenceOf(acceptEncoding(request.headerValues('accept-encoding')));
    if (coding === null || forbidsChanges(request.headerValues('cache-control'))) return null;
    if (length >= 0 && length < minBytes && !mustCode) return null;
    return { coding, live: rule.live || response.header('x-accel-buffering')?.toLowerCase() === 'no' };
  }

  return {
    ...(config.decompress_requests ? { access: decompress } : {}),
    headerFilter(context) {
      const choice = choose(context);
      if (choice === null) return;
      const { response } = context;
      response.setHeader('Content-Encoding', choice.coding);
      const tag = response.header('etag');
      if (tag?.startsWith('"')) response.setHeader('ETag', `W/${tag}`);
      for (const name of ofOtherBytes) response.removeHeader(name);
      context.set(choiceKey, choice);
    },
    bodyFilter(context) {
      const choice = context.get(choiceKey);
      if (choice === undefined) return null;
      // The length of the compressed body is unknown.
      if (context.request.method === 'HEAD') return noBody;
      const encoder = new Encoder(choice.coding, engines, context.response.bodyLength);
      context.set(encoderKey, encoder);
      return {
        chunk: (piece) => encoder.write(piece, choice.live),
        end: () => encoder.end(),
      };
    },
    // After an aborted transfer.
    log: (context) => context.get(encoderKey)?.close(),
    dispose: () => engines.close(),
  };
}

const noBody: BodyTransform = { chunk: () => null, end: () => null };

function tryOut(coding: Coding, engines: Engines): void {
  const encoder = new Encoder(coding, engines, 16);
  const piece = encoder.write(new Uint8Array(16), true);
  if (piece === null || encoder.end() === null) throw new Error(`this version of Node.js cannot stream ${coding}`);
}

/** Already encoded, not to be transformed, or a partial response. */
function isSettled(response: ResponseHeadEdit): boolean {
  const codings = response.headerValues('content-encoding');
  if (codings.some((value) => value.trim() !== '' && value.trim().toLowerCase() !== 'identity')) return true;
  if (response.header('content-range') !== null) return true;
  return forbidsChanges(response.headerValues('cache-control'));
}

/** `no-transform` (RFC 9111 5.2.1.6 and 5.2.2.6) of client or backend. */
function forbidsChanges(cacheControl: readonly string[]): boolean {
  return cacheControl.some((value) => noTransform.test(value));
}

const noTransform = /(?:^|,)[ \t]*no-transform[ \t]*(?:$|,)/i;

/** A 304 has the headers of the 200 (RFC 9110 15.4.5), which the client may have received with a weak tag. */
function noteUnchanged(response: ResponseHeadEdit, known: readonly string[]): void {
  addVary(response, 'Accept-Encoding');
  const tag = response.header('etag');
  if (tag?.startsWith('"') && known.some((value) => value.includes(`W/${tag}`))) response.setHeader('ETag', `W/${tag}`);
}

function acceptEncoding(values: readonly string[]): string | null {
  if (values.length < 2) return values[0] ?? null;
  return values.join(',');
}

/** Longer values are not cached: clients could fill the memory. */
const maxKeptLength = 200;

function preferences(codings: readonly Coding[]): (field: string | null) => Preference {
  const known = new BoundedCache<string, Preference>(256);
  const none = preferredCoding(null, codings);
  return (field) => {
    if (field === null) return none;
    const before = known.get(field);
    if (before !== undefined) return before;
    const preference = preferredCoding(field, codings);
    if (field.length <= maxKeptLength) known.set(field, preference);
    return preference;
  };
}

async function decompress(context: AccessContext): Promise<undefined> {
  if (context.request.header('content-encoding') !== null) await context.decodedBody();
  return undefined;
}
