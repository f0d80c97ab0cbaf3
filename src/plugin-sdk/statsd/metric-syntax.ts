/** What a server of the protocol does with the values of a name. */
export type StatType = 'counter' | 'gauge' | 'histogram' | 'meter' | 'set' | 'timer' | 'distribution';

/** `distribution` is known to servers of Datadog only. */
const letters: Readonly<Record<StatType, string>> = {
  counter: 'c',
  gauge: 'g',
  histogram: 'h',
  meter: 'm',
  set: 's',
  timer: 'ms',
  distribution: 'd',
};

/** Those whose values a server multiplies by the rate that a line names. */
const scaled: ReadonlySet<StatType> = new Set(['counter', 'timer', 'histogram', 'distribution']);

/** How tags stand in a line. `librato` and `signalfx` have them in the name, like `influxdb`, within other marks. */
export type TagStyle = 'dogstatsd' | 'influxdb' | 'librato' | 'signalfx';

const mostLetters = 200;

/** All that means something in a line of any dialect, or to Graphite behind the server (`;`), and what would end it. Dots divide names. */
const notInNames = /[\s\p{Cc}./:;|@#,=[\]\\]/gu;
const notInValues = /[\s\p{Cc}:;|#,=[\]\\]/gu;
const plainName = /^[\w-]{1,200}$/;
const plainValue = /^[\w.-]{1,200}$/;

/** A text as one part of a metric's name: whatever has a meaning there becomes `_`, dots and slashes (of the files that servers keep) too. 200 characters at most. */
export function namePart(text: string): string {
  return plainName.test(text) ? text : shortened(text).replace(notInNames, '_');
}

/** A text as the value of a tag or of a set. Dots stay. */
export function valueText(text: string): string {
  return plainValue.test(text) ? text : shortened(text).replace(notInValues, '_');
}

function shortened(text: string): string {
  return text.length <= mostLetters ? text : text.slice(0, mostLetters).toWellFormed();
}

/** What a prefix may not have: it goes into every line as it is. */
export const forbiddenInPrefix = /[\s\p{Cc}:;|@#,=[\]\\]/u;

/**
 * The part of a line behind its value. A rate below 1 stands there for types whose values servers scale up by it; to the others it means
 * nothing, and some servers refuse it.
 */
export function lineEnd(type: StatType, rate: number): string {
  const letter = `|${letters[type]}`;
  return rate < 1 && scaled.has(type) ? `${letter}|@${decimal(rate)}` : letter;
}

/**
 * Whether values may be left out by chance. A set without some of its values is another set, and what a meter has not seen nobody
 * tells it.
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

/** Tags in the form that goes into a line of this style: of `dogstatsd` behind its end, of the others behind the name. */
export function tagText(style: TagStyle, tags: readonly Tag[]): string {
  if (tags.length === 0) return '';
  const mark = style === 'dogstatsd' ? ':' : '=';
  const list = tags.map(({ name, value }) => `${name}${mark}${value}`).join(',');
  if (style === 'dogstatsd') return `|#${list}`;
  if (style === 'influxdb') return `,${list}`;
  return style === 'librato' ? `#${list}` : `[${list}]`;
}
