import { parentPort, workerData } from 'node:worker_threads';
import { withoutVersions } from '../code/version-url.ts';
import { errorPlace } from '../error-place.ts';
import { type TrialBoot, type TrialResult, withoutPlace } from './trial.ts';
import { tryPlugins } from './try-plugins.ts';

/*
 * The thread of a trial: it loads the code of users' plugins for the first time, and is ended afterwards. What the code does while it
 * loads (an endless loop, `process.exit`) happens here, and nowhere else.
 */

function placed(error: unknown): TrialResult {
  const text = error instanceof Error ? error.message : String(error);
  // The loader names the place at the end of its text.
  const [ending = '', file, line, column] = / \((\/.+):(\d+):(\d+)\)$/.exec(text) ?? [];
  if (file !== undefined) {
    const message = withoutVersions(text.slice(0, -ending.length));
    return { ok: false, problem: { message, file, line: Number(line), column: Number(column) } };
  }
  const message = withoutVersions(text);
  const place = errorPlace(error);
  return { ok: false, problem: place === null ? withoutPlace(message) : { message, ...place } };
}

// A rejection that nobody handles is no reason to refuse the code; the workers log it.
process.on('unhandledRejection', () => {});
try {
  parentPort?.postMessage('loading');
  parentPort?.postMessage(await tryPlugins(workerData as TrialBoot));
} catch (error) {
  parentPort?.postMessage(placed(error));
}
