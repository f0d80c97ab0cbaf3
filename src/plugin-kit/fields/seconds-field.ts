import { z } from 'zod';
import type { Field, FieldOptions } from '../../shared/schema/field-meta.ts';
import { integer, type Presence } from '../../shared/schema/fields.ts';

const spans: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Whole seconds, which may be given as a text with a unit: `90s`, `5m`, `2h`, `1d`. Kept as a number. */
export function seconds<const O extends FieldOptions>(options: O): Field<Presence<number, O>> {
  const whole = integer({ unit: 's', ...options });
  return {
    zod: z.preprocess(readSpan, whole.zod),
    value: z.preprocess(readSpan, whole.value),
    meta: whole.meta,
  } as Field<Presence<number, O>>;
}

function readSpan(given: unknown): unknown {
  if (typeof given !== 'string') return given;
  const match = /^(\d{1,9})([smhd])$/.exec(given);
  return match === null ? given : Number(match[1]) * (spans[match[2] as string] as number);
}
