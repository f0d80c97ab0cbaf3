import type { Field, FieldOptions } from '../../shared/schema/field-meta.ts';
import { number, type Presence, string } from '../../shared/schema/fields.ts';
import { parseRate } from '../../shared/util/time/rate.ts';

/* Fields that the plugins with limits have in common, with Kong's names, defaults and messages. */

/** A rate such as `10r/s`, read with `parseRate`. */
export function rate<const O extends FieldOptions>(options: O): Field<Presence<string, O>> {
  const custom = (text: string): string | null =>
    parseRate(text) === null ? 'must be a rate such as 10r/s or 300r/m' : null;
  return string({ custom, ...options }) as Field<Presence<string, O>>;
}

const periods = ['second', 'minute', 'hour', 'day', 'month', 'year'] as const;

/** One limit for each period; `what` begins their descriptions: `Requests`. */
export function windowFields(what: string) {
  const limit = (period: string) => number({ gt: 0, description: `${what} per ${period}.` });
  return {
    second: limit('second'),
    minute: limit('minute'),
    hour: limit('hour'),
    day: limit('day'),
    month: limit('month'),
    year: limit('year'),
  };
}

/** What is wrong when a longer period has a lower limit than a shorter one; null: nothing. */
export function windowOrderProblem(limits: Readonly<Record<string, unknown>>): string | null {
  for (const [at, shorter] of periods.entries()) {
    const less = limits[shorter];
    if (typeof less !== 'number') continue;
    for (const longer of periods.slice(at + 1)) {
      const more = limits[longer];
      if (typeof more !== 'number' || more >= less) continue;
      const [high, low] = [less.toFixed(1), more.toFixed(1)];
      return `The limit for ${longer}(${low}) cannot be lower than the limit for ${shorter}(${high})`;
    }
  }
  return null;
}
