import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { chartFolder } from '../../scripts/lib/deploy/chart.ts';
import { findFiles, root } from '../../scripts/lib/files.ts';
import { commands } from '../../src/cli/commands.ts';
import { packPackage } from '../package/installed-package.ts';
import { nodeLayer, skipWithoutNamespaces } from '../support/namespace-container.ts';
import { skipWithoutPostgres } from '../support/postgres.ts';
import { runTour, type TourOptions } from './page-tour.fixture.ts';

/* The pages of docs/deploy are followed as written, by root on a copy of this machine. */

function skipWithoutServers(): string | false {
  for (const [program, name] of [
    ['nginx', 'nginx'],
    ['haproxy', 'haproxy'],
  ] as const) {
    if (
      ['/usr/sbin', '/usr/bin', '/usr/local/sbin', '/usr/local/bin'].some((folder) => existsSync(join(folder, program)))
    )
      continue;
    const reason = `needs ${name}: apt-get install ${name}`;
    if (process.env['CI'] === 'true') throw new Error(reason);
    return reason;
  }
  return false;
}

/** Answers with the headers that it received. */
const echo =
  "node -e \"require('http').createServer((q,a)=>a.end(JSON.stringify(q.headers))).listen(9001,'127.0.0.1')\"";

const run = promisify(execFile);

describe('the pages of docs/deploy', { skip: skipWithoutNamespaces() }, () => {
  let home = '';
  let globally = '';
  let options: TourOptions;
  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'sluicegate-pages-'));
    const work = join(home, 'work');
    await mkdir(work);
    const { path } = await packPackage();
    globally = join(home, 'globally');
    // Containers may have no network, or not the certificates of its proxy: npm finds there what it asks for here.
    await run('npm', ['install', '--global', '--prefix', globally, '--no-audit', '--no-fund', path]);
    await cp(path, join(work, 'sluicegate-0.1.0.tgz'));
    await cp(join(root, 'deploy'), join(work, 'deploy'), { recursive: true });
    // Packages that were installed before come from npm's cache.
    const cache = join(process.env['HOME'] ?? '/root', '.npm');
    await mkdir(cache, { recursive: true });
    // The pages start the command many times; its code is compiled once.
    const compiled = join(home, 'compiled');
    await mkdir(compiled);
    await chmod(compiled, 0o777);
    options = {
      layers: [await nodeLayer(join(home, 'base'))],
      changes: join(home, 'changes'),
      volumes: { '/root/work': work, [cache]: cache, '/var/cache/compiled': compiled },
      workdir: '/root/work',
      env: {
        NODE_COMPILE_CACHE: '/var/cache/compiled',
        npm_config_cache: cache,
        npm_config_prefer_offline: 'true',
        npm_config_update_notifier: 'false',
        npm_config_audit: 'false',
        npm_config_fund: 'false',
      },
    };
  });
  after(() => rm(home, { recursive: true, force: true }));

  it('the package, installed globally in an empty prefix, has its command, which helps', async () => {
    const env = { PATH: `${dirname(process.execPath)}:${process.env['PATH']}` };
    const { stdout } = await run(join(globally, 'bin/sluicegate'), ['--help'], { env });
    assert.match(stdout, /^Usage: sluicegate COMMAND \[OPTIONS\]$/m);
    for (const { name, summary } of commands) assert.ok(stdout.includes(`${name} `) && stdout.includes(summary), name);
  });

  it('one-machine.md: installs the package, runs as its own user, and stops', async () => {
    await runTour('docs/deploy/one-machine.md', options);
  });

  it('behind-a-load-balancer.md: nginx and HAProxy tell the client, and clients cannot', {
    skip: skipWithoutServers(),
  }, async () => {
    await runTour('docs/deploy/behind-a-load-balancer.md', { ...options, before: [echo] });
  });

  it('hybrid.md: a control plane, a data plane, and a restart without the control plane', {}, async () => {
    await runTour('docs/deploy/hybrid.md', { ...options, before: [echo] });
  });

  it('several-nodes.md: three nodes, rolling restarts, scaling, an outage of the database', {
    skip: skipWithoutServers() || skipWithoutPostgres(),
  }, async () => {
    await runTour('docs/deploy/several-nodes.md', { ...options, before: [echo] });
  });

  it('docker.md: the secrets, and the requests to the node of Compose', async () => {
    // Not an engine: a node with the ports, the token and the settings of the compose file, except for PostgreSQL.
    const { services } = parse(readFileSync(join(root, 'deploy/compose/compose.yaml'), 'utf8'));
    const variables = Object.entries<string>(services.gateway.environment).filter(
      ([name]) => !/_(?:PG|DATABASE|LOG)_?/.test(name),
    );
    const settings = variables.map(
      ([name, value]) => `${name}='${value.replace('/run/secrets', '/root/work/deploy/compose/secrets')}'`,
    );
    const start = [
      'until [ -e /root/work/deploy/compose/secrets/admin_token ]; do sleep 0.2; done',
      `env ${settings.join(' ')} SLUICEGATE_PREFIX=/tmp/node sluicegate start`,
    ].join('; ');
    await runTour('docs/deploy/docker.md', { ...options, before: [`(${start})`] });
  });
});

describe('the commands of the pages', () => {
  const pages = findFiles('docs/deploy/*.md', `${chartFolder}/README.md`).map((page) => ({
    page,
    text: readFileSync(join(root, page), 'utf8'),
  }));

  it('name files of deploy/ that exist', () => {
    for (const { page, text } of pages) {
      for (const [path] of text.matchAll(/\bdeploy\/[\w./-]*\w/g)) {
        assert.ok(
          existsSync(join(root, path)) || /secrets|docs\/deploy/.test(path) || existsSync(join(root, 'docs', path)),
          `${page}: ${path}`,
        );
      }
    }
  });

  it('set values that the chart has', () => {
    const values = parse(readFileSync(join(root, chartFolder, 'values.yaml'), 'utf8'));
    const names = pages.flatMap(({ text }) =>
      [...text.matchAll(/--set(?:-file)? ([\w.]+)=/g)].map(([, name = '']) => name),
    );
    assert.ok(names.length > 5);
    for (const name of names) {
      const [parent = {}, key = ''] = [
        name
          .split('.')
          .slice(0, -1)
          .reduce((at, part) => at?.[part], values),
        name.split('.').at(-1),
      ];
      assert.ok(name.startsWith('settings.') || key in parent, name);
    }
  });
});
