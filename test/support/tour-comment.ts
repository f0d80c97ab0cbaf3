/** What the comment after a command of a page states. */
export interface TourComment {
  readonly command: string;
  /** Status of the response; null: any below 400. */
  readonly status: number | null;
  /** Part of the output, in which `...` means anything; '' for none. */
  readonly expected: string;
}

/**
 * Reads a command such as `curl localhost/ # 200 {"id":42`. The comment has a status, a status and a part of the answer,
 * or only a part.
 */
export function readTourComment(line: string): TourComment {
  const [, command = line, comment = ''] = /^(.*?)(?:\s+#\s*(.*))?$/s.exec(line) ?? [];
  const [, status, expected = ''] = /^(\d{3}\b)?\s*(.*)$/.exec(comment) ?? [];
  return { command, status: status === undefined ? null : Number(status), expected };
}

/** Matches a squeezed output that contains the expected text. */
export function tourPattern(expected: string): RegExp {
  const parts = squeeze(expected).split('...');
  return new RegExp(parts.map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('[^]*'));
}

/** Blanks do not count. */
export function squeeze(text: string): string {
  return text.replace(/\s+/g, '');
}

/** The command, with the status of the response as the last line of its output. */
export function withStatus(command: string): string {
  return command.replace(/^curl /, "curl --max-time 10 -w '\\nstatus %{http_code}\\n' ");
}
