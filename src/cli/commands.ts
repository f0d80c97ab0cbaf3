import type { CommandDescription, CommandOption } from './command.ts';

/** How a command reaches the Admin API. */
const adminOptions: readonly CommandOption[] = [
  { name: 'admin', value: 'url', description: 'URL of the Admin API (that of the node in the prefix)' },
  { name: 'token', value: 'token', description: 'token of the Admin API (SLUICEGATE_ADMIN_TOKEN)' },
  {
    name: 'token-file',
    value: 'file',
    description: 'file with the token, which other users cannot see in a list of processes',
  },
];
const conf: CommandOption = { name: 'conf', short: 'c', value: 'file', description: 'settings file to read' };
const prefix: CommandOption = { name: 'prefix', short: 'p', value: 'directory', description: "the node's directory" };

/** Every command, in the order of the help. */
export const commands: readonly CommandDescription[] = [
  {
    name: 'start',
    summary: 'Start the gateway; it runs until it is stopped',
    options: [conf, prefix],
    takesSettings: true,
    load: async () => (await import('./commands/start.ts')).start,
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
    load: async () => (await import('./commands/stop.ts')).stop,
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
    load: async () => (await import('./commands/quit.ts')).quit,
  },
  {
    name: 'reload',
    summary: 'Make a running gateway read its settings again',
    options: [conf, prefix],
    takesSettings: true,
    load: async () => (await import('./commands/reload.ts')).reload,
  },
  {
    name: 'upgrade',
    summary: 'Replace a running gateway by a new process, without losing a request',
    options: [conf, prefix],
    takesSettings: true,
    load: async () => (await import('./commands/upgrade.ts')).upgrade,
  },
  {
    name: 'health',
    summary: 'Show whether the gateway is running and ready',
    options: [conf, prefix],
    takesSettings: true,
    load: async () => (await import('./commands/health.ts')).health,
  },
  {
    name: 'check',
    summary: 'Check the settings without starting',
    argument: '[file]',
    options: [conf, prefix],
    takesSettings: true,
    load: async () => (await import('./commands/check.ts')).check,
  },
  {
    name: 'import',
    summary: 'Take over the config of a Kong, or create the services and routes of an OpenAPI document',
    argument: 'openapi <file> | kong [file]...',
    options: [
      conf,
      prefix,
      ...adminOptions,
      {
        name: 'dry-run',
        description: 'change nothing; print the entities in the declarative format (openapi) or the report (kong)',
      },
      { name: 'admin-url', value: 'url', description: 'kong: URL of the Admin API of the Kong to read' },
      {
        name: 'header',
        short: 'H',
        value: 'line',
        repeatable: true,
        description: "kong: header for it: 'Kong-Admin-Token: <token>', or @file with such lines",
      },
      { name: 'insecure', short: 'k', description: 'kong: do not check the certificate of --admin-url' },
      { name: 'output', short: 'o', value: 'file', description: 'kong: write a declarative file instead' },
      { name: 'replace', description: 'kong: remove everything else from the gateway' },
      {
        name: 'without',
        value: 'name',
        repeatable: true,
        description: 'kong: accept the loss of a plugin, a collection, an entity or a field, as the report names it',
      },
      { name: 'json', description: 'kong: print the report as JSON' },
      { name: 'name', short: 'n', value: 'name', description: 'name of the service (title of the document)' },
      {
        name: 'server',
        short: 's',
        value: 'number|url',
        description: 'server of the document, or the URL of the service (1)',
      },
      { name: 'route-prefix', value: 'text', description: 'prefix of the names of routes, which are operationIds' },
      { name: 'tags', value: 'a,b', description: 'tags of all created entities' },
      { name: 'validate', description: 'add the openapi plugin with the document to the service' },
    ],
    takesSettings: true,
    load: async () => (await import('./commands/import.ts')).importConfig,
  },
  {
    name: 'admin-user',
    summary: 'Create, list and delete users of the Admin API and their tokens',
    argument: 'create|list|token|revoke|delete [name] [token]',
    options: [
      conf,
      prefix,
      { name: 'role', short: 'r', value: 'role', description: 'create: read, edit or admin' },
      {
        name: 'tags',
        value: 'a,b-*',
        description: 'create: patterns of the tags that a user with the role edit may write',
      },
      { name: 'certificate-name', value: 'name', description: 'create: name in a client certificate, such as CN:ops' },
      { name: 'no-token', description: 'create: without a token' },
      { name: 'label', value: 'name', description: 'token: what the token is for' },
      { name: 'ttl', value: 'duration', description: 'token: when it expires, such as 90d or 12h (never)' },
      { name: 'json', description: 'list: print JSON' },
      { name: 'store', description: 'open the store although a node runs; this needs no token' },
      ...adminOptions,
    ],
    takesSettings: true,
    load: async () => (await import('./commands/admin-user.ts')).adminUser,
  },
  {
    name: 'config',
    summary: 'Check, compare, apply, export and roll back the config as a document',
    argument: '<check|diff|apply|export|import|history|rollback|init|parse|db_import|db_export> [file...]',
    options: [
      conf,
      prefix,
      ...adminOptions,
      { name: 'merge', description: 'diff, apply: delete nothing' },
      {
        name: 'select-tag',
        value: 'tag',
        repeatable: true,
        description: 'diff, apply: replace and delete only entities with this tag',
      },
      { name: 'watch', description: 'apply: again whenever a file changes' },
      { name: 'style', value: 'kong|deck', description: 'export: the format of Kong (default) or that of decK' },
      { name: 'format', value: 'yaml|json', description: 'export: YAML (default) or JSON' },
      { name: 'limit', value: 'number', description: 'history: how many versions (20)' },
      { name: 'json', description: 'print JSON' },
    ],
    takesSettings: true,
    load: async () => (await import('./commands/config.ts')).config,
  },
  {
    name: 'hybrid',
    summary: 'Generate the certificate that control planes and data planes share',
    argument: 'gen_cert [certificate] [key]',
    options: [{ name: 'days', short: 'd', value: 'days', description: 'how long it is valid (1095)' }],
    takesSettings: false,
    load: async () => (await import('./commands/hybrid.ts')).hybrid,
  },
  {
    name: 'explain',
    summary: 'Send a request through a running gateway and show what happened to it, and why',
    argument: '[method] <path>',
    options: [
      conf,
      prefix,
      { name: 'header', short: 'H', value: 'line', repeatable: true, description: "header: 'Host: example.com'" },
      {
        name: 'data',
        short: 'd',
        value: 'text',
        description: 'request body, or @file (the default method is then POST)',
      },
      { name: 'dry-run', description: 'stop before a backend is contacted' },
      { name: 'json', description: 'print the whole explanation as JSON' },
      { name: 'proxy', value: 'url', description: 'URL of the proxy listener (that of the node in the prefix)' },
      { name: 'token', value: 'token', description: 'debug token (that of the node in the prefix)' },
      { name: 'insecure', short: 'k', description: 'do not check the certificate of --proxy' },
    ],
    takesSettings: true,
    load: async () => (await import('./commands/explain.ts')).explain,
  },
  {
    name: 'version',
    summary: 'Print the version',
    options: [{ name: 'all', short: 'a', description: 'also those of Node and its libraries' }],
    takesSettings: false,
    load: async () => (await import('./commands/version.ts')).printVersion,
  },
  {
    name: 'help',
    summary: 'Explain a command, or list all settings with "help settings"',
    argument: '[command]',
    options: [],
    takesSettings: false,
    load: async () => (await import('./commands/help.ts')).help,
  },
];

export function findCommand(name: string): CommandDescription | undefined {
  return commands.find((command) => command.name === name);
}
