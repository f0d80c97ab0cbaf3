import type { CommandContext } from '../command.ts';
import type { ShownToken, ShownUser } from './directory.ts';

/** One line for each user, and one for each of its tokens; with `--json` everything as JSON. */
export function printUsers(context: CommandContext, users: readonly ShownUser[]): void {
  if (context.arguments.options['json'] === true) {
    context.out(JSON.stringify(users, null, 2));
    return;
  }
  if (users.length === 0) context.err('there are no admin users');
  for (const { name, role, tag_patterns: patterns, certificate_name: certificate, tokens } of users) {
    const limits = role === 'edit' ? ` ${(patterns ?? []).join(',')}` : '';
    context.out(`${name}  ${role}${limits}${certificate === null ? '' : `  ${certificate}`}`);
    for (const token of tokens) context.out(`  ${tokenLine(token)}`);
  }
}

function tokenLine({ name, token_prefix: prefix, last_used_at: used, expires_at: expires }: ShownToken): string {
  const use = used === null ? 'never used' : `last used ${used.slice(0, 16)}Z`;
  const end = expires === null ? '' : `  expires ${new Date(expires * 1000).toISOString().slice(0, 16)}Z`;
  return `${name}  ${prefix}...  ${use}${end}`;
}
