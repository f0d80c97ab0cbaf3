/** An invalid setting. Each line of the message has its name and, where known, where it was set. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}
