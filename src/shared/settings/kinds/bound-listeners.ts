import type { ListenAddress, Settings } from '../settings.ts';

const names = ['proxy', 'stream', 'admin', 'admin_gui', 'portal', 'status', 'cluster'] as const;

/**
 * The `*_listen` and `*_listeners` of `GET /` with the actual ports of the node: where a setting says port 0, the
 * system chose one.
 */
export function boundListeners(settings: Settings): Readonly<Record<string, unknown>> {
  const shown: Record<string, unknown> = {};
  const bound = {
    proxy: settings.proxyListen,
    stream: settings.streamListen,
    admin: settings.adminListen,
    admin_gui: settings.adminGuiListen,
    portal: settings.portalListen,
    status: settings.statusListen,
    cluster: settings.clusterListen,
  };
  for (const name of names) {
    const texts = settings.public[`${name}_listen`];
    const listeners = settings.public[`${name}_listeners`];
    if (!Array.isArray(texts) || !Array.isArray(listeners)) continue;
    shown[`${name}_listen`] = texts.map((text, index) => withPort(String(text), bound[name][index]));
    shown[`${name}_listeners`] = listeners.map((listener, index) => listenerWithPort(listener, bound[name][index]));
  }
  return shown;
}

function listenerWithPort(listener: unknown, address: ListenAddress | undefined): unknown {
  const fields = Object(listener) as { readonly listener?: unknown; readonly port?: unknown };
  if (fields.port !== 0 || address === undefined) return listener;
  return { ...fields, port: address.port, listener: withPort(String(fields.listener), address) };
}

/** `off` and fixed ports are unchanged. */
function withPort(text: string, address: ListenAddress | undefined): string {
  return address === undefined ? text : text.replace(/:0+(?=\s|$)/, `:${address.port}`);
}
