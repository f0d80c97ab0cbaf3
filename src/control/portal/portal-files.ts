import { brotliCompressSync } from 'node:zlib';
import { acceptedEncoding } from '../dashboard/accepted-encoding.ts';
import { BuiltFiles } from '../dashboard/built-files.ts';
import type { Encoding } from '../dashboard/manifest.ts';
import type { PortalReply, PortalRequest } from './portal-request.ts';

const pageName = 'portal.html';
const iconName = 'favicon.svg';

/** The built page of the portal, and the files that it names: nothing else of the dashboard. */
export class PortalFiles {
  readonly #files: BuiltFiles;
  #page: { readonly hash: string; readonly source: string; readonly named: ReadonlySet<string> } | null = null;

  /** `folder`: of the built files. Default: that of the clone or package. */
  constructor(folder?: string) {
    this.#files = new BuiltFiles(folder);
  }

  /** `name`: path below `/portal/`; '' is the page. Null: there is no such file. */
  reply(request: PortalRequest, name: string): PortalReply | null {
    if (name === '') return this.#pageReply(request);
    if (name !== iconName && this.#current()?.named.has(name) !== true) return null;
    const file = this.#files.find(name);
    if (file === null) return null;
    const encoding = acceptedEncoding(request.headers['accept-encoding'], file);
    const caching = file.immutable ? 'public, max-age=31536000, immutable' : 'no-cache';
    return {
      status: 200,
      headers: { 'content-type': file.type, 'cache-control': caching, ...encodingHeaders(encoding) },
      body: this.#files.read(name, encoding),
    };
  }

  #pageReply({ headers }: PortalRequest): PortalReply {
    const page = this.#current();
    if (page === null) return notBuilt;
    const encoding = acceptedEncoding(headers['accept-encoding'], { sizes: { br: 0, identity: 0 } });
    const content = Buffer.from(page.source);
    return {
      status: 200,
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-cache',
        ...encodingHeaders(encoding),
      },
      body: encoding === 'br' ? brotliCompressSync(content) : content,
    };
  }

  /** Null: nothing is built. */
  #current() {
    this.#files.refresh();
    const file = this.#files.find(pageName);
    if (file === null) return null;
    if (this.#page?.hash !== file.hash) {
      const source = this.#files.read(pageName, 'identity').toString('utf8');
      const named = new Set([...source.matchAll(/"\.\/(assets\/[\w.-]+)"/g)].map(([, path]) => path as string));
      this.#page = { hash: file.hash, source, named };
    }
    return this.#page;
  }
}

function encodingHeaders(encoding: Encoding): Readonly<Record<string, string>> {
  return { vary: 'Accept-Encoding', ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }) };
}

const notBuilt: PortalReply = {
  status: 503,
  headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store', 'retry-after': '5' },
  body: Buffer.from('The portal has not been built yet. Try again in a moment.\n'),
};
