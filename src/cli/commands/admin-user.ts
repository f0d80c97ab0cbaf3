import type { UserDirectory } from '../admin-users/directory.ts';
import { openDirectory } from '../admin-users/open-directory.ts';
import { durationOption, listOption, needArgument, textOption } from '../admin-users/options.ts';
import { printUsers } from '../admin-users/print-users.ts';
import { CliError } from '../cli-error.ts';
import type { CommandContext } from '../command.ts';

type Action = (context: CommandContext, users: UserDirectory) => Promise<void>;

const actions: Readonly<Record<string, { readonly usage: string; readonly run: Action }>> = {
  create: { usage: 'create <name> --role read|edit|admin [--tags <patterns>]', run: createUser },
  list: { usage: 'list', run: async (context, users) => printUsers(context, await users.list()) },
  token: { usage: 'token <name> [--label <name>] [--ttl <duration>]', run: issueToken },
  revoke: { usage: 'revoke <name> <token>', run: revokeToken },
  delete: { usage: 'delete <name>', run: deleteUser },
};

/** `admin-user create|list|token|revoke|delete`: who may use the Admin API. A new token is all that is written to standard output. */
export async function adminUser(context: CommandContext): Promise<number> {
  const [name = ''] = context.arguments.positionals;
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (action === undefined) {
    const known = Object.values(actions).map(({ usage }) => `  sluicegate admin-user ${usage}`);
    throw new CliError(`unknown action '${name}'; known are:\n${known.join('\n')}`);
  }
  // Before anything is opened.
  const words = action.usage.split(' ').filter((word) => word.startsWith('<') && word.endsWith('>'));
  const needed = name === 'create' || name === 'token' ? 1 : words.length;
  for (let index = 1; index <= needed; index++) needArgument(context, index, action.usage);
  const users = await openDirectory(context, `sluicegate admin-user ${name}`);
  try {
    await action.run(context, users);
  } finally {
    await users.close();
  }
  return 0;
}

async function createUser(context: CommandContext, users: UserDirectory): Promise<void> {
  const { options } = context.arguments;
  const name = argument(context, 1);
  const role = textOption(options, 'role');
  if (role === null) throw new CliError('--role is missing: read, edit or admin');
  const user = {
    name,
    role,
    tag_patterns: listOption(options, 'tags'),
    certificate_name: textOption(options, 'certificate-name'),
  };
  const token = await users.create(user, options['no-token'] !== true);
  context.err(`created the admin user '${name}' with the role ${role}`);
  if (token !== null) printToken(context, token);
}

async function issueToken(context: CommandContext, users: UserDirectory): Promise<void> {
  const { options } = context.arguments;
  const token = { name: textOption(options, 'label'), ttl: durationOption(options, 'ttl') };
  printToken(context, await users.issue(argument(context, 1), token));
}

async function revokeToken(context: CommandContext, users: UserDirectory): Promise<void> {
  const [name, token] = [argument(context, 1), argument(context, 2)];
  await users.revoke(name, token);
  context.err(`revoked the token '${token}' of '${name}'`);
}

async function deleteUser(context: CommandContext, users: UserDirectory): Promise<void> {
  const name = argument(context, 1);
  await users.delete(name);
  context.err(`deleted the admin user '${name}' and its tokens`);
}

function printToken(context: CommandContext, token: string): void {
  context.err('The token is shown this once:');
  context.out(token);
}

function argument(context: CommandContext, index: number): string {
  return context.arguments.positionals[index] ?? '';
}
