import { syncBuiltinESMExports } from 'node:module';
import { placeText, type SourcePlace, stackPlaces } from './error-place.ts';
import { isPluginCode, pluginOfFile } from './plugin-origin.ts';

export interface ProcessGuardOptions {
  /**
   * `all`: of a thread in which nothing but plugins would make these calls. `plugins`: calls are refused only if the code that makes them
   * belongs to a plugin.
   */
  readonly refuse: 'all' | 'plugins';
}

/** Calls that end the process, or change it for everything that runs in it. */
const guarded = [
  'exit',
  'abort',
  'chdir',
  'umask',
  'setuid',
  'seteuid',
  'setgid',
  'setegid',
  'setgroups',
  'initgroups',
] as const;

type Guarded = (typeof guarded)[number] | 'kill';

const stackDepth = 50;

/**
 * From now on these calls throw an error that names the plugin, in this thread: a mistake of one plugin must not end what serves all
 * clients. It is no protection from hostile code. Call it before plugins are loaded.
 */
export function guardProcess(options: ProcessGuardOptions): void {
  for (const name of guarded) guard(name, options, () => true);
  // Signal 0 only asks whether the process exists.
  guard('kill', options, ([pid, signal]) => signal !== 0 && endsThis(Number(pid)));
  syncBuiltinESMExports();
}

function guard(name: Guarded, { refuse }: ProcessGuardOptions, concerns: (args: readonly unknown[]) => boolean): void {
  const original = (process as unknown as Readonly<Record<Guarded, ((...args: unknown[]) => unknown) | undefined>>)[
    name
  ];
  // Windows and threads lack some.
  if (original === undefined) return;
  const guardedCall = (...args: unknown[]): unknown => {
    // Reading the mask changes nothing.
    if (!concerns(args) || (name === 'umask' && args.length === 0)) return original.apply(process, args);
    const caller = callerPlace();
    // Node itself ends a thread with `process.exit` after an uncaught exception.
    if (caller === null || (refuse === 'plugins' && !isPluginCode(caller.file))) return original.apply(process, args);
    // While it loads, its name is not known.
    throw new Error(refusal(name, pluginOfFile(caller.file), caller));
  };
  Object.defineProperty(process, name, { value: guardedCall, writable: true, enumerable: true, configurable: true });
}

function refusal(name: Guarded, plugin: string | null, caller: SourcePlace): string {
  const who = plugin === null ? 'a plugin' : `plugin '${plugin}'`;
  return `${who} called process.${name}(), which plugins must not: the process serves all clients (${placeText(caller)})`;
}

/** This process, its group, or every process that it may signal. */
function endsThis(pid: number): boolean {
  return pid === process.pid || pid === -process.pid || pid === 0 || pid === -1;
}

/** The first place in a file above the guard. */
function callerPlace(): SourcePlace | null {
  const before = Error.stackTraceLimit;
  Error.stackTraceLimit = stackDepth;
  const error = new Error('called');
  Error.stackTraceLimit = before;
  return stackPlaces(error).find(({ file }) => file !== import.meta.filename) ?? null;
}
