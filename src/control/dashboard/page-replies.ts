import type { IncomingMessage } from 'node:http';
import { brotliCompressSync } from 'node:zlib';
import { acceptedEncoding } from './accepted-encoding.ts';
import type { BuiltFiles } from './built-files.ts';
import { type BuiltFile, type Encoding, indexName, progressOf } from './manifest.ts';
import { noticePage, noticeStyle, noticeStylePath } from './notice-page.ts';

/** An answer of the dashboard, except of the Admin API below it. */
export interface PageReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface PageRequest extends Pick<IncomingMessage, 'method' | 'url' | 'headers'> {}

/** `base`: the path of the dashboard, with a slash at its end. */
export function pageReply(request: PageRequest, files: BuiltFiles, base: string): PageReply {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return text(405, 'Method not allowed\n', { allow: 'GET, HEAD' });
  }
  const path = (request.url ?? '').replace(/[?#].*$/s, '');
  if (base !== '/' && (path === '/' || `${path}/` === base)) return text(302, '', { location: base });
  if (!path.startsWith(base)) return text(404, 'Not found\n');
  const name = path.slice(base.length);
  if (name === noticeStylePath) return uncached(200, 'text/css; charset=utf-8', noticeStyle);
  if (isPage(name)) {
    if (files.refresh()) return page(request, files, base);
    return uncached(503, 'text/html; charset=utf-8', noticePage(progressOf(files.folder), base));
  }
  const file = files.find(name);
  return file === null ? text(404, 'Not found\n') : asset(request, files, name, file);
}

/** Files are at the top, with an extension, or in `assets/`. Names of entities have dots, too: `/config/upstreams/pool.internal`. */
function isPage(name: string): boolean {
  return name === indexName || !/^(?:assets\/|[^/]*\.[a-z0-9]+$)/i.test(name);
}

function page(request: PageRequest, files: BuiltFiles, base: string): PageReply {
  const file = files.find(indexName);
  if (file === null) return text(404, 'Not found\n');
  const source = files.read(indexName, 'identity').toString('utf8');
  const content = Buffer.from(source.replace('<base href="/" />', `<base href="${base}" />`));
  const encoding = acceptedEncoding(request.headers['accept-encoding'], { sizes: { br: 0, identity: 0 } });
  return conditional(request, {
    ...{ file, encoding, caching: revalidated },
    // The page contains the path of the dashboard, which a setting can change.
    tag: `${file.hash}${base.replaceAll('/', '.')}`,
    body: () => (encoding === 'br' ? brotliCompressSync(content) : content),
  });
}

function asset(request: PageRequest, files: BuiltFiles, name: string, file: BuiltFile): PageReply {
  const encoding = acceptedEncoding(request.headers['accept-encoding'], file);
  const caching = file.immutable ? 'public, max-age=31536000, immutable' : revalidated;
  return conditional(request, { file, encoding, caching, tag: file.hash, body: () => files.read(name, encoding) });
}

const revalidated = 'no-cache';

interface Content {
  readonly file: BuiltFile;
  readonly encoding: Encoding;
  readonly caching: string;
  readonly tag: string;
  readonly body: () => Buffer;
}

function conditional({ headers }: PageRequest, { file, encoding, caching, tag, body }: Content): PageReply {
  const etag = `"${tag}-${encoding}"`;
  const common = { vary: 'Accept-Encoding', etag, 'cache-control': caching };
  if (matches(headers['if-none-match'], etag)) return { status: 304, headers: common, body: empty };
  const encoded: Record<string, string> = encoding === 'identity' ? {} : { 'content-encoding': encoding };
  return { status: 200, headers: { ...common, ...encoded, 'content-type': file.type }, body: body() };
}

const empty = Buffer.alloc(0);

/** `If-None-Match`, weak comparison (RFC 9110, section 13.1.2). */
function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag);
}

function text(status: number, body: string, headers: Readonly<Record<string, string>> = {}): PageReply {
  return uncached(status, 'text/plain; charset=utf-8', body, headers);
}

function uncached(
  status: number,
  type: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): PageReply {
  return {
    status,
    headers: { ...headers, 'cache-control': 'no-store', 'content-type': type },
    body: Buffer.from(body),
  };
}
