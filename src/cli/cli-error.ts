/** Something that the person at the terminal can understand and put right; the message is one line. */
export class CliError extends Error {
  override readonly name = 'CliError';
}
