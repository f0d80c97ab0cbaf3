import type { AccessContext, HeaderFilterContext } from '../../plugin-sdk/index.ts';

/**
 * Entity tags of masked answers: the backend's with a mark of the rules behind it, weak because the bytes are others. An answer that
 * another client gets by other rules has another tag.
 */
export class MarkedTags {
  readonly #suffix: string;
  readonly #own: RegExp;

  /** `mark`: hexadecimal digits that are others for other rules. */
  constructor(mark: string) {
    this.#suffix = `-m${mark}`;
    this.#own = new RegExp(`(?:^|,)[ \\t]*W/"([^"]*)-m${mark}"`, 'g');
  }

  /** `"x"` and `W/"x"` become `W/"x-m<mark>"`. Null: it is no tag. */
  marked(tag: string): string | null {
    const found = /^(?:W\/)?"([^"]*)"$/.exec(tag.trim());
    return found === null ? null : `W/"${found[1]}${this.#suffix}"`;
  }

  /**
   * What to ask a backend in place of this `If-None-Match`: the tags that were given out by the same rules, as the backend gave them.
   * Null: there is none, so the client has nothing that may be called unchanged.
   */
  asked(field: string): string | null {
    const tags = [...field.matchAll(this.#own)].map(([, tag]) => `W/"${tag}"`);
    return tags.length === 0 ? null : tags.join(', ');
  }
}

const conditions = /^(?:range|if[-_](?:range|modified[-_]since|none[-_]match)):/im;

/** A part of a body cannot be masked, and what a client has of other rules is not what it would get now. */
export function withoutConditions({ request, upstream }: AccessContext, tags: MarkedTags): void {
  if (!conditions.test(request.block())) return;
  upstream.removeHeader('Range');
  upstream.removeHeader('If-Range');
  upstream.removeHeader('If-Modified-Since');
  const asked = tags.asked(upstream.headerValues('if-none-match').join(', '));
  if (asked === null) upstream.removeHeader('If-None-Match');
  else upstream.setHeader('If-None-Match', asked);
}

/** They tell of the bytes that the backend sent. */
const ofOtherBytes = [
  'Accept-Ranges',
  'Content-MD5',
  'Digest',
  'Content-Digest',
  'Repr-Digest',
  'Signature',
  'Signature-Input',
];

/**
 * Of any answer where bodies are masked, was one sent or not (HEAD, 304): what has no mark is not asked for again. `others`: the bytes
 * are not those of the backend.
 */
export function markAnswer({ response }: HeaderFilterContext, tags: MarkedTags, others: boolean): void {
  const tag = response.header('etag');
  if (tag !== null) {
    const marked = tags.marked(tag);
    if (marked === null) response.removeHeader('ETag');
    else response.setHeader('ETag', marked);
  }
  if (!others) return;
  for (const name of ofOtherBytes) if (response.header(name) !== null) response.removeHeader(name);
}

const shared = /^(?:public|private|s-maxage|proxy-revalidate)(?:=|$)/i;

/** What one client gets is not for another one: caches that clients share must not keep it. */
export function keepPrivate({ response }: HeaderFilterContext): void {
  const directives = response
    .headerValues('cache-control')
    .flatMap((value) => value.split(/,(?=(?:[^"]*"[^"]*")*[^"]*$)/))
    .map((directive) => directive.trim());
  if (directives.some((directive) => /^no-store$/i.test(directive))) return;
  const kept = directives.filter((directive) => directive !== '' && !shared.test(directive));
  response.setHeader('Cache-Control', ['private', ...kept].join(', '));
  for (const name of ['Surrogate-Control', 'CDN-Cache-Control']) {
    if (response.header(name) !== null) response.removeHeader(name);
  }
}
