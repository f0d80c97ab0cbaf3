import { sharedSecret } from '../../plugin-kit/auth/index.ts';
import { mediaType } from '../../plugin-kit/http/index.ts';
import { throttledLog } from '../../plugin-kit/logging/index.ts';
import { OffThreadError, offThread } from '../../plugin-kit/runtime/index.ts';
import {
  type AccessContext,
  contextKey,
  type HeaderFilterContext,
  type PluginPhases,
  type PluginTools,
  type Reply,
  type ResponseContext,
  type ResponseHeadEdit,
  refuse,
} from '../../plugin-sdk/index.ts';
import type { CursorSecret } from './cursors.ts';
import { goesByToken, mappingOf, styles } from './exactness.ts';
import { withoutPagingLinks } from './foreign-links.ts';
import { linkValue } from './links.ts';
import { type PageRequest, PageRequestReader } from './page-request.ts';
import { withArguments } from './query.ts';
import { type Fault, type Job, type Page, readPage, readPaths, rewriteAnswer } from './rewrite.ts';
import type { PaginationConfig } from './schema.ts';
import { walkTo } from './walk.ts';
import { type Window, windowFor } from './window.ts';
import { secretZone } from './zones.ts';

interface Paging {
  readonly pageRequest: PageRequest;
  readonly window: Window;
}

const pagingKey = contextKey<Paging>('page');

/** Bytes; a larger answer is read and written in another thread. 256 KiB take about 10 ms. */
const largeBody = 262_144;
const module = new URL('./rewrite.ts', import.meta.url);
const rewriteApart = offThread<[Uint8Array, Job], Page | Fault>(module, 'rewriteAnswer');
const readApart = offThread<Parameters<typeof readPage>, ReturnType<typeof readPage>>(module, 'readPage');

/** Headers about the backend's whole response, which are wrong for the client's. */
const ofOtherBytes = ['Accept-Ranges', 'Content-MD5', 'Digest', 'Content-Digest', 'Repr-Digest'];

