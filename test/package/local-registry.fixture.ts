import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer, json } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';

const root = join(import.meta.dirname, '../..');

/** A package as a registry describes it. */
interface Version {
  readonly version: string;
  readonly [field: string]: unknown;
}

type Tarball = () => NodeJS.ReadableStream;

export interface LocalRegistry extends AsyncDisposable {
  readonly url: string;
  /** Names of the packages that were published, with their versions. */
  readonly published: readonly string[];
}

/**
 * A registry of npm packages without a network: those of `tarballs`, by path, and those that the repository has in
 * `node_modules`, in the versions of its lock. `npm publish` works, too.
 */
export async function startRegistry(tarballs: readonly string[]): Promise<LocalRegistry> {
  const packages = new Map<string, Map<string, { readonly manifest: Version; readonly tarball: Tarball }>>();
  const published: string[] = [];
  const add = (name: string, manifest: Version, tarball: Tarball): void => {
    const versions = packages.get(name) ?? new Map();
    packages.set(name, versions.set(manifest.version, { manifest, tarball }));
  };
  for (const [name, manifest, folder] of lockedPackages()) add(name, manifest, () => tarOf(folder));
  for (const path of tarballs) {
    const manifest = JSON.parse((await buffer(unpacked(path))).toString()) as Version & { readonly name: string };
    const content = readFileSync(path);
    add(manifest.name, manifest, () => streamOf(content));
  }

  async function publish(request: IncomingMessage): Promise<void> {
    const { name, versions, _attachments } = (await json(request)) as {
      readonly name: string;
      readonly versions: Readonly<Record<string, Version>>;
      readonly _attachments: Readonly<Record<string, { readonly data: string }>>;
    };
    const [manifest] = Object.values(versions);
    const [attachment] = Object.values(_attachments);
    if (manifest === undefined || attachment === undefined) throw new TypeError(`nothing is published as ${name}`);
    add(name, manifest, () => streamOf(Buffer.from(attachment.data, 'base64')));
    published.push(`${name}@${manifest.version}`);
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', url);
    const name = decodeURIComponent(pathname.slice(1));
    if (request.method === 'PUT') {
      await publish(request);
      response.writeHead(201, { 'Content-Type': 'application/json' }).end('{"ok":true}');
      return;
    }
    const versions = packages.get(name);
    if (versions === undefined) {
      response.writeHead(404, { 'Content-Type': 'application/json' }).end('{"error":"not found"}');
      return;
    }
    const wanted = searchParams.get('version');
    const found = wanted === null ? undefined : versions.get(wanted);
    if (found !== undefined) {
      await pipeline(found.tarball(), response);
      return;
    }
    const described = [...versions].map(([version, { manifest }]) => {
      const tarball = `${url}/${encodeURIComponent(name)}?version=${version}`;
      return [version, { ...manifest, name, dist: { tarball } }] as const;
    });
    const latest = described.at(-1)?.[0];
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify({ name, 'dist-tags': { latest }, versions: Object.fromEntries(described) }));
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: Error) => response.destroy(error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    published,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Name, description and folder of each package of the lock; optional ones of other systems have no folder. */
function lockedPackages(): readonly (readonly [string, Version, string])[] {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, Version & { readonly link?: boolean }>>;
  };
  return Object.entries(packages).flatMap(
    ([path, { resolved: _resolved, integrity: _integrity, dev: _dev, ...entry }]) => {
      const [, name] = /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(path) ?? [];
      return name === undefined || entry.link === true ? [] : [[name, entry, join(root, path)] as const];
    },
  );
}

function tarOf(folder: string): NodeJS.ReadableStream {
  const options = ['-c', '-I', 'gzip -1', '--exclude=./node_modules', '--transform=s,^\\.,package,', '-C', folder, '.'];
  return spawn('tar', options, { stdio: ['ignore', 'pipe', 'inherit'] }).stdout;
}

function unpacked(path: string): NodeJS.ReadableStream {
  return spawn('tar', ['-xzOf', path, 'package/package.json'], { stdio: ['ignore', 'pipe', 'inherit'] }).stdout;
}

function streamOf(content: Buffer): NodeJS.ReadableStream {
  return Readable.from([content]);
}
