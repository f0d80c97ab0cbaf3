import type { SettingName } from './schema.ts';
import { definitions, settingGroups } from './schema.ts';

const head = `# Settings

Settings are fixed when the node starts. You can give each one in four places; a later place wins:

1. the file \`sluicegate.conf\` (\`key = value\`; \`#\` starts a comment, \`\\#\` is a literal one). It is
   the file named by \`-c\`, otherwise the first that exists of \`./sluicegate.conf\`,
   \`/etc/sluicegate/sluicegate.conf\` and \`/etc/sluicegate.conf\`
2. a variable with Kong's name: \`KONG_LOG_LEVEL=debug\`
3. a variable with our name: \`SLUICEGATE_LOG_LEVEL=debug\`
4. an option of the command: \`--log-level debug\`

To read a value from a file, add \`_FILE\` to the variable: \`SLUICEGATE_ADMIN_TOKEN_FILE\`. To read it
from another variable, write \`{vault://env/my-secret}\`: it is replaced with the value of
\`MY_SECRET\`. \`{vault://env/my-secret/key}\` takes the field \`key\` of the JSON in that variable.

A wrong value, an unknown key in the file and an unknown \`SLUICEGATE_*\` variable stop the start with
a message that names them. An unknown \`KONG_*\` variable is a warning, and so is a setting of Kong
that has no effect here (\`nginx_*\`, \`lua_*\` and the like). \`sluicegate check\` checks your settings
without a start.

Names in *italics* are our own. All others are Kong's, with Kong's meaning. In \`GET /\` of the Admin
API, \`database\` is \`postgres\` for every store that can be written, because clients know no other
word for it, and \`off\` without a database; \`database_engine\` names the actual store.
`;

/** The page `docs/settings.md`. */
export function settingsMarkdown(): string {
  const sections = settingGroups.map(({ title, settings }) => {
    const rows = (Object.keys(settings) as SettingName[]).map(row);
    return `## ${title}\n\n| Setting | Takes | Default | What it does |\n|---|---|---|---|\n${rows.join('\n')}\n`;
  });
  return [head, ...sections].join('\n');
}

function row(name: SettingName): string {
  const { kind, default: value, description, secret, aliases, kong } = definitions[name];
  const also = aliases.length === 0 ? '' : ` Also named ${aliases.map((alias) => `\`${alias}\``).join(', ')}.`;
  const hidden = secret ? ' Never shown.' : '';
  const cells = [
    kong ? `\`${name}\`` : `*\`${name}\`*`,
    kind.label,
    value === '' ? 'none' : `\`${value}\``,
    description + also + hidden,
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}