export function paginate(config: PaginationConfig, tools: PluginTools): PluginPhases {
  const { backend, client } = config;
  const secret: CursorSecret = {
    secret: config.secret ?? sharedSecret(tools.zone(secretZone)),
    purpose: `pagination ${tools.instanceId}`,
  };
  readPaths([backend.items, backend.next_cursor, backend.key, backend.total, backend.has_more]);
  readPaths([client.items, client.next_cursor, client.total]);
  const reader = new PageRequestReader(config, secret);
  // Those of the backend, too: a client must not send them past the gateway.
  const allNames = new Set(
    [...styles, 'limit' as const].flatMap((style) => [backend[`${style}_name`], client[`${style}_name`]]),
  );
  const givesCursors = config.clients.includes('cursor');
  const report = throttledLog(10_000, (fault, suppressed) =>
    tools.log.warn(`the backend's answer cannot be paged: ${fault}`, { suppressed }),
  );

  function access(context: AccessContext): undefined | Reply | Promise<undefined | Reply> {
    const { request, route } = context;
    if (request.method !== 'GET' && request.method !== 'HEAD') return undefined;
    const pageRequest = reader.read(request, route?.id ?? '');
    if ('problem' in pageRequest) return refuse(400, pageRequest.problem);
    context.upstream.removeQueryArguments(allNames);
    context.upstream.removeHeader('Range');
    context.upstream.removeHeader('If-Range');
    const offset = pageRequest.from !== null && 'offset' in pageRequest.from ? pageRequest.from.offset : 0;
    if (goesByToken(backend.style) && offset > 0 && request.method === 'GET') return walk(context, pageRequest, offset);
    return send(context, pageRequest, windowFor(pageRequest, config));
  }

  function send(
    context: AccessContext,
    pageRequest: PageRequest,
    window: ReturnType<typeof windowFor>,
  ): Reply | undefined {
    if ('problem' in window) return refuse(400, window.problem);
    const { upstream } = context;
    const query = upstream.query();
    upstream.setQuery(withArguments(query === '' ? [] : [query], window.sent));
    context.set(pagingKey, { pageRequest, window });
    return undefined;
  }

  async function walk(context: AccessContext, pageRequest: PageRequest, offset: number): Promise<Reply | undefined> {
    const query = context.upstream.query();
    const read = (...given: Parameters<typeof readPage>) =>
      given[0].byteLength > largeBody ? readApart.forClient(context.client.ip, ...given) : readPage(...given);
    const end = await walkTo(context, offset, { config, query, read, bad }).catch(tooBusy);
    if ('reply' in end) return end.reply;
    const from = 'token' in end ? { token: end.token } : null;
    const window = windowFor({ ...pageRequest, from }, config);
    if ('problem' in window) return refuse(400, window.problem);
    if ('ended' in end) {
      // None of its items are on the requested page.
      const beyond = Number.POSITIVE_INFINITY;
      context.set(pagingKey, { pageRequest, window: { ...window, requested: beyond, skip: beyond, offset } });
      return end.ended;
    }
    return send(context, pageRequest, { ...window, offset });
  }

  function shouldBufferResponse(context: HeaderFilterContext): boolean {
    const { response } = context;
    if (context.get(pagingKey) === undefined) return false;
    if (response.source !== 'upstream' || response.status !== 200) return false;
    return mediaType(response.header('content-type'))?.isJson === true;
  }

  function response(context: ResponseContext): undefined | Reply | Promise<undefined | Reply> {
    const paging = context.get(pagingKey);
    if (paging === undefined) return undefined;
    const coding = context.response.header('content-encoding')?.trim().toLowerCase() ?? '';
    if (coding !== '' && coding !== 'identity') return bad('its content coding is not known');
    if (context.request.method === 'HEAD') {
      tidy(context.response);
      return undefined;
    }
    const job = jobFor(context, paging);
    const body = context.response.body();
    // Another plugin may allow larger ones.
    if (body.byteLength > config.max_body_bytes) return bad(`it is larger than ${config.max_body_bytes} bytes`);
    if (body.byteLength <= largeBody) return finish(context, paging, job, rewriteAnswer(body, job));
    return rewriteApart.forClient(context.client.ip, body, job).then(
      (result) => finish(context, paging, job, result),
      (error) => tooBusy(error).reply,
    );
  }

  /** The other thread is overloaded. */
  function tooBusy(error: unknown): { readonly reply: Reply } {
    if (!(error instanceof OffThreadError)) throw error;
    tools.log.warn('an answer could not be paged', { error });
    return { reply: refuse(503, 'The answer could not be paged in time') };
  }

  function jobFor({ response }: ResponseContext, { pageRequest, window }: Paging): Job {
    const { requested, skip, take, offset, token } = window;
    const walks = mappingOf(pageRequest.style, backend.style) === 'walk';
    const header = backend.total_header === null ? null : response.header(backend.total_header);
    const expires = config.cursor_ttl === 0 ? null : Math.floor(Date.now() / 1000) + config.cursor_ttl;
    return {
      backend: formOf(backend),
      client: { items: client.items, next_cursor: givesCursors ? client.next_cursor : null, total: client.total },
      requested,
      skip,
      take,
      offset,
      token,
      total: header !== null && /^\d{1,15}$/.test(header) ? Number(header) : null,
      wantsWhole: walks || pageRequest.style === 'page' || backend.style === 'page',
      wantsNoMore: walks || backend.style === 'page',
      cursor: givesCursors ? { secret, list: pageRequest.list, expires } : null,
    };
  }

  function finish(
    context: ResponseContext,
    { pageRequest }: Paging,
    job: Job,
    result: Page | Fault,
  ): Reply | undefined {
    if ('fault' in result) return result.noList && !pageRequest.explicit ? undefined : bad(result.fault);
    const { response, request } = context;
    response.setBody(Buffer.from(result.text));
    tidy(response);
    const foreign = withoutPagingLinks(response.headerValues('link'));
    const own = config.links ? [linkValue(request.rawPath, pageRequest, result, job, config)] : [];
    if (foreign.length + own.length === 0) response.removeHeader('Link');
    else response.setHeader('Link', [...foreign, ...own].join(', '));
    return undefined;
  }

  /** The backend's validators and digests do not apply to the client's bytes. */
  function tidy(response: ResponseHeadEdit): void {
    for (const name of ofOtherBytes) response.removeHeader(name);
    const tag = response.header('etag');
    // After a 304 a client would keep using expired cursors.
    if (config.cursor_ttl > 0) for (const name of ['ETag', 'Last-Modified']) response.removeHeader(name);
    else if (tag?.startsWith('"')) response.setHeader('ETag', `W/${tag}`);
  }

  function bad(fault: string): Reply {
    tools.count('bad_answers');
    report(fault);
    return refuse(502, `The backend's answer cannot be paged: ${fault}`);
  }

  return { access, shouldBufferResponse, response };
}

function formOf({ style, items, next_cursor, key, total, has_more }: PaginationConfig['backend']): Job['backend'] {
  return { style, items, next_cursor, key, total, has_more };
}
