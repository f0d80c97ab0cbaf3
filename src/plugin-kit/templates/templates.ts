import { compileParts, type TemplateTarget } from './compile.ts';
import { TemplateError } from './lexer.ts';
import { parseTemplate } from './parser.ts';
import { answerRoots, roots, sharedValues, type TemplateContext } from './roots.ts';
import { TemplateFailure } from './values.ts';

export { sharedValues, type TemplateContext, TemplateError, TemplateFailure, type TemplateTarget };

/** A text with expressions in `$(...)`, compiled. */
export interface Template {
  readonly text: string;
  /** The text if it has no expression, otherwise null. */
  readonly constant: string | null;
  /** The text for a request. What is absent is empty. Throws a `TemplateFailure`, as for a comparison of a text with a number. */
  render(context: TemplateContext): string;
}

export interface TemplateOptions {
  /**
   * `path`: the result has one char per byte, as `setPath` takes it; see `TemplateTarget`. Check it with `unsafePath`. Default:
   * `text`.
   */
  readonly target?: TemplateTarget;
  /** `answer`: `response.status` and `response_headers` are available, too. Default: `request`. */
  readonly over?: 'request' | 'answer';
}

/**
 * Compiles a template. Call it in `setup`. Values: `headers.x` (as the backend would receive it), `query_params.x`,
 * `uri_captures.x` or `uri_captures[1]`, `consumer.username`, `credential.identifier`, `claims.x`, `client.ip`, `route.name`,
 * `service.name`, `request.id`, `shared.x`. Most of them are chosen by clients, so encode the result for a query or a
 * document, and refuse control characters in a header (`hasControl`).
 *
 * @throws TemplateError for a template that does not compile.
 *
 * @example
 * const key = compileTemplate('$(consumer.username or client.ip)');
 * key.render(context);
 */
export function compileTemplate(text: string, { target = 'text', over = 'request' }: TemplateOptions = {}): Template {
  const parts = parseTemplate(text);
  const render = compileParts(parts, over === 'answer' ? answerRoots : roots, target);
  const constant = parts.every((part) => typeof part === 'string') ? text : null;
  return { text, constant, render };
}

/** What is wrong with a template, for a schema; null: nothing. */
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
 * True for a path that a backend could interpret as another one: with `.` or `..` as segments, however encoded, or control
 * characters.
 */
export function unsafePath(path: string): boolean {
  return neverSent.test(path) || dotSegment.test(path.replace(separators, '/'));
}
