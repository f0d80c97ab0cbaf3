import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Gateway } from '../../gateway.ts';
import { preparePrefix } from '../../shared/settings/kinds/prefix.ts';
import type { LoadedSettings } from '../../shared/settings/sources/load.ts';
import { isLoopback } from '../../shared/util/net/loopback.ts';
import { awaitWithTimeout } from '../../shared/util/time/await-with-timeout.ts';
import { CliError } from '../cli-error.ts';
import type { CommandContext } from '../command.ts';
import { Changes } from '../dev/changes.ts';
import { devSettings } from '../dev/dev-settings.ts';
import { type EchoBackend, startEchoBackend } from '../dev/echo-backend.ts';
import { type DevelopedPlugin, namedPlugins, pluginIn } from '../dev/find-plugins.ts';
import { waitUntilLoadable } from '../dev/first-load.ts';
import { logTo, Session } from '../dev/session.ts';
import { startedLines } from '../dev/started-lines.ts';
import { Terminal } from '../dev/terminal.ts';
import { CodeWatcher } from '../dev/watch/code-watcher.ts';
import { PrefixClaim } from '../node/prefix-claim.ts';
import { listenForSignals } from '../node/signals.ts';

/** Milliseconds that the end may take. */
const endLimit = 2500;

/** `dev`: a gateway for development, until Ctrl-C. Requests in flight are cut off: nobody else uses it. */
export async function dev(context: CommandContext): Promise<number> {
  const { options } = context.arguments;
  const plugins = developedPlugins(context);
  const given = options['prefix'];
  const prefix =
    typeof given === 'string' ? resolve(context.cwd, given) : mkdtempSync(join(tmpdir(), 'sluicegate-dev-'));
  try {
    const loaded = devSettings(
      context,
      prefix,
      plugins.map(({ entry }) => entry),
    );
    preparePrefix(prefix);
    return await run(context, plugins, loaded);
  } finally {
    if (given === undefined) rmSync(prefix, { recursive: true, force: true });
  }
}

function developedPlugins({ arguments: { positionals, options }, cwd }: CommandContext): readonly DevelopedPlugin[] {
  if (positionals.length > 0) return namedPlugins(positionals, cwd);
  const plugin = pluginIn(cwd, cwd);
  if (plugin !== null) return [plugin];
  if (options['config'] !== undefined) return [];
  throw new CliError(
    'there is no plugin in this folder (index.ts, or a package.json that names a module); name one, or use --config',
  );
}

async function run(
  context: CommandContext,
  plugins: readonly DevelopedPlugin[],
  { settings, warnings }: LoadedSettings,
): Promise<number> {
  const terminal = new Terminal(context);
  const claim = new PrefixClaim(settings.prefix);
  const hangUp = Promise.withResolvers<'SIGHUP'>();
  const signals = listenForSignals({ reopen() {}, reload: () => hangUp.resolve('SIGHUP'), upgrade() {} });
  const ended = Promise.race([signals.end, hangUp.promise]);
  const changes = new Changes();
  const folders = plugins.flatMap(({ folder }) => (folder === null ? [] : [folder]));
  const watcher = new CodeWatcher({ roots: [...new Set(folders)], changed: (change) => changes.add(change) });
  let example: EchoBackend | null = null;
  let gateway: Gateway | null = null;
  try {
    claim.take();
    const first = { settings, plugins, root: context.cwd, terminal, changes, ended };
    if (context.arguments.options['config'] === undefined) example = await startEchoBackend();
    for (;;) {
      if (plugins.length > 0 && !(await waitUntilLoadable(first))) return 0;
      gateway = await start(context, { settings, warnings }, terminal, ended);
      if (gateway === null) return 0;
      const session = createSession(gateway, {
        ...{ terminal, watcher, plugins, example, root: context.cwd },
        isChanging: () => watcher.isSettling || !changes.isEmpty,
      });
      const lines = startedLines({ ...first, gateway, watcher, example: example !== null });
      await session.begin(() => lines.forEach(context.out));
      if (!(await follow(session, changes, ended))) return 0;
      terminal.note('starting again: a running gateway cannot use this change');
      await awaitWithTimeout(gateway.stop(false), endLimit);
    }
  } finally {
    watcher.close();
    terminal.close();
    if (gateway !== null) await awaitWithTimeout(gateway.stop(false), endLimit);
    example?.close();
    claim.end();
    signals.dispose();
  }
}

/** Null: the command ended first. */
async function start(
  context: CommandContext,
  { settings, warnings }: Pick<LoadedSettings, 'settings' | 'warnings'>,
  terminal: Terminal,
  ended: Promise<unknown>,
): Promise<Gateway | null> {
  const { startGateway } = await context.loadGateway(settings);
  const abandoned = new AbortController();
  const starting = startGateway(settings, warnings, {
    signal: abandoned.signal,
    development: {
      root: context.cwd,
      details: settings.proxyListen.every(({ ip }) => isLoopback(ip)),
      log: logTo(terminal, context.cwd),
    },
  });
  const first = await Promise.race([starting, ended.then(() => null)]);
  if (first !== null) return first;
  abandoned.abort();
  await awaitWithTimeout(
    starting.catch(() => null),
    endLimit,
  );
  return null;
}

function createSession(
  { development: node }: Gateway,
  options: Omit<ConstructorParameters<typeof Session>[0], 'node'>,
): Session {
  if (node === undefined) throw new TypeError('the gateway is not in development mode');
  const { terminal } = options;
  node.follow(
    (entry) => terminal.request(entry),
    (count) => terminal.requestsLeft(count),
  );
  return new Session({ node, ...options });
}

/** True: the gateway must start again; false: the command ends. */
async function follow(session: Session, changes: Changes, ended: Promise<unknown>): Promise<boolean> {
  for (let next = await changes.next(ended); next !== null; next = await changes.next(ended)) {
    // Ctrl-C does not wait for a reload.
    const restart = await Promise.race([session.changed(next), ended.then(() => null)]);
    if (restart !== false) return restart === true;
  }
  return false;
}
