import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Only a clone has it; the published package contains the built files. */
const script = join(fileURLToPath(new URL('../../../dashboard', import.meta.url)), 'build.ts');

/**
 * Builds the dashboard in a process of its own, with low priority; the gateway does not wait. Until it is done, the page says so. The
 * process ends by itself, also when the gateway stops first.
 */
export function buildDashboard(): void {
  if (!existsSync(script)) return;
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script, '--if-changed'], {
    stdio: 'ignore',
    detached: true,
  });
  // The page says that there is no build.
  child.on('error', () => {});
  child.unref();
}
