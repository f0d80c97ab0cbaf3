/** An invalid setting. Each has one line of the message, with its name and, where known, where it was set. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}
