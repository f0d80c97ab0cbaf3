import { isSecretHeader, shownField } from '../../shared/logs/masked-arguments.ts';
import { jsonOfLatin1, oneLine } from '../../shared/logs/record-line.ts';
import { maskedHeaders } from '../answer/log-record.ts';
import type { PluginPlan } from '../plugin-runner/plan.ts';

/** What is the same for all lines of a name. */
export interface FieldName {
  readonly lower: string;
  /** `"name":"` */
  readonly opening: string;
  /** It may carry a credential, or a URL with one. */
  readonly masked: boolean;
  /** Number of the last block with the name. */
  block: number;
}

const noSecrets: ReadonlySet<string> = new Set();
const sometimesMasked: ReadonlySet<string> = new Set(['set-cookie', 'referer', 'location', 'content-location']);

/** Clients choose names: more than this many are forgotten. */
const maxNames = 2048;
const maxNameLength = 64;
const names = new Map<string, FieldName>();
let blocks = 0;

/** A name that is quoted as it stands, and keeps its place: objects begin with the names that are numbers. */
const simpleName = /^[!#$%&'*+\-.^_`|~A-Za-z][!#$%&'*+\-.^_`|~0-9A-Za-z]*$/;
/** Characters that a JSON string does not contain as they stand, line ends excepted. */
const unusual = /["\\\x00-\x09\x0b\x0c\x0e-\x1f\x80-\xff]/;

/** The JSON of `maskedHeaders`. */
export function headersText(plan: PluginPlan, block: string): string {
  const text = plan.logMasks.length === 0 ? membersOf(block, plan) : null;
  return text === null ? oneLine(JSON.stringify(maskedHeaders({ plan }, block))) : `{${text}}`;
}

/** No name is in both lists. */
export function areApart(one: readonly FieldName[], other: readonly FieldName[]): boolean {
  for (let at = 0; at < one.length; at++) {
    const { lower } = one[at]!;
    for (let among = 0; among < other.length; among++) if (other[among]!.lower === lower) return false;
  }
  return true;
}

/** The members of the object. Null for a block with a name twice, or one that needs care. `found` receives the names. */
export function membersOf(block: string, plan: PluginPlan, found: FieldName[] | null = null): string | null {
  const { secretHeaders } = plan;
  const isUsual = !unusual.test(block);
  const number = ++blocks;
  let text = '';
  for (let start = 0; start < block.length; ) {
    const colon = block.indexOf(':', start);
    const end = block.indexOf('\r\n', start);
    const name = colon < 0 || end < colon ? null : nameOf(block.slice(start, colon));
    if (name === null || name.block === number) return null;
    name.block = number;
    found?.push(name);
    text += text === '' ? name.opening : `",${name.opening}`;
    const value = valueIn(block, colon + 1, end);
    if (name.masked || secretHeaders.has(name.lower)) {
      text += jsonOfLatin1(shownField(name.lower, value, plan));
    } else text += isUsual ? value : jsonOfLatin1(value);
    start = end + 2;
  }
  return text === '' ? '' : `${text}"`;
}

/** Without the blanks around it. */
function valueIn(block: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(block.charCodeAt(start))) start++;
  while (end > start && isBlank(block.charCodeAt(end - 1))) end--;
  return block.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9;
}

/** Null: not a name to write as it stands. Names that differ only in case are one object. */
function nameOf(written: string): FieldName | null {
  const known = names.get(written);
  if (known !== undefined) return known;
  if (written.length > maxNameLength || !simpleName.test(written)) return null;
  if (names.size >= maxNames) {
    // The names of the block that is being written are forgotten too: it cannot be continued.
    names.clear();
    return null;
  }
  const lower = written.toLowerCase();
  const name = names.get(lower) ?? {
    lower,
    opening: `"${lower}":"`,
    masked: isSecretHeader(lower, noSecrets) || sometimesMasked.has(lower),
    block: 0,
  };
  names.set(lower, name);
  names.set(written, name);
  return name;
}
