import { compileParts, type TemplateTarget } from './templates/compile.ts';
import { TemplateError } from './templates/lexer.ts';
import { parseTemplate } from './templates/parser.ts';
import { answerRoots, roots, sharedValues, type TemplateContext } from './templates/roots.ts';
import { TemplateFailure } from './templates/values.ts';

export { sharedValues, type TemplateContext, TemplateError, TemplateFailure, type TemplateTarget };

/** A text with expressions in `$(...)`, compiled. */
export interface Template {
  readonly text: string;
  /** The whole text, when there is no expression in it; else null. */
  readonly constant: string | null;
  /** Throws a `TemplateFailure` when an expression meets what it cannot work with. What is absent is empty. */
  render(context: TemplateContext): string;
}

export interface TemplateOptions {
  /**
   * `path`: the result is one char for each byte, as `setPath` takes it; see `TemplateTarget`. Whoever sends it looks at
   * `unsafePath` first. Default: `text`.
   */
  readonly target?: TemplateTarget;
  /** `answer`: `response.status` and `response_headers` are there, too. Default: `request`. */
  readonly over?: 'request' | 'answer';
}

/**
 * Compiles a template; in `setup`, and in the schema's checks. Values: `headers.x` (as the backend would get it), `query_params.x`,
 * `uri_captures.x` or `uri_captures[1]`, `consumer.username`, `credential.identifier`, `claims.x`, `client.ip`, `route.name`,
 * `service.name`, `request.id`, `shared.x`. They are what a client sent: whoever puts the result into a header, a query or a document
 * encodes it or refuses what cannot stand there. Throws a `TemplateError`.
 */
export function compileTemplate(text: string, { target = 'text', over = 'request' }: TemplateOptions = {}): Template {
  const parts = parseTemplate(text);
  const render = compileParts(parts, over === 'answer' ? answerRoots : roots, target);
  const constant = parts.every((part) => typeof part === 'string') ? text : null;
  return { text, constant, render };
}

/** What is wrong with a template; null when nothing is. */
export function templateProblem(text: string, options: TemplateOptions = {}): string | null {
  try {
    compileTemplate(text, options);
    return null;
  } catch (error) {
    if (error instanceof TemplateError) return error.message;
    throw error;
  }
}

const separators = /%2f|%5c|\\/gi;
const dotSegment = /(?:^|\/)(?:\.|%2e){1,2}(?:(?:;|%3b)[^/]*)?(?=\/|$)/i;
const neverSent = /%00|[\0-\x1f\x7f]/;

/**
 * True for a path that a backend could read as another one than it looks: `.` and `..` as segments, however they are encoded, control
 * characters, NUL. Values of clients come into paths by templates.
 */
export function unsafePath(path: string): boolean {
  return neverSent.test(path) || dotSegment.test(path.replace(separators, '/'));
}
