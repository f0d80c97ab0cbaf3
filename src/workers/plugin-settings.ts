import type { PluginSettings } from '../plugin-sdk/define-plugin.ts';
import type { Settings } from '../settings/settings.ts';

/** What plugins see of the settings, on both planes. */
export function pluginSettings({ hashKeys, trustedCertificates, tracing }: Settings): PluginSettings {
  return Object.freeze({ hashKeys, trustedCertificates, tracing });
}
