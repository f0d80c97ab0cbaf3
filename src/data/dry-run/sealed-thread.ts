import childProcess from 'node:child_process';
import dgram from 'node:dgram';
import dns from 'node:dns';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import workerThreads from 'node:worker_threads';

/** What a plugin tried to do. */
export type Effect = 'network' | 'files' | 'processes';

type Functions = Record<string, unknown>;

const lookups = /^(?:lookup|lookupService|resolve|reverse)/;
const writers =
  /^(?:append|chmod|chown|copyFile|cp|createWrite|fchmod|fchown|fdatasync|fsync|ftruncate|futimes|lchmod|lchown|link|lutimes|mkdir|mkdtemp|rename|rm|symlink|truncate|unlink|utimes|write)/;
const openers = new Set(['open', 'openSync', 'openAsBlob']);
const starters = ['exec', 'execFile', 'execFileSync', 'execSync', 'fork', 'spawn', 'spawnSync'];

/** Threads of the gateway's own that only calculate: password hashes, and bodies. */
const calculators: ReadonlySet<string> = new Set(['sluicegate-passwords', 'bodies']);

/**
 * From now on nothing leaves this thread: no connection, no datagram, no query of a name server, no file, no process, no thread. Call it
 * before plugins are loaded. `attempted` is called for each attempt. A connection and a query never end, so that no plugin continues
 * with a fallback; everything else throws. This protects from plugins that act as usual, not from code that wants to get out: plugins are
 * trusted code in the workers, too.
 */
export function sealThread(attempted: (effect: Effect) => void): void {
  const never = (): Promise<never> => new Promise(() => {});
  net.Socket.prototype.connect = function connect(this: net.Socket) {
    attempted('network');
    return this;
  } as typeof net.Socket.prototype.connect;
  net.Server.prototype.listen = refusing('network') as typeof net.Server.prototype.listen;
  for (const name of ['bind', 'connect', 'send'] as const) {
    (dgram.Socket.prototype as unknown as Functions)[name] = function pending(this: unknown) {
      attempted('network');
      return this;
    };
  }
  for (const holder of [dns, dns.Resolver.prototype] as unknown as Functions[]) {
    replace(holder, lookups, () => void attempted('network'));
  }
  for (const holder of [dns.promises, dns.promises.Resolver.prototype] as unknown as Functions[]) {
    replace(holder, lookups, () => {
      attempted('network');
      return never();
    });
  }
  for (const holder of [fs, fs.promises] as unknown as Functions[]) {
    replace(holder, writers, refusing('files'));
    for (const name of Object.keys(holder).filter((key) => openers.has(key))) {
      const open = holder[name] as (...given: unknown[]) => unknown;
      holder[name] = (...given: unknown[]) => (opensToRead(given[1]) ? open(...given) : refusing('files')());
    }
  }
  for (const name of starters) (childProcess as unknown as Functions)[name] = refusing('processes');
  workerThreads.Worker = class extends workerThreads.Worker {
    constructor(script: string | URL, options: workerThreads.WorkerOptions = {}) {
      if (!calculators.has(options.name ?? '')) refusing('processes')();
      super(script, options);
    }
  };
  process.kill = refusing('processes') as typeof process.kill;
  process.exit = refusing('processes') as typeof process.exit;
  syncBuiltinESMExports();

  function refusing(effect: Effect): () => never {
    return () => {
      attempted(effect);
      throw new Error(`a dry run does not use ${effect}`);
    };
  }
}

function opensToRead(flags: unknown): boolean {
  if (typeof flags === 'number') return (flags & (fs.constants.O_WRONLY | fs.constants.O_RDWR)) === 0;
  return flags === undefined || flags === 'r' || flags === 'rs' || typeof flags === 'function';
}

function replace(holder: Functions, names: RegExp, by: () => unknown): void {
  for (const name of Object.getOwnPropertyNames(holder)) {
    if (!names.test(name) || typeof holder[name] !== 'function') continue;
    holder[name] = by;
  }
}
