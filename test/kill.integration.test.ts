import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';

const rounds = 10;
const main = join(import.meta.dirname, '../src/main.ts');
const cache = join(import.meta.dirname, '../.runtime/compile-cache');
let prefix = '';
before(async () => {
  prefix = await mkdtemp(join(tmpdir(), 'sluicegate-kill-'));
});
after(() => rm(prefix, { recursive: true, force: true }));

interface RunningNode {
  readonly child: ChildProcess;
  readonly adminUrl: string;
  readonly closed: Promise<unknown>;
}

/** Starts the gateway as a user does, and waits until it says where its Admin API is. */
async function startNode(): Promise<RunningNode> {
  const anywhere = '127.0.0.1:0';
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main, 'start'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      NODE_COMPILE_CACHE: cache,
      KONG_PREFIX: prefix,
      KONG_PROXY_LISTEN: anywhere,
      KONG_ADMIN_LISTEN: anywhere,
      KONG_STATUS_LISTEN: 'off',
      KONG_NGINX_WORKER_PROCESSES: '1',
      SLUICEGATE_SHUTDOWN_DELAY: '0s',
    },
  });
  const closed = once(child, 'close');
  for await (const line of createInterface({ input: child.stdout })) {
    const [, adminUrl] = /^\s+admin\s+(http:\S+)/.exec(line) ?? [];
    if (adminUrl !== undefined) {
      child.stdout.resume();
      return { child, adminUrl, closed };
    }
  }
  throw new Error('the node ended before it listened');
}

/** Posts services one after another until the connection breaks; returns the names that were answered with 201. */
async function postUntilBroken(adminUrl: string, prefixOfName: string, onAnswer: () => void): Promise<string[]> {
  const confirmed: string[] = [];
  for (;;) {
    const name = `${prefixOfName}-${confirmed.length}`;
    try {
      const body = new URLSearchParams({ name, host: 'backend.test' });
      const response = await fetch(`${adminUrl}/services`, { method: 'POST', body });
      // The status is the promise: the rest of the answer may be cut off.
      assert.equal(response.status, 201);
      confirmed.push(name);
      onAnswer();
      await response.arrayBuffer();
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      return confirmed;
    }
  }
}

async function storedNames(adminUrl: string): Promise<Set<string>> {
  const names = new Set<string>();
  let next: string | null = '/services?size=1000';
  while (next !== null) {
    const response = await fetch(adminUrl + next);
    assert.equal(response.status, 200);
    const page = (await response.json()) as { data: { name: string }[]; next: string | null };
    for (const { name } of page.data) names.add(name);
    next = page.next;
  }
  return names;
}

test('a node killed in the middle of writes has every service that it had answered with 201', {
  timeout: 60_000,
}, async () => {
  const confirmed: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const node = await startNode();
    let left = 1 + Math.floor(Math.random() * 40);
    const delay = Math.random() * 4;
    const writers = ['a', 'b', 'c'].map((writer) =>
      postUntilBroken(node.adminUrl, `${round}-${writer}`, () => {
        left -= 1;
        if (left === 0) setTimeout(() => node.child.kill('SIGKILL'), delay);
      }),
    );
    for (const names of await Promise.all(writers)) confirmed.push(...names);
    await node.closed;
    assert.equal(node.child.signalCode, 'SIGKILL');
  }
  const node = await startNode();
  const stored = await storedNames(node.adminUrl);
  assert.deepEqual(
    confirmed.filter((name) => !stored.has(name)),
    [],
  );
  assert.ok(confirmed.length >= rounds, `${confirmed.length} writes`);
  node.child.kill('SIGTERM');
  await node.closed;
  assert.equal(node.child.exitCode, 0);
  const left = (await readdir(prefix)).filter((file) => file.startsWith('store.'));
  assert.deepEqual(left, ['store.sqlite'], 'a graceful stop leaves the store in one file');
});
