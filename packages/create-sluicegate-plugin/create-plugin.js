// Used by `npm create sluicegate-plugin` and by `sluicegate plugin new`: one copy of the template, and no dependencies.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const template = new URL('template/', import.meta.url);

/** The name in the template, which is a plugin itself. */
const templateName = 'my-policy';

/** npm leaves out a file `.gitignore` when it packs, and a `package.json` below another one is not for this package. */
const renamed = new Map([
  ['gitignore', '.gitignore'],
  ['package.template.json', 'package.json'],
]);

/**
 * Writes a new plugin into `folder`, which need not exist. Its last part is the name.
 *
 * @param {string} folder
 * @param {{ gateway: string }} options Version of the gateway that the plugin needs at least.
 */
export function createPlugin(folder, { gateway }) {
  const name = basename(folder);
  const problem = nameProblem(name);
  if (problem !== null) throw new Error(problem);
  mkdirSync(folder, { recursive: true });
  const [first] = readdirSync(folder).filter((file) => file !== '.git');
  if (first !== undefined) throw new Error(`the folder ${folder} is not empty (${first})`);
  for (const file of readdirSync(template)) {
    const text = readFileSync(new URL(file, template), 'utf8')
      .replaceAll(templateName, name)
      .replaceAll('^0.0.0', `^${gateway}`);
    writeFileSync(join(folder, renamed.get(file) ?? file), text, { flag: 'wx' });
  }
}

/** Why a plugin and its package cannot have this name, or null. */
export function nameProblem(name) {
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name) || name.length > 64)
    return `'${name}' cannot be the name of a plugin: use lower-case letters and digits in parts joined by hyphens, a letter first, at most 64 characters`;
  if (name === 'sluicegate' || name === 'bundled' || name === 'off' || name === 'node-modules')
    return `'${name}' cannot be the name of a plugin: it has another meaning`;
  return null;
}

/** What to print afterwards. */
export function nextSteps(folder) {
  return [
    `The plugin is in ${folder}. Next:`,
    '',
    ...(folder === '.' ? [] : [`  cd ${folder}`]),
    '  npm install',
    '  npm test',
    '  npm run dev',
  ];
}
