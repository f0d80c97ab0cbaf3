import type { KongEntity } from '../kong-entity.ts';
import type { WithoutList } from './without-list.ts';

/** Something of Kong that the gateway will not have. */
export interface LeftOut {
  /** `plugin aws-lambda of route users`. */
  readonly what: string;
  readonly why: string;
  readonly todo: string;
  /** Values of `--without` that accept it, the most specific one first. Empty: it is left out without a question. */
  readonly choices: readonly string[];
  /** The user accepted it, or nothing depends on it. */
  readonly accepted: boolean;
}

/** `choices`: the values of `--without`; each of them accepts it. */
export function leftOut(
  entity: KongEntity,
  { why, todo, choices }: { readonly why: string; readonly todo: string; readonly choices: readonly string[] },
  without: WithoutList,
): LeftOut {
  const accepted = choices.length === 0 || choices.some((choice) => without.has(choice));
  return { what: entity.label, why, todo, choices, accepted };
}

/** What stands for the entity in `--without`: the plugin's name, or `routes/users` and `routes`. */
export function choicesOf({ collection, fields }: KongEntity): readonly string[] {
  if (collection === 'plugins') return [String(fields['name'])];
  const name = fields['name'] ?? fields['username'] ?? fields['id'];
  return typeof name === 'string' ? [`${collection}/${name}`, collection] : [collection];
}
