// A failed assertion can leave a process or a server behind, which would keep the test file running, and its failure from
// being reported. Every rig that starts a process or a gateway imports this module, so the file ends nevertheless.
import { channel } from 'node:diagnostics_channel';
import { killIfThere, processesBelow } from '../../scripts/lib/processes.ts';

/** Milliseconds that a file has after its last test and hook, when a test has failed. */
const graceAfterFailure = 1_000;
/** The same in seconds when all have passed: whatever still runs then is a fault of the test, or of what it tests. */
const graceAfterSuccess = Number(process.env['TEST_FILE_GRACE'] ?? 30);

let failed = false;
channel('tracing:node.test:error').subscribe(() => {
  failed = true;
});
// The outermost test ends after all tests and hooks of the file.
channel('tracing:node.test:end').subscribe((message) => {
  if ((message as { readonly name: string }).name !== '<root>') return;
  setTimeout(endFile, failed ? graceAfterFailure : graceAfterSuccess * 1000).unref();
});

process.once('exit', () => {
  for (const { pid } of processesBelow(process.pid)) killIfThere(pid);
});

function endFile(): void {
  if (!failed) {
    const running = processesBelow(process.pid).map(({ pid, command }) => `process ${pid} (${command})`);
    const open = [...process.getActiveResourcesInfo(), ...running].join(', ');
    process.stderr.write(`all tests have ended, but ${graceAfterSuccess} s later the file still has: ${open}\n`);
  }
  process.exit(1);
}
