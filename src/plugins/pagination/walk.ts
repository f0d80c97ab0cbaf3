import type { AccessContext, BackendAnswer, Reply } from '../../plugin-sdk/index.ts';
import { backendReply, CallFailed, refuse } from '../../plugin-sdk/index.ts';
import type { AnswerForm, readPage } from './rewrite.ts';
import type { PaginationConfig } from './schema.ts';

export interface WalkParts {
  readonly config: PaginationConfig;
  /** The query without paging arguments. */
  readonly query: string;
  /** At once, or in another thread. */
  read(body: Uint8Array, form: AnswerForm, requested: number): PageFacts | Promise<PageFacts>;
  /** The reply when a response cannot be used. */
  bad(fault: string): Reply;
}

type PageFacts = ReturnType<typeof readPage>;

/** Where the page begins; or the response with which the list ended earlier; or a reply. */
export type WalkEnd = { readonly token: string } | { readonly ended: Reply } | { readonly reply: Reply };

/** Milliseconds for each of the requests. */
const timeout = 30_000;

/** Requests all pages before an item from a backend that only supports sequential paging. */
export async function walkTo(context: AccessContext, offset: number, parts: WalkParts): Promise<WalkEnd> {
  const { backend, max_limit: most, max_walk_calls: maxCalls } = parts.config;
  const largest = backend.max_limit ?? most;
  const calls = maxCalls - 1;
  if (Math.ceil(offset / largest) > calls) return { reply: refuse(400, 'The page is too far from the beginning') };
  let token: string | null = null;
  let at = 0;
  for (let call = 0; call < calls && at < offset; call++) {
    const requested = Math.min(largest, offset - at);
    const answer = await requestPage(context, parts, requested, token);
    if ('reply' in answer) return answer;
    const page = await parts.read(answer.body, backend, requested);
    if ('fault' in page) return { reply: parts.bad(page.fault) };
    at += page.count;
    if (at > offset) return { reply: parts.bad('it has more items than were requested') };
    if (page.token === null || page.token === token) {
      return { ended: backendReply({ status: 200, headers: answer.block(), body: answer.body, fresh: false }) };
    }
    token = page.token;
  }
  if (token === null || at < offset) return { reply: refuse(400, 'The page is too far from the beginning') };
  return { token };
}

async function requestPage(
  context: AccessContext,
  { config, query }: WalkParts,
  limit: number,
  token: string | null,
): Promise<BackendAnswer | { readonly reply: Reply }> {
  const { backend, max_body_bytes: maxBytes } = config;
  const own = [`${encodeURIComponent(backend.limit_name)}=${limit}`];
  const name = backend.style === 'cursor' ? backend.cursor_name : backend.before_name;
  if (token !== null) own.push(`${encodeURIComponent(name)}=${encodeURIComponent(token)}`);
  const whole = [...(query === '' ? [] : [query]), ...own].join('&');
  try {
    const answer = await context.call({ query: whole, pass: 'all', timeout, maxBytes });
    if (answer.status === 200) return answer;
    return { reply: backendReply({ status: answer.status, headers: answer.block(), body: answer.body, fresh: false }) };
  } catch (error) {
    if (!(error instanceof CallFailed)) throw error;
    return { reply: refuse(error.status, 'The backend did not answer') };
  }
}
