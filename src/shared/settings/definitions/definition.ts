import type { Kind } from '../kinds/kinds.ts';

/** One setting: what it is called, what it takes, what it does. */
export interface SettingDefinition<T> {
  readonly kind: Kind<T>;
  /** As it would be written in the file; empty is "none". */
  readonly default: string;
  /** One or two sentences: what it does, and what a special value means. */
  readonly description: string;
  /** True: the value is never shown. */
  readonly secret: boolean;
  /** Other names under which the same setting is accepted. */
  readonly aliases: readonly string[];
  /** False: a name of Sluicegate's own, which Kong does not have. */
  readonly kong: boolean;
}

type Options = Partial<Pick<SettingDefinition<unknown>, 'secret' | 'aliases'>>;

/** A setting that Kong has, with Kong's name and meaning. */
export function kong<T>(
  kind: Kind<T>,
  value: string,
  description: string,
  options: Options = {},
): SettingDefinition<T> {
  return { kind, default: value, description, secret: false, aliases: [], kong: true, ...options };
}

/** A setting of Sluicegate's own. */
export function own<T>(kind: Kind<T>, value: string, description: string, options: Options = {}): SettingDefinition<T> {
  return { ...kong(kind, value, description, options), kong: false };
}
