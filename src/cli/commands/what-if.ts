import { jsonOf, requireAccepted } from '../admin-api/admin-api.ts';
import { findAdmin } from '../admin-api/find-admin.ts';
import { CliError } from '../cli-error.ts';
import type { CommandContext } from '../command.ts';
import { type DocumentProblem, InvalidDocument } from '../config/config-target.ts';
import { problemText } from '../config/document-arguments.ts';
import { type ReadDocument, readDocuments } from '../config/read-documents.ts';
import { printableJson } from '../explain/layout.ts';
import { type ShownWhatIf, whatIfLines } from '../traffic/what-if-lines.ts';

/** Milliseconds: two dry runs, and the wait for others. */
const timeout = 60_000;

/** `what-if <file>...`: what a config would do to the last requests. Exit code 2 when it would refuse some. */
export async function whatIf(context: CommandContext): Promise<number> {
  const { options, positionals } = context.arguments;
  if (positionals.length === 0) throw new CliError('usage: sluicegate what-if <file>...');
  const read = await readDocuments(positionals, context.cwd);
  const requests = requestsOf(options['requests']);
  // As text: a large document has more values than the body of a request may have.
  const body = JSON.stringify({ config: JSON.stringify(read.document.content), ...(requests && { requests }) });
  const answer = await findAdmin(context).send('POST', '/what-if', timeout, body);
  const json = jsonOf(answer) as ShownWhatIf & { readonly message?: string; readonly problems?: unknown };
  if (answer.status === 400) refuse(context, json.problems, read);
  requireAccepted(answer, `POST /what-if: ${answer.status} ${json.message ?? ''}`.trim());
  if (options['json'] === true) context.out(printableJson(json, 0));
  else for (const line of whatIfLines(json, context.colours)) context.out(line);
  return json.refused > 0 ? 2 : 0;
}

function refuse(context: CommandContext, problems: unknown, read: ReadDocument): void {
  if (!Array.isArray(problems) || problems.length === 0) return;
  context.err(problemText(new InvalidDocument(problems as readonly DocumentProblem[]), read));
  throw new CliError('the document is not valid');
}

function requestsOf(text: string | true | undefined): number | null {
  if (text === undefined) return null;
  if (typeof text !== 'string' || !/^[1-9]\d{0,3}$/.test(text)) throw new CliError('--requests must be 1 to 1000');
  return Number(text);
}
