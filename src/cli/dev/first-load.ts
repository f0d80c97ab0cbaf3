import { runTrial } from '../../control/plugin-reload/run-trial.ts';
import type { CodeProblem } from '../../shared/development/code-problem.ts';
import type { Settings } from '../../shared/settings/settings.ts';
import { isLoopback } from '../../shared/util/net/loopback.ts';
import type { Changes } from './changes.ts';
import { loadProblemOf } from './code-problems.ts';
import { startProblemServer } from './echo-backend.ts';
import type { DevelopedPlugin } from './find-plugins.ts';
import type { Terminal } from './terminal.ts';

export interface FirstLoadOptions {
  readonly settings: Settings;
  readonly plugins: readonly DevelopedPlugin[];
  readonly root: string;
  readonly terminal: Terminal;
  readonly changes: Changes;
  /** Resolves when the command ends. */
  readonly ended: Promise<unknown>;
}

/**
 * Waits until the plugins can be loaded: a gateway does not start with half of them. Meanwhile requests get the problem as a page.
 * Resolves to false when the command ends first.
 */
export async function waitUntilLoadable(options: FirstLoadOptions): Promise<boolean> {
  const { settings, plugins, root, terminal, changes, ended } = options;
  let server: { close(): Promise<void> } | null = null;
  let problem: CodeProblem | null = null;
  try {
    for (;;) {
      const result = await runTrial(
        {
          setting: settings.plugins,
          pins: settings.pluginPins,
          baseDirectory: root,
          sharedStore: false,
          untrustedFunctions: settings.untrustedFunctions,
          rows: [],
        },
        { compileCache: null, startThread: (start) => start() },
      );
      if (result.ok) return true;
      const label = plugins[0]?.label ?? 'plugins';
      problem = loadProblemOf({ plugin: label, title: 'the plugin cannot be loaded' }, result.problem, root);
      terminal.problem(problem);
      if (server === null) {
        server = await problemServer(settings, () => problem as CodeProblem);
        terminal.note('waiting for a save');
      }
      if ((await changes.next(ended)) === null) return false;
    }
  } finally {
    await server?.close();
  }
}

/** Null: no page can be shown, because the address is reachable from elsewhere or in use. */
async function problemServer({ proxyListen }: Settings, problem: () => CodeProblem) {
  const address = proxyListen.find(({ ip, ssl, port }) => !ssl && port > 0 && isLoopback(ip));
  if (address === undefined) return null;
  try {
    return await startProblemServer(address, problem);
  } catch {
    return null;
  }
}
