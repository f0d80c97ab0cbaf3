import type { CommandDescription, CommandOption } from './command.ts';

const conf: CommandOption = { name: 'conf', short: 'c', value: 'file', description: 'settings file to read' };
const prefix: CommandOption = { name: 'prefix', short: 'p', value: 'directory', description: "the node's directory" };

/** Every command, in the order of the help. */
export const commands: readonly CommandDescription[] = [
  {
    name: 'start',
    summary: 'Start the gateway; it runs until it is stopped',
    options: [conf, prefix],
    takesSettings: true,
    load: async () => (await import('./start.ts')).start,
  },
  {
    name: 'stop',
    summary: 'Stop a running gateway',
    options: [
      conf,
      prefix,
      { name: 'timeout', short: 't', value: 'seconds', description: 'how long requests in flight may take (10)' },
    ],
    takesSettings: true,
    load: async () => (await import('./stop.ts')).stop,
  },
  {
    name: 'quit',
    summary: 'Stop a running gateway when its requests are done',
    options: [
      conf,
      prefix,
      { name: 'timeout', short: 't', value: 'seconds', description: 'how long requests in flight may take (10)' },
      { name: 'wait', short: 'w', value: 'seconds', description: 'how long to wait before the stop begins (0)' },
    ],
    takesSettings: true,
    load: async () => (await import('./quit.ts')).quit,
  },
  {
    name: 'reload',
    summary: 'Make a running gateway reopen its log files',
    options: [conf, prefix],
    takesSettings: true,
    load: async () => (await import('./reload.ts')).reload,
  },
  {
    name: 'health',
    summary: 'Tell whether the gateway is running',
    options: [conf, prefix],
    takesSettings: true,
    load: async () => (await import('./health.ts')).health,
  },
  {
    name: 'check',
    summary: 'Check the settings without starting',
    argument: '[file]',
    options: [conf, prefix],
    takesSettings: true,
    load: async () => (await import('./check.ts')).check,
  },
  {
    name: 'import',
    summary: 'Create the services and routes of an OpenAPI document in a running gateway',
    argument: 'openapi <file>',
    options: [
      conf,
      prefix,
      { name: 'admin', value: 'url', description: "the Admin API (that of the prefix's node)" },
      { name: 'token', value: 'token', description: 'of the Admin API; else SLUICEGATE_ADMIN_TOKEN' },
      { name: 'dry-run', description: 'change nothing; print it in the declarative format' },
      { name: 'name', short: 'n', value: 'name', description: 'of the service (title of the document)' },
      { name: 'server', short: 's', value: 'number|url', description: 'where the service is (1: the first server)' },
      { name: 'route-prefix', value: 'text', description: 'before the names of routes, which are operationIds' },
      { name: 'tags', value: 'a,b', description: 'of all that is made' },
      { name: 'validate', description: 'the service gets the openapi plugin with the document' },
    ],
    takesSettings: true,
    load: async () => (await import('./import-api.ts')).importApi,
  },
  {
    name: 'explain',
    summary: 'Send a request through a running gateway and tell what became of it, and why',
    argument: '[method] <path>',
    options: [
      conf,
      prefix,
      { name: 'header', short: 'H', value: 'line', repeatable: true, description: "header: 'Host: example.com'" },
      {
        name: 'data',
        short: 'd',
        value: 'text',
        description: 'body; @file for that of a file (then POST, unless told)',
      },
      { name: 'dry-run', description: 'end before a backend is contacted' },
      { name: 'json', description: 'print the whole explanation as JSON' },
      { name: 'proxy', value: 'url', description: "the proxy listener (that of the prefix's node)" },
      { name: 'token', value: 'token', description: "the debug token (that of the prefix's node)" },
      { name: 'insecure', short: 'k', description: 'do not check the certificate of --proxy' },
    ],
    takesSettings: true,
    load: async () => (await import('./explain.ts')).explain,
  },
  {
    name: 'version',
    summary: 'Print the version',
    options: [{ name: 'all', short: 'a', description: 'also those of what it runs on' }],
    takesSettings: false,
    load: async () => (await import('./version.ts')).printVersion,
  },
  {
    name: 'help',
    summary: 'Explain a command, or list all settings with "help settings"',
    argument: '[command]',
    options: [],
    takesSettings: false,
    load: async () => (await import('./help.ts')).help,
  },
];

export function findCommand(name: string): CommandDescription | undefined {
  return commands.find((command) => command.name === name);
}
