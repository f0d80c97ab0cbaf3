import type { SettingName } from './schema.ts';
import { definitions, settingGroups } from './schema.ts';

const head = `# Settings

Settings are fixed at start. Each can be given in four places; a later one wins:

1. the file \`sluicegate.conf\` (\`key = value\`; \`#\` starts a comment, \`\\#\` is a literal one): the one named by \`-c\`, else the
   first found of \`./sluicegate.conf\`, \`/etc/sluicegate/sluicegate.conf\`, \`/etc/sluicegate.conf\`;
2. the environment under Kong's name: \`KONG_LOG_LEVEL=debug\`;
3. the environment under our own: \`SLUICEGATE_LOG_LEVEL=debug\`;
4. an option of the command: \`--log-level debug\`.

With \`_FILE\` behind the name of a variable (\`SLUICEGATE_ADMIN_TOKEN_FILE\`), the value is read from that file. A value of the form
\`{vault://env/my-secret}\` is taken from the environment variable \`MY_SECRET\`; \`{vault://env/my-secret/key}\` from the field
\`key\` of the JSON in it.

A wrong value, an unknown key in the file and an unknown \`SLUICEGATE_*\` variable stop the start with one line that names them.
An unknown \`KONG_*\` variable, and a setting of Kong that changes nothing here (\`nginx_*\`, \`lua_*\` and the like), is a warning.

Names in *italics* are our own; all others are Kong's, with Kong's meaning. In \`GET /\` of the Admin API, \`database\` reads
\`postgres\` for every store that can be written, as clients know no other word for that; \`database_engine\` tells which store it is.
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
