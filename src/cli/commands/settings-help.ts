import type { SettingName } from '../../shared/settings/schema.ts';
import { definitions, settingGroups } from '../../shared/settings/schema.ts';

/** Every setting as an option of the command line. */
export function settingsHelp(): string {
  const groups = settingGroups.map(({ title, settings }) => {
    const entries = (Object.keys(settings) as SettingName[]).map(entry);
    return [`${title}:`, ...entries].join('\n');
  });
  return [
    'Settings: option (default) and meaning. For --log-level, the environment has SLUICEGATE_LOG_LEVEL or\nKONG_LOG_LEVEL, and sluicegate.conf has log_level = debug.',
    ...groups,
  ].join('\n\n');
}

function entry(name: SettingName): string {
  const { default: value, description } = definitions[name];
  return `  --${name.replaceAll('_', '-')} (${value === '' ? 'none' : value})\n${wrap(description.replaceAll('`', ''), 6, 100)}`;
}

function wrap(text: string, indent: number, width: number): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + word.length >= width - indent) {
      lines.push(line);
      line = '';
    }
    line += line === '' ? word : ` ${word}`;
  }
  return [...lines, line].map((content) => ' '.repeat(indent) + content).join('\n');
}
