import { fileURLToPath } from 'node:url';
import { type CodeProblem, problemAt, shownPath } from '../../shared/development/code-problem.ts';
import { errorPlace } from '../../shared/plugin-loader/error-place.ts';
import { type LogLine, textOfError } from './dev-lines.ts';

/** An exception in a plugin, as a line of the error log says it. */
export interface LoggedFailure {
  readonly problem: CodeProblem;
  /** Lines of the stack in code that is not the gateway's. */
  readonly stack: readonly string[];
}

/** Null: the line is about something else. `root`: the working directory. */
export function loggedFailure({ message, fields }: LogLine, root: string): LoggedFailure | null {
  const { plugin, phase } = fields;
  const text = textOfError(fields['error'] ?? fields['err']);
  if (text === '' || message === '' || typeof plugin !== 'string') return null;
  const lines = text.split('\n');
  const first = lines.findIndex((line) => /^\s+at /.test(line));
  const said = (first < 0 ? lines : lines.slice(0, first)).join('\n');
  const frames = first < 0 ? [] : lines.slice(first);
  const title = typeof phase === 'string' ? `failed in ${phase}` : message;
  const place = errorPlace({ message: said, stack: text });
  return {
    problem: problemAt({ plugin, title }, said.replace(/^Error: /, ''), place, root),
    stack: frames.map((frame) => shownFrame(frame, root)).filter((frame) => frame !== null),
  };
}

/** Null: a frame of the gateway or of Node. */
function shownFrame(frame: string, root: string): string | null {
  const [, url = ''] = /(file:\/\/\/[^\s)]+?)(?:\?[^\s:)]*)?:\d+:\d+\)?$/.exec(frame) ?? [];
  if (url === '' || url.startsWith(gateway)) return null;
  try {
    return frame
      .replace(/file:\/\/\/[^\s)?]+?(?:\?[^\s:)]*)?(?=:\d+:\d+\)?$)/, shownPath(fileURLToPath(url), root))
      .trim();
  } catch {
    return null;
  }
}

const gateway = new URL('../../', import.meta.url).href;
