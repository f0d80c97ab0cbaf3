import { createHmac } from 'node:crypto';
import type { RuleConfig } from './rule-schema.ts';

/** Replaces a value, or a part of it that was found. */
export type Action = (value: string) => string;

export function actionOf(rule: RuleConfig, key: string | null): Action {
  const { text, keep } = rule;
  switch (rule.action) {
    case 'replace':
      return () => text;
    case 'hash':
      return hashing(key, rule.hash_length);
    case 'keep_first':
      return (value) => partOf(value, keep, (characters, count) => `${characters.slice(0, count).join('')}${text}`);
    case 'keep_last':
      return (value) =>
        partOf(value, keep, (characters, count) => `${text}${characters.slice(characters.length - count).join('')}`);
    default:
      return (value) => text + domainOf(value);
  }
}

/** Values other than texts are hashed or replaced: keeping a part of `true` would reveal it. */
export function maskedWhole(rule: RuleConfig, action: Action, value: string): string {
  return rule.action === 'hash' ? action(value) : rule.text;
}

function hashing(key: string | null, length: number): Action {
  if (key === null) throw new Error('a hash needs `hash_key`');
  return (value) => createHmac('sha256', key).update(value).digest('hex').slice(0, length);
}

const letterOrDigit = /[\p{L}\p{M}\p{N}]/u;

/** Keeps at most half of the letters and digits: otherwise a short value would be revealed almost completely. */
function partOf(value: string, keep: number, join: (characters: readonly string[], count: number) => string): string {
  const characters = Array.from(value).filter((character) => letterOrDigit.test(character));
  return join(characters, Math.min(keep, Math.floor(characters.length / 2)));
}

const address = /(?:@|%40)([^@\s<>"]{1,255})$/;

/** '' if the value is not an email address. */
function domainOf(value: string): string {
  const found = address.exec(value);
  return found === null ? '' : `@${found[1]}`;
}
