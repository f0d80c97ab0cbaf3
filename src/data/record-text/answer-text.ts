import { BoundedCache } from '../../shared/util/bounded-cache.ts';
import { flatText } from '../../shared/util/bytes/flat-text.ts';
import { upstreamStatus } from '../answer/log-record.ts';
import type { PluginPlan } from '../plugin-runner/plan.ts';
import type { Exchange } from '../request/exchange.ts';
import { areApart, type FieldName, headersText, membersOf } from './headers-text.ts';

/** By the status, of answers whose backend gave the same. */
const statuses: string[] = new Array(600).fill('');

/** The end of the value before, `upstream_status` and `status`, and the name of `headers`. */
export function statusText(x: Exchange): string {
  const { status } = x;
  if (x.failedAttempts !== null || x.upstreamStatus !== status || status < 100 || status >= statuses.length)
    return writtenStatus(x);
  const known = statuses[status]!;
  if (known !== '') return known;
  const text = flatText(writtenStatus(x));
  statuses[status] = text;
  return text;
}

function writtenStatus(x: Exchange): string {
  return `","upstream_status":"${upstreamStatus(x)}","response":{"status":${x.status},"headers":`;
}

/** Lines whose JSON is known. They are kept for long: nothing here may hold a plan, and so its plugins. */
interface KnownLines {
  readonly block: string;
  /** What is masked. */
  readonly secretHeaders: ReadonlySet<string>;
  readonly text: string;
  readonly names: readonly FieldName[];
}

/** By the length of the lines: answers of a route often differ only in their body. */
const answers: (KnownLines | null)[] = new Array(64).fill(null);
const maxKeptLength = 4096;

/** The JSON of `maskedHeaders` for an answer; `block`: all its lines as they were sent. */
export function answerText(x: Exchange, block: string): string {
  const { responseBlock, responseEdits, sentLines, plan } = x;
  if (responseEdits !== null || sentLines === '' || plan.logMasks.length > 0) return headersText(plan, block);
  const known = linesOf(responseBlock, plan);
  if (known === null) return headersText(plan, block);
  const end = idLineAt(x);
  const own = ownLinesOf(end < 0 ? sentLines : sentLines.slice(0, end), plan);
  if (own === null || !areApart(known.names, own.names)) return headersText(plan, block);
  const comma = known.text === '' || own.text === '' ? '' : ',';
  if (end < 0) return `{${known.text}${comma}${own.text}}`;
  if (!own.takesId || hasId(known.names)) return headersText(plan, block);
  const opening = known.text === '' && own.text === '' ? idName.opening : idName.following;
  return `{${known.text}${comma}${own.text}${opening}${x.id}"}`;
}

const idName = {
  lower: 'x-kong-request-id',
  line: 'X-Kong-Request-Id: ',
  opening: '"x-kong-request-id":"',
  following: ',"x-kong-request-id":"',
} as const;

/** Where the last line begins, if it is the one with the request's id; -1: it is another. */
function idLineAt({ sentLines, id }: Exchange): number {
  const at = sentLines.length - idName.line.length - id.length - 2;
  const ends = at >= 0 && sentLines.startsWith(idName.line, at) && sentLines.startsWith(id, at + idName.line.length);
  return ends ? at : -1;
}

function hasId(names: readonly FieldName[]): boolean {
  return names.some(({ lower }) => lower === idName.lower);
}

/** The gateway's own lines, without the id. */
interface OwnLines extends KnownLines {
  /** The id can follow: it is not masked, and not among the lines. */
  readonly takesId: boolean;
}

/** Durations are most of them, and short ones repeat. */
const ownLines = new BoundedCache<string, OwnLines>(512);
const maxOwnLength = 128;

function ownLinesOf(block: string, plan: PluginPlan): OwnLines | null {
  const known = ownLines.get(block);
  if (known !== undefined && known.secretHeaders === plan.secretHeaders) return known;
  const lines = knownLines(block, plan);
  if (lines === null) return null;
  const made = { ...lines, takesId: !plan.secretHeaders.has(idName.lower) && !hasId(lines.names) };
  if (block.length <= maxOwnLength) ownLines.set(block, made);
  return made;
}

function linesOf(block: string, plan: PluginPlan): KnownLines | null {
  const at = block.length & (answers.length - 1);
  const known = answers[at] ?? null;
  if (known !== null && known.block === block && known.secretHeaders === plan.secretHeaders) return known;
  const lines = knownLines(block, plan);
  if (lines !== null && block.length <= maxKeptLength) answers[at] = lines;
  return lines;
}

function knownLines(block: string, plan: PluginPlan): KnownLines | null {
  const names: FieldName[] = [];
  const text = membersOf(block, plan, names);
  return text === null ? null : { block, secretHeaders: plan.secretHeaders, text: flatText(text), names };
}
