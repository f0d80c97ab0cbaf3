import type { PluginSettings } from '../../plugin-sdk/tools.ts';
import type { Settings } from '../settings/settings.ts';

/** How long plugins may take to deliver their queued data when the node ends, in milliseconds. */
export const pluginDrainTimeout = 5000;

/** What plugins see of the settings, on both planes. */
export function pluginSettings({ hashKeys, trustedCertificates, tracing }: Settings): PluginSettings {
  return Object.freeze({ hashKeys, trustedCertificates, tracing });
}
