import type { BackgroundTools, PluginAdminRoute, PluginBackground } from '../../../src/plugin-sdk/index.ts';

/** What runs in the control plane: the mishap that a message or a request names. */
export function background(tools: BackgroundTools): PluginBackground {
  return {
    configured: () => undefined,
    async handle(message) {
      if (message === 'uncloneable') return () => 'a function';
      mishap(String(message));
      return tools.nodeId;
    },
    stop: () => undefined,
  };
}

export function adminRoutes(tools: { background(message: unknown): Promise<unknown> }): readonly PluginAdminRoute[] {
  return [
    {
      path: '/mishaps/{how}',
      operations: {
        GET: {
          summary: 'Have a mishap in the control plane',
          async handle({ params }) {
            const { how = '' } = params;
            if (how.startsWith('background-')) await tools.background(how.slice('background-'.length));
            else mishap(how);
            return { status: 200, json: { how } };
          },
        },
      },
    },
  ];
}

function mishap(how: string): void {
  if (how === 'throw') throw new Error('a mishap in the control plane');
  if (how === 'text') throw 'a mishap in the control plane';
  if (how === 'exit') process.exit(9);
  if (how === 'kill') process.kill(process.pid, 'SIGKILL');
  if (how === 'timer') {
    setTimeout(() => {
      throw new Error('a mishap in a timer of the control plane');
    });
  }
  if (how === 'rejection') void Promise.reject(new Error('a mishap of the control plane nobody awaits'));
}
