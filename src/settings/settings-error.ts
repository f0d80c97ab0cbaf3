/** A setting that cannot be used. The message is one line that names the setting and, where known, where it was written. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}
