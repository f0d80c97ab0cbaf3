import type { AccessContext, HeaderFilterContext } from '../../plugin-sdk/index.ts';

/**
 * Entity tags of masked responses: the tag of the backend with a suffix for the rules, weak because the bytes differ. With
 * other rules, another client gets another tag.
 */
export class MarkedTags {
  readonly #suffix: string;
  readonly #own: RegExp;

  /** `mark`: a short hash of the rules, in hexadecimal. */
  constructor(mark: string) {
    this.#suffix = `-m${mark}`;
    this.#own = new RegExp(`(?:^|,)[ \\t]*W/"([^"]*)-m${mark}"`, 'g');
  }

  /** `"x"` and `W/"x"` become `W/"x-m<mark>"`. Null: not a tag. */
  marked(tag: string): string | null {
    const found = /^(?:W\/)?"([^"]*)"$/.exec(tag.trim());
    return found === null ? null : `W/"${found[1]}${this.#suffix}"`;
  }

  /**
   * The `If-None-Match` for the backend: the tags that were created with the same rules, in the form of the backend. Null:
   * there are none, so the response must not be 304.
   */
  forBackend(field: string): string | null {
    const tags = [...field.matchAll(this.#own)].map(([, tag]) => `W/"${tag}"`);
    return tags.length === 0 ? null : tags.join(', ');
  }
}

const conditions = /^(?:range|if[-_](?:range|modified[-_]since|none[-_]match)):/im;

/** A part of a body cannot be masked, and a response that was masked with other rules is outdated. */
export function withoutConditions({ request, upstream }: AccessContext, tags: MarkedTags): void {
  if (!conditions.test(request.block())) return;
  upstream.removeHeader('Range');
  upstream.removeHeader('If-Range');
  upstream.removeHeader('If-Modified-Since');
  const forBackend = tags.forBackend(upstream.headerValues('if-none-match').join(', '));
  if (forBackend === null) upstream.removeHeader('If-None-Match');
  else upstream.setHeader('If-None-Match', forBackend);
}

/** Describe the bytes that the backend sent. */
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
 * Marks every response to a request whose body would be masked, even without a body (HEAD, 304). `changed`: the bytes differ
 * from those of the backend.
 */
export function markResponse({ response }: HeaderFilterContext, tags: MarkedTags, changed: boolean): void {
  const tag = response.header('etag');
  if (tag !== null) {
    const marked = tags.marked(tag);
    if (marked === null) response.removeHeader('ETag');
    else response.setHeader('ETag', marked);
  }
  if (!changed) return;
  for (const name of ofOtherBytes) if (response.header(name) !== null) response.removeHeader(name);
}

const shared = /^(?:public|private|s-maxage|proxy-revalidate)(?:=|$)/i;

/** Clients receive different responses: shared caches must not store them. */
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
