/** Metric types of the protocol. */
export type StatType = 'counter' | 'gauge' | 'histogram' | 'meter' | 'set' | 'timer' | 'distribution';

/** Only Datadog's servers support `distribution`. */
const letters: Readonly<Record<StatType, string>> = {
  counter: 'c',
  gauge: 'g',
  histogram: 'h',
  meter: 'm',
  set: 's',
  timer: 'ms',
  distribution: 'd',
};

/** Types whose values a server scales by the sample rate of the line. */
const scaled: ReadonlySet<StatType> = new Set(['counter', 'timer', 'histogram', 'distribution']);

/** Where tags are in a line. `librato` and `signalfx` have them in the name, like `influxdb`, within other marks. */
export type TagStyle = 'dogstatsd' | 'influxdb' | 'librato' | 'signalfx';

const maxLetters = 200;

/** Characters with a meaning in a line of any dialect or in Graphite (`;`), and line ends. Dots separate the parts of names. */
const notInNames = /[\s\p{Cc}./:;|@#,=[\]\\]/gu;
const notInValues = /[\s\p{Cc}:;|#,=[\]\\]/gu;
const plainName = /^[\w-]{1,200}$/;
const plainValue = /^[\w.-]{1,200}$/;

/** A text as one part of a metric's name: characters with a meaning become `_`, dots and slashes (of the servers' files) too. At most 200 characters. */
export function namePart(text: string): string {
  return plainName.test(text) ? text : shortened(text).replace(notInNames, '_');
}

/** A text as the value of a tag or of a set. Dots stay. */
export function valueText(text: string): string {
  return plainValue.test(text) ? text : shortened(text).replace(notInValues, '_');
}

function shortened(text: string): string {
  return text.length <= maxLetters ? text : text.slice(0, maxLetters).toWellFormed();
}

/** Characters that a prefix must not contain: it is written to every line unchanged. */
export const forbiddenInPrefix = /[\s\p{Cc}:;|@#,=[\]\\]/u;

/**
 * The part of a line after its value. A rate below 1 is written only for types whose values servers scale by it; for other types it
 * has no meaning, and some servers refuse it.
 */
export function lineEnd(type: StatType, rate: number): string {
  const letter = `|${letters[type]}`;
  return rate < 1 && scaled.has(type) ? `${letter}|@${decimal(rate)}` : letter;
}

/**
 * Whether values may be sampled. A set without some of its values is another set, and a meter cannot make up for missing
 * values.
 */
export function isSampled(type: StatType): boolean {
  return type !== 'set' && type !== 'meter';
}

/** Without an exponent, which servers cannot read. */
function decimal(rate: number): string {
  return rate >= 1e-6 ? String(rate) : Math.max(rate, 1e-12).toFixed(12).replace(/0+$/, '');
}

export interface Tag {
  readonly name: string;
  readonly value: string;
}

/** Tags as this style writes them: `dogstatsd` at the end of the line, the others after the name. */
export function tagText(style: TagStyle, tags: readonly Tag[]): string {
  if (tags.length === 0) return '';
  const mark = style === 'dogstatsd' ? ':' : '=';
  const list = tags.map(({ name, value }) => `${name}${mark}${value}`).join(',');
  if (style === 'dogstatsd') return `|#${list}`;
  if (style === 'influxdb') return `,${list}`;
  return style === 'librato' ? `#${list}` : `[${list}]`;
}
