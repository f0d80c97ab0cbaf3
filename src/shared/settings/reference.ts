import { SettingsError } from './settings-error.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const shape = /^\{vault:\/\/([^/}]+)\/([^/}?#]+)(?:\/([^/}?#]+))?[^}]*\}$/;

/**
 * Replaces `{vault://env/my-secret}` with the environment variable `MY_SECRET`; with `/key` after it, the variable
 * contains JSON and the value is that field. Any other text is returned unchanged.
 */
export function resolveReference(name: string, text: string, env: Environment): string {
  if (!text.startsWith('{vault://')) return text;
  const match = shape.exec(text);
  if (match === null) throw new SettingsError(`${name} is not a reference: '${text}' (write {vault://env/name})`);
  const [, vault, resource = '', key] = match;
  if (vault !== 'env')
    throw new SettingsError(`${name} refers to the vault '${vault}'; only 'env' can be used in settings`);
  const variable = resource.toUpperCase().replaceAll('-', '_');
  const value = env[variable];
  if (value === undefined) {
    throw new SettingsError(`${name} refers to ${text}, and the environment variable ${variable} is not set`);
  }
  return key === undefined ? value : fieldOf(name, text, variable, value, key);
}

function fieldOf(name: string, reference: string, variable: string, json: string, key: string): string {
  let fields: unknown;
  try {
    fields = JSON.parse(json);
  } catch {
    throw new SettingsError(`${name} refers to ${reference}, and the environment variable ${variable} holds no JSON`);
  }
  const value =
    typeof fields === 'object' && fields !== null && Object.hasOwn(fields, key) ? Reflect.get(fields, key) : null;
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
    throw new SettingsError(
      `${name} refers to ${reference}, and the environment variable ${variable} has no field '${key}'`,
    );
  }
  return String(value);
}
