import { createConnection } from 'node:net';
import { allProtocols, definePlugin, type PluginNeeds, type PluginTools } from '../../../src/plugin-sdk/index.ts';

/** What a plugin may throw. Each line stands alone, so that tests can name it. */
export const mishaps: Readonly<Record<string, (tools: PluginTools) => unknown>> = {
  throw: () => {
    throw new Error('a mishap');
  },
  text: () => {
    throw 'a mishap';
  },
  nothing: () => {
    throw null;
  },
  hostile: () => {
    throw Object.defineProperties(new Error('a mishap'), {
      stack: { get: fail },
      message: { get: fail },
      cause: { get: fail },
      toString: { value: fail },
    });
  },
  huge: () => {
    throw new Error(`a mishap${'!'.repeat(5_000_000)}`);
  },
  cyclic: () => {
    const error = new Error('a mishap');
    throw Object.assign(error, { cause: error, secret: 'hunter2' });
  },
  exit: () => process.exit(9),
  abort: () => process.abort(),
  kill: () => process.kill(process.pid, 'SIGKILL'),
  chdir: () => process.chdir('/'),
  timer: () => {
    setTimeout(() => {
      throw new Error('a mishap in a timer');
    });
  },
  'timer-text': () => {
    setImmediate(() => {
      throw 'a mishap without a stack';
    });
  },
  'timer-exit': () => {
    setImmediate(() => process.exit(9));
  },
  flood: () => {
    for (let count = 0; count < 500; count++) {
      setImmediate(() => {
        throw new Error('a mishap in a flood');
      });
    }
  },
  listener: () => {
    // Nobody listens to its `error` event.
    createConnection('/no/such/socket');
  },
  rejection: () => {
    void Promise.reject(new Error('a mishap nobody awaits'));
  },
  uncloneable: (tools) => {
    const odd = Symbol('odd') as unknown as string;
    tools.count(odd);
    tools.count({} as unknown as string, 1);
    tools.count('odd', Number.NaN);
    tools.count('odd', odd as unknown as number);
    tools.log.error(odd, { odd, call: fail, big: 1n, self: tools });
    tools.log.error('proxy', { proxy: Proxy.revocable({}, {}).proxy });
    tools.background(fail).catch((error: Error) => tools.log.error('not sent', { reason: error.message }));
  },
  'uncloneable-answer': (tools) => {
    tools.background('uncloneable').catch((error: Error) => tools.log.error('no answer', { reason: error.message }));
  },
  loop: () => {
    for (;;);
  },
  'timer-loop': () => {
    setTimeout(() => {
      for (;;);
    });
  },
};

/** A plugin for tests: has the mishap `how` in the phase `where`; `does` is `where how`. */
export default definePlugin<{ readonly does: string }>({
  name: 'mishaps',
  version: '1.0.0',
  priority: 11,
  protocols: allProtocols,
  schema: () => import('./meddler-schema.ts'),
  needs: ({ does }): PluginNeeds => {
    if (does.startsWith('response ')) return { responseBody: { mode: 'buffer', maxBytes: 10_000 } };
    return /^(bodyFilter|transform) /.test(does) ? { responseBody: { mode: 'stream' } } : {};
  },
  timeBudget({ does }) {
    const [where = ''] = does.split(' ');
    return where === 'skip' || where === 'refuse' ? { access: 50, onExceeded: where } : null;
  },
  background: () => import('./mishaps-background.ts'),
  adminRoutes: () => import('./mishaps-background.ts'),
  setup({ does }, tools) {
    const [where = '', how = ''] = does.split(' ');
    const mishap = (): void => {
      mishaps[how]?.(tools);
    };
    if (where === 'setup') mishap();
    const phases = {
      certificate: () => nothing(mishap, null),
      rewrite: () => mishap(),
      access: () => nothing(mishap, undefined),
      backendAnswer: () => nothing(mishap, null),
      backendFailure: () => nothing(mishap, null),
      response: () => nothing(mishap, undefined),
      headerFilter: mishap,
      bodyFilter: () => nothing(mishap, null),
      log: mishap,
      accept: () => nothing(mishap, true),
      streamLog: mishap,
      drain: async () => mishap(),
      dispose: mishap,
    };
    if (where === 'skip' || where === 'refuse') return { access: () => new Promise(() => {}) };
    if (where === 'transform') return { bodyFilter: () => ({ chunk: () => 'text' as never, end: () => null }) };
    if (where === 'asyncAccess') {
      return {
        async access() {
          await new Promise((resolve) => setImmediate(resolve));
          mishap();
          return undefined;
        },
      };
    }
    return Object.hasOwn(phases, where) ? { [where]: phases[where as keyof typeof phases] } : {};
  },
});

function nothing<T>(mishap: () => void, value: T): T {
  mishap();
  return value;
}

function fail(): never {
  throw new Error('it fails again');
}
