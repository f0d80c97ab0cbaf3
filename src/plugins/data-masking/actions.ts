import { createHmac } from 'node:crypto';
import type { RuleConfig } from './schema.ts';

/** What a value, or the part of one that was found, becomes. */
export type Action = (value: string) => string;

export function actionOf(rule: RuleConfig, key: string | null): Action {
  const { text, keep } = rule;
  switch (rule.action) {
    case 'replace':
      return () => text;
    case 'hash':
      return hashing(key, rule.hash_length);
    case 'keep_first':
      return (value) => partOf(value, keep, (signs, count) => `${signs.slice(0, count).join('')}${text}`);
    case 'keep_last':
      return (value) => partOf(value, keep, (signs, count) => `${text}${signs.slice(signs.length - count).join('')}`);
    default:
      return (value) => text + domainOf(value);
  }
}

/** Only this action and replacing make sense of what is no text: a part of `true` is as good as the whole. */
export function maskedWhole(rule: RuleConfig, action: Action, value: string): string {
  return rule.action === 'hash' ? action(value) : rule.text;
}

function hashing(key: string | null, length: number): Action {
  if (key === null) throw new Error('a hash needs `hash_key`');
  return (value) => createHmac('sha256', key).update(value).digest('hex').slice(0, length);
}

const letterOrDigit = /[\p{L}\p{M}\p{N}]/u;

/** Of the letters and digits at most half stay: a short value would else be shown as good as whole. */
function partOf(value: string, keep: number, join: (signs: readonly string[], count: number) => string): string {
  const signs = Array.from(value).filter((sign) => letterOrDigit.test(sign));
  return join(signs, Math.min(keep, Math.floor(signs.length / 2)));
}

const address = /(?:@|%40)([^@\s<>"]{1,255})$/;

/** '' for what is no email address. */
function domainOf(value: string): string {
  const found = address.exec(value);
  return found === null ? '' : `@${found[1]}`;
}
