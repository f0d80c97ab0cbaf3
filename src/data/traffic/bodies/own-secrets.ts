import { eachHeader } from '../../../shared/http/header-block.ts';
import { isSecretArgument, isSecretHeader, redacted } from '../../../shared/logs/masked-arguments.ts';
import { decodeFormText } from '../../../shared/util/bytes/percent-decoding.ts';
import type { Exchange } from '../../request/exchange.ts';

/** A shorter value occurs elsewhere by chance. Characters. */
const minLength = 6;
const maxValues = 50;

/** The credentials that a request carries in its head: a backend may repeat them in its answer, without their names. */
export function ownSecrets({ head, plan }: Pick<Exchange, 'head' | 'plan'>): readonly string[] {
  const values = new Set<string>();
  const add = (value: string): void => {
    if (value.length >= minLength && values.size < maxValues) values.add(value);
  };
  eachHeader(head.block, (name, value) => {
    if (!isSecretHeader(name, plan.secretHeaders)) return;
    add(value);
    if (name === 'cookie') for (const pair of value.split(/;\s*/)) add(pair.slice(pair.indexOf('=') + 1));
    else add(value.slice(value.indexOf(' ') + 1));
  });
  for (const pair of head.query.split('&')) {
    const equals = pair.indexOf('=');
    if (equals <= 0 || !isSecretArgument(decodeFormText(pair.slice(0, equals)), plan.secretArguments)) continue;
    add(pair.slice(equals + 1));
    add(decodeFormText(pair.slice(equals + 1)));
  }
  // A value that contains another one goes first.
  return [...values].sort((a, b) => b.length - a.length);
}

export function withoutValues(text: string, values: readonly string[]): string {
  return values.reduce((masked, value) => masked.replaceAll(value, redacted), text);
}
