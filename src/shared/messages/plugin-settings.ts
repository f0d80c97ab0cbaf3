import type { PluginSettings } from '../../plugin-sdk/tools.ts';
import type { Settings } from '../settings/settings.ts';

/** How long plugins may take to deliver their queued data when the node ends, in milliseconds. */
export const pluginDrainTimeout = 5000;

/** What plugins see of the settings, on both planes. */
export function pluginSettings(settings: Settings): PluginSettings {
  const { untrustedFunctions, hashKeys, trustedCertificates, tracing } = settings;
  return Object.freeze({ untrustedFunctions, hashKeys, trustedCertificates, tracing });
}
