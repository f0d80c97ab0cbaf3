import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { findCommand } from '../../src/cli/commands.ts';
import { untilPasses } from '../support/until.ts';
import { packPackage, shell } from './installed-package.ts';
import { type LocalRegistry, startRegistry } from './local-registry.fixture.ts';
import { type CourseBlock, readCourse } from './page-course.fixture.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/plugins.md'), 'utf8');

/** Milliseconds for one command; `npm install` is the longest. */
const limit = 120_000;

/** The course of docs/plugins.md, as printed, in a folder outside of the repository and without a network. */
describe('the course for plugins', { timeout: 400_000 }, () => {
  const home = mkdtempSync(join(tmpdir(), 'sluicegate-course-'));
  let registry: LocalRegistry;
  let env: NodeJS.ProcessEnv = {};
  /** Where the reader is. */
  let cwd = home;
  let output = '';
  /** Commands that made the output, for when a change takes effect a moment later. */
  let repeat: (() => Promise<void>) | null = null;
  let running: { readonly child: ChildProcess; readonly ports: ReadonlyMap<string, string> } | null = null;

  before(async () => {
    const { path } = await packPackage();
    const creator = join(home, 'tarballs');
    mkdirSync(creator);
    const options = { cwd: join(root, 'packages/create-sluicegate-plugin'), env: { ...shell, HOME: home } };
    await run('npm', ['pack', '--pack-destination', creator, '--cache', join(home, 'cache')], options);
    registry = await startRegistry([path, join(creator, 'create-sluicegate-plugin-0.1.0.tgz')]);
    writeFileSync(join(home, '.npmrc'), `//${new URL(registry.url).host}/:_authToken=of-the-test\n`);
    env = {
      ...shell,
      HOME: home,
      npm_config_registry: registry.url,
      npm_config_cache: join(home, 'cache'),
      npm_config_audit: 'false',
      npm_config_fund: 'false',
      npm_config_yes: 'true',
    };
  });
  after(async () => {
    await stop();
    await registry?.[Symbol.asyncDispose]();
    rmSync(home, { recursive: true, force: true });
  });

  const course = readCourse(page);

  it('has five steps', () => {
    assert.equal([...page.matchAll(/^## \d\. /gm)].length, 5);
    assert.ok(course.length >= 20, `${course.length} blocks`);
  });

  for (const block of course) {
    it(`line ${block.line}: ${block.kind}`, { skip: whySkipped(block) }, async () => {
      if (block.kind === 'file') writeBlock(block);
      else if (block.kind === 'output') await checkOutput(block.lines);
      else if (block.running) await start(block.lines.join('\n'));
      else await runAll(block.lines);
    });
  }

  it('has published the plugin', () => {
    assert.deepEqual(registry.published, ['my-policy@0.1.0']);
  });

  /** The block before a text says whether that is printed. */
  function whySkipped(block: CourseBlock): string | false {
    const maker = block.kind === 'output' ? course[course.indexOf(block) - 1] : block;
    const needs = maker?.kind === 'commands' ? maker.needs : null;
    return needs === null || findCommand(needs) !== undefined ? false : `needs the command ${needs}`;
  }

  function writeBlock({ file, below, text }: Extract<CourseBlock, { kind: 'file' }>): void {
    const path = join(cwd, file);
    if (file.endsWith('.json')) writeFileSync(path, text);
    else if (below === null) appendFileSync(path, text);
    else {
      const lines = readFileSync(path, 'utf8').split('\n');
      const at = lines.findIndex((line) => line.includes(below));
      assert.notEqual(at, -1, `${file} has no line with ${below}`);
      lines.splice(at + 1, 0, text.trimEnd());
      writeFileSync(path, lines.join('\n'));
    }
  }

  async function runAll(lines: readonly string[]): Promise<void> {
    output = '';
    for (const line of lines) {
      const [command, folder = ''] = line.split(' ');
      if (command === 'cd') cwd = resolve(cwd, folder);
      else output += await runLine(line);
    }
    const isRequest = lines.every((line) => line.startsWith('curl -i '));
    repeat = isRequest ? again : null;
    async function again(): Promise<void> {
      output = await runLine(lines.join('\n'));
    }
  }

  async function runLine(line: string): Promise<string> {
    const command = withPorts(line).replace(/^curl/, 'curl -sS --max-time 20');
    const { stdout } = await run('sh', ['-c', command], { cwd, env, timeout: limit }).catch(
      (error: Error & { readonly stdout?: string; readonly stderr?: string }) =>
        assert.fail(`${line}\n${error.stdout ?? ''}${error.stderr ?? ''}\n${error.message}`),
    );
    return stdout;
  }

  async function checkOutput(lines: readonly string[]): Promise<void> {
    const check = (): void => {
      let from = 0;
      for (const line of lines) {
        const at = output.indexOf(line, from);
        assert.notEqual(at, -1, `no '${line}' in\n${output}`);
        from = at + line.length;
      }
    };
    if (repeat === null) return check();
    // A saved file is live a moment later.
    const again = repeat;
    await untilPasses(async () => {
      await again();
      check();
    });
  }

  /** Ends what ran before, as the reader does with Ctrl-C. */
  async function start(command: string): Promise<void> {
    await stop();
    const anywhere = '127.0.0.1:0';
    const child = spawn('sh', ['-c', command], {
      cwd,
      env: {
        ...env,
        KONG_PROXY_LISTEN: anywhere,
        KONG_ADMIN_LISTEN: anywhere,
        KONG_STATUS_LISTEN: anywhere,
        KONG_ADMIN_GUI_LISTEN: 'off',
        KONG_NGINX_WORKER_PROCESSES: '1',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    let text = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
      });
    running = { child, ports: new Map() };
    await untilPasses(() => assert.match(text, /^Try:/m, `${command} did not start:\n${text}`), 60_000);
    const found = [...text.matchAll(/^\s+(proxy|admin|status)\s+http:\/\/[^:\s]+:(\d+)/gm)];
    const usual: Readonly<Record<string, string>> = { proxy: '8000', admin: '8001', status: '8100' };
    const ports = new Map(found.map(([, name = '', port = '']) => [usual[name] ?? '', port]));
    assert.ok(ports.has('8000'), text);
    running = { child, ports };
  }

  function withPorts(line: string): string {
    return line.replaceAll(
      /localhost:(8\d\d\d)/g,
      (_whole, port: string) => `127.0.0.1:${running?.ports.get(port) ?? port}`,
    );
  }

  async function stop(): Promise<void> {
    if (running === null) return;
    const { child } = running;
    running = null;
    const ended = once(child, 'close');
    process.kill(-(child.pid ?? 0), 'SIGINT');
    await ended;
  }
});
