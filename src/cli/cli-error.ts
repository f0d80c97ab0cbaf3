/** An error that the user of the command can fix; the message is one line. */
export class CliError extends Error {
  override readonly name = 'CliError';
}
